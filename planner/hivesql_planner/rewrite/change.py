"""UPDATE, DELETE and MERGE as split updates: delete events for old rows, inserts for new ones.

Statement ids follow Hive 4.1: all delete events first, in the order of their clauses, then all
inserts in the order of theirs. One UPDATE is delete_delta_W_W_0000 and delta_W_W_0001.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import count

from hivesql_planner.locks.lock import Operation
from hivesql_planner.model.hive_type import quote_name
from hivesql_planner.model.table import Table
from hivesql_planner.plan import Change, ChangeBranch, Target, When, Write, WriteKind
from hivesql_planner.predicates.predicate import OldValue
from hivesql_planner.relations import Expr, Joining
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
    changes_rows = any(clause.kind != "insert" and not clause.by_source for clause in merge.clauses)
    return Change(
        target=merge.target,
        target_alias=merge.alias,
        on=merge.on,
        source=merge.source,
        source_alias=merge.source_alias,
        check=merge.check,
        branches=_branches(merge.target.table, merge.alias, merge.clauses),
        added=merge.added,
        narrow=merge.narrow,
        cardinality_check=changes_rows
        and not merge.by_row_id
        and not merge.by_any
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
            when=_when(clause),
            condition=_condition(clauses, position),
            delete=deletes.get(position),
            insert=inserts.get(position),
            values=_values(table, alias, clause),
            moves=_moves(table, clause),
        )
        for position, clause in enumerate(clauses)
    )


def _when(clause: MergeClause) -> When:
    if clause.kind == "insert":
        return When.NOT_MATCHED
    return When.NOT_MATCHED_BY_SOURCE if clause.by_source else When.MATCHED


def _moves(table: Table, clause: MergeClause) -> bool:
    placing = {*table.partition_names, *table.bucket_columns}
    return clause.kind == "update" and not placing.isdisjoint(clause.assignments)


def _condition(clauses: Sequence[MergeClause], position: int) -> Expr | None:
    """Return a clause's own condition, and what Hive asks of it beside an earlier one.

    Of two clauses for matched rows that Hive knows, one UPDATE and one DELETE, a row for which the
    earlier condition is unknown (NULL) is in neither. Of all others a row takes the first one
    whose condition is true.
    """
    clause = clauses[position]
    matched = [i for i, other in enumerate(clauses) if _when(other) is When.MATCHED]
    kinds = {clauses[i].kind for i in matched}
    if clause.kind == "insert":
        return clause.condition
    parts = [f"({clause.condition.sql})"] if clause.condition else []
    meaning = clause.condition.meaning if clause.condition else Joining()
    if position in matched[1:] and len(kinds) == len(matched):
        first = clauses[matched[0]].condition
        parts.append(f"NOT ({first.sql if first else 'true'})")
        unless = first.meaning if first else Joining()
        if isinstance(meaning, Joining) and isinstance(unless, Joining):
            meaning = replace(meaning, unless=unless)
        else:
            meaning = None
    return Expr(" AND ".join(parts), meaning) if parts else None


def _values(table: Table, alias: str, clause: MergeClause) -> tuple[Expr, ...]:
    if clause.kind == "insert":
        return clause.values
    if clause.kind == "delete":
        return ()
    values = new_row(table, alias, clause.assignments)
    if not _moves(table, clause):
        return values
    of = quote_name(alias)
    return (*values, *(
        clause.assignments.get(name, Expr(f"{of}.{quote_name(name)}", OldValue(name)))
        for name in table.partition_names
    ))  # fmt: skip


def new_row(table: Table, alias: str, assignments: Mapping[str, Expr]) -> tuple[Expr, ...]:
    """Return the updated row: assigned expressions, and the old values of all other columns."""
    return tuple(
        assignments.get(
            column.name,
            Expr(f"{quote_name(alias)}.{quote_name(column.name)}", OldValue(column.name)),
        )
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
    """For each branch the indexes of its writes, deletes first, in ``change_writes``.

    A branch that moves rows has only its delete there: its new rows are a branch of their own,
    ``new_rows_branch``.
    """
    places = {write.statement_id: i for i, write in enumerate(change_writes(change))}
    writes = [
        tuple(places[write.statement_id] for write in _writes(branch)) for branch in change.branches
    ]
    moved = [i for i, branch in enumerate(change.branches) if branch.moves]
    old = (at[:1] if i in moved else at for i, at in enumerate(writes))
    return (*old, *(writes[i][1:] for i in moved))


def new_rows_branch(change: Change, position: int) -> int:
    """Tell the number in ``branch_writes`` of the new rows of a branch that moves rows."""
    earlier = sum(branch.moves for branch in change.branches[:position])
    return len(change.branches) + earlier


def _writes(branch: ChangeBranch) -> list[Write]:
    return [write for write in (branch.delete, branch.insert) if write]
