package hivesql;

import static hivesql.RunTests.same;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

final class NearBytesTest {
    static final int LENGTH = (6 << 20) + 12345;
    static final byte[] CONTENT = new byte[LENGTH];

    static {
        new Random(7).nextBytes(CONTENT);
    }

    private NearBytesTest() {}

    /** A file of this machine, whose pieces are those of a store's. */
    static NearBytes.Pieces pieces(KnownFile known) throws IOException {
        File file = File.createTempFile("near", ".orc");
        Files.write(file.toPath(), CONTENT);
        Path path = new Path(file.toURI());
        FileSystem system = path.getFileSystem(new Configuration());
        return new NearBytes.Pieces(system, path, LENGTH, known);
    }

    static void read(StoreInput input, int from, int count) throws IOException {
        byte[] bytes = new byte[count];
        input.readFully(from, bytes, 0, count);
        same(Arrays.equals(bytes, 0, count, CONTENT, from, from + count), true);
    }

    static void anyRangeIsThatOfTheFile() throws IOException {
        Random random = new Random(11);
        StoreInput input = new StoreInput(pieces(KnownFile.UNKNOWN));
        for (int i = 0; i < 200; i++) {
            int from = random.nextInt(LENGTH);
            read(input, from, random.nextInt(Math.min(LENGTH - from, i % 2 == 0 ? 500 : 3 << 20) + 1));
        }
        input.close();
    }

    static void whatIsNearComesWithIt() throws IOException {
        NearBytes.Pieces pieces = pieces(KnownFile.UNKNOWN);
        StoreInput input = new StoreInput(pieces);
        read(input, LENGTH - 16384, 16384);
        same(pieces.hold(LENGTH - (200 << 10), LENGTH), true);
        read(input, 3, 100);
        same(pieces.hold(3, 3 + NearBytes.NEAR), true);
        same(pieces.hold(3, 4 + NearBytes.NEAR), false);
    }

    static void aFooterIsRememberedForTheNextTask() throws IOException {
        KnownFile known = new KnownFile("1", "", null);
        NearBytes.Pieces first = pieces(known);
        same(first.hold(LENGTH - 1, LENGTH), false);
        read(new StoreInput(first), LENGTH - 16384, 16384);
        byte[] tail = SmallFiles.recall(first.path() + "#tail", known);
        same(tail != null, true);
    }
}
