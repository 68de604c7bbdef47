"""SELECT: the rows of a query to whoever wants them."""

from __future__ import annotations

from hivesql_executor.outcome import Outcome
from hivesql_executor.sources import rows_of
from hivesql_executor.spark.values import as_shown, as_wall_clock
from hivesql_executor.work import Work
from hivesql_planner.plan import Select


def run_select(select: Select, work: Work) -> Outcome:
    """Consume the rows while the snapshot is held."""
    rows = rows_of(select.query, work.txn, work.runtime)
    frame = as_wall_clock(as_shown(rows, select.query.columns))
    value = work.consume(frame) if work.consume else frame.collect()
    return Outcome.of_query(frame, value)
