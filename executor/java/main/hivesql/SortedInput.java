package hivesql;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hive.ql.exec.vector.LongColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.VectorizedRowBatch;
import org.apache.orc.ColumnStatistics;
import org.apache.orc.IntegerColumnStatistics;
import org.apache.orc.OrcFile;
import org.apache.orc.Reader;
import org.apache.orc.RecordReader;
import org.apache.orc.StripeInformation;
import org.apache.orc.StripeStatistics;
import org.apache.orc.TypeDescription;
import org.apache.spark.TaskContext;
import org.apache.spark.TaskKilledException;

/** The rows of a file, or of one of its stripes, in order; comparable by the row it stands on. */
final class SortedInput implements Comparable {
    final Path path;
    final RecordReader rows;
    final VectorizedRowBatch batch;
    final boolean filtered;
    final boolean keyed;
    final Key key = new Key();
    final Key before = new Key();
    int at = -1;
    boolean begun;

    SortedInput(
            Reader reader, Path path, StripeInformation stripe, boolean filtered, String kind,
            TypeDescription wanted) throws IOException {
        this.path = path;
        this.filtered = filtered;
        keyed = !kind.equals("plain");
        // The row of a delete event is never there, so its type does not matter.
        if (!kind.equals("delete") && !reader.getSchema().equals(wanted, false)) {
            throw new IllegalStateException(path + " has other columns than the files before it");
        }
        Reader.Options options = reader.options();
        if (stripe != null) {
            options.range(stripe.getOffset(), stripe.getLength());
        }
        rows = reader.rows(options);
        batch = reader.getSchema().createRowBatchV2();
    }

    /** Timestamps as UTC, so that no zone moves them; calendar: the wanted one, null as it is. */
    static Reader open(JsonNode file, Configuration conf, Boolean proleptic) throws IOException {
        Path path = path(file);
        OrcFile.ReaderOptions options =
                ObjectStore.readerOptions(
                        path, file.get("length").asLong(), KnownFile.of(file), conf);
        options.useUTCTimestamp(true);
        if (proleptic != null) {
            options.convertToProlepticGregorian(proleptic.booleanValue());
        }
        return OrcFile.createReader(path, options);
    }

    /** The error that tells which file it was; failure.py knows its words. */
    static RuntimeException unreadable(String path, Exception error) {
        String before = "hivesql cannot read ";
        boolean told = error instanceof IllegalStateException
                && String.valueOf(error.getMessage()).startsWith(before);
        if (told || error instanceof TaskKilledException) return (RuntimeException) error;
        return new IllegalStateException(before + path + ": " + error, error);
    }

    static Path path(JsonNode file) {
        return new Path(file.get("path").asText());
    }

    static JsonNode item(JsonNode list, int i) {
        return (JsonNode) list.get(i);
    }

    /** Go to the next row; false after the last. */
    boolean more() throws IOException {
        at++;
        if (at >= batch.size) {
            TaskContext task = TaskContext.get();
            if (task != null) {
                task.killTaskIfInterrupted();
            }
            at = 0;
            if (!rows.nextBatch(batch) || batch.size == 0) {
                return false;
            }
            SignedZeros.restore(batch);
        }
        if (keyed) {
            before.set(key.write, key.bucket, key.row);
            key.set(value(1, at), value(2, at), value(3, at));
            if (begun && before.compareTo(key) > 0) {
                throw new IllegalStateException("keys are not in order: " + path);
            }
            begun = true;
        }
        return true;
    }

    boolean isLastOfBatch() {
        return at == batch.size - 1;
    }

    long value(int column, int row) {
        LongColumnVector vector = (LongColumnVector) batch.cols[column];
        return vector.vector[vector.isRepeating ? 0 : row];
    }

    Key keyAt(int row) {
        Key found = new Key();
        found.set(value(1, row), value(2, row), value(3, row));
        return found;
    }

    long writer() {
        return value(4, at);
    }

    boolean isVisible(Snapshot snapshot) {
        return !filtered || snapshot.sees(writer());
    }

    void close() throws IOException {
        rows.close();
    }

    public int compareTo(Object other) {
        int order = key.compareTo(((SortedInput) other).key);
        return order != 0 || !keyed ? order : Long.compare(writer(), ((SortedInput) other).writer());
    }

    public String toString() {
        return path.toString();
    }
}

/** A row's id. */
final class Key implements Comparable {
    long write;
    long bucket;
    long row;

    void set(long write, long bucket, long row) {
        this.write = write;
        this.bucket = bucket;
        this.row = row;
    }

    Key copy() {
        Key same = new Key();
        same.set(write, bucket, row);
        return same;
    }

    public int compareTo(Object other) {
        Key that = (Key) other;
        if (write != that.write) {
            return write < that.write ? -1 : 1;
        }
        if (bucket != that.bucket) {
            return bucket < that.bucket ? -1 : 1;
        }
        return row < that.row ? -1 : row > that.row ? 1 : 0;
    }

    public boolean equals(Object other) {
        return other instanceof Key && compareTo(other) == 0;
    }

    public int hashCode() {
        return Long.hashCode(write * 31 + bucket) * 31 + Long.hashCode(row);
    }

    /** First and last key of a stripe; null when its statistics do not tell, or tell otherwise. */
    static Key[] ends(Reader reader, StripeStatistics about, long row, long count)
            throws IOException {
        ColumnStatistics[] columns = about.getColumnStatistics();
        Key least = new Key();
        Key greatest = new Key();
        long[][] ranges = new long[3][];
        for (int i = 0; i < 3; i++) {
            if (!(columns[i + 2] instanceof IntegerColumnStatistics)
                    || columns[i + 2].getNumberOfValues() != count) {
                return null;
            }
            IntegerColumnStatistics one = (IntegerColumnStatistics) columns[i + 2];
            ranges[i] = new long[] {one.getMinimum(), one.getMaximum()};
        }
        least.set(ranges[0][0], ranges[1][0], ranges[2][0]);
        greatest.set(ranges[0][1], ranges[1][1], ranges[2][1]);
        if (least.write == greatest.write && least.bucket == greatest.bucket) {
            return new Key[] {least, greatest};
        }
        RecordReader rows = reader.rows();
        try {
            VectorizedRowBatch batch = reader.getSchema().createRowBatchV2();
            Key first = at(rows, batch, row);
            Key last = at(rows, batch, row + count - 1);
            boolean told = first.write == least.write && last.write == greatest.write;
            return told && first.compareTo(last) <= 0 ? new Key[] {first, last} : null;
        } finally {
            rows.close();
        }
    }

    private static Key at(RecordReader rows, VectorizedRowBatch batch, long row)
            throws IOException {
        rows.seekToRow(row);
        rows.nextBatch(batch);
        Key found = new Key();
        long[] values = new long[3];
        for (int i = 0; i < 3; i++) {
            values[i] = ((LongColumnVector) batch.cols[i + 1]).vector[0];
        }
        found.set(values[0], values[1], values[2]);
        return found;
    }
}

/** Which writes are seen. */
final class Snapshot {
    private final long highest;
    private final long[] hidden;

    Snapshot(JsonNode plan) {
        highest = plan.get("highest").asLong();
        hidden = new long[plan.get("hidden").size()];
        for (int i = 0; i < hidden.length; i++) {
            hidden[i] = SortedInput.item(plan.get("hidden"), i).asLong();
        }
        java.util.Arrays.sort(hidden);
    }

    Snapshot(long highest, long[] hidden) {
        this.highest = highest;
        this.hidden = (long[]) hidden.clone();
        java.util.Arrays.sort(this.hidden);
    }

    boolean sees(long write) {
        return write <= highest && java.util.Arrays.binarySearch(hidden, write) < 0;
    }
}

/** Keys of deleted rows, in order; asked for ascending keys alone. */
final class Deletes {
    private final java.util.PriorityQueue queue = new java.util.PriorityQueue();
    private final java.util.List readers = new java.util.ArrayList();
    private final Snapshot snapshot;
    private SortedInput next;

    Deletes(JsonNode files, Configuration conf, Snapshot snapshot) throws IOException {
        this.snapshot = snapshot;
        for (int i = 0; i < files.size(); i++) {
            JsonNode file = SortedInput.item(files, i);
            Path path = SortedInput.path(file);
            Reader reader = SortedInput.open(file, conf, null);
            readers.add(reader);
            boolean filtered = file.get("filtered").asBoolean();
            put(new SortedInput(reader, path, null, filtered, "delete", null));
        }
        next = (SortedInput) queue.poll();
    }

    private void put(SortedInput input) throws IOException {
        boolean more = input.more();
        while (more && !input.isVisible(snapshot)) {
            more = input.more();
        }
        if (more) {
            queue.add(input);
        } else {
            input.close();
        }
    }

    private void skipTo(Key key) throws IOException {
        while (next != null && next.key.compareTo(key) < 0) {
            put(next);
            next = (SortedInput) queue.poll();
        }
    }

    /** Whether the row with this key is deleted. */
    boolean hold(Key key) throws IOException {
        skipTo(key);
        return next != null && next.key.compareTo(key) == 0;
    }

    /** Whether any row from first to last may be deleted. */
    boolean touch(Key first, Key last) throws IOException {
        skipTo(first);
        return next != null && next.key.compareTo(last) <= 0;
    }

    void close() throws IOException {
        for (int i = 0; i < readers.size(); i++) {
            ((Reader) readers.get(i)).close();
        }
    }
}
