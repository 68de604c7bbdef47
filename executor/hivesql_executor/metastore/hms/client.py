"""Calls to a Hive Metastore: connections, a second address, and what a lost answer means."""

from __future__ import annotations

import getpass
import threading
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from hivesql_executor.metastore.hms.failures import failure
from hivesql_executor.metastore.thrift_interface import load_interface
from hivesql_planner.errors import (
    CommitUnknown,
    ExecutionError,
    NotSupported,
    SemanticError,
    SessionClosed,
)

if TYPE_CHECKING:
    from ssl import SSLContext


import ssl
from functools import cache
from pathlib import Path

from hivesql_planner.settings.settings import Settings

CATALOG = "hive"
"""The only catalog that tables are looked for in."""


@cache
def idl() -> Any:
    """Load the module with all structs and the service; SemanticError without the extra ``hms``."""
    path = Path(__file__).with_name("hive_metastore.thrift")
    return load_interface(path, needed_by="a Hive Metastore", extra="hms")


_DEFAULT_PORT = 9083
_CONNECT_SECONDS = 10
# A connection that was idle for longer is asked something harmless before it is used.
_IDLE_SECONDS = 2.0
_UNKNOWN_METHOD = 1
_ROUNDS = 3


def addresses(uris: str) -> tuple[tuple[str, int], ...]:
    """Hosts and ports of ``thrift://host:port``, several separated by commas."""
    places = []
    for uri in filter(None, (part.strip() for part in uris.split(","))):
        parts = urlsplit(uri)
        if parts.scheme != "thrift" or not parts.hostname:
            raise SemanticError(f"{uri} is not the address of a metastore: thrift://host:9083")
        try:
            port = parts.port
        except ValueError as error:
            raise SemanticError(
                f"{uri} is not the address of a metastore ({error}): thrift://host:9083"
            ) from error
        places.append((parts.hostname, port or _DEFAULT_PORT))
    return tuple(places)


class Client:
    """A pool of connections to one metastore that may have several addresses."""

    def __init__(self, uris: str, *, timeout: float, encryption: SSLContext | None = None) -> None:
        self._addresses = addresses(uris)
        idl()
        self._uris, self._timeout, self._encryption = uris, timeout, encryption
        self._idle: list[tuple[float, Any]] = []
        self._guard = threading.Lock()
        self._closed = False
        self.version: str = self.call("getVersion", again=True)

    @property
    def is_old(self) -> bool:
        """Tell whether the server is Hive 3, which knows fewer calls."""
        return self.version.startswith(("3.", "2."))

    def call(self, method: str, *arguments: Any, again: bool = False) -> Any:
        """Call a method; what the server throws is raised as an error of ours.

        ``again``: calling twice does the same as once, so a lost answer is asked for anew. Without
        it a lost answer is CommitUnknown.
        """
        for attempt in range(1, _ROUNDS + 1):
            connection = self._take()
            try:
                answer = getattr(connection, method)(*arguments)
            except BaseException as error:
                if not isinstance(error, Exception):
                    connection.close()
                    raise
                if not _is_lost(error):
                    if _was_read_whole(error):
                        self._give_back(connection)
                    else:
                        connection.close()
                    raise self._failure(method, error) from error
                connection.close()
                if again and attempt < _ROUNDS:
                    continue
                raise self._unanswered(method, error, again=again) from error
            self._give_back(connection)
            return answer
        raise AssertionError("unreachable")

    def close(self) -> None:
        """Close all connections."""
        with self._guard:
            idle, self._idle, self._closed = self._idle, [], True
        for _, connection in idle:
            connection.close()

    def _failure(self, method: str, error: Exception) -> Exception:
        from thriftpy2.thrift import TApplicationException

        if isinstance(error, TApplicationException) and error.type == _UNKNOWN_METHOD:
            return NotSupported(f"{method} by this Hive Metastore (version {self.version})")
        return failure(method, error)

    def _unanswered(self, method: str, error: Exception, *, again: bool) -> Exception:
        if again:
            return ExecutionError(
                f"the metastore at {self._uris} does not answer {method} ({error}). Check that it "
                "runs, then run the statement again",
                code=10280,
            )
        return CommitUnknown(
            f"the metastore's answer to {method} was lost ({error}); the change may or may not "
            "have happened. Look before running the statement again"
        )

    def _take(self) -> Any:
        while True:
            with self._guard:
                if self._closed:
                    raise SessionClosed
                since, connection = self._idle.pop() if self._idle else (0.0, None)
            if connection is None:
                return self._connect()
            if time.monotonic() - since < _IDLE_SECONDS or _answers(connection):
                return connection
            connection.close()

    def _give_back(self, connection: Any) -> None:
        with self._guard:
            if not self._closed:
                self._idle.append((time.monotonic(), connection))
                return
        connection.close()

    def _connect(self) -> Any:
        problems: list[str] = []
        for host, port in self._addresses:
            try:
                return self._open(host, port)
            except Exception as error:  # noqa: BLE001 - the next address may work
                # Thrift's own error only tells the address again.
                problems.append(f"{host}:{port} ({error.__context__ or error})")
        raise ExecutionError(
            f"no metastore could be reached at {', '.join(problems)}. Check the address, and that "
            f"it runs and takes connections without Kerberos, {self._wanted}",
            code=10280,
        )

    @property
    def _wanted(self) -> str:
        if self._encryption is None:
            return "and without TLS (else: hive.metastore.use.SSL=true)"
        return "with TLS and a certificate that is trusted (hive.metastore.truststore.path)"

    def _open(self, host: str, port: int) -> Any:
        from thriftpy2.protocol import TBinaryProtocolFactory
        from thriftpy2.thrift import TClient
        from thriftpy2.transport import TBufferedTransportFactory, TSocket, TSSLSocket

        times = {
            "connect_timeout": _CONNECT_SECONDS * 1000,
            "socket_timeout": int(self._timeout * 1000),
        }
        if self._encryption is None:
            socket = TSocket(host, port, **times)
        else:
            socket = TSSLSocket(host, port, ssl_context=self._encryption, **times)
        transport = TBufferedTransportFactory().get_transport(socket)
        try:
            transport.open()
            protocol = TBinaryProtocolFactory().get_protocol(transport)
            connection = TClient(idl().ThriftHiveMetastore, protocol)
            # As Hive's client does: the server makes directories in this user's name.
            connection.set_ugi(getpass.getuser(), [])
        except BaseException:
            socket.close()
            raise
        return connection


def _answers(connection: Any) -> bool:
    try:
        connection.getVersion()
    except Exception:  # noqa: BLE001 - whatever it is, another connection is needed
        return False
    return True


def _was_read_whole(error: Exception) -> bool:
    """Tell whether the server took in all of the request.

    One that it could not read, a word of a later Hive in it say, leaves bytes behind, with which
    it would begin to read the next request.
    """
    from thriftpy2.thrift import TApplicationException

    return not isinstance(error, TApplicationException) or error.type == _UNKNOWN_METHOD


def _is_lost(error: Exception) -> bool:
    """Tell whether nothing is known of the call: it broke, or the answer made no sense."""
    from thriftpy2.protocol.exc import TProtocolException
    from thriftpy2.transport import TTransportException

    return isinstance(error, (OSError, EOFError, TTransportException, TProtocolException))


_USE, _TRUSTED = "hive.metastore.use.SSL", "hive.metastore.truststore.path"
_KERBEROS = "hive.metastore.sasl.enabled"


def encryption(settings: Settings) -> ssl.SSLContext | None:
    """Tell what connections are encrypted with; None when they are not, as is Hive's default.

    The server's certificate must be of its host and signed by one in the truststore, or without a
    truststore by one that this machine trusts. NotSupported for Kerberos.
    """
    if settings.flag(_KERBEROS):
        raise NotSupported(f"Kerberos ({_KERBEROS}=true)")
    if not settings.flag(_USE):
        return None
    place = settings.text(_TRUSTED).strip()
    try:
        return ssl.create_default_context(cafile=place or None)
    except ssl.SSLError as error:
        name = Path(place).name
        raise SemanticError(
            f"{_TRUSTED}={place} holds no certificates in the PEM format ({error}). Of a Java "
            f"truststore: keytool -exportcert -rfc -keystore {name} -alias <alias> -file ca.pem"
        ) from error
    except OSError as error:
        raise SemanticError(f"{_TRUSTED}={place} cannot be read: {error.strerror}") from error
