import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.apache.hadoop.hive.conf.HiveConf;
import org.apache.hadoop.hive.ql.parse.ParseDriver;
import org.apache.hadoop.hive.ql.parse.ParseException;

/** Tells of each line, a statement in Base64, what Hive's parser says: OK, or its error. */
public class HiveParses {
  public static void main(String[] words) throws Exception {
    HiveConf conf = new HiveConf();
    ParseDriver driver = new ParseDriver();
    var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line; (line = lines.readLine()) != null; ) {
      String sql = new String(Base64.getDecoder().decode(line), StandardCharsets.UTF_8);
      String answer = "OK";
      try {
        driver.parse(sql, conf);
      } catch (ParseException error) {
        answer = "ERROR " + String.valueOf(error.getMessage()).replace("\n", " ");
      }
      System.out.println("> " + answer);
    }
  }
}
