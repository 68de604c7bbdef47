package hivesql;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute;
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute$;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression$;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.types.DataTypes;
import scala.Function1;
import scala.Option;
import scala.runtime.AbstractFunction0;
import scala.runtime.AbstractPartialFunction;

/**
 * Rows whose columns are mostly alike: a table of two thousand columns has a few types.
 *
 * <p>Python makes one expression of each shape, with a hole in it, and tells for each column what
 * fills the hole. Layers lie upon each other: what is in one is computed once for the next.
 */
final class ShapedColumns extends AbstractFunction0 {
    private final SparkSession session;
    private final LogicalPlan rows;
    private final List<Column> shapes;
    private final JsonNode layers;

    /** Layers are lists of a text in Spark's SQL, a number of a shape, or [shape, filling or null, name]. */
    ShapedColumns(SparkSession session, LogicalPlan rows, List<Column> shapes, String layers)
            throws IOException {
        this.session = session;
        this.rows = rows;
        this.shapes = shapes;
        this.layers = new ObjectMapper().readTree(layers);
    }

    public Object apply() {
        List<Expression> expressions = new ArrayList<>();
        for (Column shape : shapes) expressions.add(ColumnExpressions.whole(shape));
        LogicalPlan plan = rows;
        for (int i = 0; i < layers.size(); i++) {
            JsonNode layer = SortedInput.item(layers, i);
            List<NamedExpression> columns = new ArrayList<>();
            for (int k = 0; k < layer.size(); k++) {
                columns.add(PlannedQuery.named(column(SortedInput.item(layer, k), expressions)));
            }
            plan = new Project(Seqs.of(columns), plan);
        }
        return Dataset$.MODULE$.ofRows(session, plan);
    }

    private Expression column(JsonNode item, List<Expression> expressions) {
        if (item.isTextual()) return PlannedQuery.parsed(session, item.asText());
        if (item.isInt()) return expressions.get(item.asInt());
        Expression shape = expressions.get(SortedInput.item(item, 0).asInt());
        JsonNode filling = SortedInput.item(item, 1);
        Expression filled =
                filling.isNull() ? shape : shape.transformUp(new HoleFilling(filling));
        return new Alias(
                filled, SortedInput.item(item, 2).asText(), NamedExpression$.MODULE$.newExprId(),
                Seqs.of(new ArrayList<>()), Option.empty(), Seqs.of(new ArrayList<>()));
    }
}

/** Puts a number, or a column by its name, where an expression has its hole. */
final class HoleFilling extends AbstractPartialFunction<Expression, Expression> {
    /** No column of Hive has a colon in its name. */
    private static final String HOLE = "hole:";

    private final Expression filling;

    HoleFilling(JsonNode filling) {
        this.filling = filling.isInt()
                ? new Literal(filling.asInt(), DataTypes.IntegerType)
                : UnresolvedAttribute$.MODULE$.quoted(filling.asText());
    }

    @Override
    public boolean isDefinedAt(Expression node) {
        return node instanceof UnresolvedAttribute
                && ((UnresolvedAttribute) node).name().equals(HOLE);
    }

    @Override
    public <A extends Expression, B> B applyOrElse(A node, Function1<A, B> otherwise) {
        return isDefinedAt(node) ? (B) filling : otherwise.apply(node);
    }
}
