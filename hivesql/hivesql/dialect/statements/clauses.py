"""Clauses that several statements have, and objects of Hive that each refuses by name."""

from __future__ import annotations

from hivesql.dialect.nodes.commands import ChosenPartitions
from hivesql.dialect.numbers import number_text
from hivesql.dialect.slices import (
    IS_NULL,
    CombinedFilters,
    PartitionCondition,
    PartitionFilter,
    PartitionItem,
    PartitionItems,
)
from hivesql.dialect.tokens import Cursor, Kind, Name

_OBJECTS = {
    ("scheduled",): "SCHEDULED QUERY",
    ("resource",): "RESOURCE PLAN",
    ("pool",): "POOL",
    ("trigger",): "TRIGGER",
    ("user", "mapping"): "USER MAPPING",
    ("group", "mapping"): "GROUP MAPPING",
    ("application", "mapping"): "APPLICATION MAPPING",
    ("dataconnector",): "DATACONNECTOR",
    ("connector",): "CONNECTOR",
    ("catalog",): "CATALOG",
}
_STATEMENTS = {
    ("enable", "workload"): "ENABLE WORKLOAD MANAGEMENT",
    ("disable", "workload"): "DISABLE WORKLOAD MANAGEMENT",
    ("replace", "resource"): "REPLACE RESOURCE PLAN",
    ("replace", "active"): "REPLACE ACTIVE RESOURCE PLAN",
}


def parse_partition(cursor: Cursor, *, dynamic: bool = True) -> PartitionItems:
    """``PARTITION (k='v', k2)``; without ``dynamic`` every key needs a value."""
    cursor.expect("partition", "(")
    items = [_partition_item(cursor, dynamic=dynamic)]
    while cursor.take(","):
        items.append(_partition_item(cursor, dynamic=dynamic))
    cursor.expect(")")
    return tuple(items)


def _partition_item(cursor: Cursor, *, dynamic: bool) -> PartitionItem:
    key = cursor.name("a partition column")
    if cursor.take("="):
        value = constant(cursor)
        return PartitionItem(key, value, is_static=True, end=cursor.last_end)
    if not dynamic:
        cursor.fail(f"expected a value for the partition column {key.text}")
    return PartitionItem(key, end=cursor.last_end)


def constant(cursor: Cursor) -> str | None:
    """Take a constant's text: string, number, TRUE, FALSE, DATE, TIMESTAMP or NULL (None)."""
    if cursor.take("null"):
        return None
    for word in ("true", "false"):
        if cursor.take(word):
            return word
    if (cursor.at("date") or cursor.at("timestamp")) and cursor.peek(1).kind is Kind.STRING:
        cursor.next()
    if cursor.peek().kind is Kind.STRING:
        return cursor.string()
    sign = "-" if cursor.take("-") else ""
    if cursor.peek().kind is not Kind.NUMBER:
        cursor.fail("expected a constant")
    return sign + number_text(cursor.next().text.rstrip("LSYBDlsybd"))


def _condition(cursor: Cursor) -> PartitionCondition:
    """Take conditions that OR connects, which binds less than AND."""
    parts = [_conjunction(cursor)]
    while cursor.take("or"):
        parts.append(_conjunction(cursor))
    return CombinedFilters("or", tuple(parts)) if parts[1:] else parts[0]


def _conjunction(cursor: Cursor) -> PartitionCondition:
    parts = [_simple_condition(cursor)]
    while cursor.take("and"):
        parts.append(_simple_condition(cursor))
    return CombinedFilters("and", tuple(parts)) if parts[1:] else parts[0]


def _simple_condition(cursor: Cursor) -> PartitionCondition:
    if cursor.take("not"):
        return CombinedFilters("not", (_simple_condition(cursor),))
    if cursor.take("("):
        condition = _condition(cursor)
        cursor.expect(")")
        return condition
    key = cursor.name("a partition column")
    is_negated = cursor.take("not")
    condition = _comparison(cursor, key, is_negated=is_negated)
    return CombinedFilters("not", (condition,)) if is_negated else condition


def _comparison(cursor: Cursor, key: Name, *, is_negated: bool) -> PartitionCondition:
    """Take what is behind a column: an operator and a constant, IN, BETWEEN or IS NULL."""

    def compare(operator: str) -> PartitionFilter:
        value = constant(cursor)
        return PartitionFilter(key, operator, value, cursor.last_end)

    if not is_negated and cursor.take("is"):
        turned = cursor.take("not")
        cursor.expect("null")
        condition = PartitionFilter(key, IS_NULL, None, cursor.last_end)
        return CombinedFilters("not", (condition,)) if turned else condition
    if cursor.take("in"):
        cursor.expect("(")
        choices = [compare("=")]
        while cursor.take(","):
            choices.append(compare("="))
        cursor.expect(")")
        return CombinedFilters("or", tuple(choices))
    if cursor.take("between"):
        low = compare(">=")
        cursor.expect("and")
        return CombinedFilters("and", (low, compare("<=")))
    operator = "=" if cursor.at("=") else cursor.peek().text.lower()
    comparisons = ("like",) if is_negated else ("=", "<>", "!=", "<", "<=", ">", ">=", "like")
    if operator not in comparisons:
        cursor.fail("expected a comparison")
    cursor.next()
    return compare(operator)


def parse_chosen(cursor: Cursor) -> ChosenPartitions:
    """``WHERE k op v AND … ORDER BY k DESC, … LIMIT n`` of SHOW PARTITIONS."""
    order: list[tuple[Name, bool]] = []
    condition = _condition(cursor) if cursor.take("where") else None
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
    return ChosenPartitions(condition, tuple(order), limit)


def refuse_replication(cursor: Cursor, statement: str) -> None:
    """Refuse FOR [METADATA] REPLICATION, which Hive's own replication writes."""
    if cursor.at("for"):
        cursor.refuse(f"{statement} … FOR REPLICATION")


def parse_properties(cursor: Cursor) -> dict[str, str]:
    """``('k'='v', …)``, or ``('k', …)``: properties whose values are empty."""
    cursor.expect("(")
    properties: dict[str, str] = {}
    has_values = cursor.peek(1).is_("=")
    while True:
        key = cursor.string("a property key")
        if has_values:
            cursor.expect("=")
        properties[key] = cursor.string("a property value") if has_values else ""
        if not cursor.take(","):
            break
    cursor.expect(")")
    return properties


def refuse_object(cursor: Cursor, verb: str) -> None:
    """Refuse what a verb such as CREATE is said of, where it is nothing that is known here."""
    for words, name in _OBJECTS.items():
        if cursor.at(*words):
            cursor.refuse(f"{verb} {name}")


def refuse_statement(cursor: Cursor) -> None:
    """Refuse the statements of workload management that begin with a word of their own."""
    for words, name in _STATEMENTS.items():
        if cursor.at(*words):
            cursor.refuse(name)
