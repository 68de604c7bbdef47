"""Which queries need no Spark, and what they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hivesql_planner.local.conditions import check_partitions, table_condition
from hivesql_planner.local.values import Unclear, stored
from hivesql_planner.model.hive_type import (
    INTEGERS,
    INTERVALS,
    SIZED_TEXTS,
    TEXTS,
    TIMESTAMPS,
    VOID,
    HiveType,
    Kind,
)
from hivesql_planner.model.table import Column, Table
from hivesql_planner.predicates.predicate import (
    ALWAYS,
    Constant,
    Look,
    Shown,
    SmallSelect,
    Sorting,
    Total,
)
from hivesql_planner.relations import Query, Scan

_EXTREME = INTEGERS | {Kind.DECIMAL, Kind.STRING, Kind.DATE, Kind.TIMESTAMP}
_ORDERED = _EXTREME | TEXTS
_CONSTANTS = _EXTREME | {Kind.BOOLEAN, Kind.DOUBLE}
_NOT_INSIDE = (*TIMESTAMPS, *SIZED_TEXTS)
_NOT_SHOWN = (Kind.INSTANT, Kind.UNION, *INTERVALS, Kind.OTHER)


def small_select(query: Query, most_bytes: int) -> SmallSelect:
    """Return what the query asks; Unclear where it is more than a look into one table or none."""
    look = query.look
    if look is None and query.is_empty:
        return _without_rows(query, most_bytes)
    if look is None or len(query.sources) > 1:
        raise Unclear
    if not query.sources:
        return _without_table(look, query.columns, most_bytes)
    (source,) = query.sources
    table = source.scan.table
    if not _is_plain(source.scan, is_read=look.limit != 0):
        raise Unclear
    types = {column.name: column.type for column in table.all_columns}
    items = _items(look.items, query.columns, types)
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


def _without_rows(query: Query, most_bytes: int) -> SmallSelect:
    """Return what is asked by a query that has columns and no rows."""
    if not all(column.type.is_known and _is_shown(column.type) for column in query.columns):
        raise Unclear
    return SmallSelect(items=(), where=None, limit=0, most_bytes=most_bytes)


def _without_table(look: Look, columns: Sequence[Column], most_bytes: int) -> SmallSelect:
    """Return what is asked of one row of no columns."""
    items = _items(look.items, columns, {})
    if look.where != ALWAYS or not all(isinstance(item, Constant) for item in items):
        raise Unclear
    return SmallSelect(items=items, where=None, limit=look.limit, most_bytes=most_bytes)


def _is_plain(scan: Scan, *, is_read: bool) -> bool:
    """Tell whether rows, if there are any to read, are those that small statements read."""
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
    return (scan.table.is_full_acid or not is_read) and not (odd or scan.table.is_frame)


def _items(
    items: Sequence[Shown | Constant | Total],
    columns: Sequence[Column],
    types: Mapping[str, HiveType],
) -> tuple[Shown | Constant | Total, ...]:
    if len(items) != len(columns):
        raise Unclear
    return tuple(
        _item(item, column.type, types) for item, column in zip(items, columns, strict=True)
    )


def _item(
    item: Shown | Constant | Total, type_: HiveType, types: Mapping[str, HiveType]
) -> Shown | Constant | Total:
    match item:
        case Constant(value=value):
            if type_.kind not in _CONSTANTS and not (value is None and type_ == VOID):
                raise Unclear
            if type_.kind is Kind.DECIMAL and type(value) is int:
                # The least BIGINT is a DECIMAL in Hive, as its digits are, and a BIGINT in Spark.
                raise Unclear
            return Constant(stored(value, type_))
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
    for item, column in zip(items, columns, strict=True):
        if isinstance(item, Shown) and types[item.column] != column.type:
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
