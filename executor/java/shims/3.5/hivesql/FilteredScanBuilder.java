package hivesql;

import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.execution.datasources.InMemoryFileIndex;
import org.apache.spark.sql.execution.datasources.NoopCache$;
import org.apache.spark.sql.execution.datasources.PartitionSpec$;
import org.apache.spark.sql.execution.datasources.v2.FileScanBuilder;
import org.apache.spark.sql.types.StructType;
import scala.Option;

/**
 * A builder of scans that is told of filters as expressions: here by Spark 3.5 and 4.0.
 *
 * <p>They tell filters so to scans of files alone, whatever else SupportsPushDownCatalystFilters is
 * written on. The files are none: ours are in the table's plan.
 */
abstract class FilteredScanBuilder extends FileScanBuilder {
    FilteredScanBuilder(StructType columns) {
        super(SparkSession.active(), noFiles(SparkSession.active()), columns);
    }

    private static InMemoryFileIndex noFiles(SparkSession session) {
        return new InMemoryFileIndex(
                session, Seqs.<Path>of(java.util.List.of()), scala.collection.immutable.Map$.MODULE$.empty(),
                Option.empty(), NoopCache$.MODULE$, Option.apply(PartitionSpec$.MODULE$.emptySpec()),
                Option.empty());
    }
}
