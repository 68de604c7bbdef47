"""Which queries need no Spark, and what they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hivesql_planner.local.conditions import check_partitions, named_column, table_condition
from hivesql_planner.local.select_syntax import (
    Called,
    Item,
    Ordered,
    SelectReader,
    SelectTree,
    Star,
)
from hivesql_planner.local.spark_sql_reader import Literal, Name, Unclear
from hivesql_planner.local.values import WHOLE, base_type, stored
from hivesql_planner.model.table import Column, Table
from hivesql_planner.predicates.predicate import Given, Shown, SmallSelect, Sorting, Total
from hivesql_planner.relations import Query, Scan

_EXTREME = (*WHOLE, "decimal", "string", "date", "timestamp")
_ORDERED = (*_EXTREME, "varchar", "char")
_GIVEN = {"int": "int", "text": "string", "boolean": "boolean"}
_Aliases = set[tuple[str, ...]]


def small_select(query: Query, most_bytes: int) -> SmallSelect:
    """Return the query without its text; Unclear where it is more than a look into one table."""
    if len(query.sources) != 1:
        raise Unclear
    ((source),) = query.sources
    tree = SelectReader(query.sql).select()
    table = source.scan.table
    if tree.view != source.view.lower() or not _is_plain(source.scan):
        raise Unclear
    aliases: _Aliases = {(tree.alias,), ()}
    items = tuple(one for item in tree.items for one in _items(item, tree, table))
    _check_types(items, query.columns, table)
    totals = [isinstance(item, Total) for item in items]
    if any(totals) and not (all(totals) and not tree.order):
        raise Unclear
    return SmallSelect(
        items=items,
        where=table_condition(tree.where, aliases, table) if tree.where else None,
        order=tuple(_sorting(one, tree, table) for one in tree.order),
        limit=tree.limit,
        most_bytes=most_bytes,
    )


def _is_plain(scan: Scan) -> bool:
    odd = scan.as_of or scan.changes or scan.with_row_id or scan.with_file_name
    return scan.table.is_full_acid and not (odd or scan.table.is_frame)


def _items(item: Item, tree: SelectTree, table: Table) -> Iterator[Shown | Given | Total]:
    aliases: _Aliases = {(tree.alias,), ()}
    types = {column.name: column.type for column in table.all_columns}
    match item:
        case Star(alias=alias):
            if alias not in (None, tree.alias):
                raise Unclear
            yield from (Shown(column.name) for column in table.all_columns)
        case Literal(kind=kind):
            if kind not in _GIVEN:
                raise Unclear
            yield Given(stored(item, _GIVEN[kind]))
        case Name():
            yield Shown(named_column(item, aliases, types))
        case Called(function="count", argument=Star()):
            yield Total("count", None)
        case Called(function=function, argument=Name() as argument):
            name = named_column(argument, aliases, types)
            kind = base_type(types[name])[0]
            ordered = function in ("min", "max") and kind in _EXTREME
            if function != "count" and not ordered and kind not in WHOLE:
                raise Unclear
            yield Total(function, name)
        case _:
            raise Unclear


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


def _sorting(item: Ordered, tree: SelectTree, table: Table) -> Sorting:
    """Spark takes a name for that of a result's column first, and then for one of the table's."""
    types = {column.name: column.type for column in table.all_columns}
    parts = item.name.parts
    # A column of another name would stand where the table's is looked for.
    if len(parts) == 1 and parts[0] in tree.aliases:
        named = {
            one for one, alias in zip(tree.items, tree.aliases, strict=True) if alias == parts[0]
        }
        if len(named) != 1 or not all(isinstance(one, Name) for one in named):
            raise Unclear
        ((inner),) = named
        assert isinstance(inner, Name)
        name = named_column(inner, {(tree.alias,), ()}, types)
    else:
        name = named_column(item.name, {(tree.alias,), ()}, types)
    if base_type(types[name])[0] not in _ORDERED:
        raise Unclear
    check_partitions([name], table)
    return Sorting(name, item.descending, item.nulls_first)
