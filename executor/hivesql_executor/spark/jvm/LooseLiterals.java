package hivesql;

import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.Generate;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation;
import org.apache.spark.sql.internal.SQLConf;
import scala.Function1;
import scala.runtime.AbstractPartialFunction;

/**
 * Lets statements about our scans that differ in numbers alone share their code: see LooseValues.
 *
 * <p>Done at the end of the optimizer, when filters have been pushed down.
 */
public final class LooseLiterals extends Rule {
    public TreeNode apply(TreeNode plan) {
        // The cost-based optimizer estimates by literals.
        if (SQLConf.get().cboEnabled()) return plan;
        return ((LogicalPlan) plan).transformDown(new LiteralsOf());
    }
}

/** Filters of our scans, and what becomes of a changed row. */
final class LiteralsOf extends AbstractPartialFunction {
    public boolean isDefinedAt(Object node) {
        if (node instanceof Filter) {
            LogicalPlan child = ((Filter) node).child();
            return child instanceof DataSourceV2ScanRelation
                    && ((DataSourceV2ScanRelation) child).scan() instanceof AcidScan;
        }
        return node instanceof Generate;
    }

    public Object applyOrElse(Object node, Function1 otherwise) {
        if (!isDefinedAt(node)) return otherwise.apply(node);
        return ((LogicalPlan) node).transformExpressionsDown(new LooseValues());
    }
}
