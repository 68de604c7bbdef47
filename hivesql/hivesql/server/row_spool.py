"""The rows of one result between the statement and its client: in memory, or in a file if many."""

from __future__ import annotations

import tempfile
import threading
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from typing import IO, TYPE_CHECKING, Any

import pyarrow as pa

from hivesql.server.column_types import wire_array, wire_column, wire_type
from hivesql_planner.errors import Cancelled, ExecutionError
from hivesql_planner.model.hive_type import HiveType

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_IN_MEMORY = 4 * 2**20
"""Bytes of a result that may stay in memory until it is fetched."""
_ROWS_AT_ONCE = 1000


class ResultMemory:
    """What the open results of all sessions take of memory, and how much they may take."""

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self.taken: int = 0
        self._guard = threading.Lock()

    def take(self, size: int) -> bool:
        """Take so many bytes; False where too few are left: they go into a file."""
        with self._guard:
            has_room = self.taken + size <= self.most_bytes
            self.taken += size if has_room else 0
            return has_room

    def give_back(self, size: int) -> None:
        """Let others have so many bytes again."""
        with self._guard:
            self.taken -= size


@dataclass(frozen=True, slots=True)
class ResultLimits:
    """How large one result may be, and what all of them may have of memory."""

    most_bytes: int
    memory: ResultMemory


class RowSpool:
    """Batches of rows, which can be read as often as their client wants.

    As HiveServer2's scratch directory: the statement ends, with its locks, however slowly its rows
    are fetched. The file has no name, and goes with the process.
    """

    def __init__(self, types: Sequence[HiveType], limits: ResultLimits) -> None:
        self.types: tuple[HiveType, ...] = tuple(types)
        self.limits = limits
        self.row_count: int = 0
        self._schema = pa.schema(
            [pa.field(f"c{i}", wire_type(type_)) for i, type_ in enumerate(types)]
        )
        self._ends: list[int] = []
        """How many rows come up to and with each batch."""
        self._bytes = 0
        self._in_memory = 0
        """Bytes of the batches that are in memory."""
        self._guard = threading.RLock()
        """Its client may close it while its statement runs."""
        self._is_closed = False
        self._batches: list[pa.RecordBatch] = []
        self._file: IO[bytes] | None = None
        self._writer: Any = None
        self._reader: Any = None

    def add_rows(self, rows: Iterable[Sequence[Any]]) -> None:
        """Append rows of Python's values."""
        iterator = iter(rows)
        while chunk := list(islice(iterator, _ROWS_AT_ONCE)):
            columns = zip(*chunk, strict=True)
            self._add([wire_array(c, t) for c, t in zip(columns, self.types, strict=True)])

    def add_frame(self, frame: DataFrame) -> None:
        """Append a query's rows as Spark has them ready, partition by partition."""
        # Imported late: many statements need no Spark.
        from hivesql_executor.spark.lines import arrow_batches

        batches = arrow_batches(frame)
        if batches is None:
            self.add_rows(frame.toLocalIterator(prefetchPartitions=True))
        else:
            self.add_batches(batches)

    def add_batches(self, batches: Iterable[pa.RecordBatch]) -> None:
        """Append the rows of batches of Arrow."""
        for batch in batches:
            for start in range(0, batch.num_rows, _ROWS_AT_ONCE):
                columns = batch.slice(start, _ROWS_AT_ONCE).columns
                self._add([wire_column(c, t) for c, t in zip(columns, self.types, strict=True)])

    def end(self) -> None:
        """Let the rows be read: no more come. ExecutionError where the last ones had no room."""
        with self._guard:
            writer, self._writer = self._writer, None
            if writer is not None:
                with _telling_of_no_room():
                    writer.close()
                    self._reader = pa.ipc.open_file(self._file)

    def close(self) -> None:
        """Forget the rows; who adds more of them has Cancelled."""
        with self._guard:
            self._is_closed = True
            self._leave_memory()
            self._reader = self._writer = None
            self._ends, self.row_count = [], 0
            file, self._file = self._file, None
            if file is not None:
                # A full disk refuses what is still to be written, and nobody reads it.
                with suppress(OSError):
                    file.close()

    def read(self, start: int, count: int, most_bytes: int) -> list[pa.Array]:
        """Return the columns of at most so many rows from ``start`` (counted from 0) on.

        At least one row comes, where there is one, and else not much more than ``most_bytes``.
        """
        with self._guard:
            parts = list(self._parts(start, count, most_bytes))
        if not parts:
            return [pa.array([], field.type) for field in self._schema]
        return [
            column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
            for column in pa.Table.from_batches(parts, self._schema).combine_chunks().columns
        ]

    def _parts(self, start: int, count: int, most_bytes: int) -> Iterator[pa.RecordBatch]:
        at = bisect_right(self._ends, start)
        wanted = min(count, self.row_count - start)
        size = 0
        while wanted > 0 and size < most_bytes:
            batch = self._reader.get_batch(at) if self._reader else self._batches[at]
            before = self._ends[at - 1] if at else 0
            part = batch.slice(start - before, wanted)
            size += part.nbytes
            start += part.num_rows
            wanted -= part.num_rows
            at += 1
            yield part

    def _add(self, arrays: Sequence[pa.Array]) -> None:
        batch = pa.RecordBatch.from_arrays(list(arrays), schema=self._schema)
        with self._guard:
            if self._is_closed:
                raise Cancelled("cancelled")
            self._count(batch)
            with _telling_of_no_room():
                self._store(batch)

    def _count(self, batch: pa.RecordBatch) -> None:
        self.row_count += batch.num_rows
        self._ends.append(self.row_count)
        self._bytes += batch.nbytes
        if self._bytes > self.limits.most_bytes:
            raise ExecutionError(
                f"the result has more than the {self.limits.most_bytes} bytes that the server "
                "takes of one: select less, write it into a table, or start it with a larger "
                "--max-result-bytes"
            )

    def _store(self, batch: pa.RecordBatch) -> None:
        if self._writer is None and self._bytes <= _IN_MEMORY and self._take_memory(batch.nbytes):
            self._batches.append(batch)
            return
        if self._writer is None:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the result
            self._writer = pa.ipc.new_file(self._file, self._schema)
            for earlier in self._batches:
                self._writer.write_batch(earlier)
            self._leave_memory()
        self._writer.write_batch(batch)

    def _take_memory(self, size: int) -> bool:
        has_room = self.limits.memory.take(size)
        self._in_memory += size if has_room else 0
        return has_room

    def _leave_memory(self) -> None:
        self._batches = []
        self.limits.memory.give_back(self._in_memory)
        self._in_memory = 0


@contextmanager
def _telling_of_no_room() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ExecutionError(
            f"the server has no room for the result: {error.strerror or error}"
        ) from error
