"""The protocol by HTTP; no statement needs Spark."""

from __future__ import annotations

import base64
import http.client
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from impala.dbapi import connect
from thriftpy2.protocol import TBinaryProtocol
from thriftpy2.thrift import TClient
from thriftpy2.transport import TMemoryBuffer

from hivesql.server.protocol import idl
from hivesql.server.server import Server
from hivesql.server.transports.passwords import LoginLimits, set_password
from thrift_servers import serving


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
