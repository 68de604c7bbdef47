"""Comparisons that choose partitions."""

from __future__ import annotations

from hivesql.parser.clauses import constant
from hivesql.parser.tokens import Cursor, Name
from hivesql.syntax.commands import ChosenPartitions, PartitionFilter


def parse_filters(cursor: Cursor) -> tuple[PartitionFilter, ...]:
    """``PARTITION (k op v, …)``."""
    cursor.expect("partition", "(")
    found = [_filter(cursor)]
    while cursor.take(","):
        found.append(_filter(cursor))
    cursor.expect(")")
    return tuple(found)


def _filter(cursor: Cursor) -> PartitionFilter:
    key = cursor.name("a partition column")
    operator = cursor.peek().text
    if operator not in ("=", "<>", "!=", "<", "<=", ">", ">="):
        cursor.fail("expected a comparison")
    cursor.next()
    value = constant(cursor)
    return PartitionFilter(key, operator, value, cursor.last_end)


def parse_chosen(cursor: Cursor) -> ChosenPartitions:
    """``WHERE k op v AND … ORDER BY k DESC, … LIMIT n`` of SHOW PARTITIONS."""
    filters: list[PartitionFilter] = []
    order: list[tuple[Name, bool]] = []
    if cursor.take("where"):
        filters.append(_filter(cursor))
        while cursor.take("and"):
            filters.append(_filter(cursor))
        if cursor.at("or"):
            cursor.refuse("SHOW PARTITIONS … WHERE … OR")
    if cursor.take("order", "by"):
        while True:
            name = cursor.name("a partition column")
            descending = cursor.take("desc")
            if not descending:
                cursor.take("asc")
            order.append((name, descending))
            if not cursor.take(","):
                break
    limit = cursor.integer("a limit") if cursor.take("limit") else None
    return ChosenPartitions(tuple(filters), tuple(order), limit)
