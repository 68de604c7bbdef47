package hivesql;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import org.apache.spark.sql.catalyst.analysis.NoSuchNamespaceException;
import org.apache.spark.sql.catalyst.analysis.NoSuchTableException;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.NamespaceChange;
import org.apache.spark.sql.connector.catalog.SupportsNamespaces;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import org.apache.spark.sql.connector.catalog.TableChange;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import scala.runtime.AbstractFunction0;

/**
 * The tables of a warehouse for plain Spark: read, written and changed under our transactions.
 *
 * <p>What it knows it asks of the session in Python that <code>connect</code> gives it. Definitions are
 * refused: they are statements of that session.
 */
public final class AcidCatalog implements TableCatalog, SupportsNamespaces {
    private String name;
    private CatalogSession session;

    @Override
    public void initialize(String name, CaseInsensitiveStringMap options) {
        this.name = name;
    }

    /**
     * Let a session of Spark have such a catalog, which its settings name.
     *
     * <p>No jar of Spark's own has this class: so it is made now, in the sight of the class's loader.
     */
    public static AcidCatalog add(SparkSession spark, String name) {
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        thread.setContextClassLoader(AcidCatalog.class.getClassLoader());
        try {
            return (AcidCatalog) spark.withActive(new AbstractFunction0<Object>() {
                @Override
                public Object apply() {
                    return spark.sessionState().catalogManager().catalog(name);
                }
            });
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    /** Take the session's answers: a function of a request, in JSON, and a frame or null. */
    public void connect(SparkSession spark, BiFunction<String, Object, Object> answers) {
        session = new CatalogSession(spark, answers);
        CatalogStrategy.addTo(spark);
    }

    private CatalogSession session() {
        if (session == null) {
            throw new IllegalStateException(
                    "HiveSQL: the catalog " + name + " has no warehouse in this session of Spark: call "
                            + "hivesql.register_catalog(spark, '" + name + "', metastore=…, warehouse=…)");
        }
        return session;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String[] defaultNamespace() {
        return new String[] {"default"};
    }

    @Override
    public String[][] listNamespaces() {
        List<String[]> names = new ArrayList<>();
        for (JsonNode database : session().ask("databases", null, null)) {
            names.add(new String[] {database.asText()});
        }
        return names.toArray(String[][]::new);
    }

    @Override
    public String[][] listNamespaces(String[] within) throws NoSuchNamespaceException {
        if (within.length == 0) return listNamespaces();
        loadNamespaceMetadata(within);
        return new String[0][];
    }

    @Override
    public Map<String, String> loadNamespaceMetadata(String[] namespace) throws NoSuchNamespaceException {
        ObjectNode request = CatalogSession.request("database");
        request.put("database", String.join(".", namespace));
        JsonNode found = namespace.length == 1 ? session().ask(request, null) : null;
        if (found == null || found.isNull()) throw new NoSuchNamespaceException(namespace);
        Map<String, String> known = new HashMap<>();
        found.fields().forEachRemaining(entry -> known.put(entry.getKey(), entry.getValue().asText()));
        return known;
    }

    @Override
    public Identifier[] listTables(String[] namespace) throws NoSuchNamespaceException {
        loadNamespaceMetadata(namespace);
        List<Identifier> names = new ArrayList<>();
        for (JsonNode table : session().ask("tables", namespace[0], null)) {
            names.add(Identifier.of(namespace, table.asText()));
        }
        return names.toArray(Identifier[]::new);
    }

    @Override
    public Table loadTable(Identifier table) throws NoSuchTableException {
        return loaded(table, CatalogSession.request("table"));
    }

    @Override
    public Table loadTable(Identifier table, String version) throws NoSuchTableException {
        return loaded(table, CatalogSession.request("table").put("version", version));
    }

    /** The time in microseconds since 1970. */
    @Override
    public Table loadTable(Identifier table, long time) throws NoSuchTableException {
        return loaded(table, CatalogSession.request("table").put("time", time));
    }

    private Table loaded(Identifier table, ObjectNode request) throws NoSuchTableException {
        if (table.namespace().length != 1) throw new NoSuchTableException(table);
        request.put("database", table.namespace()[0]).put("table", table.name());
        JsonNode found = session().ask(request, null);
        if (found.isNull()) throw new NoSuchTableException(table);
        return new CatalogTable(session(), name, found);
    }

    @Override
    public Table createTable(
            Identifier table, StructType schema, Transform[] partitions, Map<String, String> properties) {
        throw refused("CREATE TABLE");
    }

    @Override
    public Table createTable(
            Identifier table, org.apache.spark.sql.connector.catalog.Column[] columns,
            Transform[] partitions, Map<String, String> properties) {
        throw refused("CREATE TABLE");
    }

    @Override
    public Table alterTable(Identifier table, TableChange... changes) {
        throw refused("ALTER TABLE");
    }

    @Override
    public boolean dropTable(Identifier table) {
        throw refused("DROP TABLE");
    }

    @Override
    public boolean purgeTable(Identifier table) {
        throw refused("DROP TABLE");
    }

    @Override
    public void renameTable(Identifier before, Identifier after) {
        throw refused("ALTER TABLE … RENAME");
    }

    @Override
    public void createNamespace(String[] namespace, Map<String, String> properties) {
        throw refused("CREATE DATABASE");
    }

    @Override
    public void alterNamespace(String[] namespace, NamespaceChange... changes) {
        throw refused("ALTER DATABASE");
    }

    @Override
    public boolean dropNamespace(String[] namespace, boolean cascade) {
        throw refused("DROP DATABASE");
    }

    private UnsupportedOperationException refused(String statement) {
        return new UnsupportedOperationException(
                "HiveSQL: not supported: " + statement + " in the catalog " + name
                        + " of Spark: run it by Session.sql of hivesql.connect");
    }
}
