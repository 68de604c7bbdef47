package hivesql;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.math.BigDecimal;
import java.sql.Date;
import java.time.LocalDate;
import org.apache.spark.sql.sources.AlwaysTrue;
import org.apache.spark.sql.sources.And;
import org.apache.spark.sql.sources.EqualNullSafe;
import org.apache.spark.sql.sources.EqualTo;
import org.apache.spark.sql.sources.Filter;
import org.apache.spark.sql.sources.GreaterThan;
import org.apache.spark.sql.sources.GreaterThanOrEqual;
import org.apache.spark.sql.sources.In;
import org.apache.spark.sql.sources.IsNotNull;
import org.apache.spark.sql.sources.LessThan;
import org.apache.spark.sql.sources.LessThanOrEqual;
import org.apache.spark.sql.sources.Or;

/**
 * Spark's filters as JSON: lists of an operator and what it is about.
 *
 * <p>A value is a pair of its kind and its text. What is not known here is left out: that keeps more
 * rows, never fewer.
 */
final class CatalogFilters {
    private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

    private CatalogFilters() {}

    /** A list of filters, all of which hold for the rows that are wanted. */
    static ArrayNode written(Filter[] filters) {
        ArrayNode all = JSON.arrayNode();
        for (Filter filter : filters) {
            ArrayNode one = written(filter);
            if (one != null) all.add(one);
        }
        return all;
    }

    /** Tell whether nothing of the filters is left out. */
    static boolean isWhole(Filter[] filters) {
        for (Filter filter : filters) {
            if (!isWhole(filter)) return false;
        }
        return true;
    }

    private static boolean isWhole(Filter filter) {
        if (filter instanceof And and) return isWhole(and.left()) && isWhole(and.right());
        if (filter instanceof Or or) return isWhole(or.left()) && isWhole(or.right());
        return written(filter) != null;
    }

    private static ArrayNode written(Filter filter) {
        if (filter instanceof AlwaysTrue) return JSON.arrayNode().add("TRUE");
        if (filter instanceof And and) {
            ArrayNode left = written(and.left());
            ArrayNode right = written(and.right());
            if (left == null || right == null) return left == null ? right : left;
            return JSON.arrayNode().add("AND").add(left).add(right);
        }
        if (filter instanceof Or or) {
            ArrayNode left = written(or.left());
            ArrayNode right = written(or.right());
            return left == null || right == null ? null : JSON.arrayNode().add("OR").add(left).add(right);
        }
        if (filter instanceof EqualTo equal) return compared("=", equal.attribute(), equal.value());
        if (filter instanceof EqualNullSafe equal) return compared("=", equal.attribute(), equal.value());
        if (filter instanceof LessThan less) return compared("<", less.attribute(), less.value());
        if (filter instanceof LessThanOrEqual less) return compared("<=", less.attribute(), less.value());
        if (filter instanceof GreaterThan more) return compared(">", more.attribute(), more.value());
        if (filter instanceof GreaterThanOrEqual more) return compared(">=", more.attribute(), more.value());
        if (filter instanceof IsNotNull not) return JSON.arrayNode().add("IS NOT NULL").add(not.attribute());
        return filter instanceof In in ? compared("IN", in.attribute(), in.values()) : null;
    }

    private static ArrayNode compared(String operator, String column, Object... values) {
        ArrayNode comparison = JSON.arrayNode().add(operator).add(column);
        for (Object value : values) {
            String kind = kind(value);
            if (kind == null) return null;
            comparison.add(JSON.arrayNode().add(kind).add(value.toString()));
        }
        return comparison;
    }

    /** Null for values that are better left to Spark. */
    private static String kind(Object value) {
        if (value instanceof Integer || value instanceof Long || value instanceof Short
                || value instanceof Byte) {
            return "int";
        }
        if (value instanceof String) return "str";
        if (value instanceof BigDecimal) return "decimal";
        return value instanceof Date || value instanceof LocalDate ? "date" : null;
    }
}
