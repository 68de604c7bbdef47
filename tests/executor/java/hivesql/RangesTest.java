package hivesql;

import static hivesql.RunTests.same;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileRange;

/** Ranges as Hadoop asks for several at once, from Spark 4.0 on. */
final class RangesTest {
    private RangesTest() {}

    static void rangesComeTogether() throws IOException {
        List<List<int[]>> cases = List.of(
                // Near each other, far from each other, one within what was read, one within another.
                List.of(new int[] {10, 20}, new int[] {5000, 300}),
                List.of(new int[] {10, 20}, new int[] {3 << 20, 1 << 20}, new int[] {5 << 20, 99}),
                List.of(new int[] {NearBytesTest.LENGTH - 100, 100}, new int[] {100, 5}, new int[] {0, 2 << 20}),
                List.of(new int[] {50, 100}, new int[] {60, 10}));
        for (List<int[]> ranges : cases) {
            StoreInput input = new StoreInput(NearBytesTest.pieces(KnownFile.UNKNOWN));
            NearBytesTest.read(input, NearBytesTest.LENGTH - 16384, 16384);
            List<FileRange> asked = new ArrayList<>();
            for (int[] range : ranges) asked.add(FileRange.createFileRange(range[0], range[1]));
            new FSDataInputStream(input).readVectored(asked, ByteBuffer::allocate);
            for (FileRange range : asked) {
                ByteBuffer buffer = ObjectStore.result(range.getData());
                byte[] bytes = new byte[buffer.remaining()];
                buffer.get(bytes);
                int from = (int) range.getOffset();
                same(Arrays.equals(bytes, Arrays.copyOfRange(
                        NearBytesTest.CONTENT, from, from + range.getLength())), true);
            }
            NearBytesTest.read(input, 0, NearBytesTest.LENGTH);
        }
    }
}
