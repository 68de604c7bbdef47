package hivesql;

import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.Generate;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation;
import org.apache.spark.sql.internal.SQLConf;
import scala.Function1;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractPartialFunction;

/**
 * Lets statements about our scans that differ in numbers alone share their code: see ExpressionParameterizer.
 *
 * <p>Done at the end of the optimizer, when filters have been pushed down.
 */
public final class LiteralParameterizer extends Rule {
    /** The new values of rows that change; no column of a user has a colon in its name. */
    static final String ROW = "row:";

    public TreeNode apply(TreeNode plan) {
        // The cost-based optimizer estimates by literals.
        if (SQLConf.get().cboEnabled()) return plan;
        return ((LogicalPlan) plan).transformDown(new ScanParameterizer());
    }
}

/** Filters of our scans, and what becomes of a changed row. */
final class ScanParameterizer extends AbstractPartialFunction {
    public boolean isDefinedAt(Object node) {
        if (node instanceof Filter) {
            LogicalPlan child = ((Filter) node).child();
            return child instanceof DataSourceV2ScanRelation
                    && ((DataSourceV2ScanRelation) child).scan() instanceof AcidScan;
        }
        return node instanceof Generate
                || node instanceof Project && rowOf((Project) node) >= 0;
    }

    /** The place of a changed row's new values; -1 where there are none. */
    private static int rowOf(Project made) {
        Seq list = made.projectList();
        for (int i = 0; i < list.size(); i++) {
            if (((NamedExpression) list.apply(i)).name().equals(LiteralParameterizer.ROW)) return i;
        }
        return -1;
    }

    public Object applyOrElse(Object node, Function1 otherwise) {
        if (!isDefinedAt(node)) return otherwise.apply(node);
        if (!(node instanceof Project)) {
            return ((LogicalPlan) node).transformExpressionsDown(new ExpressionParameterizer());
        }
        Project made = (Project) node;
        int row = rowOf(made);
        Expression loose = ExpressionParameterizer.in((Expression) made.projectList().apply(row));
        return new Project(Seqs.updated(made.projectList(), row, (NamedExpression) loose), made.child());
    }
}
