"""Calls of Thrift as requests of HTTP."""

from __future__ import annotations

import http.client
from collections.abc import Callable, Mapping
from io import BytesIO
from typing import TYPE_CHECKING, Any

from thriftpy2.transport import TTransportBase, TTransportException

from hivesql_executor.metastore.hms.access.limits import LimitedStream
from hivesql_executor.metastore.hms.failures import UNREACHABLE
from hivesql_planner.errors import ExecutionError

if TYPE_CHECKING:
    from ssl import SSLContext

    from hivesql_executor.metastore.hms.access.limits import Limits

_OK, _UNAUTHORIZED, _FORBIDDEN = 200, 401, 403


class HttpTransport(TTransportBase):
    """One call after the other as requests over one connection.

    ``headers`` says who asks, and is asked for each request; ``advice`` what to do when the server
    does not let them in. Thrift's own transport sets the time-out of all sockets of the process.
    """

    def __init__(
        self,
        connection: http.client.HTTPConnection,
        path: str,
        headers: Callable[[], Mapping[str, str]],
        advice: str,
    ) -> None:
        self._connection, self._path = connection, path
        self._headers, self._advice = headers, advice
        self._request, self._answer = BytesIO(), BytesIO()

    def is_open(self) -> bool:
        """Tell whether there is a connection."""
        return self._connection.sock is not None

    def open(self) -> None:
        """Connect."""
        self._connection.connect()

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def write(self, data: bytes) -> None:
        """Keep a part of the request."""
        self._request.write(data)

    def read(self, size: int) -> bytes:
        """Read a part of the answer, at most ``size`` bytes."""
        data = self._answer.read(size)
        if not data:
            raise TTransportException(TTransportException.END_OF_FILE, "the answer ends early")
        return data

    def flush(self) -> None:
        """Send the request and receive the answer; ExecutionError when it was not let in."""
        body, self._request = self._request.getvalue(), BytesIO()
        headers = {
            "Content-Type": "application/x-thrift",
            "Accept": "application/x-thrift",
            **self._headers(),
        }
        try:
            self._connection.request("POST", self._path, body, headers)
            response = self._connection.getresponse()
            answer = response.read()
        except http.client.HTTPException as error:
            raise TTransportException(
                TTransportException.UNKNOWN, f"no answer of HTTP: {error!r}"
            ) from error
        if response.status in (_UNAUTHORIZED, _FORBIDDEN):
            place = f"{self._connection.host}:{self._connection.port}"
            reason = answer[:200].decode("utf-8", "replace").strip()
            raise ExecutionError(
                f"the metastore at {place} lets nobody in (HTTP {response.status} {reason}): "
                f"{self._advice}",
                code=UNREACHABLE,
            )
        if response.status != _OK:
            raise TTransportException(
                TTransportException.UNKNOWN, f"HTTP {response.status} {response.reason}"
            )
        self._answer = BytesIO(answer)


class _Limited:
    limits: Limits
    sock: Any

    def connect(self) -> None:
        """Connect, anew also after a server that closes the connection behind an answer."""
        super().connect()  # type: ignore[misc]
        self.sock = LimitedStream(self.sock, self.limits)


class _Plain(_Limited, http.client.HTTPConnection):
    pass


class _Encrypted(_Limited, http.client.HTTPSConnection):
    pass


def http_connection(
    host: str, port: int, seconds: float, limits: Limits, encryption: SSLContext | None
) -> http.client.HTTPConnection:
    """Make a connection that is not open yet, and is made in so many seconds; None: without TLS."""
    connection = (
        _Plain(host, port, timeout=seconds)
        if encryption is None
        else _Encrypted(host, port, timeout=seconds, context=encryption)
    )
    connection.limits = limits
    return connection
