"""The deltas that records go to: partitions and buckets, flush by flush."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from hivesql_executor.bookkeeping.directory_moves import making
from hivesql_executor.bookkeeping.partitions import inheriting
from hivesql_executor.files.local import local_path
from hivesql_executor.local.events import bucket_numbers, has_early_fractions
from hivesql_executor.runtime import Runtime
from hivesql_executor.streaming.growing import GrowingFile
from hivesql_executor.streaming.records import RecordWriter, Row
from hivesql_planner.acid.layout import AcidDirectory
from hivesql_planner.errors import CommitUnknown, HiveSqlError, NotSupported
from hivesql_planner.model.hive_type import HiveType
from hivesql_planner.model.table import (
    DEFAULT_PARTITION,
    Partition,
    Table,
    check_partition_name,
    parse_partition_name,
    partition_name,
)
from hivesql_planner.older_python import add_note
from hivesql_planner.streaming_errors import (
    PartitionCreationFailed,
    StreamingException,
    StreamingIOFailure,
)

_FLUSH_ROWS = 100_000
_STREAM_ERRORS = (StreamingException, CommitUnknown)


@dataclass(slots=True)
class Statistics:
    """What a connection has done; records of aborted transactions count too."""

    records_written: int = 0
    records_size: int = 0
    committed_transactions: int = 0
    aborted_transactions: int = 0
    auto_flushes: int = 0
    metastore_calls: int = 0
    created_partitions: int = 0
    total_partitions: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """Where a connection's records go. ``partition`` has the values of a static partition."""

    runtime: Runtime
    table: Table
    writer: RecordWriter
    partition: tuple[str | None, ...] | None
    agent: str
    fast: bool
    statistics: Statistics
    partitions: set[str] = field(default_factory=set)
    """Names of those that were written."""

    @property
    def is_dynamic(self) -> bool:
        """Tell whether the partition's values stand in the records."""
        return bool(self.table.partition_columns) and self.partition is None


@dataclass(slots=True, kw_only=True)
class Deltas:
    """The files of one delta directory in every partition that records come for.

    ``touched`` are the partitions of the open transaction; with ``reports_only`` somebody else adds
    those that are missing.
    """

    stream: Stream
    directory: AcidDirectory
    reports_only: bool = False
    touched: set[str] = field(default_factory=set)
    _waiting: list[Row] = field(default_factory=list)
    _files: dict[tuple[str, int], GrowingFile] = field(default_factory=dict)
    _homes: dict[str, str] = field(default_factory=dict)
    _checked: set[str] = field(default_factory=set)
    """Partitions whose files are where the catalog says, now that a lock keeps them there."""

    def begin(self) -> None:
        """Check that the table is where it was: between transactions nobody holds a lock on it."""
        self._checked.clear()
        table, store = self.stream.table, self.stream.runtime.metastore
        self.stream.statistics.metastore_calls += 1
        now = store.table(table.name)
        if (now.id, now.location) != (table.id, table.location):
            raise self._moved(f"{table.name}")

    def take(self, rows: Sequence[Row], size: int) -> bool:
        """Take records; whether so many wait that they should be flushed."""
        self._waiting.extend(rows)
        self.stream.statistics.records_written += len(rows)
        self.stream.statistics.records_size += size
        return len(self._waiting) >= _FLUSH_ROWS

    @property
    def is_empty(self) -> bool:
        """Tell whether no record has come."""
        return not self._waiting and not self._files

    def forget(self) -> None:
        """Drop what waits."""
        self._waiting.clear()
        self.touched.clear()

    def flush(self, write_id: int) -> None:
        """Write what waits, so that it is on the disk and in the side files."""
        rows, self._waiting = self._waiting, []
        if not rows:
            return
        stream = self.stream
        table, writer = stream.table, stream.writer
        texts = list(zip(*rows, strict=True))
        arrays = [
            writer.column(values, column.type)
            for values, column in zip(texts, table.columns, strict=False)
        ]
        for array, column in zip(arrays, table.columns, strict=True):
            if pa.types.is_timestamp(array.type) and has_early_fractions(array):
                raise NotSupported(f"fractions of seconds before 1970 in column {column.name}")
        row = pa.StructArray.from_arrays(arrays, list(table.column_names))
        partitions = self._partitions(texts[len(table.columns) :], len(rows))
        buckets = self._buckets(row)
        for name, numbers in partitions.items():
            part = row if len(numbers) == len(row) else row.take(pa.array(numbers))
            of_part = buckets if buckets is None else buckets[numbers]
            self._append(write_id, name, part, of_part)

    def close(self) -> None:
        """Close all files; StreamingIOFailure tells which could not be."""
        failures = []
        for file in self._files.values():
            try:
                file.close()
            except OSError as error:
                failures.append(str(error))
        if failures:
            raise StreamingIOFailure(f"Encountered errors while closing: {'; '.join(failures)}")

    def discard(self) -> None:
        """Remove all files."""
        for file in self._files.values():
            file.discard()

    def home(self, name: str) -> str:
        """Return the partition's directory; a new partition is added."""
        table, store = self.stream.table, self.stream.runtime.metastore
        if not name:
            return table.location
        if name not in self._homes:
            values = parse_partition_name(name)
            partition = store.partition(table.name, values)
            self.stream.statistics.metastore_calls += 1
            if partition is None:
                check_partition_name(name)
                partition = Partition(values=values, location=f"{table.location}/{name}")
                if not self.reports_only:
                    self._add(partition, name)
            self.stream.statistics.total_partitions += 1
            self._homes[name] = partition.location
            self.stream.partitions.add(name)
        return self._homes[name]

    # -- inside
    def _append(self, write_id: int, name: str, row: pa.StructArray, buckets: Any) -> None:
        if buckets is None:
            self._file(name, 0).append(write_id, row)
            return
        for bucket in sorted(set(buckets.tolist())):
            chosen = pa.array((buckets == bucket).nonzero()[0])
            self._file(name, bucket).append(write_id, row.take(chosen))

    def _buckets(self, row: pa.StructArray) -> Any:
        """Hive's streaming writer hashes the bucket columns in the order of the table."""
        table = self.stream.table
        if not table.is_bucketed:
            return None
        columns = tuple(name for name in table.column_names if name in table.bucket_columns)
        return bucket_numbers(row, table, columns)

    def _partitions(self, texts: Sequence[Sequence[Any]], count: int) -> dict[str, list[int]]:
        """Return the numbers of the rows of each partition."""
        table = self.stream.table
        if not self.stream.is_dynamic:
            return {self.static_name(): list(range(count))}
        columns = [
            self._partition_texts(values, column.type)
            for values, column in zip(texts, table.partition_columns, strict=True)
        ]
        rows_by_partition: dict[str, list[int]] = defaultdict(list)
        names: dict[tuple[str, ...], str] = {}
        for number, values in enumerate(zip(*columns, strict=True)):
            if values not in names:
                names[values] = partition_name(table.partition_names, values)
            rows_by_partition[names[values]].append(number)
        return rows_by_partition

    def _partition_texts(self, values: Sequence[Any], hive_type: HiveType) -> list[str]:
        typed = self.stream.writer.column(values, hive_type)
        if pa.types.is_floating(typed.type) or pa.types.is_timestamp(typed.type):
            raise NotSupported(f"dynamic partitions of type {hive_type} in a stream")
        texts = typed if pa.types.is_string(typed.type) else typed.cast(pa.string())
        return [text or DEFAULT_PARTITION for text in texts.to_pylist()]

    def static_name(self) -> str:
        """Return the static partition's name; empty for a table without partitions."""
        table, values = self.stream.table, self.stream.partition
        return "" if values is None else partition_name(table.partition_names, values)

    def _file(self, name: str, bucket: int) -> GrowingFile:
        file = self._files.get((name, bucket))
        self.touched.add(name)
        if file is not None:
            self._check_place(name, file)
        else:
            home = local_path(self.home(name))
            file = self._files[name, bucket] = GrowingFile(
                table=self.stream.table,
                directory=Path(home) / self.directory.name,
                bucket=bucket,
                statement_id=max(0, self.directory.statement_id),
                with_side_file=self.directory.may_grow,
                fast=self.stream.fast,
            )
            self._checked.add(name)
        return file

    def _check_place(self, name: str, file: GrowingFile) -> None:
        """Fail where a file was removed or moved: nobody would see what is written into it."""
        if name in self._checked:
            return
        home: str | None = self._homes.get(name)
        if home is not None:
            self.stream.statistics.metastore_calls += 1
            store, table = self.stream.runtime.metastore, self.stream.table.name
            partition = store.partition(table, parse_partition_name(name))
            home = partition.location if partition is not None else None
        else:
            home = self.stream.table.location
        if home is None or Path(local_path(home)) != file.directory.parent or not file.exists:
            raise self._moved(f"partition {name} of {self.stream.table.name}" if name else "delta")
        self._checked.add(name)

    def _moved(self, what: str) -> StreamingException:
        return StreamingException(
            f"{what} was dropped, renamed or moved between two transactions. What was committed is "
            "as it was; connect again to write on"
        )

    def _add(self, partition: Partition, name: str) -> None:
        table, statistics = self.stream.table.name, self.stream.statistics
        runtime = self.stream.runtime
        try:
            with making([partition.location], runtime, 0):
                new = inheriting(self.stream.table, [partition], runtime)
                runtime.metastore.add_partitions(table, new, if_not_exists=True)
        except HiveSqlError as error:
            raise PartitionCreationFailed(
                f"partition {name} of {table} could not be added: {error.message}"
            ) from error
        statistics.metastore_calls += 1
        statistics.created_partitions += 1


def run_or_close(step: Callable[[], None], close: Callable[[], None]) -> None:
    """Any failure but that of a record ends the whole batch."""
    try:
        step()
    except BaseException as error:
        try:
            close()
        except Exception as second:  # noqa: BLE001 - the first error is the one to report
            add_note(error, f"the batch could not be closed either: {second}")
        if isinstance(error, OSError):
            raise StreamingIOFailure(f"the delta could not be written: {error}") from error
        if isinstance(error, HiveSqlError) and not isinstance(error, _STREAM_ERRORS):
            raise StreamingException(error.message) from error
        raise
