"""Servers of HiveServer2's protocol for tests, and a client that may say what no driver would."""

from __future__ import annotations

import os
import socket
import ssl
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from thriftpy2.protocol import TBinaryProtocol
from thriftpy2.thrift import TClient
from thriftpy2.transport import TBufferedTransport, TSocket, TTransportException

from hivesql.server.options import ServerOptions
from hivesql.server.protocol import idl
from hivesql.server.server import Server
from hivesql_executor.failpoints import VARIABLE
from programs import free_port
from waiting import wait_until


@contextmanager
def serving(
    home: Path, *, settings: dict[str, str] | None = None, **options: Any
) -> Iterator[Server]:
    """A server on a free port of this machine, on a warehouse of its own."""
    connection = {
        "metastore": f"sqlite:///{home}/metastore.db",
        "warehouse": str(home / "warehouse"),
        "settings": settings or {},
        **options.pop("connection", {}),
    }
    defaults: dict[str, Any] = {"port": 0, "starts_spark": False, "drain_seconds": 0.0}
    server = Server(ServerOptions(connection=connection, **{**defaults, **options}))
    server.start()
    try:
        yield server
    finally:
        server.close()


@contextmanager
def running_server(
    home: Path, txn_timeout: int = 300, *, port: int = 0, fail_point: str = ""
) -> Iterator[Any]:
    """A server in a process of its own, whose Spark starts late; its ``port`` and ``process``.

    A ``fail_point`` is where it dies.
    """
    port = port or free_port()
    variables = os.environ | ({VARIABLE: fail_point} if fail_point else {})
    command = [
        sys.executable, "-m", "hivesql_repl", "serve", "--port", str(port), "--auth", "nosasl",
        "--lazy-spark", "--master", "local[2]", "--warehouse", f"{home}/w",
        "--metastore", f"sqlite:///{home}/m.db",
        "--hiveconf", f"hive.txn.timeout={txn_timeout}s",
    ]  # fmt: skip
    log = home / "log"
    with (
        log.open("w") as printed,
        subprocess.Popen(command, stdout=printed, stderr=printed, env=variables) as it,
    ):
        try:
            wait_until(lambda: _listens(port))
            yield SimpleNamespace(port=port, process=it)
        finally:
            it.kill()


def _listens(port: int) -> bool:
    try:
        Client(SimpleNamespace(port=port)).close()  # type: ignore[arg-type]
    except TTransportException:
        return False
    return True


class Client:
    """One connection without SASL, and its session once ``open`` was called."""

    def __init__(self, server: Server) -> None:
        self.thrift = idl()
        plain = TSocket("127.0.0.1", server.port, socket_timeout=20_000)
        self.transport = TBufferedTransport(plain)
        self.transport.open()
        self.calls = TClient(self.thrift.TCLIService, TBinaryProtocol(self.transport))
        self.session: Any = None
        self.version = 0

    def open(self, user: str = "ann", *, version: int = 10, **configuration: str) -> Client:
        """Open a session; keys of the configuration have ``__`` for a colon."""
        answer = self.calls.OpenSession(
            self.thrift.TOpenSessionReq(
                client_protocol=version, username=user,
                configuration={key.replace("__", ":"): v for key, v in configuration.items()},
            )
        )  # fmt: skip
        self.checked(answer)
        self.session, self.version = answer.sessionHandle, answer.serverProtocolVersion
        return self

    def checked(self, answer: Any) -> Any:
        """The answer of a call that must not have failed."""
        assert answer.status.statusCode == self.thrift.TStatusCode.SUCCESS_STATUS, answer.status
        return answer

    def execute(self, text: str, *, runs_on: bool = False, **others: Any) -> Any:
        """The answer to a statement, whether it failed or not."""
        return self.calls.ExecuteStatement(
            self.thrift.TExecuteStatementReq(
                sessionHandle=self.session, statement=text, runAsync=runs_on, **others
            )
        )

    def rows(self, text: str) -> list[tuple[Any, ...]]:
        """All rows of a statement."""
        return self.fetch(self.checked(self.execute(text)).operationHandle)

    def fetch(
        self, handle: Any, *, most: int = 1000, orientation: int = 0
    ) -> list[tuple[Any, ...]]:
        """The next rows of an operation; NULL is None."""
        answer = self.checked(
            self.calls.FetchResults(
                self.thrift.TFetchResultsReq(
                    operationHandle=handle, orientation=orientation, maxRows=most
                )
            )
        )
        columns = [next(v for v in vars(c).values() if v is not None)
                   for c in answer.results.columns or ()]  # fmt: skip
        lists = [
            [None if column.nulls[i // 8 : i // 8 + 1][0] >> i % 8 & 1 else value
             for i, value in enumerate(column.values)]
            if any(column.nulls) else column.values
            for column in columns
        ]  # fmt: skip
        return list(zip(*lists, strict=True))

    def columns(self, handle: Any) -> list[tuple[str, int, int | None]]:
        """Names, types and lengths of an operation's columns."""
        request = self.thrift.TGetResultSetMetadataReq(operationHandle=handle)
        answer = self.checked(self.calls.GetResultSetMetadata(request))
        entries = [column.typeDesc.types[0].primitiveEntry for column in answer.schema.columns]
        qualifiers = [(entry.typeQualifiers and entry.typeQualifiers.qualifiers) or {}
                      for entry in entries]  # fmt: skip
        lengths = [of.get("characterMaximumLength") for of in qualifiers]
        return [
            (column.columnName, entry.type, length and length.i32Value)
            for column, entry, length in zip(answer.schema.columns, entries, lengths, strict=True)
        ]

    def end(self, handle: Any) -> Any:
        """The status of an operation once it has ended."""
        states = self.thrift.TOperationState
        request = self.thrift.TGetOperationStatusReq(operationHandle=handle, getProgressUpdate=True)
        while True:
            status = self.checked(self.calls.GetOperationStatus(request))
            if status.operationState not in (states.RUNNING_STATE, states.PENDING_STATE):
                return status

    def ask(self, call: str, **arguments: Any) -> list[tuple[Any, ...]]:
        """The rows that answer a question about the catalog."""
        request = getattr(self.thrift, f"T{call}Req")(sessionHandle=self.session, **arguments)
        answer = self.checked(getattr(self.calls, call)(request))
        return self.fetch(answer.operationHandle)

    def close(self) -> None:
        """Close the connection, and leave the session to the server."""
        self.transport.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def answers_bytes(server: Server, *parts: bytes, trusting: ssl.SSLContext | None = None) -> bytes:
    """Send bytes to a server, and return what comes until it closes the connection."""
    with ExitStack() as stack:
        address = ("127.0.0.1", server.port)
        stream = stack.enter_context(socket.create_connection(address, timeout=20))
        if trusting is not None:
            stream = trusting.wrap_socket(stream, server_hostname="localhost")
            stack.enter_context(stream)
        answer = b""
        with suppress(ConnectionError):
            for part in parts:
                stream.sendall(part)
            while chunk := stream.recv(4096):
                answer += chunk
        return answer


def sasl(status: int, payload: bytes) -> bytes:
    """A message of SASL."""
    return struct.pack("!bi", status, len(payload)) + payload
