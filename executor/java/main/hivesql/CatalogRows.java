package hivesql;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import org.apache.spark.Dependency;
import org.apache.spark.OneToOneDependency;
import org.apache.spark.Partition;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.classic.Dataset;
import scala.collection.Iterator;
import scala.collection.immutable.Seq;
import scala.reflect.ClassTag$;
import scala.runtime.AbstractFunction0;

/**
 * The rows of a table of a catalog, whose files are chosen when a job first asks for them.
 *
 * <p>Only then is it known which query reads them, whose snapshot and locks they are read under: Spark
 * plans queries that never run, too.
 */
final class CatalogRows extends RDD<InternalRow> {
    private final transient CatalogSession session;
    private final transient ObjectNode request;
    private RDD<InternalRow> rows;

    CatalogRows(CatalogSession session, ObjectNode request) {
        super(session.spark.sparkContext(), Seqs.of(List.of()), ClassTag$.MODULE$.apply(InternalRow.class));
        this.session = session;
        this.request = request;
    }

    private synchronized RDD<InternalRow> rows() {
        if (rows == null) {
            Dataset<?> frame = (Dataset<?>) session.call(request, null);
            rows = (RDD<InternalRow>) frame.sparkSession().withActive(new AbstractFunction0<Object>() {
                @Override
                public Object apply() {
                    return frame.queryExecution().toRdd();
                }
            });
        }
        return rows;
    }

    @Override
    public Partition[] getPartitions() {
        return rows().partitions();
    }

    @Override
    public Seq<Dependency<?>> getDependencies() {
        return Seqs.of(List.of(new OneToOneDependency<>(rows())));
    }

    @Override
    public Seq<String> getPreferredLocations(Partition partition) {
        return rows().preferredLocations(partition);
    }

    @Override
    public Iterator<InternalRow> compute(Partition partition, TaskContext task) {
        return rows.iterator(partition, task);
    }
}
