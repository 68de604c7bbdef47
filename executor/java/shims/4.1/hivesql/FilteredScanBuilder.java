package hivesql;

import org.apache.spark.sql.connector.read.SupportsPushDownRequiredColumns;
import org.apache.spark.sql.internal.connector.SupportsPushDownCatalystFilters;
import org.apache.spark.sql.types.StructType;

/** A builder of scans that is told of filters as expressions: here by Spark 4.1 on. */
abstract class FilteredScanBuilder
        implements SupportsPushDownRequiredColumns, SupportsPushDownCatalystFilters {
    FilteredScanBuilder(StructType columns) {}
}
