package hivesql;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.util.QueryExecutionListener;
import scala.Tuple2;
import scala.collection.Iterator;

/**
 * What jobs have measured of rows that were observed under a name of ours, until it is asked for.
 *
 * <p>Spark's own observations wait without end for a job that does not tell.
 */
final class ObservedRows implements QueryExecutionListener {
    private static final String OURS = "hivesql ";
    private static final long MOST_MILLIS = 10_000;
    private final Map<String, String> measured = new ConcurrentHashMap<>();

    static ObservedRows of(SparkSession session) {
        ObservedRows rows = new ObservedRows();
        session.listenerManager().register(rows);
        return rows;
    }

    public void onSuccess(String function, QueryExecution query, long nanoseconds) {
        for (Iterator pairs = query.observedMetrics().iterator(); pairs.hasNext();) {
            Tuple2 pair = (Tuple2) pairs.next();
            String name = (String) pair._1();
            if (name.startsWith(OURS)) measured.put(name, ((Row) pair._2()).json());
        }
    }

    public void onFailure(String function, QueryExecution query, Exception failure) {}

    /** The cells of a finished job as an object of JSON; null where it has told none. */
    String take(SparkSession session, String name) {
        if (!measured.containsKey(name)) {
            try {
                session.sparkContext().listenerBus().waitUntilEmpty(MOST_MILLIS);
            } catch (Exception late) {
                // Statistics are not worth a statement.
            }
        }
        return measured.remove(name);
    }
}
