package hivesql;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.ApplyFunctionExpression;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.functions.ScalarFunction;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
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
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;
import org.apache.spark.unsafe.types.UTF8String;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction1;

/**
 * Hive's hash of a value by which its row finds its bucket; NULL hashes to 0.
 *
 * <p>As ObjectInspectorUtils.getBucketHashCode: version 1 has Java's hash codes, version 2 Murmur3 with
 * its own seed, bytes in big-endian order and a tail of signed bytes. Spark's own Murmur3 takes its words
 * and its tail otherwise.
 */
public final class BucketHash implements ScalarFunction<Integer> {
    private static final int SEED = 104729;
    private static final long MICROS = 1_000_000;
    private final int version;
    private final String kind;
    private final DataType type;

    private BucketHash(int version, String kind, DataType type) {
        this.version = version;
        this.kind = kind;
        this.type = type;
    }

    /** The hash of a column; char and varchar are told from string by the kind, the type is Spark's. */
    public static Column hashed(Column value, int version, String kind, String type) {
        Expression given = ColumnExpressions.expression(value);
        return ColumnExpressions.column(call(given, version, kind, DataType.fromDDL(type)));
    }

    /** From now on the session's queries may call the hash by this name, of a value of any type. */
    public static void register(SparkSession session, String name, int version, String kind) {
        session.sessionState().functionRegistry().createOrReplaceTempFunction(
                name, new Maker(version, kind), "scala_udf");
    }

    private static Expression call(Expression value, int version, String kind, DataType type) {
        return new ApplyFunctionExpression(
                new BucketHash(version, kind, type), Seqs.of(Arrays.asList(value)));
    }

    /** Makes the call, when the type of what it is given is known. */
    private static final class Maker extends AbstractFunction1<Seq<Expression>, Expression> {
        private final int version;
        private final String kind;

        Maker(int version, String kind) {
            this.version = version;
            this.kind = kind;
        }

        public Expression apply(Seq<Expression> arguments) {
            Expression value = arguments.apply(0);
            return call(value, version, kind, value.dataType());
        }
    }

    public String name() {
        return "hive_hash_" + version;
    }

    /** Two of them are the same call where kind and type are: the optimizer asks. */
    public boolean equals(Object other) {
        if (!(other instanceof BucketHash)) return false;
        BucketHash that = (BucketHash) other;
        return version == that.version && kind.equals(that.kind) && type.equals(that.type);
    }

    public int hashCode() {
        return 31 * type.hashCode() + version;
    }

    public DataType[] inputTypes() {
        return new DataType[] {type};
    }

    public DataType resultType() {
        return DataTypes.IntegerType;
    }

    public boolean isResultNullable() {
        return false;
    }

    public Integer produceResult(InternalRow input) {
        return hash(input, 0, type, version, kind);
    }

    private static int hash(SpecializedGetters from, int at, DataType type, int version, String kind) {
        if (from.isNullAt(at)) return 0;
        if (type instanceof StructType) return ofStruct(from, at, (StructType) type, version);
        if (type instanceof ArrayType) {
            return ofArray(from.getArray(at), ((ArrayType) type).elementType(), version);
        }
        if (type instanceof MapType) return ofMap(from.getMap(at), (MapType) type, version);
        if (type instanceof StringType) return ofText(from.getUTF8String(at), version, kind);
        if (type instanceof DecimalType) {
            DecimalType number = (DecimalType) type;
            return ofDecimal(from.getDecimal(at, number.precision(), number.scale()), version);
        }
        if (type instanceof TimestampType || type instanceof TimestampNTZType) {
            long micros = from.getLong(at);
            long seconds = Math.floorDiv(micros, MICROS);
            int nanos = (int) Math.floorMod(micros, MICROS) * 1000;
            return version == 1 ? folded(seconds << 30 | nanos) : murmur(timeBytes(seconds, nanos));
        }
        if (type == DataTypes.BinaryType) {
            byte[] bytes = from.getBinary(at);
            return version == 1 ? ofBytes(bytes, 1) : murmur(bytes);
        }
        return ofNumber(from, at, type, version);
    }

    private static int ofNumber(SpecializedGetters from, int at, DataType type, int version) {
        boolean isFirst = version == 1;
        if (type instanceof BooleanType) return from.getBoolean(at) ? 1 : 0;
        if (type instanceof ByteType) return from.getByte(at);
        if (type instanceof ShortType) {
            short value = from.getShort(at);
            return isFirst ? value : murmur(ByteBuffer.allocate(2).putShort(value).array());
        }
        if (type instanceof IntegerType || type instanceof DateType) {
            int value = from.getInt(at);
            return isFirst ? value : murmur(ByteBuffer.allocate(4).putInt(value).array());
        }
        if (type instanceof LongType) {
            long value = from.getLong(at);
            return isFirst ? folded(value) : murmur(ByteBuffer.allocate(8).putLong(value).array());
        }
        // Hive hashes the number whose value is what the bits spell.
        if (type instanceof FloatType) {
            int bits = Float.floatToRawIntBits(from.getFloat(at));
            return isFirst ? bits : murmur(ByteBuffer.allocate(4).putFloat(bits).array());
        }
        if (type instanceof DoubleType) {
            long bits = Double.doubleToRawLongBits(from.getDouble(at));
            return isFirst ? folded(bits) : murmur(ByteBuffer.allocate(8).putDouble(bits).array());
        }
        throw new UnsupportedOperationException("no bucket hash for " + type.sql());
    }

    private static int ofStruct(SpecializedGetters from, int at, StructType type, int version) {
        StructField[] fields = type.fields();
        InternalRow row = from.getStruct(at, fields.length);
        int total = 0;
        for (int i = 0; i < fields.length; i++) {
            total = 31 * total + hash(row, i, fields[i].dataType(), version, "");
        }
        return total;
    }

    private static int ofArray(ArrayData items, DataType type, int version) {
        int total = 0;
        for (int i = 0; i < items.numElements(); i++) {
            total = 31 * total + hash(items, i, type, version, "");
        }
        return total;
    }

    private static int ofMap(MapData entries, MapType type, int version) {
        ArrayData keys = entries.keyArray();
        ArrayData values = entries.valueArray();
        int total = 0;
        for (int i = 0; i < keys.numElements(); i++) {
            // Of a map's values, Hive takes version 1 in both versions.
            total += hash(keys, i, type.keyType(), version, "")
                    ^ hash(values, i, type.valueType(), 1, "");
        }
        return total;
    }

    private static int ofText(UTF8String text, int version, String kind) {
        // CHAR compares and hashes without its padding.
        byte[] bytes = (kind.equals("char") ? text.trimRight() : text).getBytes();
        if (version == 2) return murmur(bytes);
        return ofBytes(bytes, kind.equals("char") || kind.equals("varchar") ? 1 : 0);
    }

    private static int ofBytes(byte[] bytes, int start) {
        int total = start;
        for (byte one : bytes) total = 31 * total + one;
        return total;
    }

    private static int ofDecimal(Decimal value, int version) {
        BigDecimal number = value.toJavaBigDecimal().stripTrailingZeros();
        if (number.scale() < 0) number = number.setScale(0);
        BigInteger unscaled = number.unscaledValue();
        if (version == 2) return murmur(unscaled.toByteArray());
        return 31 * unscaled.hashCode() + number.scale();
    }

    private static int folded(long number) {
        return (int) (number >>> 32 ^ number);
    }

    /** TimestampWritableV2's serialized form. */
    private static byte[] timeBytes(long seconds, int nanos) {
        long high = seconds >> 31;
        int low = (int) (seconds & Integer.MAX_VALUE);
        ByteBuffer bytes = ByteBuffer.allocate(22);
        if (nanos == 0 && high == 0) return Arrays.copyOf(bytes.putInt(low).array(), 4);
        int reversed = nanos == 0 ? 0 : Integer.parseInt(
                new StringBuilder(String.format("%09d", nanos)).reverse().toString());
        bytes.putInt(low | Integer.MIN_VALUE);
        putVarying(bytes, high != 0 ? -reversed - 1 : reversed);
        if (high != 0) putVarying(bytes, high);
        return Arrays.copyOf(bytes.array(), bytes.position());
    }

    /** Hadoop's integer of varying length. */
    private static void putVarying(ByteBuffer bytes, long value) {
        if (value >= -112 && value <= 127) {
            bytes.put((byte) value);
            return;
        }
        long rest = value < 0 ? ~value : value;
        int size = (64 - Long.numberOfLeadingZeros(rest) + 7) / 8;
        bytes.put((byte) ((value < 0 ? -120 : -112) - size));
        for (int i = size - 1; i >= 0; i--) bytes.put((byte) (rest >> 8 * i));
    }

    private static int murmur(byte[] bytes) {
        int hash = SEED;
        int whole = bytes.length / 4 * 4;
        for (int i = 0; i < whole; i += 4) {
            int word = (bytes[i] & 0xff) | (bytes[i + 1] & 0xff) << 8
                    | (bytes[i + 2] & 0xff) << 16 | (bytes[i + 3] & 0xff) << 24;
            hash = Integer.rotateLeft(hash ^ mixed(word), 13) * 5 + 0xe6546b64;
        }
        if (whole < bytes.length) {
            int tail = 0;
            // These bytes are signed in Hive, unlike in the textbook.
            for (int i = bytes.length - 1; i >= whole; i--) tail ^= bytes[i] << 8 * (i - whole);
            hash ^= mixed(tail);
        }
        hash ^= bytes.length;
        hash = (hash ^ hash >>> 16) * 0x85ebca6b;
        hash = (hash ^ hash >>> 13) * 0xc2b2ae35;
        return hash ^ hash >>> 16;
    }

    private static int mixed(int word) {
        return Integer.rotateLeft(word * 0xcc9e2d51, 15) * 0x1b873593;
    }
}
