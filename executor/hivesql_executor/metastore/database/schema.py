"""Hive's metastore tables under Hive's own names; the rest of the code uses the lower-case keys."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    String,
    Table,
    Text,
    UniqueConstraint,
    func,
    text,
)
from sqlalchemy.types import TypeEngine

SCHEMA_VERSION = "4.0.0"

metadata = MetaData()

# SQLite generates ids only for the exact type INTEGER.
_Id = BigInteger().with_variant(Integer, "sqlite")
_Millis = BigInteger()
_Flag = String(1)
_Name = String(128)
_Table = String(256)
# With the number of their owner these are keys, of which MySQL takes 3072 bytes.
_Part = String(767).with_variant(String(766), "mysql")
_ColumnName = String(767).with_variant(String(766), "mysql")
_Path = String(4000)
# So many characters of a text MySQL takes into an index.
_PREFIX = 255


def _c(name: str, key: str, type_: TypeEngine[Any], **options: Any) -> Column[Any]:
    return Column(name, type_, key=key, **options)


def _needed(name: str, key: str, type_: TypeEngine[Any], **options: Any) -> Column[Any]:
    return Column(name, type_, key=key, nullable=False, **options)


def _pk(name: str, key: str, *, generated: bool = False) -> Column[Any]:
    return Column(name, _Id, key=key, primary_key=True, autoincrement=generated)


def _generated(name: str, *columns: Any) -> Table:
    # Without AUTOINCREMENT, SQLite would give out again the greatest id once its row is deleted.
    return Table(name, metadata, *columns, sqlite_autoincrement=True)


def _params(name: str, owner: str, size: int) -> Table:
    return Table(
        name,
        metadata,
        _pk(owner, "owner_id"),
        Column("PARAM_KEY", String(size), key="name", primary_key=True),
        _c("PARAM_VALUE", "value", Text()),
    )


def _listed(name: str, owner: str, *columns: Column[Any]) -> Table:
    return Table(name, metadata, _pk(owner, "owner_id"), *columns, _pk("INTEGER_IDX", "position"))


# -- catalog
dbs = _generated(
    "DBS",
    _pk("DB_ID", "id", generated=True),
    _c("DESC", "comment", _Path),
    _needed("DB_LOCATION_URI", "location", _Path),
    _needed("NAME", "name", _Name, unique=True),
    _c("OWNER_NAME", "owner", _Name),
    _c("OWNER_TYPE", "owner_type", String(10)),
    _needed("CTLG_NAME", "catalog", String(256), server_default="hive"),
    _c("CREATE_TIME", "created_at", BigInteger()),
    _c("DB_MANAGED_LOCATION_URI", "managed_location", _Path),
    _needed("TYPE", "type", String(32), server_default="NATIVE"),
)
database_params = _params("DATABASE_PARAMS", "DB_ID", 180)
tbls = _generated(
    "TBLS",
    _pk("TBL_ID", "id", generated=True),
    _needed("CREATE_TIME", "created_at", BigInteger()),
    _needed("DB_ID", "database_id", _Id),
    _needed("LAST_ACCESS_TIME", "last_access", BigInteger(), server_default="0"),
    _c("OWNER", "owner", String(767)),
    _c("OWNER_TYPE", "owner_type", String(10)),
    _needed("RETENTION", "retention", BigInteger(), server_default="0"),
    _c("SD_ID", "sd_id", _Id),
    _needed("TBL_NAME", "name", _Table),
    _needed("TBL_TYPE", "type", _Name),
    _c("VIEW_EXPANDED_TEXT", "view_text", Text()),
    _c("VIEW_ORIGINAL_TEXT", "view_original", Text()),
    _needed("IS_REWRITE_ENABLED", "rewrite_enabled", Boolean(), default=False),
    _needed("WRITE_ID", "write_id", BigInteger(), server_default="0"),
    UniqueConstraint("name", "database_id", name="UNIQUETABLE"),
)
Index("TBLS_N50", tbls.c.sd_id)
table_params = _params("TABLE_PARAMS", "TBL_ID", 256)
sds = _generated(
    "SDS",
    _pk("SD_ID", "id", generated=True),
    _c("INPUT_FORMAT", "input_format", _Path),
    _needed("IS_COMPRESSED", "compressed", Boolean(), default=False),
    _c("LOCATION", "location", _Path),
    _needed("NUM_BUCKETS", "bucket_count", BigInteger()),
    _c("OUTPUT_FORMAT", "output_format", _Path),
    _c("SERDE_ID", "serde_id", _Id),
    _c("CD_ID", "cd_id", _Id),
    _needed("IS_STOREDASSUBDIRECTORIES", "in_subdirectories", Boolean(), default=False),
)
# Not one of Hive's: it tells whose rows lie in a place.
Index("HIVESQL_SDS_LOCATION", sds.c.location, mysql_length=_PREFIX)
sd_params = _params("SD_PARAMS", "SD_ID", 256)
serdes = _generated(
    "SERDES",
    _pk("SERDE_ID", "id", generated=True),
    _c("NAME", "name", _Name),
    _c("SLIB", "library", _Path),
)
serde_params = _params("SERDE_PARAMS", "SERDE_ID", 256)
cds = _generated("CDS", _pk("CD_ID", "id", generated=True))
columns_v2 = Table(
    "COLUMNS_V2",
    metadata,
    _pk("CD_ID", "owner_id"),
    _c("COMMENT", "comment", _Path),
    Column("COLUMN_NAME", _ColumnName, key="name", primary_key=True),
    _c("TYPE_NAME", "type", Text()),
    _needed("INTEGER_IDX", "position", BigInteger()),
)
partition_keys = Table(
    "PARTITION_KEYS",
    metadata,
    _pk("TBL_ID", "owner_id"),
    _c("PKEY_COMMENT", "comment", _Path),
    Column("PKEY_NAME", _Name, key="name", primary_key=True),
    _needed("PKEY_TYPE", "type", String(767)),
    _needed("INTEGER_IDX", "position", BigInteger()),
)
key_constraints = Table(
    "KEY_CONSTRAINTS",
    metadata,
    _pk("PARENT_TBL_ID", "owner_id"),
    _pk("POSITION", "position"),
    Column("CONSTRAINT_NAME", String(400), key="name", nullable=False),
    _needed("CONSTRAINT_TYPE", "type", Integer()),
    _c("COLUMN_NAMES", "columns", Text()),
    _c("REFERENCED_TABLE", "parent", Text()),
    _c("REFERENCED_COLUMNS", "parent_columns", Text()),
    _needed("ENABLE_VALIDATE_RELY", "options", Integer()),
    _c("DEFAULT_VALUE", "text", Text()),
)
bucketing_cols = _listed("BUCKETING_COLS", "SD_ID", _c("BUCKET_COL_NAME", "name", _Table))
sort_cols = _listed(
    "SORT_COLS",
    "SD_ID",
    _c("COLUMN_NAME", "name", String(767)),
    _needed("ORDER", "order", BigInteger()),
)
partitions = _generated(
    "PARTITIONS",
    _pk("PART_ID", "id", generated=True),
    _needed("CREATE_TIME", "created_at", BigInteger()),
    _needed("LAST_ACCESS_TIME", "last_access", BigInteger(), server_default="0"),
    _needed("PART_NAME", "name", _Part),
    _c("SD_ID", "sd_id", _Id),
    _needed("TBL_ID", "table_id", _Id),
    _needed("WRITE_ID", "write_id", BigInteger(), server_default="0"),
    UniqueConstraint("table_id", "name", name="UNIQUEPARTITION"),
)
Index("PARTITIONS_N50", partitions.c.sd_id)
partition_key_vals = _listed("PARTITION_KEY_VALS", "PART_ID", _c("PART_KEY_VAL", "value", _Table))
partition_params = _params("PARTITION_PARAMS", "PART_ID", 256)


def _column_statistics(name: str, owner: str) -> Table:
    return Table(
        name,
        metadata,
        _pk(owner, "owner_id"),
        Column("COLUMN_NAME", _ColumnName, key="name", primary_key=True),
        _needed("COLUMN_TYPE", "type", Text()),
        _needed("NUM_NULLS", "nulls", BigInteger()),
        _c("NUM_DISTINCTS", "distinct", BigInteger()),
        _c("LOW_VALUE", "low", Text()),
        _c("HIGH_VALUE", "high", Text()),
        _c("AVG_COL_LEN", "average_length", Float()),
        _c("MAX_COL_LEN", "longest", BigInteger()),
        _c("NUM_TRUES", "trues", BigInteger()),
        _c("NUM_FALSES", "falses", BigInteger()),
    )


table_statistics = _column_statistics("TAB_COL_STATS", "TBL_ID")
partition_statistics = _column_statistics("PART_COL_STATS", "PART_ID")
functions = _generated(
    "FUNCS",
    _pk("FUNC_ID", "id", generated=True),
    _c("CLASS_NAME", "java_class", _Path),
    _needed("CREATE_TIME", "created_at", Integer()),
    _c("DB_ID", "database_id", _Id),
    _c("FUNC_NAME", "name", _Name),
    _needed("FUNC_TYPE", "type", Integer()),
    _c("OWNER_NAME", "owner", _Name),
    _c("OWNER_TYPE", "owner_type", String(10)),
    UniqueConstraint("name", "database_id", name="UNIQUEFUNCTION"),
)
function_resources = _listed(
    "FUNC_RU",
    "FUNC_ID",
    _needed("RESOURCE_TYPE", "type", Integer()),
    _c("RESOURCE_URI", "place", _Path),
)
roles = _generated(
    "ROLES",
    _pk("ROLE_ID", "id", generated=True),
    _needed("CREATE_TIME", "created_at", Integer()),
    _c("OWNER_NAME", "owner", _Name),
    _c("ROLE_NAME", "name", _Name, unique=True),
)


def _granted(name: str, key: str, *columns: Column[Any]) -> Table:
    return _generated(
        name,
        _pk(key, "id", generated=True),
        *columns,
        _needed("GRANT_OPTION", "option", SmallInteger()),
        _c("GRANTOR", "grantor", _Name),
        _c("GRANTOR_TYPE", "grantor_type", _Name),
        _c("PRINCIPAL_NAME", "principal", _Name),
        _c("PRINCIPAL_TYPE", "principal_type", _Name),
    )


role_map = _granted(
    "ROLE_MAP",
    "ROLE_GRANT_ID",
    _needed("ADD_TIME", "created_at", Integer()),
    _c("ROLE_ID", "owner_id", _Id),
)
database_privileges = _granted(
    "DB_PRIVS",
    "DB_GRANT_ID",
    _needed("CREATE_TIME", "created_at", Integer()),
    _c("DB_ID", "owner_id", _Id),
    _c("DB_PRIV", "privilege", _Name),
    _c("AUTHORIZER", "authorizer", _Name),
)
table_privileges = _granted(
    "TBL_PRIVS",
    "TBL_GRANT_ID",
    _needed("CREATE_TIME", "created_at", Integer()),
    _c("TBL_ID", "owner_id", _Id),
    _c("TBL_PRIV", "privilege", _Name),
    _c("AUTHORIZER", "authorizer", _Name),
)
Index("DBPRIVILEGEINDEX", database_privileges.c.owner_id)
Index("TABLEPRIVILEGEINDEX", table_privileges.c.owner_id)
version = Table(
    "VERSION",
    metadata,
    _pk("VER_ID", "id"),
    _needed("SCHEMA_VERSION", "version", String(127)),
    _c("VERSION_COMMENT", "comment", String(255)),
)

# Not one of Hive's tables: alembic keeps the revision of this schema in it.
revision = Table(
    "HIVESQL_REVISION",
    metadata,
    Column("version_num", String(32), key="revision", primary_key=True),
)

# -- transactions
UNENDED_TEXT = text("\"TXN_STATE\" <> 'c'")
txns = _generated(
    "TXNS",
    _pk("TXN_ID", "id", generated=True),
    _needed("TXN_STATE", "state", _Flag),
    _needed("TXN_STARTED", "started", _Millis),
    _needed("TXN_LAST_HEARTBEAT", "last_heartbeat", _Millis),
    _needed("TXN_USER", "user", _Name),
    _needed("TXN_HOST", "host", _Name),
    _c("TXN_AGENT_INFO", "agent_info", _Name),
    _c("TXN_META_INFO", "meta_info", _Name),
    _c("TXN_HEARTBEAT_COUNT", "heartbeat_count", Integer()),
    _c("TXN_TYPE", "type", Integer()),
    # The few that have not committed, and the latest, among all that nobody has forgotten yet.
    Index(
        "HIVESQL_TXNS_UNENDED",
        "state",
        "id",
        postgresql_where=UNENDED_TEXT,
        sqlite_where=UNENDED_TEXT,
    ),
    Index("HIVESQL_TXNS_STARTED", "started"),
)
txn_components = Table(
    "TXN_COMPONENTS",
    metadata,
    _needed("TC_TXNID", "txn_id", BigInteger(), index=True),
    _needed("TC_DATABASE", "database", _Name),
    _c("TC_TABLE", "table", _Table),
    _c("TC_PARTITION", "partition", _Part),
    _needed("TC_OPERATION_TYPE", "operation", _Flag),
    _c("TC_WRITEID", "write_id", BigInteger()),
)
completed_txn_components = Table(
    "COMPLETED_TXN_COMPONENTS",
    metadata,
    _needed("CTC_TXNID", "txn_id", BigInteger()),
    _needed("CTC_DATABASE", "database", _Name),
    _c("CTC_TABLE", "table", _Table),
    _c("CTC_PARTITION", "partition", _Part),
    _needed("CTC_TIMESTAMP", "timestamp", DateTime(), server_default=func.current_timestamp()),
    _c("CTC_WRITEID", "write_id", BigInteger()),
    _needed("CTC_UPDATE_DELETE", "update_delete", _Flag),
    Index(
        "COMPLETED_TXN_COMPONENTS_INDEX",
        "database",
        "table",
        "partition",
        mysql_length={"CTC_PARTITION": _PREFIX},
    ),
)
next_write_id = Table(
    "NEXT_WRITE_ID",
    metadata,
    _needed("NWI_DATABASE", "database", _Name),
    _needed("NWI_TABLE", "table", _Table),
    _needed("NWI_NEXT", "next", BigInteger()),
    Index("NEXT_WRITE_ID_IDX", "database", "table", unique=True),
)
txn_to_write_id = Table(
    "TXN_TO_WRITE_ID",
    metadata,
    _needed("T2W_TXNID", "txn_id", BigInteger()),
    _needed("T2W_DATABASE", "database", _Name),
    _needed("T2W_TABLE", "table", _Table),
    _needed("T2W_WRITEID", "write_id", BigInteger()),
    Index("TBL_TO_TXN_ID_IDX", "database", "table", "txn_id", unique=True),
    Index("TBL_TO_WRITE_ID_IDX", "database", "table", "write_id", unique=True),
)
write_set = Table(
    "WRITE_SET",
    metadata,
    _needed("WS_DATABASE", "database", _Name),
    _needed("WS_TABLE", "table", _Table),
    _c("WS_PARTITION", "partition", _Part),
    _needed("WS_TXNID", "txn_id", BigInteger()),
    _needed("WS_COMMIT_ID", "commit_id", BigInteger()),
    _needed("WS_OPERATION_TYPE", "operation", _Flag),
)
min_history_level = Table(
    "MIN_HISTORY_LEVEL",
    metadata,
    _pk("MHL_TXNID", "txn_id"),
    _needed("MHL_MIN_OPEN_TXNID", "min_open", BigInteger(), index=True),
)
txn_lock = Table("TXN_LOCK_TBL", metadata, _needed("TXN_LOCK", "lock", BigInteger()))
next_lock_id = Table("NEXT_LOCK_ID", metadata, _needed("NL_NEXT", "next", BigInteger()))
aux = Table(
    "AUX_TABLE",
    metadata,
    Column("MT_KEY1", _Name, key="name", primary_key=True),
    _pk("MT_KEY2", "value"),
    _c("MT_COMMENT", "comment", String(255)),
)
hive_locks = Table(
    "HIVE_LOCKS",
    metadata,
    _pk("HL_LOCK_EXT_ID", "lock_id"),
    _pk("HL_LOCK_INT_ID", "internal_id"),
    _needed("HL_TXNID", "txn_id", BigInteger(), index=True),
    _needed("HL_DB", "database", _Name),
    _c("HL_TABLE", "table", _Table),
    _c("HL_PARTITION", "partition", _Part),
    _needed("HL_LOCK_STATE", "state", _Flag),
    _needed("HL_LOCK_TYPE", "type", _Flag),
    _needed("HL_LAST_HEARTBEAT", "last_heartbeat", _Millis),
    _c("HL_ACQUIRED_AT", "acquired_at", _Millis),
    _needed("HL_USER", "user", _Name),
    _needed("HL_HOST", "host", _Name),
    _c("HL_HEARTBEAT_COUNT", "heartbeat_count", Integer()),
    _c("HL_AGENT_INFO", "agent_info", _Name),
    _c("HL_BLOCKEDBY_EXT_ID", "blocked_by_id", BigInteger()),
    _c("HL_BLOCKEDBY_INT_ID", "blocked_by_internal", BigInteger()),
)

# -- compaction
next_compaction_id = Table(
    "NEXT_COMPACTION_QUEUE_ID", metadata, _needed("NCQ_NEXT", "next", BigInteger())
)


def _compactions(name: str, prefix: str, *own: Any) -> Table:
    return Table(
        name,
        metadata,
        _pk(f"{prefix}_ID", "id"),
        _needed(f"{prefix}_DATABASE", "database", _Name),
        _needed(f"{prefix}_TABLE", "table", _Table),
        _c(f"{prefix}_PARTITION", "partition", _Part),
        _needed(f"{prefix}_STATE", "state", _Flag),
        _needed(f"{prefix}_TYPE", "kind", _Flag),
        _c(f"{prefix}_TBLPROPERTIES", "properties", String(2048)),
        _c(f"{prefix}_WORKER_ID", "worker_id", _Name),
        _c(f"{prefix}_ENQUEUE_TIME", "enqueued", _Millis),
        _c(f"{prefix}_START", "started", _Millis),
        _c(f"{prefix}_RUN_AS", "run_as", _Name),
        _c(f"{prefix}_HIGHEST_WRITE_ID", "highest_write_id", BigInteger()),
        _c(f"{prefix}_META_INFO", "meta_info", LargeBinary()),
        _c(f"{prefix}_HADOOP_JOB_ID", "job_id", String(32)),
        _c(f"{prefix}_ERROR_MESSAGE", "error", Text()),
        _c(f"{prefix}_NEXT_TXN_ID", "next_txn_id", BigInteger()),
        _c(f"{prefix}_TXN_ID", "txn_id", BigInteger()),
        _c(f"{prefix}_COMMIT_TIME", "committed", _Millis),
        _c(f"{prefix}_INITIATOR_ID", "initiator_id", _Name),
        _c(f"{prefix}_INITIATOR_VERSION", "initiator_version", _Name),
        _c(f"{prefix}_WORKER_VERSION", "worker_version", _Name),
        _c(f"{prefix}_POOL_NAME", "pool", _Name),
        _c(f"{prefix}_NUMBER_OF_BUCKETS", "bucket_count", Integer()),
        _c(f"{prefix}_ORDER_BY", "order_by", _Path),
        *own,
    )


compaction_queue = _compactions(
    "COMPACTION_QUEUE",
    "CQ",
    _c("CQ_CLEANER_START", "cleaner_started", _Millis),
    _needed("CQ_RETRY_RETENTION", "retry_retention", BigInteger(), server_default="0"),
)
completed_compactions = _compactions(
    "COMPLETED_COMPACTIONS",
    "CC",
    _c("CC_END", "ended", _Millis),
    Index(
        "COMPLETED_COMPACTIONS_RES",
        "database",
        "table",
        "partition",
        mysql_length={"CC_PARTITION": _PREFIX},
    ),
)

# Not one of Hive's tables: its DummyTxnManager keeps such locks in ZooKeeper.
object_locks = _generated(
    "HIVESQL_OBJECT_LOCKS",
    _pk("ID", "id", generated=True),
    _needed("OBJECT", "name", Text()),
    _needed("EXCLUSIVE", "exclusive", Boolean()),
    _needed("EXPLICIT", "explicit", Boolean()),
    _needed("QUERY_ID", "query_id", _Name),
    _needed("QUERY_TEXT", "query_text", Text()),
    _needed("USER_NAME", "user", _Name),
    _needed("HOST", "host", _Name),
    _needed("TAKEN_AT", "taken", _Millis),
    _needed("LAST_HEARTBEAT", "last_heartbeat", _Millis),
    Index("ix_HIVESQL_OBJECT_LOCKS_OBJECT", "name", mysql_length=_PREFIX),
)

# Nor is this: what each statement did to a transactional table.
history = _generated(
    "HIVESQL_HISTORY",
    _pk("ID", "id", generated=True),
    _needed("DB_NAME", "database", _Name),
    _needed("TBL_NAME", "table", _Table),
    _needed("WRITE_ID", "write_id", BigInteger()),
    _needed("TXN_ID", "txn_id", BigInteger()),
    _needed("OPERATION", "operation", _Name),
    _c("STATEMENT", "statement", Text()),
    _c("USER_NAME", "user", _Name),
    _c("HOST", "host", _Name),
    _c("PROGRAM", "program", _Name),
    _c("STARTED_AT", "started", _Millis),
    _c("DURATION", "duration", _Millis),
    _needed("COMMITTED_AT", "committed", _Millis, index=True),
    _c("ROWS_INSERTED", "inserted", BigInteger()),
    _c("ROWS_UPDATED", "updated", BigInteger()),
    _c("ROWS_DELETED", "deleted", BigInteger()),
    _c("FILES", "files", BigInteger()),
    _c("BYTES", "bytes", BigInteger()),
    Index("HIVESQL_HISTORY_IDX", "database", "table", "write_id"),
)

# Nor is this: what was committed under an idempotency key, and as which transaction.
idempotence = Table(
    "HIVESQL_IDEMPOTENCE",
    metadata,
    Column(
        "IDEMPOTENCY_KEY", Text().with_variant(String(768), "mysql"), key="key", primary_key=True
    ),
    _c("LAST_NUMBER", "number", BigInteger()),
    _needed("DIGEST", "digest", String(32)),
    _needed("TXN_ID", "txn_id", BigInteger()),
    _needed("COMMITTED_AT", "committed", _Millis),
)
