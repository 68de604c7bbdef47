package hivesql;

import static hivesql.RunTests.same;

import java.sql.Date;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.LocalDate;
import org.apache.spark.sql.sources.And;
import org.apache.spark.sql.sources.EqualTo;
import org.apache.spark.sql.sources.In;
import org.apache.spark.sql.sources.IsNotNull;
import org.apache.spark.sql.sources.LessThan;

final class StripeSkippingTest {
    private StripeSkippingTest() {}

    static void plainValuesAreSound() {
        same(StripeSkipping.isSound(new EqualTo("a", 1)), true);
        same(StripeSkipping.isSound(new EqualTo("s", "a")), true);
        same(StripeSkipping.isSound(new LessThan("d", LocalDate.of(1582, 10, 15))), true);
        same(StripeSkipping.isSound(new IsNotNull("t")), true);
    }

    static void nothingIsSkippedByWhatOrcComparesOtherwise() {
        same(StripeSkipping.isSound(new EqualTo("t", Timestamp.valueOf("2012-10-15 12:57:18.000396"))), false);
        same(StripeSkipping.isSound(new EqualTo("t", Instant.EPOCH)), false);
        same(StripeSkipping.isSound(new LessThan("d", LocalDate.of(1582, 10, 4))), false);
        same(StripeSkipping.isSound(new LessThan("d", new Date(-12219292800001L))), false);
        same(StripeSkipping.isSound(new EqualTo("s", "\uff0c")), false);
        same(StripeSkipping.isSound(new EqualTo("s", "\ud83d\ude00")), false);
    }

    static void aPartThatIsNotSoundSpoilsTheWhole() {
        same(StripeSkipping.isSound(new And(new EqualTo("a", 1), new EqualTo("s", "\uff0c"))), false);
        same(StripeSkipping.isSound(new In("s", new Object[] {"a", "\uff0c"})), false);
        same(StripeSkipping.isSound(new In("s", new Object[] {"a", "b"})), true);
    }
}
