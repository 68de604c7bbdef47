"""The server: listens, lets clients in, and answers each in a thread of its own."""

from __future__ import annotations

import logging
import secrets
import socket
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import hivesql
from hivesql.server.client_session import Caller
from hivesql.server.handler import Handler
from hivesql.server.options import ServerOptions
from hivesql.server.protocol import LoginError, ProtocolError, idl
from hivesql.server.registry import SessionRegistry
from hivesql.server.transports.client_stream import ClientStream
from hivesql.server.transports.messages import answer_message
from hivesql.server.transports.passwords import Logins, PasswordCheck, PasswordFile
from hivesql.server.transports.sasl import authenticate, authenticate_by_ticket
from hivesql.server.transports.tls import ServerTls
from hivesql_executor.translate_errors import translate_errors
from hivesql_planner.errors import ExecutionError, NotSupported
from hivesql_planner.settings.connection_keys import ACTS_FOR_OTHERS

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

    from hivesql.server.transports.http import HttpServer
    from hivesql.server.transports.kerberos import KerberosAcceptor

_LOG = logging.getLogger("hivesql.server")
_BACKLOG = 128
_LOOK_EVERY = 0.5
_HOUSEKEEPING = 5.0
_GIVES_BACK_EVERY = 60.0
"""Seconds. The C library gives each thread a heap, and they stay as large as they ever were."""
_SPARE_CONNECTIONS = 50
"""Connections beside those of sessions: of who is about to log in."""


@translate_errors
class Server:
    """HiveServer2's protocol on one address. ``start`` it, and ``close`` it."""

    def __init__(self, options: ServerOptions) -> None:
        options.check()
        idl()
        self.options = options
        self._tls = _tls(options)
        self.logins: Logins = Logins(_password_check(options))
        self._kerberos = _kerberos(options)
        self.registry: SessionRegistry = SessionRegistry(options)
        self._stop = threading.Event()
        self._streams: dict[int, ClientStream] = {}
        self._guard = threading.Lock()
        self._socket: socket.socket | None = None
        self._http: HttpServer | None = None
        # Opened first, it tells of wrong options; and Spark runs for as long as it is open.
        self._base = hivesql.connect(**options.of_spark, notify=_LOG.info)
        if self._base.runtime.settings.flag(ACTS_FOR_OTHERS):
            self._base.close()
            raise NotSupported(
                f"{ACTS_FOR_OTHERS}=true for a server: all of its sessions share one Spark, which "
                f"works in one user's name. Set {ACTS_FOR_OTHERS}=false, and statements have the "
                "rights of whoever logs in for the server (let "
                "hive.security.authorization.enabled=true say what "
                "clients may do); or start a server for each user, with hivesql.proxy.user"
            )
        self._threads: list[threading.Thread] = []
        if options.metrics is not None:
            self._register_metrics(options.metrics)

    def _register_metrics(self, metrics: CollectorRegistry) -> None:
        from prometheus_client import Gauge

        from hivesql.metrics.register import register_metrics

        register_metrics(self._base, metrics, warehouse=True)
        sessions = Gauge("hivesql_server_sessions", "Sessions that are open", registry=metrics)
        sessions.set_function(self.registry.session_count)

    def problems(self) -> list[str]:
        """Tell why clients are not answered; nothing where they are."""
        if self._stop.is_set():
            return ["the server is being stopped"]
        return [f"{each.name} has ended" for each in self._threads if not each.is_alive()]

    @property
    def port(self) -> int:
        """The port that clients connect to."""
        listening = self._http.socket if self._http is not None else self._socket
        assert listening is not None
        port: int = listening.getsockname()[1]
        return port

    def start(self) -> None:
        """Listen; clients are answered by threads from now on."""
        try:
            accept = self._listen()
        except OSError as error:
            self._base.close()
            raise ExecutionError(
                f"cannot listen on {self.options.host}:{self.options.port}: {error.strerror}"
            ) from error
        for work, name in ((accept, "accept"), (self._keep_house, "housekeeping")):
            self._threads.append(threading.Thread(target=work, name=f"hivesql-{name}", daemon=True))
        for thread in self._threads:
            thread.start()
        if self.options.starts_spark:
            threading.Thread(target=self._start_spark, name="hivesql-spark", daemon=True).start()

    def _listen(self) -> Callable[[], None]:
        """Take the port; what answers clients, in a thread of its own."""
        options = self.options
        if options.transport == "http":
            from hivesql.server.transports.http import HttpServer

            most = options.most_sessions + _SPARE_CONNECTIONS
            self._http = HttpServer(
                options, self.registry, self.logins, self._tls, most, self._kerberos
            )
            return self._http.serve_forever
        family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
        self._socket = socket.create_server(
            (options.host, options.port), family=family, backlog=_BACKLOG
        )
        self._socket.settimeout(_LOOK_EVERY)
        return self._accept

    def close(self) -> None:
        """Let running statements end, as long as the options have it; roll back all that is open.

        May be called again.
        """
        if self._stop.is_set():
            return
        self._stop.set()
        if self._socket is not None:
            self._socket.close()
        if self._http is not None:
            self._http.shutdown()
            self._http.socket.close()
        self.registry.drain(self.options.drain_seconds)
        with self._guard:
            streams = list(self._streams.values())
        for stream in streams:
            stream.close()
        self._base.close()

    def _start_spark(self) -> None:
        try:
            self._base.start_spark()
        except Exception:  # noqa: BLE001 - the first statement that needs it tells its user
            _LOG.exception("Spark does not start")

    def _accept(self) -> None:
        assert self._socket is not None
        while not self._stop.is_set():
            try:
                connection, address = self._socket.accept()
            except TimeoutError:
                continue
            except OSError as error:
                if not self._stop.is_set():
                    _LOG.warning("no connection: %s", error)
                    self._stop.wait(_LOOK_EVERY)  # out of files, perhaps
                continue
            with self._guard:
                is_full = len(self._streams) >= self.options.most_sessions + _SPARE_CONNECTIONS
            if is_full:
                connection.close()
                continue
            place = f"{address[0]}:{address[1]}"
            thread = threading.Thread(
                target=self._serve, args=(connection, place), name=f"hivesql-{place}", daemon=True
            )
            try:
                thread.start()
            except RuntimeError as error:
                # The system has no thread left; others may be served when it has again.
                _LOG.warning("connection refused: address=%s: %s", place, error)
                connection.close()

    def _keep_house(self) -> None:
        # Imported late: so are the writer's libraries.
        from hivesql_executor.local.events import give_back

        given_back = time.monotonic()
        while not self._stop.wait(_HOUSEKEEPING):
            self.registry.close_idle()
            if time.monotonic() - given_back >= _GIVES_BACK_EVERY:
                give_back()
                given_back = time.monotonic()

    def _serve(self, connection: socket.socket, address: str) -> None:
        """Answer one client until it goes."""
        stream = ClientStream(connection, self.options)
        with self._guard:
            self._streams[id(stream)] = stream
        try:
            if self._tls is not None:
                connection.settimeout(self.options.login_seconds)
                connection = self._tls.wrap_socket(connection)
                stream.replace_socket(connection)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._converse(stream, address)
        except (LoginError, ProtocolError) as error:
            _LOG.warning("connection refused: address=%s: %s", address, error)
        except (OSError, EOFError):
            pass  # The client has gone, or is too slow.
        except Exception:  # noqa: BLE001 - one client's, and nobody waits for it
            _LOG.exception("connection ended: address=%s", address)
        finally:
            with self._guard:
                del self._streams[id(stream)]
            stream.close()

    def _converse(self, stream: ClientStream, address: str) -> None:
        user = self._log_in(stream, address)
        caller = Caller(user, address, secrets.token_hex(16))
        handler = Handler(self.registry, caller, is_named=bool(user), is_gone=stream.is_gone)
        try:
            while True:
                is_open = self.registry.has_session(handler.caller)
                patience = None if is_open else self.options.login_seconds
                if not stream.await_message(self._stop, patience):
                    return
                stream.begin_message(self.options.message_seconds)
                stream.send(answer_message(stream, handler))
        finally:
            self.registry.close_of(handler.caller)

    def _log_in(self, stream: ClientStream, address: str) -> str:
        """Return the user's name; empty where the client tells it when it opens a session."""
        if self.options.authentication == "nosasl":
            return ""
        host = address.rpartition(":")[0]
        stream.begin_message(self.options.login_seconds)
        if self._kerberos is not None:
            return authenticate_by_ticket(stream, self._kerberos)
        return authenticate(stream, lambda user, word: self.logins.accepts(user, word, host))


def _password_check(options: ServerOptions) -> PasswordCheck | None:
    """Return what passwords are checked by; None where any will do."""
    if options.authentication == "ldap" and options.ldap is not None:
        from hivesql.server.transports.ldap import Directory

        return Directory(options.ldap)
    if options.authentication == "password" and options.password_file is not None:
        return PasswordFile(options.password_file)
    return None


def _kerberos(options: ServerOptions) -> KerberosAcceptor | None:
    """Return who reads tickets; None where nobody shows any."""
    if options.kerberos is None:
        return None
    from hivesql.server.transports.kerberos import KerberosAcceptor

    return KerberosAcceptor(options.kerberos)


def _tls(options: ServerOptions) -> ServerTls | None:
    return None if options.certificate is None else ServerTls(options, options.certificate)
