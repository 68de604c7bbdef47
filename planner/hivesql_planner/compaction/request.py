"""What ALTER TABLE … COMPACT may say beside the kind, and its text forms in Hive's queue."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from hivesql_planner.errors import DataError
from hivesql_planner.model.hive_type import quote_name

MOST_IN_Z_ORDER = 7
"""Columns of which eight bits each are one number."""
TABLE_PREFIX = "tblprops."
"""WITH OVERWRITE TBLPROPERTIES: such a key replaces a property of the table for the result."""

_KEY = re.compile(
    r"\s*(?:`(?P<quoted>(?:[^`]|``)+)`|(?P<plain>\w+))"
    r"(?:\s+(?P<direction>asc|desc))?(?:\s+nulls\s+(?P<nulls>first|last))?\s*(?:,|\Z)",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"\s*order\s+by\b", re.IGNORECASE)
_CURVE = re.compile(r"zorder\((.*)\)", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class OrderKey:
    """One column of ORDER BY; in Hive NULL is the smallest value unless it is placed."""

    column: str
    descending: bool = False
    nulls_first: bool | None = None
    in_z_order: bool = False
    """Whether all columns count alike, as ``ORDER BY ZORDER(a, b)`` says of all keys or of none."""

    @property
    def puts_nulls_first(self) -> bool:
        """Tell where NULL goes."""
        return not self.descending if self.nulls_first is None else self.nulls_first

    def __str__(self) -> str:
        nulls = {None: "", True: " nulls first", False: " nulls last"}[self.nulls_first]
        return f"{quote_name(self.column)}{' desc' if self.descending else ''}{nulls}"


def write_order(keys: Sequence[OrderKey]) -> str:
    """Return the text of CQ_ORDER_BY; empty without keys."""
    text = ", ".join(map(str, keys))
    return f"zorder({text})" if keys and keys[0].in_z_order else text


def parse_order(text: str) -> tuple[OrderKey, ...]:
    """Read the text of CQ_ORDER_BY; DataError when it is more than columns and directions."""
    curve = _CURVE.fullmatch(text)
    if curve is not None:
        return tuple(replace(key, in_z_order=True) for key in parse_order(curve[1]))
    clause = _CLAUSE.match(text)
    at, keys = clause.end() if clause else 0, []
    while at < len(text):
        match = _KEY.match(text, at)
        if match is None:
            raise DataError(f"the queue's ORDER BY {text!r} is not a list of columns")
        name = (match["quoted"] or match["plain"]).replace("``", "`").lower()
        nulls = match["nulls"].lower() == "first" if match["nulls"] else None
        keys.append(OrderKey(name, (match["direction"] or "").lower() == "desc", nulls))
        at = match.end()
    return tuple(keys)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionDetails:
    """Pool of the worker, properties for the result, and how a rebalance lays rows out."""

    pool: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict, hash=False)
    bucket_count: int | None = None
    order: tuple[OrderKey, ...] = ()

    @property
    def order_text(self) -> str | None:
        """The text of CQ_ORDER_BY."""
        return write_order(self.order) or None

    @property
    def table_properties(self) -> dict[str, str]:
        """The table properties that hold for the result alone."""
        return {
            key.removeprefix(TABLE_PREFIX): value
            for key, value in self.properties.items()
            if key.startswith(TABLE_PREFIX)
        }


def format_properties(properties: Mapping[str, str]) -> str | None:
    """Hive's StringableMap: ``2:3:key5:value…``; None for no properties."""
    if not properties:
        return None
    parts = (f"{len(key)}:{key}{len(value)}:{value}" for key, value in sorted(properties.items()))
    return f"{len(properties)}:{''.join(parts)}"


def parse_properties(text: str | None) -> dict[str, str]:
    """Read a StringableMap; DataError for a text that is none."""
    if not text:
        return {}
    head, _, rest = text.partition(":")
    properties: dict[str, str] = {}
    try:
        for _ in range(int(head)):
            key, rest = _cut(rest)
            properties[key], rest = _cut(rest)
    except ValueError:
        raise DataError(f"{text!r} is not a map of properties") from None
    return properties


def _cut(text: str) -> tuple[str, str]:
    length, _, rest = text.partition(":")
    size = int(length)
    if len(rest) < size:
        raise ValueError(text)
    return rest[:size], rest[size:]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionFilter:
    """What SHOW COMPACTIONS is narrowed to beside database, table and partition."""

    id: int | None = None
    pool: str | None = None
    kind: str | None = None
    state: str | None = None
    order: tuple[OrderKey, ...] = ()
    limit: int | None = None


NO_DETAILS, NO_FILTER = CompactionDetails(), CompactionFilter()
