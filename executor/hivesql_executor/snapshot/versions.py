"""Versions of a table, as its writes are numbered: the last, and that of a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hivesql_executor.snapshot.changed_files import last_of_merged, write_before_changes
from hivesql_executor.snapshot.time_travel import visible_as_of
from hivesql_executor.transactions.file_changes import FileChanges
from hivesql_executor.transactions.transaction import Transaction
from hivesql_planner.acid.time_travel import after_write
from hivesql_planner.relations import AsOf

if TYPE_CHECKING:
    from datetime import datetime

    from hivesql_executor.runtime import Runtime
    from hivesql_planner.acid.write_ids import ValidWriteIdList
    from hivesql_planner.model.table import Table, TableName


def decided_writes(table: TableName, runtime: Runtime) -> ValidWriteIdList:
    """Return the writes up to the last below which none is open: that one is the version.

    Writes are committed in any order: one that is still open holds back those above it.
    """
    allocated = _glance(table, runtime).visible[table].high_watermark
    # A list of writes may come later than its list of transactions, and then not know that one of
    # a younger transaction is open: of those that were there before, the second list knows.
    writes = _glance(table, runtime).visible[table]
    return after_write(writes, min(allocated, writes.decided))


def version_at(table: TableName, time: datetime, runtime: Runtime) -> int:
    """Return the last write up to which each was decided at a time, which has its zone."""
    now = decided_writes(table, runtime)
    then = visible_as_of(AsOf(time=time), table, _glance(table, runtime), runtime)
    return min(now.high_watermark, then.decided)


def version_before_changes(table: Table, runtime: Runtime) -> int:
    """Return the last write whose changes are no longer there; 0 where all are."""
    txn = _glance(table.name, runtime)
    partitions = runtime.metastore.partitions(table.name) if table.partition_columns else ()
    return write_before_changes(table, partitions, txn.visible[table.name], txn.txns, runtime)


def version_with_merged(table: Table, version: int, runtime: Runtime) -> int:
    """Return the first version from this one on up to which changes can be told by themselves."""
    txn = _glance(table.name, runtime)
    partitions = runtime.metastore.partitions(table.name) if table.partition_columns else ()
    visible = txn.visible[table.name]
    return last_of_merged(table, partitions, version, visible, txn.txns, runtime)


def _glance(table: TableName, runtime: Runtime) -> Transaction:
    """Look at what is visible now, without a transaction."""
    txns = runtime.metastore.valid_txns()
    return Transaction(
        id=0,
        txns=txns,
        write_ids={},
        visible=runtime.metastore.valid_write_ids(txns, [table]),
        changes=FileChanges(runtime, 0),
    )
