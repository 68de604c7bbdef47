package hivesql;

import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.function.Function2;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.SQLExecution;
import scala.Option;
import scala.runtime.AbstractFunction0;

/** Runs a query for its writer, as a query that Spark's listeners and its web page know. */
public final class EventJob extends AbstractFunction0 {
    private final QueryExecution query;
    private final Function2 writer;

    public EventJob(QueryExecution query, Function2 writer) {
        this.query = query;
        this.writer = writer;
    }

    /** The writer's answers. */
    public Object run() {
        return SQLExecution.withNewExecutionId(query, Option.apply("write events"), this);
    }

    public Object apply() {
        JavaRDD rows = query.toRdd().toJavaRDD();
        return rows.mapPartitionsWithIndex(writer, true).collect();
    }
}
