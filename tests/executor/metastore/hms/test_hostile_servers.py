"""What answers at a metastore's address and is none, or answers what makes no sense."""

from __future__ import annotations

import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator

import pytest

from hivesql_executor.impersonation.token_file import DelegationToken
from hivesql_executor.metastore.hms.access.digest import TokenLogin
from hivesql_executor.metastore.hms.access.transports import Access, PasswordLogin
from hivesql_executor.metastore.hms.metastore import HiveMetastore
from hivesql_executor.statement_log import beginning
from hivesql_planner.errors import CommitUnknown, ExecutionError
from hostile_servers import Talk, drips, listening, pours, says, says_nothing


def message(name: str, kind: int, body: bytes, number: int) -> bytes:
    """A message of Thrift's binary protocol."""
    head = struct.pack("!Ii", 0x80010000 | kind, len(name)) + name.encode()
    return head + struct.pack("!i", number) + body


def string(text: bytes, length: int | None = None) -> bytes:
    """The field of an answer that is its value."""
    return b"\x0b\0\0" + struct.pack("!i", len(text) if length is None else length) + text


TOKEN = TokenLogin(DelegationToken(b"id", b"secret", "kind", ""), "a file", lambda: None)


def request(stream: socket.socket) -> tuple[str, int]:
    """The name and the number of the next call; its body ends where nothing more comes."""
    data = stream.recv(65536)
    if not data:
        raise ConnectionError
    size = struct.unpack("!i", data[4:8])[0]
    return data[8 : 8 + size].decode(), struct.unpack("!i", data[8 + size : 12 + size])[0]


@pytest.fixture
def listen() -> Iterator[Callable[[Talk], str]]:
    """Starts a server that talks so with each of its clients; its address."""
    with listening() as start:
        yield lambda talk: f"thrift://127.0.0.1:{start(talk)}"


def closes(stream: socket.socket, ended: threading.Event) -> None:
    stream.recv(65536)
    stream.sendall(message("set_ugi", 2, b"", 1)[:9])


HOSTILE = {
    "nothing": says_nothing,
    "closes in the middle": closes,
    "drips": drips(struct.pack("!Ii", 0x80010002, 1 << 20)),
    "pours": pours(
        message("set_ugi", 2, b"\x0f\0\0\x0b" + struct.pack("!i", (1 << 31) - 1), 1),
        (struct.pack("!i", 1000) + b"x" * 1000) * 1000,
    ),
    "garbage": says(b"\xff\x00\x13garbage" * 9),
    "HTTP": says(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"),
    "an alert of TLS": says(b"\x15\x03\x01\x00\x02\x02\x0a"),
    "a name of two gigabytes": says(struct.pack("!Ii", 0x80010002, (1 << 31) - 1)),
    "a name of one gigabyte": says(struct.pack("!Ii", 0x80010002, 1 << 30)),
    "a length below nothing": says(
        message("set_ugi", 2, b"\x0f\0\0\x0b\0\0\0\x01\xff\xff\xff\xfe", 1)
    ),
    "a call": says(message("set_ugi", 1, b"\0", 1)),
    "another call's answer": says(message("getVersion", 2, string(b"4.1.0") + b"\0", 1)),
    "an older call's answer": says(message("set_ugi", 2, b"\x0f\0\0\x0b\0\0\0\0\0", 0)),
    "deep": says(message("set_ugi", 2, (b"\x0c\0\x63" * 4000), 1)),
}  # fmt: skip


@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize("way", ["plain", "password", "token", "http", "tls"])
def test_what_is_no_metastore(listen: Callable[[Talk], str], kind: str, way: str) -> None:
    access = {
        "plain": Access(max_answer_bytes=1 << 20),
        "password": Access(login=PasswordLogin("ann", "x"), max_answer_bytes=1 << 20),
        "token": Access(login=TOKEN, max_answer_bytes=1 << 20),
        "http": Access(http_path="/metastore", max_answer_bytes=1 << 20),
        "tls": Access(encryption=ssl.create_default_context()),
    }[way]
    with pytest.raises(ExecutionError) as error:
        HiveMetastore.open(listen(HOSTILE[kind]), timeout=0.3, access=access)
    assert error.value.code == 10280
    assert "Check" in str(error.value) or "check" in str(error.value)


def sasl(status: int, body: bytes) -> bytes:
    """A message of a login."""
    return struct.pack("!BI", status, len(body)) + body


OK, COMPLETE = 2, 5
ASKED = b'realm="default",nonce="n",qop="auth",charset=utf-8,algorithm=md5-sess'
IMPOSTORS = {
    "ends at once": [sasl(COMPLETE, b"")],
    "ends without a proof": [sasl(OK, ASKED), sasl(COMPLETE, b"")],
    "asks again": [sasl(OK, ASKED), sasl(OK, ASKED), sasl(COMPLETE, b"")],
    "proves nothing before it asks": [sasl(OK, b'rspauth=""'), sasl(COMPLETE, b"")],
    "ends with an empty proof": [sasl(COMPLETE, b'rspauth=""')],
    "proves it wrongly": [sasl(OK, ASKED), sasl(COMPLETE, b"rspauth=" + b"0" * 32)],
    "proves it by no text": [sasl(OK, ASKED), sasl(COMPLETE, b'rspauth="\xff\xc3"')],
}


@pytest.mark.parametrize("kind", IMPOSTORS)
def test_who_does_not_know_the_tokens_secret(listen: Callable[[Talk], str], kind: str) -> None:
    """Nobody is believed to be the metastore who has not proved it."""

    def talk(stream: socket.socket, ended: threading.Event) -> None:
        stream.recv(65536)
        for said in IMPOSTORS[kind]:
            stream.sendall(said)
            stream.recv(65536)
        ended.wait()

    with pytest.raises(ExecutionError, match="token's secret") as error:
        HiveMetastore.open(listen(talk), timeout=2, access=Access(login=TOKEN))
    assert error.value.code == 10280


def answers(commit: Callable[[int], bytes]) -> Talk:
    """A metastore that knows its calls, but for what it says to a commit."""

    def talk(stream: socket.socket, ended: threading.Event) -> None:
        while True:
            name, number = request(stream)
            if name == "commit_txn":
                stream.sendall(commit(number))
            elif name == "set_ugi":
                stream.sendall(message(name, 2, b"\x0f\0\0\x0b\0\0\0\0\0", number))
            else:
                stream.sendall(message(name, 2, string(b"4.1.0") + b"\0", number))

    return talk


@pytest.mark.parametrize(
    "commit",
    [
        lambda number: b"\0" * 64,
        lambda number: b"HTTP/1.1 200 OK\r\n\r\n",
        lambda number: message("heartbeat", 2, b"\0", number),
        lambda number: message("commit_txn", 2, b"\0", number - 1),
        lambda number: message("commit_txn", 1, b"\0", number),
        lambda number: message("commit_txn", 2, b"\x0c\0\x09\0\0", number),
        lambda number: message("commit_txn", 2, b"\x0c\0\x01\x0b\0\x01\xff\xff\xff\xf0", number),
        lambda number: message("commit_txn", 3, b"\x08\0\x02\0\0\0\x06\0", number),
    ],
    ids=["zeros", "HTTP", "another call's", "an older one", "a call", "an unknown exception",
         "an exception that makes no sense", "an inner error"],
)  # fmt: skip
def test_a_commit_whose_answer_makes_no_sense(
    listen: Callable[[Talk], str], commit: Callable[[int], bytes]
) -> None:
    store = HiveMetastore.open(listen(answers(commit)), timeout=0.5)
    with pytest.raises(CommitUnknown, match="may or may not have happened"):
        store.commit_txn(7)
    store.close()


def test_nobody_waits_for_an_answer_that_was_cancelled(listen: Callable[[Talk], str]) -> None:
    """Of a question. A commit is waited for: nothing would be known about it."""
    cancelled = threading.Event()

    def falls_silent(stream: socket.socket, ended: threading.Event) -> None:
        while (called := request(stream))[0] in ("set_ugi", "getVersion"):
            answer = string(b"4.1.0") if called[0] == "getVersion" else b"\x0f\0\0\x0b\0\0\0\0"
            stream.sendall(message(called[0], 2, answer + b"\0", called[1]))
        cancelled.set()
        ended.wait()

    with beginning() as work:
        store = HiveMetastore.open(listen(falls_silent), timeout=3)
        work.cancelled = cancelled
        with pytest.raises(CommitUnknown, match=r"after 3 seconds.* may or may not have happened"):
            store.commit_txn(7)
        cancelled.clear()
        with pytest.raises(ExecutionError, match=r"does not answer get_all_databases .*cancelled"):
            store.databases()
        store.close()


def test_an_address_that_answers_nothing_is_waited_for_once(
    listen: Callable[[Talk], str],
) -> None:
    """Of two metastores the one that answered is asked first from then on."""
    first: list[socket.socket] = []

    def stands_still(stream: socket.socket, ended: threading.Event) -> None:
        first.append(stream)
        ended.wait()

    second: list[str] = []

    def answers_and_closes(stream: socket.socket, ended: threading.Event) -> None:
        while (called := request(stream))[0] != "get_all_databases":
            answer = string(b"4.1.0") if called[0] == "getVersion" else b"\x0f\0\0\x0b\0\0\0\0"
            stream.sendall(message(called[0], 2, answer + b"\0", called[1]))
        second.append(called[0])
        stream.sendall(message(called[0], 2, b"\x0f\0\0\x0b\0\0\0\0\0", called[1]))

    uris = f"{listen(stands_still)},{listen(answers_and_closes)}"
    store = HiveMetastore.open(uris, timeout=1)
    for _ in range(5):
        assert store.databases() == ()
    store.close()
    assert len(first) == 1 and len(second) == 5
