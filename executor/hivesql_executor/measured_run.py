"""EXPLAIN ANALYZE: a plan is run and measured, and what it wrote is taken back."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hivesql_executor.local.pieces import ReadCounts, counting_reads
from hivesql_executor.outcome import Outcome
from hivesql_executor.run import run
from hivesql_executor.runtime import Runtime
from hivesql_executor.statements.context import OrRows
from hivesql_planner.errors import NotSupported
from hivesql_planner.explain import explain
from hivesql_planner.plan import Change, Insert, Plan, Select

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from hivesql_executor.transactions.transaction import OpenTransaction

_MEASURED = "hivesql.measured"
"""The local property of Spark's by which ``ScanCounts.java`` knows that scans are to be counted."""


class _Undo(BaseException):
    """Ends a transaction whose writes are not wanted; no error that anybody may take for one."""

    def __init__(self, outcome: Outcome) -> None:
        self.outcome = outcome


def run_measured(plan: Plan, runtime: Runtime, *, inside: OpenTransaction | None = None) -> Outcome:
    """Run a plan, take back what it wrote, and return EXPLAIN's lines with what it took.

    Rows of a query are counted and go nowhere. NotSupported for what a transaction cannot undo.
    """
    reads = isinstance(plan.body, Select)
    if not reads and (inside is not None or not _can_be_undone(plan)):
        raise NotSupported(
            "EXPLAIN ANALYZE of what no transaction of its own can undo: it runs queries, and "
            "INSERT, UPDATE, DELETE and MERGE of transactional tables outside START TRANSACTION"
        )
    clock = runtime.clock.monotonic
    started = locked = clock()

    def around(body: Callable[[], Outcome]) -> Outcome:
        nonlocal locked
        locked = clock()
        outcome = body()
        if reads:
            return outcome
        raise _Undo(outcome)

    with closing(_MeasuredSpark(runtime)) as spark, counting_reads() as reads_counted:
        try:
            measured = replace(runtime, spark=spark)
            outcome = run(plan, measured, consume=OrRows(_count), inside=inside, around=around)
        except _Undo as undo:
            outcome = undo.outcome
        ended = clock()
        lines = (
            *explain(plan).splitlines(),
            "ANALYZE",
            f"  {_rows(outcome)} rows; locks and snapshot {_millis(locked - started)}, "
            f"{'run' if reads else 'run and undo'} {_millis(ended - locked)}",
            *spark.lines(reads_counted),
        )
        return Outcome.of_table(["Explain"], [(line,) for line in lines])


def _can_be_undone(plan: Plan) -> bool:
    """Tell whether all that a plan does is to write rows that nobody sees without its commit."""
    match plan.body:
        case Insert(create=None, branches=branches):
            return all(
                branch.write.table.is_transactional and not branch.rebuilds for branch in branches
            )
        case Change():
            return True
    return False


def _rows(outcome: Outcome) -> int:
    if outcome.affected is not None:
        return outcome.affected
    if isinstance(outcome.value, int):
        return outcome.value
    return len(outcome.rows) if outcome.table is None else outcome.table.num_rows


def _count(rows: DataFrame) -> int:
    """Compute all rows where they are; how many."""
    from pyspark.sql import functions as f

    from hivesql_executor.jvm import gateway

    session_gateway, name = gateway(rows.sparkSession), f"hivesql analyze {uuid.uuid4()}"
    session_gateway.observe()
    observed = rows.observe(name, f.count(f.lit(1)).alias("rows"))
    observed.write.format("noop").mode("overwrite").save()
    return int(json.loads(session_gateway.observed(name))["rows"])


class _MeasuredSpark:
    """Spark for one statement, whose scans are counted from its first use on."""

    def __init__(self, runtime: Runtime) -> None:
        self._start, self._name = runtime.spark, runtime.query_id
        self._session: SparkSession | None = None

    def close(self) -> None:
        """Count no more."""
        if self._session is not None:
            self._session.sparkContext.setLocalProperty(_MEASURED, None)  # type: ignore[arg-type]

    def __call__(self) -> SparkSession:
        """Return Spark's session, which is started where it does not run."""
        session = self._start()
        session.sparkContext.setLocalProperty(_MEASURED, self._name)
        self._session = session
        return session

    def lines(self, reads: ReadCounts) -> Iterator[str]:
        """Tell what its scans of ACID files and its jobs took, and what was read without it."""
        if self._session is None or reads.decoded:
            yield f"  without Spark: {reads}" if reads.in_files else "  without Spark"
        if self._session is None:
            return
        from hivesql_executor.jvm import gateway

        measured: dict[str, Any] = json.loads(gateway(self._session).measured(self._name))
        for scan in measured["scans"]:
            yield (
                f"  scan of {scan['table']}: {scan['files']} files read, {scan['skippedFiles']} "
                f"skipped; {scan['groups']} row groups read, {scan['skippedGroups']} skipped; "
                f"{scan['rows']} rows decoded, {scan['hiddenRows']} of them deleted or not visible"
            )
        for number, job in enumerate(measured["jobs"], start=1):
            yield (
                f"  job {number}: {job['millis']} ms, {job['tasks']} tasks, "
                f"{job['cpuMillis']} ms of CPU; {job['rows']} rows and {job['bytes']} bytes read, "
                f"{job['shuffled']} bytes shuffled"
            )


def _millis(seconds: float) -> str:
    return f"{round(seconds * 1000)} ms"
