"""Which tables the databases ``sys`` and ``information_schema`` have, and their columns.

Names, order and types are those of Hive 4.1's schema tool (hive-schema-4.1.0.hive.sql).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from hivesql_planner.model.table import Column, Database, Table, TableName

SYS, INFORMATION_SCHEMA = "sys", "information_schema"
SYSTEM_DATABASES: Mapping[str, Database] = {
    SYS: Database(
        name=SYS, location="", owner="public", owner_type="ROLE",
        comment="What the metastore holds: read only",
    ),
    INFORMATION_SCHEMA: Database(
        name=INFORMATION_SCHEMA, location="", owner="public", owner_type="ROLE",
        comment="Databases, tables and columns by SQL's standard names: read only",
    ),
}  # fmt: skip

_PARAMS = "PARAM_KEY string, PARAM_VALUE string"
_GRANTED = """GRANTOR string, GRANTOR_TYPE string, PRINCIPAL_NAME string,
    PRINCIPAL_TYPE string"""
_COLUMN_STATISTICS = """LONG_LOW_VALUE bigint, LONG_HIGH_VALUE bigint, DOUBLE_HIGH_VALUE double,
    DOUBLE_LOW_VALUE double, BIG_DECIMAL_LOW_VALUE string, BIG_DECIMAL_HIGH_VALUE string,
    NUM_NULLS bigint, NUM_DISTINCTS bigint, AVG_COL_LEN double, MAX_COL_LEN bigint,
    NUM_TRUES bigint, NUM_FALSES bigint, LAST_ANALYZED bigint, ENGINE string"""
_BASICS = """COLUMN_STATS_ACCURATE string, NUM_FILES string, NUM_ROWS string,
    RAW_DATA_SIZE string, TOTAL_SIZE string, TRANSIENT_LAST_DDL_TIME string"""
_COMPACTIONS = """C_ID bigint, C_CATALOG string, C_DATABASE string, C_TABLE string,
    C_PARTITION string, C_TYPE string, C_STATE string, C_WORKER_HOST string, C_WORKER_ID string,
    C_WORKER_VERSION string, C_ENQUEUE_TIME string, C_START string, C_DURATION string,
    C_HADOOP_JOB_ID string, C_RUN_AS string, C_ERROR_MESSAGE string, C_NEXT_TXN_ID bigint,
    C_TXN_ID bigint, C_COMMIT_TIME string, C_HIGHEST_WRITE_ID bigint, C_INITIATOR_HOST string,
    C_INITIATOR_ID string, C_INITIATOR_VERSION string, C_CLEANER_START string,
    C_POOL_NAME string, C_NUMBER_OF_BUCKETS string, C_TBLPROPERTIES string"""
_TRANSACTIONS = """TXN_ID bigint, STATE string, STARTED string, LAST_HEARTBEAT string,
    USER string, HOST string, AGENT_INFO string, META_INFO string, HEARTBEAT_COUNT int,
    TYPE string, TC_DATABASE string, TC_TABLE string, TC_PARTITION string,
    TC_OPERATION_TYPE string, TC_WRITEID bigint"""
_LOCKS = """LOCK_EXT_ID bigint, LOCK_INT_ID bigint, TXNID bigint, DB string, TABLE string,
    PARTITION string, LOCK_STATE string, LOCK_TYPE string, LAST_HEARTBEAT string,
    ACQUIRED_AT string, USER string, HOST string, HEARTBEAT_COUNT int, AGENT_INFO string,
    BLOCKEDBY_EXT_ID bigint, BLOCKEDBY_INT_ID bigint"""
_VERSION = "VER_ID {0}, SCHEMA_VERSION string, VERSION_COMMENT string"
_QUEUE = """{0}_ID bigint, {0}_DATABASE string, {0}_TABLE string, {0}_PARTITION string,
    {0}_STATE string, {0}_TYPE string, {0}_TBLPROPERTIES string, {0}_WORKER_ID string,
    {0}_ENQUEUE_TIME bigint, {0}_START bigint, {1}{0}_RUN_AS string, {0}_HIGHEST_WRITE_ID bigint,
    {0}_HADOOP_JOB_ID string, {0}_ERROR_MESSAGE string, {0}_NEXT_TXN_ID bigint,
    {0}_TXN_ID bigint, {0}_COMMIT_TIME bigint, {0}_INITIATOR_ID string,
    {0}_INITIATOR_VERSION string, {0}_WORKER_VERSION string, {2}{0}_POOL_NAME string,
    {0}_NUMBER_OF_BUCKETS string"""

_SYS: Mapping[str, str] = {
    "bucketing_cols": "SD_ID bigint, BUCKET_COL_NAME string, INTEGER_IDX int",
    "cds": "CD_ID bigint",
    "columns_v2": """CD_ID bigint, COMMENT string, COLUMN_NAME string, TYPE_NAME string,
        INTEGER_IDX int""",
    "compaction_queue": _QUEUE.format("CQ", "", "CQ_CLEANER_START bigint, "),
    "compactions": _COMPACTIONS,
    "completed_compactions": _QUEUE.format("CC", "CC_END bigint, ", ""),
    "database_params": f"DB_ID bigint, {_PARAMS}",
    "db_privs": f"""DB_GRANT_ID bigint, CREATE_TIME int, DB_ID bigint, GRANT_OPTION int,
        {_GRANTED}, DB_PRIV string, AUTHORIZER string""",
    "db_version": _VERSION.format("bigint"),
    "dbs": """DB_ID bigint, DB_LOCATION_URI string, NAME string, OWNER_NAME string,
        OWNER_TYPE string""",
    "funcs": """FUNC_ID bigint, CLASS_NAME string, CREATE_TIME int, DB_ID bigint,
        FUNC_NAME string, FUNC_TYPE int, OWNER_NAME string, OWNER_TYPE string""",
    "hive_locks": """HL_LOCK_EXT_ID bigint, HL_LOCK_INT_ID bigint, HL_TXNID bigint, HL_DB string,
        HL_TABLE string, HL_PARTITION string, HL_LOCK_STATE string, HL_LOCK_TYPE string,
        HL_LAST_HEARTBEAT bigint, HL_ACQUIRED_AT bigint, HL_USER string, HL_HOST string,
        HL_HEARTBEAT_COUNT int, HL_AGENT_INFO string, HL_BLOCKEDBY_EXT_ID bigint,
        HL_BLOCKEDBY_INT_ID bigint""",
    "key_constraints": """CHILD_CD_ID bigint, CHILD_INTEGER_IDX int, CHILD_TBL_ID bigint,
        PARENT_CD_ID bigint, PARENT_INTEGER_IDX int, PARENT_TBL_ID bigint, POSITION bigint,
        CONSTRAINT_NAME string, CONSTRAINT_TYPE string, UPDATE_RULE string, DELETE_RULE string,
        ENABLE_VALIDATE_RELY int, DEFAULT_VALUE string""",
    "locks": _LOCKS,
    "min_history_level": "MHL_TXNID bigint, MHL_MIN_OPEN_TXNID bigint",
    "part_col_stats": f"""CS_ID bigint, COLUMN_NAME string, COLUMN_TYPE string, PART_ID bigint,
        {_COLUMN_STATISTICS}""",
    "partition_key_vals": "PART_ID bigint, PART_KEY_VAL string, INTEGER_IDX int",
    "partition_keys": """TBL_ID bigint, PKEY_COMMENT string, PKEY_NAME string, PKEY_TYPE string,
        INTEGER_IDX int""",
    "partition_params": f"PART_ID bigint, {_PARAMS}",
    "partition_stats_view": f"PART_ID bigint, {_BASICS}",
    "partitions": """PART_ID bigint, CREATE_TIME int, LAST_ACCESS_TIME int, PART_NAME string,
        SD_ID bigint, TBL_ID bigint""",
    "role_map": f"""ROLE_GRANT_ID bigint, ADD_TIME int, GRANT_OPTION int, {_GRANTED},
        ROLE_ID bigint""",
    "roles": "ROLE_ID bigint, CREATE_TIME int, OWNER_NAME string, ROLE_NAME string",
    "scheduled_executions": """SCHEDULED_EXECUTION_ID bigint, SCHEDULED_QUERY_ID bigint,
        EXECUTOR_QUERY_ID string, STATE string, START_TIME int, END_TIME int,
        ERROR_MESSAGE string, LAST_UPDATE_TIME int""",
    "scheduled_queries": """SCHEDULED_QUERY_ID bigint, SCHEDULE_NAME string, ENABLED boolean,
        CLUSTER_NAMESPACE string, SCHEDULE string, USER string, QUERY string,
        NEXT_EXECUTION bigint, ACTIVE_EXECUTION_ID bigint""",
    "sd_params": f"SD_ID bigint, {_PARAMS}",
    "sds": """SD_ID bigint, CD_ID bigint, INPUT_FORMAT string, IS_COMPRESSED boolean,
        IS_STOREDASSUBDIRECTORIES boolean, LOCATION string, NUM_BUCKETS int,
        OUTPUT_FORMAT string, SERDE_ID bigint""",
    "serde_params": f"SERDE_ID bigint, {_PARAMS}",
    "serdes": "SERDE_ID bigint, NAME string, SLIB string",
    "sort_cols": "SD_ID bigint, COLUMN_NAME string, ORDER int, INTEGER_IDX int",
    "tab_col_stats": f"""CS_ID bigint, COLUMN_NAME string, COLUMN_TYPE string, TBL_ID bigint,
        {_COLUMN_STATISTICS}""",
    "table_params": f"TBL_ID bigint, {_PARAMS}",
    "table_stats_view": f"TBL_ID bigint, {_BASICS}",
    "tbl_privs": f"""TBL_GRANT_ID bigint, CREATE_TIME int, GRANT_OPTION int, {_GRANTED},
        TBL_PRIV string, TBL_ID bigint, AUTHORIZER string""",
    "tbls": """TBL_ID bigint, CREATE_TIME int, DB_ID bigint, LAST_ACCESS_TIME int, OWNER string,
        RETENTION int, SD_ID bigint, TBL_NAME string, TBL_TYPE string, VIEW_EXPANDED_TEXT string,
        VIEW_ORIGINAL_TEXT string, IS_REWRITE_ENABLED boolean""",
    "transactions": _TRANSACTIONS,
    "txn_components": """TC_TXNID bigint, TC_DATABASE string, TC_TABLE string,
        TC_PARTITION string, TC_OPERATION_TYPE string, TC_WRITEID bigint""",
    "txns": """TXN_ID bigint, TXN_STATE string, TXN_STARTED bigint, TXN_LAST_HEARTBEAT bigint,
        TXN_USER string, TXN_HOST string, TXN_AGENT_INFO string, TXN_META_INFO string,
        TXN_HEARTBEAT_COUNT int, TXN_TYPE int""",
    "version": _VERSION.format("int"),
}

LAYOUT, SETTINGS = TableName(SYS, "hivesql_table_layout"), TableName(SYS, "hivesql_settings")
HISTORY = TableName(SYS, "hivesql_history")
_OURS: Mapping[str, str] = {
    LAYOUT.name: """DATABASE_NAME string, TABLE_NAME string, PARTITION_NAME string, FILES bigint,
        BYTES bigint, DELTAS int, DELETE_DELTAS int, DELETE_SHARE double""",
    HISTORY.name: """DATABASE_NAME string, TABLE_NAME string, VERSION bigint, COMMITTED_AT string,
        OPERATION string, USER_NAME string, HOST string, PROGRAM string, STATEMENT string,
        ROWS_INSERTED bigint, ROWS_UPDATED bigint, ROWS_DELETED bigint, FILES bigint,
        BYTES bigint, DURATION_MS bigint, COMPACTED_BY string, TXN_ID bigint""",
    SETTINGS.name: "KEY string, VALUE string, DEFAULT_VALUE string, MEANING string",
}
"""What Hive does not have."""

_INFORMATION_SCHEMA: Mapping[str, str] = {
    "column_privileges": """GRANTOR string, GRANTEE string, TABLE_CATALOG string,
        TABLE_SCHEMA string, TABLE_NAME string, COLUMN_NAME string, PRIVILEGE_TYPE string,
        IS_GRANTABLE string""",
    "columns": """TABLE_CATALOG string, TABLE_SCHEMA string, TABLE_NAME string,
        COLUMN_NAME string, ORDINAL_POSITION int, COLUMN_DEFAULT string, IS_NULLABLE string,
        DATA_TYPE string, CHARACTER_MAXIMUM_LENGTH int, CHARACTER_OCTET_LENGTH int,
        NUMERIC_PRECISION string, NUMERIC_PRECISION_RADIX int, NUMERIC_SCALE string,
        DATETIME_PRECISION int, INTERVAL_TYPE string, INTERVAL_PRECISION string,
        CHARACTER_SET_CATALOG string, CHARACTER_SET_SCHEMA string, CHARACTER_SET_NAME string,
        COLLATION_CATALOG string, COLLATION_SCHEMA string, COLLATION_NAME string,
        UDT_CATALOG string, UDT_SCHEMA string, UDT_NAME string, SCOPE_CATALOG string,
        SCOPE_SCHEMA string, SCOPE_NAME string, MAXIMUM_CARDINALITY string,
        DTD_IDENTIFIER bigint, IS_SELF_REFERENCING string, IS_IDENTITY string,
        IDENTITY_GENERATION string, IDENTITY_START string, IDENTITY_INCREMENT string,
        IDENTITY_MAXIMUM string, IDENTITY_MINIMUM string, IDENTITY_CYCLE string,
        IS_GENERATED string, GENERATION_EXPRESSION string, IS_SYSTEM_TIME_PERIOD_START string,
        IS_SYSTEM_TIME_PERIOD_END string, SYSTEM_TIME_PERIOD_TIMESTAMP_GENERATION string,
        IS_UPDATABLE string, DECLARED_DATA_TYPE string, DECLARED_NUMERIC_PRECISION string,
        DECLARED_NUMERIC_SCALE int""",
    "compactions": _COMPACTIONS,
    "locks": _LOCKS,
    "scheduled_executions": """SCHEDULED_EXECUTION_ID bigint, SCHEDULE_NAME string,
        EXECUTOR_QUERY_ID string, STATE string, START_TIME string, END_TIME string, ELAPSED int,
        ERROR_MESSAGE string, LAST_UPDATE_TIME string, START_TIME_SINCE_EPOCH int""",
    "scheduled_queries": """SCHEDULED_QUERY_ID bigint, SCHEDULE_NAME string, ENABLED boolean,
        CLUSTER_NAMESPACE string, SCHEDULE string, USER string, QUERY string,
        NEXT_EXECUTION string, ACTIVE_EXECUTION_ID bigint""",
    "schemata": """CATALOG_NAME string, SCHEMA_NAME string, SCHEMA_OWNER string,
        DEFAULT_CHARACTER_SET_CATALOG string, DEFAULT_CHARACTER_SET_SCHEMA string,
        DEFAULT_CHARACTER_SET_NAME string, SQL_PATH string""",
    "table_privileges": """GRANTOR string, GRANTEE string, TABLE_CATALOG string,
        TABLE_SCHEMA string, TABLE_NAME string, PRIVILEGE_TYPE string, IS_GRANTABLE string,
        WITH_HIERARCHY string""",
    "tables": """TABLE_CATALOG string, TABLE_SCHEMA string, TABLE_NAME string, TABLE_TYPE string,
        SELF_REFERENCING_COLUMN_NAME string, REFERENCE_GENERATION string,
        USER_DEFINED_TYPE_CATALOG string, USER_DEFINED_TYPE_SCHEMA string,
        USER_DEFINED_TYPE_NAME string, IS_INSERTABLE_INTO string, IS_TYPED string,
        COMMIT_ACTION string""",
    "transactions": _TRANSACTIONS,
    "views": """TABLE_CATALOG string, TABLE_SCHEMA string, TABLE_NAME string,
        VIEW_DEFINITION string, CHECK_OPTION string, IS_UPDATABLE boolean,
        IS_INSERTABLE_INTO boolean, IS_TRIGGER_UPDATABLE boolean, IS_TRIGGER_DELETABLE boolean,
        IS_TRIGGER_INSERTABLE_INTO boolean""",
}
_TABLES: Mapping[str, Mapping[str, str]] = {
    SYS: {**_SYS, **_OURS},
    INFORMATION_SCHEMA: _INFORMATION_SCHEMA,
}


def system_table_names(database: str) -> tuple[TableName, ...]:
    """List the tables of one of the two databases, by name."""
    return tuple(TableName(database, name) for name in sorted(_TABLES[database]))


@lru_cache(maxsize=256)
def system_table(name: TableName) -> Table | None:
    """Return a table of one of the two databases; None where it has none of that name."""
    text = _TABLES.get(name.database, {}).get(name.name)
    if text is None:
        return None
    parts = (part.split() for part in text.split(","))
    columns = tuple(Column.of(column.lower(), type_) for column, type_ in parts)
    return Table(
        name=name, columns=columns, location="", type="EXTERNAL_TABLE", is_system=True,
        owner="public", owner_type="ROLE",
    )  # fmt: skip
