"""Which queries need no Spark, and what they are."""

from __future__ import annotations

from collections.abc import Sequence

from hivesql_planner.local.conditions import check_partitions, table_condition
from hivesql_planner.local.values import WHOLE, Unclear, base_type, stored
from hivesql_planner.model.table import Column, Table
from hivesql_planner.predicates.predicate import Given, Shown, SmallSelect, Sorting, Total
from hivesql_planner.relations import Query, Scan

_EXTREME = (*WHOLE, "decimal", "string", "date", "timestamp")
_ORDERED = (*_EXTREME, "varchar", "char")
_GIVEN = {int: "int", str: "string", bool: "boolean"}


def small_select(query: Query, most_bytes: int) -> SmallSelect:
    """Return what the query asks; Unclear where it is more than a look into one table."""
    look = query.look
    if look is None or len(query.sources) != 1:
        raise Unclear
    ((source),) = query.sources
    table = source.scan.table
    if not _is_plain(source.scan):
        raise Unclear
    items = tuple(_item(item, table) for item in look.items)
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
    odd = scan.as_of or scan.changes or scan.with_row_id or scan.with_file_name
    return scan.table.is_full_acid and not (odd or scan.table.is_frame)


def _item(item: Shown | Given | Total, table: Table) -> Shown | Given | Total:
    types = {column.name: column.type for column in table.all_columns}
    match item:
        case Given(value=value):
            if type(value) not in _GIVEN:
                raise Unclear
            return Given(stored(value, _GIVEN[type(value)]))
        case Total(function=function, column=str() as name):
            kind = base_type(types[name])[0]
            ordered = function in ("min", "max") and kind in _EXTREME
            if function != "count" and not ordered and kind not in WHOLE:
                raise Unclear
    return item


def _check_types(
    items: Sequence[Shown | Given | Total], columns: Sequence[Column], table: Table
) -> None:
    """Unclear unless the columns are those that were told, of types that come out as in Spark."""
    types = {column.name: column.type for column in table.all_columns}
    if len(items) != len(columns):
        raise Unclear
    for item, column in zip(items, columns, strict=True):
        if isinstance(item, Shown) and _words(types[item.column]) != _words(column.type):
            raise Unclear
        if isinstance(item, Given) and column.type not in _GIVEN.values():
            raise Unclear
        if isinstance(item, Total) and not column.type:
            raise Unclear
        if not _is_shown(column.type):
            raise Unclear
    names = {item.column for item in items if isinstance(item, (Shown, Total)) and item.column}
    check_partitions(names, table)


def _words(hive_type: str) -> str:
    return " ".join(hive_type.lower().split())


def _is_shown(hive_type: str) -> bool:
    text = _words(hive_type)
    nested = "<" in text and any(one in text for one in ("timestamp", "char", "interval"))
    return not nested and not any(one in text for one in ("local", "uniontype", "interval"))


def _check_order(order: Sequence[Sorting], table: Table) -> None:
    types = {column.name: column.type for column in table.all_columns}
    if any(base_type(types[one.column])[0] not in _ORDERED for one in order):
        raise Unclear
    check_partitions([one.column for one in order], table)
