"""Parts of a statement that more than one kind of statement has.

A ``Slice`` is a part of the statement's text that is a query or an expression: its places in the
text and its sqlglot tree, whose nodes carry offsets into that text.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from hivesql.dialect.tokens import Name
    from hivesql.python_sqlglot import exp

RANGE = "range"
"""Metadata key of nodes: start and end offset in the statement's text."""
SPANS = "spans"
"""Metadata key of a query: the parts of the statement's text that it is, in order."""
BRACKETS = "brackets"
"""Key in ``meta`` of SORT BY: places of the two brackets around all of its keys."""


@dataclass(frozen=True, slots=True)
class Slice:
    """Parts of the text, in order; ``prefix`` is put before the last one when they are read."""

    spans: tuple[tuple[int, int], ...]
    tree: exp.Expr = field(repr=False, compare=False)
    prefix: str = ""

    @property
    def start(self) -> int:
        """Offset of the first character."""
        return self.spans[0][0]

    @property
    def end(self) -> int:
        """Offset behind the last character."""
        return self.spans[-1][1]


@dataclass(frozen=True, slots=True)
class PartitionItem:
    """``ds='x'`` (static) or ``ds`` (dynamic); a static None is NULL."""

    key: Name
    value: str | None = None
    is_static: bool = False
    end: int = field(default=0, compare=False)
    """Offset behind the item."""


PartitionItems = tuple[PartitionItem, ...]


IS_NULL = "is null"
"""The operator of ``key IS NULL``."""


@dataclass(frozen=True, slots=True)
class PartitionFilter:
    """``key operator value`` of DROP PARTITION and SHOW PARTITIONS; IS_NULL has no value."""

    key: Name
    operator: str
    value: str | None
    end: int = field(default=0, compare=False)
    """Offset behind the filter."""


@dataclass(frozen=True, slots=True)
class CombinedFilters:
    """Conditions that AND or OR connects, or one that NOT turns around."""

    operator: Literal["and", "or", "not"]
    parts: tuple[PartitionCondition, ...]


PartitionCondition: TypeAlias = PartitionFilter | CombinedFilters
"""WHERE of SHOW PARTITIONS."""
