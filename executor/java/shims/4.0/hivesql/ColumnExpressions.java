package hivesql;

import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.expressions.Encode;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.catalyst.expressions.StringDecode;
import org.apache.spark.sql.classic.ColumnNodeToExpressionConverter$;
import org.apache.spark.sql.classic.ExpressionUtils;

/** Columns and the expressions in them, which differ between lines of Spark: here 4.0 on. */
public final class ColumnExpressions {
    private ColumnExpressions() {}

    static Expression expression(Column column) {
        return ExpressionUtils.expression(column);
    }

    /** The same, with all that is inside of it as expressions too. */
    static Expression whole(Column column) {
        return ColumnNodeToExpressionConverter$.MODULE$.apply(column.node());
    }

    static Column column(Expression expression) {
        return ExpressionUtils.column(expression);
    }

    /** The text whose bytes these are in a character set, with U+FFFD for what is none. */
    public static Column decoded(Column bytes, String charset) {
        return column(new StringDecode(expression(bytes), Literal$.MODULE$.apply(charset), true, true));
    }

    /** The bytes of a text in a character set, with a question mark for what it lacks. */
    public static Column encoded(Column text, String charset) {
        return column(new Encode(expression(text), Literal$.MODULE$.apply(charset), true, true));
    }
}
