"""What the transaction tables forget when tables and partitions are dropped or renamed."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, delete, update

from hivesql_executor.metastore.database.schema import (
    compaction_queue,
    completed_compactions,
    completed_txn_components,
    history,
    hive_locks,
    next_write_id,
    txn_components,
    txn_to_write_id,
    write_set,
)
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
    for table in (*_PER_PARTITION, *_PER_TABLE, hive_locks, write_set):
        db.execute(
            update(table)
            .where(table.c.database == name.database, table.c.table == name.name)
            .values(database=to.database, table=to.name)
        )


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
