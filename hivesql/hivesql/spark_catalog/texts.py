"""The statements that plain Spark's reads and writes mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from hivesql.dbapi_literals import literal
from hivesql.spark_catalog.places import selected
from hivesql_planner.model.hive_type import BITS, Kind, quote_name
from hivesql_planner.model.table import Table

_EPOCH = datetime(1970, 1, 1)
_ALL = "TRUE"
_COMPARED = {
    "int": frozenset({*BITS}),
    "decimal": frozenset({Kind.DECIMAL}),
    "str": frozenset({Kind.STRING}),
    "date": frozenset({Kind.DATE}),
}
"""Types of columns that Hive compares with such a value as Spark does."""


def scan_text(table: Table, question: Mapping[str, Any]) -> str:
    """Return the SELECT of some columns, and of no rows that Spark has no use for.

    What its filters say and Hive would not say alike is left out: Spark filters again.
    """
    columns = ", ".join(selected(table, name) for name in question["columns"]) or "0"
    text = f"SELECT {columns} FROM {table.name.quoted}"
    if question["version"] is not None:
        text += f" FOR SYSTEM_VERSION AS OF {int(question['version'])}"
    elif question["time"] is not None:
        time = _EPOCH + timedelta(microseconds=question["time"])
        text += f" FOR SYSTEM_TIME AS OF '{time.isoformat(sep=' ')}'"
    filters = (_condition(table, written) for written in question["where"])
    conditions = [condition for condition in filters if condition]
    return f"{text} WHERE {' AND '.join(conditions)}" if conditions else text


def condition_text(table: Table, filters: Sequence[Sequence[Any]]) -> str | None:
    """Return the condition of just Spark's rows; None where Hive may mean others."""
    conditions = [_condition(table, condition, exact=True) for condition in filters]
    if None in conditions:
        return None
    return " AND ".join(text for text in conditions if text and text != _ALL) or _ALL


def partition_of(table: Table, filters: Sequence[Sequence[Any]]) -> dict[str, Any] | None:
    """Return the partition that filters name, each of its columns once; None where they do not."""
    values: dict[str, Any] = {}
    kinds = {column.name: column.type.kind for column in table.partition_columns}
    pending = list(filters)
    while pending:
        operator, *rest = pending.pop()
        if operator == "AND":
            pending += rest
            continue
        if operator != "=" or rest[0] not in kinds or rest[0] in values:
            return None
        name, (word, text) = rest
        # Directories have texts of any length.
        kind = Kind.STRING if kinds[name] is Kind.VARCHAR else kinds[name]
        value = _parsed(kind, word, text)
        if value is None:
            return None
        values[name] = value
    return values if len(values) == len(kinds) else None


def _condition(table: Table, written: Sequence[Any], *, exact: bool = False) -> str | None:
    """Return a condition that holds for the rows of one of Spark's filters; None for none.

    It may hold for others too, unless it is to be exact.
    """
    operator, *rest = written
    if operator == _ALL:
        return _ALL
    if operator in ("AND", "OR"):
        sides = [side for operand in rest if (side := _condition(table, operand, exact=exact))]
        if operator == "AND" and not exact:
            return f"({' AND '.join(sides)})" if sides else None
        return f"({f' {operator} '.join(sides)})" if len(sides) == len(rest) else None
    name, *values = rest
    kinds = {column.name: column.type.kind for column in table.all_columns}
    kind = kinds.get(name)
    if operator == "IS NOT NULL":
        return f"{quote_name(name)} IS NOT NULL" if kind else None
    texts = [_value(kind, *value) for value in values if kind]
    if not texts or None in texts:
        return None
    return f"{quote_name(name)} {operator} " + (
        f"({', '.join(filter(None, texts))})" if operator == "IN" else f"{texts[0]}"
    )


def _value(kind: Kind | None, word: str, text: str) -> str | None:
    value = _parsed(kind, word, text)
    return None if value is None else literal(value)


def _parsed(kind: Kind | None, word: str, text: str) -> int | Decimal | date | str | None:
    if kind not in _COMPARED[word]:
        return None
    try:
        match word:
            case "int":
                return int(text)
            case "decimal":
                return Decimal(text)
            case "date":
                return date.fromisoformat(text)
    except ValueError:
        # A year that Python does not have.
        return None
    return text
