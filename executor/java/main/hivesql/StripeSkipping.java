package hivesql;

import java.sql.Date;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.Arrays;
import java.util.TimeZone;
import org.apache.spark.sql.sources.Filter;

/** By which filters ORC may skip stripes: it compares some values otherwise than Spark does. */
final class StripeSkipping {
    /** 1582-10-15, in milliseconds since 1970. */
    private static final long FIRST_GREGORIAN = -12219292800000L;
    private static final long DAY = 86400000L;
    private static final boolean IN_UTC =
            TimeZone.getDefault().hasSameRules(TimeZone.getTimeZone("UTC"));

    private StripeSkipping() {}

    /** Whether all values in a filter compare alike. */
    static boolean isSound(Object part) {
        if (part instanceof Timestamp || part instanceof Instant || part instanceof LocalDateTime) {
            // A search argument loses what is below its milliseconds on the way to the task.
            return false;
        }
        // Such a date is a midnight of the driver's zone; executors may have another.
        if (part instanceof Date date) return IN_UTC && date.getTime() >= FIRST_GREGORIAN;
        if (part instanceof LocalDate date) return date.toEpochDay() * DAY >= FIRST_GREGORIAN;
        if (part instanceof String text) return isOrderedAlike(text);
        if (part instanceof Object[] values) {
            return Arrays.stream(values).allMatch(StripeSkipping::isSound);
        }
        if (part instanceof Filter filter) {
            scala.collection.Iterator<?> parts = ((scala.Product) filter).productIterator();
            while (parts.hasNext()) {
                if (!isSound(parts.next())) return false;
            }
        }
        return true;
    }

    /**
     * Whether the text is less or more than another by its bytes, as in Spark and in a file's
     * statistics, whenever it is by its chars, as in ORC's comparisons: an emoji is two low chars.
     */
    private static boolean isOrderedAlike(String text) {
        return text.chars().allMatch(one -> one < '\ud800');
    }
}
