package hivesql;

import static hivesql.OrcFiles.BUCKET;
import static hivesql.OrcFiles.SETTINGS;
import static hivesql.RunTests.same;

import hivesql.OrcFiles.Event;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.fs.Path;

final class DeleteBitmapsTest {
    private static final Snapshot EVERYTHING = new Snapshot(1000L, new long[0]);

    private DeleteBitmapsTest() {}

    private static EndingFile file(List<Event> events, boolean filtered, boolean holdsChanges) {
        Path path = OrcFiles.write(events);
        return new EndingFile(
                path.toString(), OrcFiles.length(path), filtered, KnownFile.UNKNOWN, holdsChanges, null);
    }

    private static KnownFile version(String text) {
        return new KnownFile(text, "", null);
    }

    private static boolean isDeleted(DeleteBitmaps bitmaps, long write, long bucket, long row) {
        DeleteBitmaps.Rows rows = bitmaps.of(write, bucket);
        return rows != null && rows.has(row);
    }

    static void rowsAreTheBitsOfASet() {
        DeleteBitmaps.Rows rows = new DeleteBitmaps.Rows();
        BitSet expected = new BitSet();
        Random random = new Random(7L);
        for (int i = 0; i < 5000; i++) {
            int row = random.nextInt(1 << random.nextInt(24));
            rows.add(row);
            expected.set(row);
        }
        for (int row = 0; row < 1 << 24; row++) {
            if (rows.has(row) != expected.get(row)) throw new AssertionError("row " + row);
        }
        rows.add(1L << 33);
        same(rows.has(1L << 33), true);
        same(rows.has((1L << 33) + (1L << 32)), false);
        same(rows.has(-1L), false);
    }

    static void aRowWithoutANumberIsRefused() {
        for (long wrong : new long[] {-1L, Long.MAX_VALUE}) {
            try {
                new DeleteBitmaps.Rows().add(wrong);
            } catch (IllegalStateException refused) {
                continue;
            }
            throw new AssertionError(wrong + " was taken");
        }
    }

    static void whatIsReadForSomeRowsIsRightForThem() {
        List<Event> events = new ArrayList<>();
        for (long write = 1L; write <= 3L; write++) {
            for (long row = 0L; row < 20_000L; row += write) {
                events.add(new Event(2L, write, BUCKET, row, 9L));
            }
        }
        List<EndingFile> files = List.of(file(events, false, false));
        DeleteBitmaps all = DeleteBitmaps.of("all", files, EVERYTHING, SETTINGS);
        List<KeyRange> ranges = List.of(
                new KeyRange(2L, 2L, BUCKET, BUCKET, 995L, 1005L),
                new KeyRange(3L, 9L, BUCKET, BUCKET, 19_000L, 50_000L));
        DeleteBitmaps some = DeleteBitmaps.within(ranges, files, EVERYTHING, SETTINGS);
        int deleted = 0;
        for (KeyRange range : ranges) {
            for (long row = range.row(); row <= range.lastRow(); row++) {
                boolean expected = row < 20_000L && row % range.write() == 0L;
                same(isDeleted(all, range.write(), BUCKET, row), expected);
                same(isDeleted(some, range.write(), BUCKET, row), expected);
                deleted += expected ? 1 : 0;
            }
        }
        if (deleted < 300) throw new AssertionError("nothing was asked");
        same(isDeleted(some, 1L, BUCKET, 1L), false);
        some.check(2L, BUCKET, 1000L);
        try {
            some.check(1L, BUCKET, 1L);
        } catch (IllegalStateException unknown) {
            return;
        }
        throw new AssertionError("it was asked about a row of which it knows nothing");
    }

    static void writesThatTheSnapshotDoesNotSeeDeleteNothing() {
        List<Event> events = List.of(
                new Event(2L, 1L, BUCKET, 0L, 5L), new Event(2L, 1L, BUCKET, 1L, 6L),
                new Event(2L, 1L, BUCKET, 2L, 7L));
        List<EndingFile> files = List.of(file(events, true, false));
        Snapshot snapshot = new Snapshot(6L, new long[] {5L});
        DeleteBitmaps found = DeleteBitmaps.of("some", files, snapshot, SETTINGS);
        same(isDeleted(found, 1L, BUCKET, 0L), false);
        same(isDeleted(found, 1L, BUCKET, 1L), true);
        same(isDeleted(found, 1L, BUCKET, 2L), false);
    }

    static void theLastEventOfVersion1IsTheRow() {
        List<Event> events = List.of(
                new Event(1L, 0L, 0L, 1L, 5L), new Event(1L, 0L, 0L, 1L, 7L),
                new Event(0L, 7L, 0L, 1L, 7L), new Event(1L, 7L, 0L, 1L, 7L),
                new Event(2L, 7L, 0L, 1L, 7L));
        for (List<KeyRange> ranges : List.of(List.of(KeyRange.ALL), List.<KeyRange>of())) {
            List<EndingFile> files = List.of(file(events, false, true));
            DeleteBitmaps found = ranges.isEmpty()
                    ? DeleteBitmaps.of("changes " + files, files, EVERYTHING, SETTINGS)
                    : DeleteBitmaps.within(ranges, files, EVERYTHING, SETTINGS);
            // An original is numbered as version 2 does it.
            same(found.isReplaced(0L, BUCKET, 1L, 0L, 0L), true);
            same(found.isReplaced(0L, 0L, 1L, 5L, 1L), true);
            same(found.isReplaced(0L, 0L, 1L, 7L, 1L), false);
            same(found.isReplaced(0L, BUCKET, 2L, 0L, 0L), false);
            same(found.isReplaced(7L, 0L, 1L, 7L, 0L), true);
            same(found.isReplaced(7L, 0L, 1L, 7L, 1L), true);
            same(found.isReplaced(7L, 0L, 1L, 7L, 2L), false);
            same(found.of(0L, 0L) == null, true);
        }
    }

    static void oneNameIsForOneSetOfFilesUnderOneSnapshot() {
        EndingFile plain = new EndingFile("a", 1L, false, version("1"), false, null);
        EndingFile filtered = new EndingFile("a", 1L, true, version("1"), false, null);
        EndingFile other = new EndingFile("a", 1L, false, version("2"), false, null);
        long[] none = {};
        String name = DeleteBitmaps.name(List.of(plain), 5L, none);
        same(DeleteBitmaps.name(List.of(plain), 6L, new long[] {2L}), name);
        same(DeleteBitmaps.name(List.of(other), 5L, none).equals(name), false);
        String seen = DeleteBitmaps.name(List.of(filtered), 5L, none);
        same(DeleteBitmaps.name(List.of(filtered), 5L, none), seen);
        same(DeleteBitmaps.name(List.of(filtered), 6L, none).equals(seen), false);
        EndingFile unknown = new EndingFile("a", 1L, false, KnownFile.UNKNOWN, false, null);
        same(DeleteBitmaps.name(List.of(unknown), 5L, none)
                .equals(DeleteBitmaps.name(List.of(unknown), 5L, none)), false);
    }
}
