"""Compaction without a shuffle: one task for each file of the result merges sorted files.

ORC stripes that stay as they are, because nothing in them was deleted, are copied byte by byte. So
is what Spark's own types could not hold, such as nanoseconds; and where stripes are decoded, ORC's
own vectors go from reader to writer and keep them as well.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from hivesql_executor.files.api import Files
from hivesql_executor.files.small_contents import KnownFiles
from hivesql_executor.files.uploads import Upload
from hivesql_executor.jvm import java_list, know_our_file_systems, new_object
from hivesql_executor.orc.footers import (
    check_deletes,
    check_inserts,
    check_orphans,
    holds_changes,
    read_footers,
)
from hivesql_executor.orc.tail import OrcTail
from hivesql_executor.snapshot.flushed_lengths import spark_path
from hivesql_executor.spark.nanoseconds.columns import SPARK_VERSION, may_hold_nanoseconds
from hivesql_executor.spark.task_answers import TaskAnswers
from hivesql_planner.acid.files_to_read import DataFile, DeleteFile, FilesToRead
from hivesql_planner.acid.key_spans import KeySpan, in_order
from hivesql_planner.acid.layout import bucket_file_name, original_file_name
from hivesql_planner.acid.write_ids import ValidWriteIdList
from hivesql_planner.model.table import BLOOM_FILTER_COLUMNS

_SMALLEST_COPY = 1 << 20
"""Smaller stripes of few rows are decoded and joined: they would make every later read slow."""
_NO_COPY = -1
"""Has ``MergeFiles.java`` decode every stripe."""
_UNSORTED = "keys are not in order"


@dataclass(frozen=True, slots=True)
class SortedFile:
    """An input, its bytes; ``filtered`` when some of its rows are not visible."""

    path: str
    length: int
    filtered: bool = False
    known: Mapping[str, str] = field(default_factory=dict)
    """What else tasks are told of it."""

    def describe(self) -> dict[str, Any]:
        """Return it as tasks read it."""
        file = {"path": self.path, "length": self.length, "filtered": self.filtered}
        return {**file, **self.known}


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """One file of the result: what goes into it, in order; an inner group's files interleave."""

    bucket: int
    kind: Literal["insert", "delete", "plain"]
    groups: Sequence[Sequence[SortedFile]]
    deletes: Sequence[SortedFile] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)

    @property
    def open_files(self) -> int:
        """The most files that are open at once."""
        return max(map(len, self.groups)) + len(self.deletes)


@dataclass(frozen=True, slots=True)
class Merged:
    """A file that was written; no path when no row was left."""

    bucket: int
    path: str
    rows: int
    stripes: int
    copied: int
    """So many of its stripes were copied as they were."""
    upload: Upload = ""
    """The file waits, uploaded to its path, to be completed; '' where it is there."""


def plan_inserts(location: str, chosen: FilesToRead, files: Files) -> list[Merge] | None:
    """Plan the merges that make one base, or one delta, of these files; None if Spark has to sort.

    That is so for files without row ids, ACID version 1, columns that changed between the files,
    rows outside their bucket, and files without statistics. DataError as in every read.
    """
    if any(file.original is not None for file in chosen.data):
        return None
    orphans = [(f"{location}/{file.path}", file.length) for file in chosen.orphans]
    check_orphans([path for path, _ in orphans], read_footers(files, orphans))
    tails = _tails(location, chosen.data, files)
    for file in chosen.data:
        check_inserts(f"{location}/{file.path}", tails[file.path])
    data = _spans([(file, tails[file.path]) for file in chosen.data])
    deletes = _deletes(location, chosen.deletes, files)
    if data is None or deletes is None or len({tail.schema for _, tail, _ in data}) > 1:
        return None
    if any(holds_changes(tail) for _, tail, _ in data):
        return None
    if any(not span.stays_in(file.bucket) for file, _, span in data):
        return None
    remembered = KnownFiles(files)
    strays = [
        _sorted(location, file, remembered)
        for file, _, span in deletes
        if not span.stays_in(file.bucket)
    ]
    at_home: dict[int, list[SortedFile]] = defaultdict(list)
    for deleted, _, span in deletes:
        if span.stays_in(deleted.bucket):
            at_home[deleted.bucket].append(_sorted(location, deleted, remembered))
    return [
        Merge(
            bucket=bucket,
            kind="insert",
            groups=in_order(
                [(span, _sorted(location, file, remembered)) for file, _, span in group]
            ),
            deletes=(*at_home[bucket], *strays),
            metadata=origin([tail for _, tail, _ in group]),
        )
        for bucket, group in _by_bucket(data)
    ]


def plan_deletes(
    location: str, delete_files: Sequence[DeleteFile], files: Files
) -> list[Merge] | None:
    """Return the merges that make one delete delta of these files; None when Spark has to sort."""
    deletes = _deletes(location, delete_files, files)
    if deletes is None or any(not span.stays_in(file.bucket) for file, _, span in deletes):
        return None
    remembered = KnownFiles(files)
    return [
        Merge(
            bucket=bucket,
            kind="delete",
            groups=in_order(
                [(span, _sorted(location, file, remembered)) for file, _, span in group]
            ),
            metadata=origin([tail for _, tail, _ in group]),
        )
        for bucket, group in _by_bucket(deletes)
    ]


_Known = tuple[DataFile | DeleteFile, OrcTail, KeySpan]


def _tails(
    location: str, event_files: Sequence[DataFile | DeleteFile], files: Files
) -> dict[str, OrcTail]:
    paths = [(f"{location}/{file.path}", file.length) for file in event_files]
    times = {f"{location}/{file.path}": file.modified for file in event_files}
    tails = read_footers(files, paths, times)
    return {file.path: tails[path] for file, (path, _) in zip(event_files, paths, strict=True)}


def _deletes(
    location: str, delete_files: Sequence[DeleteFile], files: Files
) -> list[_Known] | None:
    tails = _tails(location, delete_files, files)
    for file in delete_files:
        check_deletes(f"{location}/{file.path}", tails[file.path])
    return _spans([(file, tails[file.path]) for file in delete_files])


def _spans(files_and_tails: Sequence[tuple[DataFile | DeleteFile, OrcTail]]) -> list[_Known] | None:
    """Choose those that have rows; None when the keys of one are not known."""
    full = [(file, tail) for file, tail in files_and_tails if tail.rows]
    if any(not tail.key_range for _, tail in full):
        return None
    return [
        (file, tail, KeySpan(*(tail.key_range[key] for key in
                               ("originalTransaction", "bucket", "rowId"))))
        for file, tail in full
    ]  # fmt: skip


def _by_bucket(inserts: Sequence[_Known]) -> list[tuple[int, list[_Known]]]:
    groups: dict[int, list[_Known]] = defaultdict(list)
    for insert in inserts:
        groups[insert[0].bucket].append(insert)
    return sorted(groups.items())


def _sorted(location: str, file: DataFile | DeleteFile, remembered: KnownFiles) -> SortedFile:
    path = spark_path(location, file)
    known = remembered.tell(path, file.length, file.modified)
    return SortedFile(path, file.length, file.write_id_filter, known)


def origin(tails: Sequence[OrcTail]) -> dict[str, str]:
    """Give Spark as the writer of all inputs, when there is nothing in them that it cannot hold."""
    versions = {tail.metadata.get(SPARK_VERSION, b"").decode() for tail in tails}
    coarse = all(versions) and not any(map(may_hold_nanoseconds, tails))
    return {SPARK_VERSION: min(versions)} if coarse else {}


def run_merges(
    spark: SparkSession,
    merges: Sequence[Merge],
    *,
    staging: str,
    settings: Mapping[str, str],
    upload_to: str | None = None,
    visible: ValidWriteIdList | None = None,
    smallest_copy: int = _SMALLEST_COPY,
) -> list[Merged] | None:
    """Write each merge's file into ``staging``; None when a file turned out not to be sorted.

    ``settings``: ORC's own, by their names. With ``upload_to`` they wait instead, uploaded to that
    directory under the names of their buckets.
    """
    if not merges:
        return []
    if BLOOM_FILTER_COLUMNS in settings:
        # What was written before may have none.
        smallest_copy = _NO_COPY
    common: dict[str, Any] = {
        "output": staging,
        "conf": dict(settings),
        "smallest_copy": smallest_copy,
        "highest": visible.high_watermark if visible else 0,
        "hidden": sorted(visible.exceptions) if visible else [],
    }
    know_our_file_systems(spark)
    context: Any = spark.sparkContext
    described = (json.dumps({**common, **_describe(merge, upload_to)}) for merge in merges)
    lines = java_list(spark, [*described])
    work = new_object(spark, "MergeFiles", context._jsc.hadoopConfiguration())
    try:
        answers = TaskAnswers(work.run(context._jsc, lines))
    except (Py4JJavaError, PySparkException) as error:
        if _UNSORTED in str(error):
            return None
        raise
    lines_back = answers.text.splitlines()
    return [_merged(merge, line, answers) for merge, line in zip(merges, lines_back, strict=True)]


def _merged(merge: Merge, line: str, answers: TaskAnswers) -> Merged:
    answer = json.loads(line)
    answer["upload"] = answers.upload(answer["upload"], answer.pop("length"))
    return Merged(merge.bucket, **answer)


def _describe(merge: Merge, upload_to: str | None) -> dict[str, Any]:
    def listed(sorted_files: Sequence[SortedFile]) -> list[dict[str, Any]]:
        return [file.describe() for file in sorted_files]

    name = original_file_name if merge.kind == "plain" else bucket_file_name
    target = upload_to and f"{upload_to}/{name(merge.bucket)}"
    return {
        "kind": merge.kind,
        "upload to": target,
        "groups": [listed(group) for group in merge.groups],
        "deletes": listed(merge.deletes),
        "metadata": dict(merge.metadata),
    }
