package hivesql;

import java.io.EOFException;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * A file of an object store: what lies close together is asked for once, a small file whole.
 *
 * <p>A request takes as long as a megabyte or two. ORC asks for a footer, a stripe's footer, its index
 * and each run of columns by themselves, and for all of them again where a file is read in two steps.
 */
class NearBytes extends FSInputStream {
    /** Bytes that take no longer to read than one more request. */
    static final int NEAR = 1 << 20;

    private final Pieces pieces;
    private long position;

    NearBytes(Pieces pieces) {
        this.pieces = pieces;
        pieces.readers++;
    }

    /** What was read of one file, shared by all that read it in one task. */
    static final class Pieces {
        /** Footers with the statistics of many stripes; they are remembered for the next task too. */
        private static final int TAIL = 256 << 10;
        /** Where a request begins that is for the file's footer. */
        private static final int ENDING = 32 << 10;
        /** Bytes that one file takes: what ORC has decoded, it holds itself. */
        static final int MOST = 8 << 20;
        private static final String NAME_OF_TAIL = "#tail";

        final long length;
        private final FileSystem system;
        private final Path path;
        private final KnownFile known;
        /** By where they begin. */
        private final TreeMap<Long, byte[]> pieces = new TreeMap<>();
        private final ArrayDeque<Long> oldest = new ArrayDeque<>();
        private long bytes;
        private FSDataInputStream stream;
        private int readers;

        Pieces(FileSystem system, Path path, long length, KnownFile known) {
            this.system = system;
            this.path = path;
            this.length = length;
            this.known = known;
            byte[] tail = SmallFiles.recall(path + NAME_OF_TAIL, known);
            if (tail != null) put(length - tail.length, tail);
        }

        /** Of a small file, all of which was read. */
        Pieces(Path path, byte[] whole) {
            system = null;
            this.path = path;
            length = whole.length;
            known = KnownFile.UNKNOWN;
            put(0, whole);
        }

        Path path() {
            return path;
        }

        FSDataInputStream stream() throws IOException {
            if (stream == null) stream = ObjectStore.open(system, path, length);
            return stream;
        }

        /** The piece with a byte; null where it was not read. */
        Map.Entry<Long, byte[]> at(long place) {
            Map.Entry<Long, byte[]> piece = pieces.floorEntry(place);
            return piece == null || place >= piece.getKey() + piece.getValue().length ? null : piece;
        }

        /** Where the first piece behind a byte begins, or the file ends. */
        long next(long place) {
            Long next = pieces.higherKey(place);
            return next == null ? length : next;
        }

        /** Whether all bytes of a range are in pieces. */
        boolean hold(long start, long end) {
            for (long place = start; place < end;) {
                Map.Entry<Long, byte[]> piece = at(place);
                if (piece == null) return false;
                place = piece.getKey() + piece.getValue().length;
            }
            return true;
        }

        void put(long start, byte[] piece) {
            if (piece.length > MOST || at(start) != null) return;
            pieces.put(start, piece);
            oldest.add(start);
            bytes += piece.length;
            for (Iterator<Long> all = oldest.iterator(); bytes > MOST && all.hasNext();) {
                bytes -= pieces.remove(all.next()).length;
                all.remove();
            }
        }

        /** Read from a byte that is in no piece; how many of the wanted bytes were there. */
        int fetch(long place, byte[] into, int at, int wanted) throws IOException {
            long next = next(place);
            int most = (int) Math.min(wanted, next - place);
            if (place + ENDING >= length) {
                long start = Math.max(startOfGap(place), length - TAIL);
                byte[] tail = new byte[(int) (length - start)];
                stream().readFully(start, tail);
                put(start, tail);
                SmallFiles.remember(path + NAME_OF_TAIL, known, tail);
                System.arraycopy(tail, (int) (place - start), into, at, most);
                return most;
            }
            int size = (int) Math.min(Math.max(most, NEAR), next - place);
            if (size > MOST) {
                stream().readFully(place, into, at, most);
                return most;
            }
            byte[] piece = new byte[size];
            stream().readFully(place, piece);
            put(place, piece);
            System.arraycopy(piece, 0, into, at, most);
            return most;
        }

        private long startOfGap(long place) {
            Map.Entry<Long, byte[]> before = pieces.floorEntry(place);
            return before == null ? 0 : before.getKey() + before.getValue().length;
        }

        private void close() throws IOException {
            if (--readers == 0 && stream != null) {
                stream.close();
                stream = null;
            }
        }
    }

    Pieces pieces() {
        return pieces;
    }

    @Override
    public void readFully(long place, byte[] into, int at, int count) throws IOException {
        if (place < 0 || place + count > pieces.length) {
            throw new EOFException(place + count + " of " + pieces.length + " bytes");
        }
        for (int done = 0; done < count;) {
            long from = place + done;
            Map.Entry<Long, byte[]> piece = pieces.at(from);
            if (piece == null) {
                done += pieces.fetch(from, into, at + done, count - done);
                continue;
            }
            int start = (int) (from - piece.getKey());
            int some = Math.min(count - done, piece.getValue().length - start);
            System.arraycopy(piece.getValue(), start, into, at + done, some);
            done += some;
        }
    }

    @Override
    public int read(long place, byte[] into, int at, int count) throws IOException {
        if (place >= pieces.length) return -1;
        int some = (int) Math.min(count, pieces.length - place);
        readFully(place, into, at, some);
        return some;
    }

    @Override
    public int read(byte[] into, int at, int count) throws IOException {
        int some = read(position, into, at, count);
        if (some > 0) position += some;
        return some;
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
    }

    @Override
    public void seek(long place) throws IOException {
        if (place < 0 || place > pieces.length) {
            throw new EOFException(place + " of " + pieces.length + " bytes");
        }
        position = place;
    }

    @Override
    public long getPos() {
        return position;
    }

    @Override
    public boolean seekToNewSource(long place) {
        return false;
    }

    @Override
    public void close() throws IOException {
        pieces.close();
    }
}
