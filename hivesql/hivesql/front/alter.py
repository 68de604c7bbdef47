"""TRUNCATE and ALTER TABLE, from text to bound statements."""

from __future__ import annotations

from typing import Literal, cast

from hivesql.front.binding import DYNAMIC, Binding
from hivesql.front.columns import read_columns, read_properties
from hivesql.front.cursor import Cursor
from hivesql_planner.errors import NoSuchObject, NotSupported, SemanticError
from hivesql_planner.statements import (
    AddColumns,
    AddPartitions,
    AlterProperties,
    CompactTable,
    DropPartitions,
    RenameTable,
    Statement,
    TruncateTable,
)
from hivesql_planner.table import Partition, Table


def bind_truncate(cursor: Cursor, binding: Binding) -> TruncateTable:
    """TRUNCATE [TABLE] t [PARTITION (…)]."""
    cursor.expect("TRUNCATE")
    cursor.take("TABLE")
    table = binding.read_table(cursor)
    partitions = None
    if cursor.take("PARTITION"):
        partitions = _existing(cursor, binding, table)
    if cursor.sees("COLUMNS"):
        raise NotSupported("TRUNCATE … COLUMNS")
    cursor.take("FORCE")
    cursor.end()
    if partitions is None and table.partition_columns:
        partitions = binding.catalog.partitions(table.name)
    return TruncateTable(table=table, partitions=partitions)


def _existing(
    cursor: Cursor, binding: Binding, table: Table, *, required: bool = True
) -> tuple[Partition, ...]:
    offset = cursor.offset()
    spec = binding.read_partition(cursor, table)
    if DYNAMIC in spec.values():
        cursor.fail(SemanticError("expected a value for each partition column"), offset)
    found = binding.matching_partitions(table, spec)
    if not found and required:
        names = ", ".join(f"{key}={value}" for key, value in spec.items())
        cursor.fail(NoSuchObject(f"Partition not found {names}", code=10006), offset)
    return found


def bind_alter(cursor: Cursor, binding: Binding) -> Statement:
    """ALTER TABLE …; other ALTERs are refused by name."""
    cursor.expect("ALTER")
    if not cursor.take("TABLE"):
        word = cursor.peek()
        raise NotSupported(f"ALTER {word.upper if word else ''}")
    offset = cursor.offset()
    table = binding.read_table(cursor)
    if cursor.take("RENAME", "TO"):
        to = binding.read_name(cursor)
        cursor.end()
        return RenameTable(table=table, to=to)
    if cursor.take("SET", "TBLPROPERTIES"):
        properties = read_properties(cursor)
        cursor.end()
        return AlterProperties(table=table, set=properties)
    if cursor.take("UNSET", "TBLPROPERTIES"):
        return _unset(cursor, table)
    if cursor.take("ADD", "COLUMNS"):
        return _add_columns(cursor, table)
    if cursor.take("ADD"):
        return _add_partitions(cursor, binding, table)
    if cursor.take("DROP"):
        return _drop_partitions(cursor, binding, table)
    partitions: tuple[Partition, ...] = ()
    if cursor.take("PARTITION"):
        partitions = _existing(cursor, binding, table)
    if cursor.take("COMPACT"):
        return _compact(cursor, table, partitions, offset)
    raise NotSupported(f"ALTER TABLE … {' '.join(cursor.rest().split()[:2]).upper()}")


def _unset(cursor: Cursor, table: Table) -> AlterProperties:
    if_exists = cursor.take("IF", "EXISTS")
    cursor.expect("(")
    keys = [cursor.string("a property name")]
    while cursor.list_of():
        keys.append(cursor.string("a property name"))
    cursor.expect(")")
    cursor.end()
    missing = [key for key in keys if key not in table.properties]
    if missing and not if_exists:
        raise SemanticError(
            f"Please use the following syntax if not sure whether the property existed or not: "
            f"ALTER TABLE … UNSET TBLPROPERTIES IF EXISTS: {missing[0]}",
            code=10215,
        )
    return AlterProperties(table=table, unset=tuple(keys))


def _add_columns(cursor: Cursor, table: Table) -> AddColumns:
    cursor.expect("(")
    columns = read_columns(cursor)
    if not cursor.take("CASCADE"):
        cursor.take("RESTRICT")
    cursor.end()
    known = {column.name for column in table.all_columns}
    for column in columns:
        if column.name in known:
            raise SemanticError(f"Duplicate column name: {column.name}", code=10036)
    return AddColumns(table=table, columns=columns)


def _add_partitions(cursor: Cursor, binding: Binding, table: Table) -> AddPartitions:
    if_not_exists = cursor.take("IF", "NOT", "EXISTS")
    if not cursor.sees("PARTITION"):
        raise NotSupported(f"ALTER TABLE … ADD {cursor.rest().split()[0].upper()}")
    added = []
    while cursor.take("PARTITION"):
        spec = binding.read_partition(cursor, table)
        if DYNAMIC in spec.values() or len(spec) != len(table.partition_columns):
            cursor.refuse("every partition column needs a value")
        location = cursor.string() if cursor.take("LOCATION") else ""
        values = tuple(spec[name] for name in table.partition_names)
        added.append(Partition(values=values, location=location))
    if not added:
        cursor.refuse("expected PARTITION")
    cursor.end()
    return AddPartitions(table=table, partitions=tuple(added), if_not_exists=if_not_exists)


def _drop_partitions(cursor: Cursor, binding: Binding, table: Table) -> DropPartitions:
    if_exists = cursor.take("IF", "EXISTS")
    dropped: list[Partition] = []
    while True:
        if not cursor.take("PARTITION"):
            raise NotSupported(f"ALTER TABLE … DROP {cursor.rest().split()[0].upper()}")
        dropped += _existing(cursor, binding, table, required=not if_exists)
        if not cursor.list_of():
            break
    purge = cursor.take("PURGE")
    cursor.end()
    unique = tuple(dict.fromkeys(dropped))
    return DropPartitions(table=table, partitions=unique, purge=purge)


def _compact(
    cursor: Cursor, table: Table, partitions: tuple[Partition, ...], offset: int
) -> CompactTable:
    kind = cursor.string("'major', 'minor' or 'rebalance'").lower()
    if kind not in ("major", "minor", "rebalance"):
        cursor.fail(SemanticError(f"Unknown compaction type: {kind}", code=10282), offset)
    if not table.is_transactional:
        problem = f"Compaction is not allowed on non-ACID table {table.name}"
        cursor.fail(SemanticError(problem, code=10286), offset)
    wait = cursor.take("AND", "WAIT")
    if not cursor.ended:
        raise NotSupported(f"ALTER TABLE … COMPACT … {cursor.rest()}")
    return CompactTable(
        table=table,
        kind=cast("Literal['minor', 'major', 'rebalance']", kind),
        partitions=partitions,
        wait=wait,
    )
