package hivesql;

import java.io.IOException;
import java.io.Serializable;
import java.lang.ref.SoftReference;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hive.ql.exec.vector.LongColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.VectorizedRowBatch;
import org.apache.orc.OrcFile;
import org.apache.orc.OrcProto;
import org.apache.orc.Reader;
import org.apache.orc.RecordReader;
import org.apache.orc.TypeDescription;
import org.apache.orc.impl.RecordReaderImpl;
import org.apache.spark.TaskContext;

/**
 * A file whose events end rows: one of deletes, or one of version 1 with changes among its rows.
 *
 * <p>The range is null when the ids in it are not known.
 */
record EndingFile(
        String path, long length, boolean filtered, KnownFile known, boolean holdsChanges, long[] range)
        implements Serializable {
    String version() {
        return known.version();
    }
}

/**
 * The rows of one partition that a snapshot sees as deleted: a bit for each, by write and bucket.
 *
 * <p>An event of version 1 is a row until a later one repeats its id: so there are bits for each
 * write that changed rows, and what it did to them.
 */
final class DeleteBitmaps {
    static final long DELETE = 2L;
    private static final int BATCH = 4096;
    private static final int MOST_CACHED = 64;
    private static final Map<String, Holder> CACHE = new LinkedHashMap<>(16, 0.75f, true);

    private final Map<Unit, Rows> deleted = new HashMap<>();
    private final Map<Unit, Changes> changed = new HashMap<>();
    /** Those ids alone are known here; null for all. */
    private final List<KeyRange> within;

    private DeleteBitmaps(List<KeyRange> within) {
        this.within = within;
    }

    private record Unit(long write, long bucket) {}

    /** An event's place among those of its row: within one write it is inserted first and deleted last. */
    private record When(long writer, long operation) implements Comparable<When> {
        @Override
        public int compareTo(When other) {
            int order = Long.compare(writer, other.writer);
            return order != 0 ? order : Long.compare(operation, other.operation);
        }
    }

    private static final class Changes {
        final Rows any = new Rows();
        final NavigableMap<When, Rows> each = new TreeMap<>();
    }

    private static final class Holder {
        SoftReference<DeleteBitmaps> found = new SoftReference<>(null);
    }

    /** The same for what is deleted by the same files under the same snapshot, if that matters. */
    static String name(List<EndingFile> files, long highest, long[] hidden) {
        StringBuilder name = new StringBuilder();
        boolean filtered = false;
        for (EndingFile file : files) {
            if (file.version().isEmpty()) return UUID.randomUUID().toString();
            filtered |= file.filtered();
            name.append(file.path()).append('|').append(file.filtered()).append('|')
                    .append(file.version()).append('|');
        }
        if (filtered) {
            name.append(highest).append(Arrays.toString(hidden));
        }
        return UUID.nameUUIDFromBytes(name.toString().getBytes(StandardCharsets.UTF_8)).toString();
    }

    /** Those of some files; an executor reads what has one name once. */
    static DeleteBitmaps of(
            String name, List<EndingFile> files, Snapshot snapshot, Configuration settings) {
        Holder holder;
        synchronized (CACHE) {
            holder = CACHE.computeIfAbsent(name, unknown -> new Holder());
            if (CACHE.size() > MOST_CACHED) {
                CACHE.remove(CACHE.keySet().iterator().next());
            }
        }
        synchronized (holder) {
            DeleteBitmaps found = holder.found.get();
            if (found == null) {
                found = read(null, files, snapshot, settings);
                holder.found = new SoftReference<>(found);
            }
            return found;
        }
    }

    /**
     * Those of some files as far as they are about rows with such ids: however much was deleted, this
     * takes about a bit for each row that is read. Of other rows nothing may be asked.
     */
    static DeleteBitmaps within(
            List<KeyRange> ranges, List<EndingFile> files, Snapshot snapshot, Configuration settings) {
        return read(ranges, files, snapshot, settings);
    }

    private static DeleteBitmaps read(
            List<KeyRange> within, List<EndingFile> files, Snapshot snapshot, Configuration settings) {
        DeleteBitmaps found = new DeleteBitmaps(within);
        for (EndingFile file : files) {
            try {
                found.read(file, snapshot, settings);
            } catch (IOException | RuntimeException error) {
                throw SortedInput.unreadable(file.path(), error);
            }
        }
        return found;
    }

    private void read(EndingFile file, Snapshot snapshot, Configuration settings) throws IOException {
        if (within != null && !KeyRange.of(file.range()).overlapsAny(within)) return;
        Path path = new Path(file.path());
        Reader reader = OrcFile.createReader(
                path, ObjectStore.readerOptions(path, file.length(), file.known(), settings));
        TypeDescription schema = reader.getSchema();
        boolean[] include = new boolean[schema.getMaximumId() + 1];
        Arrays.fill(include, 0, file.filtered() || file.holdsChanges() ? 6 : 5, true);
        include[1 + FileSchema.OPERATION] = file.holdsChanges();
        try (RecordReader rows = reader.rows(reader.options().schema(schema).include(include))) {
            VectorizedRowBatch batch = schema.createRowBatch(BATCH);
            if (within == null) {
                add(rows, batch, Long.MAX_VALUE, file, snapshot);
                return;
            }
            List<KeyRange> stripes = KeyRange.ofStripes(reader);
            long start = 0L;
            for (int i = 0; i < stripes.size(); i++) {
                long end = start + reader.getStripes().get(i).getNumberOfRows();
                if (stripes.get(i).overlapsAny(within)) {
                    int stride = reader.getRowIndexStride();
                    OrcProto.RowIndex[] index = stride == 0 ? null
                            : ((RecordReaderImpl) rows).readRowIndex(i, include, include).getRowGroupIndex();
                    long step = index == null ? end - start : stride;
                    int group = 0;
                    for (long from = start; from < end; from += step, group++) {
                        if (index != null && !KeyRange.ofGroup(index, group).overlapsAny(within)) continue;
                        if (rows.getRowNumber() < from) {
                            rows.seekToRow(from);
                        }
                        add(rows, batch, Math.min(end, from + step), file, snapshot);
                    }
                }
                start = end;
            }
        }
    }

    /** Add what comes before a row of the file, or a little more. */
    private void add(
            RecordReader rows, VectorizedRowBatch batch, long end, EndingFile file, Snapshot snapshot)
            throws IOException {
        while (rows.getRowNumber() < end && rows.nextBatch(batch) && batch.size > 0) {
            TaskContext task = TaskContext.get();
            if (task != null) {
                task.killTaskIfInterrupted();
            }
            for (int column = FileSchema.WRITE; column <= FileSchema.ROW; column++) {
                if (!batch.cols[column].noNulls) {
                    throw new IllegalStateException(file.path() + " deletes a row without an id");
                }
            }
            if (file.holdsChanges()) {
                addChanges(batch, file.filtered() ? snapshot : null);
            } else {
                addDeletes(batch, file.filtered() ? snapshot : null);
            }
        }
    }

    private boolean isWanted(long write, long bucket, long row) {
        return within == null || KeyRange.anyHas(within, write, bucket, row);
    }

    private void addDeletes(VectorizedRowBatch batch, Snapshot snapshot) {
        Unit unit = null;
        Rows rows = null;
        for (int i = 0; i < batch.size; i++) {
            if (snapshot != null && !snapshot.sees(value(batch, FileSchema.WRITER, i))) continue;
            long write = value(batch, FileSchema.WRITE, i);
            long bucket = value(batch, FileSchema.BUCKET, i);
            long row = value(batch, FileSchema.ROW, i);
            if (!isWanted(write, bucket, row)) continue;
            if (unit == null || unit.write != write || unit.bucket != bucket) {
                unit = new Unit(write, bucket);
                rows = deleted.computeIfAbsent(unit, unknown -> new Rows());
            }
            rows.add(row);
        }
    }

    private void addChanges(VectorizedRowBatch batch, Snapshot snapshot) {
        for (int i = 0; i < batch.size; i++) {
            long operation = value(batch, FileSchema.OPERATION, i);
            long writer = value(batch, FileSchema.WRITER, i);
            if (operation == 0L || snapshot != null && !snapshot.sees(writer)) continue;
            long write = value(batch, FileSchema.WRITE, i);
            long bucket = KeyRange.versioned(value(batch, FileSchema.BUCKET, i));
            long row = value(batch, FileSchema.ROW, i);
            if (!isWanted(write, bucket, row)) continue;
            Changes changes =
                    changed.computeIfAbsent(new Unit(write, bucket), unknown -> new Changes());
            changes.any.add(row);
            changes.each.computeIfAbsent(new When(writer, operation), unknown -> new Rows()).add(row);
        }
    }

    static long value(VectorizedRowBatch batch, int column, int row) {
        LongColumnVector vector = (LongColumnVector) batch.cols[column];
        return vector.vector[vector.isRepeating ? 0 : row];
    }

    /** The deleted rows of one write and bucket property; null when there are none. */
    Rows of(long write, long bucket) {
        return deleted.get(new Unit(write, bucket));
    }

    /** Whether a later event of version 1 has changed or deleted the row that an event is. */
    boolean isReplaced(long write, long bucket, long row, long writer, long operation) {
        Changes changes = changed.get(new Unit(write, KeyRange.versioned(bucket)));
        if (changes == null || !changes.any.has(row)) return false;
        for (Rows later : changes.each.tailMap(new When(writer, operation), false).values()) {
            if (later.has(row)) return true;
        }
        return false;
    }

    /** Raise for a row of which nothing is known here. */
    void check(long write, long bucket, long row) {
        if (!isWanted(write, bucket, row)) {
            throw new IllegalStateException(
                    "the row " + write + ", " + bucket + ", " + row
                    + " is none that the statistics of its stripe tell of");
        }
    }

    /** Row numbers; pieces of 65536 that have none take no room. */
    static final class Rows {
        private static final int PIECE = 16;
        private long[][] pieces = new long[4][];

        void add(long row) {
            if (row < 0L || row >> PIECE >= Integer.MAX_VALUE) {
                throw new IllegalStateException("a deleted row has the number " + row);
            }
            int piece = (int) (row >> PIECE);
            if (piece >= pieces.length) {
                pieces = Arrays.copyOf(pieces, Math.max(piece + 1, pieces.length * 2));
            }
            if (pieces[piece] == null) {
                pieces[piece] = new long[1 << PIECE - 6];
            }
            pieces[piece][(int) row >> 6 & (1 << PIECE - 6) - 1] |= 1L << (int) (row & 63L);
        }

        boolean has(long row) {
            long piece = row >> PIECE;
            if (piece < 0L || piece >= pieces.length) return false;
            long[] words = pieces[(int) piece];
            if (words == null) return false;
            return (words[(int) row >> 6 & (1 << PIECE - 6) - 1] >>> (int) (row & 63L) & 1L) != 0L;
        }
    }
}
