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
