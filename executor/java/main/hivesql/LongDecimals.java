package hivesql;

import org.apache.hadoop.hive.ql.exec.vector.Decimal64ColumnVector;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarArray;
import org.apache.spark.sql.vectorized.ColumnarMap;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Decimals of up to 18 digits that ORC decodes as numbers of 64 bits; Spark's own vector takes only
 * those that ORC makes objects of, which takes several times as long.
 */
final class LongDecimals extends ColumnVector {
    private final Decimal64ColumnVector from;
    private int size;

    LongDecimals(DataType type, Decimal64ColumnVector from) {
        super(type);
        this.from = from;
    }

    void setBatchSize(int size) {
        this.size = size;
    }

    public void close() {}

    public boolean hasNull() {
        return !from.noNulls;
    }

    public int numNulls() {
        int count = 0;
        for (int i = 0; i < size; i++) {
            if (isNullAt(i)) {
                count++;
            }
        }
        return count;
    }

    public boolean isNullAt(int row) {
        return !from.noNulls && from.isNull[from.isRepeating ? 0 : row];
    }

    public Decimal getDecimal(int row, int precision, int scale) {
        if (isNullAt(row)) return null;
        return Decimal.apply(from.vector[from.isRepeating ? 0 : row], precision, scale);
    }

    public boolean getBoolean(int row) {
        throw new UnsupportedOperationException();
    }

    public byte getByte(int row) {
        throw new UnsupportedOperationException();
    }

    public short getShort(int row) {
        throw new UnsupportedOperationException();
    }

    public int getInt(int row) {
        throw new UnsupportedOperationException();
    }

    public long getLong(int row) {
        throw new UnsupportedOperationException();
    }

    public float getFloat(int row) {
        throw new UnsupportedOperationException();
    }

    public double getDouble(int row) {
        throw new UnsupportedOperationException();
    }

    public ColumnarArray getArray(int row) {
        throw new UnsupportedOperationException();
    }

    public ColumnarMap getMap(int row) {
        throw new UnsupportedOperationException();
    }

    public UTF8String getUTF8String(int row) {
        throw new UnsupportedOperationException();
    }

    public byte[] getBinary(int row) {
        throw new UnsupportedOperationException();
    }

    public ColumnVector getChild(int ordinal) {
        throw new UnsupportedOperationException();
    }
}
