"""One transaction that somebody else opened and will commit: only its files are written here."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from hivesql_executor.streaming.batch import NOT_OPEN, State
from hivesql_executor.streaming.deltas import Deltas, Stream, run_or_close
from hivesql_executor.streaming.records import Records
from hivesql_planner.acid.layout import AcidDirectory, DirectoryKind
from hivesql_planner.streaming_errors import InvalidTransactionState, StreamingException


@dataclass(slots=True, kw_only=True)
class Unmanaged:
    """The part of a transaction that one connection writes: no locks, no heartbeat, no commit.

    Partitions that are not there are written all the same; who commits adds them.
    """

    stream: Stream
    write_id: int
    deltas: Deltas
    state: State = State.INACTIVE

    @classmethod
    def of(cls, stream: Stream, write_id: int, statement_id: int) -> Unmanaged:
        """Return a part under a write id and, unless it is -1, a statement id of its own."""
        directory = AcidDirectory(DirectoryKind.DELTA, write_id, write_id, statement_id)
        deltas = Deltas(stream=stream, directory=directory, reports_only=True)
        return cls(stream=stream, write_id=write_id, deltas=deltas)

    @property
    def txn_ids(self) -> tuple[int, ...]:
        """Not known here: that of whoever commits is told as -1."""
        return (-1,)

    @property
    def write_ids(self) -> tuple[int, ...]:
        """The only one."""
        return (self.write_id,)

    @property
    def txn_id(self) -> int:
        """Not known here."""
        return -1

    @property
    def states(self) -> Sequence[State]:
        """Return the state of the only transaction."""
        return [self.state]

    @property
    def remaining(self) -> int:
        """Transactions that have not begun."""
        return 1 if self.state is State.INACTIVE else 0

    @property
    def is_open(self) -> bool:
        """Tell whether records are taken."""
        return self.state is State.OPEN

    def begin(self) -> None:
        """Take records from now on."""
        self.state = State.OPEN

    def write(self, records: Records, size: int) -> None:
        """Take records."""
        self.require_open()
        if self.deltas.take(records, size):
            self.stream.statistics.auto_flushes += 1
            run_or_close(lambda: self.deltas.flush(self.write_id), self._die)

    def commit(self, partitions: Collection[str] = (), note: tuple[str, str] | None = None) -> None:
        """Bring everything to the disk: then it may be committed."""
        if partitions or note:
            raise StreamingException("partitions and keys are for the connection that commits")
        self.require_open()
        run_or_close(lambda: self.deltas.flush(self.write_id), self._die)
        run_or_close(self.deltas.publish, self._die)
        self.deltas.settle()
        run_or_close(self.deltas.close, self._die)
        self.state = State.PREPARED

    def abort(self) -> None:
        """Take no more, and take back what is written: the owner may commit all the same."""
        if self.state is State.OPEN:
            self._die()

    def close(self) -> None:
        """Abort what is not prepared. May be called again."""
        if self.state in (State.INACTIVE, State.OPEN):
            self._die()

    def require_open(self) -> None:
        """InvalidTransactionState unless the transaction has begun and not ended."""
        if not self.is_open:
            raise InvalidTransactionState(NOT_OPEN)

    def _die(self) -> None:
        self.state = State.ABORTED
        self.deltas.forget()
        self.deltas.discard()
