import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** Prints what Hive's JDBC driver finds at an address: DatabaseMetaData, then each statement's rows. */
public final class JdbcWalk {
  private JdbcWalk() {}

  private static void print(String what, ResultSet rows) throws SQLException {
    int width = rows.getMetaData().getColumnCount();
    StringBuilder line = new StringBuilder("# ").append(what);
    for (int i = 1; i <= width; i++) {
      line.append('|').append(rows.getMetaData().getColumnTypeName(i));
    }
    System.out.println(line);
    while (rows.next()) {
      line.setLength(0);
      for (int i = 1; i <= width; i++) {
        Object value = rows.getObject(i);
        line.append(i > 1 ? "|" : "").append(value instanceof byte[] b ? new String(b) : value);
      }
      System.out.println(line);
    }
    rows.close();
  }

  public static void main(String[] arguments) throws SQLException {
    try (Connection connection = DriverManager.getConnection(arguments[0], "ann", "any")) {
      DatabaseMetaData meta = connection.getMetaData();
      System.out.println(meta.getDatabaseProductName() + " by " + meta.getDriverVersion());
      print("schemas", meta.getSchemas());
      print("tables", meta.getTables(null, "default", "%", new String[] {"TABLE", "VIEW"}));
      print("columns", meta.getColumns(null, "default", "t", "%"));
      print("keys", meta.getPrimaryKeys(null, "default", "pk"));
      print("references", meta.getCrossReference(null, "default", "pk", null, "default", "fk"));
      print("functions", meta.getFunctions(null, null, "concat"));
      try (Statement statement = connection.createStatement()) {
        statement.setFetchSize(1);
        for (int i = 1; i < arguments.length; i++) {
          try {
            if (statement.execute(arguments[i])) {
              print("rows", statement.getResultSet());
            } else {
              System.out.println("updated " + statement.getUpdateCount());
            }
          } catch (SQLException error) {
            System.out.println("error " + error.getSQLState() + " " + error.getErrorCode());
          }
        }
      }
      try (PreparedStatement prepared = connection.prepareStatement("SELECT s FROM t WHERE i = ?")) {
        prepared.setInt(1, 1);
        print("prepared", prepared.executeQuery());
      }
    }
  }
}
