"""What the transaction tables forget when tables and partitions are dropped or renamed."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, delete, select, update

from hivesql_executor.metastore.database.schema import (
    compaction_queue,
    completed_compactions,
    completed_txn_components,
    history,
    hive_locks,
    next_write_id,
    txn_components,
    txn_to_write_id,
    txns,
    write_set,
)
from hivesql_executor.metastore.database.transactions.txn_rows import OPEN
from hivesql_planner.errors import StaleSnapshot
from hivesql_planner.model.table import TableName

_OF_DONE = (completed_txn_components, compaction_queue, completed_compactions)
_PER_PARTITION = (txn_components, *_OF_DONE)
_PER_TABLE = (txn_to_write_id, next_write_id, history)
_CHUNK = 500


def drop_table(db: Connection, name: TableName) -> None:
    """Forget the writes, write ids, compactions and history of a table.

    Locks and the write set stay, as in Hive: they end with their transactions.
    """
    for table in (*_PER_PARTITION, *_PER_TABLE):
        db.execute(
            delete(table).where(table.c.database == name.database, table.c.table == name.name)
        )


def drop_partitions(db: Connection, name: TableName, partitions: Sequence[str]) -> None:
    """Forget the writes and compactions of some partitions.

    Not aborted writes: by them the cleaner finds what they have left elsewhere in the table.
    """
    for table in _OF_DONE:
        for start in range(0, len(partitions), _CHUNK):
            db.execute(
                delete(table).where(
                    table.c.database == name.database,
                    table.c.table == name.name,
                    table.c.partition.in_(partitions[start : start + _CHUNK]),
                )
            )


def rename_table(db: Connection, name: TableName, to: TableName) -> None:
    """Carry everything that is known of a table over to its new name."""
    _forget_late_writers(db, to)
    for table in (*_PER_PARTITION, *_PER_TABLE, hive_locks, write_set):
        db.execute(
            update(table)
            .where(table.c.database == name.database, table.c.table == name.name)
            .values(database=to.database, table=to.name)
        )


def _forget_late_writers(db: Connection, name: TableName) -> None:
    """Forget the write ids that ended writers took under a name that no table has.

    They had read the catalog before their table was renamed or dropped; its ids would be in the way
    of those of the table that gets the name. StaleSnapshot while one of them is open.
    """
    of = txn_to_write_id.c
    is_open = of.txn_id.in_(select(txns.c.id).where(txns.c.state == OPEN))
    writers = select(of.txn_id).where(of.database == name.database, of.table == name.name, is_open)
    if (writer := db.scalar(writers.limit(1))) is not None:
        raise StaleSnapshot(
            f"transaction {writer} began to write into a table {name} that was renamed or dropped. "
            "Run the statement again once it has ended (SHOW TRANSACTIONS)"
        )
    drop_table(db, name)


def rename_partition(db: Connection, name: TableName, partition: str, to: str) -> None:
    """Carry everything that is known of a partition over to its new name."""
    for table in (*_PER_PARTITION, hive_locks, write_set):
        db.execute(
            update(table)
            .where(
                table.c.database == name.database,
                table.c.table == name.name,
                table.c.partition == partition,
            )
            .values(partition=to)
        )
