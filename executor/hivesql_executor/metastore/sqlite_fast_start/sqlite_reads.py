"""What a cold start asks of a metastore in an SQLite file, with Python's own driver.

To import SQLAlchemy takes longer than all answers together. Every method is one transaction that
reads, and answers None where it is not sure: then ``DatabaseMetastore`` answers, which says the
same (``tests/executor/metastore/database/test_sqlite_reads.py``) and more.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeVar

from hivesql_executor.metastore.database.catalog.catalog_values import (
    MANY_TXNS,
    STATISTICS,
    STATISTICS_FIELDS,
    STORAGE_MARK,
    TableDetails,
    constraint_of,
    database_of,
    parameters_of,
    partitions_of,
    table_of,
)
from hivesql_executor.metastore.database.migrations.known_revisions import REVISIONS
from hivesql_executor.metastore.database.sqlite_terms import BUSY_SECONDS, NOW
from hivesql_executor.metastore.database.transactions.txn_rows import ABORTED, OPEN, txn_row
from hivesql_planner.model.table import Column, Database, Partition, Table, TableName

if TYPE_CHECKING:
    from hivesql_executor.metastore.api import LockRow, TxnRow
    from hivesql_planner.model.statistics import Statistics
    from hivesql_planner.predicates.partitions import PartitionTest

T = TypeVar("T")

QUESTIONS = frozenset(
    (
        "needs_housekeeping", "database", "databases", "tables", "table", "statistics",
        "function_names", "partitions", "partition_count", "locks", "transactions",
    )
)  # fmt: skip
"""The methods that answer as those of a metastore do, or None."""
_MOST_PARTITIONS = 1000
_PREFIX = "sqlite:///"

_TABLE = """
SELECT t."TBL_ID" AS id, t."SD_ID" AS sd_id, t."TBL_TYPE" AS type, t."OWNER" AS owner,
    t."OWNER_TYPE" AS owner_type, t."CREATE_TIME" AS created_at,
    t."VIEW_EXPANDED_TEXT" AS view_text, t."VIEW_ORIGINAL_TEXT" AS view_original,
    t."IS_REWRITE_ENABLED" AS rewrite_enabled
FROM "TBLS" t JOIN "DBS" d ON d."DB_ID" = t."DB_ID" WHERE d."NAME" = ? AND t."TBL_NAME" = ?
"""
_STORAGE = """
SELECT s."INPUT_FORMAT" AS input_format, s."LOCATION" AS location, s."SERDE_ID" AS serde_id,
    s."NUM_BUCKETS" AS bucket_count, s."CD_ID" AS cd_id, x."SLIB" AS library
FROM "SDS" s JOIN "SERDES" x ON x."SERDE_ID" = s."SERDE_ID" WHERE s."SD_ID" = ?
"""
_COLUMNS = """
SELECT "COLUMN_NAME" AS name, "TYPE_NAME" AS type, "COMMENT" AS comment FROM "COLUMNS_V2"
WHERE "CD_ID" = ? ORDER BY "INTEGER_IDX"
"""
_PARTITION_KEYS = """
SELECT "PKEY_NAME" AS name, "PKEY_TYPE" AS type, "PKEY_COMMENT" AS comment FROM "PARTITION_KEYS"
WHERE "TBL_ID" = ? ORDER BY "INTEGER_IDX"
"""
_BUCKET_COLUMNS = """
SELECT "BUCKET_COL_NAME" AS name FROM "BUCKETING_COLS" WHERE "SD_ID" = ? ORDER BY "INTEGER_IDX"
"""
_SORT_COLUMNS = """
SELECT "COLUMN_NAME" AS name, "ORDER" AS "order" FROM "SORT_COLS" WHERE "SD_ID" = ?
ORDER BY "INTEGER_IDX"
"""
_CONSTRAINTS = """
SELECT "CONSTRAINT_TYPE" AS type, "CONSTRAINT_NAME" AS name, "COLUMN_NAMES" AS columns,
    "REFERENCED_TABLE" AS parent, "REFERENCED_COLUMNS" AS parent_columns,
    "ENABLE_VALIDATE_RELY" AS options, "DEFAULT_VALUE" AS text
FROM "KEY_CONSTRAINTS" WHERE "PARENT_TBL_ID" = ? ORDER BY "POSITION"
"""
_MEASURED = """
SELECT "COLUMN_NAME", "COLUMN_TYPE", "NUM_NULLS", "NUM_DISTINCTS", "LOW_VALUE", "HIGH_VALUE",
    "AVG_COL_LEN", "MAX_COL_LEN", "NUM_TRUES", "NUM_FALSES"
FROM "TAB_COL_STATS" WHERE "TBL_ID" = ? ORDER BY "COLUMN_NAME"
"""
_PARTITIONS = """
SELECT p."PART_NAME" AS name, s."LOCATION" AS location, v."PART_KEY_VAL" AS value,
    v."INTEGER_IDX" AS position
FROM "PARTITIONS" p JOIN "SDS" s ON s."SD_ID" = p."SD_ID"
    JOIN "PARTITION_KEY_VALS" v ON v."PART_ID" = p."PART_ID"
WHERE p."TBL_ID" = ?
"""
_LOCKS = """
SELECT "HL_LOCK_EXT_ID" AS lock_id, "HL_LOCK_INT_ID" AS internal_id, "HL_DB" AS "database",
    "HL_TABLE" AS "table", "HL_PARTITION" AS "partition", "HL_LOCK_STATE" AS state,
    "HL_LOCK_TYPE" AS type, "HL_TXNID" AS txn_id, "HL_LAST_HEARTBEAT" AS last_heartbeat,
    "HL_ACQUIRED_AT" AS acquired_at, "HL_USER" AS user, "HL_HOST" AS host,
    "HL_AGENT_INFO" AS agent_info, "HL_BLOCKEDBY_EXT_ID" AS blocked_by_id,
    "HL_BLOCKEDBY_INT_ID" AS blocked_by_internal
FROM "HIVE_LOCKS"
WHERE (?1 IS NULL OR "HL_DB" = ?1) AND (?2 IS NULL OR "HL_TABLE" = ?2)
    AND (?3 IS NULL OR "HL_PARTITION" = ?3)
"""
_TXNS = """
SELECT "TXN_ID" AS id, "TXN_STATE" AS state, "TXN_STARTED" AS started, "TXN_USER" AS user,
    "TXN_LAST_HEARTBEAT" AS last_heartbeat, "TXN_HOST" AS host
FROM "TXNS" WHERE "TXN_STATE" IN (?, ?) ORDER BY "TXN_ID"
"""
_WORTH_A_LOOK = """
SELECT EXISTS (SELECT 1 FROM "HIVE_LOCKS" WHERE "HL_LAST_HEARTBEAT" < ?1 AND "HL_TXNID" = 0)
    OR EXISTS (SELECT 1 FROM "HIVESQL_OBJECT_LOCKS" WHERE "LAST_HEARTBEAT" < ?1)
    OR EXISTS (SELECT 1 FROM "TXNS" WHERE "TXN_LAST_HEARTBEAT" < ?1 AND "TXN_STATE" = ?2)
    OR EXISTS (SELECT 1 FROM "HIVESQL_MOVES")
    OR EXISTS (SELECT 1 FROM "NOTIFICATION_LOG" WHERE "EVENT_TIME" < ?3)
    OR (SELECT count(*) FROM "TXNS") > ?4 AS found
"""


class SqliteReads:
    """The answers; safe to ask from several threads."""

    def __init__(self, path: Path) -> None:
        self._guard = threading.Lock()
        self._db = sqlite3.connect(
            path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        self._db.row_factory = _named

    @classmethod
    def open(cls, url: str) -> SqliteReads | None:
        """Open the file of a metastore; None unless it is there and has the latest schema."""
        path = Path(url.removeprefix(_PREFIX))
        if not url.startswith(_PREFIX) or "?" in url or "file:" in url or not path.is_file():
            return None
        reads = cls(path.absolute())
        if reads.revision() == REVISIONS[-1]:
            return reads
        reads.close()
        return None

    def close(self) -> None:
        """Let go of the file, when nobody reads it: closed beneath a reader it ends the process."""
        with self._guard:
            self._db.close()

    def revision(self) -> str | None:
        """Return the revision of the schema."""
        query = 'SELECT "version_num" AS revision FROM "HIVESQL_REVISION"'
        return self._read(lambda db: _only(db, query).revision)

    def needs_housekeeping(self, timeout: float, kept: float) -> bool | None:
        """Tell whether there may be something to do."""

        def look(db: sqlite3.Connection) -> bool | None:
            moment = _only(db, f"SELECT {NOW} AS moment").moment
            limits = (moment - int(timeout * 1000), OPEN, moment // 1000 - int(kept), MANY_TXNS)
            return None if _only(db, _WORTH_A_LOOK, *limits).found else False

        return self._read(look)

    def database(self, name: str) -> Database | None:
        """Return the database of that name."""

        def find(db: sqlite3.Connection) -> Database:
            query = """
                SELECT "DB_ID" AS id, "NAME" AS name, "DB_LOCATION_URI" AS location,
                    "DESC" AS comment, "OWNER_NAME" AS owner, "OWNER_TYPE" AS owner_type,
                    "DB_MANAGED_LOCATION_URI" AS managed_location
                FROM "DBS" WHERE "NAME" = ?
            """
            row = _only(db, query, name.lower())
            return database_of(row, _parameters(db, "DATABASE_PARAMS", "DB_ID", row.id))

        return self._read(find)

    def databases(self) -> tuple[str, ...] | None:
        """Names of all databases, sorted."""
        query = 'SELECT "NAME" AS name FROM "DBS"'
        return self._read(lambda db: tuple(sorted(row.name for row in db.execute(query))))

    def tables(self, database: str) -> tuple[TableName, ...] | None:
        """Tables and views of a database, sorted."""
        database = database.lower()

        def find(db: sqlite3.Connection) -> tuple[TableName, ...]:
            owner = _only(db, 'SELECT "DB_ID" AS id FROM "DBS" WHERE "NAME" = ?', database).id
            rows = db.execute('SELECT "TBL_NAME" AS name FROM "TBLS" WHERE "DB_ID" = ?', (owner,))
            return tuple(TableName(database, one) for one in sorted(row.name for row in rows))

        return self._read(find)

    def table(self, name: TableName) -> Table | None:
        """Return the table or view of that name."""
        return self._read(lambda db: _table(db, name.lower()))

    def statistics(
        self, name: TableName, values: Sequence[str | None] | None = None
    ) -> Statistics | None:
        """Tell what is known of a table without partitions."""
        if values is not None:
            return None
        from dataclasses import replace

        from hivesql_planner.model.statistics import ColumnStatistics, read_basics

        def find(db: sqlite3.Connection) -> Statistics | None:
            table = _table(db, name.lower())
            if table.partition_columns:
                return None
            parameters = _parameters(db, "TABLE_PARAMS", "TBL_ID", table.id)
            known = read_basics({key: parameters[key] for key in STATISTICS if key in parameters})
            found = (
                ColumnStatistics(**dict(zip(STATISTICS_FIELDS, vars(row).values(), strict=True)))
                for row in db.execute(_MEASURED, (table.id,))
            )
            types = {column.name: column.type for column in table.columns}
            measured = tuple(one for one in found if types.get(one.name) == one.type)
            present = {one.name for one in measured}
            accurate = tuple(one for one in known.accurate_columns if one in present)
            return replace(known, columns=measured, accurate_columns=accurate)

        return self._read(find)

    def function_names(self) -> tuple[str, ...] | None:
        """Return the names of all functions with their databases, sorted."""

        def find(db: sqlite3.Connection) -> tuple[str, ...]:
            query = (
                'SELECT d."NAME" || \'.\' || f."FUNC_NAME" AS name FROM "FUNCS" f '
                'JOIN "DBS" d ON d."DB_ID" = f."DB_ID"'
            )
            return tuple(sorted(row.name for row in db.execute(query)))

        return self._read(find)

    def partitions(
        self, name: TableName, tests: Sequence[PartitionTest] = ()
    ) -> tuple[Partition, ...] | None:
        """Return the partitions that may pass all tests, by name, of a table with few of them."""
        name = name.lower()
        from hivesql_planner.predicates.partitions import may_pass

        def find(db: sqlite3.Connection) -> tuple[Partition, ...] | None:
            table = _only(db, _TABLE, name.database, name.name)
            mark = 'SELECT 1 FROM "SD_PARAMS" WHERE "SD_ID" = ? AND "PARAM_KEY" = ?'
            if db.execute(mark, (table.sd_id, STORAGE_MARK)).fetchone():
                return None
            some = 'SELECT 1 FROM "PARTITIONS" WHERE "TBL_ID" = ? LIMIT 1 OFFSET ?'
            if db.execute(some, (table.id, _MOST_PARTITIONS)).fetchone():
                return None
            return tuple(
                one
                for one in partitions_of(db.execute(_PARTITIONS, (table.id,)))
                if all(may_pass(one.values[test.position], test) for test in tests)
            )

        return self._read(find)

    def partition_count(self, name: TableName) -> int | None:
        """Tell how many partitions a table has."""
        name = name.lower()

        def find(db: sqlite3.Connection) -> int:
            table = _only(db, _TABLE, name.database, name.name)
            query = 'SELECT count(*) AS found FROM "PARTITIONS" WHERE "TBL_ID" = ?'
            return int(_only(db, query, table.id).found)

        return self._read(find)

    def locks(
        self, database: str | None = None, table: str | None = None, partition: str | None = None
    ) -> tuple[LockRow, ...] | None:
        """Locks, filtered by equality, in the order of SHOW LOCKS."""
        from hivesql_executor.metastore.database.transactions.lock_rows import lock_row

        place = (database and database.lower(), table and table.lower(), partition)

        def find(db: sqlite3.Connection) -> tuple[LockRow, ...]:
            rows = (lock_row(row) for row in db.execute(_LOCKS, place))
            return tuple(sorted(rows, key=lambda row: row.rank))

        return self._read(find)

    def transactions(self) -> tuple[TxnRow, ...] | None:
        """Open and aborted transactions, by id."""
        return self._read(
            lambda db: tuple(txn_row(row) for row in db.execute(_TXNS, (OPEN, ABORTED)))
        )

    def _read(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """Tell what ``work`` finds in one state of the file; None for what is missing or fails."""
        with self._guard, suppress(sqlite3.Error, _Missing):
            self._db.execute("BEGIN")
            try:
                return work(self._db)
            finally:
                self._db.execute("ROLLBACK")
        return None


class _Missing(Exception):
    """A row that was looked for."""


def _named(cursor: sqlite3.Cursor, row: tuple[Any, ...]) -> SimpleNamespace:
    return SimpleNamespace(**dict(zip((one[0] for one in cursor.description), row, strict=True)))


def _only(db: sqlite3.Connection, query: str, *values: object) -> SimpleNamespace:
    row: SimpleNamespace | None = db.execute(query, values).fetchone()
    if row is None:
        raise _Missing
    return row


def _table(db: sqlite3.Connection, name: TableName) -> Table:
    row = _only(db, _TABLE, name.database, name.name)
    storage = _only(db, _STORAGE, row.sd_id)
    # Without buckets there is nothing to ask: most tables have none.
    buckets = storage.bucket_count > 0
    details = TableDetails(
        parameters=_parameters(db, "TABLE_PARAMS", "TBL_ID", row.id),
        serde_properties=_parameters(db, "SERDE_PARAMS", "SERDE_ID", storage.serde_id),
        columns=_columns(db, _COLUMNS, storage.cd_id),
        partition_columns=_columns(db, _PARTITION_KEYS, row.id),
        bucket_columns=_names(db, row.sd_id) if buckets else (),
        sorting=_sorting(db, row.sd_id) if buckets else {},
        constraints=tuple(constraint_of(one) for one in db.execute(_CONSTRAINTS, (row.id,))),
    )
    return table_of(name, row, storage, details)


def _parameters(db: sqlite3.Connection, table: str, owner: str, owner_id: int) -> dict[str, str]:
    query = f'SELECT "PARAM_KEY" AS name, "PARAM_VALUE" AS value FROM "{table}" WHERE "{owner}" = ?'
    return parameters_of((row.name, row.value) for row in db.execute(query, (owner_id,)))


def _columns(db: sqlite3.Connection, query: str, owner_id: int) -> tuple[Column, ...]:
    return tuple(Column(row.name, row.type, row.comment) for row in db.execute(query, (owner_id,)))


def _names(db: sqlite3.Connection, sd_id: int) -> tuple[str, ...]:
    return tuple(row.name for row in db.execute(_BUCKET_COLUMNS, (sd_id,)))


def _sorting(db: sqlite3.Connection, sd_id: int) -> dict[str, int]:
    return {row.name: row.order for row in db.execute(_SORT_COLUMNS, (sd_id,))}
