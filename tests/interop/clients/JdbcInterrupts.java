import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.CompletableFuture;

/** Prints what Hive's JDBC driver throws of statements that time out, or that another thread cancels. */
public final class JdbcInterrupts {
  private JdbcInterrupts() {}

  /** Runs one statement and reads its rows; after {@code pause} another thread cancels it, unless that is 0. */
  private static String outcome(Statement statement, String text, long pause) throws Exception {
    CompletableFuture<Void> cancelling = pause == 0 ? null : CompletableFuture.runAsync(() -> {
      try {
        Thread.sleep(pause);
        statement.cancel();
      } catch (Exception error) {
        throw new IllegalStateException(error);
      }
    });
    try {
      if (!statement.execute(text)) {
        return "done";
      }
      int count = 0;
      try (ResultSet rows = statement.getResultSet()) {
        while (rows.next()) {
          count++;
          if (count == 10 && cancelling != null) {
            cancelling.join();
          }
        }
      }
      return count + " rows";
    } catch (SQLException error) {
      String kind = error.getClass().getSimpleName();
      return kind + " " + error.getSQLState() + " " + error.getErrorCode() + " " + error.getMessage();
    } finally {
      if (cancelling != null) {
        cancelling.join();
      }
    }
  }

  /** Arguments: the address, then for each statement its time-out in seconds, its pause, its text. */
  public static void main(String[] arguments) throws Exception {
    try (Connection connection = DriverManager.getConnection(arguments[0], "ann", "any");
        Statement statement = connection.createStatement()) {
      statement.setFetchSize(5);
      statement.cancel();
      for (int i = 1; i < arguments.length; i += 3) {
        statement.setQueryTimeout(Integer.parseInt(arguments[i]));
        System.out.println(outcome(statement, arguments[i + 2], Long.parseLong(arguments[i + 1])));
        statement.setQueryTimeout(0);
        System.out.println(outcome(statement, "SELECT 1", 0));
      }
    }
  }
}
