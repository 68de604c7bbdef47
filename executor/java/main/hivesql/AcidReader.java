package hivesql;

import java.io.IOException;
import java.io.Serializable;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hive.ql.exec.vector.ColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.Decimal64ColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.ListColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.LongColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.MapColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.StructColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.TimestampColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.UnionColumnVector;
import org.apache.hadoop.hive.ql.io.sarg.SearchArgument;
import org.apache.orc.OrcFile;
import org.apache.orc.Reader;
import org.apache.orc.TypeDescription;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.rdd.InputFileBlockHolder;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.execution.datasources.orc.OrcColumnVector;
import org.apache.spark.sql.execution.vectorized.ColumnVectorUtils;
import org.apache.spark.sql.execution.vectorized.ConstantColumnVector;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.apache.spark.util.SerializableConfiguration;

/** What one task reads. */
record ScanPartition(FileRange[] all, String[] hosts) implements InputPartition {
    @Override
    public String[] preferredLocations() {
        return hosts;
    }
}

/**
 * What all tasks of a scan share.
 *
 * @param positions where each wanted column is: in the row, or beyond it
 * @param columns names of the table's columns
 * @param types of the first of them, which files have, as ORC is to read them; null as they are
 * @param deletes by place
 * @param names what the deleted rows of each place are called among those that an executor keeps
 * @param whole whether it keeps them all
 * @param search the search argument and its columns, as ORC takes them from settings; null without one
 * @param condition what rows must fulfil, over the wanted columns; null to read all rows
 * @param leads the wanted columns that it needs
 * @param least rows of a scan from which on it does
 * @param counts what is counted of the scan; null where nobody measures it
 */
record AcidReaders(
        StructType wanted, int[] positions, String[] columns, String[] types,
        Map<Integer, List<EndingFile>> deletes, Map<Integer, String> names, boolean whole,
        long highest, long[] hidden, Broadcast<SerializableConfiguration> settings, String[] search,
        TaskCondition condition, boolean[] leads, long least, ScanCounts counts)
        implements PartitionReaderFactory {
    /**
     * Columns after the table's: write id, bucket property, row number, and the place's number. After
     * them come those of partitions.
     */
    static final int OWN = 4;
    static final int PLACE = 3;

    AcidReaders(
            StructType wanted, int[] positions, String[] columns, String[] types,
            Map<Integer, List<EndingFile>> deletes, boolean whole, long highest, long[] hidden,
            Broadcast<SerializableConfiguration> settings, String[] search,
            TaskCondition condition, boolean[] leads, long least, ScanCounts counts) {
        this(wanted, positions, columns, types, deletes, new HashMap<>(), whole, highest, hidden,
                settings, search, condition, leads, least, counts);
        deletes.forEach((place, files) -> names.put(place, DeleteBitmaps.name(files, highest, hidden)));
    }

    @Override
    public boolean supportColumnarReads(InputPartition partition) {
        return true;
    }

    @Override
    public PartitionReader<InternalRow> createReader(InputPartition partition) {
        throw new UnsupportedOperationException("events are read in columns");
    }

    @Override
    public PartitionReader<ColumnarBatch> createColumnarReader(InputPartition partition) {
        return new AcidReader(this, ((ScanPartition) partition).all());
    }
}

/**
 * Rows of ACID files as columnar batches, without the deleted ones.
 *
 * <p>Only the columns that are wanted are decoded; write ids and buckets only where footers do not
 * tell them. Deleted rows leave ORC's vectors before Spark sees these, and so do rows that the scan's
 * condition leaves out, whose other columns are not decoded at all.
 */
final class AcidReader implements PartitionReader<ColumnarBatch> {
    private static final int BATCH = StripeReader.BATCH;
    /** Shorter files are decoded at once: to read one in two steps has its price. */
    private static final long LONG = 4L * BATCH;

    private final AcidReaders plan;
    private final FileRange[] pieces;
    private final Configuration settings;
    /** The search argument and its columns; null without one. */
    private SearchArgument search;
    private final String[] searched;
    private final Snapshot snapshot;
    private final int[] selected = new int[BATCH];
    private int next;
    private FileRange piece;
    private AcidFile file;
    private FileSchema schema;
    private StripeReader first;
    /** Columns that are decoded for rows that pass the condition; null where there are none. */
    private StripeReader rest;
    private RowFilter condition;
    private boolean conditional;
    /** What is asked before the condition, and of what. */
    private KeyFilter.Table[] tables;
    private KeyFilter.Table[] keys;
    private LongColumnVector[] keyVectors;
    /** What Spark sees, and what it sees it in; null for what no file has. */
    private org.apache.spark.sql.vectorized.ColumnVector[] columns;
    private ColumnVector[] vectors;
    /** Numbers of an original's rows; null where nobody asks for them. */
    private LongColumnVector numbers;
    private ColumnarBatch result;
    /** Null where nothing was deleted. */
    private DeleteBitmaps deleted;
    /** Whether some rows may have been changed by events of version 1. */
    private boolean changed;
    /** Null where nobody measures. */
    private ScanCounts.Piece counted;

    AcidReader(AcidReaders plan, FileRange[] pieces) {
        this.plan = plan;
        this.pieces = pieces;
        this.settings = plan.settings().value().value();
        this.searched = plan.search() == null ? null : plan.search()[1].split(",");
        this.snapshot = new Snapshot(plan.highest(), plan.hidden());
    }

    @Override
    public boolean next() throws IOException {
        try {
            return advance();
        } catch (IOException | RuntimeException error) {
            throw SortedInput.unreadable(file.path(), error);
        }
    }

    private boolean advance() throws IOException {
        while (true) {
            if (first == null) {
                if (next == pieces.length) return false;
                piece = pieces[next++];
                file = piece.file();
                if (!begin()) continue;
            }
            long start = first.position();
            int size = first.read();
            if (size == 0) {
                close();
                continue;
            }
            int count = live(start, size);
            if (counted != null) {
                counted.read(start, size, count);
            }
            if (conditional) {
                for (int i = 0; i < keys.length && count > 0; i++) {
                    count = keys[i].pass(keyVectors[i], selected, count);
                }
                count = condition.pass(selected, count);
            }
            if (count == 0) continue;
            if (rest != null) {
                rest.read(start, size, selected, count);
            }
            give(size, count);
            return true;
        }
    }

    @Override
    public ColumnarBatch get() {
        return result;
    }

    @Override
    public void close() throws IOException {
        if (rest != null) {
            rest.close();
            rest = null;
        }
        if (first != null) {
            first.close();
            first = null;
            count(false);
        }
    }

    private void count(boolean skipped) {
        if (counted != null) {
            counted.end(skipped);
            counted = null;
        }
    }

    /** Begin with a file; whether any of its rows may be wanted. */
    private boolean begin() throws IOException {
        Path path = new Path(file.path());
        // What input_file_name() tells of the rows that follow.
        InputFileBlockHolder.set(path.toUri().toString(), 0L, 0L);
        // What is behind the length is of a writer that goes on, or died there.
        Reader reader = OrcFile.createReader(
                path,
                ObjectStore.readerOptions(path, file.length(), file.known(), settings).useUTCTimestamp(true));
        boolean opened = false;
        try {
            opened = open(reader);
        } finally {
            // Its stream was opened to read the footer, and nobody else knows of it.
            if (!opened) reader.close();
        }
        return opened;
    }

    private boolean open(Reader reader) throws IOException {
        schema = FileSchema.of(reader.getSchema(), !file.isOriginal(), plan.columns(), plan.types());
        if (plan.counts() != null) {
            counted = new ScanCounts.Piece(plan.counts(), reader, piece);
        }
        if (search == null && plan.search() != null) {
            search = FileSkipping.argument(plan.search()[0], reader);
        }
        // Most files of a table that is often changed are small: to find its deletes takes longer.
        if (search != null && !schema.isChanged
                && !FileSkipping.mayHold(search, reader, schema, plan.columns())) {
            count(true);
            return false;
        }
        List<EndingFile> deletes = plan.deletes().getOrDefault(file.place(), List.of());
        changed = deletes.stream().anyMatch(EndingFile::holdsChanges);
        deleted = deletes.isEmpty() ? null
                : plan.whole()
                ? DeleteBitmaps.of(plan.names().get(file.place()), deletes, snapshot, settings)
                : DeleteBitmaps.within(KeyRange.of(piece, reader), deletes, snapshot, settings);
        first = new StripeReader(schema);
        // ORC converts all rows of a batch: nothing is known of those that it did not decode.
        conditional = plan.condition() != null && !schema.isChanged
                && reader.getNumberOfRows() >= Math.min(plan.least(), LONG);
        numbers = null;
        show();
        if (!file.isOriginal()) {
            includeIds();
        }
        first.open(reader, piece, settings, search, searched);
        if (rest != null) {
            rest.open(reader, piece, settings, search, searched);
        }
        if (conditional) {
            if (condition == null) {
                condition = new RowFilter(plan.condition().condition);
            }
            condition.over(new VectorRow(plan.wanted(), vectors, columns, plan.condition().numbers));
            beginKeys(plan.condition().keys);
        }
        return true;
    }

    /** Choose the lists of keys that can be asked of this file's vectors. */
    private void beginKeys(KeyFilter[] all) {
        if (tables == null) {
            tables = Arrays.stream(all).map(KeyFilter::table).toArray(KeyFilter.Table[]::new);
        }
        List<KeyFilter.Table> asked = new ArrayList<>();
        List<LongColumnVector> of = new ArrayList<>();
        for (int i = 0; i < all.length; i++) {
            if (vectors[all[i].column] instanceof LongColumnVector vector) {
                asked.add(tables[i]);
                of.add(vector);
            }
        }
        keys = asked.toArray(KeyFilter.Table[]::new);
        keyVectors = of.toArray(LongColumnVector[]::new);
    }

    /** What tells whether a row is visible and alive. */
    private void includeIds() {
        if (deleted != null) {
            for (int column = file.ids() == null ? FileSchema.WRITE : FileSchema.ROW;
                    column <= FileSchema.ROW; column++) {
                first.include(schema.event(column));
            }
        }
        if (changed) {
            first.include(schema.event(FileSchema.OPERATION));
        }
        if (file.filtered() || changed) {
            first.include(schema.event(FileSchema.WRITER));
        }
    }

    /** Make Spark's vectors over ORC's, and mark what they need. */
    private void show() {
        columns = new org.apache.spark.sql.vectorized.ColumnVector[plan.positions().length];
        vectors = new ColumnVector[columns.length];
        int width = plan.columns().length;
        for (int i = 0; i < columns.length; i++) {
            int at = plan.positions()[i];
            DataType type = plan.wanted().apply(i).dataType();
            if (at < plan.types().length) {
                vectors[i] = user(part(!plan.leads()[i]), at, type);
                columns[i] = shownAs(type, vectors[i]);
            } else if (at < width) {
                ConstantColumnVector missing = new ConstantColumnVector(BATCH, type);
                missing.setNull();
                columns[i] = missing;
            } else if (at == width + AcidReaders.PLACE) {
                columns[i] = constant(type, file.place());
            } else if (at >= width + AcidReaders.OWN) {
                ConstantColumnVector value = new ConstantColumnVector(BATCH, type);
                ColumnVectorUtils.populate(value, file.values(), at - width - AcidReaders.OWN);
                columns[i] = value;
            } else {
                int which = at - width;
                vectors[i] = id(plan.leads()[i], which);
                columns[i] = vectors[i] == null
                        ? constant(type, file.ids()[which]) : shownAs(type, vectors[i]);
            }
        }
        if (rest != null && plan.search() != null) {
            // ORC skips no rows by columns that are not read, and both parts must skip the same.
            for (int i = 0; i < columns.length; i++) {
                if (plan.leads()[i] && plan.positions()[i] < plan.types().length) {
                    rest.search(plan.positions()[i]);
                }
            }
        }
        result = new ColumnarBatch(columns);
    }

    /** What reads a column: the first part, or the rest if that will do. */
    private StripeReader part(boolean later) {
        if (!conditional || !later) return first;
        if (rest == null) {
            rest = new StripeReader(schema);
        }
        return rest;
    }

    private ColumnVector user(StripeReader part, int at, DataType type) {
        ColumnVector[] fields = schema.vectors(part.batch);
        part.include(schema.column(at));
        if (isLong(type) && plan.types()[at] == null) {
            DecimalType kind = (DecimalType) type;
            fields[at] = new Decimal64ColumnVector(BATCH, kind.precision(), kind.scale());
        }
        part.use(fields[at]);
        return fields[at];
    }

    /** A part of the row ids; null where it is the same for all rows. */
    private ColumnVector id(boolean leads, int which) {
        if (file.ids() != null && which < file.ids().length) return null;
        if (file.isOriginal()) {
            numbers = new LongColumnVector(BATCH);
            first.use(numbers);
            return numbers;
        }
        // Deleted rows are found by their ids.
        StripeReader part = part(!leads && deleted == null);
        part.include(schema.event(FileSchema.WRITE + which));
        part.use(part.batch.cols[FileSchema.WRITE + which]);
        return part.batch.cols[FileSchema.WRITE + which];
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
        return type instanceof DecimalType decimal
                && decimal.precision() <= TypeDescription.MAX_DECIMAL64_PRECISION;
    }

    private static org.apache.spark.sql.vectorized.ColumnVector shownAs(
            DataType type, ColumnVector vector) {
        if (vector instanceof Decimal64ColumnVector decimals) return new LongDecimals(type, decimals);
        if (vector instanceof TimestampColumnVector times) return new WallClocks(type, times);
        if (type instanceof StructType struct && vector instanceof StructColumnVector row) {
            var fields = new org.apache.spark.sql.vectorized.ColumnVector[row.fields.length];
            for (int i = 0; i < fields.length; i++) {
                fields[i] = shownAs(struct.apply(i).dataType(), row.fields[i]);
            }
            return new NestedVector(type, vector, fields);
        }
        if (type instanceof StructType struct && vector instanceof UnionColumnVector union) {
            var members = new org.apache.spark.sql.vectorized.ColumnVector[union.fields.length];
            for (int i = 0; i < members.length; i++) {
                DataType kind = struct.apply(i + 1).dataType();
                members[i] = new MemberVector(kind, union, i, shownAs(kind, union.fields[i]));
            }
            return new UnionVector(type, union, members);
        }
        if (type instanceof ArrayType list && vector instanceof ListColumnVector values) {
            return new NestedVector(type, vector, shownAs(list.elementType(), values.child));
        }
        if (type instanceof MapType map && vector instanceof MapColumnVector pairs) {
            return new NestedVector(
                    type, vector, shownAs(map.keyType(), pairs.keys),
                    shownAs(map.valueType(), pairs.values));
        }
        try {
            // Spark's own choice of a vector is not public.
            Class<?> choice = Class.forName(
                    "org.apache.spark.sql.execution.datasources.orc.OrcColumnVectorUtils",
                    true, OrcColumnVector.class.getClassLoader());
            Method method =
                    choice.getDeclaredMethod("toOrcColumnVector", DataType.class, ColumnVector.class);
            method.setAccessible(true);
            return (org.apache.spark.sql.vectorized.ColumnVector) method.invoke(null, type, vector);
        } catch (ReflectiveOperationException error) {
            throw new IllegalStateException(error);
        }
    }

    /** Choose the rows that are visible and alive among those from a position on; how many. */
    private int live(long start, int size) {
        long number = file.first() + start;
        if (numbers != null) {
            numbers.isRepeating = false;
            for (int i = 0; i < size; i++) {
                numbers.vector[i] = number + i;
            }
        }
        boolean filtered = file.filtered();
        boolean looksCloser = changed || !plan.whole();
        long[] ids = file.ids();
        long write = ids == null ? 0L : ids[0];
        long bucket = ids == null ? 0L : ids[1];
        DeleteBitmaps.Rows gone = deleted == null || ids == null ? null : deleted.of(write, bucket);
        int count = 0;
        for (int i = 0; i < size; i++) {
            if (filtered && !snapshot.sees(event(FileSchema.WRITER, i))) continue;
            if (deleted != null) {
                if (ids == null) {
                    long thisWrite = event(FileSchema.WRITE, i);
                    long thisBucket = event(FileSchema.BUCKET, i);
                    if (i == 0 || write != thisWrite || bucket != thisBucket) {
                        write = thisWrite;
                        bucket = thisBucket;
                        gone = deleted.of(write, bucket);
                    }
                }
                if (gone != null || looksCloser) {
                    long row = file.isOriginal() ? number + i : event(FileSchema.ROW, i);
                    if (gone != null && gone.has(row)) continue;
                    if (looksCloser && isReplaced(write, bucket, row, i)) continue;
                }
            }
            selected[count++] = i;
        }
        return count;
    }

    private long event(int column, int row) {
        return DeleteBitmaps.value(first.batch, column, row);
    }

    /** Whether an event of version 1 is not what has become of its row; raises for an unknown row. */
    private boolean isReplaced(long write, long bucket, long row, int at) {
        if (!plan.whole()) {
            deleted.check(write, bucket, row);
        }
        if (!changed) return false;
        if (file.isOriginal()) return deleted.isReplaced(write, bucket, row, write, 0L);
        long operation = event(FileSchema.OPERATION, at);
        return operation == DeleteBitmaps.DELETE
                || deleted.isReplaced(write, bucket, row, event(FileSchema.WRITER, at), operation);
    }

    /** Let Spark have the rows that are kept. */
    private void give(int size, int count) {
        if (count < size) {
            first.keep(selected, count);
            if (rest != null) {
                rest.keep(selected, count);
            }
        }
        for (org.apache.spark.sql.vectorized.ColumnVector column : columns) {
            if (column instanceof OrcVector<?> vector) {
                vector.setBatchSize(count);
            } else if (column instanceof OrcColumnVector vector) {
                vector.setBatchSize(count);
            }
        }
        result.setNumRows(count);
    }
}
