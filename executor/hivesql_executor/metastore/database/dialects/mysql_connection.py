"""Connections to MariaDB and MySQL that are there soon, or given up."""

from __future__ import annotations

import socket
import struct
import time
from typing import Any

from pymysql.connections import Connection
from pymysql.constants import CR
from pymysql.err import InternalError, OperationalError

from hivesql_executor.metastore.database.dialects.terms import (
    PROBES,
    SILENCE_SECONDS,
    NoAnswer,
    no_answer,
)

_GREETING_BYTES = 1 << 20
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


class LimitedConnection(Connection):  # type: ignore[misc]
    """A connection whose ``connect_timeout`` counts until it has logged in.

    PyMySQL's own ends with TCP's handshake; then any silence is waited for, and any size believed.
    """

    _end: float | None = None
    _bytes_left = 0

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
        self._current_timeout = self._read_timeout

    def _read_bytes(self, num_bytes: int) -> Any:
        if self._end is None:
            return self._read_in_time(num_bytes)
        self._bytes_left -= num_bytes
        if self._bytes_left < 0:
            raise self._refusal(f"its greeting has more than {_GREETING_BYTES} bytes")
        data = b""
        while len(data) < num_bytes:
            try:
                self._sock.settimeout(self._seconds_left(self._end))
                part = self._rfile.read1(num_bytes - len(data))
            except TimeoutError as error:
                raise self._refusal(
                    f"it did not greet within {self.connect_timeout:g} seconds"
                ) from error
            if not part:
                # As it says of a connection that ended: one that is tried again.
                return super()._read_bytes(num_bytes)
            data += part
        return data

    def _read_in_time(self, num_bytes: int) -> Any:
        try:
            return super()._read_bytes(num_bytes)
        except OperationalError as error:
            if not isinstance(error.__context__, TimeoutError):
                raise
            raise _NoAnswer(CR.CR_SERVER_LOST, no_answer(self._read_timeout or 0.0)) from error

    def _seconds_left(self, end: float) -> float | None:
        left = end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return None if left == float("inf") else left

    def _refusal(self, why: str) -> OperationalError:
        return OperationalError(
            CR.CR_CONN_HOST_ERROR, f"Can't connect to MySQL server on {self.host!r}: {why}"
        )
