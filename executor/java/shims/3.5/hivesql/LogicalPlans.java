package hivesql;

import java.util.ArrayList;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.SortOrder;
import org.apache.spark.sql.catalyst.expressions.WindowSpecDefinition;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Sort;
import org.apache.spark.sql.catalyst.plans.logical.WithWindowDefinition;
import org.apache.spark.sql.classic.Dataset;
import scala.collection.immutable.Map;
import scala.collection.immutable.Seq;

/** Plans and frames whose constructors differ between lines of Spark: here 3.5. */
final class LogicalPlans {
    private LogicalPlans() {}

    /** Let rows be kept, in memory and on disk, when they are first computed. */
    static <T> Dataset<T> checkpointed(Dataset<T> rows) {
        return rows.localCheckpoint(false);
    }

    /** Sort rows within each of their partitions. */
    static LogicalPlan sorted(LogicalPlan plan, Seq<SortOrder> order) {
        return new Sort(order, false, plan);
    }

    /** Aggregate all rows to one. */
    static LogicalPlan aggregated(LogicalPlan plan, Seq<NamedExpression> shown) {
        return new Aggregate(Seqs.of(new ArrayList()), shown, plan);
    }

    /** Exchange the windows of a WINDOW. */
    static LogicalPlan withWindows(
            WithWindowDefinition with, Map<String, WindowSpecDefinition> windows) {
        return with.copy(windows, with.child());
    }
}
