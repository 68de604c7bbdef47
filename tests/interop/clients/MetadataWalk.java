import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.Date;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Timestamp;
import java.sql.Types;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Prints all that a JDBC driver tells of an address: each statement of a script, then each question of DatabaseMetaData. What was asked
 * begins with "#"; columns, rows, counts and errors follow.
 */
public final class MetadataWalk {
  private static final PrintStream OUT = new PrintStream(System.out, true, StandardCharsets.UTF_8);
  private static final String[] TABLES = {"%", "t_all", "T_%", "*", "t\\_all", "t.all", "none", ""};

  private MetadataWalk() {}

  /** What may fail with an error of the driver. */
  private interface Question<T> {
    T answer() throws SQLException;
  }

  private static String shown(ResultSet rows, int column) {
    try {
      Object value = rows.getObject(column);
      return value instanceof byte[] b ? Arrays.toString(b) : String.valueOf(value);
    } catch (SQLException error) {
      return "!" + error.getMessage();
    }
  }

  private static void print(ResultSet rows, boolean isSorted) throws SQLException {
    ResultSetMetaData meta = rows.getMetaData();
    List<String> columns = new ArrayList<>();
    for (int i = 1; i <= meta.getColumnCount(); i++) {
      columns.add(String.join(":", meta.getColumnLabel(i), meta.getColumnTypeName(i), "" + meta.getColumnType(i),
          "" + meta.getPrecision(i), "" + meta.getScale(i), "" + meta.getColumnDisplaySize(i), "" + meta.getColumnClassName(i)));
    }
    OUT.println("columns " + String.join("|", columns));
    List<String> lines = new ArrayList<>();
    while (rows.next()) {
      List<String> values = new ArrayList<>();
      for (int i = 1; i <= meta.getColumnCount(); i++) {
        values.add(shown(rows, i));
      }
      lines.add(String.join("|", values));
    }
    if (isSorted) {
      Collections.sort(lines);
    }
    lines.forEach(line -> OUT.println("row " + line));
    rows.close();
  }

  private static void fail(SQLException error) {
    OUT.println("error " + error.getSQLState() + " " + error.getErrorCode() + " " + String.valueOf(error.getMessage()).split("\n")[0]);
  }

  private static void ask(String what, Question<ResultSet> question) {
    OUT.println("# " + what);
    try {
      print(question.answer(), true);
    } catch (SQLException error) {
      fail(error);
    } catch (RuntimeException error) {
      OUT.println("error of the driver " + error.getClass().getName());
    }
  }

  private static void tell(String what, Question<Object> question) {
    OUT.println("# " + what);
    try {
      OUT.println("row " + question.answer());
    } catch (SQLException error) {
      fail(error);
    } catch (RuntimeException error) {
      OUT.println("error of the driver " + error.getClass().getName());
    }
  }

  private static void run(Statement statement, String text) {
    OUT.println("# " + text.replace('\n', ' '));
    try {
      if (statement.execute(text)) {
        print(statement.getResultSet(), false);
      } else {
        OUT.println("count " + statement.getUpdateCount());
      }
    } catch (SQLException error) {
      fail(error);
    }
  }

  /** All facts that take no argument: what drivers do not know of themselves they have of the server. */
  private static void walkFacts(DatabaseMetaData meta) {
    Set<Class<?>> kinds = Set.of(boolean.class, int.class, long.class, String.class);
    Arrays.stream(DatabaseMetaData.class.getMethods())
        .filter(method -> method.getParameterCount() == 0 && kinds.contains(method.getReturnType()) && !method.getName().equals("getURL"))
        .sorted(Comparator.comparing(Method::getName))
        .forEach(method -> tell(method.getName(), () -> {
          try {
            return method.invoke(meta);
          } catch (InvocationTargetException error) {
            if (error.getCause() instanceof SQLException cause) {
              throw cause;
            }
            throw new IllegalStateException(error.getCause());
          } catch (IllegalAccessException error) {
            throw new IllegalStateException(error);
          }
        }));
  }

  private static void walk(DatabaseMetaData meta) {
    ask("catalogs", () -> meta.getCatalogs());
    ask("schemas", () -> meta.getSchemas());
    ask("schemas d_", () -> meta.getSchemas(null, "d_"));
    ask("table types", () -> meta.getTableTypes());
    ask("types", () -> meta.getTypeInfo());
    for (String pattern : TABLES) {
      ask("tables '" + pattern + "'", () -> meta.getTables(null, "doors", pattern, null));
    }
    ask("tables of all", () -> meta.getTables(null, null, null, null));
    ask("tables of d%", () -> meta.getTables(null, "d%", "t_all", null));
    ask("tables of a catalog", () -> meta.getTables("hive", "doors", "%", null));
    for (String kind : new String[] {"TABLE", "VIEW", "MATERIALIZED_VIEW", "EXTERNAL_TABLE", "INDEX_TABLE"}) {
      ask("tables of kind " + kind, () -> meta.getTables(null, "doors", "%", new String[] {kind}));
    }
    ask("columns", () -> meta.getColumns(null, "doors", "%", "%"));
    ask("columns of null", () -> meta.getColumns(null, "doors", "t_all", null));
    ask("columns C_I%", () -> meta.getColumns(null, "doors", "T\\_ALL", "C_I%"));
    ask("columns of a temporary table", () -> meta.getColumns(null, "doors", "tmp", "%"));
    for (String table : new String[] {"pk", "fk", "t_all", "none", "PK"}) {
      ask("primary keys " + table, () -> meta.getPrimaryKeys(null, "doors", table));
      ask("imported keys " + table, () -> meta.getImportedKeys(null, "doors", table));
      ask("exported keys " + table, () -> meta.getExportedKeys(null, "doors", table));
      ask("indexes " + table, () -> meta.getIndexInfo(null, "doors", table, false, true));
    }
    ask("cross reference", () -> meta.getCrossReference(null, "doors", "pk", null, "doors", "fk"));
    ask("cross reference to null", () -> meta.getCrossReference(null, "doors", "pk", null, null, null));
    ask("functions conc%", () -> meta.getFunctions(null, null, "conc%"));
    ask("functions of a schema", () -> meta.getFunctions(null, "doors", "concat"));
    ask("functions CONCAT", () -> meta.getFunctions(null, null, "CONCAT"));
    ask("functions mo%", () -> meta.getFunctions(null, null, "mo%"));
    ask("function columns", () -> meta.getFunctionColumns(null, null, "concat", "%"));
    ask("procedures", () -> meta.getProcedures(null, null, "%"));
    ask("procedure columns", () -> meta.getProcedureColumns(null, null, "%", "%"));
    tell("product", () -> meta.getDatabaseProductName() + " " + meta.getDatabaseProductVersion());
    tell("product's version", () -> meta.getDatabaseMajorVersion() + "." + meta.getDatabaseMinorVersion());
    tell("quotes", () -> meta.getIdentifierQuoteString() + " " + meta.getSearchStringEscape());
    tell("terms", () -> meta.getCatalogTerm() + " " + meta.getSchemaTerm() + " " + meta.getCatalogSeparator());
    tell("keywords", () -> meta.getSQLKeywords());
    tell("isolation", () -> meta.getDefaultTransactionIsolation());
    tell("user", () -> meta.getUserName());
    ask("schemas of null", () -> meta.getSchemas(null, null));
    ask("schemas of a catalog", () -> meta.getSchemas("", "doors"));
    ask("tables of a tree", () -> meta.getTables(null, "doors", "%", new String[] {"TABLE", "VIEW", "MATERIALIZED_VIEW"}));
    ask("tables of no kind", () -> meta.getTables(null, "doors", "%", new String[] {}));
    ask("columns of a quoted name", () -> meta.getColumns(null, "doors", "t quo", "%"));
    ask("columns of an escaped name", () -> meta.getColumns(null, "doors", "t\\_ro", null));
    ask("unique indexes", () -> meta.getIndexInfo(null, "doors", "pk", true, false));
    ask("best row", () -> meta.getBestRowIdentifier(null, "doors", "pk", 0, true));
    ask("versions", () -> meta.getVersionColumns(null, "doors", "pk"));
    ask("table privileges", () -> meta.getTablePrivileges(null, "doors", "%"));
    ask("column privileges", () -> meta.getColumnPrivileges(null, "doors", "pk", "%"));
    ask("own types", () -> meta.getUDTs(null, "doors", "%", null));
    ask("super tables", () -> meta.getSuperTables(null, "doors", "%"));
    ask("attributes", () -> meta.getAttributes(null, "doors", "%", "%"));
    ask("client information", () -> meta.getClientInfoProperties());
    tell("driver", () -> meta.getJDBCMajorVersion() + " " + meta.supportsTransactions() + " " + meta.supportsSchemasInTableDefinitions());
    tell("cases", () -> meta.storesLowerCaseIdentifiers() + " " + meta.storesMixedCaseIdentifiers() + " " + meta.supportsMixedCaseIdentifiers());
    tell("functions of numbers", () -> meta.getNumericFunctions() + meta.getStringFunctions() + meta.getTimeDateFunctions());
    tell("read only", () -> meta.isReadOnly() + " " + meta.getProcedureTerm() + " " + meta.getMaxColumnNameLength());
  }

  /** What a tool with a tree of objects and an editor asks of its connection. */
  private static void ask(Connection connection, Statement statement) throws SQLException {
    tell("is valid", () -> connection.isValid(10) + " " + connection.isClosed() + " " + connection.isReadOnly());
    tell("read only", () -> {
      connection.setReadOnly(true);
      return connection.isReadOnly();
    });
    tell("writes again", () -> {
      connection.setReadOnly(false);
      return connection.getWarnings();
    });
    tell("no autocommit", () -> {
      connection.setAutoCommit(false);
      return connection.getAutoCommit();
    });
    tell("commit", () -> {
      connection.commit();
      return connection.getAutoCommit();
    });
    tell("rollback", () -> {
      connection.rollback();
      return connection.getAutoCommit();
    });
    tell("autocommit", () -> {
      connection.setAutoCommit(true);
      return connection.getAutoCommit();
    });
    tell("isolation of a session", () -> {
      connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
      return connection.getTransactionIsolation();
    });
    tell("quoted schema", () -> {
      connection.setSchema("`default`");
      return connection.getSchema();
    });
    tell("no such schema", () -> {
      connection.setSchema("nosuch");
      return connection.getSchema();
    });
    tell("schema again", () -> {
      connection.setSchema("doors");
      return connection.getSchema();
    });
    tell("client", () -> {
      connection.setClientInfo("ApplicationName", "a tool");
      return connection.getClientInfo("ApplicationName");
    });
    tell("native", () -> connection.nativeSQL("select 1"));
    ask("prepared index", () -> {
      PreparedStatement prepared = connection.prepareStatement("SHOW INDEX ON ?");
      prepared.setString(1, "t_all");
      return prepared.executeQuery();
    });
    ask("prepared quotes", () -> {
      PreparedStatement prepared = connection.prepareStatement("select ? a, '?' b, ? c");
      prepared.setString(1, "it's; \\ \"");
      prepared.setInt(2, 7);
      return prepared.executeQuery();
    });
    statement.setFetchSize(2);
    tell("fetch size", () -> statement.getFetchSize() + " " + statement.getMaxRows() + " " + statement.getQueryTimeout());
    run(statement, "select i from doors.t_ro order by i");
    tell("more results", () -> statement.getMoreResults() + " " + statement.getUpdateCount() + " " + statement.getWarnings());
    tell("cancelled after its end", () -> {
      statement.cancel();
      return statement.isClosed();
    });
    run(statement, "select i, s from doors.t_ro order by i limit 2");
  }

  /** What one getter makes of a column. */
  private interface Getter {
    Object get(ResultSet rows, int column) throws SQLException;
  }

  private static final Map<String, Getter> GETTERS = new TreeMap<>(Map.ofEntries(
      Map.entry("boolean", (rows, i) -> rows.getBoolean(i)), Map.entry("byte", (rows, i) -> rows.getByte(i)),
      Map.entry("short", (rows, i) -> rows.getShort(i)), Map.entry("int", (rows, i) -> rows.getInt(i)),
      Map.entry("long", (rows, i) -> rows.getLong(i)), Map.entry("float", (rows, i) -> rows.getFloat(i)),
      Map.entry("double", (rows, i) -> rows.getDouble(i)), Map.entry("decimal", (rows, i) -> rows.getBigDecimal(i)),
      Map.entry("string", (rows, i) -> rows.getString(i)), Map.entry("date", (rows, i) -> rows.getDate(i)),
      Map.entry("timestamp", (rows, i) -> rows.getTimestamp(i)), Map.entry("class", (rows, i) -> rows.getObject(i).getClass()),
      Map.entry("null", (rows, i) -> rows.getString(i) + rows.wasNull())));

  /** Reads one row by each getter, and asks for what is there once all rows have been read. */
  private static void read(Connection connection, Statement statement) throws SQLException {
    String text = "select 7 i, '8' s, cast(9.5 as decimal(5,2)) d, true b, cast(10 as tinyint) t, date '2020-02-29' `day`, 1.5e0 f,"
        + " timestamp '2020-02-29 01:02:03.123456' `at`, cast('ab' as binary) x, array(1, 2) a, map('k', 1) m, named_struct('a', 1) st,"
        + " cast('c' as char(3)) c, cast('v' as varchar(3)) v, interval '1' day y, cast(null as int) n";
    try (ResultSet rows = statement.executeQuery(text)) {
      tell("before the first row", () -> rows.getRow() + " " + rows.isBeforeFirst() + rows.next());
      for (int i = 1; i <= rows.getMetaData().getColumnCount(); i++) {
        int column = i;
        GETTERS.forEach((name, getter) -> tell(name + " of column " + column, () -> getter.get(rows, column)));
      }
      tell("names", () -> rows.findColumn("D") + " " + rows.getInt("I"));
      tell("no such name", () -> rows.findColumn("none"));
      tell("no such column", () -> rows.getInt(99));
      tell("column 0", () -> rows.getInt(0));
      tell("behind the last row", () -> rows.next() + " " + rows.getRow());
      tell("a value behind it", () -> rows.getInt(1));
      tell("previous", () -> rows.previous());
    }
    tell("a query that is none", () -> statement.executeQuery("create table doors.made (i int)"));
    tell("an update that is none", () -> statement.executeUpdate("select 1"));
    tell("an update of DDL", () -> statement.executeUpdate("drop table if exists doors.made"));
    tell("an update", () -> statement.executeUpdate("insert into doors.t_io values (1, 'a'), (2, 'b')"));
    try (PreparedStatement prepared = connection.prepareStatement("select ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '?', `i` from doors.t_ro where i = ?")) {
      tell("without parameters", () -> prepared.executeQuery());
      ask("parameters", () -> {
        prepared.setBoolean(1, true);
        prepared.setByte(2, (byte) 1);
        prepared.setShort(3, (short) 2);
        prepared.setLong(4, 3L);
        prepared.setFloat(5, 1.5f);
        prepared.setDouble(6, 2.5);
        prepared.setBigDecimal(7, new BigDecimal("12.345"));
        prepared.setDate(8, Date.valueOf("2020-02-29"));
        prepared.setTimestamp(9, Timestamp.valueOf("2020-02-29 01:02:03.5"));
        prepared.setNull(10, Types.INTEGER);
        prepared.setObject(11, "a'b");
        prepared.setInt(12, 1);
        return prepared.executeQuery();
      });
    }
  }

  /** What a session is to be like, as its statements and its address say. */
  private static void configure(String address, String user, Connection connection, Statement statement) throws Exception {
    DatabaseMetaData meta = connection.getMetaData();
    for (String mapping : new String[] {"HIVE", "classic", "other"}) {
      run(statement, "set hive.server2.table.type.mapping=" + mapping);
      ask("kinds of tables, " + mapping, () -> meta.getTableTypes());
      ask("tables, " + mapping, () -> meta.getTables(null, "doors", "%", null));
      ask("views, " + mapping, () -> meta.getTables(null, "doors", "%", new String[] {"VIRTUAL_VIEW"}));
    }
    Path first = Files.createTempFile("first", ".sql");
    Files.writeString(first, "-- first of all\nset hivevar:made=here;\nuse doors;\n");
    String more = ";initFile=" + first + ";fetchSize=7?hive.server2.async.exec.threads=30;hive.lock.numretries=7;own=1#v=2;w=3";
    try (Connection other = DriverManager.getConnection(address + more, user, "any"); Statement its = other.createStatement()) {
      tell("fetch size of an address", () -> its.getFetchSize());
      run(its, "select '${hivevar:made} ${v} ${hivevar:w} ${hiveconf:own}', current_database()");
      for (String key : new String[] {"hive.server2.async.exec.threads", "hive.lock.numretries", "own", "v", "hivevar:w", "none"}) {
        run(its, "set " + key);
      }
    } finally {
      Files.delete(first);
    }
    tell("a database that is not there", () -> DriverManager.getConnection(address.replace("/default", "/nosuch"), user, "any"));
  }

  public static void main(String[] arguments) throws Exception {
    String script = Files.readString(Path.of(arguments[2]));
    try (Connection connection = DriverManager.getConnection(arguments[0], arguments[1], "any");
        Statement statement = connection.createStatement()) {
      for (String text : script.split(";\n")) {
        if (!text.isBlank()) {
          run(statement, text.trim());
        }
      }
      if (arguments.length > 3) {
        walk(connection.getMetaData());
        walkFacts(connection.getMetaData());
        tell("catalog", () -> connection.getCatalog());
        tell("schema", () -> connection.getSchema());
        tell("commits", () -> connection.getAutoCommit() + " " + connection.getTransactionIsolation());
        tell("schema doors", () -> {
          connection.setSchema("doors");
          return connection.getSchema();
        });
        ask(connection, statement);
        read(connection, statement);
        configure(arguments[0], arguments[1], connection, statement);
        statement.setMaxRows(1);
        run(statement, "select i, s from doors.t_ro order by i");
      }
    }
  }
}
