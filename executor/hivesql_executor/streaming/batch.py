"""A batch of transactions that share their delta files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

import pyarrow as pa

from hivesql_executor.heartbeat import Heartbeat
from hivesql_executor.local.events import bucket_numbers, has_early_fractions
from hivesql_executor.lock_wait import acquire_locks
from hivesql_executor.runtime import Runtime
from hivesql_executor.storage.local import local_path
from hivesql_executor.streaming.growing import GrowingFile
from hivesql_executor.streaming.records import RecordWriter, Row
from hivesql_planner.acid.layout import AcidDirectory, DirectoryKind
from hivesql_planner.errors import CommitUnknown, HiveSqlError, NotSupported, TransactionLost
from hivesql_planner.plan import Insert, Lock, LockType, Operation, Plan
from hivesql_planner.streaming_errors import (
    InvalidTransactionState,
    PartitionCreationFailed,
    StreamingException,
    StreamingIOFailure,
    TransactionError,
)
from hivesql_planner.table import (
    DEFAULT_PARTITION,
    Partition,
    Table,
    parse_partition_name,
    partition_name,
)

_FLUSH_ROWS = 100_000
_TOLD = (StreamingException, CommitUnknown)


class State(Enum):
    """Where a transaction of a batch stands."""

    INACTIVE = "I"
    OPEN = "O"
    COMMITTED = "C"
    ABORTED = "A"


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

    @property
    def is_dynamic(self) -> bool:
        """Whether the partition's values stand in the records."""
        return bool(self.table.partition_columns) and self.partition is None


@dataclass(slots=True, kw_only=True)
class Batch:
    """Transactions opened together; each begins when the one before it has ended."""

    stream: Stream
    txn_ids: tuple[int, ...]
    write_ids: tuple[int, ...]
    heartbeat: Heartbeat
    states: list[State] = field(default_factory=list)
    _current: int = -1
    _waiting: list[Row] = field(default_factory=list)
    _files: dict[tuple[str, int], GrowingFile] = field(default_factory=dict)
    _homes: dict[str, str] = field(default_factory=dict)
    _touched: set[str] = field(default_factory=set)
    _dead: bool = False

    @classmethod
    def open(cls, stream: Stream, size: int) -> Batch:
        """Open the transactions and give each its write id."""
        runtime, store = stream.runtime, stream.runtime.metastore
        settings = runtime.settings
        txn_ids = store.open_txns(
            size,
            runtime.user,
            runtime.host,
            max_open=settings.integer("hive.max.open.txns"),
            max_batch=settings.integer("hive.txn.max.open.batch"),
        )
        if len(txn_ids) < size:
            store.abort_txns(txn_ids, "streaming batch too large")
            raise TransactionError(f"the metastore opened {len(txn_ids)} of {size} transactions")
        try:
            write_ids = [store.allocate_write_id(txn, stream.table.name) for txn in txn_ids]
        except BaseException:
            store.abort_txns(txn_ids, "streaming batch failed")
            raise
        stream.statistics.metastore_calls += 1 + size
        interval = settings.seconds("hive.txn.timeout") / 2
        heartbeat = Heartbeat(runtime=runtime, txn_id=txn_ids[0], interval=interval)
        batch = cls(
            stream=stream,
            txn_ids=tuple(txn_ids),
            write_ids=tuple(write_ids),
            heartbeat=heartbeat,
            states=[State.INACTIVE] * size,
        )
        heartbeat.beat = batch._beat
        heartbeat.start()
        return batch

    # -- what can be asked
    @property
    def remaining(self) -> int:
        """Transactions that have not begun."""
        return 0 if self._dead else len(self.txn_ids) - self._current - 1

    @property
    def is_open(self) -> bool:
        """Whether a transaction has begun and not ended."""
        return not self._dead and self._current >= 0 and self.states[self._current] is State.OPEN

    @property
    def is_closed(self) -> bool:
        """Whether nothing more can be done with the batch."""
        return self._dead

    @property
    def txn_id(self) -> int:
        """The current transaction."""
        return self.txn_ids[self._current]

    # -- what can be done
    def begin(self) -> None:
        """Take the next transaction and its lock."""
        if not self.remaining:
            raise InvalidTransactionState("no transaction of the batch is left: open another")
        self._current += 1
        stream = self.stream
        name = stream.table.name
        partition = self._static_name() if stream.partition is not None else None
        lock = Lock(
            LockType.SHARED_READ,
            name.database,
            name.name,
            partition,
            Operation.INSERT,
            dynamic_partition=stream.is_dynamic,
        )
        plan = Plan(body=Insert(branches=()), locks=(lock,))
        stream.statistics.metastore_calls += 1
        try:
            acquire_locks(self.txn_id, plan, stream.runtime)
        except HiveSqlError as error:
            self.close()
            raise TransactionError(f"Unable to acquire lock on {name}: {error.message}") from error
        self.states[self._current] = State.OPEN

    def write(self, rows: Sequence[Row], size: int) -> None:
        """Take records into the open transaction; the last of many go to the disk at once."""
        self.require_open()
        self._waiting.extend(rows)
        self.stream.statistics.records_written += len(rows)
        self.stream.statistics.records_size += size
        if len(self._waiting) >= _FLUSH_ROWS:
            self.stream.statistics.auto_flushes += 1
            self._or_die(self.flush)

    def commit(self) -> None:
        """Flush and commit the open transaction."""
        self.require_open()
        self._or_die(self.flush)
        self._or_die(self._commit)
        self.states[self._current] = State.COMMITTED
        self.stream.statistics.committed_transactions += 1

    def abort(self) -> None:
        """Roll the open transaction back; what it has written already stays invisible."""
        if self._dead:
            return
        self.require_open()
        self._waiting.clear()
        self._touched.clear()
        self._abort([self.txn_id])
        self.states[self._current] = State.ABORTED

    def close(self) -> None:
        """Abort what has not ended, close the files. May be called again."""
        if self._dead:
            return
        first = self._current if self.is_open else self._current + 1
        left = self.txn_ids[max(first, 0) :]
        try:
            if left:
                self._abort(left)
                self.states[-len(left) :] = [State.ABORTED] * len(left)
        finally:
            self._end()

    def flush(self) -> None:
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
            self._append(name, part, of_part)

    # -- inside
    def _append(self, name: str, row: pa.StructArray, buckets: Any) -> None:
        write_id = self.write_ids[self._current]
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
        """The numbers of the rows of each partition."""
        table = self.stream.table
        if not self.stream.is_dynamic:
            return {self._static_name(): list(range(count))}
        columns = [
            self._partition_texts(values, column.type)
            for values, column in zip(texts, table.partition_columns, strict=True)
        ]
        found: dict[str, list[int]] = defaultdict(list)
        names: dict[tuple[str, ...], str] = {}
        for number, values in enumerate(zip(*columns, strict=True)):
            if values not in names:
                names[values] = partition_name(table.partition_names, values)
            found[names[values]].append(number)
        return found

    def _partition_texts(self, values: Sequence[Any], hive_type: str) -> list[str]:
        typed = self.stream.writer.column(values, hive_type)
        if pa.types.is_floating(typed.type) or pa.types.is_timestamp(typed.type):
            raise NotSupported(f"dynamic partitions of type {hive_type} in a stream")
        texts = typed if pa.types.is_string(typed.type) else typed.cast(pa.string())
        return [text or DEFAULT_PARTITION for text in texts.to_pylist()]

    def _static_name(self) -> str:
        table, values = self.stream.table, self.stream.partition
        return "" if values is None else partition_name(table.partition_names, values)

    def _file(self, name: str, bucket: int) -> GrowingFile:
        found = self._files.get((name, bucket))
        self._touched.add(name)
        if found is None:
            directory = AcidDirectory(DirectoryKind.DELTA, self.write_ids[0], self.write_ids[-1])
            home = local_path(self._home(name))
            found = self._files[name, bucket] = GrowingFile(
                table=self.stream.table,
                directory=Path(home) / directory.name,
                bucket=bucket,
                statement_id=0,
                with_side_file=len(self.write_ids) > 1,
                fast=self.stream.fast,
            )
        return found

    def _home(self, name: str) -> str:
        """The partition's directory; a new partition is added."""
        table, store = self.stream.table, self.stream.runtime.metastore
        if not name:
            return table.location
        if name not in self._homes:
            values = parse_partition_name(name)
            partition = store.partition(table.name, values)
            self.stream.statistics.metastore_calls += 1
            if partition is None:
                partition = Partition(values=values, location=f"{table.location}/{name}")
                try:
                    store.add_partitions(table.name, [partition], if_not_exists=True)
                except HiveSqlError as error:
                    raise PartitionCreationFailed(
                        f"partition {name} of {table.name} could not be added: {error.message}"
                    ) from error
                self.stream.statistics.metastore_calls += 1
                self.stream.statistics.created_partitions += 1
            self.stream.statistics.total_partitions += 1
            self._homes[name] = partition.location
        return self._homes[name]

    def _commit(self) -> None:
        stream, txn_id = self.stream, self.txn_id
        store, exclusive = stream.runtime.metastore, stream.runtime.settings
        try:
            self.heartbeat.check()
            if stream.is_dynamic and self._touched:
                store.add_dynamic_partitions(
                    txn_id,
                    self.write_ids[self._current],
                    stream.table.name,
                    sorted(self._touched),
                    Operation.INSERT,
                )
                stream.statistics.metastore_calls += 1
            store.commit_txn(txn_id, exclusive_write=exclusive.flag("hive.txn.xlock.write"))
            stream.statistics.metastore_calls += 1
        except CommitUnknown:
            # To abort what may be committed could destroy it.
            self.states[self._current] = State.COMMITTED
            raise
        except TransactionLost as error:
            raise TransactionError(
                f"Aborted transaction cannot be committed: {error.message}"
            ) from error
        self._touched.clear()

    def _abort(self, txn_ids: Sequence[int]) -> None:
        self.stream.runtime.metastore.abort_txns(txn_ids, "streaming abort")
        self.stream.statistics.metastore_calls += 1
        self.stream.statistics.aborted_transactions += len(txn_ids)

    def _beat(self) -> None:
        first = self._current if self.is_open else self._current + 1
        for txn_id in self.txn_ids[max(first, 0) :]:
            self.stream.runtime.metastore.heartbeat(txn_id)

    def require_open(self) -> None:
        """Raise InvalidTransactionState unless a transaction has begun."""
        if self._dead:
            raise InvalidTransactionState("the transaction batch is closed")
        if not self.is_open:
            raise InvalidTransactionState(
                "Transaction batch is null/ state is not OPEN. Missing beginTransaction?"
            )

    def _or_die(self, step: Any) -> None:
        """Any failure but that of a record ends the whole batch."""
        try:
            step()
        except BaseException as error:
            try:
                self.close()
            except (HiveSqlError, OSError) as second:
                error.add_note(f"the batch could not be closed either: {second}")
            if isinstance(error, OSError):
                raise StreamingIOFailure(f"the delta could not be written: {error}") from error
            if isinstance(error, HiveSqlError) and not isinstance(error, _TOLD):
                raise StreamingException(error.message) from error
            raise

    def _end(self) -> None:
        self._dead = True
        self.heartbeat.stop()
        failures = []
        for file in self._files.values():
            try:
                file.close()
            except OSError as error:
                failures.append(str(error))
        if failures:
            raise StreamingIOFailure(f"Encountered errors while closing: {'; '.join(failures)}")
