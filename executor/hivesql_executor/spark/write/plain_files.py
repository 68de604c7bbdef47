"""Files by Spark's own writers: into a staging directory, or uploaded to where they belong."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import unquote_plus

from hivesql_executor.jvm import call_static, finding_our_classes, know_our_file_systems
from hivesql_executor.orc.publish import ListedFiles
from hivesql_executor.orc.uploaded_rows import UploadedFile, count_waiting
from hivesql_executor.spark.task_answers import TaskAnswers
from hivesql_planner.acid.snapshot import FileStatus
from hivesql_planner.errors import ExecutionError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from hivesql_executor.files.api import Files
    from hivesql_executor.files.uploads import Uploads
    from hivesql_executor.spark.write.event_files import UploadPlaces
    from hivesql_planner.model.table import Table

_COMMIT_PROTOCOL = "spark.sql.sources.commitProtocolClass"
_FIELDS = 5
_BELOW = "files"
"""A directory in that of each partition in a staging directory."""


@dataclass(frozen=True, slots=True)
class PlainJob:
    """Rows that one of Spark's writers shall write; ``keys`` tell files of a task apart."""

    rows: DataFrame
    keys: Sequence[str]
    file_format: str
    options: Mapping[str, str]

    def stage(self, staging: str, files: Files, *, even_empty: bool) -> ListedFiles:
        """Write files into a staging directory; ``even_empty``: at least one, without rows."""
        spark = self.rows.sparkSession
        with nullcontext() if files.has_directories else _committing(spark, "StagedFiles"):
            self._save(staging)
            if even_empty and not files.list(staging):
                self._save_nothing(staging)
        statuses = files.list(staging)
        if not files.has_directories:
            names = set(call_static(spark, "StagedFiles", "take", staging).split("\0"))
            statuses = tuple(status for status in statuses if status.path in names)
        return ListedFiles(statuses)

    def upload(
        self, staging: str, places: UploadPlaces, *, in_buckets: bool, even_empty: bool
    ) -> ListedFiles:
        """Let tasks upload files, which wait to be completed; ``staging`` only names the job.

        ``in_buckets`` tells that the first of the keys is the bucket.
        """
        spark = self.rows.sparkSession
        where = {
            "hivesql.upload.places": json.dumps(places.as_plan()),
            "hivesql.upload.buckets": str(in_buckets).lower(),
        }
        know_our_file_systems(spark)
        with finding_our_classes(spark), _committing(spark, "UploadedRows"):
            aside = call_static(spark, "UploadedRows", "aside", staging)
            self._save(aside, where)
            listed = _uploaded(spark, staging)
            if even_empty and not listed.statuses:
                self._save_nothing(aside, where)
                listed = _uploaded(spark, staging)
        return listed

    def stage_uploads(
        self, staging: str, places: UploadPlaces, table: Table, uploads: Uploads
    ) -> ListedFiles:
        """Let tasks upload files to below a staging directory, and complete those with rows.

        Hadoop's stores ask more than once, before and after they write a file, what is there.
        """
        below = replace(places, table=staging, locations={}, directories=[_BELOW])
        listed = self.upload(staging, below, in_buckets=table.is_bucketed, even_empty=False)
        waiting = {file.path: file.upload for file in listed.uploaded.values()}
        try:
            rows = count_waiting(
                listed.uploaded.values(), waiting, table, uploads, even_empty=False
            )  # fmt: skip
            if waiting:
                uploads.complete([*waiting.items()])
        except BaseException:
            # What was completed goes with the directory.
            with suppress(Exception):
                uploads.abort([*waiting.items()])
            raise
        files = {name: file.path for name, file in listed.uploaded.items() if file.path in waiting}
        lengths = {path: len(word) for path, word in waiting.items() if isinstance(word, bytes)}
        return ListedFiles(
            tuple(
                FileStatus(status.path, lengths.get(files[status.path], status.length), 0)
                for status in listed.statuses
                if status.path in files
            ),
            places=files,
            # What is amended yet is counted then.
            rows={name: rows[path] for name, path in files.items() if path in lengths},
        )

    def _save(self, path: str, more: Mapping[str, str] | None = None) -> None:
        # One file per task: two would claim one name.
        options = {**self.options, **(more or {}), "maxRecordsPerFile": "0"}
        writer = self.rows.write.options(**options)
        if self.keys:
            writer = writer.partitionBy(*self.keys)
        # Else it is asked whether something is there, where nobody else writes.
        writer.format(self.file_format).mode("append").save(path)

    def _save_nothing(self, path: str, more: Mapping[str, str] | None = None) -> None:
        empty = self.rows.where("false").drop(*self.keys).write
        empty = empty.options(**self.options, **(more or {}))
        empty.format(self.file_format).mode("append").save(path)


@contextmanager
def _committing(spark: SparkSession, protocol: str) -> Iterator[None]:
    """Let a class of ours say where Spark's writers put files, and which count, in the block."""
    spark.conf.set(_COMMIT_PROTOCOL, f"hivesql.{protocol}")
    try:
        yield
    finally:
        spark.conf.unset(_COMMIT_PROTOCOL)


def _uploaded(spark: SparkSession, staging: str) -> ListedFiles:
    """Return what the tasks of a job have told."""
    answers = TaskAnswers(call_static(spark, "UploadedRows", "take", staging))
    parts = answers.text.split("\0")[:-1]
    statuses, uploaded = [], {}
    for at in range(0, len(parts), _FIELDS):
        name, path, upload, length, lines = parts[at : at + _FIELDS]
        name = unquote_plus(name)
        statuses.append(FileStatus(name, int(length), 0))
        word = answers.upload(upload, int(length))
        uploaded[name] = UploadedFile(unquote_plus(path), word, int(lines))
    places = len({file.path for file in uploaded.values()})
    if places != len(statuses):
        raise ExecutionError(
            f"tasks uploaded {len(statuses)} files to {places} places, so that rows would go lost. "
            "Nothing was written; report it"
        )
    return ListedFiles(tuple(sorted(statuses)), uploaded)
