package hivesql;

import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.connector.write.SupportsDynamicOverwrite;
import org.apache.spark.sql.connector.write.SupportsOverwrite;
import org.apache.spark.sql.connector.write.V1Write;
import org.apache.spark.sql.connector.write.WriteBuilder;
import org.apache.spark.sql.sources.AlwaysTrue;
import org.apache.spark.sql.sources.Filter;
import org.apache.spark.sql.sources.InsertableRelation;

/**
 * Rows that plain Spark writes: the session in Python inserts them, by a statement of its own.
 *
 * <p>Spark's session computes them, by its own settings, while that statement runs: so they are read
 * under its transaction.
 */
final class CatalogWrite implements SupportsOverwrite, SupportsDynamicOverwrite, V1Write {
    final CatalogTable table;
    private String mode = "append";
    private Filter[] replaced = new Filter[0];

    CatalogWrite(CatalogTable table) {
        this.table = table;
    }

    @Override
    public V1Write build() {
        return this;
    }

    @Override
    public WriteBuilder overwriteDynamicPartitions() {
        mode = "overwrite partitions";
        return this;
    }

    @Override
    public WriteBuilder truncate() {
        return overwrite(new Filter[] {new AlwaysTrue()});
    }

    @Override
    public WriteBuilder overwrite(Filter[] filters) {
        mode = "overwrite";
        replaced = filters;
        return this;
    }

    @Override
    public String description() {
        return mode + " " + table.name();
    }

    @Override
    public String toString() {
        return description();
    }

    @Override
    public InsertableRelation toInsertableRelation() {
        ObjectNode request = table.request("write").put("mode", mode);
        request.set("where", CatalogFilters.written(replaced));
        request.put("whole", CatalogFilters.isWhole(replaced));
        return (rows, overwrite) -> table.session.ask(request, lazily((Dataset<Row>) (Object) rows));
    }

    private static Dataset<Row> lazily(Dataset<Row> rows) {
        return rows.sparkSession().internalCreateDataFrame(new FrameRows(rows), rows.schema(), false);
    }
}

/** The rows of a user's frame, computed by his session's settings. */
final class FrameRows extends LazyRows {
    private final transient Dataset<Row> frame;

    FrameRows(Dataset<Row> frame) {
        super(frame.sparkSession());
        this.frame = frame;
    }

    @Override
    protected RDD<InternalRow> planned() {
        return within(frame.sparkSession(), () -> frame.queryExecution().toRdd());
    }
}
