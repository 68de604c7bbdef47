package hivesql;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.apache.hadoop.hive.ql.io.sarg.SearchArgument;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.SortOrder;
import org.apache.spark.sql.catalyst.expressions.WindowSpecDefinition;
import org.apache.spark.sql.catalyst.optimizer.InlineCTE;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Sort;
import org.apache.spark.sql.catalyst.plans.logical.Statistics;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
import org.apache.spark.sql.catalyst.plans.logical.UnresolvedWith;
import org.apache.spark.sql.catalyst.plans.logical.WithWindowDefinition;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.LogicalRDD;
import org.apache.spark.sql.execution.datasources.orc.OrcFilters$;
import org.apache.spark.sql.sources.Filter;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.storage.StorageLevel;
import scala.Option;
import scala.Tuple3;
import scala.collection.immutable.Map;
import scala.collection.immutable.Seq;

/** What differs between lines of Spark: here 4.3. */
final class SparkLine {
    private SparkLine() {}

    /** Make filters an ORC search argument; none where no stripe can be skipped by them. */
    static Option<SearchArgument> searchArgument(StructType columns, Seq<Filter> filters) {
        return OrcFilters$.MODULE$.createFilter(columns, filters, Option.empty());
    }

    /** Put the common table expressions of an analysed plan in their places. */
    static LogicalPlan inlineCommonTables(LogicalPlan plan) {
        return new InlineCTE(false, false, false).apply(plan);
    }

    /** Return the rows of a checkpoint, of which more is known now. */
    static LogicalRDD withStatistics(
            LogicalRDD made, RDD<InternalRow> rows, SparkSession session, Statistics statistics) {
        return new LogicalRDD(
                made.output(), rows, made.outputPartitioning(), made.outputOrdering(),
                made.isStreaming(), made.stream(), session, Option.apply(statistics),
                Option.empty(), made.isCheckpointedInput());
    }

    /** Let rows be kept, in memory and on disk, when they are first computed. */
    static <T> Dataset<T> checkpointed(Dataset<T> rows) {
        return rows.localCheckpoint(false, StorageLevel.MEMORY_AND_DISK());
    }

    /** Sort rows within each of their partitions. */
    static LogicalPlan sorted(LogicalPlan plan, Seq<SortOrder> order) {
        return new Sort(order, false, plan, Option.empty());
    }

    /** Aggregate all rows to one. */
    static LogicalPlan aggregated(LogicalPlan plan, Seq<NamedExpression> shown) {
        return new Aggregate(Seqs.of(new ArrayList()), shown, plan, Option.empty());
    }

    /** Change the queries of a WITH. */
    static LogicalPlan withCommonTables(
            UnresolvedWith with, Function<LogicalPlan, SubqueryAlias> change) {
        List<Object> changed = new ArrayList<>();
        for (int i = 0; i < with.cteRelations().size(); i++) {
            Tuple3<String, SubqueryAlias, Option<Object>> one = with.cteRelations().apply(i);
            changed.add(new Tuple3<>(one._1(), change.apply(one._2()), one._3()));
        }
        return with.copy(with.child(), Seqs.of(changed), with.allowRecursion());
    }

    /** Exchange the windows of a WINDOW. */
    static LogicalPlan withWindows(
            WithWindowDefinition with, Map<String, WindowSpecDefinition> windows) {
        return with.copy(windows, with.child(), with.forPipeSQL());
    }
}
