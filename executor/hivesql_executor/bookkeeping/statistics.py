"""What a statement wrote, as a change of statistics: told to its transaction, which commits it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from hivesql_executor.runtime import Runtime
from hivesql_executor.transactions.transaction import Transaction
from hivesql_planner.model.statistics import (
    MOST_COLUMNS,
    Measuring,
    StatisticsChange,
    is_simple,
)
from hivesql_planner.model.table import TEMPORARY, Table, TableName
from hivesql_planner.plan import Change, InsertBranch, When, WriteKind

if TYPE_CHECKING:
    from hivesql_executor.orc.publish import Measured, WrittenFile
    from hivesql_executor.transactions.file_changes import FileChanges


def count_inserted(
    table: Table,
    written: Collection[WrittenFile],
    touched: Collection[str],
    txn: Transaction,
    runtime: Runtime,
    *,
    replaces: bool,
    columns: Measured,
) -> None:
    """Count the files of an INSERT; ``touched`` are the partitions, also those without a file."""
    changes = _by_unit(table, written, touched, replaces=replaces)
    whole = columns.get(None, ()) if len(changes) == 1 else ()
    changes = [replace(change, columns=columns.get(change.partition, whole)) for change in changes]
    _gather(changes, table.name, txn, runtime)


def count_changed(
    change: Change, written: Collection[WrittenFile], txn: Transaction, runtime: Runtime
) -> None:
    """Count the events of UPDATE, DELETE and MERGE."""
    table = change.target.table
    names = {file.partition for file in written if file.partition}
    changes = _by_unit(table, written, names, replaces=False)
    once = change.cardinality_check or change.deletes_matched or not change.has(When.MATCHED)
    if change.source is not None and not once:
        # A row may have been deleted twice, which is one row.
        changes = [replace(change, rows=None) for change in changes]
    _gather(changes, table.name, txn, runtime)


def what_to_measure(table: Table, branch: InsertBranch, runtime: Runtime) -> Measuring:
    """Tell which columns an INSERT measures as it writes them; as in Hive, no temporary table's."""
    settings = runtime.settings
    keys = ("hive.stats.autogather", "hive.stats.column.autogather")
    is_kept = runtime.metastore.measures_columns and not table.name.database.startswith(TEMPORARY)
    columns = tuple(filter(is_simple, table.columns))
    if not (all(map(settings.flag, keys)) and is_kept) or branch.rebuilds:
        return Measuring()
    if len(columns) > MOST_COLUMNS:
        return Measuring()
    # What Spark measures is of one place.
    most = settings.integer("hivesql.stats.column.max.bytes")
    return Measuring(columns, 0 if branch.dynamic_partition else most)


def count(
    changes: Iterable[StatisticsChange], txn: Transaction | None, file_changes: FileChanges
) -> None:
    """Leave changes to a transaction's commit, or to what decides on a statement's files."""
    (file_changes if txn is None else txn).counted.extend(changes)


def _gather(
    changes: Iterable[StatisticsChange], table: TableName, txn: Transaction, runtime: Runtime
) -> None:
    if not runtime.settings.flag("hive.stats.autogather"):
        txn.counted.extend(replace(change, rows=None) for change in changes)
        return
    # That it wrote nothing at all is a thing to tell, too.
    txn.counted.extend([*changes, StatisticsChange(table=table)])


def _by_unit(
    table: Table,
    written: Collection[WrittenFile],
    touched: Collection[str],
    *,
    replaces: bool,
) -> list[StatisticsChange]:
    if not table.partition_columns:
        return [_sum(table.name, None, written, replaces=replaces)]
    files: dict[str, list[WrittenFile]] = {name: [] for name in sorted(touched)}
    for file in written:
        if file.partition:
            files[file.partition].append(file)
    return [_sum(table.name, name, written, replaces=replaces) for name, written in files.items()]


def _sum(
    table: TableName, partition: str | None, written: Collection[WrittenFile], *, replaces: bool
) -> StatisticsChange:
    return StatisticsChange(
        table=table,
        partition=partition,
        rows=sum(
            -file.rows if file.kind is WriteKind.DELETE_DELTA else file.rows for file in written
        ),
        files=len(written),
        bytes=sum(file.bytes for file in written),
        replaces=replaces,
    )
