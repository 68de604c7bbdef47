"""A MERGE's source, computed once, and the rows of the target that it may match.

A MERGE joins its source twice: with the target, to find what matches, and with what it has found.
Computed anew the second time, a source that is not the same each time (a function like reflect, a
LIMIT without an order) would insert rows whose match it missed. Its keys are known then too, and
the target is read by them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame

from hivesql_executor.jvm import gateway
from hivesql_planner.plan import Change, When

_MOST_LISTED = 100_000
"""Values that a search argument is asked for each row group, whatever the setting says."""
_FEW = 10_000
"""Rows that a second task would not write sooner: ORC's row groups have as many."""


@dataclass(frozen=True, slots=True)
class Joined:
    """The rows that a change is made of: the target's, and those of a MERGE's source."""

    target: DataFrame
    source: DataFrame | None = None
    narrow: bool = False
    """Whether the target has few other rows than those with some key of the source."""
    few: bool = False
    """Whether the source has no more rows than one file should have."""


@contextmanager
def compute_source(
    change: Change,
    target: DataFrame,
    source: DataFrame,
    *,
    most_bytes: int,
    most_keys: int,
    most_listed: int,
) -> Iterator[Joined]:
    """Compute the source, unless it is read from files as it is and has more than ``most_bytes``.

    Up to ``most_keys`` keys of its rows tell which rows of the target to read, and up to
    ``most_listed`` different ones which of its files and row groups. The rows are kept
    by Spark inside the block; a row that is lost with its executor fails the statement.
    """
    spark = target.sparkSession
    # Conditions with subqueries name views that are not there yet.
    by_keys = change.on and not change.queries and not change.has(When.NOT_MATCHED_BY_SOURCE)
    on = change.on.sql if change.on and by_keys else None
    named = target._jdf.alias(change.target_alias), source._jdf.alias(change.source_alias)
    settled: Any = gateway(spark).settle(
        *named, on, most_bytes, most_keys, min(most_listed, _MOST_LISTED)
    )
    if settled is None:
        yield Joined(target, source)
        return
    try:
        yield Joined(
            DataFrame(settled.target(), spark),
            DataFrame(settled.rows(), spark),
            settled.isNarrow(),
            settled.count() <= _FEW,
        )
    finally:
        settled.close()
