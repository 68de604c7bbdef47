package hivesql;

import java.io.IOException;
import java.io.Serializable;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hive.ql.exec.vector.BytesColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.ColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.Decimal64ColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.DecimalColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.DoubleColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.LongColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.MultiValuedColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.StructColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.TimestampColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.VectorizedRowBatch;
import org.apache.hadoop.hive.serde2.io.HiveDecimalWritable;
import org.apache.orc.OrcConf;
import org.apache.orc.OrcFile;
import org.apache.orc.Reader;
import org.apache.orc.RecordReader;
import org.apache.orc.TypeDescription;
import org.apache.orc.mapred.OrcInputFormat;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.execution.datasources.orc.OrcColumnVector;
import org.apache.spark.sql.execution.vectorized.ConstantColumnVector;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.apache.spark.util.SerializableConfiguration;

/** Some bytes of a file of events. */
final class Piece implements Serializable, Comparable {
    final String path;
    final long start;
    final long length;
    final int place;
    final boolean filtered;

    Piece(String path, long start, long length, int place, boolean filtered) {
        this.path = path;
        this.start = start;
        this.length = length;
        this.place = place;
        this.filtered = filtered;
    }

    /** The longest first. */
    public int compareTo(Object other) {
        return Long.compare(((Piece) other).length, length);
    }
}

/** What one task reads. */
final class Pieces implements InputPartition {
    final Piece[] all;
    private final String[] hosts;

    Pieces(List pieces, String[] hosts) {
        this.all = (Piece[]) pieces.toArray(new Piece[0]);
        this.hosts = hosts;
    }

    public String[] preferredLocations() {
        return hosts;
    }
}

/** What all tasks of a scan share. */
final class AcidReaders implements PartitionReaderFactory {
    /** Identifies the scan's deleted rows among those that an executor keeps. */
    final String scan;
    final StructType wanted;
    /** Where each wanted column is: in the row, or beyond it as ROW_ID_PARTS tells. */
    final int[] positions;
    final int width;
    final int present;
    final Map deletes;
    final long highest;
    final long[] hidden;
    final Broadcast settings;
    /** The search argument and its columns, as ORC takes them from settings; null without one. */
    final String[] search;

    AcidReaders(
            String scan, StructType wanted, int[] positions, int width, int present, Map deletes,
            long highest, long[] hidden, Configuration settings, String[] search) {
        this.scan = scan;
        this.wanted = wanted;
        this.positions = positions;
        this.width = width;
        this.present = present;
        this.deletes = deletes;
        this.highest = highest;
        this.hidden = hidden;
        this.settings = Settings.share(settings);
        this.search = search;
    }

    public boolean supportColumnarReads(InputPartition partition) {
        return true;
    }

    public PartitionReader createReader(InputPartition partition) {
        throw new UnsupportedOperationException("events are read in columns");
    }

    public PartitionReader createColumnarReader(InputPartition partition) {
        return new AcidReader(this, ((Pieces) partition).all);
    }
}

/**
 * Rows of ACID files as columnar batches, without the deleted ones.
 *
 * <p>Only the columns that are wanted are decoded; ids only where rows may be deleted. Deleted rows
 * leave ORC's vectors before Spark sees these.
 */
final class AcidReader implements PartitionReader {
    private static final int BATCH = 4096;
    private static final int WRITER = 4;

    private final AcidReaders plan;
    private final Piece[] pieces;
    private final Configuration settings;
    private final Snapshot snapshot;
    private final int[] kept = new int[BATCH];
    private int next;
    private RecordReader rows;
    private VectorizedRowBatch batch;
    private ColumnVector[] used;
    private org.apache.spark.sql.vectorized.ColumnVector[] shown;
    private ColumnarBatch result;
    private Deleted deleted;
    private boolean filtered;

    AcidReader(AcidReaders plan, Piece[] pieces) {
        this.plan = plan;
        this.pieces = pieces;
        Configuration shared = ((SerializableConfiguration) plan.settings.value()).value();
        this.settings = plan.search == null ? shared : new Configuration(shared);
        if (plan.search != null) {
            settings.set(OrcConf.KRYO_SARG.getAttribute(), plan.search[0]);
            settings.set(OrcConf.SARG_COLUMNS.getAttribute(), plan.search[1]);
        }
        this.snapshot = new Snapshot(plan.highest, plan.hidden);
    }

    public boolean next() throws IOException {
        try {
            return advance();
        } catch (IOException error) {
            throw Input.unreadable(pieces[next - 1].path, error);
        } catch (RuntimeException error) {
            throw Input.unreadable(pieces[next - 1].path, error);
        }
    }

    private boolean advance() throws IOException {
        while (true) {
            if (rows == null) {
                if (next == pieces.length) return false;
                begin(pieces[next++]);
            }
            if (!rows.nextBatch(batch) || batch.size == 0) {
                close();
            } else {
                int size = live();
                if (size > 0) {
                    for (int i = 0; i < shown.length; i++) {
                        if (shown[i] instanceof LongDecimals) {
                            ((LongDecimals) shown[i]).setBatchSize(size);
                        } else {
                            ((OrcColumnVector) shown[i]).setBatchSize(size);
                        }
                    }
                    result.setNumRows(size);
                    return true;
                }
            }
        }
    }

    public Object get() {
        return result;
    }

    public void close() throws IOException {
        if (rows != null) {
            rows.close();
            rows = null;
        }
    }

    private void begin(Piece piece) throws IOException {
        List files = (List) plan.deletes.get(Integer.valueOf(piece.place));
        deleted = files == null
                ? null
                : Deleted.of(plan.scan + "/" + piece.place, files, snapshot, settings);
        filtered = piece.filtered;
        Reader reader = OrcFile.createReader(new Path(piece.path), OrcFile.readerOptions(settings));
        TypeDescription schema = reader.getSchema();
        batch = schema.createRowBatch(BATCH);
        boolean[] include = new boolean[schema.getMaximumId() + 1];
        include[0] = true;
        show(schema, include, piece.place);
        if (deleted != null) {
            include[2] = include[3] = include[4] = true;
        }
        include[5] |= filtered;
        // Options from the settings have the search argument; the whole schema keeps columns in place.
        Reader.Options options = OrcInputFormat.buildOptions(
                settings, reader, piece.start, piece.length);
        rows = reader.rows(options.schema(schema).include(include));
    }

    /** Make Spark's vectors over ORC's, and mark what they need. */
    private void show(TypeDescription schema, boolean[] include, int place) {
        int width = plan.positions.length;
        org.apache.spark.sql.vectorized.ColumnVector[] columns =
                new org.apache.spark.sql.vectorized.ColumnVector[width];
        StructColumnVector row = (StructColumnVector) batch.cols[5];
        List fields = ((TypeDescription) schema.getChildren().get(5)).getChildren();
        java.util.ArrayList uses = new java.util.ArrayList();
        java.util.ArrayList shows = new java.util.ArrayList();
        for (int i = 0; i < width; i++) {
            int at = plan.positions[i];
            DataType type = plan.wanted.apply(i).dataType();
            if (at >= plan.present && at < plan.width || at == plan.width + 3) {
                ConstantColumnVector constant = new ConstantColumnVector(BATCH, type);
                if (at < plan.width) {
                    constant.setNull();
                } else {
                    constant.setInt(place);
                }
                columns[i] = constant;
                continue;
            }
            ColumnVector vector;
            if (at < plan.width) {
                TypeDescription field = (TypeDescription) fields.get(at);
                include[6] = true;
                Arrays.fill(include, field.getId(), field.getMaximumId() + 1, true);
                if (isLong(type)) {
                    DecimalType kind = (DecimalType) type;
                    row.fields[at] = new Decimal64ColumnVector(
                            BATCH, kind.precision(), kind.scale());
                }
                vector = row.fields[at];
            } else {
                vector = batch.cols[1 + at - plan.width];
                include[2 + at - plan.width] = true;
            }
            uses.add(vector);
            columns[i] = shownAs(type, vector);
            shows.add(columns[i]);
        }
        used = (ColumnVector[]) uses.toArray(new ColumnVector[0]);
        shown = (org.apache.spark.sql.vectorized.ColumnVector[])
                shows.toArray(new org.apache.spark.sql.vectorized.ColumnVector[0]);
        result = new ColumnarBatch(columns);
    }

    private static boolean isLong(DataType type) {
        return type instanceof DecimalType
                && ((DecimalType) type).precision() <= TypeDescription.MAX_DECIMAL64_PRECISION;
    }

    private static org.apache.spark.sql.vectorized.ColumnVector shownAs(
            DataType type, ColumnVector vector) {
        if (vector instanceof Decimal64ColumnVector) {
            return new LongDecimals(type, (Decimal64ColumnVector) vector);
        }
        try {
            // Spark's own choice of a vector is not public.
            Class choice = Class.forName(
                    "org.apache.spark.sql.execution.datasources.orc.OrcColumnVectorUtils",
                    true, OrcColumnVector.class.getClassLoader());
            Method method = choice.getDeclaredMethod(
                    "toOrcColumnVector", new Class[] {DataType.class, ColumnVector.class});
            method.setAccessible(true);
            return (org.apache.spark.sql.vectorized.ColumnVector)
                    method.invoke(null, new Object[] {type, vector});
        } catch (Exception error) {
            throw new IllegalStateException(error);
        }
    }

    /** Leave only rows that are visible and alive; how many. */
    private int live() {
        int size = batch.size;
        if (deleted == null && !filtered) return size;
        int count = 0;
        long write = 0L, bucket = 0L;
        Deleted.Rows gone = null;
        for (int i = 0; i < size; i++) {
            if (filtered && !snapshot.sees(Deleted.value(batch, WRITER, i))) continue;
            if (deleted != null) {
                long thisWrite = Deleted.value(batch, 1, i);
                long thisBucket = Deleted.value(batch, 2, i);
                if (i == 0 || write != thisWrite || bucket != thisBucket) {
                    write = thisWrite;
                    bucket = thisBucket;
                    gone = deleted.of(write, bucket);
                }
                if (gone != null && gone.has(Deleted.value(batch, 3, i))) continue;
            }
            kept[count++] = i;
        }
        if (count < size) {
            for (int i = 0; i < used.length; i++) {
                keep(used[i], count);
            }
        }
        return count;
    }

    /** Move the values that are kept to the beginning. */
    private void keep(ColumnVector column, int count) {
        if (column instanceof StructColumnVector) {
            ColumnVector[] fields = ((StructColumnVector) column).fields;
            for (int i = 0; i < fields.length; i++) {
                keep(fields[i], count);
            }
        }
        if (column.isRepeating) return;
        if (!column.noNulls) {
            for (int i = 0; i < count; i++) {
                column.isNull[i] = column.isNull[kept[i]];
            }
        }
        if (column instanceof LongColumnVector) {
            keep(((LongColumnVector) column).vector, count);
        } else if (column instanceof DoubleColumnVector) {
            double[] values = ((DoubleColumnVector) column).vector;
            for (int i = 0; i < count; i++) {
                values[i] = values[kept[i]];
            }
        } else if (column instanceof BytesColumnVector) {
            BytesColumnVector bytes = (BytesColumnVector) column;
            for (int i = 0; i < count; i++) {
                int from = kept[i];
                bytes.vector[i] = bytes.vector[from];
                bytes.start[i] = bytes.start[from];
                bytes.length[i] = bytes.length[from];
            }
        } else if (column instanceof DecimalColumnVector) {
            // The objects are used again: each stays in the vector once.
            HiveDecimalWritable[] values = ((DecimalColumnVector) column).vector;
            for (int i = 0; i < count; i++) {
                HiveDecimalWritable value = values[kept[i]];
                values[kept[i]] = values[i];
                values[i] = value;
            }
        } else if (column instanceof TimestampColumnVector) {
            TimestampColumnVector times = (TimestampColumnVector) column;
            keep(times.time, count);
            for (int i = 0; i < count; i++) {
                times.nanos[i] = times.nanos[kept[i]];
            }
        } else if (column instanceof MultiValuedColumnVector) {
            MultiValuedColumnVector lists = (MultiValuedColumnVector) column;
            keep(lists.offsets, count);
            keep(lists.lengths, count);
        } else if (!(column instanceof StructColumnVector)) {
            throw new IllegalStateException("no way to leave out rows of " + column.getClass());
        }
    }

    private void keep(long[] values, int count) {
        for (int i = 0; i < count; i++) {
            values[i] = values[kept[i]];
        }
    }
}
