"""The deltas that records go to: partitions and buckets, flush by flush."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hivesql_executor.bookkeeping.directory_moves import making
from hivesql_executor.bookkeeping.partitions import inheriting
from hivesql_executor.files.at_once import each_at_once
from hivesql_executor.files.local import LocalFiles, local_path
from hivesql_executor.files.refusals import remedy_of_system
from hivesql_executor.local.events import bucket_numbers, has_early_fractions
from hivesql_executor.runtime import Runtime
from hivesql_executor.streaming.growing import EventPieces, GrowingFile, WholeFile
from hivesql_executor.streaming.records import Records, RecordWriter, Row
from hivesql_planner.acid.layout import VERSION_FILE, VERSION_TEXT, AcidDirectory
from hivesql_planner.errors import CommitUnknown, HiveSqlError, NotSupported
from hivesql_planner.model.hive_type import HiveType
from hivesql_planner.model.partition_values import default_partition
from hivesql_planner.model.table import (
    Column,
    Partition,
    Table,
    check_partition_name,
    parse_partition_name,
    partition_name,
)
from hivesql_planner.older_python import add_note
from hivesql_planner.rewrite.orc_files import with_orc_settings
from hivesql_planner.streaming_errors import (
    PartitionCreationFailed,
    StreamingException,
    StreamingIOFailure,
)

FLUSH_ROWS = 100_000
"""So many records that wait are written."""
# No column has a name with a blank at its end.
_NUMBER = "number "
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
    def columns(self) -> tuple[Column, ...]:
        """Return the columns that stand in the records."""
        return tuple(self.table.all_columns if self.is_dynamic else self.table.columns)

    @property
    def is_dynamic(self) -> bool:
        """Tell whether the partition's values stand in the records."""
        return bool(self.table.partition_columns) and self.partition is None


@dataclass(slots=True, kw_only=True)
class Deltas:
    """The files of one delta directory in every partition that records come for.

    Where files cannot grow, each transaction has a directory of its own, and its rows wait in
    memory until they are published.

    ``touched`` are the partitions of the open transaction; with ``reports_only`` somebody else adds
    those that are missing.
    """

    stream: Stream
    directory: AcidDirectory
    reports_only: bool = False
    touched: set[str] = field(default_factory=set)
    _waiting: list[list[Row] | pa.Table] = field(default_factory=list)
    _waiting_rows: int = 0
    _files: dict[tuple[str, int], GrowingFile] = field(default_factory=dict)
    _whole: dict[tuple[str, int], WholeFile] = field(default_factory=dict)
    _published: list[str] = field(default_factory=list)
    """Directories that the open transaction has begun to write."""
    _homes: dict[str, str] = field(default_factory=dict)
    _checked: set[str] = field(default_factory=set)
    """Partitions whose files are where the catalog says, now that a lock keeps them there."""

    @property
    def may_grow(self) -> bool:
        """Tell whether files can be appended to."""
        return isinstance(self.stream.runtime.files(self.stream.table.location), LocalFiles)

    def begin(self, write_id: int) -> None:
        """Check that the table is where it was: between transactions nobody holds a lock on it."""
        self._checked.clear()
        if not self.may_grow:
            self.directory = self.directory._replace(min_write_id=write_id, max_write_id=write_id)
            self._homes.clear()
        table, store = self.stream.table, self.stream.runtime.metastore
        self.stream.statistics.metastore_calls += 1
        now = store.table(table.name)
        if (now.id, now.location) != (table.id, table.location):
            raise self._moved(f"{table.name}")

    def take(self, records: Records, size: int) -> bool:
        """Take records; whether so many wait that they should be flushed."""
        if isinstance(records, pa.Table):
            self._waiting.append(records)
        elif self._waiting and isinstance(self._waiting[-1], list):
            self._waiting[-1].extend(records)
        else:
            self._waiting.append(list(records))
        self._waiting_rows += len(records)
        self.stream.statistics.records_written += len(records)
        self.stream.statistics.records_size += size
        return self._waiting_rows >= FLUSH_ROWS

    @property
    def is_empty(self) -> bool:
        """Tell whether no record has come."""
        return not self._waiting_rows and not self._files and not self._whole

    def forget(self) -> None:
        """Drop what waits."""
        self._waiting.clear()
        self._waiting_rows = 0
        self.touched.clear()
        self._whole.clear()

    def publish(self) -> None:
        """Write what has waited until now where files cannot grow; nobody sees it yet."""
        if not self._whole:
            return
        waiting = [*self._whole.values()]
        files = waiting[0].files
        directories = dict.fromkeys(file.directory for file in waiting)
        self._published += directories
        for directory in directories:
            files.make_directories(directory)
        # It comes first: no reader ever sees data without it.
        versions = [f"{directory}/{VERSION_FILE}" for directory in directories]
        each_at_once(files, lambda path: files.write(path, VERSION_TEXT), versions)
        each_at_once(files, WholeFile.publish, waiting)
        self._whole.clear()

    def settle(self) -> None:
        """Leave what was published as it is: it is committed, or may be."""
        self._published.clear()

    def flush(self, write_id: int) -> None:
        """Write what waits, so that it is on the disk and in the side files."""
        waiting, self._waiting = self._waiting, []
        count, self._waiting_rows = self._waiting_rows, 0
        if not count:
            return
        table = self.stream.table
        columns = _join([self._columns(records) for records in waiting if len(records)])
        arrays = columns[: len(table.columns)]
        for array, column in zip(arrays, table.columns, strict=True):
            if pa.types.is_timestamp(array.type) and has_early_fractions(array):
                raise NotSupported(f"fractions of seconds before 1970 in column {column.name}")
        row = pa.StructArray.from_arrays(arrays, list(table.column_names))
        buckets = self._buckets(row)
        for name, numbers in self._partitions(columns[len(table.columns) :]).items():
            if numbers is None or len(numbers) == count:
                self._append(write_id, name, row, buckets)
                continue
            of_part = buckets if buckets is None else buckets[numbers.to_numpy()]
            self._append(write_id, name, row.take(numbers), of_part)

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
        self._remove_published()

    def discard(self) -> None:
        """Remove all files."""
        for file in self._files.values():
            file.discard()
        self._remove_published()

    def _remove_published(self) -> None:
        """Remove what is not committed: should we be taken for dead, nobody else would."""
        published, self._published = self._published, []
        for directory in published:
            self.stream.runtime.files(directory).delete(directory)

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
            self.stream.statistics.total_partitions += name not in self.stream.partitions
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

    def _columns(self, records: list[Row] | pa.Table) -> list[pa.Array]:
        """Return records by the stream's columns."""
        if isinstance(records, pa.Table):
            return [column.combine_chunks() for column in records.columns]
        writer = self.stream.writer
        return [
            writer.column(values, column.type)
            for values, column in zip(zip(*records, strict=True), self.stream.columns, strict=True)
        ]

    def _partitions(self, columns: Sequence[pa.Array]) -> dict[str, pa.Array | None]:
        """Return the numbers of the rows of each partition; None for all."""
        table, settings = self.stream.table, self.stream.runtime.settings
        if not columns:
            return {self.static_name(): None}
        names = list(table.partition_names)
        texts = [
            _partition_texts(array, column.type, default_partition(settings))
            for array, column in zip(columns, table.partition_columns, strict=True)
        ]
        rows = pa.table([*texts, pa.array(np.arange(len(texts[0])))], names=[*names, _NUMBER])
        groups = rows.group_by(names, use_threads=False).aggregate([(_NUMBER, "list")])
        numbers = groups.column(f"{_NUMBER}_list")
        values = zip(*(groups.column(name).to_pylist() for name in names), strict=True)
        return {
            partition_name(table.partition_names, of_group): numbers[place].values
            for place, of_group in enumerate(values)
        }

    def static_name(self) -> str:
        """Return the static partition's name; empty for a table without partitions."""
        table, values = self.stream.table, self.stream.partition
        return "" if values is None else partition_name(table.partition_names, values)

    def _file(self, name: str, bucket: int) -> GrowingFile | WholeFile:
        self.touched.add(name)
        if not self.may_grow:
            return self._whole_file(name, bucket)
        file = self._files.get((name, bucket))
        if file is not None:
            self._check_place(name, file)
        else:
            home = local_path(self.home(name))
            file = self._files[name, bucket] = GrowingFile(
                rows=self._pieces(bucket),
                directory=Path(home) / self.directory.name,
                with_side_file=self.directory.may_grow,
            )
            self._checked.add(name)
        return file

    def _whole_file(self, name: str, bucket: int) -> WholeFile:
        file = self._whole.get((name, bucket))
        if file is None:
            home = self.home(name)
            file = self._whole[name, bucket] = WholeFile(
                rows=self._pieces(bucket),
                directory=f"{home}/{self.directory.name}",
                files=self.stream.runtime.files(home),
            )
        return file

    def _pieces(self, bucket: int) -> EventPieces:
        return EventPieces(
            table=with_orc_settings(self.stream.table, self.stream.runtime.settings),
            bucket=bucket,
            statement_id=max(0, self.directory.statement_id),
            fast=self.stream.fast,
        )

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


def _join(parts: Sequence[Sequence[pa.Array]]) -> list[pa.Array]:
    """Return the same columns of several records as one."""
    if len(parts) == 1:
        return list(parts[0])
    return [pa.concat_arrays(arrays) for arrays in zip(*parts, strict=True)]


def _partition_texts(values: pa.Array, hive_type: HiveType, default: str) -> pa.Array:
    if pa.types.is_floating(values.type) or pa.types.is_timestamp(values.type):
        raise NotSupported(f"dynamic partitions of type {hive_type} in a stream")
    texts = pc.fill_null(values.cast(pa.string()), "")
    return pc.if_else(pc.equal(texts, ""), default, texts)


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
            raise StreamingIOFailure(
                f"the delta could not be written: {error}. {remedy_of_system(error)}"
            ) from error
        if isinstance(error, HiveSqlError) and not isinstance(error, _STREAM_ERRORS):
            raise StreamingException(error.message) from error
        raise
