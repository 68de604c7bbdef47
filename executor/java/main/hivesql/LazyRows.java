package hivesql;

import java.util.List;
import java.util.function.Supplier;
import org.apache.spark.Dependency;
import org.apache.spark.OneToOneDependency;
import org.apache.spark.Partition;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.classic.SparkSession;
import scala.collection.Iterator;
import scala.collection.immutable.Seq;
import scala.reflect.ClassTag$;
import scala.runtime.AbstractFunction0;

/**
 * Rows that are planned when a job first asks for them.
 *
 * <p>Only then is it known which query reads them, whose snapshot and locks they are read under: Spark
 * plans queries that never run, too.
 */
abstract class LazyRows extends RDD<InternalRow> {
    private RDD<InternalRow> rows;

    LazyRows(SparkSession spark) {
        super(spark.sparkContext(), Seqs.of(List.of()), ClassTag$.MODULE$.apply(InternalRow.class));
    }

    /** The rows; asked once, in the driver. */
    protected abstract RDD<InternalRow> planned();

    static RDD<InternalRow> within(SparkSession spark, Supplier<RDD<InternalRow>> plan) {
        return (RDD<InternalRow>) spark.withActive(new AbstractFunction0<Object>() {
            @Override
            public Object apply() {
                return plan.get();
            }
        });
    }

    private synchronized RDD<InternalRow> rows() {
        if (rows == null) rows = planned();
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
