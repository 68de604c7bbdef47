package hivesql;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.orc.ColumnStatistics;
import org.apache.orc.IntegerColumnStatistics;
import org.apache.orc.OrcProto;
import org.apache.orc.Reader;
import org.apache.orc.StripeInformation;
import org.apache.orc.StripeStatistics;

/** Row ids between two write ids, two bucket properties and two row numbers. */
record KeyRange(long write, long lastWrite, long bucket, long lastBucket, long row, long lastRow) {
    /** Where nothing is known. */
    static final KeyRange ALL = new KeyRange(
            Long.MIN_VALUE, Long.MAX_VALUE, Long.MIN_VALUE, Long.MAX_VALUE,
            Long.MIN_VALUE, Long.MAX_VALUE);
    private static final int VERSION_BITS = 29;

    /** Buckets count as those of version 2, in which a range of both versions' is none. */
    KeyRange {
        if (isPlain(bucket) != isPlain(lastBucket)) {
            bucket = Long.MIN_VALUE;
            lastBucket = Long.MAX_VALUE;
        } else {
            bucket = versioned(bucket);
            lastBucket = versioned(lastBucket);
        }
    }

    private static boolean isPlain(long bucket) {
        return bucket >= 0L && bucket >>> VERSION_BITS == 0L;
    }

    /** Version 1 wrote bucket numbers as they are; originals are numbered with those of version 2. */
    static long versioned(long bucket) {
        return isPlain(bucket) ? 1L << VERSION_BITS | bucket << 16 : bucket;
    }

    /** Lowest and highest of write id, bucket property and row number, in this order; null is ALL. */
    static KeyRange of(long[] ends) {
        return ends == null
                ? ALL : new KeyRange(ends[0], ends[1], ends[2], ends[3], ends[4], ends[5]);
    }

    boolean overlaps(KeyRange other) {
        return write <= other.lastWrite && other.write <= lastWrite
                && bucket <= other.lastBucket && other.bucket <= lastBucket
                && row <= other.lastRow && other.row <= lastRow;
    }

    /** Whether a row's id is in here; its bucket counts as that of version 2. */
    boolean has(long ofWrite, long ofBucket, long ofRow) {
        return write <= ofWrite && ofWrite <= lastWrite
                && bucket <= ofBucket && ofBucket <= lastBucket && row <= ofRow && ofRow <= lastRow;
    }

    /** Whether one of some overlaps. */
    boolean overlapsAny(List<KeyRange> others) {
        for (KeyRange other : others) {
            if (overlaps(other)) return true;
        }
        return false;
    }

    static boolean anyHas(List<KeyRange> ranges, long write, long bucket, long row) {
        long versioned = versioned(bucket);
        for (KeyRange range : ranges) {
            if (range.has(write, versioned, row)) return true;
        }
        return false;
    }

    /** The ids in each stripe of a file of events, by its statistics. */
    static List<KeyRange> ofStripes(Reader reader) throws IOException {
        List<StripeStatistics> known = reader.getStripeStatistics();
        List<KeyRange> ranges = new ArrayList<>();
        for (int i = 0; i < reader.getStripes().size(); i++) {
            ranges.add(i < known.size() ? of(ends(known.get(i).getColumnStatistics())) : ALL);
        }
        return ranges;
    }

    private static long[] ends(ColumnStatistics[] columns) {
        long[] ends = new long[6];
        for (int i = 0; i < 3; i++) {
            int id = 1 + FileSchema.WRITE + i;
            if (id >= columns.length || !(columns[id] instanceof IntegerColumnStatistics found)
                    || found.getNumberOfValues() == 0L) {
                return null;
            }
            ends[2 * i] = found.getMinimum();
            ends[2 * i + 1] = found.getMaximum();
        }
        return ends;
    }

    /** The ids in a row group of a file of events, by its entries in the index. */
    static KeyRange ofGroup(OrcProto.RowIndex[] index, int group) {
        long[] ends = new long[6];
        for (int i = 0; i < 3; i++) {
            OrcProto.RowIndex column = index[1 + FileSchema.WRITE + i];
            if (column == null || group >= column.getEntryCount()
                    || !column.getEntry(group).getStatistics().hasIntStatistics()) {
                return ALL;
            }
            OrcProto.IntegerStatistics found = column.getEntry(group).getStatistics().getIntStatistics();
            if (!found.hasMinimum() || !found.hasMaximum()) return ALL;
            ends[2 * i] = found.getMinimum();
            ends[2 * i + 1] = found.getMaximum();
        }
        return of(ends);
    }

    /** The ids that the rows of a piece have. */
    static List<KeyRange> of(FileRange piece, Reader reader) throws IOException {
        AcidFile file = piece.file();
        List<KeyRange> known = file.isOriginal() ? List.of() : ofStripes(reader);
        List<KeyRange> ranges = new ArrayList<>();
        List<StripeInformation> stripes = reader.getStripes();
        long first = file.first();
        for (int i = 0; i < stripes.size(); i++) {
            StripeInformation stripe = stripes.get(i);
            long next = first + stripe.getNumberOfRows();
            if (stripe.getOffset() >= piece.start()
                    && stripe.getOffset() < piece.start() + piece.length()) {
                ranges.add(file.isOriginal()
                        ? new KeyRange(file.ids()[0], file.ids()[0], file.ids()[1], file.ids()[1], first, next - 1L)
                        : known.get(i));
            }
            first = next;
        }
        return ranges;
    }
}
