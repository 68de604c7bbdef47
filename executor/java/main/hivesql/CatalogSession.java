package hivesql;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.BiFunction;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.SQLExecution;
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd;

/**
 * The session in Python behind a catalog, and the ends of Spark's queries, which it waits for.
 *
 * <p>A query's reads share a transaction: it is opened by the first of them and ended when Spark says
 * that the query has ended.
 */
final class CatalogSession extends SparkListener {
    private static final ObjectMapper JSON = new ObjectMapper();

    final SparkSession spark;
    private final BiFunction<String, Object, Object> answers;
    private final Set<Long> open = ConcurrentHashMap.newKeySet();
    private final ExecutorService ending = Executors.newSingleThreadExecutor(work -> {
        Thread thread = new Thread(work, "hivesql-catalog");
        thread.setDaemon(true);
        return thread;
    });

    CatalogSession(SparkSession spark, BiFunction<String, Object, Object> answers) {
        this.spark = spark;
        this.answers = answers;
        spark.sparkContext().addSparkListener(this);
    }

    /** No longer wait for the ends of queries. */
    void close() {
        spark.sparkContext().removeSparkListener(this);
        ending.shutdown();
    }

    static ObjectNode request(String what) {
        return JSON.createObjectNode().put("what", what);
    }

    JsonNode ask(String what, String database, String table) {
        return ask(request(what).put("database", database).put("table", table), null);
    }

    /** Ask for what comes as JSON; a frame may go along. */
    JsonNode ask(ObjectNode request, Object frame) {
        try {
            return JSON.readTree((String) call(request, frame));
        } catch (JsonProcessingException wrong) {
            throw new IllegalStateException(wrong);
        }
    }

    /** Ask, for the query that this thread works for, and raise what went wrong. */
    Object call(ObjectNode request, Object frame) {
        Long query = query();
        request.put("query", query);
        if (query != null) open.add(query);
        Object answer = answers.apply(request.toString(), frame);
        if (answer instanceof String text && text.startsWith("{\"refused\"")) {
            throw error(text);
        }
        return answer;
    }

    private static RuntimeException error(String text) {
        try {
            JsonNode refused = JSON.readTree(text).get("refused");
            String message = "HiveSQL: " + refused.get("message").asText();
            if (refused.get("kind").asText().equals("NotSupported")) {
                return new UnsupportedOperationException(message);
            }
            return new IllegalArgumentException(message);
        } catch (JsonProcessingException wrong) {
            return new IllegalStateException(text, wrong);
        }
    }

    /** The query of Spark that this thread works for; null for none, or for one that has ended. */
    private Long query() {
        String text = spark.sparkContext().getLocalProperty(SQLExecution.EXECUTION_ROOT_ID_KEY());
        if (text == null) text = spark.sparkContext().getLocalProperty(SQLExecution.EXECUTION_ID_KEY());
        if (text == null) return null;
        Long query = Long.valueOf(text);
        return SQLExecution.getQueryExecution(query) == null ? null : query;
    }

    @Override
    public void onOtherEvent(SparkListenerEvent event) {
        if (event instanceof SparkListenerSQLExecutionEnd end && open.remove(end.executionId())
                && !ending.isShutdown()) {
            // Nobody else's events shall wait for a metastore.
            ending.submit(() -> answers.apply(
                    request("end").put("query", end.executionId()).toString(), null));
        }
    }
}
