"""What a statement did to each table, told to its transaction, whose commit keeps it as history."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from hivesql_planner.plan import Change, WriteKind
from hivesql_planner.write_history import RowCounts

if TYPE_CHECKING:
    from hivesql_executor.orc.publish import WrittenFile
    from hivesql_executor.transactions.transaction import Transaction
    from hivesql_planner.model.table import TableName


def note_counts(table: TableName, counts: RowCounts, txn: Transaction | None) -> None:
    """Add what a branch of the running statement did; without a transaction nothing is kept."""
    if txn is not None and table in txn.write_ids:
        txn.done.setdefault(table, RowCounts()).add(counts)


def of_insert(written: Collection[WrittenFile]) -> RowCounts:
    """Count the rows of an INSERT."""
    return _counts(written, inserted=sum(file.rows for file in written))


def of_change(change: Change, written: Collection[WrittenFile]) -> RowCounts:
    """Count the rows of UPDATE, DELETE and MERGE: an update's two events are one row."""
    pairs = [
        (branch.delete.statement_id, branch.insert.statement_id)
        for branch in change.branches
        if branch.delete and branch.insert
    ]
    olds, news = {old for old, _ in pairs}, {new for _, new in pairs}
    old = [file for file in written if file.kind is WriteKind.DELETE_DELTA]
    new = [file for file in written if file.kind is WriteKind.DELTA]
    return _counts(
        written,
        inserted=sum(file.rows for file in new if file.statement_id not in news),
        updated=sum(file.rows for file in old if file.statement_id in olds),
        deleted=sum(file.rows for file in old if file.statement_id not in olds),
    )


def _counts(
    written: Collection[WrittenFile], *, inserted: int = 0, updated: int = 0, deleted: int = 0
) -> RowCounts:
    return RowCounts(
        inserted=inserted,
        updated=updated,
        deleted=deleted,
        files=len(written),
        bytes=sum(file.bytes for file in written),
    )
