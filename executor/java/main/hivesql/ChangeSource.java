package hivesql;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.connector.read.streaming.SupportsTriggerAvailableNow;
import org.apache.spark.sql.execution.streaming.Offset;
import org.apache.spark.sql.execution.streaming.Source;
import org.apache.spark.sql.types.StructType;
import scala.Option;

/**
 * The changes of a table as a stream: batches of whole versions, which the session in Python chooses.
 *
 * <p>An offset says up to which version changes were given, of which table, and after which version the
 * stream began: the first batch has no offset before it, and must be the same when it is read again.
 */
final class ChangeSource implements Source, SupportsTriggerAvailableNow {
    private final SparkSession spark;
    private final CatalogSession session;
    private final StructType schema;
    private Long last;

    ChangeSource(SparkSession spark, CatalogSession session, StructType schema) {
        this.spark = spark;
        this.session = session;
        this.schema = schema;
    }

    @Override
    public StructType schema() {
        return schema;
    }

    /** Any but that of all that is there, which a trigger of Spark's asks for by itself. */
    @Override
    public ReadLimit getDefaultReadLimit() {
        return new ReadLimit() {
            @Override
            public String toString() {
                return "whole versions";
            }
        };
    }

    @Override
    public void prepareForTriggerAvailableNow() {
        last = session.ask(CatalogSession.request("last"), null).asLong();
    }

    @Override
    public org.apache.spark.sql.connector.read.streaming.Offset latestOffset(
            org.apache.spark.sql.connector.read.streaming.Offset start, ReadLimit limit) {
        ObjectNode request = CatalogSession.request("offset");
        request.set("start", start == null ? null : ChangeOffset.parse(start.json()));
        request.put("is limited", !limit.equals(ReadLimit.allAvailable())).put("last", last);
        return new ChangeOffset(session.ask(request, null).toString());
    }

    @Override
    public Option<Offset> getOffset() {
        return Option.apply((Offset) latestOffset(null, ReadLimit.allAvailable()));
    }

    @Override
    public Dataset<Row> getBatch(Option<Offset> start, Offset end) {
        JsonNode to = ChangeOffset.parse(end.json());
        JsonNode from = start.isDefined() ? ChangeOffset.parse(start.get().json()) : null;
        long after = from == null ? to.get("begin").asLong() : from.get("version").asLong();
        ObjectNode request = CatalogSession.request("changes").put("after", after);
        request.put("last", to.get("version").asLong()).put("table id", to.get("table").asLong());
        RDD<InternalRow> rows = new CatalogRows(session, request);
        return spark.internalCreateDataFrame(rows, schema, true);
    }

    @Override
    public void stop() {}

    @Override
    public String toString() {
        return "hivesql changes";
    }
}

/** An offset as the session in Python has written it. */
final class ChangeOffset extends Offset {
    private static final ObjectMapper JSON = new ObjectMapper();
    private final String json;

    ChangeOffset(String json) {
        this.json = json;
    }

    static JsonNode parse(String json) {
        try {
            return JSON.readTree(json);
        } catch (JsonProcessingException wrong) {
            throw new IllegalStateException("HiveSQL: the checkpoint has no offset of ours: " + json, wrong);
        }
    }

    @Override
    public String json() {
        return json;
    }
}
