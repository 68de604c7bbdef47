"""The statements that plain Spark's reads and writes mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from hivesql.dbapi_literals import literal
from hivesql_planner.model.hive_type import BITS, Kind
from hivesql_planner.model.table import Table

_EPOCH = datetime(1970, 1, 1)
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
    columns = ", ".join(f"`{name}`" for name in question["columns"]) or "0"
    text = f"SELECT {columns} FROM {quoted(table)}"
    if question["version"] is not None:
        text += f" FOR SYSTEM_VERSION AS OF {int(question['version'])}"
    elif question["time"] is not None:
        time = _EPOCH + timedelta(microseconds=question["time"])
        text += f" FOR SYSTEM_TIME AS OF '{time.isoformat(sep=' ')}'"
    filters = (_condition(table, written) for written in question["where"])
    conditions = [condition for condition in filters if condition]
    return f"{text} WHERE {' AND '.join(conditions)}" if conditions else text


def quoted(table: Table) -> str:
    """Name a table in a statement."""
    return f"`{table.name.database}`.`{table.name.name}`"


def _condition(table: Table, written: Sequence[Any]) -> str | None:
    """Return a condition that holds for the rows of one of Spark's filters; None for none."""
    operator, *rest = written
    if operator in ("AND", "OR"):
        sides = [side for operand in rest if (side := _condition(table, operand))]
        if operator == "AND":
            return f"({' AND '.join(sides)})" if sides else None
        return f"({' OR '.join(sides)})" if len(sides) == len(rest) else None
    name, *values = rest
    kinds = {column.name: column.type.kind for column in table.all_columns}
    kind = kinds.get(name)
    if operator == "IS NOT NULL":
        return f"`{name}` IS NOT NULL" if kind else None
    texts = [_value(kind, *value) for value in values if kind]
    if not texts or None in texts:
        return None
    return f"`{name}` {operator} " + (
        f"({', '.join(filter(None, texts))})" if operator == "IN" else f"{texts[0]}"
    )


def _value(kind: Kind | None, word: str, text: str) -> str | None:
    if kind not in _COMPARED[word]:
        return None
    try:
        match word:
            case "int":
                return literal(int(text))
            case "decimal":
                return literal(Decimal(text))
            case "date":
                return literal(date.fromisoformat(text))
    except ValueError:
        # A year that Python does not have.
        return None
    return literal(text)
