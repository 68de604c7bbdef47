"""The bytes of one client: so many at most, and in so much time, before anything is allocated."""

from __future__ import annotations

import select
import socket
import struct
import threading
import time
from typing import Protocol

from hivesql.server.options import ServerOptions
from hivesql.server.protocol import ProtocolError

_CHUNK = 65536
_LOOK_EVERY = 0.5
GONE = getattr(select, "POLLRDHUP", 0) | select.POLLHUP | select.POLLERR | select.POLLNVAL


class Protection(Protocol):
    """What signs or encrypts messages."""

    def seal(self, message: bytes) -> bytes: ...

    def open(self, frame: bytes) -> bytes: ...


class ClientStream:
    """A socket whose messages are bounded in bytes and in time.

    Messages stand alone, or in ``framed`` streams after their length in 4 bytes, as SASL has them.
    """

    def __init__(self, connection: socket.socket, options: ServerOptions) -> None:
        self._socket = connection
        self._options = options
        self._buffer = bytearray()
        self._frame_rest = 0
        self._budget = 0
        self._deadline = 0.0
        self.is_framed = False
        self.protection: Protection | None = None
        """None where messages travel as they are."""
        self._opened = bytearray()

    def replace_socket(self, connection: socket.socket) -> None:
        """Go on with the same connection, encrypted."""
        self._socket = connection

    def begin_message(self, seconds: float) -> None:
        """Let the client send a message of the most bytes, in so many seconds."""
        self._budget = self._options.most_frame_bytes
        self._deadline = time.monotonic() + seconds

    def await_message(self, stop: threading.Event, seconds: float | None) -> bool:
        """Wait until a message comes; False when none does in time, or the server is to stop."""
        end = None if seconds is None else time.monotonic() + seconds
        while not self._has_bytes():
            if stop.is_set() or (end is not None and time.monotonic() > end):
                return False
            poll = select.poll()
            poll.register(self._socket, select.POLLIN)
            if poll.poll(_LOOK_EVERY * 1000):
                return True
        return True

    def _has_bytes(self) -> bool:
        pending = getattr(self._socket, "pending", None)
        return bool(self._buffer or self._opened) or (pending is not None and pending() > 0)

    def is_gone(self) -> bool:
        """Tell whether the client has closed its side."""
        poll = select.poll()
        poll.register(self._socket, GONE)
        return any(event & GONE for _, event in poll.poll(0))

    def read(self, size: int) -> bytes:
        """Return the next bytes of a message, as a protocol of Thrift reads them."""
        if size < 0 or size > self._budget:
            raise ProtocolError(
                f"a message with more than {self._options.most_frame_bytes} bytes, or {size} of one"
            )
        if self.protection is None and len(self._buffer) >= size:
            # Some hundred times for each message: the shortest way where the bytes are here.
            if not self.is_framed:
                return self._take(size)
            if self._frame_rest >= size:
                self._frame_rest -= size
                return self._take(size)
        if not self.is_framed:
            return self.read_exactly(size)
        if self.protection is not None:
            return self._read_protected(self.protection, size)
        parts = []
        while size > 0:
            if self._frame_rest == 0:
                self._frame_rest = self._read_length(self._options.most_frame_bytes)
                continue
            part = self.read_exactly(min(size, self._frame_rest))
            self._frame_rest -= len(part)
            size -= len(part)
            parts.append(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _read_protected(self, protection: Protection, size: int) -> bytes:
        while len(self._opened) < size:
            length = self._read_length(self._options.most_frame_bytes)
            self._opened += protection.open(self.read_exactly(length))
        data = bytes(self._opened[:size])
        del self._opened[:size]
        return data

    def _read_length(self, most: int) -> int:
        (length,) = struct.unpack("!i", self.read_exactly(4))
        if not 0 <= length <= most:
            raise ProtocolError(f"a frame of {length} bytes: at most {most} are taken")
        return int(length)

    def read_exactly(self, size: int) -> bytes:
        """Return the next bytes of the socket; EOFError where it ends before."""
        if size > self._budget:
            raise ProtocolError(f"a message of more than {self._options.most_frame_bytes} bytes")
        while len(self._buffer) < size:
            left = self._deadline - time.monotonic()
            if left <= 0:
                raise ProtocolError("a message takes too long")
            self._socket.settimeout(left)
            chunk = self._socket.recv(_CHUNK)
            if not chunk:
                raise EOFError
            self._buffer += chunk
        return self._take(size)

    def _take(self, size: int) -> bytes:
        """Return bytes that have come."""
        self._budget -= size
        data = bytes(self._buffer[:size])
        del self._buffer[:size]
        return data

    def send(self, message: bytes) -> None:
        """Send an answer."""
        if self.protection is not None:
            message = self.protection.seal(message)
        if self.is_framed:
            self.send_exactly(struct.pack("!i", len(message)) + message)
        else:
            self.send_exactly(message)

    def send_exactly(self, data: bytes) -> None:
        """Send bytes; OSError where the client takes too long to take them in."""
        self._socket.settimeout(self._options.message_seconds)
        self._socket.sendall(data)

    def close(self) -> None:
        """Let the client go."""
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:  # It has gone already.
            pass
        finally:
            self._socket.close()
