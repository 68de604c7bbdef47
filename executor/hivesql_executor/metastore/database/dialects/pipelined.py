"""A connection of psycopg on which statements go to the server many at once, prepared there.

Each time that a client waits for a server both of them fall asleep and are woken, which costs two
processors more than what the statements do.
"""

from __future__ import annotations

import functools
import itertools
import secrets
import select
import time
from collections.abc import Generator, Sequence
from contextlib import suppress
from typing import Any

import psycopg
from psycopg import pq
from psycopg.adapt import PyFormat, Transformer
from psycopg.errors import InFailedSqlTransaction, error_from_result
from sqlalchemy.dialects.postgresql.psycopg import dialect

from hivesql_executor.beats import GRACE_SECONDS, LOOK_SECONDS, Patience, is_cancelled
from hivesql_executor.metastore.database.dialects.execution import Call
from hivesql_executor.metastore.database.dialects.terms import ANSWER_SECONDS, NoAnswer, no_answer

_CANCEL_SECONDS = 5.0
_COMMIT = b"COMMIT"
_TEXT = PyFormat.TEXT
_BROKEN = pq.ConnStatus.BAD
_IDLE = pq.TransactionStatus.IDLE
_FAILED_BEFORE = pq.TransactionStatus.INERROR
_NO_PIPELINE = pq.PipelineStatus.OFF
_FAILED = (pq.ExecStatus.FATAL_ERROR, pq.ExecStatus.PIPELINE_ABORTED)


_Sent = tuple[str, Sequence[Any]]
"""A text, and its values as they go to the server."""


class _NoAnswer(psycopg.OperationalError, NoAnswer):
    pass


class PipelinedConnection(psycopg.Connection[Any]):
    """A connection that begins, and ends, its transactions together with their statements.

    Who sets its ``prepare_threshold`` to None lets it prepare nothing.
    """

    text_dialect = dialect(  # type: ignore[no-untyped-call]
        paramstyle="numeric_dollar"
    )
    """How the texts are written that it takes."""

    def __init__(self, pgconn: Any, *parts: Any, **options: Any) -> None:
        super().__init__(pgconn, *parts, **options)
        self._names: dict[str, bytes] = {}
        # A pooler gives a server's connection to many clients: each has names of its own.
        self._token = secrets.token_hex(6)
        self._numbers = itertools.count(1)
        self._later: list[_Sent] = []
        self._following: bytes | None = None
        self._failure: psycopg.Error | None = None
        self._poll = select.poll()
        self._seconds = ANSWER_SECONDS

    def limit_waiting(self, seconds: float, idle_seconds: float) -> None:
        """Wait so long for each answer; let the server end transactions that idle for longer.

        A client that was stopped in one, or whose host has died, would keep its locks.
        """
        self._seconds = seconds
        self.autocommit = True
        # Services that speak PostgreSQL's protocol need not know the setting.
        with suppress(psycopg.errors.DatabaseError):
            self.execute(f"SET idle_in_transaction_session_timeout = {int(idle_seconds * 1000)}")
        self.autocommit = False

    def wait(self, gen: Any, *parts: Any, **options: Any) -> Any:
        """Wait for what psycopg does itself, for no longer than for other answers."""
        return super().wait(self._limit(gen), *parts, **options)

    def _limit(self, gen: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
        """Give up what is waited for in vain; psycopg says now and then that nothing has come."""
        end, patience = time.monotonic() + self._seconds, Patience()
        try:
            wanted = next(gen)
            while True:
                ready = yield wanted
                if ready is None:
                    # Its client was interrupted, and waits for what was cancelled.
                    end = min(end, time.monotonic() + _CANCEL_SECONDS)
                if not ready and (time.monotonic() >= end or patience.is_over()):
                    self._give_up()
                    raise _NoAnswer(no_answer(self._seconds))
                wanted = gen.send(ready)
        except StopIteration as answer:
            return answer.value

    def _give_up(self) -> None:
        """Close it; what runs in the server goes on there otherwise, and keeps what it has."""
        try:
            if self.pgconn.status != _BROKEN:
                with suppress(psycopg.Error):
                    longest = GRACE_SECONDS if is_cancelled() else _CANCEL_SECONDS
                    self.cancel_safe(timeout=min(longest, self._seconds))
        finally:
            self.close()

    def ask(self, *calls: Call) -> list[tuple[list[Any], int]]:
        """Send what was put off, and calls; the rows of each call, and how many it changed."""
        adapter = Transformer(self)
        answers = []
        sent = [_dump(adapter, call) for call in calls]
        for call, result in zip(calls, self._send(sent)[-len(calls) :], strict=True):
            rows: list[Any] = []
            if call.row is not None:
                adapter.set_pgresult(result)
                rows = adapter.load_rows(0, result.ntuples, call.row)
            answers.append((rows, result.command_tuples or 0))
        return answers

    def put_off(self, call: Call) -> None:
        """Send a call together with whatever is next; it fails there.

        Values that cannot be sent fail here.
        """
        self._later.append(_dump(Transformer(self), call))

    def follow_commit(self, text: str | None) -> None:
        """Send a statement together with the next commit, and after that; None for nothing."""
        self._following = text.encode() if text else None

    def require_followed(self) -> None:
        """Raise what was wrong with the call after the last commit."""
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def cursor(self, *parts: Any, **options: Any) -> Any:
        """Return a cursor, before whose statements comes what was put off."""
        if self._later:
            self._send(())
        return super().cursor(*parts, **options)

    def commit(self) -> None:
        """Commit what was put off too."""
        following, self._following = self._following, None
        if self.pgconn.transaction_status == _FAILED_BEFORE:
            # The server would roll back, and call it a success.
            raise InFailedSqlTransaction("a statement of the transaction has failed before")
        if not self._later and following is None:
            super().commit()
            return
        ends = (_COMMIT, following) if following else (_COMMIT,)
        self._send((), *ends)

    def rollback(self) -> None:
        """Forget what was put off."""
        self._later.clear()
        self._following = None
        if self.pgconn.pipeline_status != _NO_PIPELINE:
            # Who was interrupted has left answers behind, which others would take for theirs.
            self.close()
        # SQLAlchemy rolls back whatever it gives back to its pool, after each commit too.
        if self.pgconn.transaction_status != _IDLE:
            super().rollback()

    def _deallocate(self, name: bytes | None) -> Any:
        # None stands for all: psycopg forgets so what it has prepared, and with it what we have.
        if name is None:
            self._names.clear()
        return super()._deallocate(name)

    def _send(self, calls: Sequence[_Sent], *ends: bytes) -> list[Any]:
        """Send all at once and await the results, of which the first that failed is raised.

        Of the two that may be at the end, the second is looked at later.
        """
        calls, self._later = (*self._later, *calls), []
        pgconn = self.pgconn
        begins = not self.autocommit and pgconn.transaction_status == _IDLE
        is_alone = not (begins or ends) and len(calls) == 1 and calls[0][0] in self._names
        fresh: dict[str, bytes] = {}
        try:
            if not is_alone:
                pgconn.enter_pipeline_mode()
            if begins:
                pgconn.send_query_params(_begin(self.isolation_level), None)
            places, count = self._send_calls(calls, fresh, int(begins))
            for end in ends:
                pgconn.send_query_params(end, None)
                count += 1
            if not is_alone:
                pgconn.pipeline_sync()
            results = self._receive(pgconn, count, is_alone=is_alone)
        except BaseException:
            self._give_up()
            raise
        failures = (
            error_from_result(result, self.info.encoding)
            for result in results
            if result.status in _FAILED
        )
        failure = next(failures, None)
        if failure is None and len(results) < count:
            failure = psycopg.OperationalError("the connection is lost")
        is_committed = (
            len(ends) > 1
            and len(results) >= count - 1
            and results[count - 2].command_status == _COMMIT
        )
        if failure is not None and not is_committed:
            raise failure
        self._failure = failure
        self._names.update(fresh)
        return [results[place] for place in places]

    def _send_calls(
        self, calls: Sequence[_Sent], fresh: dict[str, bytes], count: int
    ) -> tuple[list[int], int]:
        """Send calls after so many others; which results are theirs, and how many there will be."""
        places = []
        for text, values in calls:
            if self.prepare_threshold is None:
                self.pgconn.send_query_params(text.encode(), values)
            else:
                name = self._names.get(text) or fresh.get(text)
                if name is None:
                    # A name is used once: whether it is taken is not known where others failed.
                    name = fresh[text] = f"hivesql_{self._token}_{next(self._numbers)}".encode()
                    self.pgconn.send_prepare(name, text.encode())
                    count += 1
                self.pgconn.send_query_prepared(name, values)
            places.append(count)
            count += 1
        return places, count

    def _receive(self, pgconn: Any, count: int, *, is_alone: bool) -> list[Any]:
        self._flush(pgconn)
        results: list[Any] = []
        while len(results) < count:
            result = self._next(pgconn)
            if result is None:
                return results
            results.append(result)
            while self._next(pgconn) is not None:
                pass
        if not is_alone:
            # The mark at the end, after which there is nothing.
            self._next(pgconn)
            pgconn.exit_pipeline_mode()
        return results

    def _flush(self, pgconn: Any) -> None:
        while pgconn.flush():
            # Who sends much has to read meanwhile, else both sides wait for each other.
            if self._await(pgconn, select.POLLIN | select.POLLOUT) & select.POLLIN:
                pgconn.consume_input()

    def _next(self, pgconn: Any) -> Any:
        while pgconn.is_busy():
            self._await(pgconn, select.POLLIN)
            pgconn.consume_input()
        return pgconn.get_result()

    def _await(self, pgconn: Any, events: int) -> int:
        self._poll.register(pgconn.socket, events)
        end, patience = time.monotonic() + self._seconds, Patience()
        while True:
            left = end - time.monotonic()
            answers = self._poll.poll(max(min(left, LOOK_SECONDS), 0) * 1000)
            if answers:
                ((_, ready),) = answers
                return int(ready)
            if left <= LOOK_SECONDS or patience.is_over():
                raise _NoAnswer(no_answer(self._seconds))


def _dump(adapter: Any, call: Call) -> _Sent:
    return call.text, adapter.dump_sequence(call.values, [_TEXT] * len(call.values))


@functools.cache
def _begin(level: psycopg.IsolationLevel | None) -> bytes:
    return (
        b"BEGIN"
        if level is None
        else f"BEGIN ISOLATION LEVEL {level.name}".replace("_", " ").encode()
    )
