"""The part of a WHERE that a catalog can judge while it lists partitions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from hivesql.query.pruning import And, Compare, Constant, OneOf, Predicate
from hivesql_planner.model.table import DEFAULT_PARTITION, Table, default_value
from hivesql_planner.predicates.partitions import (
    DATE_LENGTH,
    KINDS,
    MOST_DIGITS,
    MOST_VALUES,
    OPERATORS,
    Kind,
    PartitionTest,
)


def partition_tests(table: Table, predicates: Iterable[Predicate]) -> tuple[PartitionTest, ...]:
    """Conditions that every partition with a wanted row satisfies, as many as databases take."""
    found = (test for one in predicates for test in _tests(table, one))
    return tuple(islice(found, MOST_VALUES))


def _tests(table: Table, predicate: Predicate) -> Iterator[PartitionTest]:
    match predicate:
        case And(parts=parts):
            for part in parts:
                yield from _tests(table, part)
        case Compare(column=column, operator=operator, value=value):
            yield from _comparisons(table, column, operator, [value])
        case OneOf(column=column, values=values):
            yield from _comparisons(table, column, "=", values)


def _comparisons(
    table: Table, column: str, operator: str, values: Sequence[Constant]
) -> Iterator[PartitionTest]:
    if column not in table.partition_names:
        return
    position = table.partition_names.index(column)
    type_ = table.partition_columns[position].type
    kind = KINDS.get(type_.partition("(")[0])
    if default_value(type_) not in (None, DEFAULT_PARTITION):
        # The catalog does not know that the default partition's name is cut to the column's size.
        return
    known = next((one for one in OPERATORS if one == operator), None)
    if kind is None or known is None or not all(_is(one, kind) for one in values):
        return
    texts = tuple(one.text for one in values)
    if len(texts) <= MOST_VALUES:
        yield PartitionTest(position=position, operator=known, values=texts, kind=kind)
        return
    order = int if kind == "integer" else str
    low, high = min(texts, key=order), max(texts, key=order)
    yield PartitionTest(position=position, operator=">=", values=(low,), kind=kind)
    yield PartitionTest(position=position, operator="<=", values=(high,), kind=kind)


def _is(value: Constant, kind: Kind) -> bool:
    if kind == "integer":
        digits = value.text.removeprefix("-")
        return value.kind == "number" and digits.isdecimal() and len(digits) <= MOST_DIGITS
    if kind == "date":
        return value.kind in ("date", "string") and len(value.text) == DATE_LENGTH
    return value.kind == "string"
