package hivesql;

import java.text.ParsePosition;
import java.text.SimpleDateFormat;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.util.Date;
import java.util.GregorianCalendar;
import java.util.Locale;
import java.util.Map;
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
 * Moments written and read by patterns, in a zone: java.time's, or those of Java's SimpleDateFormat,
 * which Hive's functions take where hive.datetime.formatter says so.
 *
 * <p>The latter is lenient: a month 13 is January, and what follows the pattern's end is ignored. A pattern
 * that is none, and a text that is not as the pattern says, give NULL.
 */
public final class DatePatterns implements ScalarFunction<Object> {
    private enum Kind { SIMPLE, PROLEPTIC, MODERN }

    /** A pattern that is none is an error, as to from_unixtime of Hive. */
    private static final String STRICT = "hive_zoned_strict_text";
    /** Kinds of patterns by the functions' names; those that read end in "seconds". */
    private static final Map<String, Kind> KINDS = Map.of(
            "hive_zoned_simple_text", Kind.SIMPLE,
            "hive_zoned_simple_seconds", Kind.SIMPLE,
            "hive_zoned_proleptic_text", Kind.PROLEPTIC,
            "hive_zoned_text", Kind.MODERN,
            STRICT, Kind.MODERN,
            "hive_zoned_seconds", Kind.MODERN);

    private final String name;
    private transient String pattern;
    private transient String zone;
    private transient SimpleDateFormat simple;
    private transient DateTimeFormatter modern;

    private DatePatterns(String name) {
        this.name = name;
    }

    /** From now on the session's queries may call the functions. */
    public static void register(SparkSession session) {
        for (String name : KINDS.keySet()) {
            session.sessionState().functionRegistry().createOrReplaceTempFunction(
                    name, new Maker(name), "scala_udf");
        }
    }

    private static final class Maker extends AbstractFunction1<Seq<Expression>, Expression> {
        private final String name;

        Maker(String name) {
            this.name = name;
        }

        public Expression apply(Seq<Expression> arguments) {
            return new ApplyFunctionExpression(new DatePatterns(name), arguments);
        }
    }

    public String name() {
        return name;
    }

    public boolean equals(Object other) {
        return other instanceof DatePatterns && ((DatePatterns) other).name.equals(name);
    }

    public int hashCode() {
        return name.hashCode();
    }

    private boolean reads() {
        return name.endsWith("seconds");
    }

    /** A text, or microseconds since 1970; then the pattern and the zone. */
    public DataType[] inputTypes() {
        DataType first = reads() ? DataTypes.StringType : DataTypes.LongType;
        return new DataType[] {first, DataTypes.StringType, DataTypes.StringType};
    }

    public DataType resultType() {
        return reads() ? DataTypes.LongType : DataTypes.StringType;
    }

    public Object produceResult(InternalRow input) {
        if (input.isNullAt(0) || input.isNullAt(1)) return null;
        use(input.getUTF8String(1).toString(), input.getUTF8String(2).toString());
        if (reads()) return read(input.getUTF8String(0).toString());
        String text = write(input.getLong(0));
        return text == null ? null : UTF8String.fromString(text);
    }

    private String write(long micros) {
        if (simple != null) return simple.format(new Date(Math.floorDiv(micros, 1000L)));
        if (modern == null) return null;
        Instant moment = Instant.ofEpochSecond(
                Math.floorDiv(micros, 1_000_000L), Math.floorMod(micros, 1_000_000L) * 1000);
        try {
            return moment.atZone(modern.getZone()).format(modern);
        } catch (DateTimeException lacking) {
            return null;
        }
    }

    private Long read(String text) {
        if (simple != null) {
            Date read = simple.parse(text, new ParsePosition(0));
            return read == null ? null : (Long) Math.floorDiv(read.getTime(), 1000L);
        }
        if (modern == null) return null;
        try {
            return ZonedDateTime.parse(text, modern).toEpochSecond();
        } catch (DateTimeException noTime) {
            // A pattern without hours: the day's beginning where the session is, as Hive.
            try {
                return LocalDate.parse(text, modern).atStartOfDay(modern.getZone()).toEpochSecond();
            } catch (DateTimeException none) {
                return null;
            }
        }
    }

    /** Have the format of a pattern, which is that of the row before as a rule; none where it is no pattern. */
    private void use(String wanted, String wantedZone) {
        if (wanted.equals(pattern) && wantedZone.equals(zone)) return;
        pattern = wanted;
        zone = wantedZone;
        simple = null;
        modern = null;
        Kind kind = KINDS.get(name);
        try {
            if (kind == Kind.MODERN) {
                modern = new DateTimeFormatterBuilder().parseCaseInsensitive().appendPattern(wanted)
                        .toFormatter(Locale.US).withZone(ZoneId.of(zone));
                return;
            }
            SimpleDateFormat format = new SimpleDateFormat(wanted, Locale.US);
            if (kind == Kind.PROLEPTIC) {
                GregorianCalendar calendar = new GregorianCalendar(Locale.US);
                calendar.setGregorianChange(new Date(Long.MIN_VALUE));
                format.setCalendar(calendar);
            }
            format.setTimeZone(TimeZone.getTimeZone(ZoneId.of(zone)));
            simple = format;
        } catch (IllegalArgumentException none) {
            if (name.equals(STRICT)) {
                pattern = null;
                throw none;
            }
        }
    }
}
