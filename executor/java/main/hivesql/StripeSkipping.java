package hivesql;

import java.sql.Date;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.List;
import org.apache.hadoop.hive.ql.io.sarg.SearchArgument;
import org.apache.spark.sql.sources.Filter;
import org.apache.spark.sql.types.StructType;
import scala.Option;

/** By which filters ORC may skip stripes: it compares some values otherwise than Spark does. */
public final class StripeSkipping {
    /** 1582-10-15, in milliseconds since 1970. */
    private static final long FIRST_GREGORIAN = -12219292800000L;

    public StripeSkipping() {}

    /** What ORC is told of filters over columns; null where no stripe can be skipped by them. */
    public SearchArgument searchArgument(List filters, String columns) {
        Option found = ScanPlans.searchArgument(StructType.fromDDL(columns), Seqs.of(filters));
        return found.isDefined() ? (SearchArgument) found.get() : null;
    }

    /** Whether all values in a filter compare alike. */
    public boolean isSound(Object part) {
        if (part instanceof Timestamp || part instanceof Instant || part instanceof LocalDateTime) {
            // A search argument loses what is below its milliseconds on the way to the task.
            return false;
        }
        if (part instanceof Date) return ((Date) part).getTime() >= FIRST_GREGORIAN;
        if (part instanceof LocalDate) {
            return ((LocalDate) part).toEpochDay() * 86400000L >= FIRST_GREGORIAN;
        }
        if (part instanceof String) return isOrderedAlike((String) part);
        if (part instanceof Object[]) {
            Object[] values = (Object[]) part;
            for (int i = 0; i < values.length; i++) {
                if (!isSound(values[i])) return false;
            }
        }
        if (part instanceof Filter) {
            scala.collection.Iterator parts = ((scala.Product) part).productIterator();
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
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) >= '\ud800') return false;
        }
        return true;
    }
}
