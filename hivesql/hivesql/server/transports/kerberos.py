"""Logins by Kerberos: SASL's mechanism GSSAPI as a server has it, and SPNEGO by HTTP."""

from __future__ import annotations

import socket
import struct
from typing import TYPE_CHECKING

from hivesql.server.options import KerberosOptions
from hivesql.server.protocol import LoginError, ProtocolError, check_name
from hivesql_executor.metastore.extras import to_install
from hivesql_planner.errors import ExecutionError, SemanticError

if TYPE_CHECKING:
    import gssapi

_HOST = "_HOST"
_PLAIN, _SIGNED, _ENCRYPTED = 1, 2, 4
_LAYERS = {
    "auth": _PLAIN | _SIGNED | _ENCRYPTED,
    "auth-int": _SIGNED | _ENCRYPTED,
    "auth-conf": _ENCRYPTED,
}
"""What is offered by the weakest protection that is wanted (RFC 4752)."""
_LONGEST_MESSAGE = 0xFFFFFF
_CHOICE_BYTES = 4
_MOST_STEPS = 10


class KerberosAcceptor:
    """The server's principal, by whose keytab tickets are read."""

    def __init__(self, options: KerberosOptions) -> None:
        """ExecutionError where the keytab has no key of the principal."""
        try:
            import gssapi
        except ModuleNotFoundError as error:
            raise SemanticError(
                f"logins by Kerberos need the package gssapi: {to_install('kerberos')}"
            ) from error
        self._gssapi = gssapi
        self.options = options
        self.principal: str = options.principal.replace(_HOST, socket.getfqdn().lower())
        try:
            self._realm = str(self._credentials().name).rpartition("@")[2]
        except gssapi.exceptions.GSSError as error:
            raise ExecutionError(
                f"no tickets for {self.principal} can be read by the keytab {options.keytab}: "
                f"{_reason(error)}. klist -kt {options.keytab} lists whose keys are in it; "
                "--principal names one of them, with _HOST for this machine's full name"
            ) from error

    def begin(self) -> KerberosLogin:
        """Begin a login; the keytab is read again, since it may have been exported anew."""
        try:
            return KerberosLogin(
                self._gssapi.SecurityContext(creds=self._credentials(), usage="accept"),
                _LAYERS[self.options.protection],
                self._realm,
            )
        except self._gssapi.exceptions.GSSError as error:
            raise LoginError(f"the keytab {self.options.keytab}: {_reason(error)}") from error

    def _credentials(self) -> gssapi.Credentials:
        name = self._gssapi.Name(self.principal, self._gssapi.NameType.kerberos_principal)
        store = {"keytab": f"FILE:{self.options.keytab}"}
        return self._gssapi.Credentials(name=name, usage="accept", store=store)


class KerberosLogin:
    """The steps of one login, and afterwards the protection of its messages."""

    def __init__(self, context: gssapi.SecurityContext, layers: int, realm: str) -> None:
        self._context, self._layers, self._realm = context, layers, realm
        self._steps = 0
        self._has_offered = False
        self._layer = 0

    @property
    def is_protected(self) -> bool:
        """Tell whether messages are signed or encrypted, as client and server have agreed."""
        return self._layer in (_SIGNED, _ENCRYPTED)

    def step(self, token: bytes) -> tuple[bytes, str]:
        """Answer the client's token: what to send, and the user once the login is complete."""
        import gssapi

        self._steps += 1
        if self._steps > _MOST_STEPS:
            raise LoginError("Kerberos takes no end")
        try:
            if not self._context.complete:
                answer = self._context.step(token) or b""
                # Whoever has nothing more to tell goes on at once.
                return (answer, "") if answer else (self._offer(), "")
            if not self._has_offered:
                return self._offer(), ""
            return b"", self._choose(self._context.unwrap(token).message)
        except gssapi.exceptions.GSSError as error:
            raise LoginError(f"Kerberos: {_reason(error)}") from error

    def accept(self, token: bytes) -> tuple[bytes, str]:
        """Take a ticket that comes with a request of HTTP: what to send, and the user."""
        import gssapi

        try:
            answer = self._context.step(token) or b""
        except gssapi.exceptions.GSSError as error:
            raise LoginError(f"Kerberos: {_reason(error)}") from error
        if not self._context.complete:
            raise LoginError("a ticket that wants more than one step")
        return answer, self._user()

    def seal(self, message: bytes) -> bytes:
        """Sign or encrypt a message."""
        return bytes(self._context.wrap(message, self._layer == _ENCRYPTED).message)

    def open(self, frame: bytes) -> bytes:
        """Return the message of a frame; ProtocolError where it is not the client's."""
        import gssapi

        try:
            opened = self._context.unwrap(frame)
        except gssapi.exceptions.GSSError as error:
            raise ProtocolError(f"Kerberos: {_reason(error)}") from error
        if self._layer == _ENCRYPTED and not opened.encrypted:
            raise ProtocolError("Kerberos: a message that is not encrypted")
        return bytes(opened.message)

    def _offer(self) -> bytes:
        self._has_offered = True
        offer = struct.pack("!I", self._layers << 24 | _LONGEST_MESSAGE)
        return bytes(self._context.wrap(offer, False).message)

    def _choose(self, choice: bytes) -> str:
        """Take the client's choice of a protection; the user."""
        if len(choice) < _CHOICE_BYTES:
            raise LoginError("no choice of a protection by Kerberos")
        self._layer = choice[0]
        if self._layer not in (_PLAIN, _SIGNED, _ENCRYPTED) or not self._layer & self._layers:
            raise LoginError(f"the protection {self._layer} of Kerberos was not offered")
        other, user = choice[_CHOICE_BYTES:].decode("utf-8", "replace"), self._user()
        if other and other not in (user, str(self._context.initiator_name)):
            raise LoginError(f"{user!r} may not act for {other!r}")
        return user

    def _user(self) -> str:
        """Give the short name, as Hadoop's rule DEFAULT has it: of this realm alone."""
        who = str(self._context.initiator_name)
        name, _, realm = who.rpartition("@")
        if realm != self._realm:
            raise LoginError(f"{who!r} is of another realm than {self._realm}")
        user = name.partition("/")[0]
        check_name(user)
        return user


def _reason(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
