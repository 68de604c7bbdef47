package hivelocal;

import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.apache.hadoop.hive.conf.HiveConf;
import org.apache.hadoop.hive.metastore.HiveMetaStore;
import org.apache.hadoop.hive.metastore.conf.MetastoreConf;
import org.apache.hadoop.hive.metastore.security.HadoopThriftAuthBridge;
import org.apache.hadoop.hive.ql.metadata.Hive;
import org.apache.hadoop.security.UserGroupInformation;

/** Entry point and settings of the embedded Hive. The README describes the subcommands. */
public final class Main {
  static final PrintStream OUT = new PrintStream(new java.io.FileOutputStream(java.io.FileDescriptor.out), true, StandardCharsets.UTF_8);

  public static void main(String[] argv) throws Throwable {
    int rc = 0;
    System.setOut(System.err); // Tez prints there; results go to OUT
    try {
      List<String> a = new ArrayList<>(Arrays.asList(argv));
      String cmd = a.isEmpty() ? "help" : a.remove(0);
      switch (cmd) {
        case "run": rc = Script.main(a); break;
        case "read": rc = Reader.main(a); break;
        case "hms": hms(a); return; // keeps serving
        case "hs2": hs2(a); return; // keeps serving
        default:
          System.err.println("usage: run [-e mr|tez] [-c k=v]... WORKDIR SCRIPT...\n"
              + "       read [-c k=v]... [-w HWM] [-s 'struct<..>'] [-x aborted,ids] [-o open,ids] DIR...\n       hms|hs2 PORT WORKDIR");
          rc = 2;
      }
    } catch (Throwable t) {
      t.printStackTrace();
      rc = 1;
    }
    OUT.flush();
    Runtime.getRuntime().halt(rc);
  }

  static final String CAPABILITIES = "EXTWRITE,EXTREAD,HIVEBUCKET2,HIVEFULLACIDREAD,HIVEFULLACIDWRITE,HIVECACHEINVALIDATE,"
      + "HIVEMANAGESTATS,HIVEMANAGEDINSERTWRITE,HIVEMANAGEDINSERTREAD,HIVESQL,HIVEMQT,HIVEONLYMQTWRITE,ACCEPTS_UNMODIFIED_METADATA";

  static HiveConf conf(Path work, String engine, Map<String, String> extra) throws Exception {
    Path w = work.toAbsolutePath().normalize();
    Files.createDirectories(w.resolve("warehouse"));
    Files.createDirectories(w.resolve("tmp"));
    System.setProperty("derby.stream.error.file", w.resolve("derby.log").toString());
    System.setProperty("derby.system.durability", "test");
    String url = "jdbc:derby:;databaseName=" + w + "/metastore_db;create=true";
    Map<String, String> m = new LinkedHashMap<>();
    m.put("fs.defaultFS", "file:///");
    m.put("fs.file.impl", LocalDisk.class.getName());
    m.put("fs.AbstractFileSystem.file.impl", LocalDisk.OfContext.class.getName());
    m.put("mapreduce.framework.name", "local");
    m.put("mapreduce.jobtracker.address", "local");
    m.put("hive.execution.engine", engine);
    m.put("hive.metastore.warehouse.dir", "file:" + w + "/warehouse");
    m.put("hive.metastore.warehouse.external.dir", "file:" + w + "/warehouse");
    m.put("javax.jdo.option.ConnectionURL", url);
    m.put("javax.jdo.option.ConnectionDriverName", "org.apache.derby.jdbc.EmbeddedDriver");
    m.put("datanucleus.schema.autoCreateAll", "true");
    m.put("hive.metastore.schema.verification", "false");
    m.put("hive.metastore.uris", "");
    m.put("hive.support.concurrency", "true");
    m.put("hive.txn.manager", "org.apache.hadoop.hive.ql.lockmgr.DbTxnManager");
    m.put("hive.exec.dynamic.partition.mode", "nonstrict");
    m.put("hive.security.authorization.enabled", "false");
    m.put("hive.metastore.event.db.notification.api.auth", "false");
    m.put("hive.stats.column.autogather", "false");
    m.put("hive.server2.enable.doAs", "false");
    m.put("hive.notification.event.poll.interval", "0");
    m.put("hive.auto.convert.join", String.valueOf(engine.equals("tez"))); // MapredLocalTask of MERGE fails in MR local mode
    m.put("hive.query.results.cache.enabled", "false");
    m.put("hive.exec.scratchdir", "file:" + w + "/tmp/scratch");
    m.put("hive.exec.local.scratchdir", w + "/tmp/local");
    m.put("hive.downloaded.resources.dir", w + "/tmp/res");
    m.put("hive.querylog.location", w + "/tmp/qlog");
    m.put("hadoop.tmp.dir", w + "/tmp/hadoop");
    m.put("mapreduce.task.io.sort.mb", "64");
    m.put("hive.jar.directory", "file:" + w + "/tmp/jars");
    m.put("hive.user.install.directory", "file:" + w + "/tmp/install");
    m.put("tez.local.mode", "true");
    m.put("tez.local.mode.without.network", "true");
    m.put("tez.runtime.optimize.local.fetch", "true");
    m.put("tez.ignore.lib.uris", "true");
    m.put("tez.staging-dir", w + "/tmp/tezstaging");
    m.put("hive.tez.container.size", "512");
    m.put("tez.runtime.io.sort.mb", "64");
    m.put("hive.tez.exec.print.summary", "false");
    m.put("hive.exec.submitviachild", "false");
    m.put("hive.exec.submit.local.task.via.child", "false");
    m.putAll(extra);
    m.put("metastore.schema.verification", "false");
    m.forEach(System::setProperty); // configurations that Hive makes itself read them too
    HiveConf c = new HiveConf(Main.class);
    m.forEach(c::set);
    TxnSchema.prepare(url);
    // what HiveServer2 announces; without it the metastore refuses to create ACID tables
    org.apache.hadoop.hive.metastore.HiveMetaStoreClient.setProcessorIdentifier("hive-local@localhost");
    org.apache.hadoop.hive.metastore.HiveMetaStoreClient.setProcessorCapabilities(CAPABILITIES.split(","));
    return c;
  }

  static void hms(List<String> a) throws Throwable {
    int port = Integer.parseInt(a.get(0));
    Map<String, String> extra = new LinkedHashMap<>();
    if ("off".equals(System.getenv("HIVE_LOCAL_HMS_TRANSFORMER"))) {
      extra.put("metastore.metadata.transformer.class", " "); // no capability checks of clients
    }
    String keys = System.getenv("HIVE_LOCAL_HMS_KEYSTORE");
    if (keys != null) {
      extra.put("metastore.use.SSL", "true");
      extra.put("metastore.keystore.path", keys);
      extra.put("metastore.keystore.type", "PKCS12");
      extra.put("metastore.keystore.password", "hivelocal");
    }
    boolean logs = "on".equals(System.getenv("HIVE_LOCAL_HMS_LOG"));
    if (logs) {
      extra.put("metastore.transactional.event.listeners", DbNotificationListener.class.getName());
    }
    String settings = System.getenv("HIVE_LOCAL_HMS_SETTINGS"); // key=value, one a line
    for (String line : settings == null ? new String[0] : settings.split("\n")) {
      extra.put(line.substring(0, line.indexOf('=')), line.substring(line.indexOf('=') + 1));
    }
    HiveConf c = conf(Paths.get(a.get(1)), "mr", extra);
    if (logs) {
      DbNotificationListener.prepare(c);
    }
    MetastoreConf.setVar(c, MetastoreConf.ConfVars.THRIFT_BIND_HOST, "127.0.0.1");
    UserGroupInformation.setConfiguration(c); // else Hadoop's own files say whether there is Kerberos
    HiveMetaStore.startMetaStore(port, HadoopThriftAuthBridge.getBridge(), c);
  }

  /** Serves HiveServer2's protocol without SASL. The classes are those of hs2/, which no other command needs. */
  static void hs2(List<String> a) throws Throwable {
    Path work = Paths.get(a.get(1)).toAbsolutePath().normalize();
    Map<String, String> extra = new LinkedHashMap<>();
    extra.put("hive.server2.thrift.port", a.get(0));
    extra.put("hive.server2.thrift.bind.host", "127.0.0.1");
    extra.put("hive.server2.authentication", "NOSASL");
    extra.put("hive.server2.logging.operation.log.location", work + "/tmp/operations");
    extra.put("hive.server2.metrics.enabled", "false");
    HiveConf c = conf(work, "tez", extra);
    // It is the type of an argument; to begin it would want a server for web pages.
    Class<?> server = Class.forName("org.apache.hive.service.server.HiveServer2", false, Main.class.getClassLoader());
    Class<?> statements = Class.forName("org.apache.hive.service.cli.CLIService");
    Class<?> listener = Class.forName("org.apache.hive.service.cli.thrift.ThriftBinaryCLIService");
    Object inner = statements.getConstructor(server, boolean.class).newInstance(null, true);
    Object outer = listener.getConstructor(statements).newInstance(inner);
    Class<?> service = Class.forName("org.apache.hive.service.Service");
    for (Object each : new Object[] {inner, outer}) {
      service.getMethod("init", HiveConf.class).invoke(each, c);
    }
    for (Object each : new Object[] {inner, outer}) {
      service.getMethod("start").invoke(each);
    }
    Thread.currentThread().join();
  }
}
