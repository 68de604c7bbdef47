"""What of a WHERE ORC may know, so that it skips stripes and row groups."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from itertools import islice

from hivesql.query.filters.pruning import (
    DATE_TEXT,
    INTEGERS,
    And,
    Compare,
    Constant,
    IsNull,
    Not,
    OneOf,
    Or,
    Predicate,
)

MOST_PUSHED = 100
"""So many comparisons ORC is asked about at most: it makes each for each stripe and row group."""
# Before this day ORC files count days in the Julian calendar.
_FIRST_GREGORIAN = "1582-10-15"


def pushed_down(predicate: Predicate, types: Mapping[str, str]) -> str | None:
    """Spark SQL over data columns that every wanted row satisfies; None when there is none.

    ``types`` are the Hive types of the data columns. Parts of an AND that have no such form are
    left out.
    """
    match predicate:
        case And(parts=parts):
            texts = (pushed_down(part, types) for part in parts)
            return " AND ".join(islice(filter(None, texts), MOST_PUSHED)) or None
        case Or(parts=parts) if len(parts) <= MOST_PUSHED:
            either = [pushed_down(part, types) for part in parts]
            return f"({' OR '.join(map(str, either))})" if all(either) else None
        case OneOf(column=column) if column in types:
            return _pushed_list(predicate, types[column])
        case IsNull(column=column) if column in types:
            return f"`{column}` IS NULL"
        case Not(inner=IsNull(column=column)) if column in types:
            return f"`{column}` IS NOT NULL"
        case Compare(column=column, operator=operator, value=value) if column in types:
            text = _spark_literal(value, types[column])
            return f"`{column}` {operator} {text}" if text and operator != "<=>" else None
    return None


def _pushed_list(one_of: OneOf, type_: str) -> str | None:
    """Equality with each constant; with many of them, what lies between the least and the last."""
    given = [one for one in one_of.values if one.kind != "null"]
    texts = [_spark_literal(one, type_) for one in given]
    if not all(texts):
        return None
    name = f"`{one_of.column}`"
    if len(texts) <= MOST_PUSHED:
        return f"({' OR '.join(f'{name} = {text}' for text in texts)})" if texts else None
    key = (
        (lambda at: Decimal(given[at].text))
        if given[0].kind == "number"
        else (lambda at: given[at].text)
    )
    low, high = min(range(len(given)), key=key), max(range(len(given)), key=key)
    return f"({name} >= {texts[low]} AND {name} <= {texts[high]})"


def _spark_literal(value: Constant, type_: str) -> str | None:
    base = type_.partition("(")[0]
    if value.kind == "number" and (base in INTEGERS or base in ("decimal", "float", "double")):
        return value.text
    if value.kind == "string" and base in ("string", "varchar"):
        return "'" + value.text.replace("'", "\\'") + "'"
    if value.kind in ("date", "string") and base == "date":
        certain = DATE_TEXT.fullmatch(value.text) and value.text >= _FIRST_GREGORIAN
        return f"DATE '{value.text}'" if certain else None
    if value.kind == "boolean" and base == "boolean":
        return value.text
    return None
