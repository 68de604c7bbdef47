"""A batch of transactions that share their delta files."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import partial

from hivesql_executor.metastore.api import CommitEntries, TableNote
from hivesql_executor.streaming.deltas import Deltas, Stream, run_or_close
from hivesql_executor.streaming.records import Records
from hivesql_executor.transactions.heartbeat import Heartbeat
from hivesql_executor.transactions.lock_wait import acquire_locks
from hivesql_executor.transactions.reaper import release
from hivesql_executor.transactions.replaced_servers import with_known_server
from hivesql_planner.acid.layout import AcidDirectory, DirectoryKind
from hivesql_planner.errors import CommitUnknown, HiveSqlError, TransactionLost
from hivesql_planner.locks.lock import Lock, LockType, Operation
from hivesql_planner.plan import Insert, Plan
from hivesql_planner.streaming_errors import (
    InvalidTransactionState,
    StreamingException,
    TransactionError,
)
from hivesql_planner.write_history import RowCounts, TableWrite

_CLOSED = "the transaction batch is closed"
NOT_OPEN = "Transaction batch is null/ state is not OPEN. Missing beginTransaction?"


class State(Enum):
    """Where a transaction of a batch stands."""

    INACTIVE = "I"
    OPEN = "O"
    COMMITTED = "C"
    ABORTED = "A"
    PREPARED = "P"
    """Everything is on the disk; somebody else commits."""


@dataclass(slots=True, kw_only=True)
class Batch:
    """Transactions opened together; each begins when the one before it has ended."""

    stream: Stream
    txn_ids: tuple[int, ...]
    write_ids: tuple[int, ...]
    heartbeat: Heartbeat
    deltas: Deltas
    states: list[State] = field(default_factory=list)
    _current: int = -1
    _dead: bool = False
    _rows: int = 0
    """Records that the current transaction has taken."""
    _ending: threading.Lock = field(default_factory=threading.Lock)
    """Held while transactions end: a beat of one that has just ended would count as its loss."""

    @classmethod
    def open(cls, stream: Stream, size: int) -> Batch:
        """Open the transactions, as many as may be opened at once, and give each its write id."""
        runtime, store = stream.runtime, stream.runtime.metastore
        settings = runtime.settings
        opening = partial(
            store.open_txns,
            size,
            runtime.user,
            runtime.host,
            max_open=settings.integer("hive.max.open.txns"),
            max_batch=settings.integer("hive.txn.max.open.batch"),
        )
        txn_ids = with_known_server(opening, runtime)
        try:
            write_ids = store.allocate_write_ids(txn_ids, stream.table.name)
            _require_consecutive(write_ids)
        except BaseException:
            release(partial(store.abort_txns, txn_ids, "streaming batch failed"), runtime)
            raise
        stream.statistics.metastore_calls += 2
        interval = settings.seconds("hive.txn.timeout") / 2
        heartbeat = Heartbeat(runtime=runtime, txn_id=txn_ids[0], interval=interval)
        directory = AcidDirectory(DirectoryKind.DELTA, write_ids[0], write_ids[-1])
        batch = cls(
            stream=stream,
            txn_ids=txn_ids,
            write_ids=write_ids,
            heartbeat=heartbeat,
            deltas=Deltas(stream=stream, directory=directory),
            states=[State.INACTIVE] * len(txn_ids),
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
        """Tell whether a transaction has begun and not ended."""
        return not self._dead and self._current >= 0 and self.states[self._current] is State.OPEN

    @property
    def is_closed(self) -> bool:
        """Tell whether nothing more can be done with the batch."""
        return self._dead

    @property
    def txn_id(self) -> int:
        """The current transaction."""
        return self.txn_ids[self._current]

    @property
    def write_id(self) -> int:
        """That of the current transaction."""
        return self.write_ids[self._current]

    # -- what can be done
    def begin(self) -> None:
        """Take the next transaction and its lock."""
        if not self.remaining:
            raise InvalidTransactionState("no transaction of the batch is left: open another")
        self._current += 1
        stream = self.stream
        name = stream.table.name
        partition = self.deltas.static_name() if stream.partition is not None else None
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
        self._or_die(lambda: self.deltas.begin(self.write_id))
        self._rows = 0
        self.states[self._current] = State.OPEN

    def write(self, records: Records, size: int) -> None:
        """Take records into the open transaction; the last of many go to the disk at once."""
        self.require_open()
        self._rows += len(records)
        if self.deltas.take(records, size):
            self.stream.statistics.auto_flushes += 1
            self._or_die(self._flush)

    def commit(self, partitions: Collection[str] = (), note: tuple[str, str] | None = None) -> None:
        """Flush and commit the open transaction.

        ``partitions`` are others that it has written; those that are missing are added. ``note``
        is a property of the table that the commit sets, and its value.
        """
        self.require_open()
        if partitions and not self.deltas.is_empty:
            raise StreamingException(
                "a connection that commits what others have written must write nothing itself: its "
                "delta, which has no statement id, would hide theirs from readers"
            )
        self._or_die(self._flush)
        self._or_die(self.deltas.publish)
        self._or_die(lambda: self._commit(partitions, note))
        self.stream.statistics.committed_transactions += 1

    def abort(self) -> None:
        """Roll the open transaction back; what it has written already stays invisible."""
        if self._dead:
            return
        self.require_open()
        self.deltas.forget()
        self._abort({self.txn_id})

    def close(self) -> None:
        """Abort what has not ended, close the files. May be called again."""
        if self._dead:
            return
        open_txns = self._left()
        try:
            if open_txns:
                self._abort(set(open_txns))
        finally:
            self._end()

    # -- inside
    def _flush(self) -> None:
        self.deltas.flush(self.write_id)

    def _commit(self, partitions: Collection[str], note: tuple[str, str] | None) -> None:
        stream, txn_id = self.stream, self.txn_id
        store, exclusive = stream.runtime.metastore, stream.runtime.settings
        for name in partitions:
            self.deltas.home(name)
        touched = {*self.deltas.touched, *partitions}
        noted = TableNote(stream.table.name, *note) if note else None
        try:
            self.heartbeat.check()
            if stream.table.partition_columns and stream.partition is None and touched:
                store.add_dynamic_partitions(
                    txn_id, self.write_id, stream.table.name, sorted(touched), Operation.INSERT
                )
                stream.statistics.metastore_calls += 1
            with self._ending:
                store.commit_txn(
                    txn_id,
                    exclusive_write=exclusive.flag("hive.txn.xlock.write"),
                    entries=CommitEntries(
                        note=noted, writes=[self._done(are_counted=not partitions)]
                    ),
                )
                self.states[self._current] = State.COMMITTED
            stream.statistics.metastore_calls += 1
        except CommitUnknown:
            # To abort what may be committed could destroy it.
            self.states[self._current] = State.COMMITTED
            self.deltas.settle()
            raise
        except TransactionLost as error:
            raise TransactionError(
                f"Aborted transaction cannot be committed: {error.message}"
            ) from error
        self.deltas.touched.clear()
        self.deltas.settle()

    def _done(self, *, are_counted: bool) -> TableWrite:
        """Return what the transaction did; what others have written for it is not counted."""
        runtime = self.stream.runtime
        rows = self._rows if are_counted else None
        return TableWrite(
            table=self.stream.table.name,
            write_id=self.write_id,
            operation="STREAM",
            counts=RowCounts(inserted=rows, files=None, bytes=None),
            user=runtime.user,
            host=runtime.host,
            program=runtime.query_id or runtime.program,
        )

    def _abort(self, txn_ids: Collection[int]) -> None:
        with self._ending:
            runtime = self.stream.runtime
            release(partial(runtime.metastore.abort_txns, txn_ids, "streaming abort"), runtime)
            for number, txn_id in enumerate(self.txn_ids):
                if txn_id in txn_ids:
                    self.states[number] = State.ABORTED
        self.stream.statistics.metastore_calls += 1
        self.stream.statistics.aborted_transactions += len(txn_ids)

    def _left(self) -> list[int]:
        """Return the transactions that have not ended, also one whose lock was not given."""
        going = (State.INACTIVE, State.OPEN)
        pairs = zip(self.txn_ids, self.states, strict=True)
        return [txn_id for txn_id, state in pairs if state in going]

    def _beat(self) -> None:
        with self._ending:
            if open_txns := self._left():
                self.stream.runtime.metastore.heartbeat_txns(open_txns)

    def require_open(self) -> None:
        """InvalidTransactionState unless a transaction has begun, and the metastore knows it."""
        if self.heartbeat.lost is not None and not self._dead:
            self.close()
        if self._dead:
            raise InvalidTransactionState(_CLOSED) from self.heartbeat.lost
        if not self.is_open:
            raise InvalidTransactionState(NOT_OPEN)

    def _or_die(self, step: Callable[[], None]) -> None:
        run_or_close(step, self.close)

    def _end(self) -> None:
        self._dead = True
        self.heartbeat.stop()
        self.deltas.close()


def _require_consecutive(write_ids: Sequence[int]) -> None:
    """TransactionError unless all write ids from the first to the last are the batch's own.

    The batch's directory is named by the first and the last, and whatever others write under one
    in between would count as covered by it: readers would leave their rows out.
    """
    if list(write_ids) != list(range(write_ids[0], write_ids[0] + len(write_ids))):
        raise TransactionError(
            f"the metastore gave a batch of transactions the write ids {write_ids[0]} to "
            f"{write_ids[-1]}, and some in between to others. Begin the transaction again"
        )
