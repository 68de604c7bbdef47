package hivesql;

import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.catalyst.expressions.MapSort;
import org.apache.spark.sql.catalyst.expressions.objects.Invoke;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.sql.types.DataType;
import scala.Function1;
import scala.runtime.AbstractPartialFunction;

/**
 * Keeps NULLs in the maps that GROUP BY and DISTINCT compare.
 *
 * <p>Spark sorts the entries of such maps by their keys first, and the code that it generates for that makes
 * 0 of a NULL value, so that different maps become one group. What it does without generated code is right.
 */
final class MapSorts extends Rule {
    @Override
    public TreeNode apply(TreeNode plan) {
        return ((LogicalPlan) plan).transformAllExpressions(new AbstractPartialFunction() {
            @Override
            public boolean isDefinedAt(Object expression) {
                return expression instanceof MapSort;
            }

            @Override
            public Object applyOrElse(Object expression, Function1 otherwise) {
                return isDefinedAt(expression)
                        ? sorted(((MapSort) expression).base())
                        : otherwise.apply(expression);
            }
        });
    }

    private static Expression sorted(Expression map) {
        DataType type = map.dataType();
        return new Invoke(
                Literal$.MODULE$.fromObject(new MapSorter(type)), "sort", type, Seqs.of(List.of(map)),
                Seqs.of(List.of()), true, true, true);
    }

    /** Sorts maps of a type by their keys; equal to others of the type, as the expressions that call it. */
    public static final class MapSorter implements Serializable {
        private final DataType type;
        private final MapSort expression;

        MapSorter(DataType type) {
            this.type = type;
            this.expression = new MapSort(new BoundReference(0, type, true));
        }

        public MapData sort(MapData map) {
            return (MapData) expression.nullSafeEval(map);
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof MapSorter sorter && type.equals(sorter.type);
        }

        @Override
        public int hashCode() {
            return type.hashCode();
        }
    }
}
