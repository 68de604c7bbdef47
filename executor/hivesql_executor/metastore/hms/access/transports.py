"""Transports of Thrift to a Hive Metastore: sockets, TLS, SASL and HTTP."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from hivesql_executor.metastore.hms.failures import UNREACHABLE
from hivesql_planner.errors import ExecutionError

if TYPE_CHECKING:
    from ssl import SSLContext

    from hivesql_executor.metastore.hms.access.limits import Limits

_CONNECT_SECONDS = 10
_CERTIFICATE = "hivesql.metastore.client.certificate"


class SaslSteps(Protocol):
    """What Thrift's SASL transport asks of a login; each answer begins with True."""

    def start(self, mechanism: str) -> tuple[bool, str, bytes]:
        """Give the mechanism and the first message."""

    def step(self, challenge: bytes) -> tuple[bool, bytes]:
        """Answer a message of the server."""

    def finish(self, message: bytes) -> None:
        """Take the server's last word; ExecutionError where it has not proved who it is."""

    def encode(self, message: bytes) -> tuple[bool, bytes]:
        """Give a message as it is sent; as long as before where it is not protected."""

    def decode(self, frame: bytes) -> tuple[bool, bytes]:
        """Give the message of a frame, which begins with its length."""


class Login(Protocol):
    """A way of telling the server who we are, by SASL."""

    mechanism: str

    @property
    def user(self) -> str | None:
        """Tell by what name the server knows us; None where nobody can tell."""

    def begin(self, host: str) -> SaslSteps:
        """Begin a login at a server; HiveSqlError where there is nothing to log in with."""

    def refusal(self, host: str, reason: str) -> str:
        """Say what was refused, why, and what to do."""

    def refresh(self) -> None:
        """Renew what has a limited life, where it is time."""


@dataclass(frozen=True, slots=True)
class PasswordLogin:
    """A name and a password, by SASL's mechanism PLAIN; also the steps of it."""

    user: str
    password: str = field(repr=False)
    mechanism = "PLAIN"

    def begin(self, host: str) -> PasswordLogin:
        """Give itself: nothing depends on the server."""
        return self

    def start(self, mechanism: str) -> tuple[bool, str, bytes]:
        """Give the name and the password."""
        return True, mechanism, f"\0{self.user}\0{self.password}".encode()

    def step(self, challenge: bytes) -> tuple[bool, bytes]:
        """Say nothing more."""
        return True, b""

    def finish(self, message: bytes) -> None:
        """Take it: by PLAIN no server proves anything, other than by TLS."""

    def encode(self, message: bytes) -> tuple[bool, bytes]:
        """Leave it as it is."""
        return True, message

    decode = encode

    def refusal(self, host: str, reason: str) -> str:
        """Tell of the name and the password."""
        return (
            f"it refused {self.user} with a password: {reason}. Check "
            "hive.metastore.client.plain.username, the file of hivesql.metastore.password.file, "
            "and that the metastore takes passwords (metastore.authentication)"
        )

    def refresh(self) -> None:
        """Do nothing: a password has no end here."""


@dataclass(frozen=True, slots=True)
class Token:
    """A JSON Web Token, read anew for each request, and where it comes from."""

    read: Callable[[], str] = field(repr=False)
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """How connections are made; as it stands without TLS and without a login.

    ``http_path`` makes calls requests of HTTP, with a ``token`` or in the name of ``user``, which
    an open server is told too. ``proxy_user`` is in whose name a ``login`` asks: None for its own.
    ``max_answer_bytes`` is what an answer may have at most, None for the default.
    """

    encryption: SSLContext | None = None
    login: Login | None = None
    http_path: str | None = None
    token: Token | None = None
    user: str = ""
    proxy_user: str | None = None
    max_answer_bytes: int | None = None

    @property
    def tells_user(self) -> bool:
        """Tell whether the server is told who asks by a call of its own, and believes it."""
        return self.login is None and self.http_path is None

    @property
    def advice(self) -> str:
        """Say what a server must be like that takes such connections."""
        tls = (
            "without TLS (else: hive.metastore.use.SSL=true)"
            if self.encryption is None
            else "with TLS (else: hive.metastore.use.SSL=false), has a certificate that is trusted "
            "(hive.metastore.truststore.path), and wants none of its clients' "
            f"(else: {_CERTIFICATE})"
        )
        if self.http_path is not None:
            return f"by HTTP at {self.http_path} (else: …transport.mode=binary), {tls}"
        if self.login is not None:
            return f"with SASL's {self.login.mechanism}, {tls}"
        return (
            "without a login (else: hive.metastore.sasl.enabled=true for Kerberos, or "
            f"hive.metastore.client.auth.mode), {tls}"
        )

    def open(self, host: str, port: int, limits: Limits) -> Any:
        """Open a transport of Thrift within those limits, which hold for each call over it.

        ExecutionError when the server refuses the login.
        """
        from thriftpy2.transport import TBufferedTransportFactory

        if self.http_path is not None:
            from hivesql_executor.metastore.hms.access.http_transport import (
                HttpTransport,
                http_connection,
            )

            requests = HttpTransport(
                http_connection(
                    host,
                    port,
                    min(_CONNECT_SECONDS, limits.seconds_left()),
                    limits,
                    self.encryption,
                ),
                self.http_path,
                self._headers,
                self._advice_of_http,
            )
            requests.open()
            return TBufferedTransportFactory().get_transport(requests)
        socket = self._socket(host, port, limits)
        try:
            if self.login is None:
                plain = TBufferedTransportFactory().get_transport(socket)
                plain.open()
                return plain
            return _log_in(self.login, host, socket, is_encrypted=self.encryption is not None)
        except BaseException:
            socket.close()
            raise

    def _headers(self) -> dict[str, str]:
        if self.token is None:
            return {"x-actor-username": self.user}
        return {"Authorization": f"Bearer {self.token.read()}"}

    @property
    def _advice_of_http(self) -> str:
        if self.token is None:
            return "it may want a token: hive.metastore.client.auth.mode=JWT"
        return (
            f"the token of {self.token.source} may have ended, or be signed by another than the "
            "metastore trusts: get a new one"
        )

    def _socket(self, host: str, port: int, limits: Limits) -> Any:
        from hivesql_executor.metastore.hms.access.limits import EncryptedSocket, PlainSocket

        seconds = min(_CONNECT_SECONDS, limits.seconds_left())
        times: Any = {"connect_timeout": seconds * 1000}
        if self.encryption is None:
            return PlainSocket(host, port, limits, **times)
        return EncryptedSocket(host, port, limits, ssl_context=self.encryption, **times)


def _log_in(login: Login, host: str, socket: Any, *, is_encrypted: bool) -> Any:
    from thriftpy2.transport import TTransportException

    from hivesql_executor.metastore.hms.access.sasl import SaslTransport

    socket.open()
    transport = SaslTransport(login, host, socket)
    try:
        transport.open()
    except (TTransportException, OSError) as error:
        reason = getattr(error, "message", None) or str(error)
        if isinstance(error, OSError) or error.type == TTransportException.END_OF_FILE:
            # Who refuses a certificate ends the connection, at times before it can say why.
            certificate = f", or set {_CERTIFICATE}, which it may want" if is_encrypted else ""
            reason = (
                f"it does not answer SASL ({reason}), and seems to want no login by "
                f"{login.mechanism}. Unset hive.metastore.sasl.enabled and "
                f"hive.metastore.client.auth.mode{certificate}, or check the port"
            )
            raise ExecutionError(reason, code=UNREACHABLE) from error
        # Thrift's text has the server's as Python's bytes.
        match = re.fullmatch(r"Bad status: \d+ \(b['\"](.*)['\"]\)", reason)
        raise ExecutionError(
            login.refusal(host, match[1] if match else reason), code=UNREACHABLE
        ) from error
    return transport
