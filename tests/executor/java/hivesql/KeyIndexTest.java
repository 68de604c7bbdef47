package hivesql;

import static hivesql.OrcFiles.BUCKET;
import static hivesql.OrcFiles.SETTINGS;
import static hivesql.RunTests.same;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hive.ql.exec.vector.LongColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.StructColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.VectorizedRowBatch;
import org.apache.orc.OrcFile;
import org.apache.orc.Reader;
import org.apache.orc.TypeDescription;
import org.apache.orc.Writer;

final class KeyIndexTest {
    private static final int BATCHES = 40;

    private KeyIndexTest() {}

    private static Reader written(boolean deletes, int batches, boolean finer) throws IOException {
        Path path = OrcFiles.fresh();
        TypeDescription schema = OrcFiles.schema("a:int");
        KeyIndex index = new KeyIndex(deletes, "9.9", new boolean[] {finer});
        OrcFile.WriterOptions options = OrcFile.writerOptions(SETTINGS).setSchema(schema)
                .stripeSize(1L << 12).callback(index);
        try (Writer writer = OrcFile.createWriter(path, options)) {
            VectorizedRowBatch batch = schema.createRowBatch();
            long row = 0L;
            for (int i = 0; i < batches; i++) {
                batch.reset();
                while (batch.size < batch.getMaxSize()) {
                    long[] ids = {0L, 5L, BUCKET, row++, 5L};
                    for (int j = 0; j < ids.length; j++) {
                        ((LongColumnVector) batch.cols[j]).vector[batch.size] = ids[j];
                    }
                    LongColumnVector a = (LongColumnVector) ((StructColumnVector) batch.cols[5]).fields[0];
                    a.vector[batch.size++] = row * 7919L;
                }
                index.last(batch);
                writer.addRowBatch(batch);
            }
        }
        return OrcFile.createReader(path, OrcFile.readerOptions(SETTINGS));
    }

    private static String entry(Reader reader, String name) {
        return StandardCharsets.UTF_8.decode(reader.getMetadataValue(name)).toString();
    }

    static void itHasTheLastKeyOfEachStripe() throws IOException {
        Reader reader = written(false, BATCHES, false);
        StringBuilder expected = new StringBuilder();
        long rows = 0L;
        for (int i = 0; i < reader.getStripes().size(); i++) {
            rows += reader.getStripes().get(i).getNumberOfRows();
            expected.append("5,").append(BUCKET).append(',').append(rows - 1L).append(';');
        }
        same(reader.getStripes().size() > 1, true);
        same(entry(reader, "hive.acid.key.index"), expected.toString());
        same(entry(reader, "hive.acid.stats"), rows + ",0,0");
        same(entry(reader, "hive.acid.version"), "2");
        same(entry(reader, "org.apache.spark.version"), "9.9");
        same(reader.hasMetadataValue("hivesql.nanoseconds"), false);
    }

    static void deletesAndFinerTimesAreTold() throws IOException {
        Reader reader = written(true, 1, true);
        same(entry(reader, "hive.acid.stats"), "0,0," + reader.getNumberOfRows());
        same(entry(reader, "hivesql.nanoseconds"), "true");
    }

    static void aFileWithoutEventsHasNoKeys() throws IOException {
        Reader reader = written(false, 0, false);
        same(entry(reader, "hive.acid.key.index"), "");
        same(entry(reader, "hive.acid.stats"), "0,0,0");
    }
}
