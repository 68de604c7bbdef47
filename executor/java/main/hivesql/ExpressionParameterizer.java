package hivesql;

import java.util.List;
import org.apache.spark.sql.catalyst.expressions.BinaryComparison;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.CreateNamedStruct;
import org.apache.spark.sql.catalyst.expressions.DateFromUnixDate;
import org.apache.spark.sql.catalyst.expressions.EvalMode$;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.MicrosToTimestamp;
import org.apache.spark.sql.catalyst.expressions.UnscaledValue;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import scala.Function1;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractPartialFunction;

/**
 * Takes numbers, days and times out of the code that Spark generates for expressions.
 *
 * <p>Spark writes them into its code, so an expression with another number is compiled anew. Decimals
 * it hands to its code as objects: these carry the numbers, or columns after the row's own do. Done only
 * where a number is compared or stored as it is: the divisor of a remainder, for one, is better a constant.
 */
final class ExpressionParameterizer extends AbstractPartialFunction {
    /** Digits of decimals that hold any number. */
    private static final int LEAST = 20;

    /** What the columns from width on have in all rows; null for decimals. */
    private final List numbers;
    private final int width;
    private int carried;

    ExpressionParameterizer() {
        this(null, 0);
    }

    private ExpressionParameterizer(List numbers, int width) {
        this.numbers = numbers;
        this.width = width;
    }

    static Expression in(Expression expression) {
        return (Expression) expression.transformDown(new ExpressionParameterizer());
    }

    /** With columns from width on; what these have, as Longs, is added to a list. */
    static Expression in(Expression expression, int width, List numbers) {
        return (Expression) expression.transformDown(new ExpressionParameterizer(numbers, width));
    }

    public boolean isDefinedAt(Object node) {
        return node instanceof BinaryComparison || node instanceof CreateNamedStruct;
    }

    public Object applyOrElse(Object node, Function1 otherwise) {
        if (!isDefinedAt(node)) return otherwise.apply(node);
        Expression expression = (Expression) node;
        Seq children = expression.children();
        boolean changed = false;
        for (int i = 0; i < children.size(); i++) {
            Expression loose = loose(children.apply(i));
            if (loose != null) {
                children = Seqs.updated(children, i, loose);
                changed = true;
            }
        }
        return changed ? expression.withNewChildren(children) : expression;
    }

    /** What gives the same value; null for what is not a literal, or none that code would contain. */
    private Expression loose(Object given) {
        if (!(given instanceof Literal) || ((Literal) given).value() == null) return null;
        DataType type = ((Literal) given).dataType();
        boolean isDay = type.equals(DataTypes.DateType);
        boolean isTime = type.equals(DataTypes.TimestampType);
        boolean isInt = type.equals(DataTypes.IntegerType);
        if (!isDay && !isTime && !isInt && !type.equals(DataTypes.LongType)) return null;
        long number = ((Number) ((Literal) given).value()).longValue();
        Expression found = carrier(number);
        if (isTime) return new MicrosToTimestamp(found);
        if (isInt || isDay) {
            found = new Cast(
                    found, DataTypes.IntegerType, Option.empty(), EvalMode$.MODULE$.LEGACY());
        }
        return isDay ? new DateFromUnixDate(found) : found;
    }

    private Expression carrier(long number) {
        if (numbers == null) {
            // No two alike: Spark computes what is there twice once, by other code.
            int precision = LEAST + carried++ % (DecimalType.MAX_PRECISION() - LEAST + 1);
            return new UnscaledValue(new Literal(
                    Decimal.createUnsafe(number, precision, 0), new DecimalType(precision, 0)));
        }
        numbers.add(Long.valueOf(number));
        return new BoundReference(width + numbers.size() - 1, DataTypes.LongType, false);
    }
}
