"""Messages as requests of HTTP, as `transportMode=http` of JDBC sends them."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import io
import logging
import secrets
import select
import socket
import threading
import time
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from hivesql.server.client_session import Caller
from hivesql.server.handler import Handler
from hivesql.server.options import ServerOptions
from hivesql.server.protocol import LoginError, ProtocolError, check_name
from hivesql.server.registry import SessionRegistry
from hivesql.server.transports.client_stream import GONE
from hivesql.server.transports.messages import answer_message
from hivesql.server.transports.passwords import Logins

if TYPE_CHECKING:
    from hivesql.server.transports.kerberos import KerberosAcceptor
    from hivesql.server.transports.tls import ServerTls

_LOG = logging.getLogger("hivesql.server")
_PATH = "/cliservice"
_TYPE = "application/x-thrift"
_REMEMBERED = 60.0
"""Seconds for which a password that was right is not hashed again: each request has it."""
_MOST_REMEMBERED = 1000
_ONCE = ("Content-Length", "Authorization", "Content-Type", "Content-Encoding", "Host")
_CODING, _AS_IS = "Content-Encoding", "identity"
_THROWN_AWAY = 2**16
_THROWN_AWAY_WITHIN = 0.5
"""Bytes of a message that is refused which are read, and seconds for them: who still sends would
not see the answer."""
_BASIC, _NEGOTIATE = "Basic realm=hivesql", "Negotiate"


class HttpServer(ThreadingHTTPServer):
    """Takes requests; each connection has a thread, of which there are so many at most."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(
        self, options: ServerOptions, registry: SessionRegistry, logins: Logins,
        tls: ServerTls | None, most_connections: int,
        kerberos: KerberosAcceptor | None = None,
    ) -> None:  # fmt: skip
        if ":" in options.host:
            self.address_family = socket.AF_INET6
        super().__init__((options.host, options.port), _Requests)
        self.options = options
        self.registry = registry
        self.logins = logins
        self.tls = tls
        self.kerberos = kerberos
        self._slots = threading.BoundedSemaphore(most_connections)
        self._right: dict[str, tuple[bytes, float]] = {}
        self._key = secrets.token_bytes(32)
        self._guard = threading.Lock()

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer a connection in a thread, or close it where there are too many."""
        if not self._slots.acquire(blocking=False):
            self.shutdown_request(request)
            return
        try:
            super().process_request(request, client_address)
        except BaseException:
            self._slots.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer a connection until it ends."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._slots.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Note that a connection broke: its client has gone, or is too slow."""
        _LOG.debug("connection ended: address=%s", client_address, exc_info=True)

    def caller(self, user: str, password: str, address: str) -> Caller:
        """Return who sends a request; LoginError for a wrong password.

        All connections of a user are one client's: drivers open them as they like.
        """
        check_name(user)
        proof = hmac.digest(self._key, f"password {password}".encode(), hashlib.sha256)
        known, until = self._right.get(user, (b"", 0.0))
        is_known = hmac.compare_digest(known, proof) and time.monotonic() < until
        if not is_known and not self.logins.accepts(user, password, address):
            raise LoginError(f"a wrong name or password of {user!r}")
        if not is_known:
            with self._guard:
                if len(self._right) >= _MOST_REMEMBERED:
                    self._right.clear()
                self._right[user] = (proof, time.monotonic() + _REMEMBERED)
        return self.known_caller(user, address)

    def known_caller(self, user: str, address: str) -> Caller:
        """Return who sends a request, and has proved to be the user."""
        connection = hmac.digest(self._key, f"caller {user}".encode(), hashlib.sha256)
        return Caller(user, address, connection.hex())


class _TimedReader(io.RawIOBase):
    """Bytes of a socket until a moment: whoever sends them one by one has no more time."""

    def __init__(self, connection: socket.socket) -> None:
        super().__init__()
        self._connection = connection
        self._deadline = 0.0

    def allow(self, seconds: float) -> None:
        """Let what is read next come within so many seconds, all of it."""
        self._deadline = time.monotonic() + seconds

    def readable(self) -> bool:
        """Tell that it is to be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer with what has come; TimeoutError when the time is over."""
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("a request takes too long")
        self._connection.settimeout(left)
        return self._connection.recv_into(buffer)


class _Requests(BaseHTTPRequestHandler):
    """The requests of one connection."""

    protocol_version = "HTTP/1.1"
    server_version = "hivesql"
    sys_version = ""
    server: HttpServer

    def setup(self) -> None:
        options = self.server.options
        self.request.settimeout(options.login_seconds)
        if self.server.tls is not None:
            self.request = self.server.tls.wrap_socket(self.request)
        super().setup()
        self.rfile.close()
        self._reader = _TimedReader(self.connection)
        self.rfile = io.BufferedReader(self._reader)

    def finish(self) -> None:
        super().finish()
        if self.server.tls is not None:
            self.connection.close()  # the server only knows the socket below

    def handle_one_request(self) -> None:
        """Read and answer a request, whose line and headers must come in time."""
        self._reader.allow(self.server.options.message_seconds)
        super().handle_one_request()

    def do_POST(self) -> None:
        """Answer a message."""
        address = str(self.client_address[0])
        self._is_read = False
        try:
            if (refusal := self._refusal()) is not None:
                self._refuse(refusal)
                return
            # Who may not come in has nothing read, which takes memory.
            caller, ticket = self._caller(address)
            self._reader.allow(self.server.options.message_seconds)
            self._is_read = True
            body = self.rfile.read(int(self.headers["Content-Length"]))
            handler = Handler(self.server.registry, caller, is_named=True, is_gone=self._is_gone)
            answer = answer_message(io.BytesIO(body), handler)
        except LoginError as error:
            _LOG.warning("request refused: address=%s: %s", address, error)
            self._refuse(HTTPStatus.UNAUTHORIZED)
        except TimeoutError as error:
            _LOG.warning("request refused: address=%s: %s", address, error)
            self._refuse(HTTPStatus.REQUEST_TIMEOUT)
        except (ProtocolError, EOFError, ValueError, OSError) as error:
            _LOG.warning("request refused: address=%s: %s", address, error)
            self._refuse(HTTPStatus.BAD_REQUEST)
        except Exception:  # noqa: BLE001 - one client's, and it gets no more of it
            _LOG.exception("a request failed: address=%s", address)
            self._refuse(HTTPStatus.BAD_REQUEST)
        else:
            self.connection.settimeout(self.server.options.message_seconds)
            self.send_response(HTTPStatus.OK)
            if ticket:
                self.send_header("WWW-Authenticate", f"{_NEGOTIATE} {ticket}")
            self.send_header("Content-Type", _TYPE)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

    def _refusal(self) -> HTTPStatus | None:
        """Tell why nothing is read of a request; None for one whose message is.

        Where two programs could be of different opinions about where it ends, one behind a proxy
        could hide another request in it.
        """
        headers = self.headers
        lengths = headers.get_all("Content-Length", [])
        is_chunked = "Transfer-Encoding" in headers
        twice = any(len(headers.get_all(name, [])) > 1 for name in _ONCE)
        if headers.defects or twice or (is_chunked and lengths):
            return HTTPStatus.BAD_REQUEST
        if self.path.split("?")[0].rstrip("/") != _PATH:
            return HTTPStatus.NOT_FOUND
        # Pages of a browser cannot send this without being asked whether they may.
        if headers.get_content_type() != _TYPE or headers.get(_CODING, _AS_IS).lower() != _AS_IS:
            return HTTPStatus.UNSUPPORTED_MEDIA_TYPE
        length = lengths[0] if lengths else ""
        if not (length.isascii() and length.isdecimal()):
            return HTTPStatus.LENGTH_REQUIRED
        if int(length) > self.server.options.most_frame_bytes:
            return HTTPStatus.REQUEST_ENTITY_TOO_LARGE
        return None

    def _caller(self, address: str) -> tuple[Caller, str]:
        """Return who sends the request, and what a client that has shown a ticket is answered."""
        kerberos = self.server.kerberos
        if kerberos is None:
            return self.server.caller(*self._credentials(), address), ""
        scheme, _, coded = self.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != _NEGOTIATE.lower():
            raise LoginError("no ticket of Kerberos")
        try:
            # Hive's driver says "Negotiate : …".
            token = base64.b64decode(coded.lstrip(": "), validate=True)
        except binascii.Error:
            raise LoginError("a ticket of Kerberos that is no base64") from None
        answer, user = kerberos.begin().accept(token)
        return self.server.known_caller(user, address), base64.b64encode(answer).decode()

    def _credentials(self) -> tuple[str, str]:
        scheme, _, coded = self.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "basic":
            raise LoginError("no Basic authentication")
        try:
            user, _, password = base64.b64decode(coded, validate=True).decode().partition(":")
        except (binascii.Error, UnicodeDecodeError):
            raise LoginError("no Basic authentication") from None
        return user, password

    def _refuse(self, status: HTTPStatus) -> None:
        self.close_connection = True
        options = self.server.options
        length = self.headers.get("Content-Length", "")
        if not self._is_read and length.isdecimal():
            self._reader.allow(_THROWN_AWAY_WITHIN)
            with suppress(OSError):
                self.rfile.read(min(int(length), _THROWN_AWAY))
        self.connection.settimeout(options.message_seconds)
        self.send_response(status)
        if status == HTTPStatus.UNAUTHORIZED:
            self.send_header("WWW-Authenticate", _NEGOTIATE if self.server.kerberos else _BASIC)
        self.send_header("Content-Length", "0")
        self.send_header("Connection", "close")
        self.end_headers()

    def _is_gone(self) -> bool:
        poll = select.poll()
        poll.register(self.connection, GONE)
        return any(event & GONE for _, event in poll.poll(0))

    def log_message(self, format: str, *arguments: Any) -> None:
        """Leave it to the audit log."""
