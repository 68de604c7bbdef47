package hivesql;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SQLContext;
import org.apache.spark.sql.connector.catalog.MetadataColumn;
import org.apache.spark.sql.connector.catalog.SupportsDelete;
import org.apache.spark.sql.connector.catalog.SupportsMetadataColumns;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.SupportsRowLevelOperations;
import org.apache.spark.sql.connector.catalog.SupportsWrite;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.expressions.Expressions;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.read.Statistics;
import org.apache.spark.sql.connector.read.SupportsPushDownFilters;
import org.apache.spark.sql.connector.read.SupportsPushDownRequiredColumns;
import org.apache.spark.sql.connector.read.SupportsReportStatistics;
import org.apache.spark.sql.connector.read.V1Scan;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.RowLevelOperationBuilder;
import org.apache.spark.sql.connector.write.RowLevelOperationInfo;
import org.apache.spark.sql.connector.write.WriteBuilder;
import org.apache.spark.sql.sources.BaseRelation;
import org.apache.spark.sql.sources.Filter;
import org.apache.spark.sql.sources.TableScan;
import org.apache.spark.sql.types.MetadataBuilder;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * A table of a catalog as plain Spark has it.
 *
 * <p>What is known of it, as JSON: name, database, table, schema (of Spark's, as DDL), partitions (names of
 * columns), defaults (texts by column), rows (-1 where nobody knows), has row ids, properties, and version or time where an earlier
 * state is read.
 */
final class CatalogTable
        implements SupportsRead, SupportsWrite, SupportsDelete, SupportsRowLevelOperations,
        SupportsMetadataColumns {
    final CatalogSession session;
    final JsonNode known;
    private final String catalog;
    private final StructType schema;

    CatalogTable(CatalogSession session, String catalog, JsonNode known) {
        this.session = session;
        this.catalog = catalog;
        this.known = known;
        this.schema = withDefaults(
                StructType.fromDDL(known.get("schema").asText()), known.get("defaults"));
    }

    /** Spark finds a column's default in its metadata, and there also that of rows from before it. */
    private static StructType withDefaults(StructType columns, JsonNode defaults) {
        StructType all = new StructType();
        for (StructField column : columns.fields()) {
            JsonNode value = defaults.get(column.name());
            MetadataBuilder metadata = new MetadataBuilder().withMetadata(column.metadata());
            if (value != null) {
                metadata.putString("CURRENT_DEFAULT", value.asText()).putString("EXISTS_DEFAULT", "NULL");
            }
            all = all.add(column.name(), column.dataType(), true, metadata.build());
        }
        return all;
    }

    ObjectNode request(String what) {
        ObjectNode request = CatalogSession.request(what);
        for (String key : List.of("database", "table", "version", "time")) {
            request.set(key, known.get(key));
        }
        return request;
    }

    long rows() {
        return known.get("rows").asLong();
    }

    @Override
    public String name() {
        return catalog + "." + known.get("database").asText() + "." + known.get("table").asText();
    }

    @Override
    public StructType schema() {
        return schema;
    }

    @Override
    public Transform[] partitioning() {
        List<Transform> columns = new ArrayList<>();
        known.get("partitions").forEach(column -> columns.add(Expressions.identity(column.asText())));
        return columns.toArray(Transform[]::new);
    }

    @Override
    public Map<String, String> properties() {
        Map<String, String> found = new HashMap<>();
        known.get("properties").fields()
                .forEachRemaining(entry -> found.put(entry.getKey(), entry.getValue().asText()));
        return found;
    }

    @Override
    public Set<TableCapability> capabilities() {
        return EnumSet.of(
                TableCapability.BATCH_READ, TableCapability.BATCH_WRITE, TableCapability.V1_BATCH_WRITE,
                TableCapability.TRUNCATE, TableCapability.OVERWRITE_BY_FILTER,
                TableCapability.OVERWRITE_DYNAMIC);
    }

    @Override
    public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
        return new CatalogScanBuilder(this);
    }

    @Override
    public WriteBuilder newWriteBuilder(LogicalWriteInfo info) {
        return new CatalogWrite(this);
    }

    /** Refused here where rows have no ids: Spark would only tell that it does not know how. */
    @Override
    public RowLevelOperationBuilder newRowLevelOperationBuilder(RowLevelOperationInfo info) {
        session.ask(request("changeable").put("command", info.command().name()), null);
        return () -> new CatalogChange(this, info.command());
    }

    @Override
    public MetadataColumn[] metadataColumns() {
        return known.get("has row ids").asBoolean() ? CatalogChange.PLACES : new MetadataColumn[0];
    }

    /** Whether the session's own DELETE finds the same rows; else Spark finds them. */
    @Override
    public boolean canDeleteWhere(Filter[] filters) {
        if (!CatalogFilters.isWhole(filters)) return false;
        ObjectNode request = request("can delete");
        request.set("where", CatalogFilters.written(filters));
        return session.ask(request, null).asBoolean();
    }

    @Override
    public void deleteWhere(Filter[] filters) {
        ObjectNode request = request("delete");
        request.set("where", CatalogFilters.written(filters));
        session.ask(request, null);
    }

    @Override
    public boolean truncateTable() {
        session.ask(request("truncate"), null);
        return true;
    }

    @Override
    public String toString() {
        return name();
    }

    /** The same state of the same table, so that Spark finds what it has cached of it. */
    @Override
    public boolean equals(Object other) {
        return other instanceof CatalogTable table && table.session == session
                && table.name().equals(name()) && table.schema.equals(schema)
                && table.known.get("version").equals(known.get("version"))
                && table.known.get("time").equals(known.get("time"));
    }

    @Override
    public int hashCode() {
        return name().hashCode();
    }
}

/** What a query wants of the table: columns, and which rows it can do without. */
final class CatalogScanBuilder implements SupportsPushDownRequiredColumns, SupportsPushDownFilters {
    private final CatalogTable table;
    private StructType wanted;
    private Filter[] filters = new Filter[0];

    CatalogScanBuilder(CatalogTable table) {
        this.table = table;
        this.wanted = table.schema();
    }

    @Override
    public void pruneColumns(StructType required) {
        StructType whole = new StructType();
        for (String name : required.fieldNames()) {
            if (CatalogChange.isPlace(name) && !table.schema().getFieldIndex(name).isDefined()) {
                whole = whole.add(name, CatalogChange.typeOf(name), false);
                continue;
            }
            // Spark would also leave out parts of structs.
            whole = whole.add(table.schema().apply(table.schema().fieldIndex(name)));
        }
        wanted = whole;
    }

    /** Filters only help to read less: Spark applies all of them again. */
    @Override
    public Filter[] pushFilters(Filter[] found) {
        filters = found;
        return found;
    }

    @Override
    public Filter[] pushedFilters() {
        return new Filter[0];
    }

    @Override
    public Scan build() {
        return new CatalogScan(table, wanted, filters);
    }
}

/** One scan; which files it reads is asked for when a query runs. */
final class CatalogScan implements V1Scan, SupportsReportStatistics, Statistics {
    /** Bytes that Spark's own estimates add to a row's columns. */
    private static final long ROW_HEADER = 8L;

    private final CatalogTable table;
    private final StructType wanted;
    private final Filter[] filters;

    CatalogScan(CatalogTable table, StructType wanted, Filter[] filters) {
        this.table = table;
        this.wanted = wanted;
        this.filters = filters;
    }

    @Override
    public StructType readSchema() {
        return wanted;
    }

    @Override
    public String description() {
        return table.name() + " " + wanted.simpleString();
    }

    @Override
    public Statistics estimateStatistics() {
        return this;
    }

    @Override
    public OptionalLong numRows() {
        return table.rows() < 0L ? OptionalLong.empty() : OptionalLong.of(table.rows());
    }

    @Override
    public OptionalLong sizeInBytes() {
        if (table.rows() < 0L) return OptionalLong.empty();
        return OptionalLong.of(Math.max(1L, table.rows() * (ROW_HEADER + wanted.defaultSize())));
    }

    @Override
    @SuppressWarnings("unchecked")
    public <T extends BaseRelation & TableScan> T toV1TableScan(SQLContext context) {
        ObjectNode request = table.request("scan");
        ArrayNode columns = request.putArray("columns");
        for (String name : wanted.fieldNames()) {
            columns.add(name);
        }
        request.set("where", CatalogFilters.written(filters));
        return (T) new CatalogRelation(context, wanted, new CatalogRows(table.session, request));
    }
}

/** The scan's rows, as Spark asks for those that are none of its own. */
final class CatalogRelation extends BaseRelation implements TableScan {
    private final SQLContext context;
    private final StructType schema;
    private final CatalogRows rows;

    CatalogRelation(SQLContext context, StructType schema, CatalogRows rows) {
        this.context = context;
        this.schema = schema;
        this.rows = rows;
    }

    @Override
    public SQLContext sqlContext() {
        return context;
    }

    @Override
    public StructType schema() {
        return schema;
    }

    @Override
    public boolean needConversion() {
        return false;
    }

    /** Rows of Spark's own kind, as it expects where nothing needs conversion. */
    @Override
    @SuppressWarnings({"unchecked", "rawtypes"})
    public RDD<Row> buildScan() {
        return (RDD) rows;
    }
}
