package hivelocal;

import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hive.metastore.HiveMetaStore;
import org.apache.hadoop.hive.metastore.IHMSHandler;
import org.apache.hadoop.hive.metastore.RetryingHMSHandler;
import org.apache.hadoop.hive.metastore.TUGIBasedProcessor;
import org.apache.hadoop.hive.metastore.conf.MetastoreConf;
import org.apache.hadoop.hive.metastore.security.HadoopThriftAuthBridge;
import org.apache.hadoop.hive.metastore.security.TUGIContainingTransport;
import org.apache.hadoop.hive.metastore.txn.TxnDbUtil;
import org.apache.hadoop.hive.metastore.utils.SecurityUtils;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.thrift.protocol.TBinaryProtocol;
import org.apache.thrift.server.TThreadPoolServer;
import org.apache.thrift.transport.TServerSocket;

/** The Thrift interface of Hive 3's own metastore on the loopback address: PORT WORKDIR. */
public final class Hms3 {
  public static void main(String[] argv) throws Throwable {
    Path work = Paths.get(argv[1]).toAbsolutePath().normalize();
    Files.createDirectories(work.resolve("warehouse"));
    System.setProperty("derby.stream.error.file", work.resolve("derby.log").toString());
    System.setProperty("derby.system.durability", "test");
    Map<String, String> settings = new LinkedHashMap<>();
    settings.put("fs.defaultFS", "file:///");
    settings.put("metastore.warehouse.dir", "file:" + work + "/warehouse");
    settings.put("javax.jdo.option.ConnectionURL", "jdbc:derby:;databaseName=" + work + "/metastore_db;create=true");
    settings.put("javax.jdo.option.ConnectionDriverName", "org.apache.derby.jdbc.EmbeddedDriver");
    settings.put("datanucleus.schema.autoCreateAll", "true");
    settings.put("metastore.schema.verification", "false");
    settings.put("metastore.event.db.notification.api.auth", "false");
    settings.put("metastore.transactional.event.listeners", "org.apache.hive.hcatalog.listener.DbNotificationListener");
    settings.put("metastore.thrift.uris", "");
    settings.put("metastore.task.threads.always", "org.apache.hadoop.hive.metastore.events.EventCleanerTask");
    settings.put("metastore.expression.proxy", "org.apache.hadoop.hive.metastore.DefaultPartitionExpressionProxy");
    String more = System.getenv("HIVE_LOCAL_HMS_SETTINGS"); // key=value, one a line
    for (String line : more == null ? new String[0] : more.split("\n")) {
      settings.put(line.substring(0, line.indexOf('=')), line.substring(line.indexOf('=') + 1));
    }
    settings.forEach(System::setProperty); // configurations that the metastore makes itself read them too
    Configuration conf = MetastoreConf.newMetastoreConf();
    settings.forEach(conf::set);
    TxnDbUtil.prepDb(conf); // DataNucleus makes all other tables
    IHMSHandler handler = (IHMSHandler) RetryingHMSHandler.getProxy(conf, new HiveMetaStore.HMSHandler("metastore", conf, false), true);
    handler.get_current_notificationEventId(); // makes a table that transactions write without DataNucleus
    int port = Integer.parseInt(argv[0]);
    UserGroupInformation.setConfiguration(conf); // else Hadoop's own files say whether there is Kerberos
    if (MetastoreConf.getBoolVar(conf, MetastoreConf.ConfVars.USE_THRIFT_SASL)) {
      HiveMetaStore.startMetaStore(port, HadoopThriftAuthBridge.getBridge(), conf);
      return;
    }
    String keys = System.getenv("HIVE_LOCAL_HMS_KEYSTORE");
    TServerSocket socket = keys == null ? new TServerSocket(new InetSocketAddress("127.0.0.1", port))
        : SecurityUtils.getServerSSLSocket("127.0.0.1", port, keys, "hivelocal", Arrays.asList("SSLv2", "SSLv3"));
    new TThreadPoolServer(new TThreadPoolServer.Args(socket)
        .processor(new TUGIBasedProcessor<IHMSHandler>(handler))
        .transportFactory(new TUGIContainingTransport.Factory())
        .protocolFactory(new TBinaryProtocol.Factory())).serve();
  }
}
