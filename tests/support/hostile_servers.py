"""Servers that answer what nobody asked them, or nothing."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

Talk = Callable[[socket.socket, threading.Event], None]
"""What is said to one client, until the event is set."""


@contextmanager
def listening() -> Iterator[Callable[[Talk], int]]:
    """Start servers that talk so with each of their clients; their ports."""
    listeners: list[socket.socket] = []
    ended = threading.Event()

    def start(talk: Talk) -> int:
        listener = socket.create_server(("127.0.0.1", 0))
        listeners.append(listener)

        def serve(stream: socket.socket) -> None:
            with stream, suppress(OSError):
                talk(stream, ended)

        def accept() -> None:
            with suppress(OSError):
                while True:
                    stream = listener.accept()[0]
                    threading.Thread(target=serve, args=[stream], daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        return int(listener.getsockname()[1])

    yield start
    ended.set()
    for listener in listeners:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def says(data: bytes) -> Talk:
    """Answer each request with those bytes, and wait for more of them."""

    def talk(stream: socket.socket, ended: threading.Event) -> None:
        while stream.recv(65536):
            stream.sendall(data)

    return talk


def greets(data: bytes) -> Talk:
    """Say those bytes at once, and no more."""

    def talk(stream: socket.socket, ended: threading.Event) -> None:
        stream.sendall(data)
        ended.wait()

    return talk


def says_nothing(stream: socket.socket, ended: threading.Event) -> None:
    """Say nothing."""
    ended.wait()


def drips(data: bytes) -> Talk:
    """Say those bytes, then one byte after the other."""

    def talk(stream: socket.socket, ended: threading.Event) -> None:
        stream.sendall(data)
        while not ended.wait(0.05):
            stream.sendall(b"x")

    return talk


def pours(head: bytes, body: bytes) -> Talk:
    """Say those bytes, then the others again and again."""

    def talk(stream: socket.socket, ended: threading.Event) -> None:
        stream.sendall(head)
        while not ended.is_set():
            stream.sendall(body)

    return talk


class Wire:
    """A wire to a server on this machine, which does something to what goes over it next."""

    MOODS = ("cuts", "halves", "delays")

    def __init__(self, target: int) -> None:
        self._target, self._ended = target, threading.Event()
        self._moods: list[str] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def be(self, mood: str, times: int = 1) -> None:
        """Do so to the next pieces, of whatever connection."""
        self._moods += [mood] * times

    def close(self) -> None:
        """Take no connections any more."""
        self._ended.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client = self._listener.accept()[0]
                threading.Thread(target=self._serve, args=[client], daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        place = ("127.0.0.1", self._target)
        with client, suppress(OSError), socket.create_connection(place) as server:
            back = threading.Thread(target=self._carry, args=(server, client), daemon=True)
            back.start()
            self._carry(client, server)
            back.join()

    def _carry(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while piece := source.recv(65536):
                mood = self._moods.pop() if self._moods else ""
                if mood == "cuts":
                    break
                if mood == "halves":
                    target.sendall(piece[: len(piece) // 2])
                    break
                if mood == "delays":
                    self._ended.wait(1)
                target.sendall(piece)
        for stream in (source, target):
            with suppress(OSError):
                stream.shutdown(socket.SHUT_RDWR)
