"""What only the rows of a full ACID table tell, by jobs of Spark: for tables of any size."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from hivesql_executor.checks.event_check import EventCheck
from hivesql_executor.checks.finding import Finding
from hivesql_executor.jvm import know_our_file_systems
from hivesql_executor.spark.failure import FAILURES, bare_path, unreadable
from hivesql_executor.spark.scan.delete_events import delete_events
from hivesql_executor.spark.verify.event_order import file_problems, missing_rows
from hivesql_executor.spark.verify.rows import repeated_ids, row_counts, row_ids, unmatched_deletes


def findings_by_spark(check: EventCheck) -> tuple[Finding, ...]:
    """Look at the rows; a file that turns out to be damaged inside is told and left out."""
    damages: list[Finding] = []
    while True:
        try:
            # Whole, so that nothing is told twice when a file turns out to be damaged inside.
            findings = tuple(_row_findings(check))
        except FAILURES as error:
            path, why = _damaged(error, check)
            if not path:
                raise
            check.leave_out(path)
            damages.append(Finding(path, f"cannot be read: {why}"))
        else:
            return (*damages, *findings)


def _damaged(error: Exception, check: EventCheck) -> tuple[str, str]:
    """Return the file that made a job fail, if it is one of these, and why; else nothing."""
    path, why = unreadable(error) or ("", "")
    paths = (f"{part.location}/{file.path}" for part in check.parts for file in part.every_file)
    hit = (file for file in paths if bare_path(file) == path and file not in check.broken)
    return next(hit, ""), why


def _row_findings(check: EventCheck) -> Iterator[Finding]:
    table, visible, home = check.table, check.visible, check.table.location
    spark, files = check.runtime.spark(), check.runtime.files(home)
    if any(file.side_file for part in check.parts for file in part.files.data):
        know_our_file_systems(spark)
    problems = chain(
        file_problems(spark, table, check.keyed), missing_rows(spark, table, check.keyed)
    )
    yield from (Finding(place, problem) for place, problem in problems)
    readable = check.readable_parts()
    ids = row_ids(spark, table, readable, visible=visible, files=files)
    yield from (Finding(home, problem) for problem in repeated_ids(ids))
    complete, orphans = check.complete_parts(readable)
    yield from orphans
    events = delete_events(spark, table, complete, check.deletes, visible=visible)
    if events is not None:
        yield from (Finding(home, problem) for problem in unmatched_deletes(ids, events))
    alive = row_counts(spark, table, complete, visible=visible, files=files)
    check.counts.update((part.location, alive.get(part.texts, 0)) for part in complete)
