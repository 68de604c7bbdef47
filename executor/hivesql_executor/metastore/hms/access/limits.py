"""How long a metastore may take for an answer, and how large the answer may be."""

from __future__ import annotations

import io
import selectors
import socket
import time
from typing import TYPE_CHECKING, Any

from thriftpy2.transport import TSocket, TSSLSocket, TTransportException

from hivesql_executor.beats import LOOK_SECONDS, Patience

_MAX_ANSWER_BYTES = 1 << 28
_AT_ONCE = 1 << 20


class Limits:
    """Limits of the call that a connection waits for: when it ends, and what may still come.

    A socket's own time-out begins anew with each byte, and Thrift believes any length it is told.
    """

    def __init__(self, max_bytes: int | None = None) -> None:
        self._max_bytes = _MAX_ANSWER_BYTES if max_bytes is None else max_bytes
        self._end, self._left, self._seconds = 0.0, 0, 0.0

    def begin(self, seconds: float) -> None:
        """Begin a call whose answer must be there after so many seconds."""
        self._end, self._left = time.monotonic() + seconds, self._max_bytes
        self._seconds = seconds

    def seconds_left(self) -> float:
        """Tell what is left of the call's time; TimeoutError when nothing is."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError(f"the answer was not there after {self._seconds:g} seconds")
        return left

    def expect(self, size: int) -> int:
        """Tell how much to receive at once of ``size`` bytes that are waited for."""
        if size > self._max_bytes:
            raise self._too_large(f"of {size} bytes is announced")
        return min(size, _AT_ONCE)

    def count(self, size: int) -> None:
        """Count bytes that came; TTransportException when they are too many."""
        self._left -= size
        if self._left < 0:
            raise self._too_large(f"has more than {self._max_bytes} bytes")

    def _too_large(self, what: str) -> TTransportException:
        return TTransportException(
            TTransportException.UNKNOWN,
            f"an answer {what}, and hivesql.metastore.answer.max.bytes allows {self._max_bytes}",
        )


if TYPE_CHECKING:
    _Socket = TSocket
else:
    _Socket = object


class LimitedSocket(_Socket):
    """What a socket of Thrift does otherwise: it reads and writes within the limits."""

    sock: Any

    def __init__(self, host: str, port: int, limits: Limits, **options: Any) -> None:
        super().__init__(host, port, **options)  # type: ignore[no-untyped-call]
        self.limits = limits

    def read(self, sz: int) -> bytes:
        """Receive some bytes, at most ``sz``."""
        size = self.limits.expect(sz)
        _await_bytes(self.limits, self.sock)
        data = _within(self.limits, self.sock, lambda: self.sock.recv(size))
        if not data:
            raise TTransportException(
                TTransportException.END_OF_FILE, "the connection was closed before the answer ended"
            )
        self.limits.count(len(data))
        return bytes(data)

    def write(self, buf: bytes) -> None:
        """Send all of it."""
        _within(self.limits, self.sock, lambda: self.sock.sendall(buf))


class PlainSocket(LimitedSocket, TSocket):
    """A socket without TLS, within limits."""


class EncryptedSocket(LimitedSocket, TSSLSocket):
    """A socket with TLS, within limits."""


class LimitedStream:
    """A socket as Python's client of HTTP sees it, within limits."""

    def __init__(self, sock: socket.socket, limits: Limits) -> None:
        self._sock, self._limits = sock, limits

    def makefile(self, mode: str) -> io.BufferedReader:
        """Give what the answer is read from."""
        return io.BufferedReader(_Reading(self._sock, self._limits))

    def sendall(self, data: bytes) -> None:
        """Send all of it."""
        _within(self._limits, self._sock, lambda: self._sock.sendall(data))

    def close(self) -> None:
        """Close the socket."""
        self._sock.close()


class _Reading(socket.SocketIO):
    def __init__(self, sock: socket.socket, limits: Limits) -> None:
        # As socket.makefile does, so that the socket lives as long as its readers.
        sock._io_refs += 1  # type: ignore[attr-defined]
        super().__init__(sock, "r")
        self._socket, self._limits = sock, limits

    def readinto(self, buffer: Any) -> int | None:
        _await_bytes(self._limits, self._socket)
        size: int | None = _within(
            self._limits, self._socket, lambda: super(_Reading, self).readinto(buffer)
        )
        self._limits.count(size or 0)
        return size


def _await_bytes(limits: Limits, sock: Any) -> None:
    """Wait until something can be read; TimeoutError where the call's statement is cancelled."""
    has_some = getattr(sock, "pending", None)
    if has_some is not None and has_some():
        # Taken off the network, and not decrypted yet.
        return
    with selectors.DefaultSelector() as selector:
        selector.register(sock, selectors.EVENT_READ)
        patience = Patience()
        while not selector.select(min(limits.seconds_left(), LOOK_SECONDS)):
            if patience.is_over():
                raise TimeoutError("the statement was cancelled while the answer was waited for")


def _within(limits: Limits, sock: Any, work: Any) -> Any:
    sock.settimeout(limits.seconds_left())
    try:
        return work()
    except TimeoutError:
        limits.seconds_left()
        raise
