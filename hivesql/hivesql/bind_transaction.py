"""START TRANSACTION, COMMIT, ROLLBACK; LOCK and UNLOCK."""

from __future__ import annotations

from hivesql.binder.context import Binding
from hivesql.syntax.commands import EndBody, LockBody, StartBody
from hivesql_planner.model.table import partition_name
from hivesql_planner.statements.bound import EndTransaction, LockObject, StartTransaction


def bind_start(body: StartBody, binding: Binding) -> StartTransaction:
    """START TRANSACTION."""
    return StartTransaction(read_only=body.read_only)


def bind_end(body: EndBody, binding: Binding) -> EndTransaction:
    """COMMIT and ROLLBACK."""
    return EndTransaction(commit=body.commit)


def bind_lock(body: LockBody, binding: Binding) -> LockObject:
    """LOCK and UNLOCK of a database, a table or a partition that exists."""
    if body.database is not None:
        return LockObject(database=binding.check_database(body.database), mode=body.mode)
    assert body.table is not None
    table = binding.table(body.table)
    partition = None
    if body.partition:
        found = binding.matching(table, body.partition)[0]
        partition = partition_name(table.partition_names, found.values)
    return LockObject(
        database=table.name.database, table=table, partition=partition, mode=body.mode
    )
