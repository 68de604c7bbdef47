package hivesql;

import org.apache.hadoop.hive.ql.exec.vector.ColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.UnionColumnVector;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.vectorized.ColumnarArray;
import org.apache.spark.sql.vectorized.ColumnarMap;
import org.apache.spark.unsafe.types.UTF8String;

/** A union as Spark sees it: a struct of the tag and of all members. */
final class UnionVector extends OrcVector<UnionColumnVector> {
    private final org.apache.spark.sql.vectorized.ColumnVector tags;
    private final org.apache.spark.sql.vectorized.ColumnVector[] members;

    UnionVector(
            DataType type, UnionColumnVector from, org.apache.spark.sql.vectorized.ColumnVector[] members) {
        super(type, from);
        this.members = members;
        tags = new Tags(from);
    }

    @Override
    public org.apache.spark.sql.vectorized.ColumnVector getChild(int ordinal) {
        return ordinal == 0 ? tags : members[ordinal - 1];
    }

    private static final class Tags extends OrcVector<UnionColumnVector> {
        Tags(UnionColumnVector from) {
            super(DataTypes.ByteType, from);
        }

        @Override
        public byte getByte(int row) {
            return (byte) from.tags[place(row)];
        }
    }
}

/** A member of a union, which is NULL where another one is set. */
final class MemberVector extends OrcVector<ColumnVector> {
    private final UnionColumnVector union;
    private final int tag;
    private final org.apache.spark.sql.vectorized.ColumnVector values;

    MemberVector(
            DataType type, UnionColumnVector union, int tag,
            org.apache.spark.sql.vectorized.ColumnVector values) {
        super(type, union.fields[tag]);
        this.union = union;
        this.tag = tag;
        this.values = values;
    }

    @Override
    public boolean hasNull() {
        return true;
    }

    @Override
    public boolean isNullAt(int row) {
        int at = union.isRepeating ? 0 : row;
        return !union.noNulls && union.isNull[at] || union.tags[at] != tag || values.isNullAt(row);
    }

    @Override
    public boolean getBoolean(int row) {
        return values.getBoolean(row);
    }

    @Override
    public byte getByte(int row) {
        return values.getByte(row);
    }

    @Override
    public short getShort(int row) {
        return values.getShort(row);
    }

    @Override
    public int getInt(int row) {
        return values.getInt(row);
    }

    @Override
    public long getLong(int row) {
        return values.getLong(row);
    }

    @Override
    public float getFloat(int row) {
        return values.getFloat(row);
    }

    @Override
    public double getDouble(int row) {
        return values.getDouble(row);
    }

    @Override
    public Decimal getDecimal(int row, int precision, int scale) {
        return values.getDecimal(row, precision, scale);
    }

    @Override
    public UTF8String getUTF8String(int row) {
        return values.getUTF8String(row);
    }

    @Override
    public byte[] getBinary(int row) {
        return values.getBinary(row);
    }

    @Override
    public ColumnarArray getArray(int row) {
        return values.getArray(row);
    }

    @Override
    public ColumnarMap getMap(int row) {
        return values.getMap(row);
    }

    @Override
    public org.apache.spark.sql.vectorized.ColumnVector getChild(int ordinal) {
        return values.getChild(ordinal);
    }
}
