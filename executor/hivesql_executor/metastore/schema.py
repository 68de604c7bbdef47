"""Hive's metastore tables under Hive's names, as far as they are used here."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

metadata = MetaData()
# SQLite only counts INTEGER PRIMARY KEY by itself.
_Id = BigInteger().with_variant(Integer(), "sqlite")


def _name(column: str, *, key: bool = False) -> Column[str]:
    return Column(column, String(256), nullable=False, primary_key=key)


def _number(column: str, *, key: bool = False, null: bool = True) -> Column[int]:
    return Column(column, BigInteger, nullable=null and not key, primary_key=key)


def _text(column: str, length: int = 4000) -> Column[str]:
    return Column(column, String(length))


dbs = Table(
    "DBS", metadata,
    Column("DB_ID", _Id, primary_key=True),
    Column("NAME", String(128), nullable=False, unique=True),
    _text("DB_LOCATION_URI"), _text("DESC"), _text("OWNER_NAME", 128),
)  # fmt: skip
database_params = Table(
    "DATABASE_PARAMS", metadata,
    _number("DB_ID", key=True), _name("PARAM_KEY", key=True), _text("PARAM_VALUE"),
)  # fmt: skip
sds = Table(
    "SDS", metadata,
    Column("SD_ID", _Id, primary_key=True),
    _text("LOCATION"), _text("INPUT_FORMAT"), Column("NUM_BUCKETS", Integer),
)  # fmt: skip
serde_params = Table(
    "SERDE_PARAMS", metadata,
    _number("SERDE_ID", key=True), _name("PARAM_KEY", key=True), Column("PARAM_VALUE", Text),
)  # fmt: skip
tbls = Table(
    "TBLS", metadata,
    Column("TBL_ID", _Id, primary_key=True),
    _number("DB_ID", null=False),
    _name("TBL_NAME"), _text("TBL_TYPE", 128), _text("OWNER", 767),
    Column("CREATE_TIME", Integer), _number("SD_ID"), Column("VIEW_ORIGINAL_TEXT", Text),
    UniqueConstraint("DB_ID", "TBL_NAME"),
    sqlite_autoincrement=True,
)  # fmt: skip
table_params = Table(
    "TABLE_PARAMS", metadata,
    _number("TBL_ID", key=True), _name("PARAM_KEY", key=True), Column("PARAM_VALUE", Text),
)  # fmt: skip
columns_v2 = Table(
    "COLUMNS_V2", metadata,
    _number("CD_ID", key=True), Column("INTEGER_IDX", Integer, primary_key=True),
    _text("COLUMN_NAME", 767), Column("TYPE_NAME", Text), _text("COMMENT", 4000),
)  # fmt: skip
partition_keys = Table(
    "PARTITION_KEYS", metadata,
    _number("TBL_ID", key=True), Column("INTEGER_IDX", Integer, primary_key=True),
    _text("PKEY_NAME", 128), _text("PKEY_TYPE", 767), _text("PKEY_COMMENT", 4000),
)  # fmt: skip
bucketing_cols = Table(
    "BUCKETING_COLS", metadata,
    _number("SD_ID", key=True), Column("INTEGER_IDX", Integer, primary_key=True),
    _text("BUCKET_COL_NAME", 256),
)  # fmt: skip
sort_cols = Table(
    "SORT_COLS", metadata,
    _number("SD_ID", key=True), Column("INTEGER_IDX", Integer, primary_key=True),
    _text("COLUMN_NAME", 767), Column("ORDER", Integer),
)  # fmt: skip
partitions = Table(
    "PARTITIONS", metadata,
    Column("PART_ID", _Id, primary_key=True),
    _number("TBL_ID", null=False), _text("PART_NAME", 767), _text("LOCATION"),
    UniqueConstraint("TBL_ID", "PART_NAME"),
)  # fmt: skip
partition_key_vals = Table(
    "PARTITION_KEY_VALS", metadata,
    _number("PART_ID", key=True), Column("INTEGER_IDX", Integer, primary_key=True),
    _text("PART_KEY_VAL", 1024),
)  # fmt: skip

txns = Table(
    "TXNS", metadata,
    Column("TXN_ID", _Id, primary_key=True),
    Column("TXN_STATE", String(1), nullable=False),
    _number("TXN_STARTED", null=False), _number("TXN_LAST_HEARTBEAT", null=False),
    _name("TXN_USER"), _name("TXN_HOST"),
    _text("TXN_AGENT_INFO", 128), _text("TXN_META_INFO", 128),
    Column("TXN_HEARTBEAT_COUNT", Integer), Column("TXN_TYPE", Integer),
    sqlite_autoincrement=True,
)  # fmt: skip
txn_components = Table(
    "TXN_COMPONENTS", metadata,
    _number("TC_TXNID", null=False), _name("TC_DATABASE"), _text("TC_TABLE", 256),
    _text("TC_PARTITION", 767), Column("TC_OPERATION_TYPE", String(1), nullable=False),
    _number("TC_WRITEID"),
    Index("TC_TXNID_INDEX", "TC_TXNID"),
)  # fmt: skip
completed_txn_components = Table(
    "COMPLETED_TXN_COMPONENTS", metadata,
    _number("CTC_TXNID", null=False), _name("CTC_DATABASE"), _text("CTC_TABLE", 256),
    _text("CTC_PARTITION", 767), _number("CTC_TIMESTAMP"), _number("CTC_WRITEID"),
    Column("CTC_UPDATE_DELETE", String(1), nullable=False),
    Index("COMPLETED_TXN_COMPONENTS_IDX", "CTC_DATABASE", "CTC_TABLE", "CTC_PARTITION"),
)  # fmt: skip
txn_to_write_id = Table(
    "TXN_TO_WRITE_ID", metadata,
    _number("T2W_TXNID", null=False), _name("T2W_DATABASE"), _name("T2W_TABLE"),
    _number("T2W_WRITEID", null=False),
    UniqueConstraint("T2W_DATABASE", "T2W_TABLE", "T2W_TXNID"),
    UniqueConstraint("T2W_DATABASE", "T2W_TABLE", "T2W_WRITEID"),
)  # fmt: skip
next_write_id = Table(
    "NEXT_WRITE_ID", metadata,
    _name("NWI_DATABASE", key=True), _name("NWI_TABLE", key=True),
    _number("NWI_NEXT", null=False),
)  # fmt: skip
next_lock_id = Table("NEXT_LOCK_ID", metadata, _number("NL_NEXT", null=False))
next_compaction_id = Table("NEXT_COMPACTION_QUEUE_ID", metadata, _number("NCQ_NEXT", null=False))
txn_lock_tbl = Table("TXN_LOCK_TBL", metadata, _number("TXN_LOCK", null=False))
write_set = Table(
    "WRITE_SET", metadata,
    _name("WS_DATABASE"), _name("WS_TABLE"), _text("WS_PARTITION", 767),
    _number("WS_TXNID", null=False), _number("WS_COMMIT_ID", null=False),
    Column("WS_OPERATION_TYPE", String(1), nullable=False),
    Index("WRITE_SET_IDX", "WS_DATABASE", "WS_TABLE"),
)  # fmt: skip
min_history_level = Table(
    "MIN_HISTORY_LEVEL", metadata,
    _number("MHL_TXNID", key=True), _number("MHL_MIN_OPEN_TXNID", null=False),
)  # fmt: skip
hive_locks = Table(
    "HIVE_LOCKS", metadata,
    _number("HL_LOCK_EXT_ID", key=True), _number("HL_LOCK_INT_ID", key=True),
    _number("HL_TXNID", null=False), _name("HL_DB"), _text("HL_TABLE", 256),
    _text("HL_PARTITION", 767), Column("HL_LOCK_STATE", String(1), nullable=False),
    Column("HL_LOCK_TYPE", String(1), nullable=False),
    _number("HL_LAST_HEARTBEAT", null=False), _number("HL_ACQUIRED_AT"),
    _name("HL_USER"), _name("HL_HOST"), Column("HL_HEARTBEAT_COUNT", Integer),
    _text("HL_AGENT_INFO", 128), _number("HL_BLOCKEDBY_EXT_ID"), _number("HL_BLOCKEDBY_INT_ID"),
    Index("HL_TXNID_IDX", "HL_TXNID"),
)  # fmt: skip


def _compactions(name: str, prefix: str) -> Table:
    return Table(
        name, metadata,
        _number(f"{prefix}_ID", key=True),
        _name(f"{prefix}_DATABASE"), _name(f"{prefix}_TABLE"), _text(f"{prefix}_PARTITION", 767),
        Column(f"{prefix}_STATE", String(1), nullable=False),
        Column(f"{prefix}_TYPE", String(1), nullable=False),
        _text(f"{prefix}_WORKER_ID", 128), _number(f"{prefix}_ENQUEUE_TIME"),
        _number(f"{prefix}_START"), _number(f"{prefix}_END"), _text(f"{prefix}_RUN_AS", 128),
        _number(f"{prefix}_HIGHEST_WRITE_ID"), Column(f"{prefix}_ERROR_MESSAGE", Text),
        _number(f"{prefix}_NEXT_TXN_ID"), _number(f"{prefix}_TXN_ID"),
        _number(f"{prefix}_COMMIT_TIME"), _text(f"{prefix}_INITIATOR_ID", 128),
    )  # fmt: skip


compaction_queue = _compactions("COMPACTION_QUEUE", "CQ")
completed_compactions = _compactions("COMPLETED_COMPACTIONS", "CC")
version = Table(
    "VERSION", metadata,
    _number("VER_ID", key=True), _text("SCHEMA_VERSION", 127), _text("VERSION_COMMENT", 255),
)  # fmt: skip

SCHEMA_VERSION = "hivesql-1"
