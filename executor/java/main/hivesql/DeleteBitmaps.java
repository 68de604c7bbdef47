package hivesql;

import java.io.IOException;
import java.lang.ref.SoftReference;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hive.ql.exec.vector.LongColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.VectorizedRowBatch;
import org.apache.orc.OrcFile;
import org.apache.orc.Reader;
import org.apache.orc.RecordReader;
import org.apache.orc.TypeDescription;
import org.apache.spark.TaskContext;

/** The rows of one partition that a snapshot sees as deleted: a bit for each, by write and bucket. */
final class DeleteBitmaps {
    private static final int BATCH = 4096;
    private static final int MOST_KEPT = 64;
    private static final Map CACHE = new LinkedHashMap(16, 0.75f, true);

    private final Map writes = new HashMap();

    /** The same for what is deleted by the same files under the same snapshot, if that matters. */
    static String name(List files, long highest, long[] hidden) {
        StringBuilder name = new StringBuilder();
        boolean filtered = false;
        for (int i = 0; i < files.size(); i++) {
            Object[] file = (Object[]) files.get(i);
            if (file[2].equals("")) return UUID.randomUUID().toString();
            filtered |= ((Boolean) file[1]).booleanValue();
            name.append(file[0]).append('|').append(file[1]).append('|').append(file[2]).append('|');
        }
        if (filtered) {
            name.append(highest).append(Arrays.toString(hidden));
        }
        return UUID.nameUUIDFromBytes(name.toString().getBytes(StandardCharsets.UTF_8)).toString();
    }

    /** Those of some files, each (path, filtered, version); an executor reads what has one name once. */
    static DeleteBitmaps of(String name, List files, Snapshot snapshot, Configuration settings)
            throws IOException {
        Holder holder;
        synchronized (CACHE) {
            holder = (Holder) CACHE.get(name);
            if (holder == null) {
                holder = new Holder();
                CACHE.put(name, holder);
                if (CACHE.size() > MOST_KEPT) {
                    CACHE.remove(CACHE.keySet().iterator().next());
                }
            }
        }
        synchronized (holder) {
            DeleteBitmaps found = (DeleteBitmaps) holder.found.get();
            if (found == null) {
                found = new DeleteBitmaps();
                for (int i = 0; i < files.size(); i++) {
                    Object[] file = (Object[]) files.get(i);
                    try {
                        found.read(file, snapshot, settings);
                    } catch (IOException error) {
                        throw SortedInput.unreadable((String) file[0], error);
                    } catch (RuntimeException error) {
                        throw SortedInput.unreadable((String) file[0], error);
                    }
                }
                holder.found = new SoftReference(found);
            }
            return found;
        }
    }

    private static final class Holder {
        SoftReference found = new SoftReference(null);
    }

    private void read(Object[] file, Snapshot snapshot, Configuration settings) throws IOException {
        Path path = new Path((String) file[0]);
        boolean filtered = ((Boolean) file[1]).booleanValue();
        Reader reader = OrcFile.createReader(path, OrcFile.readerOptions(settings));
        TypeDescription schema = reader.getSchema();
        boolean[] include = new boolean[schema.getMaximumId() + 1];
        Arrays.fill(include, 0, filtered ? 6 : 5, true);
        include[1] = false;
        RecordReader rows = reader.rows(reader.options().schema(schema).include(include));
        try {
            VectorizedRowBatch batch = schema.createRowBatch(BATCH);
            while (rows.nextBatch(batch) && batch.size > 0) {
                TaskContext.get().killTaskIfInterrupted();
                add(batch, filtered ? snapshot : null, path);
            }
        } finally {
            rows.close();
        }
    }

    private void add(VectorizedRowBatch batch, Snapshot snapshot, Path path) {
        for (int column = 1; column < 4; column++) {
            if (!batch.cols[column].noNulls) {
                throw new IllegalStateException(path + " deletes a row without an id");
            }
        }
        long write = 0L, bucket = 0L;
        Rows rows = null;
        for (int i = 0; i < batch.size; i++) {
            if (snapshot != null && !snapshot.sees(value(batch, 4, i))) continue;
            long nextWrite = value(batch, 1, i);
            long nextBucket = value(batch, 2, i);
            if (rows == null || write != nextWrite || bucket != nextBucket) {
                write = nextWrite;
                bucket = nextBucket;
                rows = of(write, bucket);
                if (rows == null) {
                    rows = new Rows();
                    Map buckets = (Map) writes.get(Long.valueOf(write));
                    if (buckets == null) {
                        buckets = new HashMap();
                        writes.put(Long.valueOf(write), buckets);
                    }
                    buckets.put(Long.valueOf(bucket), rows);
                }
            }
            rows.add(value(batch, 3, i));
        }
    }

    static long value(VectorizedRowBatch batch, int column, int row) {
        LongColumnVector vector = (LongColumnVector) batch.cols[column];
        return vector.vector[vector.isRepeating ? 0 : row];
    }

    /** The deleted rows of one write and bucket property; null when there are none. */
    Rows of(long write, long bucket) {
        Map buckets = (Map) writes.get(Long.valueOf(write));
        return buckets == null ? null : (Rows) buckets.get(Long.valueOf(bucket));
    }

    /** Row numbers; pieces of 65536 that have none take no room. */
    static final class Rows {
        private static final int PIECE = 16;
        private long[][] pieces = new long[4][];

        void add(long row) {
            if (row < 0L || row >> PIECE >= (long) Integer.MAX_VALUE) {
                throw new IllegalStateException("a deleted row has the number " + row);
            }
            int piece = (int) (row >> PIECE);
            if (piece >= pieces.length) {
                pieces = (long[][]) Arrays.copyOf(pieces, Math.max(piece + 1, pieces.length * 2));
            }
            if (pieces[piece] == null) {
                pieces[piece] = new long[1 << PIECE - 6];
            }
            pieces[piece][(int) row >> 6 & (1 << PIECE - 6) - 1] |= 1L << (int) (row & 63L);
        }

        boolean has(long row) {
            long piece = row >> PIECE;
            if (piece < 0L || piece >= (long) pieces.length) return false;
            long[] words = pieces[(int) piece];
            if (words == null) return false;
            return (words[(int) row >> 6 & (1 << PIECE - 6) - 1] >>> (int) (row & 63L) & 1L) != 0L;
        }
    }
}
