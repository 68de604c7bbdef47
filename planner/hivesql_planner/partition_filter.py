"""Which partitions a catalog may leave out when it lists those of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Kind = Literal["text", "integer", "date"]
Operator = Literal["=", "<", "<=", ">", ">="]
OPERATORS: Final[tuple[Operator, ...]] = ("=", "<", "<=", ">", ">=")


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionTest:
    """``column operator value`` (or one of several values) on the partition column at ``position``.

    A value that is not of the kind, as text, passes: whoever asked decides about it. So the
    outcome of a listing may hold more than was wanted, never less.
    """

    position: int
    operator: Operator
    values: tuple[str, ...]
    kind: Kind
