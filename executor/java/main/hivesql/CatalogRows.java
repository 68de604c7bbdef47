package hivesql;

import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.classic.Dataset;

/** The rows of a table of a catalog, whose files are chosen when a job first asks for them. */
final class CatalogRows extends LazyRows {
    private final transient CatalogSession session;
    private final transient ObjectNode request;

    CatalogRows(CatalogSession session, ObjectNode request) {
        super(session.spark);
        this.session = session;
        this.request = request;
    }

    @Override
    protected RDD<InternalRow> planned() {
        Dataset<?> frame = (Dataset<?>) session.call(request, null);
        return within(frame.sparkSession(), () -> frame.queryExecution().toRdd());
    }
}
