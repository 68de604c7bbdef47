"""Calls to a Hive Metastore: connections, a second address, and what a lost answer means."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from hivesql_executor.beats import is_cancelled, wait_for_answers
from hivesql_executor.hadoop_user import hadoop_user
from hivesql_executor.metastore.hms.access.transports import Access
from hivesql_executor.metastore.hms.failures import UNREACHABLE, failure
from hivesql_executor.metastore.thrift_interface import load_interface
from hivesql_planner.errors import (
    CommitUnknown,
    ExecutionError,
    HiveSqlError,
    NotSupported,
    SemanticError,
    SessionClosed,
)

if TYPE_CHECKING:
    from hivesql_executor.metastore.hms.access.connection import Connection
    from hivesql_executor.metastore.hms.access.limits import Limits

CATALOG = "hive"
"""The only catalog that tables are looked for in."""


@cache
def idl() -> Any:
    """Load the module with all structs and the service; SemanticError without the extra ``hms``."""
    path = Path(__file__).with_name("hive_metastore.thrift")
    return load_interface(path, needed_by="a Hive Metastore", extra="hms")


_DEFAULT_PORT = 9083
# A connection that was idle for longer is asked something harmless before it is used.
_IDLE_SECONDS = 2.0
# What is no metastore often waits for more, so the first words get less than the time of a call.
_FIRST_ANSWER_SECONDS = 20.0
_UNKNOWN_METHOD, _UNREADABLE = 1, 7
_ROUNDS = 3


def addresses(uris: str) -> tuple[tuple[str, int], ...]:
    """Hosts and ports of ``thrift://host:port``, several separated by commas."""
    places = []
    for uri in filter(None, (part.strip() for part in uris.split(","))):
        parts = urlsplit(uri)
        if parts.scheme != "thrift" or not parts.hostname:
            raise SemanticError(f"{uri} is not the address of a metastore: thrift://host:9083")
        try:
            port = parts.port
        except ValueError as error:
            raise SemanticError(
                f"{uri} is not the address of a metastore ({error}): thrift://host:9083"
            ) from error
        places.append((parts.hostname, port or _DEFAULT_PORT))
    return tuple(places)


class Client:
    """A pool of connections to one metastore that may have several addresses."""

    def __init__(self, uris: str, *, timeout: float, access: Access | None = None) -> None:
        self._addresses = addresses(uris)
        idl()
        self._uris, self._timeout, self._access = uris, timeout, access or Access()
        self._idle: list[tuple[float, Connection]] = []
        self._first_seconds = min(timeout, _FIRST_ANSWER_SECONDS)
        self._guard = threading.Lock()
        self._closed = False
        self._changes = 0
        """How many calls have changed something, or may have."""
        try:
            self.version: str = self.call("getVersion", again=True)
        except BaseException:
            self.close()
            raise

    @property
    def is_old(self) -> bool:
        """Tell whether the server is Hive 3, which knows fewer calls."""
        return self.version.startswith(("3.", "2."))

    def call(self, method: str, *arguments: Any, again: bool = False) -> Any:
        """Call a method; what the server throws is raised as an error of ours.

        ``again``: calling twice does the same as once, so a lost answer is asked for anew. Without
        it a lost answer is CommitUnknown.
        """
        end = time.monotonic() + self._timeout
        for attempt in range(1, _ROUNDS + 1):
            connection = self._take()
            try:
                # What nobody waits for may be done all the same: only questions are given up.
                with nullcontext() if again else wait_for_answers():
                    answer = connection.ask(method, *arguments, seconds=self._timeout)
            except BaseException as error:
                if not isinstance(error, Exception):
                    connection.close()
                    raise
                if _is_answer(error, may_be_unfinished=again):
                    if _was_read_whole(error):
                        self._give_back(connection)
                    else:
                        connection.close()
                    raise self._failure(method, error, again=again) from error
                connection.close()
                if again and attempt < _ROUNDS and time.monotonic() < end and not is_cancelled():
                    continue
                self._changes += not again
                raise self._unanswered(method, error, again=again) from error
            self._give_back(connection)
            self._changes += not again
            return answer
        raise AssertionError("unreachable")

    @contextmanager
    def noticing_parts(self) -> Iterator[None]:
        """Raise CommitUnknown where the server is gone after a part of the block's changes."""
        before = self._changes
        try:
            yield
        except ExecutionError as error:
            if error.code != UNREACHABLE or self._changes == before:
                raise
            raise CommitUnknown(
                f"the metastore does not answer any more ({error.message}), after it has done a "
                "part; look before running the statement again"
            ) from error

    def close(self) -> None:
        """Close all connections."""
        with self._guard:
            idle, self._idle, self._closed = self._idle, [], True
        for _, connection in idle:
            connection.close()

    def _failure(self, method: str, error: Exception, *, again: bool) -> HiveSqlError:
        from thriftpy2.thrift import TApplicationException

        if isinstance(error, TApplicationException) and error.type == _UNKNOWN_METHOD:
            return NotSupported(f"{method} by this Hive Metastore (version {self.version})")
        if isinstance(error, HiveSqlError):
            return error
        failed = failure(method, error, again=again)
        self._changes += isinstance(failed, CommitUnknown)
        return failed

    def _unanswered(self, method: str, error: Exception, *, again: bool) -> Exception:
        if again:
            return ExecutionError(
                f"the metastore at {self._uris} does not answer {method} ({error}). Check that it "
                "runs, then run the statement again",
                code=UNREACHABLE,
            )
        return CommitUnknown(
            f"the metastore's answer to {method} was lost ({error}); the change may or may not "
            "have happened. Look before running the statement again"
        )

    def _take(self) -> Connection:
        if self._access.login is not None:
            self._access.login.refresh()
        while True:
            with self._guard:
                if self._closed:
                    raise SessionClosed
                since, connection = self._idle.pop() if self._idle else (0.0, None)
            if connection is None:
                return self._connect()
            if time.monotonic() - since < _IDLE_SECONDS or self._answers(connection):
                return connection
            connection.close()

    def _answers(self, connection: Connection) -> bool:
        try:
            connection.ask("getVersion", seconds=self._first_seconds)
        except Exception:  # noqa: BLE001 - whatever it is, another connection is needed
            return False
        return True

    def _give_back(self, connection: Connection) -> None:
        with self._guard:
            if not self._closed:
                self._idle.append((time.monotonic(), connection))
                return
        connection.close()

    def _connect(self) -> Connection:
        problems: list[str] = []
        refusals: list[HiveSqlError] = []
        for host, port in self._addresses:
            try:
                connection = self._open(host, port)
            except HiveSqlError as error:
                refusals.append(error)
                problems.append(f"{host}:{port} ({error.message})")
            except Exception as error:  # noqa: BLE001 - the next address may work
                # Thrift's own error only tells the address again.
                problems.append(f"{host}:{port} ({error.__context__ or error})")
            else:
                # The next connection waits for none that did not answer this time.
                others = (place for place in self._addresses if place != (host, port))
                self._addresses = ((host, port), *others)
                return connection
        places = ", ".join(problems)
        if len(refusals) == len(problems):
            # What is missing is the same at all of them, and is said with what to do.
            raise ExecutionError(
                f"no login at the metastore at {places}", code=UNREACHABLE
            ) from refusals[0]
        raise ExecutionError(
            f"no metastore could be reached at {places}. Check the address, and that it runs and "
            f"takes connections {self._access.advice}",
            code=UNREACHABLE,
        )

    def _open(self, host: str, port: int) -> Connection:
        from hivesql_executor.metastore.hms.access.limits import Limits

        limits, seconds = Limits(self._access.max_answer_bytes), self._first_seconds
        limits.begin(seconds)
        connection = self._greet(self._access, host, port, limits)
        try:
            if self._access.tells_user:
                # As Hive's client does: the server makes directories in this user's name.
                user = self._access.user or hadoop_user()
                connection.ask("set_ugi", user, [], seconds=seconds)
        except BaseException:
            connection.close()
            raise
        return connection

    def _greet(self, access: Access, host: str, port: int, limits: Limits) -> Connection:
        """Connect and log in, for another user by a connection of our own."""
        from hivesql_executor.metastore.hms.access.connection import Connection

        if access.login is None or access.proxy_user is None:
            return Connection(idl().ThriftHiveMetastore, access.open(host, port, limits), limits)
        from hivesql_executor.metastore.hms.access.proxy import token_for

        own = replace(access, proxy_user=None)
        real = self._greet(own, host, port, limits)
        try:
            name = access.login.user or hadoop_user()
            with token_for(access.proxy_user, name, real, limits) as login:
                return self._greet(replace(own, login=login), host, port, limits)
        finally:
            real.close()


def _was_read_whole(error: Exception) -> bool:
    """Tell whether the server took in all of the request.

    One that it could not read, a word of a later Hive in it say, leaves bytes behind, with which
    it would begin to read the next request.
    """
    from thriftpy2.thrift import TApplicationException

    return not isinstance(error, TApplicationException) or error.type == _UNKNOWN_METHOD


def _is_answer(error: Exception, *, may_be_unfinished: bool) -> bool:
    """Tell whether the server refused the call, by what it said.

    All else broke on the way, or made no sense: then nothing is known of the call. A server that
    failed inside of a call may have carried it out, which counts where it matters.
    """
    from thriftpy2.thrift import TApplicationException

    if isinstance(error, TApplicationException):
        return may_be_unfinished or error.type in (_UNKNOWN_METHOD, _UNREADABLE)
    is_of_interface = getattr(idl(), type(error).__name__, None) is type(error)
    return is_of_interface or isinstance(error, HiveSqlError)
