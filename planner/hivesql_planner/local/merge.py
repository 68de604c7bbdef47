"""Which MERGEs of few rows find their matches without Spark, and how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hivesql_planner.few_rows import (
    Conditions,
    FromSource,
    Item,
    NewValue,
    SmallBranch,
    SmallMerge,
)
from hivesql_planner.local.conditions import check_partitions, table_condition
from hivesql_planner.local.new_rows import constraint, is_carried, new_value
from hivesql_planner.local.select import small_select
from hivesql_planner.local.values import Unclear, partition_text, same_kind, stored
from hivesql_planner.model.hive_type import BIGINT, BOOLEAN, INTEGERS, HiveType, Kind
from hivesql_planner.model.table import Column, Table
from hivesql_planner.plan import Change, ChangeBranch, When
from hivesql_planner.predicates.predicate import (
    AllOf,
    Constant,
    Shown,
    Value,
)
from hivesql_planner.relations import Expr, Joining, OfSource
from hivesql_planner.rewrite.change import branch_writes

_KEYS = INTEGERS | {Kind.STRING, Kind.DATE, Kind.DECIMAL}
_CARRIED = INTEGERS | {
    Kind.BOOLEAN, Kind.FLOAT, Kind.DOUBLE, Kind.DECIMAL, Kind.STRING, Kind.CHAR, Kind.VARCHAR,
    Kind.BINARY, Kind.DATE, Kind.TIMESTAMP,
}  # fmt: skip
_RAISING = ("raise_error", "assert_true", "reflect", "java_method")
"""What shall not be wanted_query of rows that no WHEN takes."""


def small_merge(
    change: Change, most_bytes: int, most_rows: int, most_matching_bytes: int
) -> SmallMerge:
    """Return how a MERGE goes without a join of Spark's; Unclear where it cannot."""
    table, on = change.target.table, change.on
    if change.moves or change.evolves or change.by_row_id:
        raise Unclear
    if change.target.as_of or change.target.changes or change.has(When.NOT_MATCHED_BY_SOURCE):
        raise Unclear
    if on is None or not isinstance(on.meaning, Joining) or not on.meaning.keys:
        raise Unclear
    if not all(map(is_carried, table.columns)):
        raise Unclear
    source = on.meaning.source if change.source is None else change.source
    if source is None or (change.queries and source is change.source):
        raise Unclear
    items = _Items(table, has_rows=source.rows is not None)
    keys = tuple((column, items.key(column, of)) for column, of in on.meaning.keys)
    if len({column for column, _ in keys}) < len(keys):
        raise Unclear
    merge = SmallMerge(
        keys=keys,
        on=items.conditions(on.meaning),
        branches=tuple(
            items.branch(branch, writes)
            for branch, writes in zip(change.branches, branch_writes(change), strict=True)
        ),
        items=(),
        check=constraint(change.check, table),
        most_bytes=most_bytes,
        most_rows=most_rows,
        most_matching_bytes=most_matching_bytes,
        source=source,
        by_any=change.source is None or change.deletes_matched,
    )
    return _with_source(replace(merge, items=tuple(items.all)))


class _Items:
    """Collects what is wanted of the source's rows."""

    def __init__(self, table: Table, *, has_rows: bool) -> None:
        self.table = table
        self.has_rows = has_rows
        self.types = {column.name: column.type for column in table.all_columns}
        self.all: dict[Item, int] = {}

    def add(self, item: Item) -> int:
        if any(word in item.sql.lower() for word in _RAISING):
            raise Unclear
        return self.all.setdefault(item, len(self.all))

    def key(self, column: str, of: OfSource) -> int:
        """Add what a column of the target equals; both must compare as they are."""
        type_ = self.types[column]
        if type_.kind not in _KEYS:
            raise Unclear
        if of.type is None and self.has_rows and of.column:
            return self.add(Item(of.sql, type_, of.column))
        if of.type is None:
            return self.add(Item(of.sql, type_, of.column, is_unknown=True))
        if type_.kind in INTEGERS and of.type.kind in INTEGERS:
            type_ = of.type if of.column else BIGINT
        elif of.type != type_:
            raise Unclear
        check_partitions([column], self.table)
        return self.add(Item(of.sql, type_, of.column))

    def conditions(self, joining: Joining) -> Conditions:
        """Add what a condition asks of the source."""
        of_target = None
        if joining.of_target:
            of_target = table_condition(AllOf(joining.of_target), self.table)
        return Conditions(
            of_target,
            tuple(self.add(Item(of.sql, BOOLEAN, of.column)) for of in joining.of_source),
        )

    def branch(self, branch: ChangeBranch, writes: tuple[int, ...]) -> SmallBranch:
        meaning = branch.condition.meaning if branch.condition else Joining()
        if not isinstance(meaning, Joining):
            raise Unclear
        joinings = [meaning, *([meaning.unless] if meaning.unless is not None else [])]
        if any(joining.keys for joining in joinings):
            raise Unclear
        conditions = [self.conditions(joining) for joining in joinings]
        is_new = branch.when is When.NOT_MATCHED
        if is_new and any(condition.of_target for condition in conditions):
            raise Unclear
        columns = self.table.columns
        values = None
        if branch.insert is not None:
            values = tuple(
                self.value(value, column, is_new=is_new)
                for value, column in zip(branch.values, columns, strict=False)
            )
        rest = branch.values[len(columns) :] if is_new else ()
        return SmallBranch(
            is_new=is_new,
            conditions=conditions[0],
            unless=conditions[1] if len(conditions) > 1 else None,
            values=values,
            partition=tuple(map(self.text, rest, self.table.partition_columns)),
            writes=writes,
        )

    def value(self, value: Expr, column: Column, *, is_new: bool) -> NewValue:
        if isinstance(value.meaning, OfSource):
            if column.type.kind not in _CARRIED:
                raise Unclear
            return FromSource(self.add(_item(value, value.meaning, column.type)))
        types = {} if is_new else {other.name: other.type for other in self.table.columns}
        return new_value(value.meaning, column, types)

    def text(self, value: Expr, column: Column) -> str | FromSource:
        match value.meaning:
            case Constant(value=constant):
                return partition_text(constant, column.type)
            case OfSource() as of:
                item = _item(value, of, column.type)
                return FromSource(self.add(replace(item, is_partition=True)))
        raise Unclear


def _item(value: Expr, of: OfSource, type_: HiveType) -> Item:
    return Item(value.sql, type_, of.column, of.is_converted)


def _with_source(merge: SmallMerge) -> SmallMerge:
    """Add how the source's rows are known without Spark, if they are."""
    source = merge.source
    names = [column.name for column in source.columns]
    places = [names.index(item.column) if item.column in names else -1 for item in merge.items]
    if -1 in places or len(set(names)) < len(names):
        return merge
    try:
        if source.rows is not None:
            return replace(merge, rows=_rows(source.rows, merge.items, places))
        if source.look is None or any(
            item.is_partition or item.is_converted or item.is_unknown for item in merge.items
        ):
            return merge
        shown = [source.look.items[place] for place in places]
        if not all(isinstance(item, Shown) for item in shown):
            return merge
        wanted_query = replace(
            source,
            columns=tuple(Column(f"c{i}", item.type) for i, item in enumerate(merge.items)),
            look=replace(source.look, items=tuple(shown)),
        )
        return replace(
            merge, select=small_select(wanted_query, merge.most_bytes), source=wanted_query
        )
    except Unclear:
        return merge


def _rows(
    rows: Sequence[Sequence[Value]], items: Sequence[Item], places: Sequence[int]
) -> tuple[tuple[Value, ...], ...]:
    """Return the items of rows that stand in the statement."""
    if not rows or max(places) >= len(rows[0]) or any(len(row) != len(rows[0]) for row in rows):
        raise Unclear
    columns = list(zip(*rows, strict=True))
    row_values = []
    for item, place in zip(items, places, strict=True):
        if not same_kind(columns[place], item.type):
            raise Unclear
        change = partition_text if item.is_partition else stored
        row_values.append([change(value, item.type) for value in columns[place]])
    return tuple(zip(*row_values, strict=True))
