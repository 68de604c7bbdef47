"""The metastore in a database: SQLite by default, PostgreSQL for many hosts.

One method is one database transaction. Mutating calls run one at a time: SQLite by BEGIN
IMMEDIATE, PostgreSQL by an exclusive lock on TXN_LOCK_TBL.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, insert, select, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError

from hivesql_executor.metastore import catalog, compactions, housekeeping, locks, transactions
from hivesql_executor.metastore import schema as s
from hivesql_executor.metastore.api import (
    Compaction,
    CompactionAnswer,
    LockAnswer,
    LockRow,
    LockState,
    TxnRow,
    TxnType,
)
from hivesql_planner.acid.write_ids import ValidTxnList, ValidWriteIdList
from hivesql_planner.errors import CommitUnknown, ExecutionError, SemanticError, WriteConflict
from hivesql_planner.plan import Lock, Operation
from hivesql_planner.table import Database, Partition, Table, TableName

_BUSY_SECONDS = 60
_TRIES = 10


class DatabaseMetastore:
    """The Metastore protocol over SQLAlchemy Core."""

    def __init__(self, engine: Engine, warehouse: str) -> None:
        self._engine = engine
        self._warehouse = warehouse.rstrip("/")

    @classmethod
    def open(cls, url: str, warehouse: str) -> DatabaseMetastore:
        """Connect, making the schema and the default database where they are missing."""
        try:
            parsed = make_url(url)
        except Exception as error:
            raise SemanticError(f"{url!r} is not a database URL: {error}") from error
        if parsed.get_backend_name() not in ("sqlite", "postgresql"):
            raise SemanticError(f"metastore {url!r}: use sqlite:///FILE or postgresql+psycopg://…")
        options: dict[str, Any] = {}
        if parsed.get_backend_name() == "sqlite":
            options["connect_args"] = {"timeout": _BUSY_SECONDS, "check_same_thread": False}
            if parsed.database:
                Path(parsed.database).absolute().parent.mkdir(parents=True, exist_ok=True)
        engine = create_engine(parsed, **options)
        if engine.dialect.name == "sqlite":
            event.listen(engine, "connect", _set_up_sqlite)
            event.listen(engine, "begin", _begin_sqlite)
        store = cls(engine, warehouse)
        try:
            store._create_schema()
        except DBAPIError as error:
            raise ExecutionError(f"the metastore {url} cannot be opened: {error.orig}") from error
        return store

    def _create_schema(self) -> None:
        with self._write(serialize=False) as db:
            if db.dialect.name == "postgresql":
                db.execute(text("SELECT pg_advisory_xact_lock(4840711)"))
            s.metadata.create_all(db)
            if db.scalar(select(s.version.c.VER_ID)) is not None:
                return
            db.execute(insert(s.version).values((1, s.SCHEMA_VERSION, "HiveSQL embedded")))
            for counter in (s.next_lock_id, s.next_compaction_id):
                db.execute(insert(counter).values((1,)))
            db.execute(insert(s.txn_lock_tbl).values((1,)))
            default = Database(
                name="default", location=self._warehouse, comment="Default Hive database"
            )
            catalog.create_database(db, default)

    @contextmanager
    def _write(self, *, serialize: bool = True) -> Iterator[Connection]:
        """One mutating database transaction, alone."""
        with self._engine.connect().execution_options(hivesql_write=True) as db, db.begin():
            if serialize and db.dialect.name == "postgresql":
                db.execute(text('LOCK TABLE "TXN_LOCK_TBL" IN EXCLUSIVE MODE'))
            yield db

    @contextmanager
    def _read(self) -> Iterator[Connection]:
        with self._engine.connect() as db, db.begin():
            if db.dialect.name == "postgresql":
                # Several selects make one answer: they must see one state.
                db.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"))
            yield db

    # -- catalog
    def create_database(self, database: Database, *, if_not_exists: bool = False) -> None:
        """Add a database at its location, by default ``<warehouse>/<name>.db``."""
        name = database.name.lower()
        location = database.location or f"{self._warehouse}/{name}.db"
        placed = Database(
            name=name,
            location=location,
            comment=database.comment,
            properties=database.properties,
            owner=database.owner,
        )
        with self._write() as db:
            if if_not_exists and name in catalog.databases(db):
                return
            catalog.create_database(db, placed)

    def database(self, name: str) -> Database:
        """One database."""
        with self._read() as db:
            return catalog.database(db, name)

    def databases(self) -> tuple[str, ...]:
        """All database names."""
        with self._read() as db:
            return catalog.databases(db)

    def drop_database(self, name: str, *, cascade: bool = False) -> None:
        """Remove a database; with ``cascade`` its tables' entries first."""
        with self._write() as db:
            for table in catalog.tables(db, name) if cascade else ():
                catalog.drop_table(db, table)
                compactions.forget_table(db, table, None)
            catalog.drop_database(db, name)

    def create_table(self, table: Table, *, if_not_exists: bool = False) -> Table:
        """Add a table; the answer has its id, location and time."""
        with self._write() as db:
            if if_not_exists and table.name in catalog.tables(db, table.name.database):
                return catalog.table(db, table.name)
            created = catalog.create_table(db, table, _now(db))
            compactions.forget_table(db, table.name, None)
            return created

    def table(self, name: TableName) -> Table:
        """One table."""
        with self._read() as db:
            return catalog.table(db, name)

    def tables(self, database: str) -> tuple[TableName, ...]:
        """Tables and views of a database."""
        with self._read() as db:
            return catalog.tables(db, database)

    def alter_table(self, name: TableName, table: Table) -> None:
        """Replace a table's description; a new name renames it everywhere."""
        with self._write() as db:
            catalog.alter_table(db, name, table)
            if table.name != name:
                compactions.rename_table(db, name, table.name)

    def drop_table(self, name: TableName) -> None:
        """Remove a table and all its traces."""
        with self._write() as db:
            catalog.drop_table(db, name)
            compactions.forget_table(db, name, None)

    def partitions(self, name: TableName) -> tuple[Partition, ...]:
        """All partitions of a table."""
        with self._read() as db:
            return catalog.partitions(db, name)

    def partition(self, name: TableName, values: Sequence[str | None]) -> Partition | None:
        """One partition, or None."""
        with self._read() as db:
            return catalog.partition(db, name, values)

    def add_partitions(
        self, name: TableName, partitions: Collection[Partition], *, if_not_exists: bool = False
    ) -> None:
        """Add partitions."""
        with self._write() as db:
            catalog.add_partitions(db, name, partitions, if_not_exists=if_not_exists)

    def drop_partitions(self, name: TableName, values: Collection[tuple[str | None, ...]]) -> None:
        """Remove partitions and their traces."""
        with self._write() as db:
            names = catalog.drop_partitions(db, name, values)
            compactions.forget_table(db, name, names)

    # -- transactions
    def open_txns(
        self, count: int, user: str, host: str, *, type: TxnType = TxnType.DEFAULT
    ) -> tuple[int, ...]:
        """Open transactions."""
        with self._write() as db:
            return transactions.open_txns(db, count, user, host, type, _now(db))

    def valid_txns(self, txn_id: int = 0) -> ValidTxnList:
        """The snapshot of a transaction, or of this moment."""
        with self._read() as db:
            return transactions.valid_txns(db, txn_id)

    def allocate_write_id(self, txn_id: int, table: TableName, *, again: bool = False) -> int:
        """The transaction's write id in a table."""
        with self._write() as db:
            return transactions.allocate_write_id(db, txn_id, table, again=again)

    def valid_write_ids(
        self, txns: ValidTxnList, tables: Collection[TableName]
    ) -> Mapping[TableName, ValidWriteIdList]:
        """What a snapshot sees of each table."""
        if not tables:
            return {}
        with self._read() as db:
            return {table: transactions.valid_write_ids(db, txns, table) for table in tables}

    def compactor_write_ids(self, table: TableName) -> ValidWriteIdList:
        """What a compactor may take in."""
        with self._read() as db:
            return transactions.compactor_write_ids(db, table)

    def seed_write_id(self, table: TableName, next_write_id: int) -> None:
        """Start a converted table's write ids above those of its original files."""
        with self._write() as db:
            transactions.seed_write_id(db, table, next_write_id)

    def add_dynamic_partitions(
        self,
        txn_id: int,
        write_id: int,
        table: TableName,
        partitions: Collection[str],
        operation: Operation,
    ) -> None:
        """Record the partitions that a write really touched."""
        with self._write() as db:
            transactions.add_dynamic_partitions(db, txn_id, table, partitions, operation)

    def newer_writer(self, txn_id: int, locks: Collection[Lock]) -> int | None:
        """Who changed, after our snapshot, what our locks cover."""
        with self._read() as db:
            return transactions.newer_writer(db, txn_id, locks)

    def commit_txn(self, txn_id: int, *, exclusive_write: bool = True) -> None:
        """Commit; WriteConflict when another transaction was first, CommitUnknown when lost."""
        try:
            with self._write() as db:
                conflict = transactions.commit_txn(
                    db, txn_id, _now(db), exclusive_write=exclusive_write
                )
        except DBAPIError as error:
            self._settle_commit(txn_id, error)
            return
        if conflict:
            raise WriteConflict(f"{conflict}. Run the statement again")

    def _settle_commit(self, txn_id: int, error: DBAPIError) -> None:
        """The database failed during a commit: find out what happened."""
        try:
            with self._read() as db:
                state = transactions.state_of(db, txn_id)
        except DBAPIError as second:
            raise CommitUnknown(
                f"transaction {txn_id}: the metastore failed during its commit ({error.orig}) and "
                "cannot be asked whether it happened. Look at SHOW TRANSACTIONS before you run "
                "the statement again"
            ) from second
        if state != "c":
            raise ExecutionError(
                f"transaction {txn_id} could not be committed: {error.orig}"
            ) from error

    def abort_txns(self, txn_ids: Collection[int], reason: str) -> tuple[int, ...]:
        """Abort those that are open; which they were."""
        with self._write() as db:
            done = [one for one in txn_ids if transactions.state_of(db, one) == "o"]
            for one in done:
                transactions.abort_txn(db, one, reason)
            return tuple(done)

    def heartbeat(self, txn_id: int, lock_id: int = 0) -> None:
        """Keep a transaction and a lock alive; TransactionLost when it is too late."""
        with self._write() as db:
            housekeeping.heartbeat(db, txn_id, lock_id, _now(db))

    def transactions(self) -> tuple[TxnRow, ...]:
        """Open and aborted transactions."""
        with self._read() as db:
            return transactions.transactions(db)

    # -- locks
    def enqueue_locks(
        self, txn_id: int, locks: Sequence[Lock], *, user: str, host: str, agent_info: str = "",
        zero_wait_read: bool = False, exclusive_ctas: bool = False,
    ) -> LockAnswer:  # fmt: skip
        """Ask for locks, all or none, and look once whether they are free."""
        return self._enqueue(
            txn_id, locks, user, host, agent_info, zero_wait_read or exclusive_ctas
        )

    def _enqueue(
        self, txn_id: int, wanted: Sequence[Lock], user: str, host: str, agent: str, at_once: bool
    ) -> LockAnswer:
        with self._write() as db:
            now = _now(db)
            lock_id = locks.enqueue(db, txn_id, wanted, now, user=user, host=host, agent_info=agent)
            answer = locks.check(db, lock_id, now)
            if at_once and answer.state is LockState.WAITING:
                locks.unlock(db, lock_id)
                return LockAnswer(
                    lock_id=lock_id, state=LockState.NOT_ACQUIRED, reason=answer.reason
                )
            return answer

    def check_lock(self, lock_id: int) -> LockAnswer:
        """Look again whether a request can be granted."""
        with self._write() as db:
            return locks.check(db, lock_id, _now(db))

    def unlock(self, lock_id: int) -> None:
        """Give up a request that waits."""
        with self._write() as db:
            locks.unlock(db, lock_id)

    def locks(
        self, database: str | None = None, table: str | None = None, partition: str | None = None
    ) -> tuple[LockRow, ...]:
        """Rows of SHOW LOCKS."""
        with self._read() as db:
            return locks.locks(db, database, table, partition)

    # -- compaction queue
    def enqueue_compaction(
        self, table: TableName, partition: str | None, kind: str, *, initiator_id: str
    ) -> CompactionAnswer:
        """Queue a compaction request."""
        with self._write() as db:
            return compactions.enqueue(db, table, partition, kind, initiator_id, _now(db))

    def next_compaction(self, worker_id: str, *, id: int | None = None) -> Compaction | None:
        """Take a request to work on."""
        with self._write() as db:
            return compactions.claim(db, worker_id, id, _now(db))

    def set_compaction_txn(self, id: int, txn_id: int, highest_write_id: int) -> None:
        """Note the compactor's transaction."""
        with self._write() as db:
            compactions.set_txn(db, id, txn_id, highest_write_id)

    def mark_compacted(self, id: int) -> None:
        """New directories are written."""
        with self._write() as db:
            compactions.mark_compacted(db, id)

    def mark_failed(self, id: int, error: str, *, refused: bool = False) -> None:
        """The request failed or was refused."""
        with self._write() as db:
            compactions.retire(db, id, "c" if refused else "f", error, _now(db))

    def ready_to_clean(self) -> tuple[Compaction, ...]:
        """Requests whose old directories nobody needs."""
        with self._read() as db:
            return compactions.ready_to_clean(db)

    def mark_cleaned(self, id: int) -> None:
        """Old directories are gone."""
        with self._write() as db:
            compactions.mark_cleaned(db, id, _now(db))

    def compactions(self) -> tuple[Compaction, ...]:
        """Queue and history."""
        with self._read() as db:
            return compactions.compactions(db)

    def min_open_txn(self) -> int:
        """The lowest open transaction, or one past the newest."""
        with self._read() as db:
            return transactions.min_open_txn(db)

    # -- housekeeping
    def reap(self, timeout: float) -> tuple[int, ...]:
        """Abort transactions and drop locks whose heartbeats stopped ``timeout`` seconds ago."""
        with self._write() as db:
            return housekeeping.reap(db, _now(db), int(timeout * 1000))

    def clean_txns(self) -> None:
        """Forget what ended and left nothing behind."""
        with self._write() as db:
            compactions.clean_txns(db)

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()


def _set_up_sqlite(connection: sqlite3.Connection, record: object) -> None:
    # The driver's own BEGIN would come too late and without IMMEDIATE.
    connection.isolation_level = None
    for _ in range(_TRIES):
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            break
        except sqlite3.OperationalError:
            # Switching to WAL does not wait for others as statements do.
            time.sleep(0.05)
    connection.execute("PRAGMA synchronous=FULL")


def _begin_sqlite(db: Connection) -> None:
    mode = "IMMEDIATE" if db.get_execution_options().get("hivesql_write") else "DEFERRED"
    db.exec_driver_sql(f"BEGIN {mode}")


def _now(db: Connection) -> int:
    """Milliseconds since the epoch by the database's clock."""
    if db.dialect.name == "sqlite":
        query = "SELECT CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"
    else:
        query = "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)"
    return int(db.scalar(text(query)) or 0)
