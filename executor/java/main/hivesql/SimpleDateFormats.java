package hivesql;

import java.text.ParsePosition;
import java.text.SimpleDateFormat;
import java.util.Date;
import java.util.Locale;
import java.util.TimeZone;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.ApplyFunctionExpression;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.functions.ScalarFunction;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.types.UTF8String;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction1;

/**
 * Patterns of dates as Java's SimpleDateFormat has them, which Hive's functions take where
 * hive.datetime.formatter says so.
 *
 * <p>It is lenient: a month 13 is January, and what follows the pattern's end is ignored. A pattern that
 * is none gives NULL.
 */
public final class SimpleDateFormats implements ScalarFunction<Object> {
    private final boolean reads;
    private transient String pattern;
    private transient SimpleDateFormat format;

    private SimpleDateFormats(boolean reads) {
        this.reads = reads;
    }

    /** From now on the session's queries may call both directions. */
    public static void register(SparkSession session) {
        for (boolean reads : new boolean[] {true, false}) {
            SimpleDateFormats function = new SimpleDateFormats(reads);
            session.sessionState().functionRegistry().createOrReplaceTempFunction(
                    function.name(), new Maker(reads), "scala_udf");
        }
    }

    private static final class Maker extends AbstractFunction1<Seq<Expression>, Expression> {
        private final boolean reads;

        Maker(boolean reads) {
            this.reads = reads;
        }

        public Expression apply(Seq<Expression> arguments) {
            return new ApplyFunctionExpression(new SimpleDateFormats(reads), arguments);
        }
    }

    public String name() {
        return reads ? "hive_simple_seconds" : "hive_simple_text";
    }

    public boolean equals(Object other) {
        return other instanceof SimpleDateFormats && ((SimpleDateFormats) other).reads == reads;
    }

    public int hashCode() {
        return name().hashCode();
    }

    /** A text, or milliseconds since 1970; then the pattern. */
    public DataType[] inputTypes() {
        return new DataType[] {reads ? DataTypes.StringType : DataTypes.LongType, DataTypes.StringType};
    }

    public DataType resultType() {
        return reads ? DataTypes.LongType : DataTypes.StringType;
    }

    public Object produceResult(InternalRow input) {
        if (input.isNullAt(0) || input.isNullAt(1)) return null;
        SimpleDateFormat wanted = formatOf(input.getUTF8String(1).toString());
        if (wanted == null) return null;
        if (!reads) return UTF8String.fromString(wanted.format(new Date(input.getLong(0))));
        Date read = wanted.parse(input.getUTF8String(0).toString(), new ParsePosition(0));
        return read == null ? null : (Object) Math.floorDiv(read.getTime(), 1000L);
    }

    /** The format of a pattern, which is that of the row before as a rule; null where it is none. */
    private SimpleDateFormat formatOf(String wanted) {
        if (wanted.equals(pattern)) return format;
        pattern = wanted;
        try {
            format = new SimpleDateFormat(wanted, Locale.US);
            format.setTimeZone(TimeZone.getTimeZone("UTC"));
        } catch (IllegalArgumentException none) {
            format = null;
        }
        return format;
    }
}
