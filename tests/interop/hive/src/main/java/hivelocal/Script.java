package hivelocal;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.apache.hadoop.hive.conf.HiveConf;
import org.apache.hadoop.hive.metastore.IMetaStoreClient;
import org.apache.hadoop.hive.metastore.api.FieldSchema;
import org.apache.hadoop.hive.metastore.api.Schema;
import org.apache.hadoop.hive.metastore.api.Table;
import org.apache.hadoop.hive.metastore.conf.MetastoreConf;
import org.apache.hadoop.hive.ql.DriverFactory;
import org.apache.hadoop.hive.ql.IDriver;
import org.apache.hadoop.hive.ql.metadata.Hive;
import org.apache.hadoop.hive.ql.session.SessionState;
import org.apache.hadoop.hive.ql.txn.compactor.Cleaner;
import org.apache.hadoop.hive.ql.txn.compactor.CompactorThread;
import org.apache.hadoop.hive.ql.txn.compactor.Initiator;
import org.apache.hadoop.hive.ql.txn.compactor.Worker;

/** Runs a script of Hive statements and of directives such as {@code !worker} or {@code !adopt}. */
final class Script {
  static int main(List<String> a) throws Exception {
    String engine = "tez";
    Map<String, String> extra = new LinkedHashMap<>();
    while (!a.isEmpty() && a.get(0).startsWith("-")) {
      String o = a.remove(0);
      if (o.equals("-e")) {
        engine = a.remove(0);
      } else if (o.equals("-c")) {
        String[] kv = a.remove(0).split("=", 2);
        extra.put(kv[0], kv[1]);
      } else {
        throw new IllegalArgumentException(o);
      }
    }
    Path work = Paths.get(a.remove(0));
    HiveConf c = Main.conf(work, engine, extra);
    SessionState ss = new SessionState(c);
    SessionState.start(ss);
    ss.out = new org.apache.hadoop.hive.common.io.SessionStream(System.err);
    ss.info = ss.out;
    ss.err = ss.out;
    int bad = 0;
    for (String f : a) {
      String text = new String(Files.readAllBytes(Paths.get(f)), StandardCharsets.UTF_8).replace("${WORK}", work.toAbsolutePath().toString());
      for (String s : split(text)) {
        bad += exec(ss, s, work) ? 0 : 1;
      }
    }
    ss.close();
    return bad == 0 ? 0 : 3;
  }

  static boolean exec(SessionState ss, String s, Path work) {
    HiveConf c = ss.getConf();
    boolean expectError = s.startsWith("!error ");
    if (expectError) {
      s = s.substring(7).trim();
    }
    Main.OUT.println(">> " + (expectError ? "[error expected] " : "") + s.replaceAll("\\s+", " "));
    long t0 = System.nanoTime();
    IDriver d = null;
    try {
      if (s.startsWith("!")) {
        directive(c, s.substring(1).trim().split("\\s+"), work);
      } else if (s.matches("(?is)set\\s+(?!role\\b).*")) {
        String[] kv = s.substring(4).trim().split("=", 2);
        c.set(kv[0].trim(), kv[1].trim());
      } else {
        d = DriverFactory.newDriver(c);
        d.setMaxRows(100000);
        d.run(s);
        List<String> rows = new ArrayList<>();
        Schema sch = d.getSchema();
        if (d.getFetchTask() != null || sch != null && sch.getFieldSchemas() != null && !sch.getFieldSchemas().isEmpty() && !s.toLowerCase().matches("(?s)(insert|update|delete|merge|from|load|create|alter|drop|truncate)\\b.*")) {
          if (sch != null && sch.getFieldSchemas() != null) {
            Main.OUT.println("## " + sch.getFieldSchemas().stream().map(FieldSchema::getName).collect(Collectors.joining("\t")));
          }
          List<Object> part = new ArrayList<>();
          while (d.getResults(part)) {
            part.forEach(r -> rows.add(String.valueOf(r)));
            part.clear();
          }
          rows.forEach(Main.OUT::println);
        }
      }
      Main.OUT.printf("-- ok %.2fs%n", (System.nanoTime() - t0) / 1e9);
      return !expectError;
    } catch (Throwable t) {
      Throwable r = t;
      while (r.getCause() != null && r.getCause() != r) {
        r = r.getCause();
      }
      java.util.regex.Matcher cm = java.util.regex.Pattern.compile("Caused by: ([^\n]*)\n(?!.*Caused by: )", java.util.regex.Pattern.DOTALL)
          .matcher(String.valueOf(t.getMessage()));
      String more = cm.find() ? " ... " + cm.group(1) : "";
      Main.OUT.println("-- ERROR " + String.valueOf(t.getMessage()).split("\n")[0] + more + (r == t ? "" : " / " + String.valueOf(r).split("\n")[0]));
      if (!expectError) {
        t.printStackTrace();
      }
      return expectError;
    } finally {
      if (d != null) {
        d.close();
        d.destroy();
      }
    }
  }

  /** !worker, !cleaner, !initiator, !copy SRC DST, !adopt TABLE HWM [aborted,ids], !sleep MS */
  static void directive(HiveConf c, String[] w, Path work) throws Exception {
    switch (w[0]) {
      case "worker": once(new Worker(), c); break;
      case "cleaner": once(new Cleaner(), c); break;
      case "initiator": once(new Initiator(), c); break;
      case "copy": copy(resolve(work, w[1]), resolve(work, w[2])); break;
      case "ls": ls(resolve(work, w[1])); break;
      case "sleep": Thread.sleep(Long.parseLong(w[1])); break;
      case "adopt": {
        // let the metastore believe that write ids 1..HWM of TABLE were used (and committed, or
        // aborted), and tell it the partitions whose directories are there
        List<String> ab = w.length > 3 ? Arrays.asList(w[3].split(",")) : new ArrayList<>();
        String[] dt = w[1].contains(".") ? w[1].split("\\.") : new String[] {"default", w[1]};
        IMetaStoreClient m = Hive.get(c).getMSC();
        for (long i = 1; i <= Long.parseLong(w[2]); i++) {
          long txn = m.openTxn("hive-local");
          long id = m.allocateTableWriteId(txn, dt[0], dt[1]);
          if (ab.contains("" + id)) {
            m.rollbackTxn(txn);
          } else {
            m.commitTxn(txn);
          }
          if (i == 1 && id != 1) {
            Main.OUT.println("note: first write id was " + id);
          }
        }
        Table table = m.getTable(dt[0], dt[1]);
        if (!table.getPartitionKeys().isEmpty()) {
          // not MSCK: it refuses names with escaped characters
          org.apache.hadoop.fs.Path root = new org.apache.hadoop.fs.Path(table.getSd().getLocation());
          List<org.apache.hadoop.fs.Path> leaves = new ArrayList<>();
          Reader.leaves(root.getFileSystem(c), root, leaves);
          for (org.apache.hadoop.fs.Path leaf : leaves) {
            if (!leaf.equals(root)) {
              m.appendPartition(dt[0], dt[1], Reader.relative(root, leaf));
            }
          }
        }
        break;
      }
      default: throw new IllegalArgumentException(w[0]);
    }
  }

  static Path resolve(Path work, String p) {
    return Paths.get(p).isAbsolute() ? Paths.get(p) : work.resolve(p);
  }

  static void once(CompactorThread t, HiveConf c) throws Exception {
    HiveConf cc = new HiveConf(c);
    cc.unset("hive.txn.valid.txns");
    MetastoreConf.setBoolVar(cc, MetastoreConf.ConfVars.COMPACTOR_INITIATOR_ON, true);
    MetastoreConf.setBoolVar(cc, MetastoreConf.ConfVars.COMPACTOR_CLEANER_ON, true);
    cc.set("hive.compactor.cleaner.duration.update.interval", "1s");
    SessionState saved = SessionState.get();
    t.setConf(cc);
    t.init(new AtomicBoolean(true));
    // own thread: the worker opens its own session and transaction
    Throwable[] err = new Throwable[1];
    Thread th = new Thread(() -> {
      try {
        t.run();
      } catch (Throwable e) {
        err[0] = e;
      }
    });
    th.start();
    th.join();
    SessionState.setCurrentSessionState(saved);
    if (err[0] != null) {
      throw new RuntimeException(err[0]);
    }
  }

  static void copy(Path src, Path dst) throws IOException {
    try (Stream<Path> s = Files.walk(src)) {
      for (Path p : (Iterable<Path>) s::iterator) {
        if (p.getFileName().toString().endsWith(".crc")) {
          continue;
        }
        Path q = dst.resolve(src.relativize(p).toString());
        if (Files.isDirectory(p)) {
          Files.createDirectories(q);
        } else {
          Files.createDirectories(q.getParent());
          Files.copy(p, q, StandardCopyOption.REPLACE_EXISTING);
        }
      }
    }
  }

  static void ls(Path d) throws IOException {
    try (Stream<Path> s = Files.walk(d)) {
      s.filter(p -> !p.getFileName().toString().endsWith(".crc")).sorted()
          .forEach(p -> Main.OUT.println("   " + d.relativize(p) + (Files.isDirectory(p) ? "/" : "  " + p.toFile().length())));
    }
  }

  /** Splits on ';' outside quotes; drops '--' comments to the end of line. */
  static List<String> split(String t) {
    List<String> r = new ArrayList<>();
    StringBuilder b = new StringBuilder();
    char q = 0;
    for (int i = 0; i < t.length(); i++) {
      char ch = t.charAt(i);
      if (q != 0) {
        b.append(ch);
        if (ch == '\\' && q != '`' && i + 1 < t.length()) {
          b.append(t.charAt(++i));
        } else if (ch == q) {
          q = 0;
        }
      } else if (ch == '-' && t.startsWith("--", i)) {
        while (i < t.length() && t.charAt(i) != '\n') {
          i++;
        }
        b.append('\n');
      } else if (ch == ';') {
        r.add(b.toString().trim());
        b.setLength(0);
      } else {
        if (ch == '\'' || ch == '"' || ch == '`') {
          q = ch;
        }
        b.append(ch);
      }
    }
    r.add(b.toString().trim());
    r.removeIf(String::isEmpty);
    return r;
  }
}
