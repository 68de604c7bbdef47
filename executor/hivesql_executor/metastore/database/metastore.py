"""The metastore in an SQLite file, or in a database of PostgreSQL or MariaDB.

Its methods are the functions that read and change Hive's tables, one class a subject: ``reading``,
``writing`` and ``changing`` give them their connection. What a method does is told there.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from hivesql_executor.metastore.database import (
    compaction_history,
    connection,
    housekeeping,
    notification_log,
    revisions,
    schema,
    stored_rows,
)
from hivesql_executor.metastore.database import compactions as compaction_queue
from hivesql_executor.metastore.database.calls import Calls, changing, reading, writing
from hivesql_executor.metastore.database.catalog import (
    functions,
    relocation,
    shared_places,
    statistics_changes,
    statistics_rows,
)
from hivesql_executor.metastore.database.catalog import grants as grant_rows
from hivesql_executor.metastore.database.catalog import partitions as partition_rows
from hivesql_executor.metastore.database.catalog import tables as catalog
from hivesql_executor.metastore.database.connection import Rdbms
from hivesql_executor.metastore.database.dialects.terms import ANSWER_SECONDS
from hivesql_executor.metastore.database.migrations.known_revisions import REVISIONS
from hivesql_executor.metastore.database.transaction_calls import TransactionCalls
from hivesql_executor.metastore.database.transactions import (
    aborts,
    backlogs,
    history,
    idempotence,
    moves,
    snapshots,
    transactions,
)
from hivesql_executor.metastore.database.transactions import locks as lock_queue
from hivesql_executor.metastore.database.transactions import object_locks as object_lock_rows
from hivesql_planner.model.table import Database, Table, TableName

if TYPE_CHECKING:
    from hivesql_executor.metastore.api import Activity
    from hivesql_executor.metastore.file_moves import BegunMoves
    from hivesql_planner.acid.write_ids import ValidTxnList, ValidWriteIdList
    from hivesql_planner.model.statistics import StatisticsChange


class CatalogCalls(Calls):
    """Databases, tables, partitions, functions, and what is known of their rows."""

    measures_columns = True
    keeps_rows = True

    stored_rows = reading(stored_rows.stored_rows)
    database = reading(catalog.database)
    databases = reading(catalog.databases)
    alter_database = changing(catalog.alter_database)
    drop_database = changing(catalog.drop_database)
    table = reading(catalog.table)
    tables = reading(catalog.tables)
    some_tables = reading(catalog.some_tables)
    table_at = reading(shared_places.table_at)
    create_table = changing(catalog.create_table)
    alter_table = changing(catalog.alter_table)
    drop_table = changing(catalog.drop_table)

    partitions = reading(partition_rows.partitions)
    partition_count = reading(partition_rows.partition_count)
    foreign_partitions = reading(partition_rows.foreign_partitions)
    partition = reading(partition_rows.partition)
    add_partitions = changing(partition_rows.add_partitions)
    drop_partitions = changing(partition_rows.drop_partitions)
    alter_partition = changing(partition_rows.alter_partition)
    exchange_partitions = changing(partition_rows.exchange_partitions)

    create_function = changing(functions.create_function)
    drop_function = changing(functions.drop_function)
    function = reading(functions.function)
    function_names = reading(functions.function_names)

    relocate = changing(relocation.relocate)

    statistics = reading(statistics_rows.statistics)
    put_statistics = changing(statistics_rows.put_statistics)

    def create_database(self, database: Database, *, if_not_exists: bool = False) -> None:
        """Add a database; SemanticError 10242 when it exists."""
        self._change(
            lambda db: catalog.create_database(
                db, database, self._warehouse, if_not_exists=if_not_exists
            )
        )

    def database_home(self, database: Database) -> str:
        """Tell where a new database will live; empty where only its creation tells."""
        return database.location or self._read(
            lambda db: catalog.default_home(db, self._warehouse, database.name)
        )

    def home_of(self, table: Table) -> str:
        """Tell where a new table will live; empty where only its creation tells."""
        return table.location or self._read(lambda db: catalog.home_of(db, table))

    def count_changes(self, changes: Collection[StatisticsChange]) -> None:
        """Add what was written outside of transactions to what is known."""
        self._change(lambda db: statistics_changes.count(db, 0, changes))


class AuthorizationCalls(Calls):
    """Roles and privileges."""

    role_names = reading(grant_rows.role_names)
    role_grants = reading(grant_rows.role_grants)
    role_members = reading(grant_rows.role_members)
    create_role = changing(grant_rows.create_role)
    drop_role = changing(grant_rows.drop_role)
    grant_role = changing(grant_rows.grant_role)
    revoke_role = changing(grant_rows.revoke_role)
    grants = reading(grant_rows.grants)
    grant_privileges = changing(grant_rows.grant_privileges)
    revoke_privileges = changing(grant_rows.revoke_privileges)


class CompactionCalls(Calls):
    """The compaction queue, its history, and what aborted transactions left behind."""

    enqueue_compaction = writing(compaction_queue.enqueue_compaction)
    record_not_initiated = writing(compaction_history.record_not_initiated)
    next_compaction = writing(compaction_queue.next_compaction)
    set_compaction_txn = writing(compaction_queue.set_compaction_txn)
    mark_compacted = writing(compaction_queue.mark_compacted)
    retained_compactions = reading(compaction_queue.retained_compactions)
    end_retention = writing(compaction_queue.end_retention)
    mark_failed = writing(compaction_queue.mark_failed)
    release_compactions = writing(compaction_queue.release_compactions)
    ready_to_clean = reading(compaction_queue.ready_to_clean)
    mark_cleaned = writing(compaction_queue.mark_cleaned)
    retry_cleaning = writing(compaction_history.retry_cleaning)
    compactions = reading(compaction_queue.compactions)
    abort_compactions = writing(compaction_history.abort_compactions)
    purge_compactions = writing(compaction_history.purge)
    min_open_txn = reading(compaction_queue.min_open_txn)
    now = reading(connection.now)

    compactor_write_ids = reading(snapshots.compactor_write_ids)
    compaction_candidates = reading(aborts.written_units)
    aborted_units = reading(aborts.aborted_units)
    aborted_writes = reading(aborts.aborted_writes)
    forget_aborted = writing(aborts.forget_aborted)


class NotificationCalls(Calls):
    """The notification log, and tables together with their write ids."""

    events_after = reading(notification_log.events_after)
    writes_of = reading(notification_log.writes_of)

    @property
    def changes_are_writes(self) -> bool:
        """True: a reader's list of write ids tells a table from what it was before any change."""
        return True

    def keep_log(self) -> int:
        """Let every change be logged from now on; the id of the latest event."""
        latest = self._read(notification_log.latest_event)
        return self._write(notification_log.keep_log) if latest is None else latest

    def completed(self, table: Table) -> Table:
        """Return the copy as it is: the log tells all changes."""
        return table

    def described(self, name: TableName) -> tuple[Table, ValidWriteIdList | None]:
        """Give the table, and its write ids of that moment; None if it is not transactional."""

        def work(db: Connection) -> tuple[Table, ValidWriteIdList | None]:
            table = catalog.table(db, name)
            if not table.is_transactional:
                return table, None
            return table, snapshots.valid_write_ids(db, snapshots.valid_txns(db), table.name)

        return self._read(work)

    def table_ids(
        self, txns: ValidTxnList, tables: Collection[TableName]
    ) -> Mapping[TableName, tuple[int, ValidWriteIdList]]:
        """Return the id and the valid write ids of each table."""
        return self._read(
            lambda db: {
                name: (
                    catalog.table_id(db, name),
                    snapshots.valid_write_ids(db, txns, name.lower()),
                )
                for name in tables
            }
        )

    def purge_events(self, seconds: float) -> int:
        """Forget events older than so many seconds; how many. Without a log, nothing is written."""
        if self._read(notification_log.latest_event) is None:
            return 0
        return self._write(lambda db: notification_log.purge_events(db, seconds))


class MoveCalls(Calls):
    """Files on their way."""

    note_moves = writing(moves.note_moves)
    forget_moves = writing(moves.forget_moves)
    renew_moves = writing(moves.renew_moves)
    noted_moves = reading(moves.noted_moves)

    def settle_moves(self, key: str, counted: Collection[StatisticsChange] = ()) -> bool:
        """Decide what has no transaction, and count it at once; False if it is undone.

        Once: who did not hear the answer asks again.
        """

        def decide(db: Connection) -> bool:
            if moves.settle_noted(db, key):
                statistics_changes.count(db, 0, counted)
                return True
            return moves.is_decided(db, key)

        return self._write(decide)

    def lost_moves(self, timeout: float, of: Collection[int] = ()) -> tuple[BegunMoves, ...]:
        """Take what nobody finishes any more, or shall; what is left to do with it.

        Who noted it cannot go on from then on, even one that was only slow, or is one ``of`` those
        transactions that are to be aborted.
        """
        if not self._read(lambda db: moves.has_lost(db, timeout, of)):
            return ()
        return self._write(lambda db: moves.take_lost(db, timeout, of))


class KeyCalls(Calls):
    """Keys under which something commits once."""

    done = reading(idempotence.done)
    forget_key = writing(idempotence.forget_key)
    forget_keys = writing(idempotence.forget_keys)


class HistoryCalls(Calls):
    """What was written to transactional tables."""

    writes = reading(history.writes)
    forget_writes = writing(history.forget)


class ObjectLockCalls(Calls):
    """Locks of DummyTxnManager."""

    take_object_locks = writing(object_lock_rows.take)
    release_object_locks = writing(object_lock_rows.release)
    keep_object_locks = writing(object_lock_rows.beat)
    unlock_object = writing(object_lock_rows.unlock)
    object_locks = reading(object_lock_rows.locks)


class DatabaseMetastore(
    CatalogCalls,
    AuthorizationCalls,
    TransactionCalls,
    CompactionCalls,
    NotificationCalls,
    MoveCalls,
    KeyCalls,
    HistoryCalls,
    ObjectLockCalls,
):
    """Metastore over Hive's tables: every method is one database transaction."""

    needs_housekeeping = reading(housekeeping.is_due)
    reap = writing(housekeeping.reap)
    clean_txns = writing(housekeeping.clean_txns)

    @classmethod
    def open(cls, url: str, warehouse: str, timeout: float = ANSWER_SECONDS) -> DatabaseMetastore:
        """Open the metastore at a database URL; create it, and ``default``, when absent.

        ``warehouse`` is the directory of the ``default`` database where the metastore is made; the
        others get ``<name>.db`` in it. A server may take ``timeout`` seconds for each answer.
        """
        store = cls(Rdbms(url, timeout), warehouse.rstrip("/") or "/")
        try:
            # Nearly every opening finds the latest schema, and then need not wait for a writer.
            if store._read(revisions.current_revision) != REVISIONS[-1]:
                store._write(lambda db: revisions.prepare(db, store._warehouse))
        except BaseException:
            store.close()
            raise
        return store

    def activity(self, tables: int = 0) -> Activity:
        """Tell what goes on, in one consistent state; the backlogs of so many tables with it."""
        from hivesql_executor.metastore.api import Activity

        return self._read(
            lambda db: Activity(
                now=connection.now(db),
                transactions=transactions.transactions(db),
                locks=lock_queue.locks(db),
                compactions=compaction_queue.compactions(db),
                backlogs=backlogs.greatest_backlogs(db, tables) if tables else (),
            )
        )

    def require_writing(self) -> None:
        """Raise ExecutionError where nothing can ever be changed."""

    def close(self) -> None:
        """Let go of the database."""
        self._rdbms.close()

    def version(self) -> str:
        """Return the schema's revision, and the release of Hive whose tables it has."""
        revision = self._read(revisions.current_revision)
        return f"schema revision {revision}, Hive {schema.SCHEMA_VERSION}"
