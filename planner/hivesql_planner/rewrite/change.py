"""UPDATE, DELETE and MERGE as split updates: delete events for old rows, inserts for new ones.

Statement ids follow Hive 4.1: all delete events first, in the order of their clauses, then all
inserts in the order of theirs. One UPDATE is delete_delta_W_W_0000 and delta_W_W_0001.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count

from hivesql_planner.locks.lock import Operation
from hivesql_planner.model.table import Table
from hivesql_planner.plan import Change, ChangeBranch, Target, When, Write, WriteKind
from hivesql_planner.predicates.predicate import OldValue
from hivesql_planner.relations import Expr
from hivesql_planner.settings.settings import Settings
from hivesql_planner.statements.bound import DeleteRows, MergeClause, MergeRows, UpdateRows


def rewrite_update(update: UpdateRows) -> Change:
    """Find the matching rows once; delete them by row id and insert their new values."""
    clause = MergeClause(kind="update", assignments=update.assignments)
    return Change(
        target=update.target,
        target_alias=update.alias,
        on=update.where,
        check=update.check,
        branches=_branches(update.target.table, update.alias, (clause,)),
        queries=update.subqueries,
    )


def rewrite_delete(delete: DeleteRows) -> Change:
    """Write one delete event for each matching row."""
    return Change(
        target=delete.target,
        target_alias=delete.alias,
        on=delete.where,
        branches=_branches(delete.target.table, delete.alias, (MergeClause(kind="delete"),)),
        queries=delete.subqueries,
    )


def rewrite_merge(merge: MergeRows, settings: Settings) -> Change:
    """Give one branch per WHEN clause, in the order of the text."""
    changes_rows = any(clause.kind != "insert" for clause in merge.clauses)
    return Change(
        target=merge.target,
        target_alias=merge.alias,
        on=merge.on,
        source=merge.source,
        source_alias=merge.source_alias,
        check=merge.check,
        branches=_branches(merge.target.table, merge.alias, merge.clauses),
        cardinality_check=changes_rows
        and not merge.by_row_id
        and settings.flag("hive.merge.cardinality.check"),
        by_row_id=merge.by_row_id,
        queries=merge.subqueries,
    )


def _branches(table: Table, alias: str, clauses: Sequence[MergeClause]) -> tuple[ChangeBranch, ...]:
    ids = count()
    deletes = {
        position: Write(kind=WriteKind.DELETE_DELTA, table=table, statement_id=next(ids))
        for position, clause in enumerate(clauses)
        if clause.kind in ("update", "delete")
    }
    inserts = {
        position: Write(kind=WriteKind.DELTA, table=table, statement_id=next(ids))
        for position, clause in enumerate(clauses)
        if clause.kind in ("update", "insert")
    }
    return tuple(
        ChangeBranch(
            when=When.NOT_MATCHED if clause.kind == "insert" else When.MATCHED,
            condition=_condition(clauses, position),
            delete=deletes.get(position),
            insert=inserts.get(position),
            values=_values(table, alias, clause),
        )
        for position, clause in enumerate(clauses)
    )


def _condition(clauses: Sequence[MergeClause], position: int) -> Expr | None:
    """Return a clause's own condition, and that no earlier clause of its kind takes the row.

    As in Hive, a row for which an earlier condition is unknown (NULL) is in neither clause.
    """
    clause = clauses[position]
    if clause.kind == "insert":
        return clause.condition
    parts = [f"({clause.condition.sql})"] if clause.condition else []
    for earlier in clauses[:position]:
        if earlier.kind != "insert":
            condition = earlier.condition.sql if earlier.condition else "true"
            parts.append(f"NOT ({condition})")
    return Expr(" AND ".join(parts)) if parts else None


def _values(table: Table, alias: str, clause: MergeClause) -> tuple[Expr, ...]:
    if clause.kind == "insert":
        return clause.values
    if clause.kind == "delete":
        return ()
    return new_row(table, alias, clause.assignments)


def new_row(table: Table, alias: str, assignments: Mapping[str, Expr]) -> tuple[Expr, ...]:
    """Return the updated row: assigned expressions, and the old values of all other columns."""
    return tuple(
        assignments.get(column.name, Expr(f"`{alias}`.`{column.name}`", OldValue(column.name)))
        for column in table.columns
    )


def change_targets(change: Change) -> tuple[Target, ...]:
    """Give one operation per kind of event; UPDATE outranks DELETE outranks INSERT."""
    operations = {_operation(branch) for branch in change.branches}
    ranked = [Operation.UPDATE, Operation.DELETE, Operation.INSERT]
    operation = next(op for op in ranked if op in operations)
    return (Target(table=change.target.table.name, operation=operation),)


def _operation(branch: ChangeBranch) -> Operation:
    if branch.delete and branch.insert:
        return Operation.UPDATE
    return Operation.DELETE if branch.delete else Operation.INSERT


def change_writes(change: Change) -> tuple[Write, ...]:
    """Every write of the change by statement id."""
    writes = [write for branch in change.branches for write in _writes(branch)]
    return tuple(sorted(writes, key=lambda write: write.statement_id))


def branch_writes(change: Change) -> tuple[tuple[int, ...], ...]:
    """For each branch the indexes of its writes, deletes first, in ``change_writes``."""
    places = {write.statement_id: i for i, write in enumerate(change_writes(change))}
    return tuple(
        tuple(places[write.statement_id] for write in _writes(branch)) for branch in change.branches
    )


def _writes(branch: ChangeBranch) -> list[Write]:
    return [write for write in (branch.delete, branch.insert) if write]
