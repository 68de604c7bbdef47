package hivesql;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.BinaryComparison;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.In;
import org.apache.spark.sql.catalyst.expressions.InSet;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import scala.Function1;
import scala.runtime.AbstractPartialFunction;

/**
 * Compares decimals of up to 18 digits as the numbers of 64 bits that ORC's vectors hold.
 *
 * <p>Spark compares objects, for each row anew, and those of unlike precisions as BigDecimals. A
 * {@link VectorRow} gives a column of decimals as such numbers, without their points.
 */
final class DecimalComparisons extends AbstractPartialFunction<Expression, Expression> {
    private static final int BASE = 10;

    /** A number, and how many of its digits are behind the point. */
    private record Scaled(long number, int scale) {}

    static Expression in(Expression condition) {
        return condition.transform(new DecimalComparisons());
    }

    @Override
    public boolean isDefinedAt(Expression node) {
        return node instanceof BinaryComparison || node instanceof In || node instanceof InSet;
    }

    @Override
    @SuppressWarnings("unchecked")
    public <N extends Expression, R> R applyOrElse(N node, Function1<N, R> otherwise) {
        if (!isDefinedAt(node)) return otherwise.apply(node);
        return (R) (node instanceof InSet set ? overSet(set) : overChildren(node));
    }

    /** With all children as numbers of one scale; as it is where one of them cannot be. */
    private static Expression overChildren(Expression node) {
        List<Expression> children = Seqs.toJava(node.children());
        int scale = scale(children);
        if (scale < 0) return node;
        List<Expression> numbers = new ArrayList<>();
        for (Expression child : children) {
            Expression number = child instanceof Literal literal
                    ? number(scaled(literal), scale) : number(column(child));
            if (number == null) return node;
            numbers.add(number);
        }
        return node.withNewChildren(Seqs.of(numbers));
    }

    private static Expression overSet(InSet set) {
        BoundReference column = column(set.child());
        if (column == null) return set;
        int scale = ((DecimalType) column.dataType()).scale();
        List<Expression> numbers = new ArrayList<>();
        for (Object value : Seqs.toJava(set.hset())) {
            Expression number = value instanceof Decimal decimal ? number(scaled(decimal), scale) : null;
            if (number == null) return set;
            numbers.add(number);
        }
        return new In(number(column), Seqs.of(numbers));
    }

    /** The scale of the columns, which is that of all; -1 where they have several, or there is none. */
    private static int scale(List<Expression> all) {
        int scale = -1;
        for (Expression one : all) {
            if (one instanceof Literal) continue;
            BoundReference column = column(one);
            if (column == null) return -1;
            int its = ((DecimalType) column.dataType()).scale();
            if (scale >= 0 && its != scale) return -1;
            scale = its;
        }
        return scale;
    }

    /** The column of short decimals that this is, if need be in a wider type; null for all else. */
    private static BoundReference column(Expression given) {
        Expression inner = given;
        if (given instanceof Cast cast && cast.dataType() instanceof DecimalType wide
                && cast.child().dataType() instanceof DecimalType narrow && wide.isWiderThan(narrow)) {
            inner = cast.child();
        }
        return inner instanceof BoundReference column && column.dataType() instanceof DecimalType type
                && type.precision() <= Decimal.MAX_LONG_DIGITS() ? column : null;
    }

    private static Expression number(BoundReference column) {
        return new BoundReference(column.ordinal(), DataTypes.LongType, column.nullable());
    }

    private static Scaled scaled(Literal literal) {
        return literal.value() instanceof Decimal value ? scaled(value) : null;
    }

    private static Scaled scaled(Decimal value) {
        return value.precision() > Decimal.MAX_LONG_DIGITS()
                ? null : new Scaled(value.toUnscaledLong(), value.scale());
    }

    /** The same number with another scale; null where it has none. */
    private static Expression number(Scaled given, int scale) {
        if (given == null) return null;
        long number = given.number;
        try {
            for (int i = given.scale; i < scale; i++) number = Math.multiplyExact(number, BASE);
        } catch (ArithmeticException tooLarge) {
            return null;
        }
        for (int i = scale; i < given.scale; i++) {
            if (number % BASE != 0) return null;
            number /= BASE;
        }
        return new Literal(number, DataTypes.LongType);
    }
}
