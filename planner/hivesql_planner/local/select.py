"""Which queries need no Spark, and what they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hivesql_planner.local.conditions import check_partitions, table_condition
from hivesql_planner.local.values import Unclear, stored
from hivesql_planner.model.hive_type import (
    BOOLEAN,
    INT,
    INTEGERS,
    INTERVALS,
    SIZED_TEXTS,
    STRING,
    TEXTS,
    TIMESTAMPS,
    HiveType,
    Kind,
)
from hivesql_planner.model.table import Column, Table
from hivesql_planner.predicates.predicate import Constant, Shown, SmallSelect, Sorting, Total
from hivesql_planner.relations import Query, Scan

_EXTREME = INTEGERS | {Kind.DECIMAL, Kind.STRING, Kind.DATE, Kind.TIMESTAMP}
_ORDERED = _EXTREME | TEXTS
_CONSTANT_TYPES = {int: INT, str: STRING, bool: BOOLEAN}
_NOT_INSIDE = (*TIMESTAMPS, *SIZED_TEXTS)
_NOT_SHOWN = (Kind.INSTANT, Kind.UNION, *INTERVALS, Kind.OTHER)


def small_select(query: Query, most_bytes: int) -> SmallSelect:
    """Return what the query asks; Unclear where it is more than a look into one table."""
    look = query.look
    if look is None or len(query.sources) != 1:
        raise Unclear
    ((source),) = query.sources
    table = source.scan.table
    if not _is_plain(source.scan):
        raise Unclear
    types = {column.name: column.type for column in table.all_columns}
    items = tuple(_item(item, types) for item in look.items)
    _check_types(items, query.columns, table)
    totals = [isinstance(item, Total) for item in items]
    if any(totals) and not (all(totals) and not look.order):
        raise Unclear
    _check_order(look.order, table)
    return SmallSelect(
        items=items,
        where=table_condition(look.where, table),
        order=look.order,
        limit=look.limit,
        most_bytes=most_bytes,
    )


def _is_plain(scan: Scan) -> bool:
    odd = (
        scan.as_of
        or scan.changes
        or scan.with_row_id
        or scan.with_file_name
        or scan.with_line_offset
        or scan.with_deleted
        or scan.with_partition_texts
    )
    if scan.table.is_system:
        return not odd
    return scan.table.is_full_acid and not (odd or scan.table.is_frame)


def _item(
    item: Shown | Constant | Total, types: Mapping[str, HiveType]
) -> Shown | Constant | Total:
    match item:
        case Constant(value=value):
            if type(value) not in _CONSTANT_TYPES:
                raise Unclear
            return Constant(stored(value, _CONSTANT_TYPES[type(value)]))
        case Total(function=function, column=str() as name):
            kind = types[name].kind
            ordered = function in ("min", "max") and kind in _EXTREME
            if function != "count" and not ordered and kind not in INTEGERS:
                raise Unclear
    return item


def _check_types(
    items: Sequence[Shown | Constant | Total], columns: Sequence[Column], table: Table
) -> None:
    """Unclear unless the columns are those that were told, of types that come out as in Spark."""
    types = {column.name: column.type for column in table.all_columns}
    if len(items) != len(columns):
        raise Unclear
    for item, column in zip(items, columns, strict=True):
        if isinstance(item, Shown) and types[item.column] != column.type:
            raise Unclear
        if isinstance(item, Constant) and column.type not in _CONSTANT_TYPES.values():
            raise Unclear
        if isinstance(item, Total) and not column.type.is_known:
            raise Unclear
        if not _is_shown(column.type):
            raise Unclear
    names = {item.column for item in items if isinstance(item, (Shown, Total)) and item.column}
    check_partitions(names, table)


def _is_shown(type_: HiveType) -> bool:
    return not (type_.is_nested and type_.holds(*_NOT_INSIDE)) and not type_.holds(*_NOT_SHOWN)


def _check_order(order: Sequence[Sorting], table: Table) -> None:
    types = {column.name: column.type for column in table.all_columns}
    if any(types[sorting.column].kind not in _ORDERED for sorting in order):
        raise Unclear
    check_partitions([sorting.column for sorting in order], table)
