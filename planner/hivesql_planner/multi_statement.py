"""Transactions of many statements: what may stand inside, and how statement ids run on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from hivesql_planner.acid.row_id import MAX_STATEMENT
from hivesql_planner.errors import ExecutionError, NotSupported
from hivesql_planner.model.table import Table, TableName
from hivesql_planner.plan import Body, Change, Command, Insert, Plan, Select, Write, WriteKind
from hivesql_planner.statements.bound import (
    AbortTransactions,
    Describe,
    Explain,
    KillQueries,
    SetSetting,
    Show,
    StartTransaction,
    Statement,
    UseDatabase,
)

if TYPE_CHECKING:
    from hivesql_planner.statements.ddl import LoadData

_Rows = TypeVar("_Rows", Insert, Change)

# They neither read nor write rows, and change nothing that others see.
_HARMLESS = (
    AbortTransactions, Describe, Explain, KillQueries, SetSetting, Show, UseDatabase,
)  # fmt: skip


def check_inside(
    plan: Plan,
    statement: Statement,
    *,
    txn_id: int,
    read_only: bool = False,
    replaced: Collection[TableName] = (),
) -> None:
    """Refuse what an open transaction cannot hold, with Hive's error 20007.

    ``replaced`` are tables that the transaction has overwritten: its base hides every other
    directory of its write id, so that later rows of the same transaction would be lost.
    """
    if isinstance(statement, _HARMLESS) or isinstance(plan.body, Select):
        return
    written = _written_tables(plan.body)
    creates = isinstance(plan.body, Insert) and (
        plan.body.create is not None or any(branch.rebuilds for branch in plan.body.branches)
    )
    if not written or creates:
        raise _not_allowed(_operation(statement), txn_id)
    plain = [table for table in written if not table.is_transactional]
    if plain:
        what = f"writing {plain[0].name}, which is not transactional,"
        raise _not_allowed(what, txn_id)
    if isinstance(plan.body, Change) and plan.body.evolves:
        raise _not_allowed("MERGE WITH SCHEMA EVOLUTION that adds or changes columns", txn_id)
    if read_only:
        raise _not_allowed(f"writing {written[0].name}", txn_id, "READ ONLY transaction")
    for table in written:
        if table.name in replaced:
            raise NotSupported(
                f"writing {table.name} again after INSERT OVERWRITE in the same transaction"
            )


def continued(body: Body, first: int) -> Body:
    """Return the same body with its statement ids counted from ``first``."""
    match body:
        case Insert():
            return with_writes(body, lambda write: _moved(write, first))
        case Change():
            return with_writes(body, lambda write: _moved(write, first))
    load = _load_of(body)
    if load is None:
        return body
    _check_statement_id(first)
    return Command(statement=replace(load, statement_id=first))


def _written_tables(body: Body) -> tuple[Table, ...]:
    load = _load_of(body)
    return (load.table,) if load else tuple(write.table for write in writes_of(body))


def _load_of(body: Body) -> LoadData | None:
    """Return the LOAD DATA that adds files; Hive takes none with OVERWRITE in a transaction."""
    if not isinstance(body, Command):
        return None
    # Imported late: most transactions load nothing.
    from hivesql_planner.statements.ddl import LoadData

    statement = body.statement
    if not isinstance(statement, LoadData) or statement.overwrite or statement.adds_partition:
        return None
    return statement


def with_writes(body: _Rows, changed: Callable[[Write], Write]) -> _Rows:
    """Return the same body with each of its writes changed."""
    if isinstance(body, Insert):
        inserts = (replace(branch, write=changed(branch.write)) for branch in body.branches)
        return replace(body, branches=tuple(inserts))
    changes = (
        replace(
            branch,
            delete=branch.delete and changed(branch.delete),
            insert=branch.insert and changed(branch.insert),
        )
        for branch in body.branches
    )
    return replace(body, branches=tuple(changes))


def next_statement_id(body: Body, first: int) -> int:
    """Return the first statement id that a continued body leaves free."""
    load = _load_of(body)
    if load is not None:
        return load.statement_id + 1
    return max((write.statement_id + 1 for write in writes_of(body)), default=first)


def replaced_tables(body: Body) -> frozenset[TableName]:
    """Tables of which the body writes a new base."""
    return frozenset(w.table.name for w in writes_of(body) if w.kind is WriteKind.BASE)


def writes_of(body: Body) -> Iterator[Write]:
    """All writes of a statement, in the order of its branches."""
    match body:
        case Insert(branches=branches):
            yield from (branch.write for branch in branches)
        case Change(branches=changes):
            for change in changes:
                yield from filter(None, (change.delete, change.insert))


def _moved(write: Write, first: int) -> Write:
    _check_statement_id(write.statement_id + first)
    return replace(write, statement_id=write.statement_id + first)


def _check_statement_id(statement_id: int) -> None:
    if statement_id > MAX_STATEMENT:
        raise NotSupported(f"more than {MAX_STATEMENT + 1} writes in one transaction")


def _operation(statement: Statement) -> str:
    if isinstance(statement, StartTransaction):
        return "START TRANSACTION"
    if getattr(statement, "adds_partition", False):
        return "ADD PARTITION"
    name = type(statement).__name__
    words = "".join(f" {char}" if char.isupper() else char for char in name)
    return words.strip().upper()


def _not_allowed(operation: str, txn_id: int, kind: str = "transaction") -> ExecutionError:
    return ExecutionError(
        f"{operation} is not allowed in {kind} {txn_id}, which was rolled back. Run it outside "
        "START TRANSACTION … COMMIT",
        code=20007,
    )
