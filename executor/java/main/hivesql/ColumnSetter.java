package hivesql;

import java.time.LocalDate;
import org.apache.hadoop.hive.common.type.HiveDecimal;
import org.apache.hadoop.hive.ql.exec.vector.BytesColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.ColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.Decimal64ColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.DecimalColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.DoubleColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.ListColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.LongColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.MapColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.StructColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.TimestampColumnVector;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.sql.catalyst.util.RebaseDateTime;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.ShortType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.TimestampType;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.UTF8String;

/** Puts a value of Spark's rows into ORC's column vectors. */
public abstract class ColumnSetter {
    /** The setter of a type of Spark's; finer[0] becomes true once a time has nanoseconds. */
    public static ColumnSetter of(DataType type, boolean[] finer) {
        if (type instanceof BooleanType) return new OfBoolean();
        if (type instanceof ByteType) return new OfByte();
        if (type instanceof ShortType) return new OfShort();
        if (type instanceof IntegerType) return new OfInt();
        if (type instanceof LongType) return new OfLong();
        if (type instanceof FloatType) return new OfFloat();
        if (type instanceof DoubleType) return new OfDouble();
        if (type instanceof StringType) return new OfString(finer);
        if (type instanceof BinaryType) return new OfBinary();
        if (type instanceof DateType) return new OfDate();
        if (type instanceof TimestampType) return new OfTimestamp();
        if (type instanceof DecimalType) return new OfDecimal((DecimalType) type);
        if (type instanceof ArrayType) return new OfArray((ArrayType) type, finer);
        if (type instanceof MapType) return new OfMap((MapType) type, finer);
        if (type instanceof StructType) return new OfStruct((StructType) type, finer);
        throw new IllegalArgumentException("no ORC type for " + type.simpleString());
    }

    /** Put the value at an ordinal, which may be NULL, at a position of the vector. */
    public final void set(SpecializedGetters row, int ordinal, ColumnVector vector, int at) {
        if (row.isNullAt(ordinal)) {
            vector.noNulls = false;
            vector.isNull[at] = true;
        } else {
            put(row, ordinal, vector, at);
        }
    }

    abstract void put(SpecializedGetters row, int ordinal, ColumnVector vector, int at);

    private static final class OfBoolean extends ColumnSetter {
        void put(SpecializedGetters row, int ordinal, ColumnVector vector, int at) {
            ((LongColumnVector) vector).vector[at] = row.getBoolean(ordinal) ? 1L : 0L;
        }
    }

    private static final class OfByte extends ColumnSetter {
        void put(SpecializedGetters row, int ordinal, ColumnVector vector, int at) {
            ((LongColumnVector) vector).vector[at] = (long) row.getByte(ordinal);
        }
    }

    private static final class OfShort extends ColumnSetter {
        void put(SpecializedGetters row, int ordinal, ColumnVector vector, int at) {
            ((LongColumnVector) vector).vector[at] = (long) row.getShort(ordinal);
        }
    }

    private static final class OfInt extends ColumnSetter {
        void put(SpecializedGetters row, int ordinal, ColumnVector vector, int at) {
            ((LongColumnVector) vector).vector[at] = (long) row.getInt(ordinal);
        }
    }

    private static final class OfLong extends ColumnSetter {
        void put(SpecializedGetters row, int ordinal, ColumnVector vector, int at) {
            ((LongColumnVector) vector).vector[at] = row.getLong(ordinal);
        }
    }

    private static final class OfFloat extends ColumnSetter {
        void put(SpecializedGetters row, int ordinal, ColumnVector vector, int at) {
            ((DoubleColumnVector) vector).vector[at] = (double) row.getFloat(ordinal);
        }
    }

    private static final class OfDouble extends ColumnSetter {
        void put(SpecializedGetters row, int ordinal, ColumnVector vector, int at) {
            ((DoubleColumnVector) vector).vector[at] = row.getDouble(ordinal);
        }
    }

    /** Also the text of a timestamp that is finer than Spark's. */
    private static final class OfString extends ColumnSetter {
        private final boolean[] finer;

        OfString(boolean[] finer) {
            this.finer = finer;
        }

        void put(SpecializedGetters row, int ordinal, ColumnVector vector, int at) {
            UTF8String text = row.getUTF8String(ordinal);
            if (vector instanceof TimestampColumnVector) {
                NanosecondText.put(text.toString(), (TimestampColumnVector) vector, at, finer);
                return;
            }
            Object base = text.getBaseObject();
            if (base instanceof byte[]) {
                int start = (int) (text.getBaseOffset() - Platform.BYTE_ARRAY_OFFSET);
                ((BytesColumnVector) vector).setVal(at, (byte[]) base, start, text.numBytes());
            } else {
                ((BytesColumnVector) vector).setVal(at, text.getBytes());
            }
        }
    }

    private static final class OfBinary extends ColumnSetter {
        void put(SpecializedGetters row, int ordinal, ColumnVector vector, int at) {
            ((BytesColumnVector) vector).setVal(at, row.getBinary(ordinal));
        }
    }

    /** Hive counts days before 1582-10-15 in the Julian calendar. */
    private static final class OfDate extends ColumnSetter {
        void put(SpecializedGetters row, int ordinal, ColumnVector vector, int at) {
            int days = row.getInt(ordinal);
            ((LongColumnVector) vector).vector[at] =
                (long) RebaseDateTime.rebaseGregorianToJulianDays(days);
        }
    }

    private static final class OfTimestamp extends ColumnSetter {
        void put(SpecializedGetters row, int ordinal, ColumnVector vector, int at) {
            NanosecondText.put(row.getLong(ordinal), 0, (TimestampColumnVector) vector, at);
        }
    }

    private static final class OfDecimal extends ColumnSetter {
        private final int precision;
        private final int scale;

        OfDecimal(DecimalType type) {
            this.precision = type.precision();
            this.scale = type.scale();
        }

        void put(SpecializedGetters row, int ordinal, ColumnVector vector, int at) {
            Decimal value = row.getDecimal(ordinal, precision, scale);
            if (vector instanceof Decimal64ColumnVector) {
                ((Decimal64ColumnVector) vector).vector[at] = value.toUnscaledLong();
            } else {
                ((DecimalColumnVector) vector).set(at, HiveDecimal.create(value.toJavaBigDecimal()));
            }
        }
    }

    private static final class OfArray extends ColumnSetter {
        private final ColumnSetter element;

        OfArray(ArrayType type, boolean[] finer) {
            this.element = ColumnSetter.of(type.elementType(), finer);
        }

        void put(SpecializedGetters row, int ordinal, ColumnVector vector, int at) {
            ListColumnVector list = (ListColumnVector) vector;
            ArrayData values = row.getArray(ordinal);
            int size = values.numElements();
            int first = list.childCount;
            list.offsets[at] = (long) first;
            list.lengths[at] = (long) size;
            list.childCount += size;
            list.child.ensureSize(list.childCount, true);
            for (int i = 0; i < size; i++) {
                element.set(values, i, list.child, first + i);
            }
        }
    }

    private static final class OfMap extends ColumnSetter {
        private final ColumnSetter key;
        private final ColumnSetter value;

        OfMap(MapType type, boolean[] finer) {
            this.key = ColumnSetter.of(type.keyType(), finer);
            this.value = ColumnSetter.of(type.valueType(), finer);
        }

        void put(SpecializedGetters row, int ordinal, ColumnVector vector, int at) {
            MapColumnVector map = (MapColumnVector) vector;
            MapData entries = row.getMap(ordinal);
            ArrayData keys = entries.keyArray();
            ArrayData values = entries.valueArray();
            int size = entries.numElements();
            int first = map.childCount;
            map.offsets[at] = (long) first;
            map.lengths[at] = (long) size;
            map.childCount += size;
            map.keys.ensureSize(map.childCount, true);
            map.values.ensureSize(map.childCount, true);
            for (int i = 0; i < size; i++) {
                key.set(keys, i, map.keys, first + i);
                value.set(values, i, map.values, first + i);
            }
        }
    }

    private static final class OfStruct extends ColumnSetter {
        private final ColumnSetter[] fields;

        OfStruct(StructType type, boolean[] finer) {
            this.fields = new ColumnSetter[type.length()];
            for (int i = 0; i < fields.length; i++) {
                fields[i] = ColumnSetter.of(type.apply(i).dataType(), finer);
            }
        }

        void put(SpecializedGetters row, int ordinal, ColumnVector vector, int at) {
            InternalRow struct = row.getStruct(ordinal, fields.length);
            ColumnVector[] children = ((StructColumnVector) vector).fields;
            for (int i = 0; i < fields.length; i++) {
                fields[i].set(struct, i, children[i], at);
            }
        }
    }
}

/** Times in the hybrid calendar that Hive's files have. */
final class NanosecondText {
    private NanosecondText() {}

    /** Put microseconds since 1970, and the nanoseconds below them. */
    static void put(long time, int below, TimestampColumnVector times, int at) {
        long micros = RebaseDateTime.rebaseGregorianToJulianMicros("UTC", time);
        times.time[at] = Math.floorDiv(micros, 1000L);
        times.nanos[at] = (int) Math.floorMod(micros, 1000000L) * 1000 + below;
    }

    /** Put a text as ORC makes it: yyyy-MM-dd HH:mm:ss[.fffffffff]. */
    static void put(String text, TimestampColumnVector times, int at, boolean[] finer) {
        int blank = text.indexOf(' ');
        int day = text.lastIndexOf('-', blank);
        int month = text.lastIndexOf('-', day - 1);
        LocalDate date = LocalDate.of(
            Integer.parseInt(text.substring(0, month)),
            Integer.parseInt(text.substring(month + 1, day)),
            Integer.parseInt(text.substring(day + 1, blank)));
        String[] clock = text.substring(blank + 1).split("[:.]");
        long seconds = date.toEpochDay() * 86400L + Integer.parseInt(clock[0]) * 3600L
            + Integer.parseInt(clock[1]) * 60L + Integer.parseInt(clock[2]);
        int nanos = 0;
        if (clock.length > 3) {
            nanos = Integer.parseInt((clock[3] + "000000000").substring(0, 9));
        }
        if (nanos % 1000 != 0) {
            finer[0] = true;
        }
        put(seconds * 1000000L + nanos / 1000, nanos % 1000, times, at);
    }
}
