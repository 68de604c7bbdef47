"""The part of a WHERE that a catalog can judge while it lists partitions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hivesql.prune import And, Compare, Constant, Or, Predicate
from hivesql_planner.partition_filter import (
    DATE_LENGTH,
    KINDS,
    MOST_DIGITS,
    OPERATORS,
    Kind,
    PartitionTest,
)
from hivesql_planner.table import DEFAULT_PARTITION, Table, default_value


def partition_tests(table: Table, predicates: Iterable[Predicate]) -> tuple[PartitionTest, ...]:
    """Conditions that every partition with a wanted row satisfies."""
    return tuple(test for one in predicates for test in _tests(table, one))


def _tests(table: Table, predicate: Predicate) -> Iterator[PartitionTest]:
    if isinstance(predicate, And):
        yield from _tests(table, predicate.left)
        yield from _tests(table, predicate.right)
        return
    either = list(_either(predicate))
    first = either[0]
    if not isinstance(first, Compare) or first.column not in table.partition_names:
        return
    position = table.partition_names.index(first.column)
    type_ = table.partition_columns[position].type
    kind = KINDS.get(type_.partition("(")[0])
    if default_value(type_) not in (None, DEFAULT_PARTITION):
        # The catalog does not know that the default partition's name is cut to the column's size.
        return
    operator = next((one for one in OPERATORS if one == first.operator), None)
    if kind is None or operator is None or (len(either) > 1 and operator != "="):
        return
    values = []
    for one in either:
        alike = isinstance(one, Compare) and (one.column, one.operator) == (first.column, operator)
        if not isinstance(one, Compare) or not alike or not _is(one.value, kind):
            return
        values.append(one.value.text)
    yield PartitionTest(position=position, operator=operator, values=tuple(values), kind=kind)


def _either(predicate: Predicate) -> Iterator[Predicate]:
    if isinstance(predicate, Or):
        yield from _either(predicate.left)
        yield from _either(predicate.right)
    else:
        yield predicate


def _is(value: Constant, kind: Kind) -> bool:
    if kind == "integer":
        digits = value.text.removeprefix("-")
        return value.kind == "number" and digits.isdecimal() and len(digits) <= MOST_DIGITS
    if kind == "date":
        return value.kind in ("date", "string") and len(value.text) == DATE_LENGTH
    return value.kind == "string"
