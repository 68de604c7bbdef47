"""What only the rows of a full ACID table tell, by jobs of Spark: for tables of any size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from hivesql_executor.checks.file_facts import (
    FileFacts,
    complete_parts,
    readable_part,
)
from hivesql_executor.checks.finding import Finding
from hivesql_executor.jvm import know_flushed_files
from hivesql_executor.runtime import Runtime
from hivesql_executor.snapshot.partition_files import PartitionFiles
from hivesql_executor.spark.failure import FAILURES, bare_path, unreadable
from hivesql_executor.spark.scan.delete_events import delete_events
from hivesql_executor.spark.verify.event_order import file_problems, missing_rows
from hivesql_executor.spark.verify.rows import repeated_ids, row_counts, row_ids, unmatched_deletes
from hivesql_planner.acid.write_ids import ValidWriteIdList
from hivesql_planner.model.table import Table


def findings_by_spark(
    table: Table,
    parts: Sequence[PartitionFiles],
    visible: ValidWriteIdList,
    runtime: Runtime,
    file_facts: FileFacts,
    counts: dict[str, int],
) -> tuple[Finding, ...]:
    """Look at the rows; a file that turns out to be damaged inside is told and left out."""
    damages: list[Finding] = []
    while True:
        try:
            # Whole, so that nothing is told twice when a file turns out to be damaged inside.
            findings = tuple(_row_findings(table, parts, visible, runtime, file_facts, counts))
        except FAILURES as error:
            path, why = _damaged(error, parts, file_facts)
            if not path:
                raise
            file_facts.leave_out(path)
            damages.append(Finding(path, f"cannot be read: {why}"))
        else:
            return (*damages, *findings)


def _damaged(
    error: Exception, parts: Sequence[PartitionFiles], file_facts: FileFacts
) -> tuple[str, str]:
    """Return the file that made a job fail, if it is one of these, and why; else nothing."""
    path, why = unreadable(error) or ("", "")
    paths = (f"{part.location}/{file.path}" for part in parts for file in part.every_file)
    hit = (file for file in paths if bare_path(file) == path and file not in file_facts.broken)
    return next(hit, ""), why


def _row_findings(
    table: Table,
    parts: Sequence[PartitionFiles],
    visible: ValidWriteIdList,
    runtime: Runtime,
    file_facts: FileFacts,
    counts: dict[str, int],
) -> Iterator[Finding]:
    spark, files, home = runtime.spark(), runtime.files(table.location), table.location
    if any(file.side_file for part in parts for file in part.files.data):
        know_flushed_files(spark)
    problems = chain(
        file_problems(spark, table, file_facts.keyed), missing_rows(spark, table, file_facts.keyed)
    )
    yield from (Finding(place, problem) for place, problem in problems)
    readable = [readable_part(part, file_facts.broken) for part in parts]
    ids = row_ids(spark, table, readable, visible=visible, files=files)
    yield from (Finding(home, problem) for problem in repeated_ids(ids))
    complete, orphans = complete_parts(parts, readable, file_facts)
    yield from orphans
    events = delete_events(spark, table, complete, file_facts.deletes, visible=visible)
    if events is not None:
        yield from (Finding(home, problem) for problem in unmatched_deletes(ids, events))
    alive = row_counts(spark, table, complete, visible=visible, files=files)
    counts.update((part.location, alive.get(part.texts, 0)) for part in complete)
