"""The rows of a query by Spark, to whoever wants them."""

from __future__ import annotations

from hivesql_executor.outcome import Outcome, naming_times
from hivesql_executor.spark.lines import collect_rows
from hivesql_executor.spark.scan.nanoseconds import NanosecondFrame, nanosecond_rows_of
from hivesql_executor.spark.values import as_shown, as_wall_clock, with_instants_marked
from hivesql_executor.statements.context import OrRows, Work
from hivesql_executor.tracing import span
from hivesql_planner.model.hive_type import STRING
from hivesql_planner.model.table import Column
from hivesql_planner.relations import Query
from hivesql_planner.settings.session_zone import session_zone


def query_rows(query: Query, work: Work) -> Outcome:
    """Consume the rows while the snapshot is held."""
    nanosecond_rows = nanosecond_rows_of(query, work.txn, work.runtime)
    columns = query.columns
    clocks = as_wall_clock(as_shown(nanosecond_rows.rows, columns))
    frame = with_instants_marked(clocks, columns, session_zone(work.runtime.settings))
    # Times inside of arrays and their like have microseconds.
    nanoseconds = [
        i
        for i in nanosecond_rows.nanoseconds
        if nanosecond_rows.rows.schema[i].dataType.typeName() == "timestamp"
    ]
    if nanoseconds:
        # Two columns may have one name.
        width = len(frame.columns)
        texts = [f"c{width + nanosecond_rows.nanoseconds.index(i)}" for i in nanoseconds]
        numbered = nanosecond_rows.whole.toDF(
            *(f"c{i}" for i in range(len(nanosecond_rows.whole.columns)))
        )
        with_texts = numbered.select(*(f"c{i}" for i in range(width)), *texts)
        more = [Column(text, STRING) for text in texts] if columns else []
        frame = NanosecondFrame(
            frame, as_wall_clock(as_shown(with_texts, [*columns, *more])), nanoseconds
        )
    if work.consume and not isinstance(work.consume, OrRows):
        # Errors of the user's own function are his.
        with span("jobs"):
            return Outcome.of_query(frame, work.consume(frame))
    with naming_times(frame.dtypes), span("jobs"):
        value = work.consume(frame) if work.consume else collect_rows(frame)
    return Outcome.of_query(frame, value)
