"""Whether a full ACID table's files hold what they say, and their rows are all there."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TypeVar

from hivesql_executor.finding import Finding
from hivesql_executor.flushed import spark_path
from hivesql_executor.partition_files import PartitionFiles
from hivesql_executor.runtime import Runtime
from hivesql_executor.spark.footers import (
    check_deletes,
    check_inserts,
    check_orphans,
    check_raw,
    check_writes,
    foreign_writes,
    holds_changes,
)
from hivesql_executor.spark.jvm import know_flushed_files
from hivesql_executor.spark.types import orc_type
from hivesql_executor.spark.verify import (
    delete_events,
    repeated_ids,
    row_counts,
    row_ids,
    unmatched_deletes,
)
from hivesql_executor.spark.verify_files import Key, KeyedFile, file_problems, missing_rows
from hivesql_executor.storage.files import Files
from hivesql_executor.storage.orc import OrcTail, cached_tail
from hivesql_planner.acid.layout import KEY_INDEX, STATS, DirectoryKind, parse_directory
from hivesql_planner.acid.reading import DataFile, DeleteFile, FilesToRead
from hivesql_planner.acid.write_ids import ValidWriteIdList
from hivesql_planner.errors import DataError, NotSupported
from hivesql_planner.table import DEFAULT_PARTITION, Table

_File = TypeVar("_File", DataFile, DeleteFile)
_NESTED = ("array", "map", "struct", "uniontype")


def event_findings(
    table: Table,
    parts: Sequence[PartitionFiles],
    visible: ValidWriteIdList,
    runtime: Runtime,
    counts: dict[str, int],
) -> Iterator[Finding]:
    """What is wrong with footers and rows; fills in the rows of each partition that is whole."""
    files = runtime.files(table.location)
    keyed: list[KeyedFile] = []
    deletes: dict[str, OrcTail] = {}
    broken: set[str] = set()
    for part in parts:
        found: list[DataFile | DeleteFile] = [*part.files.data, *part.files.deletes]
        for file in found:
            path = f"{part.location}/{file.path}"
            tail = _tail(files, path, file)
            if isinstance(tail, Finding):
                broken.add(path)
                yield tail
                continue
            yield from _footer_findings(table, path, tail)
            if isinstance(file, DeleteFile):
                deletes[path] = tail
            elif file.raw is not None or holds_changes(tail):
                # Neither has an order of its own; their ids are compared below.
                continue
            ends = _key_index(tail)
            if isinstance(ends, str):
                yield Finding(path, f"{KEY_INDEX} {ends}: Hive may leave out rows")
            keyed.append(_keyed(part.location, file, tail, () if isinstance(ends, str) else ends))
    if any(part.files.data or part.files.orphans for part in parts):
        yield from _row_findings(table, parts, visible, runtime, keyed, deletes, broken, counts)


def _tail(files: Files, path: str, file: DataFile | DeleteFile) -> OrcTail | Finding:
    check = check_deletes
    if isinstance(file, DataFile):
        check = check_inserts if file.raw is None else check_raw
    try:
        tail = cached_tail(files, path, file.length)
        check(path, tail)
        if file.write_id_filter:
            check_writes(path, tail)
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
    known = table.column_names[: len(names)]
    if names != known and sorted(names) == sorted(known):
        wrong = f"{', '.join(names)} where the table has {', '.join(known)}"
        yield Finding(path, f"has the columns {wrong}: they are read by position")
    for column, kind in zip(table.columns, tail.row_types, strict=False):
        if _shape(kind) != _shape(orc_type(column.type)):
            wrong = f"{kind} where the table has {column.type}"
            yield Finding(path, f"its column {column.name} is {wrong}: it cannot be read")


def _shape(orc_text: str) -> str:
    """What no conversion leads away from."""
    kind = orc_text.partition("<")[0]
    return kind if kind in _NESTED else ""


def _key_index(tail: OrcTail) -> tuple[Key, ...] | str:
    """The last key of each stripe, or what is wrong with them."""
    said = tail.metadata.get(KEY_INDEX)
    if said is None or not tail.rows:
        return ()
    entries = said.decode("ascii", "replace").split(";")[:-1]
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
    keyed: Sequence[KeyedFile],
    deletes: Mapping[str, OrcTail],
    broken: Collection[str],
    counts: dict[str, int],
) -> Iterator[Finding]:
    spark, files, home = runtime.spark(), runtime.files(table.location), table.location
    if any(file.side_file for part in parts for file in part.files.data):
        know_flushed_files(spark)
    told = chain(file_problems(spark, table, keyed), missing_rows(spark, table, keyed))
    yield from (Finding(place, problem) for place, problem in told)
    readable = [_readable(part, broken) for part in parts]
    ids = row_ids(spark, table, readable, visible=visible, files=files)
    yield from (Finding(home, problem) for problem in repeated_ids(ids))
    whole = []
    for part, kept in zip(parts, readable, strict=True):
        try:
            paths = [f"{part.location}/{file.path}" for file in kept.files.orphans]
            check_orphans(paths, deletes)
        except DataError as error:
            yield Finding(part.location, error.message)
            continue
        if kept == part:
            whole.append(part)
    # Where a file is broken, rows that are not found may be there.
    events = delete_events(spark, table, whole, deletes, visible=visible)
    if events is not None:
        yield from (Finding(home, problem) for problem in unmatched_deletes(ids, events))
    alive = row_counts(spark, table, whole, visible=visible, files=files)
    counts.update((part.location, alive.get(_texts(part), 0)) for part in whole)


def _texts(part: PartitionFiles) -> tuple[str, ...]:
    values = part.partition.values if part.partition else ()
    return tuple(value or DEFAULT_PARTITION for value in values)


def _readable(part: PartitionFiles, broken: Collection[str]) -> PartitionFiles:
    """The part without the files that cannot be read: what is wrong elsewhere is told too."""

    def kept(files: Sequence[_File]) -> tuple[_File, ...]:
        return tuple(one for one in files if f"{part.location}/{one.path}" not in broken)

    found = part.files
    chosen = FilesToRead(kept(found.data), kept(found.deletes), kept(found.orphans))
    return replace(part, files=chosen)
