package hivesql;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.EqualTo;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression$;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression$;
import org.apache.spark.sql.catalyst.expressions.aggregate.Complete$;
import org.apache.spark.sql.catalyst.expressions.aggregate.Count$;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.Expand;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.Limit$;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.Union;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.types.DataTypes;
import scala.Function1;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractPartialFunction;

/**
 * The grand total of ROLLUP, CUBE and GROUPING SETS with () over no rows.
 *
 * <p>Spark makes groups of rows, so of no rows it makes none; SQL and Hive have one for the empty
 * set. Beside each such aggregation an analysed plan gets one without groups, which gives its row
 * only where there is nothing to group. It looks at one row of the input at most.
 */
public final class GrandTotals extends AbstractPartialFunction {
    public GrandTotals() {}

    public Dataset added(Dataset frame) {
        LogicalPlan plan = frame.queryExecution().analyzed();
        LogicalPlan changed = (LogicalPlan) plan.transformUpWithSubqueries(this);
        return changed == plan ? frame : Dataset$.MODULE$.ofRows(frame.sparkSession(), changed);
    }

    public boolean isDefinedAt(Object node) {
        return node instanceof Aggregate && ((Aggregate) node).child() instanceof Expand;
    }

    public Object applyOrElse(Object node, Function1 otherwise) {
        if (!isDefinedAt(node)) return otherwise.apply(node);
        Aggregate grouped = (Aggregate) node;
        Expand expand = (Expand) grouped.child();
        LogicalPlan found = grouped;
        for (int i = 0; i < expand.projections().length(); i++) {
            GroupKeys keys = new GroupKeys(grouped, expand, (Seq) expand.projections().apply(i));
            if (keys.areConstant()) {
                found = new Union(seq(new Object[] {found, total(grouped, expand, keys)}), false, false);
            }
        }
        return found;
    }

    private static LogicalPlan total(Aggregate grouped, Expand expand, GroupKeys keys) {
        List items = new ArrayList();
        List shown = new ArrayList();
        for (int i = 0; i < grouped.aggregateExpressions().length(); i++) {
            Expression one = (Expression) grouped.aggregateExpressions().apply(i);
            Object value = one instanceof Alias ? ((Alias) one).child() : one;
            Object made = ((Expression) value).transformUp(keys);
            Alias item = named((Expression) made, ((NamedExpression) one).name());
            items.add(item);
            shown.add(item.toAttribute());
        }
        Expression all = Count$.MODULE$.apply(new Literal(Integer.valueOf(1), DataTypes.IntegerType));
        Alias count = named(
                AggregateExpression$.MODULE$.apply(
                        (org.apache.spark.sql.catalyst.expressions.aggregate.AggregateFunction) all,
                        Complete$.MODULE$, false, Option.empty(),
                        NamedExpression$.MODULE$.newExprId()),
                "rows");
        items.add(count);
        Literal one = new Literal(Integer.valueOf(1), DataTypes.IntegerType);
        LogicalPlan first = (LogicalPlan) (Object) Limit$.MODULE$.apply(one, expand.child());
        LogicalPlan total = LogicalPlans.aggregated(first, Seqs.of(items));
        Literal none = new Literal(Long.valueOf(0L), DataTypes.LongType);
        return new Project(Seqs.of(shown), new Filter(new EqualTo(count.toAttribute(), none), total));
    }

    private static Alias named(Expression value, String name) {
        ExprId id = NamedExpression$.MODULE$.newExprId();
        return new Alias(value, name, id, seq(new Object[0]), Option.empty(), seq(new Object[0]));
    }

    private static Seq seq(Object[] items) {
        return Seqs.of(java.util.Arrays.asList(items));
    }

}

/** What the columns that make the groups are in one of the sets. */
final class GroupKeys extends AbstractPartialFunction {
    private final Seq groups;
    private final Seq output;
    private final Seq projection;

    GroupKeys(Aggregate grouped, Expand expand, Seq projection) {
        this.groups = grouped.groupingExpressions();
        this.output = expand.output();
        this.projection = projection;
    }

    boolean areConstant() {
        for (int i = 0; i < groups.length(); i++) {
            if (!(value(groups.apply(i)) instanceof Literal)) return false;
        }
        return true;
    }

    private Object value(Object key) {
        if (!(key instanceof Attribute)) return null;
        for (int i = 0; i < output.length(); i++) {
            Attribute one = (Attribute) output.apply(i);
            if (one.exprId().equals(((Attribute) key).exprId())) return projection.apply(i);
        }
        return null;
    }

    public boolean isDefinedAt(Object node) {
        if (!(node instanceof Attribute)) return false;
        for (int i = 0; i < groups.length(); i++) {
            Object key = groups.apply(i);
            if (key instanceof Attribute
                    && ((Attribute) key).exprId().equals(((Attribute) node).exprId())) {
                return true;
            }
        }
        return false;
    }

    public Object applyOrElse(Object node, Function1 otherwise) {
        return isDefinedAt(node) ? value(node) : otherwise.apply(node);
    }
}
