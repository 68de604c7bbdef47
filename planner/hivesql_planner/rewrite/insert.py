"""INSERT, multi-insert and CREATE TABLE AS SELECT as writes with statement ids."""

from __future__ import annotations

from hivesql_planner.acid.row_id import MAX_STATEMENT
from hivesql_planner.definitions.steps import NewTable
from hivesql_planner.errors import NotSupported
from hivesql_planner.locks.lock import Operation
from hivesql_planner.model.table import Table
from hivesql_planner.plan import Insert, InsertBranch, Target, Write, WriteKind
from hivesql_planner.relations import Query
from hivesql_planner.statements.bound import CreateTable, InsertRows, InsertTarget


def rewrite_insert(statement: InsertRows) -> Insert:
    """Give every write branch its statement id, in the order of the text.

    The counter runs over the whole statement, across tables. A top-level UNION ALL takes one id
    for itself and one for each of its branches, as Hive's move tasks do (seen in Hive 4.1).
    """
    branches: list[InsertBranch] = []
    next_id = 0
    for target in statement.targets:
        queries: tuple[Query, ...] = (target.query,)
        ids = 1
        if target.union_branches and target.table.is_transactional:
            if target.overwrite and target.table.is_full_acid:
                raise NotSupported(
                    "INSERT OVERWRITE with UNION ALL on a full ACID table: truncate the table, "
                    "then INSERT INTO it"
                )
            next_id += 1
            ids = len(target.union_branches)
            # An OVERWRITE is one base: no statement id tells its files apart, so one query writes.
            if not target.overwrite:
                queries = target.union_branches
        branches += (_branch(target, query, next_id + at) for at, query in enumerate(queries))
        next_id += ids
    return Insert(branches=tuple(branches))


def _branch(target: InsertTarget, query: Query, statement_id: int) -> InsertBranch:
    return InsertBranch(
        write=_write(target.table, statement_id, overwrite=target.overwrite),
        query=query,
        static_partition=target.static_partition,
        dynamic_partition=target.dynamic_partition,
        if_not_exists=target.if_not_exists,
        concatenates=target.concatenates,
        rebuilds=target.rebuilds,
        restores=target.restores,
        check=target.check,
    )


def _write(table: Table, statement_id: int, *, overwrite: bool) -> Write:
    if table.is_transactional and statement_id > MAX_STATEMENT:
        raise NotSupported(
            f"more than {MAX_STATEMENT} branches of UNION ALL in one INSERT, each of which is a "
            "write of its own: say INSERT INTO … SELECT * FROM (… UNION ALL …) q, which is one "
            "write, or VALUES"
        )
    if not table.is_transactional:
        return Write(kind=WriteKind.FILES, table=table, overwrite=overwrite)
    kind = WriteKind.BASE if overwrite else WriteKind.DELTA
    return Write(kind=kind, table=table, statement_id=statement_id)


def insert_targets(statement: InsertRows) -> tuple[Target, ...]:
    """Record overwrites as updates and the rest as inserts, as Hive's write entities do."""
    targets = (
        Target(
            table=target.table.name,
            operation=Operation.UPDATE if target.overwrite else Operation.INSERT,
        )
        for target in statement.targets
        if target.table.is_transactional
    )
    return tuple(dict.fromkeys(targets))


def rewrite_create_as(statement: CreateTable, rows: Query) -> Insert:
    """CREATE TABLE AS SELECT: make the table, then insert as statement 0."""
    branch = InsertBranch(
        write=_write(statement.table, 0, overwrite=False),
        query=rows,
        dynamic_partition=statement.table.partition_names,
    )
    new = NewTable(
        table=statement.table, home=statement.home, if_not_exists=statement.if_not_exists
    )
    return Insert(branches=(branch,), create=new)
