package hivesql;

import org.apache.hadoop.hive.ql.io.sarg.SearchArgument;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.optimizer.InlineCTE;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Statistics;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.LogicalRDD;
import org.apache.spark.sql.execution.datasources.orc.OrcFilters$;
import org.apache.spark.sql.sources.Filter;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.collection.immutable.Seq;

/** What scans are made of, whose methods differ between lines of Spark: here 3.5. */
final class ScanPlans {
    private ScanPlans() {}

    /** Make filters an ORC search argument; none where no stripe can be skipped by them. */
    static Option<SearchArgument> searchArgument(StructType columns, Seq<Filter> filters) {
        return OrcFilters$.MODULE$.createFilter(columns, filters);
    }

    /** Put the common table expressions of an analysed plan in their places. */
    static LogicalPlan inlineCommonTables(LogicalPlan plan) {
        return new InlineCTE(false).apply(plan);
    }

    /** Return the rows of a checkpoint, of which more is known now. */
    static LogicalRDD withStatistics(
            LogicalRDD made, RDD<InternalRow> rows, SparkSession session, Statistics statistics) {
        return new LogicalRDD(
                made.output(), rows, made.outputPartitioning(), made.outputOrdering(),
                made.isStreaming(), session, Option.apply(statistics),
                Option.empty());
    }
}
