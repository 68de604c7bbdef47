"""Whether a full ACID table's files hold what they say, and their rows are all there."""

from __future__ import annotations

from collections.abc import Iterator

from hivesql_executor.checks.event_check import EventCheck
from hivesql_executor.checks.finding import Finding
from hivesql_executor.files.api import Files
from hivesql_executor.local.read import OnlySpark, SmallSnapshot
from hivesql_executor.local.verify import (
    gap_problems,
    id_problems,
    living_counts,
    order_problems,
    read_rows,
)
from hivesql_executor.orc.event_order import Key, KeyedFile
from hivesql_executor.orc.footers import check_file, foreign_writes, holds_changes
from hivesql_executor.orc.tail import OrcTail, cached_tail
from hivesql_executor.snapshot.flushed_lengths import spark_path
from hivesql_planner.acid.files_to_read import DataFile, DeleteFile
from hivesql_planner.acid.layout import KEY_INDEX, STATS, DirectoryKind, parse_directory
from hivesql_planner.errors import DataError, NotSupported
from hivesql_planner.local.decide import MOST_BYTES
from hivesql_planner.model.table import Table


def event_findings(check: EventCheck) -> Iterator[Finding]:
    """Yield what is wrong with footers and rows; fill in the rows of each whole partition."""
    for part in check.parts:
        for file in part.every_file:
            yield from _file_findings(check, part.location, file)
    check.counts.update((part.location, 0) for part in check.parts if not part.every_file)
    if not any(part.files.data or part.files.orphans for part in check.parts):
        return
    try:
        findings = _small_findings(check)
    except OnlySpark:
        # Imported late: it takes longer than to check a small table.
        from hivesql_executor.checks.events_by_spark import findings_by_spark

        findings = findings_by_spark(check)
    yield from findings


def _file_findings(
    check: EventCheck, location: str, file: DataFile | DeleteFile
) -> Iterator[Finding]:
    path = f"{location}/{file.path}"
    tail = _tail(check.runtime.files(check.table.location), path, file)
    if isinstance(tail, Finding):
        check.broken.add(path)
        yield tail
        return
    yield from _footer_findings(check.table, path, tail)
    if isinstance(file, DeleteFile):
        check.deletes[path] = tail
    elif file.original is not None or holds_changes(tail):
        # Neither has an order of its own; their ids are compared later.
        return
    ends = _key_index(tail)
    if isinstance(ends, str):
        yield Finding(path, f"{KEY_INDEX} {ends}: Hive may leave out rows")
        ends = ()
    check.keyed.append(_keyed(location, file, tail, ends))


def _tail(files: Files, path: str, file: DataFile | DeleteFile) -> OrcTail | Finding:
    try:
        tail = cached_tail(files, path, file.length)
        check_file(path, file, tail)
    except (DataError, NotSupported) as error:
        return Finding(path, error.message)
    return tail


def _keyed(
    location: str, file: DataFile | DeleteFile, tail: OrcTail, ends: tuple[Key, ...]
) -> KeyedFile:
    directory = parse_directory(file.path.partition("/")[0])
    return KeyedFile(
        path=spark_path(location, file),
        length=file.length,
        tail=tail,
        place=location,
        bucket=file.bucket,
        deletes=isinstance(file, DeleteFile),
        whole=directory is not None and directory.kind is DirectoryKind.DELTA,
        ends=ends,
    )


def _footer_findings(table: Table, path: str, tail: OrcTail) -> Iterator[Finding]:
    counts = tail.metadata.get(STATS, b"").decode("ascii", "replace")
    numbers = [int(part) for part in counts.split(",") if part.isdigit()]
    if numbers and sum(numbers) != tail.rows:
        yield Finding(path, f"{STATS} says {counts}, the file has {tail.rows} rows")
    if foreign := foreign_writes(path, tail):
        yield Finding(path, foreign)
    names = tuple(name.lower() for name in tail.row_fields)
    column_names = table.column_names[: len(names)]
    if names != column_names and sorted(names) == sorted(column_names):
        wrong = f"{', '.join(names)} where the table has {', '.join(column_names)}"
        yield Finding(path, f"has the columns {wrong}: they are read by position")
    for column, kind in zip(table.columns, tail.row_types, strict=False):
        shapes = [type_.kind if type_.is_nested else None for type_ in (kind, column.type)]
        # No conversion leads away from these.
        if shapes[0] is not shapes[1]:
            wrong = f"{kind} where the table has {column.type}"
            yield Finding(path, f"its column {column.name} is {wrong}: it cannot be read")


def _key_index(tail: OrcTail) -> tuple[Key, ...] | str:
    """Return the last key of each stripe, or what is wrong with them."""
    index = tail.metadata.get(KEY_INDEX)
    if index is None or not tail.rows:
        return ()
    entries = index.decode("ascii", "replace").split(";")[:-1]
    if len(entries) != len(tail.stripe_rows):
        return f"has {len(entries)} entries for {len(tail.stripe_rows)} stripes"
    try:
        keys = [tuple(map(int, entry.split(","))) for entry in entries]
        return tuple((write, bucket, row) for write, bucket, row in keys)
    except ValueError:
        return "has entries that are no row ids"


def _small_findings(check: EventCheck) -> tuple[Finding, ...]:
    """Look at the rows without Spark; OnlySpark when there are many, or some cannot be read so."""
    readable = check.readable_parts()
    every = {
        spark_path(part.location, file): (f"{part.location}/{file.path}", file)
        for part in readable
        for file in part.every_file
    }
    if len(check.keyed) != len(every):
        # Rows whose ids nobody wrote are numbered by Spark.
        raise OnlySpark
    keyed = {every[file.path][0]: file for file in check.keyed}
    tails = {path: file.tail for path, file in keyed.items()}
    home, runtime = check.table.location, check.runtime
    files = runtime.files(home)
    snapshot = SmallSnapshot(check.table, files, check.visible, tuple(readable), tails)
    rows = read_rows(snapshot, runtime.settings.integer(MOST_BYTES))
    problems = (*order_problems(rows, keyed, home), *gap_problems(rows, keyed, home))
    complete, orphans = check.complete_parts(readable)
    ids = (Finding(home, problem) for problem in id_problems(rows, readable, complete))
    check.counts.update(living_counts(rows, complete))
    return (*(Finding(place, problem) for place, problem in problems), *orphans, *ids)
