"""What ORC may know of a predicate, as Spark SQL: EXPLAIN tells it, the scan knows it by Spark."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from itertools import islice
from typing import Any

from hivesql_planner.model.hive_type import HiveType, Kind, quote_name
from hivesql_planner.model.table import Table
from hivesql_planner.predicates.constants import day
from hivesql_planner.predicates.predicate import (
    AllOf,
    AnyOf,
    Compare,
    IsNull,
    Not,
    OneOf,
    Predicate,
    Value,
)

MOST_PUSHED = 100
"""So many comparisons ORC is asked about at most: it makes each for each stripe and row group."""
# Before this day ORC files count days in the Julian calendar.
_FIRST_GREGORIAN = "1582-10-15"


def search_of(table: Table, where: Predicate | None) -> str | None:
    """Write Spark SQL over a table's data columns that every wanted row satisfies.

    None, as of ``search_text``, where nothing of it can be said.
    """
    types = {column.name: column.type for column in table.columns}
    return search_text(where, types) if where is not None else None


def search_text(predicate: Predicate, types: Mapping[str, HiveType]) -> str | None:
    """Spark SQL over data columns that every wanted row satisfies; None when there is none.

    ``types`` are the Hive types of the data columns. Parts of an AND that have no such form are
    left out.
    """
    match predicate:
        case AllOf(parts=parts):
            texts = (search_text(part, types) for part in parts)
            return " AND ".join(islice(filter(None, texts), MOST_PUSHED)) or None
        case AnyOf(parts=parts) if len(parts) <= MOST_PUSHED:
            either = [search_text(part, types) for part in parts]
            return f"({' OR '.join(map(str, either))})" if all(either) else None
        case OneOf(column=column) if column in types:
            return _list_text(predicate, types[column])
        case IsNull(column=column) if column in types:
            return f"{quote_name(column)} IS NULL"
        case Not(part=IsNull(column=column)) if column in types:
            return f"{quote_name(column)} IS NOT NULL"
        case Compare(column=column, operator=operator, value=value) if column in types:
            text = _literal(value, types[column])
            return f"{quote_name(column)} {operator} {text}" if text and operator != "<=>" else None
    return None


def _list_text(one_of: OneOf, type_: HiveType) -> str | None:
    """Equality with each constant; with many of them, what lies between the least and the last."""
    texts = [_literal(constant, type_) for constant in one_of.values]
    if not all(texts):
        return None
    name = quote_name(one_of.column)
    if len(texts) <= MOST_PUSHED:
        return f"({' OR '.join(f'{name} = {text}' for text in texts)})" if texts else None
    order = [
        str(constant) if isinstance(constant, date) else constant for constant in one_of.values
    ]

    def key(at: int) -> Any:
        return order[at]

    low, high = min(range(len(order)), key=key), max(range(len(order)), key=key)
    return f"({name} >= {texts[low]} AND {name} <= {texts[high]})"


def _literal(value: Value, type_: HiveType) -> str | None:
    base = type_.kind
    match value:
        case bool():
            return str(value).lower() if base is Kind.BOOLEAN else None
        case int() | float() | Decimal():
            return _number(value) if type_.is_number else None
        case str() if base in (Kind.STRING, Kind.VARCHAR):
            # Escapes are left to the filter above.
            plain = value.isprintable() and "\\" not in value
            return "'" + value.replace("'", "\\'") + "'" if plain else None
        case datetime():
            return None
        case date() | str() if base is Kind.DATE:
            text = str(value)
            certain = day(text) and text >= _FIRST_GREGORIAN
            return f"DATE '{text}'" if certain else None
    return None


def _number(value: int | float | Decimal) -> str | None:
    if isinstance(value, Decimal):
        text = f"{value:f}"
        return text if "." in text else f"{text}BD"
    if isinstance(value, float):
        return f"{value!r}D" if math.isfinite(value) else None
    return str(value)
