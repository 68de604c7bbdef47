package hivesql;

import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.Encode;
import org.apache.spark.sql.catalyst.expressions.EvalMode$;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.catalyst.expressions.StringDecode;
import org.apache.spark.sql.types.DataType;
import scala.Option;

/** Columns and the expressions in them, which differ between lines of Spark: here 3.5. */
public final class ColumnExpressions {
    private ColumnExpressions() {}

    static Expression expression(Column column) {
        return column.expr();
    }

    /** The same, with all that is inside of it as expressions too. */
    static Expression whole(Column column) {
        return column.expr();
    }

    static Column column(Expression expression) {
        return new Column(expression);
    }

    /** The text whose bytes these are in a character set, with U+FFFD for what is none. */
    public static Column decoded(Column bytes, String charset) {
        return column(new StringDecode(expression(bytes), Literal$.MODULE$.apply(charset)));
    }

    /** The bytes of a text in a character set, with a question mark for what it lacks. */
    public static Column encoded(Column text, String charset) {
        return column(new Encode(expression(text), Literal$.MODULE$.apply(charset)));
    }

    /** The value as one of another type, NULL where it is none: Column.try_cast came with Spark 4.0. */
    public static Column tryCast(Column value, String type) {
        return column(new Cast(
                expression(value), DataType.fromDDL(type), Option.empty(), EvalMode$.MODULE$.TRY()));
    }
}
