"""USE, SHOW, DESCRIBE, LOCK, GRANT and REVOKE."""

from __future__ import annotations

from typing import NoReturn, get_args

from hivesql.binder.targets import existing, full_values
from hivesql.binding import Binding
from hivesql.dialect.nodes.authorization import (
    GrantPrivilegesBody,
    ObjectOfPrivilege,
    ShowGrantBody,
)
from hivesql.dialect.nodes.commands import DescribeBody, LockBody, ShowBody, UseBody
from hivesql.dialect.slices import PartitionItems
from hivesql.dialect.tokens import Name, TableRef
from hivesql_planner.compaction.request import CompactionFilter
from hivesql_planner.errors import NotSupported, SemanticError
from hivesql_planner.model.privileges import PrivilegeObject
from hivesql_planner.model.table import (
    TEMPORARY,
    Partition,
    Table,
    TableName,
    TableType,
    partition_name,
)
from hivesql_planner.settings.transaction_keys import DUMMY_TXN_MANAGER
from hivesql_planner.statements.authorization import GrantPrivileges, ShowGrant
from hivesql_planner.statements.bound import (
    COMPACTION_COLUMNS,
    Describe,
    LockObject,
    Show,
    UseDatabase,
)

_OF_DATABASE = ("tables", "views", "extended tables", "tables of a type", "table extended",
                "materialized views")  # fmt: skip


def bind_use(body: UseBody, binding: Binding) -> UseDatabase:
    """USE."""
    return UseDatabase(name=binding.check_database(body.name))


def bind_show(body: ShowBody, binding: Binding) -> Show:
    """SHOW."""
    locks_objects = binding.settings.text("hive.txn.manager") == DUMMY_TXN_MANAGER
    if body.kind == "compactions" or (body.kind == "locks" and not locks_objects):
        return _bind_by_name(body, binding)
    if body.kind == "tables of a type" and body.key not in get_args(TableType):
        types = ", ".join(get_args(TableType))
        binding.fail(SemanticError(f"{body.key!r} is no type of tables: these are {types}"), 0)
    return (_bind_history if body.kind == "history" else _bind_shown)(body, binding)


def _bind_shown(body: ShowBody, binding: Binding) -> Show:
    ref = body.table
    if ref is not None and body.kind == "columns" and body.database is not None:
        ref = TableRef(body.database, ref.name, ref.start, ref.end)
    table = binding.table(ref, only_tells=True) if ref is not None else None
    database = binding.check_database(body.database) if body.database else None
    if database is None and body.kind in _OF_DATABASE:
        database = binding.check_database(Name(binding.database, 0))
    partition = part = names = None
    if table is not None and body.kind == "partitions" and not table.partition_columns:
        _fail_unpartitioned(table, body, binding)
    if body.kind == "functions":
        from hivesql.dialect.function_names import listed_functions

        names = tuple(sorted({*listed_functions(), *binding.functions}))
    elif body.kind == "table extended" and body.partition:
        of = binding.table_named(TableName(database or "", body.pattern or ""), 0)
        part = existing(of, body.partition, binding)
    elif table is not None and body.kind == "partitions" and (body.partition or body.chosen):
        from hivesql.binder.partitions import chosen_names

        names = chosen_names(body.partition, body.chosen, table, binding)
    elif table is not None and body.partition:
        if body.kind == "locks":
            binding.matching(table, body.partition)
        partition = _partition_of(table, body.partition, binding)
    elif body.kind == "create table" and body.table and body.table.database:
        database = body.table.database.text  # told as it is named, as by Hive
    return Show(
        kind=body.kind, database=database, table=table, partition=partition, pattern=body.pattern,
        extended=body.extended, key=body.key, part=part, names=names,
        function=binding.function(body.key.replace("`", "").lower()) if body.key else None,
    )  # fmt: skip


def _fail_unpartitioned(table: Table, body: ShowBody, binding: Binding) -> NoReturn:
    if body.chosen and body.chosen.order:
        from hivesql.binder.partitions import unsorted

        column, _ = body.chosen.order[0]
        binding.fail(unsorted(column.text), column.start)
    error = SemanticError(f"Table {table.name.name} is not a partitioned table", code=10241)
    binding.fail(error, body.table.start if body.table else 0)


def _bind_history(body: ShowBody, binding: Binding) -> Show:
    """Bind SHOW HISTORY, and DESCRIBE HISTORY: of a table, else of a database."""
    if body.table is None:
        database = binding.check_database(body.database or Name(binding.database, 0))
        return Show(kind="history", database=database, limit=body.limit)
    table = binding.table(body.table, only_tells=True)
    if not table.is_transactional:
        error = SemanticError(
            f"{table.name} is not transactional: only writes to transactional tables have a history"
        )
        binding.fail(error, body.table.start)
    return Show(kind="history", table=table, limit=body.limit)


def _partition_of(table: Table, items: PartitionItems, binding: Binding) -> str:
    """Return the name that the given values of partition columns make, in the table's order."""
    values = binding.partition_values(table, items)
    keys = [name for name in table.partition_names if name in values]
    return partition_name(keys, [values[key] for key in keys])


def _bind_by_name(body: ShowBody, binding: Binding) -> Show:
    """Bind SHOW LOCKS and SHOW COMPACTIONS: that something is not there is no error, as in Hive.

    A table that is being made is locked by its name, and what was dropped has a history.
    """
    database, name = (body.database.text if body.database else None), None
    table = partition = None
    if body.table is not None:
        name = body.table.full(binding.database)
        table = binding.known_table(name)
    if body.partition and table is not None:
        partition = _partition_of(table, body.partition, binding)
    elif body.partition:
        keys = [item.key.text for item in body.partition]
        partition = partition_name(keys, [item.value for item in body.partition])
    return Show(
        kind=body.kind, database=database, table=table, absent=None if table else name,
        partition=partition, extended=body.extended, compactions=_compactions(body, binding),
    )  # fmt: skip


def bind_describe(body: DescribeBody, binding: Binding) -> Describe | Show:
    """DESCRIBE."""
    if body.history is not None and not _has_column(body, binding):
        return bind_show(body.history, binding)
    if body.database is not None:
        return Describe(database=binding.check_database(body.database), style=body.style)
    assert body.table is not None
    if body.table.database is not None:
        binding.check_database(body.table.database)
    table = binding.table(body.table, only_tells=True)
    partition = _whole_partition(table, body.partition, binding) if body.partition else None
    column = body.column.text if body.column else None
    return Describe(
        table=table, style=body.style, partition=partition, column=column,
        column_text=body.column_text, inside=body.inside,
    )  # fmt: skip


def _whole_partition(table: Table, items: PartitionItems, binding: Binding) -> Partition:
    """Return the partition whose values are all given: DESCRIBE is about one."""
    matching = binding.matching(table, items)
    full_values(table, items, binding)
    return matching[0]


def _has_column(body: DescribeBody, binding: Binding) -> bool:
    """Tell whether Hive would describe a column of a table, which is called ``history``."""
    assert body.table is not None
    table = binding.known_table(body.table.full(binding.database))
    names = {column.name for column in table.all_columns} if table is not None else set()
    return body.column is not None and body.column.text in names


def bind_lock(body: LockBody, binding: Binding) -> LockObject:
    """LOCK and UNLOCK of a database, a table or a partition that exists."""
    if body.database is not None:
        return LockObject(database=binding.check_database(body.database), mode=body.mode)
    assert body.table is not None
    table = binding.table(body.table)
    partition = None
    if body.partition:
        matching = binding.matching(table, body.partition)[0]
        partition = partition_name(table.partition_names, matching.values)
    return LockObject(
        database=table.name.database, table=table, partition=partition, mode=body.mode
    )


def _compactions(body: ShowBody, binding: Binding) -> CompactionFilter:
    """Return the filter of SHOW COMPACTIONS; its ORDER BY names the columns that are shown."""
    for name, key in body.order:
        if key.column not in COMPACTION_COLUMNS:
            possible = ", ".join(COMPACTION_COLUMNS)
            error = SemanticError(f"SHOW COMPACTIONS has no column {key.column}: it has {possible}")
            binding.fail(error, name.start)
    return body.compactions


def bind_grant(body: GrantPrivilegesBody, binding: Binding) -> GrantPrivileges:
    """Bind GRANT and REVOKE: the table, and its partition where one is named, must be there."""
    about = body.about
    if about.table is not None:
        table = binding.table(about.table)
        if table.name.database.startswith(TEMPORARY):
            binding.fail(NotSupported("privileges on temporary tables"), about.table.start)
        if about.partition is not None:
            binding.matching(table, about.partition)
    return GrantPrivileges(
        privileges=body.privileges, about=_named(about, binding), principals=body.principals,
        option=body.option, revokes=body.revokes,
    )  # fmt: skip


def bind_show_grant(body: ShowGrantBody, binding: Binding) -> ShowGrant:
    """Bind SHOW GRANT: of what is not there nobody has privileges, as in Hive."""
    about = _named(body.about, binding) if body.about else None
    return ShowGrant(principal=body.principal, about=about)


def _named(about: ObjectOfPrivilege, binding: Binding) -> PrivilegeObject:
    if about.table is not None:
        return PrivilegeObject.of(about.table.full(binding.database))
    assert about.database is not None
    return PrivilegeObject(about.database.text)
