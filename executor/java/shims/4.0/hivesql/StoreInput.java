package hivesql;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntFunction;
import org.apache.hadoop.fs.FileRange;

/** Bytes of a file; ranges that lie far from each other are asked for at once. */
final class StoreInput extends NearBytes {
    StoreInput(Pieces pieces) {
        super(pieces);
    }

    @Override
    public void readVectored(List<? extends FileRange> ranges, IntFunction<ByteBuffer> allocate)
            throws IOException {
        List<FileRange> runs = missing(ranges);
        List<byte[]> read = new ArrayList<>();
        if (runs.size() > 1) {
            pieces().stream().readVectored(runs, ByteBuffer::allocate);
        }
        for (FileRange run : runs) {
            byte[] bytes = new byte[run.getLength()];
            if (runs.size() > 1) {
                ObjectStore.result(run.getData()).get(bytes);
            } else {
                pieces().stream().readFully(run.getOffset(), bytes);
            }
            read.add(bytes);
        }
        for (FileRange range : ranges) {
            range.setData(CompletableFuture.completedFuture(bytes(range, runs, read)));
        }
        for (int i = 0; i < runs.size(); i++) {
            pieces().put(runs.get(i).getOffset(), read.get(i));
        }
    }

    /** A part of a run, which is not copied. */
    private ByteBuffer bytes(FileRange range, List<FileRange> runs, List<byte[]> read)
            throws IOException {
        for (int i = 0; i < runs.size(); i++) {
            long within = range.getOffset() - runs.get(i).getOffset();
            if (within >= 0 && within + range.getLength() <= read.get(i).length) {
                return ByteBuffer.wrap(read.get(i), (int) within, range.getLength()).slice();
            }
        }
        byte[] bytes = new byte[range.getLength()];
        readFully(range.getOffset(), bytes);
        return ByteBuffer.wrap(bytes);
    }

    /** Runs of the ranges that were not read, with the gaps between those that are near. */
    private List<FileRange> missing(List<? extends FileRange> ranges) {
        List<FileRange> sorted = new ArrayList<>(ranges);
        sorted.sort(Comparator.comparingLong(FileRange::getOffset));
        List<FileRange> runs = new ArrayList<>();
        for (FileRange range : sorted) {
            long start = range.getOffset();
            long end = start + range.getLength();
            if (pieces().hold(start, end)) continue;
            FileRange last = runs.isEmpty() ? null : runs.get(runs.size() - 1);
            if (last != null && start - last.getOffset() - last.getLength() <= NEAR
                    && end - last.getOffset() <= Pieces.MOST) {
                runs.remove(runs.size() - 1);
                start = last.getOffset();
            }
            // What is near comes with it, as far as it is not there.
            long most = Math.max(end, Math.min(start + NEAR, pieces().next(end - 1)));
            runs.add(FileRange.createFileRange(start, (int) (most - start)));
        }
        return runs;
    }
}
