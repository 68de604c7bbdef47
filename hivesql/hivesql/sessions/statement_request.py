"""One statement to run, and what its caller gives with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hivesql.script import StatementText
from hivesql.sessions.frames import FrameRows, SparkViews
from hivesql_executor.metastore.api import Once
from hivesql_planner.model.table import TableName
from hivesql_planner.statements.bound import Statement

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Consume = Callable[["DataFrame"], Any]


def as_it_is(statement: Statement) -> Statement:
    """Leave a bound statement alone."""
    return statement


@dataclass(frozen=True, slots=True)
class StatementRequest:
    """A statement and what comes with it."""

    text: StatementText
    views: SparkViews
    consume: Consume | None = None
    frame: FrameRows | None = None
    once: Once | None = None
    adapt: Callable[[Statement], Statement] = as_it_is

    @property
    def frames(self) -> dict[TableName, DataFrame]:
        """Rows that the statement reads and no catalog has."""
        every = [*self.views.tables.values(), *([self.frame] if self.frame else [])]
        return {frame_rows.table.name: frame_rows.rows for frame_rows in every}
