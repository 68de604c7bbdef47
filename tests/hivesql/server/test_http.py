"""The protocol by HTTP; no statement needs Spark."""

from __future__ import annotations

import base64
import gzip
import http.client
import select
import socket
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
from impala.dbapi import connect
from thriftpy2.protocol import TBinaryProtocol
from thriftpy2.thrift import TClient
from thriftpy2.transport import TMemoryBuffer

from hivesql.server.protocol import idl
from hivesql.server.server import Server
from hivesql.server.transports.passwords import LoginLimits, set_password
from thrift_servers import answers_bytes, serving


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    set_password(tmp_path / "users", "ann", "secret")
    with serving(
        tmp_path, transport="http", authentication="password", password_file=tmp_path / "users",
        most_frame_bytes=10_000,
    ) as server:  # fmt: skip
        server.logins.limits = LoginLimits(delay=0.0)
        yield server


def request(server: Server, body: bytes = b"", path: str = "/cliservice", **headers: str) -> int:
    """The status of a request; underscores in names of headers are hyphens."""
    with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)) as connection:
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request("POST", path, body, {"Content-Type": "application/x-thrift", **names})
        return connection.getresponse().status


def basic(login: str) -> str:
    return f"Basic {base64.b64encode(login.encode()).decode()}"


def test_impyla_over_http(server: Server) -> None:
    with connect(
        "127.0.0.1", server.port, auth_mechanism="PLAIN", user="ann", password="secret",
        use_http_transport=True, http_path="cliservice",
    ) as connection:  # fmt: skip
        cursor = connection.cursor()
        cursor.execute("CREATE TABLE t (i INT)")
        cursor.execute("SHOW TABLES")
        assert cursor.fetchall() == [("t",)]
        cursor.close()


def test_requests_that_are_refused(server: Server) -> None:
    good = basic("ann:secret")
    buffer = TMemoryBuffer()
    calls = TClient(idl().TCLIService, TBinaryProtocol(buffer))
    calls._send("OpenSession", req=idl().TOpenSessionReq())
    opening = buffer.getvalue()
    assert request(server, opening) == 401
    for login in ("Basic !", "Bearer x", basic("ann:wrong")):
        assert request(server, opening, Authorization=login) == 401
    assert request(server, opening, Authorization=good) == 200
    assert request(server, opening, "/", Authorization=good) == 404
    assert request(server, opening, Authorization=good, Content_Type="text/plain") == 415
    assert request(server, b"x" * 10_001, Authorization=good) == 413
    assert request(server, b"", Authorization=good, Content_Length="many") == 411
    for junk in (b"", b"junk", opening[:20]):
        assert request(server, junk, Authorization=good) == 400


def raw(server: Server, *lines: str, body: bytes = b"") -> bytes:
    """What is answered to a request of these lines."""
    head = "\r\n".join(["POST /cliservice HTTP/1.1", "Host: here", *lines, "", ""])
    return answers_bytes(server, head.encode("latin-1") + body)


LOGIN, KIND = f"Authorization: Basic {base64.b64encode(b'ann:secret').decode()}", (
    "Content-Type: application/x-thrift"
)  # fmt: skip


@pytest.mark.parametrize(
    ("lines", "status"),
    [
        (("Content-Length: 4", "Transfer-Encoding: chunked"), 400),
        (("Transfer-Encoding: chunked",), 411),
        (("Transfer-Encoding: identity",), 411),
        (("Content-Length: 4", "Content-Length: 44"), 400),
        (("Content-Length: 4", "Content-Length: 4"), 400),
        (("Content-Length: 4, 4",), 411),
        (("Content-Length: +4",), 411),
        (("Content-Length: -4",), 411),
        (("Content-Length: 0x4",), 411),
        (("Content-Length : 4",), 400),
        (("Content-Length: 4", "Transfer-Encoding : chunked"), 400),
        (("Content-Length: 4", "no header at all"), 400),
        (("Content-Length: 4", LOGIN), 400),
        (("Content-Length: 4", "Content-Encoding: gzip"), 415),
        (("Content-Length: 10001",), 413),
        (("Content-Length: 99999999999999999999",), 413),
        (("Content-Length: 4", f"X-Long: {'x' * 70_000}"), 431),
        (("Content-Length: 4", *(f"X-{number}: y" for number in range(200))), 431),
    ],
)
def test_where_a_request_ends_is_beyond_doubt(
    server: Server, lines: tuple[str, ...], status: int
) -> None:
    # What follows would be another request, if anybody read it so.
    hidden = b"0\r\n\r\nPOST /cliservice HTTP/1.1\r\nHost: here\r\nContent-Length: 0\r\n\r\n"
    answer = raw(server, LOGIN, KIND, *lines, body=hidden)
    assert answer.startswith(f"HTTP/1.1 {status} ".encode()), answer
    assert answer.count(b"HTTP/1.1") == 1


def test_a_message_that_is_compressed_wrongly(server: Server) -> None:
    headers = {"Authorization": basic("ann:secret"), "Content_Encoding": "gzip"}
    assert request(server, b"\x1f\x8b broken", **headers) == 415
    assert request(server, gzip.compress(bytes(10_000_000)), **headers) in (413, 415)
    assert request(server, b"junk", **headers | {"Content_Encoding": "identity"}) == 400


def test_nothing_is_read_of_who_may_not_come_in(tmp_path: Path) -> None:
    set_password(tmp_path / "users", "ann", "secret")
    with serving(
        tmp_path, transport="http", authentication="password", password_file=tmp_path / "users"
    ) as server:
        wrong = f"Authorization: {basic('ann:no')}"
        # The message never comes, and is not waited for.
        for lines in ((), (wrong,)):
            answer = raw(server, KIND, *lines, "Content-Length: 65536000", body=b"x" * 70_000)
            assert answer.startswith(b"HTTP/1.1 401 "), answer


def test_whoever_sends_byte_by_byte_has_no_more_time(tmp_path: Path) -> None:
    options = {"transport": "http", "message_seconds": 0.5, "login_seconds": 0.5}
    head = f"POST /cliservice HTTP/1.1\r\n{LOGIN}\r\n{KIND}\r\nContent-Length: 100\r\n\r\n"
    with serving(tmp_path, **options) as server:
        assert drip(server, head.encode() + b"x" * 90) == b""
        # The head is there, and the message does not come.
        address = ("127.0.0.1", server.port)
        with socket.create_connection(address, timeout=20) as connection:
            connection.sendall(head.encode())
            assert connection.recv(100).startswith(b"HTTP/1.1 408 ")


def drip(server: Server, data: bytes) -> bytes:
    """Send bytes one by one, each in time, until the server has enough; what it answers."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
        for one in range(len(data)):
            try:
                connection.sendall(data[one : one + 1])
            except OSError:
                return b""
            if select.select([connection], [], [], 0.05)[0]:
                with suppress(ConnectionError):
                    return connection.recv(4096)
                return b""
        raise AssertionError("the server waits for ever")


def test_users_of_a_server_leave_nothing(tmp_path: Path) -> None:
    with serving(tmp_path, transport="http") as server:
        for name in ("ann", "bob"):
            assert request(server, b"junk", Authorization=basic(f"{name}:x")) == 400
        http = server._http
        assert http is not None
        first = http.known_caller("ann", "10.0.0.1").connection
        assert first == http.known_caller("ann", "10.0.0.2").connection
        assert first != http.known_caller("bob", "10.0.0.1").connection
