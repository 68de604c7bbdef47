import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.CompletableFuture;

/** Prints what Hive's JDBC driver throws of statements that time out, or that another thread cancels. */
public final class JdbcInterrupts {
  private JdbcInterrupts() {}

  /** Starts to cancel a statement, by another thread, after so many milliseconds. */
  private static CompletableFuture<Void> cancel(Statement statement, long pause) {
    return CompletableFuture.runAsync(() -> {
      try {
        Thread.sleep(pause);
        statement.cancel();
      } catch (Exception error) {
        throw new IllegalStateException(error);
      }
    });
  }

  /**
   * Runs one statement and reads its rows. Another thread cancels it after {@code pause}
   * milliseconds, never if that is 0, and after ten rows if it is negative.
   */
  private static String outcome(Statement statement, String text, long pause) throws Exception {
    CompletableFuture<Void> cancelling = pause > 0 ? cancel(statement, pause) : null;
    try {
      if (!statement.execute(text)) {
        return "done";
      }
      int count = 0;
      try (ResultSet rows = statement.getResultSet()) {
        while (rows.next()) {
          count++;
          if (count == 10 && pause < 0) {
            cancel(statement, 0).join();
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
