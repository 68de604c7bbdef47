package hivesql;

import static hivesql.RunTests.same;

import java.io.EOFException;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
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

    static void aSmallFileIsReadWholeAndOnce() throws IOException {
        for (int length : new int[] {0, 1, 3000}) {
            File file = File.createTempFile("small", ".orc");
            byte[] content = Arrays.copyOf(CONTENT, length);
            Files.write(file.toPath(), content);
            Path path = new Path(file.toURI());
            FileSystem system = path.getFileSystem(new Configuration());
            FileOfLength known = new FileOfLength(system, length, KnownFile.UNKNOWN);
            for (int i = 0; i < 2; i++) {
                try (FSDataInputStream stream = known.open(path)) {
                    byte[] bytes = new byte[length];
                    stream.readFully(0, bytes);
                    same(Arrays.equals(bytes, content), true);
                    stream.seek(length / 2);
                    same(stream.read(), length == 0 ? -1 : content[length / 2] & 0xFF);
                    same(stream.read(length, new byte[1], 0, 1), -1);
                    beyond(() -> stream.readFully(length, new byte[1]));
                    beyond(() -> stream.seek(length + 1));
                }
                same(file.delete(), i == 0);
            }
        }
    }

    /** A piece of work with a file. */
    interface Reading {
        void read() throws IOException;
    }

    static void beyond(Reading reading) throws IOException {
        boolean isRefused = false;
        try {
            reading.read();
        } catch (EOFException end) {
            isRefused = true;
        }
        same(isRefused, true);
    }
}
