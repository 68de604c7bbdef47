package hivesql;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.orc.Reader;
import org.apache.orc.StripeInformation;
import org.apache.spark.SparkContext;
import org.apache.spark.util.LongAccumulator;

/**
 * What the tasks of a scan have read and what they left out.
 *
 * <p>Only scans of a thread that measures are counted: whose local property of Spark names a
 * statement.
 */
final class ScanCounts implements Serializable {
    private static final String PROPERTY = "hivesql.measured";
    private static final Map<String, Queue<ScanCounts>> OF_STATEMENTS = new ConcurrentHashMap<>();

    final String table;
    final LongAccumulator files;
    final LongAccumulator skippedFiles;
    final LongAccumulator groups;
    final LongAccumulator skippedGroups;
    final LongAccumulator rows;
    final LongAccumulator hiddenRows;

    private ScanCounts(String table, SparkContext spark) {
        this.table = table;
        files = spark.longAccumulator();
        skippedFiles = spark.longAccumulator();
        groups = spark.longAccumulator();
        skippedGroups = spark.longAccumulator();
        rows = spark.longAccumulator();
        hiddenRows = spark.longAccumulator();
    }

    /** Counts for a scan that begins now; null where nobody measures. */
    static ScanCounts begin(String table, SparkContext spark) {
        String statement = spark.getLocalProperty(PROPERTY);
        if (statement == null) return null;
        ScanCounts counts = new ScanCounts(table, spark);
        OF_STATEMENTS.computeIfAbsent(statement, unknown -> new ConcurrentLinkedQueue<>()).add(counts);
        return counts;
    }

    /** The scans of a statement, in the order of their beginning; they are forgotten. */
    static List<ScanCounts> take(String statement) {
        Queue<ScanCounts> counts = OF_STATEMENTS.remove(statement);
        return counts == null ? List.of() : new ArrayList<>(counts);
    }

    void write(ObjectNode into) {
        into.put("table", table);
        into.put("files", files.value());
        into.put("skippedFiles", skippedFiles.value());
        into.put("groups", groups.value());
        into.put("skippedGroups", skippedGroups.value());
        into.put("rows", rows.value());
        into.put("hiddenRows", hiddenRows.value());
    }

    /** Which row groups of a piece of a file are read. */
    static final class Piece {
        private final ScanCounts counts;
        private final List<Stripe> stripes = new ArrayList<>();
        private final boolean first;
        private int at;
        private long last = -1L;
        private long groups;
        private long rows;
        private long hidden;

        Piece(ScanCounts counts, Reader reader, FileRange piece) {
            this.counts = counts;
            this.first = piece.start() == 0L;
            long stride = reader.getRowIndexStride();
            long row = 0L;
            long group = 0L;
            for (StripeInformation stripe : reader.getStripes()) {
                long length = stripe.getNumberOfRows();
                long size = stride > 0L ? stride : Math.max(1L, length);
                long offset = stripe.getOffset() - piece.start();
                if (offset >= 0L && offset < piece.length()) {
                    stripes.add(new Stripe(row, length, size, group));
                    group += (length + size - 1L) / size;
                }
                row += length;
            }
        }

        /** Count rows that were decoded, of one stripe, from a position on. */
        void read(long start, int size, int visible) {
            rows += size;
            hidden += size - visible;
            while (at < stripes.size() - 1 && start >= stripes.get(at).end()) at++;
            Stripe stripe = stripes.get(at);
            long low = Math.max(last + 1L, stripe.group(start));
            long high = stripe.group(start + size - 1L);
            groups += Math.max(0L, high - low + 1L);
            last = Math.max(last, high);
        }

        /** Tell what was read, at its end; whether the file was skipped as a whole. */
        void end(boolean skipped) {
            long all = stripes.stream().mapToLong(Stripe::groups).sum();
            if (first) {
                (skipped ? counts.skippedFiles : counts.files).add(1L);
            }
            counts.groups.add(groups);
            counts.skippedGroups.add(all - groups);
            counts.rows.add(rows);
            counts.hiddenRows.add(hidden);
        }
    }

    /** A stripe of a file: its first row, its rows, those of a row group, and its first group's number. */
    private record Stripe(long first, long length, long size, long number) {
        long end() {
            return first + length;
        }

        long group(long row) {
            return number + (row - first) / size;
        }

        long groups() {
            return (length + size - 1L) / size;
        }
    }
}
