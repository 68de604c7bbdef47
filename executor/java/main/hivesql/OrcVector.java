package hivesql;

import org.apache.hadoop.hive.ql.exec.vector.ColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.Decimal64ColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.ListColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.MapColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.MultiValuedColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.TimestampColumnVector;
import org.apache.spark.sql.catalyst.util.RebaseDateTime;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.vectorized.ColumnarArray;
import org.apache.spark.sql.vectorized.ColumnarMap;
import org.apache.spark.unsafe.types.UTF8String;

/** A vector of ORC's as Spark looks at it, where Spark's own would be slower, or go by the JVM's time zone. */
abstract class OrcVector<V extends ColumnVector> extends org.apache.spark.sql.vectorized.ColumnVector {
    final V from;
    private int size;

    OrcVector(DataType type, V from) {
        super(type);
        this.from = from;
    }

    void setBatchSize(int size) {
        this.size = size;
    }

    final int place(int row) {
        return from.isRepeating ? 0 : row;
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
        return !from.noNulls && from.isNull[place(row)];
    }

    public Decimal getDecimal(int row, int precision, int scale) {
        throw new UnsupportedOperationException();
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

    public org.apache.spark.sql.vectorized.ColumnVector getChild(int ordinal) {
        throw new UnsupportedOperationException();
    }
}

/**
 * Decimals of up to 18 digits that ORC decodes as numbers of 64 bits; Spark's own vector takes only
 * those that ORC makes objects of, which takes several times as long.
 */
final class LongDecimals extends OrcVector<Decimal64ColumnVector> {
    LongDecimals(DataType type, Decimal64ColumnVector from) {
        super(type, from);
    }

    @Override
    public Decimal getDecimal(int row, int precision, int scale) {
        if (isNullAt(row)) return null;
        return Decimal.apply(from.vector[place(row)], precision, scale);
    }
}

/** Timestamps as the wall clock of UTC; Spark's own vector leaves the hybrid calendar by the JVM's zone. */
final class WallClocks extends OrcVector<TimestampColumnVector> {
    WallClocks(DataType type, TimestampColumnVector from) {
        super(type, from);
    }

    @Override
    public long getLong(int row) {
        int at = place(row);
        long micros = Math.floorDiv(from.time[at], 1000L) * 1000000L + from.nanos[at] / 1000;
        return RebaseDateTime.rebaseJulianToGregorianMicros("UTC", micros);
    }
}

/** Structs, lists and maps that hold such vectors. */
final class NestedVector extends OrcVector<ColumnVector> {
    private final org.apache.spark.sql.vectorized.ColumnVector[] children;

    NestedVector(
            DataType type, ColumnVector from, org.apache.spark.sql.vectorized.ColumnVector... children) {
        super(type, from);
        this.children = children;
    }

    @Override
    public org.apache.spark.sql.vectorized.ColumnVector getChild(int ordinal) {
        return children[ordinal];
    }

    @Override
    public ColumnarArray getArray(int row) {
        if (isNullAt(row)) return null;
        ListColumnVector lists = (ListColumnVector) from;
        return new ColumnarArray(children[0], first(lists, row), length(lists, row));
    }

    @Override
    public ColumnarMap getMap(int row) {
        if (isNullAt(row)) return null;
        MapColumnVector maps = (MapColumnVector) from;
        return new ColumnarMap(children[0], children[1], first(maps, row), length(maps, row));
    }

    private int first(MultiValuedColumnVector lists, int row) {
        return (int) lists.offsets[place(row)];
    }

    private int length(MultiValuedColumnVector lists, int row) {
        return (int) lists.lengths[place(row)];
    }
}
