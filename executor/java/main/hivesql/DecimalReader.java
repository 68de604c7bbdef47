package hivesql;

import java.io.EOFException;
import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.ByteOrder;
import java.util.Set;
import org.apache.hadoop.hive.ql.exec.vector.ColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.Decimal64ColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.StructColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.VectorizedRowBatch;
import org.apache.hadoop.hive.ql.io.filter.FilterContext;
import org.apache.orc.OrcProto;
import org.apache.orc.RecordReader;
import org.apache.orc.impl.InStream;
import org.apache.orc.impl.IntegerReader;
import org.apache.orc.impl.PositionProvider;
import org.apache.orc.impl.RecordReaderImpl;
import org.apache.orc.impl.StreamName;
import org.apache.orc.impl.TreeReaderFactory;
import org.apache.orc.impl.reader.StripePlanner;
import org.apache.orc.impl.reader.tree.BatchReader;
import org.apache.orc.impl.reader.tree.TypeReader;
import org.apache.spark.unsafe.Platform;
import org.slf4j.LoggerFactory;

/**
 * Decimals of up to 18 digits, as ORC's own reader gives them.
 *
 * <p>That asks its stream for each byte, also of values that it passes over, which took a tenth of
 * the time of an UPDATE.
 */
final class DecimalReader extends TreeReaderFactory.TreeReader {
    /** The bits that tell that a value goes on in the next byte. */
    private static final long GOES_ON = 0x8080808080808080L;
    private static final int LONGEST = 10;
    private static final boolean IS_LITTLE = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;

    /** Once for each process. */
    private static volatile boolean hasWarned;

    private final int scale;
    /** Bytes of the stream that have been taken out of it; they may be less than are in here. */
    private final byte[] bytes = new byte[4096];
    private int at;
    private int end;
    private InStream values;
    private IntegerReader scales;
    private int[] fileScales = new int[0];

    private DecimalReader(
            TreeReaderFactory.DecimalTreeReader other, TreeReaderFactory.Context context, int scale)
            throws Exception {
        super(other.getColumnId(), (InStream) null, context);
        this.scale = scale;
        // The first stripe has begun already.
        present = other.getPresent();
        values = (InStream) inside(TreeReaderFactory.DecimalTreeReader.class, "valueStream", other);
        scales = (IntegerReader) inside(TreeReaderFactory.DecimalTreeReader.class, "scaleReader", other);
    }

    /** Read a table's columns so where their vectors are for it; those of {@code skipped} not at all. */
    static void install(
            RecordReader rows, VectorizedRowBatch batch, FileSchema schema, Set<Integer> skipped) {
        ColumnVector[] vectors = schema.vectors(batch);
        try {
            TypeReader[] columns = columns(rows, schema);
            for (int i = 0; i < columns.length; i++) {
                if (columns[i] != null && skipped.contains(i)) {
                    columns[i] = new TreeReaderFactory.NullTreeReader(
                            ((TreeReaderFactory.TreeReader) columns[i]).getColumnId(),
                            (TreeReaderFactory.Context)
                                    inside(TreeReaderFactory.TreeReader.class, "context", columns[i]));
                    continue;
                }
                if (columns[i] == null || !(vectors[i] instanceof Decimal64ColumnVector)
                        || !columns[i].getClass().equals(TreeReaderFactory.DecimalTreeReader.class)) {
                    continue;
                }
                TreeReaderFactory.Context context = (TreeReaderFactory.Context)
                        inside(TreeReaderFactory.TreeReader.class, "context", columns[i]);
                columns[i] = new DecimalReader(
                        (TreeReaderFactory.DecimalTreeReader) columns[i], context,
                        ((Decimal64ColumnVector) vectors[i]).scale);
            }
        } catch (Exception unknown) {
            // An ORC that is made otherwise keeps its own reader.
            if (!hasWarned) {
                hasWarned = true;
                // Warnings are not shown by the Spark that a session starts.
                LoggerFactory.getLogger(DecimalReader.class).error(
                        "this release of ORC is not known to HiveSQL, so that decimals are read by"
                        + " ORC's own reader, which is slower: " + unknown);
            }
        }
    }

    /** ORC's readers of a table's columns, in their order; null for one that is not read. */
    private static TypeReader[] columns(RecordReader rows, FileSchema schema) throws Exception {
        BatchReader all = (BatchReader) inside(RecordReaderImpl.class, "reader", rows);
        TypeReader[] columns = fields(all.rootType);
        return schema.place() >= 0 && columns.length > 0 ? fields(columns[schema.place()]) : columns;
    }

    /** The readers of a struct's columns; none where it is not read. */
    private static TypeReader[] fields(TypeReader struct) {
        if (struct == null || struct instanceof TreeReaderFactory.NullTreeReader) return new TypeReader[0];
        return ((TreeReaderFactory.StructTreeReader) struct).fields;
    }

    private static Object inside(Class<?> known, String name, Object of) throws Exception {
        Field field = known.getDeclaredField(name);
        field.setAccessible(true);
        return field.get(of);
    }

    public void checkEncoding(OrcProto.ColumnEncoding encoding) throws IOException {
        if (encoding.getKind() != OrcProto.ColumnEncoding.Kind.DIRECT
                && encoding.getKind() != OrcProto.ColumnEncoding.Kind.DIRECT_V2) {
            throw new IOException("Unknown encoding " + encoding + " in column " + columnId);
        }
    }

    public void startStripe(StripePlanner planner, TypeReader.ReadPhase phase) throws IOException {
        super.startStripe(planner, phase);
        at = end = 0;
        values = planner.getStream(new StreamName(columnId, OrcProto.Stream.Kind.DATA));
        scales = createIntegerReader(
                planner.getEncoding(columnId).getKind(),
                planner.getStream(new StreamName(columnId, OrcProto.Stream.Kind.SECONDARY)),
                true, context);
    }

    public void seek(PositionProvider[] index, TypeReader.ReadPhase phase) throws IOException {
        seek(index[columnId], phase);
    }

    public void seek(PositionProvider index, TypeReader.ReadPhase phase) throws IOException {
        super.seek(index, phase);
        at = end = 0;
        values.seek(index);
        scales.seek(index);
    }

    public void skipRows(long rows, TypeReader.ReadPhase phase) throws IOException {
        long count = countNonNulls(rows);
        skip(count);
        scales.skip(count);
    }

    public void nextVector(
            ColumnVector given, boolean[] isNull, int size, FilterContext chosen,
            TypeReader.ReadPhase phase) throws IOException {
        super.nextVector(given, isNull, size, chosen, phase);
        Decimal64ColumnVector result = (Decimal64ColumnVector) given;
        if (fileScales.length < size) {
            fileScales = new int[size];
        }
        scales.nextVector(result, fileScales, size);
        if (result.isRepeating && !result.noNulls && result.isNull[0]) return;
        boolean[] missing = result.noNulls ? null : result.isNull;
        if (!chosen.isSelectedInUse()) {
            for (int i = 0; i < size; i++) {
                if (missing == null || !missing[i]) {
                    result.vector[i] = scaled(value(), fileScales[i]);
                }
            }
            return;
        }
        int[] wanted = chosen.getSelected();
        int next = 0;
        for (int i = 0; i < chosen.getSelectedSize(); i++) {
            int row = wanted[i];
            skip(among(missing, next, row));
            if (missing == null || !missing[row]) {
                result.vector[row] = scaled(value(), fileScales[row]);
            }
            next = row + 1;
        }
        skip(among(missing, next, size));
    }

    private static long among(boolean[] missing, int from, int to) {
        return missing == null ? (long) (to - from) : (long) countNonNullRowsInRange(missing, from, to);
    }

    private long scaled(long value, int has) throws IOException {
        if (has == scale) return value;
        if (has > scale) {
            throw new IOException("a decimal of scale " + has + " in column " + columnId);
        }
        for (int i = has; i < scale; i++) {
            value *= 10L;
        }
        return value;
    }

    private void fill() throws IOException {
        // It gives what it has decompressed, and reads on where that is nothing.
        end = values.read(bytes, 0, bytes.length);
        at = 0;
        if (end <= 0) {
            end = 0;
            throw new EOFException("a decimal of column " + columnId + " ends too soon");
        }
    }

    private long value() throws IOException {
        if (end - at < LONGEST) return valueByByte();
        int first = bytes[at];
        if (first >= 0) {
            at++;
            return signed((long) first);
        }
        int second = bytes[at + 1];
        if (second >= 0) {
            at += 2;
            return signed((long) (first & 0x7f | second << 7));
        }
        long word = Platform.getLong(bytes, (long) (Platform.BYTE_ARRAY_OFFSET + at));
        long last = ~word & GOES_ON;
        if (!IS_LITTLE || last == 0L) return valueByByte();
        // All bits up to the last byte's; then each two groups of bits are moved together.
        long bits = word & (last ^ last - 1L) & ~GOES_ON;
        at += (Long.numberOfTrailingZeros(last) >>> 3) + 1;
        bits = bits & 0x007f007f007f007fL | (bits & 0x7f007f007f007f00L) >>> 1;
        bits = bits & 0x00003fff00003fffL | (bits & 0x3fff00003fff0000L) >>> 2;
        bits = bits & 0x000000000fffffffL | (bits & 0x0fffffff00000000L) >>> 4;
        return signed(bits);
    }

    private long valueByByte() throws IOException {
        long result = 0L;
        int shift = 0;
        int one;
        do {
            if (at == end) {
                fill();
            }
            one = bytes[at++];
            result |= (long) (one & 0x7f) << shift;
            shift += 7;
        } while (one < 0);
        return signed(result);
    }

    private static long signed(long bits) {
        return (bits >>> 1) ^ -(bits & 1L);
    }

    private void skip(long count) throws IOException {
        while (count > 0L) {
            if (at == end) {
                fill();
            }
            if (end - at >= 8) {
                long word = Platform.getLong(bytes, (long) (Platform.BYTE_ARRAY_OFFSET + at));
                int ends = Long.bitCount(~word & GOES_ON);
                if ((long) ends < count) {
                    count -= (long) ends;
                    at += 8;
                    continue;
                }
            }
            if (bytes[at++] >= 0) {
                count--;
            }
        }
    }
}
