package hivelocal;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hive.metastore.HMSHandler;
import org.apache.hadoop.hive.metastore.RawStore;
import org.apache.hadoop.hive.metastore.TransactionalMetaStoreEventListener;
import org.apache.hadoop.hive.metastore.api.Database;
import org.apache.hadoop.hive.metastore.api.MetaException;
import org.apache.hadoop.hive.metastore.api.NotificationEvent;
import org.apache.hadoop.hive.metastore.api.SQLForeignKey;
import org.apache.hadoop.hive.metastore.api.Table;
import org.apache.hadoop.hive.metastore.events.AbortTxnEvent;
import org.apache.hadoop.hive.metastore.events.AddCheckConstraintEvent;
import org.apache.hadoop.hive.metastore.events.AddDefaultConstraintEvent;
import org.apache.hadoop.hive.metastore.events.AddForeignKeyEvent;
import org.apache.hadoop.hive.metastore.events.AddPartitionEvent;
import org.apache.hadoop.hive.metastore.events.AllocWriteIdEvent;
import org.apache.hadoop.hive.metastore.events.AlterDatabaseEvent;
import org.apache.hadoop.hive.metastore.events.AlterPartitionEvent;
import org.apache.hadoop.hive.metastore.events.AlterPartitionsEvent;
import org.apache.hadoop.hive.metastore.events.AlterTableEvent;
import org.apache.hadoop.hive.metastore.events.CommitTxnEvent;
import org.apache.hadoop.hive.metastore.events.CreateTableEvent;
import org.apache.hadoop.hive.metastore.events.DropConstraintEvent;
import org.apache.hadoop.hive.metastore.events.DropDatabaseEvent;
import org.apache.hadoop.hive.metastore.events.DropPartitionEvent;
import org.apache.hadoop.hive.metastore.events.DropTableEvent;
import org.apache.hadoop.hive.metastore.events.ListenerEvent;
import org.apache.hadoop.hive.metastore.events.OpenTxnEvent;
import org.apache.hadoop.hive.metastore.messaging.EventMessage;
import org.apache.hadoop.hive.metastore.messaging.MessageBuilder;
import org.apache.hadoop.hive.metastore.messaging.MessageEncoder;
import org.apache.hadoop.hive.metastore.messaging.MessageFactory;
import org.apache.hadoop.hive.metastore.tools.SQLGenerator;

/**
 * Keeps the notification log of Hive 4.1's metastore, for which Hive's own listener is published nowhere. Events and
 * messages are Hive's; messages that nobody here reads are left empty. Only events that change tables or transactions.
 */
public final class DbNotificationListener extends TransactionalMetaStoreEventListener {
  private static final long OWN = 1_000_000_000L; // row ids that DataNucleus does not reach
  private final MessageEncoder encoder;
  private final MessageBuilder messages = MessageBuilder.getInstance();

  public DbNotificationListener(Configuration conf) {
    super(conf);
    encoder = MessageFactory.getDefaultInstance(conf);
  }

  /** Makes the log's tables, and the row that DataNucleus on Derby would wait for itself to make. */
  static void prepare(Configuration conf) throws Exception {
    RawStore store = HMSHandler.getMSForConf(conf);
    store.getCurrentNotificationEventId();
    store.cleanNotificationEvents(0);
    try (Connection db = DriverManager.getConnection(conf.get("javax.jdo.option.ConnectionURL")); Statement statement = db.createStatement();
        ResultSet rows = statement.executeQuery("select * from \"NOTIFICATION_SEQUENCE\"")) {
      if (!rows.next()) {
        db.createStatement().executeUpdate("insert into \"NOTIFICATION_SEQUENCE\" (\"NNI_ID\", \"NEXT_EVENT_ID\") values (0, 1)");
      }
    }
  }

  private NotificationEvent note(String type, String database, String table, EventMessage message) {
    String text = message == null ? "" : encoder.getSerializer().serialize(message);
    NotificationEvent event = new NotificationEvent(0, (int) (System.currentTimeMillis() / 1000), type, text);
    event.setCatName("hive");
    event.setDbName(database);
    event.setTableName(table);
    event.setMessageFormat(encoder.getMessageFormat());
    return event;
  }

  private void add(ListenerEvent cause, String type, String database, String table, EventMessage message) throws MetaException {
    cause.getIHMSHandler().getMS().addNotificationEvent(note(type, database, table, message));
  }

  private void add(ListenerEvent cause, String type, Table table, EventMessage message) throws MetaException {
    add(cause, type, table.getDbName(), table.getTableName(), message);
  }

  private void add(Connection db, String type, String database, EventMessage message) throws MetaException {
    NotificationEvent event = note(type, database, null, message);
    try (Statement statement = db.createStatement()) {
      long id;
      try (ResultSet rows = statement.executeQuery("select \"NEXT_EVENT_ID\" from \"NOTIFICATION_SEQUENCE\"")) {
        rows.next();
        id = rows.getLong(1);
      }
      statement.executeUpdate("update \"NOTIFICATION_SEQUENCE\" set \"NEXT_EVENT_ID\" = " + (id + 1));
      try (PreparedStatement insert = db.prepareStatement("insert into \"NOTIFICATION_LOG\" (\"NL_ID\", \"EVENT_ID\", \"EVENT_TIME\","
          + " \"EVENT_TYPE\", \"CAT_NAME\", \"DB_NAME\", \"MESSAGE\", \"MESSAGE_FORMAT\") values (?, ?, ?, ?, 'hive', ?, ?, ?)")) {
        insert.setLong(1, OWN + id);
        insert.setLong(2, id);
        insert.setInt(3, event.getEventTime());
        insert.setString(4, type);
        insert.setString(5, database);
        insert.setString(6, event.getMessage());
        insert.setString(7, event.getMessageFormat());
        insert.executeUpdate();
      }
    } catch (SQLException e) {
      throw new MetaException(e.toString());
    }
  }

  @Override public void onOpenTxn(OpenTxnEvent e, Connection db, SQLGenerator sql) throws MetaException {
    List<Long> ids = e.getTxnIds();
    add(db, "OPEN_TXN", null, messages.buildOpenTxnMessage(ids.get(0), ids.get(ids.size() - 1)));
  }

  @Override public void onCommitTxn(CommitTxnEvent e, Connection db, SQLGenerator sql) throws MetaException {
    add(db, "COMMIT_TXN", null, messages.buildCommitTxnMessage(e.getTxnId(), e.getDatabases(), e.getWriteId()));
  }

  @Override public void onAbortTxn(AbortTxnEvent e, Connection db, SQLGenerator sql) throws MetaException {
    add(db, "ABORT_TXN", null, messages.buildAbortTxnMessage(e.getTxnId(), e.getDbsUpdated(), e.getWriteId()));
  }

  @Override public void onAllocWriteId(AllocWriteIdEvent e, Connection db, SQLGenerator sql) throws MetaException {
    EventMessage message = messages.buildAllocWriteIdMessage(e.getTxnToWriteIdList(), e.getDbName(), e.getTableName());
    add(db, "ALLOC_WRITE_ID_EVENT", e.getDbName(), message);
  }

  @Override public void onCreateTable(CreateTableEvent e) throws MetaException {
    add(e, "CREATE_TABLE", e.getTable(), null);
  }

  @Override public void onDropTable(DropTableEvent e) throws MetaException {
    add(e, "DROP_TABLE", e.getTable(), null);
  }

  @Override public void onAlterTable(AlterTableEvent e) throws MetaException {
    EventMessage message = messages.buildAlterTableMessage(e.getOldTable(), e.getNewTable(), e.getIsTruncateOp(), e.getWriteId());
    add(e, "ALTER_TABLE", e.getNewTable(), message);
  }

  @Override public void onAddPartition(AddPartitionEvent e) throws MetaException {
    add(e, "ADD_PARTITION", e.getTable(), null);
  }

  @Override public void onDropPartition(DropPartitionEvent e) throws MetaException {
    add(e, "DROP_PARTITION", e.getTable(), null);
  }

  @Override public void onAlterPartition(AlterPartitionEvent e) throws MetaException {
    add(e, "ALTER_PARTITION", e.getTable(), null);
  }

  @Override public void onAlterPartitions(AlterPartitionsEvent e) throws MetaException {
    add(e, "ALTER_PARTITIONS", e.getTable(), null);
  }

  @Override public void onAlterDatabase(AlterDatabaseEvent e) throws MetaException {
    add(e, "ALTER_DATABASE", e.getNewDatabase().getName(), null, null);
  }

  @Override public void onDropDatabase(DropDatabaseEvent e) throws MetaException {
    Database database = e.getDatabase();
    add(e, "DROP_DATABASE", database.getName(), null, null);
  }

  @Override public void onAddForeignKey(AddForeignKeyEvent e) throws MetaException {
    SQLForeignKey first = e.getForeignKeyCols().get(0);
    EventMessage message = messages.buildAddForeignKeyMessage(e.getForeignKeyCols());
    add(e, "ADD_FOREIGNKEY", first.getPktable_db(), first.getPktable_name(), message);
  }

  @Override public void onAddDefaultConstraint(AddDefaultConstraintEvent e) throws MetaException {
    add(e, "ADD_DEFAULTCONSTRAINT", e.getDefaultConstraintCols().get(0).getTable_db(), e.getDefaultConstraintCols().get(0).getTable_name(), null);
  }

  @Override public void onAddCheckConstraint(AddCheckConstraintEvent e) throws MetaException {
    add(e, "ADD_CHECKCONSTRAINT", e.getCheckConstraintCols().get(0).getTable_db(), e.getCheckConstraintCols().get(0).getTable_name(), null);
  }

  @Override public void onDropConstraint(DropConstraintEvent e) throws MetaException {
    add(e, "DROP_CONSTRAINT", e.getDbName(), e.getTableName(), null);
  }
}
