"""Calls of Thrift as requests of HTTP."""

from __future__ import annotations

import http.client
from io import BytesIO

from thriftpy2.transport import TTransportBase, TTransportException

from hivesql_executor.metastore.hms.access.transports import UNREACHABLE, Access
from hivesql_planner.errors import ExecutionError

_OK, _UNAUTHORIZED, _FORBIDDEN = 200, 401, 403


class HttpTransport(TTransportBase):
    """One call after the other as requests over one connection.

    Thrift's own sets the time-out of all sockets of the process.
    """

    def __init__(self, access: Access, host: str, port: int, timeout: float) -> None:
        self._access, self._place = access, f"{host}:{port}"
        if access.encryption is None:
            self._connection = http.client.HTTPConnection(host, port, timeout=timeout)
        else:
            self._connection = http.client.HTTPSConnection(
                host, port, timeout=timeout, context=access.encryption
            )
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
        access = self._access
        headers = {"Content-Type": "application/x-thrift", "Accept": "application/x-thrift"}
        if access.token is not None:
            headers["Authorization"] = f"Bearer {access.token.read()}"
        else:
            headers["x-actor-username"] = access.user
        try:
            self._connection.request("POST", str(access.http_path), body, headers)
            response = self._connection.getresponse()
            answer = response.read()
        except http.client.HTTPException as error:
            raise TTransportException(
                TTransportException.UNKNOWN, f"no answer of HTTP: {error!r}"
            ) from error
        if response.status in (_UNAUTHORIZED, _FORBIDDEN):
            raise ExecutionError(self._refusal(response.status, answer), code=UNREACHABLE)
        if response.status != _OK:
            raise TTransportException(
                TTransportException.UNKNOWN, f"HTTP {response.status} {response.reason}"
            )
        self._answer = BytesIO(answer)

    def _refusal(self, status: int, answer: bytes) -> str:
        reason = answer[:200].decode("utf-8", "replace").strip()
        token = self._access.token
        advice = (
            "it may want a token: hive.metastore.client.auth.mode=JWT"
            if token is None
            else f"the token of {token.source} may have ended, or be signed by another than the "
            "metastore trusts: get a new one"
        )
        return f"the metastore at {self._place} lets nobody in (HTTP {status} {reason}): {advice}"
