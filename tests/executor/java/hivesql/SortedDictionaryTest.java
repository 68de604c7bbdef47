package hivesql;

import static hivesql.OrcFiles.BUCKET;
import static hivesql.OrcFiles.SETTINGS;

import hivesql.OrcFiles.Event;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hive.ql.exec.vector.BytesColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.StructColumnVector;
import org.apache.orc.OrcFile;
import org.apache.orc.TypeDescription;
import org.apache.orc.Writer;

final class SortedDictionaryTest {
    private SortedDictionaryTest() {}

    private static byte[] written(List<String> words, boolean sorted) throws IOException {
        Path path = OrcFiles.fresh();
        TypeDescription schema = OrcFiles.schema("s:string");
        List<Event> events = new ArrayList<>();
        for (int i = 0; i < words.size(); i++) {
            events.add(new Event(0L, 1L, BUCKET, i, 1L));
        }
        int[] next = {0};
        Writer plain = OrcFile.createWriter(path, OrcFile.writerOptions(SETTINGS).setSchema(schema));
        try (Writer writer = sorted ? SortedDictionary.use(plain, SETTINGS) : plain) {
            OrcFiles.write(writer, schema, events, batch -> {
                BytesColumnVector column =
                        (BytesColumnVector) ((StructColumnVector) batch.cols[5]).fields[0];
                column.setVal(batch.size, words.get(next[0]++).getBytes(StandardCharsets.UTF_8));
            });
        }
        return Files.readAllBytes(java.nio.file.Path.of(path.toUri().getPath()));
    }

    static void filesAreThoseOfOrcsOwnTree() throws IOException {
        Random random = new Random(3L);
        List<String> words = new ArrayList<>(List.of("", "a", "\u00e4", "\ud83d\ude00", "a\0b", "ab"));
        for (int i = 0; i < 20_000; i++) {
            words.add("word " + random.nextInt(300) + (i % 50 == 0 ? "x".repeat(random.nextInt(90)) : ""));
        }
        if (!Arrays.equals(written(words, true), written(words, false))) {
            throw new AssertionError("the files differ");
        }
    }
}
