package hivesql;

import java.io.IOException;
import java.io.Serializable;
import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hive.ql.exec.vector.ColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.Decimal64ColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.StructColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.VectorizedRowBatch;
import org.apache.orc.OrcConf;
import org.apache.orc.OrcFile;
import org.apache.orc.Reader;
import org.apache.orc.TypeDescription;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.rdd.InputFileBlockHolder;
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

/** What one task reads. */
final class ScanPartition implements InputPartition {
    final FileRange[] all;
    private final String[] hosts;

    ScanPartition(List pieces, String[] hosts) {
        this.all = (FileRange[]) pieces.toArray(new FileRange[0]);
        this.hosts = hosts;
    }

    public String[] preferredLocations() {
        return hosts;
    }
}

/** What all tasks of a scan share. */
final class AcidReaders implements PartitionReaderFactory {
    final StructType wanted;
    /** Where each wanted column is: in the row, or beyond it as ROW_ID_PARTS tells. */
    final int[] positions;
    final int width;
    final int present;
    final Map deletes;
    /** What the deleted rows of each place are called among those that an executor keeps. */
    final Map names = new HashMap();
    final long highest;
    final long[] hidden;
    final Broadcast settings;
    /** The search argument and its columns, as ORC takes them from settings; null without one. */
    final String[] search;
    /** What rows must fulfil, over the wanted columns, and which it needs; null to read all rows. */
    final TaskCondition condition;
    final boolean[] leads;
    /** Rows of a scan from which on it does. */
    final long least;

    AcidReaders(
            StructType wanted, int[] positions, int width, int present, Map deletes,
            long highest, long[] hidden, Configuration settings, String[] search,
            TaskCondition condition, boolean[] leads, long least) {
        this.wanted = wanted;
        this.positions = positions;
        this.width = width;
        this.present = present;
        this.deletes = deletes;
        this.highest = highest;
        this.hidden = hidden;
        for (Iterator places = deletes.keySet().iterator(); places.hasNext();) {
            Object place = places.next();
            names.put(place, DeleteBitmaps.name((List) deletes.get(place), highest, hidden));
        }
        this.settings = Settings.share(settings);
        this.search = search;
        this.condition = condition;
        this.leads = leads;
        this.least = least;
    }

    public boolean supportColumnarReads(InputPartition partition) {
        return true;
    }

    public PartitionReader createReader(InputPartition partition) {
        throw new UnsupportedOperationException("events are read in columns");
    }

    public PartitionReader createColumnarReader(InputPartition partition) {
        return new AcidReader(this, ((ScanPartition) partition).all);
    }
}

/**
 * Rows of ACID files as columnar batches, without the deleted ones.
 *
 * <p>Only the columns that are wanted are decoded; write ids and buckets only where footers do not
 * tell them. Deleted rows leave ORC's vectors before Spark sees these, and so do rows that the scan's
 * condition leaves out, whose other columns are not decoded at all.
 */
final class AcidReader implements PartitionReader {
    private static final int BATCH = StripeReader.BATCH;
    private static final int WRITER = 4;
    /** Shorter files are decoded at once: to read one in two steps has its price. */
    private static final long LONG = 4L * (long) BATCH;

    private final AcidReaders plan;
    private final FileRange[] pieces;
    private final Configuration settings;
    private final Snapshot snapshot;
    private final int[] kept = new int[BATCH];
    private int next;
    private FileRange piece;
    private StripeReader first;
    /** Columns that are decoded for rows that pass the condition; null where there are none. */
    private StripeReader rest;
    private RowFilter condition;
    private boolean conditional;
    /** What Spark sees, and what it sees it in; null for what no file has. */
    private org.apache.spark.sql.vectorized.ColumnVector[] columns;
    private ColumnVector[] vectors;
    private ColumnarBatch result;
    private DeleteBitmaps deleted;

    AcidReader(AcidReaders plan, FileRange[] pieces) {
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
            throw SortedInput.unreadable(piece.path, error);
        } catch (RuntimeException error) {
            throw SortedInput.unreadable(piece.path, error);
        }
    }

    private boolean advance() throws IOException {
        while (true) {
            if (first == null) {
                if (next == pieces.length) return false;
                piece = pieces[next++];
                begin();
            }
            long start = first.position();
            int size = first.read();
            if (size == 0) {
                close();
                continue;
            }
            int count = live(size);
            if (conditional) {
                count = condition.pass(kept, count);
            }
            if (count == 0) continue;
            if (rest != null) {
                rest.read(start, size, kept, count);
            }
            give(size, count);
            return true;
        }
    }

    public Object get() {
        return result;
    }

    public void close() throws IOException {
        if (rest != null) {
            rest.close();
            rest = null;
        }
        if (first != null) {
            first.close();
            first = null;
        }
    }

    private void begin() throws IOException {
        Integer place = Integer.valueOf(piece.place);
        List files = (List) plan.deletes.get(place);
        deleted = files == null
                ? null
                : DeleteBitmaps.of((String) plan.names.get(place), files, snapshot, settings);
        Path path = new Path(piece.path);
        // What input_file_name() tells of the rows that follow.
        InputFileBlockHolder.set(path.toUri().toString(), 0L, 0L);
        Reader reader = OrcFile.createReader(path, OrcFile.readerOptions(settings));
        TypeDescription schema = reader.getSchema();
        first = new StripeReader(schema);
        conditional = plan.condition != null
                && reader.getNumberOfRows() >= Math.min(plan.least, LONG);
        show(schema);
        if (deleted != null) {
            for (int column = piece.ids == null ? 1 : 3; column < 4; column++) {
                first.include((TypeDescription) schema.getChildren().get(column));
            }
        }
        if (piece.filtered) {
            first.include((TypeDescription) schema.getChildren().get(WRITER));
        }
        first.open(reader, piece, settings);
        if (rest != null) {
            rest.open(reader, piece, settings);
        }
        if (conditional) {
            if (condition == null) {
                condition = new RowFilter(plan.condition.condition);
            }
            condition.over(new VectorRow(plan.wanted, vectors, columns, plan.condition.numbers));
        }
    }

    /** Make Spark's vectors over ORC's, and mark what they need. */
    private void show(TypeDescription schema) {
        columns = new org.apache.spark.sql.vectorized.ColumnVector[plan.positions.length];
        vectors = new ColumnVector[columns.length];
        for (int i = 0; i < columns.length; i++) {
            int at = plan.positions[i];
            DataType type = plan.wanted.apply(i).dataType();
            if (at < plan.present) {
                vectors[i] = user(part(!plan.leads[i], schema), at, type, schema);
                columns[i] = shownAs(type, vectors[i]);
            } else if (at < plan.width) {
                ConstantColumnVector missing = new ConstantColumnVector(BATCH, type);
                missing.setNull();
                columns[i] = missing;
            } else if (at == plan.width + 3) {
                columns[i] = constant(type, (long) piece.place);
            } else {
                int which = at - plan.width;
                // Deleted rows are found by their ids.
                StripeReader part = part(!plan.leads[i] && deleted == null, schema);
                vectors[i] = id(part, which, schema);
                columns[i] = vectors[i] == null
                        ? constant(type, piece.ids[which]) : shownAs(type, vectors[i]);
            }
        }
        if (rest != null && plan.search != null) {
            // ORC skips no rows by columns that are not read, and both parts must skip the same.
            TypeDescription row = (TypeDescription) schema.getChildren().get(5);
            for (int i = 0; i < columns.length; i++) {
                if (plan.leads[i] && plan.positions[i] < plan.present) {
                    rest.include((TypeDescription) row.getChildren().get(plan.positions[i]));
                }
            }
        }
        result = new ColumnarBatch(columns);
    }

    /** What reads a column: the first part, or the rest if that will do. */
    private StripeReader part(boolean later, TypeDescription schema) {
        if (!conditional || !later) return first;
        if (rest == null) {
            rest = new StripeReader(schema);
        }
        return rest;
    }

    private static ColumnVector user(
            StripeReader part, int at, DataType type, TypeDescription schema) {
        TypeDescription row = (TypeDescription) schema.getChildren().get(5);
        ColumnVector[] fields = ((StructColumnVector) part.batch.cols[5]).fields;
        part.include((TypeDescription) row.getChildren().get(at));
        if (isLong(type)) {
            DecimalType kind = (DecimalType) type;
            fields[at] = new Decimal64ColumnVector(BATCH, kind.precision(), kind.scale());
        }
        part.use(fields[at]);
        return fields[at];
    }

    /** A part of the row ids; null where it is the same for all rows. */
    private ColumnVector id(StripeReader part, int which, TypeDescription schema) {
        if (piece.ids != null && which < piece.ids.length) return null;
        part.include((TypeDescription) schema.getChildren().get(1 + which));
        part.use(part.batch.cols[1 + which]);
        return part.batch.cols[1 + which];
    }

    private static ConstantColumnVector constant(DataType type, long value) {
        ConstantColumnVector constant = new ConstantColumnVector(BATCH, type);
        if (type.equals(DataTypes.LongType)) {
            constant.setLong(value);
        } else {
            constant.setInt((int) value);
        }
        return constant;
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

    /** Choose the rows that are visible and alive; how many. */
    private int live(int size) {
        int count = 0;
        long write = 0L, bucket = 0L;
        VectorizedRowBatch batch = first.batch;
        DeleteBitmaps.Rows gone = null;
        if (deleted != null && piece.ids != null) {
            gone = deleted.of(piece.ids[0], piece.ids[1]);
        }
        for (int i = 0; i < size; i++) {
            if (piece.filtered && !snapshot.sees(DeleteBitmaps.value(batch, WRITER, i))) continue;
            if (deleted != null) {
                if (piece.ids == null) {
                    long thisWrite = DeleteBitmaps.value(batch, 1, i);
                    long thisBucket = DeleteBitmaps.value(batch, 2, i);
                    if (i == 0 || write != thisWrite || bucket != thisBucket) {
                        write = thisWrite;
                        bucket = thisBucket;
                        gone = deleted.of(write, bucket);
                    }
                }
                if (gone != null && gone.has(DeleteBitmaps.value(batch, 3, i))) continue;
            }
            kept[count++] = i;
        }
        return count;
    }

    /** Let Spark have the rows that are kept. */
    private void give(int size, int count) {
        if (count < size) {
            first.keep(kept, count);
            if (rest != null) {
                rest.keep(kept, count);
            }
        }
        for (int i = 0; i < columns.length; i++) {
            if (columns[i] instanceof LongDecimals) {
                ((LongDecimals) columns[i]).setBatchSize(count);
            } else if (columns[i] instanceof OrcColumnVector) {
                ((OrcColumnVector) columns[i]).setBatchSize(count);
            }
        }
        result.setNumRows(count);
    }
}
