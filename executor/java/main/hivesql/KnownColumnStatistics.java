package hivesql;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Optional;
import java.util.OptionalLong;
import org.apache.spark.sql.catalyst.InternalRow$;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.EvalMode$;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.connector.read.colstats.ColumnStatistics;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.NumericType;
import scala.Option;

/** Statistics of a column: distinct, nulls, low, high, average and longest, null if unknown. */
public final class KnownColumnStatistics implements ColumnStatistics {
    private final JsonNode known;
    private final DataType type;

    public KnownColumnStatistics(JsonNode known, DataType type) {
        this.known = known;
        this.type = type;
    }

    public OptionalLong distinctCount() {
        return number("distinct");
    }

    public OptionalLong nullCount() {
        return number("nulls");
    }

    public OptionalLong avgLen() {
        return number("average");
    }

    public OptionalLong maxLen() {
        return number("longest");
    }

    public Optional min() {
        return value("low");
    }

    public Optional max() {
        return value("high");
    }

    private OptionalLong number(String what) {
        JsonNode found = known.get(what);
        return found.isNull() ? OptionalLong.empty() : OptionalLong.of(found.asLong());
    }

    /** Spark's own form of a number or a day; of other types it makes no use. */
    private Optional value(String what) {
        JsonNode found = known.get(what);
        if (found.isNull() || !(type instanceof NumericType || type instanceof DateType)) {
            return Optional.empty();
        }
        Cast cast = new Cast(
                Literal$.MODULE$.apply(found.asText()), type, Option.apply("UTC"),
                EvalMode$.MODULE$.LEGACY());
        return Optional.ofNullable(cast.eval(InternalRow$.MODULE$.empty()));
    }
}
