"""SELECT, by Spark or without it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hivesql_executor.outcome import Outcome
from hivesql_executor.statements.context import OrRows, Work
from hivesql_planner.plan import Select
from hivesql_planner.predicates.predicate import SmallSelect
from hivesql_planner.relations import Query

if TYPE_CHECKING:
    import pyarrow as pa

_MOST_PARTITIONS = 100
"""More are listed once, for Spark."""


def run_select(select: Select, work: Work) -> Outcome:
    """Return the rows to whoever wants them, while the snapshot is held."""
    if select.small and (work.consume is None or isinstance(work.consume, OrRows)):
        outcome = _without_spark(select.small, select.query, work)
        if outcome is not None:
            return outcome
    from hivesql_executor.statements.select_by_spark import query_rows

    return query_rows(select.query, work)


def _without_spark(small: SmallSelect, query: Query, work: Work) -> Outcome | None:
    """None when the files are a matter for Spark."""
    if not query.sources or small.limit == 0:
        from hivesql_executor.local.select import select_unread

        return select_unread(small, query.columns)
    (source,) = query.sources
    table, runtime = source.scan.table, work.runtime
    if table.is_system:
        return _of_metastore(small, query, work)
    files = runtime.files(table.location)
    if len(source.scan.partitions) > _MOST_PARTITIONS:
        return None
    from hivesql_executor.local.read import OnlySpark, small_snapshot
    from hivesql_executor.local.select import select_rows
    from hivesql_executor.snapshot.listing import scan_files

    visible = work.txn.visible[table.name]
    parts = scan_files(source.scan, visible, work.txn.txns, runtime)
    try:
        snapshot = small_snapshot(table, parts, visible, files, small.most_bytes)
        return select_rows(small, snapshot, query.columns)
    except OnlySpark:
        return None


def _of_metastore(small: SmallSelect, query: Query, work: Work) -> Outcome | None:
    """Look into what the metastore tells; None where that is too much to be shown at once."""
    from hivesql_executor.local.read import OnlySpark
    from hivesql_executor.local.select import select_from
    from hivesql_executor.local.types import arrow_table

    (source,) = query.sources
    table = source.scan.table
    try:
        relation = arrow_table(table, work.runtime.system_rows(table))
        return select_from(small, relation, query.columns)
    except OnlySpark:
        return None


def selected_arrays(small: SmallSelect, query: Query, most_rows: int, work: Work) -> list[pa.Array]:
    """Return the columns of a small query's rows; OnlySpark where they are a matter for Spark."""
    from hivesql_executor.local.read import OnlySpark

    most = most_rows + 1
    some = replace(small, limit=most if small.limit is None else min(small.limit, most))
    outcome = _without_spark(some, query, work)
    if outcome is None or outcome.table is None or len(outcome.table) > most_rows:
        raise OnlySpark
    return [column.combine_chunks() for column in outcome.table.columns]
