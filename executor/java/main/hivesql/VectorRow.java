package hivesql;

import org.apache.hadoop.hive.ql.exec.vector.BytesColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.ColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.Decimal64ColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.DoubleColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.LongColumnVector;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.vectorized.ColumnarBatchRow;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * A row of vectors, as Spark's generated code asks for it.
 *
 * <p>It gives what Spark's own row over its vectors gives, but looks straight into ORC's arrays where
 * these hold values as they are: through Spark's vectors each takes several calls that Java does not
 * inline, and to look at the rows would take as long as to decode them. After these columns come numbers
 * that are the same in all rows.
 */
final class VectorRow extends GenericInternalRow {
    private final ColumnarBatchRow slow;
    private final StructType types;
    /** ORC's vectors; null for columns that the file does not have. */
    private final ColumnVector[] vectors;
    private final boolean[][] nulls;
    /**
     * Values of columns of INT and BIGINT, and decimals of up to 18 digits without their points; null for
     * others, and so are the next.
     */
    private final long[][] longs;
    private final double[][] doubles;
    private final BytesColumnVector[] texts;
    /** Whether a column's place is the row's, as all bits of an int, or always 0. */
    private final int[] places;
    private int row;

    VectorRow(
            StructType types, ColumnVector[] vectors,
            org.apache.spark.sql.vectorized.ColumnVector[] shown, long[] numbers) {
        super(new Object[0]);
        this.types = types;
        this.vectors = vectors;
        slow = new ColumnarBatchRow(shown);
        nulls = new boolean[vectors.length][];
        longs = new long[vectors.length + numbers.length][];
        doubles = new double[vectors.length][];
        texts = new BytesColumnVector[vectors.length];
        places = new int[longs.length];
        for (int i = 0; i < numbers.length; i++) {
            longs[vectors.length + i] = new long[] {numbers[i]};
        }
    }

    /** Look at what has been read into the vectors. */
    void begin() {
        for (int i = 0; i < vectors.length; i++) {
            ColumnVector vector = vectors[i];
            if (vector == null) continue;
            DataType type = types.apply(i).dataType();
            nulls[i] = vector.noNulls ? null : vector.isNull;
            places[i] = vector.isRepeating ? 0 : -1;
            if ((type.equals(DataTypes.IntegerType) || type.equals(DataTypes.LongType))
                    && vector.getClass().equals(LongColumnVector.class)) {
                longs[i] = ((LongColumnVector) vector).vector;
            } else if (vector instanceof Decimal64ColumnVector) {
                longs[i] = ((Decimal64ColumnVector) vector).vector;
            } else if (type.equals(DataTypes.DoubleType) && vector instanceof DoubleColumnVector) {
                doubles[i] = ((DoubleColumnVector) vector).vector;
            } else if (type.equals(DataTypes.StringType) && vector instanceof BytesColumnVector) {
                texts[i] = (BytesColumnVector) vector;
            }
        }
    }

    void at(int row) {
        this.row = row;
        slow.rowId = row;
    }

    public boolean isNullAt(int column) {
        if (vectors[column] == null) return slow.isNullAt(column);
        boolean[] found = nulls[column];
        return found != null && found[row & places[column]];
    }

    public long getLong(int column) {
        long[] found = longs[column];
        if (found != null) return found[row & places[column]];
        if (!(types.apply(column).dataType() instanceof DecimalType kind)) return slow.getLong(column);
        return slow.getDecimal(column, kind.precision(), kind.scale()).toUnscaledLong();
    }

    public int getInt(int column) {
        long[] found = longs[column];
        return found == null ? slow.getInt(column) : (int) found[row & places[column]];
    }

    public double getDouble(int column) {
        double[] found = doubles[column];
        return found == null ? slow.getDouble(column) : found[row & places[column]];
    }

    public UTF8String getUTF8String(int column) {
        BytesColumnVector found = texts[column];
        if (found == null || isNullAt(column)) return slow.getUTF8String(column);
        int place = row & places[column];
        return UTF8String.fromBytes(found.vector[place], found.start[place], found.length[place]);
    }

    public Decimal getDecimal(int column, int precision, int scale) {
        long[] found = longs[column];
        if (found == null || isNullAt(column)) return slow.getDecimal(column, precision, scale);
        return Decimal.createUnsafe(found[row & places[column]], precision, scale);
    }

    public Object genericGet(int column) {
        return slow.get(column, types.apply(column).dataType());
    }

    public int numFields() {
        return vectors.length;
    }
}
