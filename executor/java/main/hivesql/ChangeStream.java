package hivesql;

import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.classic.SparkSession;

/**
 * A stream of a table's changes, from its load to its close.
 *
 * <p>What Spark tells a source are options, which are texts: so who answers is looked up here.
 */
public final class ChangeStream {
    static final String ID = "id";
    static final String COLUMNS = "columns";
    private static final Map<String, CatalogSession> OPEN = new ConcurrentHashMap<>();

    private final SparkSession spark;
    private final String columns;
    private final String id = UUID.randomUUID().toString();

    /** A stream of such columns, in Spark's DDL. */
    public ChangeStream(SparkSession spark, String columns) {
        this.spark = spark;
        this.columns = columns;
    }

    /** Return it; a session answers: a function of a request, in JSON, and null. */
    public Dataset<Row> load(BiFunction<String, Object, Object> answers) {
        OPEN.put(id, new CatalogSession(spark, answers));
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        // No jar of Spark's own has our classes.
        thread.setContextClassLoader(ChangeStream.class.getClassLoader());
        try {
            return (Dataset<Row>) (Object) spark.readStream()
                    .format(ChangeSourceProvider.class.getName())
                    .option(ID, id).option(COLUMNS, columns).load();
        } catch (RuntimeException | Error wrong) {
            close();
            throw wrong;
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    /** Let no query of it start again. */
    public void close() {
        CatalogSession session = OPEN.remove(id);
        if (session != null) session.close();
    }

    static CatalogSession sessionOf(String id) {
        CatalogSession session = OPEN.get(id);
        if (session == null) {
            throw new IllegalStateException(
                    "HiveSQL: the source of this stream was closed: make it again by "
                            + "hivesql.streaming_source(…).load(spark)");
        }
        return session;
    }
}
