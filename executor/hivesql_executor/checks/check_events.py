"""Whether a full ACID table's files hold what they say, and their rows are all there."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TypeVar

from hivesql_executor.checks.finding import Finding
from hivesql_executor.files.api import Files
from hivesql_executor.jvm import know_flushed_files
from hivesql_executor.orc.footers import check_file, check_orphans, foreign_writes, holds_changes
from hivesql_executor.orc.tail import OrcTail, cached_tail
from hivesql_executor.runtime import Runtime
from hivesql_executor.snapshot.flushed_lengths import spark_path
from hivesql_executor.snapshot.partition_files import PartitionFiles
from hivesql_executor.spark.failure import FAILURES, bare_path, unreadable
from hivesql_executor.spark.scan.delete_events import delete_events
from hivesql_executor.spark.verify.event_order import Key, KeyedFile, file_problems, missing_rows
from hivesql_executor.spark.verify.rows import repeated_ids, row_counts, row_ids, unmatched_deletes
from hivesql_planner.acid.files_to_read import DataFile, DeleteFile, FilesToRead
from hivesql_planner.acid.layout import KEY_INDEX, STATS, DirectoryKind, parse_directory
from hivesql_planner.acid.write_ids import ValidWriteIdList
from hivesql_planner.errors import DataError, NotSupported
from hivesql_planner.model.table import Table

_File = TypeVar("_File", DataFile, DeleteFile)


def event_findings(
    table: Table,
    parts: Sequence[PartitionFiles],
    visible: ValidWriteIdList,
    runtime: Runtime,
    counts: dict[str, int],
) -> Iterator[Finding]:
    """Yield what is wrong with footers and rows; fill in the rows of each whole partition."""
    file_facts = _Known()
    for part in parts:
        for file in _files(part):
            yield from _file_findings(table, part.location, file, runtime, file_facts)
    counts.update((part.location, 0) for part in parts if not _files(part))
    if not any(part.files.data or part.files.orphans for part in parts):
        return
    while True:
        try:
            # Whole, so that nothing is told twice when a file turns out to be damaged inside.
            findings = tuple(_row_findings(table, parts, visible, runtime, file_facts, counts))
        except FAILURES as error:
            path, why = _damaged(error, parts, file_facts)
            if not path:
                raise
            file_facts.leave_out(path)
            yield Finding(path, f"cannot be read: {why}")
        else:
            yield from findings
            return


@dataclass(slots=True)
class _Known:
    """What has been found out of a table's files: those with ids, and those that are broken."""

    keyed: list[KeyedFile] = field(default_factory=list)
    deletes: dict[str, OrcTail] = field(default_factory=dict)
    broken: set[str] = field(default_factory=set)

    def leave_out(self, path: str) -> None:
        """From now on, do without a file."""
        self.broken.add(path)
        self.keyed = [file for file in self.keyed if file.path != path]
        self.deletes.pop(path, None)


def _file_findings(
    table: Table, location: str, file: DataFile | DeleteFile, runtime: Runtime, file_facts: _Known
) -> Iterator[Finding]:
    path = f"{location}/{file.path}"
    tail = _tail(runtime.files(table.location), path, file)
    if isinstance(tail, Finding):
        file_facts.broken.add(path)
        yield tail
        return
    yield from _footer_findings(table, path, tail)
    if isinstance(file, DeleteFile):
        file_facts.deletes[path] = tail
    elif file.original is not None or holds_changes(tail):
        # Neither has an order of its own; their ids are compared later.
        return
    ends = _key_index(tail)
    if isinstance(ends, str):
        yield Finding(path, f"{KEY_INDEX} {ends}: Hive may leave out rows")
        ends = ()
    file_facts.keyed.append(_keyed(location, file, tail, ends))


def _damaged(
    error: Exception, parts: Sequence[PartitionFiles], file_facts: _Known
) -> tuple[str, str]:
    """Return the file that made a job fail, if it is one of these, and why; else nothing."""
    path, why = unreadable(error) or ("", "")
    paths = (f"{part.location}/{file.path}" for part in parts for file in _files(part))
    hit = (file for file in paths if bare_path(file) == path and file not in file_facts.broken)
    return next(hit, ""), why


def _files(part: PartitionFiles) -> tuple[DataFile | DeleteFile, ...]:
    chosen = part.files
    return tuple(dict.fromkeys((*chosen.data, *chosen.deletes, *chosen.orphans)))


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


def _row_findings(
    table: Table,
    parts: Sequence[PartitionFiles],
    visible: ValidWriteIdList,
    runtime: Runtime,
    file_facts: _Known,
    counts: dict[str, int],
) -> Iterator[Finding]:
    spark, files, home = runtime.spark(), runtime.files(table.location), table.location
    if any(file.side_file for part in parts for file in part.files.data):
        know_flushed_files(spark)
    problems = chain(
        file_problems(spark, table, file_facts.keyed), missing_rows(spark, table, file_facts.keyed)
    )
    yield from (Finding(place, problem) for place, problem in problems)
    readable = [_readable(part, file_facts.broken) for part in parts]
    ids = row_ids(spark, table, readable, visible=visible, files=files)
    yield from (Finding(home, problem) for problem in repeated_ids(ids))
    complete = []
    for part, checked in zip(parts, readable, strict=True):
        try:
            paths = [f"{part.location}/{file.path}" for file in checked.files.orphans]
            check_orphans(paths, file_facts.deletes)
        except DataError as error:
            yield Finding(part.location, error.message)
            continue
        if checked == part:
            complete.append(part)
    # Where a file is broken, rows that are not found may be there.
    events = delete_events(spark, table, complete, file_facts.deletes, visible=visible)
    if events is not None:
        yield from (Finding(home, problem) for problem in unmatched_deletes(ids, events))
    alive = row_counts(spark, table, complete, visible=visible, files=files)
    counts.update((part.location, alive.get(part.texts, 0)) for part in complete)


def _readable(part: PartitionFiles, broken: Collection[str]) -> PartitionFiles:
    """Leave out files that cannot be read: what is wrong elsewhere is told too."""

    def readable(files: Sequence[_File]) -> tuple[_File, ...]:
        return tuple(file for file in files if f"{part.location}/{file.path}" not in broken)

    files = part.files
    chosen = FilesToRead(readable(files.data), readable(files.deletes), readable(files.orphans))
    return replace(part, files=chosen)
