"""Connections to MariaDB and MySQL that are there soon, or given up."""

from __future__ import annotations

import io
import selectors
import socket
import struct
import time
from contextlib import closing, suppress
from typing import Any

from pymysql.connections import Connection
from pymysql.constants import CR
from pymysql.err import InternalError, MySQLError, OperationalError

from hivesql_executor.beats import GRACE_SECONDS, LOOK_SECONDS, Patience, is_cancelled
from hivesql_executor.metastore.database.dialects.terms import (
    PROBES,
    SILENCE_SECONDS,
    NoAnswer,
    no_answer,
)

_GREETING_BYTES = 1 << 20
_KILL_SECONDS = 5.0
# Needs no call of the system to be made, unlike the default; Windows lacks it.
_Selector = getattr(selectors, "PollSelector", selectors.SelectSelector)
_NONSENSE = (IndexError, ValueError, TypeError, struct.error, AssertionError, InternalError)
"""What PyMySQL stumbles over in answers that are none of its protocol."""


def _watch(sock: socket.socket) -> None:
    """Let the system give a connection up whose server does not acknowledge anything any more."""
    if sock.family == socket.AF_UNIX:
        return
    pause = SILENCE_SECONDS // (PROBES + 1)
    options = {
        "TCP_USER_TIMEOUT": SILENCE_SECONDS * 1000, "TCP_KEEPIDLE": pause,
        "TCP_KEEPINTVL": pause, "TCP_KEEPCNT": PROBES,
    }  # fmt: skip
    for name, value in options.items():
        if hasattr(socket, name):
            sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


class _NoAnswer(OperationalError, NoAnswer):  # type: ignore[misc]
    pass


class _Answers(io.RawIOBase):
    """What the server says, as far as it says it in time."""

    def __init__(self, connection: LimitedConnection, sock: Any) -> None:
        super().__init__()
        self._connection, self._socket = connection, sock

    def readable(self) -> bool:
        """Say yes."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read what is there; TimeoutError where nothing comes."""
        # What is pending was taken off the network, and is not decrypted yet.
        if not getattr(self._socket, "pending", int)():
            self._connection.await_server(self._socket, selectors.EVENT_READ)
        return int(self._socket.recv_into(buffer))


class LimitedConnection(Connection):  # type: ignore[misc]
    """A connection whose ``connect_timeout`` counts until it has logged in.

    PyMySQL's own ends with TCP's handshake; then any silence is waited for, and any size believed.
    For a statement that was cancelled an answer is waited for a second more.
    """

    _end: float | None = None
    _bytes_left = 0
    _reader: io.BufferedReader | None = None
    _address = ""
    """Host and port of this end, as the server knows its clients; empty where they are local."""

    def __init__(self, **options: Any) -> None:
        self._options = options
        super().__init__(**options)

    @property
    def _rfile(self) -> io.BufferedReader | None:
        """Return what PyMySQL reads from: what it opens itself waits, and cannot be interrupted."""
        return self._reader

    @_rfile.setter
    def _rfile(self, opened: io.BufferedReader | None) -> None:
        self._reader = opened and io.BufferedReader(_Answers(self, self._sock))
        if opened is not None:
            opened.close()

    def connect(self, sock: socket.socket | None = None) -> None:
        """Connect and log in; OperationalError 2003 for what is late, or no such server."""
        self._end = time.monotonic() + (self.connect_timeout or float("inf"))
        self._bytes_left = _GREETING_BYTES
        try:
            super().connect(sock)
        except _NONSENSE as error:
            raise self._refusal(f"it does not speak MySQL's protocol: {error}") from error
        finally:
            self._end = None
        _watch(self._sock)
        # What follows has its own time, and not what was left of this one.
        self._sock.settimeout(self._read_timeout)
        if self._sock.family != getattr(socket, "AF_UNIX", None):
            self._address = ":".join(map(str, self._sock.getsockname()[:2]))

    def await_server(self, sock: Any, event: int) -> None:
        """Wait until something can be read or sent; TimeoutError where that takes too long."""
        seconds = self._read_timeout if event == selectors.EVENT_READ else self._write_timeout
        end, patience = self._end or time.monotonic() + (seconds or float("inf")), Patience()
        if self._end is not None and end < float("inf"):
            # The handshake of TLS comes next, which asks nobody here.
            sock.settimeout(max(end - time.monotonic(), LOOK_SECONDS))
        with _Selector() as selector:
            selector.register(sock, event)
            while not selector.select(max(min(end - time.monotonic(), LOOK_SECONDS), 0)):
                if time.monotonic() >= end or patience.is_over():
                    raise TimeoutError

    def _read_bytes(self, num_bytes: int) -> Any:
        if self._end is not None:
            self._bytes_left -= num_bytes
            if self._bytes_left < 0:
                raise self._refusal(f"its greeting has more than {_GREETING_BYTES} bytes")
        try:
            return super()._read_bytes(num_bytes)
        except OperationalError as error:
            if not isinstance(error.__context__, TimeoutError):
                raise
            if self._end is not None:
                raise self._refusal(
                    f"it did not greet within {self.connect_timeout:g} seconds"
                ) from error
            raise self._give_up(self._read_timeout) from error

    def _write_bytes(self, data: bytes) -> None:
        sock, rest = self._sock, memoryview(data)
        try:
            while rest:
                self.await_server(sock, selectors.EVENT_WRITE)
                rest = rest[sock.send(rest) :]
        except TimeoutError as error:
            raise self._give_up(self._write_timeout) from error
        except OSError as error:
            self._force_close()
            raise OperationalError(
                CR.CR_SERVER_GONE_ERROR, f"MySQL server has gone away ({error!r})"
            ) from error

    def _give_up(self, seconds: float | None) -> OperationalError:
        """End it here and at the server, which may wait for a lock, and would keep its own."""
        self._force_close()
        longest = GRACE_SECONDS if is_cancelled() else min(_KILL_SECONDS, seconds or _KILL_SECONDS)
        options = {"connect_timeout": longest, "read_timeout": longest, "write_timeout": longest}
        if self._address and not isinstance(self, _Killer):
            with suppress(MySQLError, OSError), closing(_Killer(**self._options | options)) as kill:
                kill.end_client(self.thread_id(), self._address)
        return _NoAnswer(CR.CR_SERVER_LOST, no_answer(seconds or 0.0))

    def _refusal(self, why: str) -> OperationalError:
        return OperationalError(
            CR.CR_CONN_HOST_ERROR, f"Can't connect to MySQL server on {self.host!r}: {why}"
        )


class _Killer(LimitedConnection):
    """A connection that ends another one."""

    def end_client(self, number: int, address: str) -> None:
        """End it where its client has that address; behind a proxy numbers may be another's."""
        with self.cursor() as cursor:
            query = "SELECT host FROM information_schema.processlist WHERE id = %s"
            cursor.execute(query, (number,))
            if (address,) in cursor.fetchall():
                cursor.execute("KILL CONNECTION %s", (number,))
