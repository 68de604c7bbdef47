"""Logins at a Hive Metastore by Kerberos: SASL's mechanism GSSAPI, keytabs and ticket caches."""

from __future__ import annotations

import hashlib
import re
import secrets
import shutil
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import gssapi
from gssapi.exceptions import GSSError

from hivesql_executor.metastore.hms.access.kerberos_errors import clocks_of, explain, has_ended
from hivesql_executor.metastore.hms.access.protection import (
    ENCRYPTED,
    PLAIN,
    SIGNED,
    check_protection,
)
from hivesql_executor.metastore.hms.failures import UNREACHABLE
from hivesql_planner.errors import ExecutionError

_HOST = "_HOST"
_LONGEST_MESSAGE = 0xFFFFFF
# A ticket of the cache is renewed in its last minutes, and in the last part of its life.
_LAST_SECONDS = 600.0
_LAST_PART = 0.2
_RENEWAL_PAUSE = 30.0
_PROGRAM_SECONDS = 30


@dataclass(slots=True, kw_only=True)
class KerberosLogin:
    """Who logs in where: the keytab's principal, or whose the ticket cache is.

    MIT's library gets tickets by the keytab, and new ones when half of their life is over. A ticket
    of the cache is renewed by ``kinit -R`` while it may be.
    """

    server: str
    principal: str | None = None
    keytab: str | None = None
    least: int = PLAIN
    """How well messages must be protected."""
    mechanism: str = field(default="GSSAPI", init=False)
    _life: float = field(default=0.0, init=False)
    _looks_at: float = field(default=0.0, init=False)
    _guard: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    @property
    def user(self) -> str | None:
        """Give the first part of the principal's name; None where nobody can tell."""
        return re.split("[/@]", self._who() or "")[0] or None

    def begin(self, host: str) -> GssapiSteps:
        """Begin a login; ExecutionError without a valid ticket or a way to get one."""
        self.refresh(now=True)
        server = self.server_at(host)
        try:
            context = gssapi.SecurityContext(
                name=gssapi.Name(server, gssapi.NameType.kerberos_principal),
                creds=self.credentials(),
                usage="initiate",
                mech=gssapi.MechType.kerberos,
                flags=gssapi.RequirementFlag.mutual_authentication
                | gssapi.RequirementFlag.integrity
                | gssapi.RequirementFlag.confidentiality
                | gssapi.RequirementFlag.out_of_sequence_detection,
            )
        except GSSError as error:
            raise self._error(host, error) from error
        return GssapiSteps(context, lambda error: self._error(host, error), self.least)

    def server_at(self, host: str) -> str:
        """Give the metastore's principal, with the host's full name in the place of _HOST."""
        if _HOST not in self.server:
            return self.server
        try:
            # As Java: what the address is called, not what the user called it.
            name = socket.gethostbyaddr(host)[0]
        except OSError:
            name = host
        return self.server.replace(_HOST, name.lower())

    def credentials(self) -> gssapi.Credentials:
        """Give what to log in with; GSSError when there is nothing."""
        if self.keytab is None:
            name = self.principal and gssapi.Name(
                self.principal, gssapi.NameType.kerberos_principal
            )
            return gssapi.Credentials(name=name or None, usage="initiate")
        # Beside the user's own cache, which another program may fill anew at any time.
        key = hashlib.sha256(f"{self.principal}\0{self.keytab}".encode()).hexdigest()[:16]
        return self._by_keytab(key)

    def _by_keytab(self, cache: str) -> gssapi.Credentials:
        name = self.principal and gssapi.Name(self.principal, gssapi.NameType.kerberos_principal)
        store = {"client_keytab": f"FILE:{self.keytab}", "ccache": f"MEMORY:hivesql-{cache}"}
        return gssapi.Credentials(name=name or None, usage="initiate", store=store)

    def _find_cause(self, error: GSSError) -> GSSError:
        """Return why the keytab gives no new ticket: the library tells that the old one ended."""
        if self.keytab is None or not has_ended(error):
            return error
        try:
            _ = self._by_keytab(f"anew-{secrets.token_hex(8)}").lifetime
        except GSSError as cause:
            return cause
        return error

    def refresh(self, *, now: bool = False) -> None:
        """Renew the ticket of the cache when it is about to end; the keytab needs no such thing.

        Looks at most twice a minute, unless it is to be ``now``.
        """
        if self.keytab is not None or (not now and time.monotonic() < self._looks_at):
            return
        with self._guard:
            if not now and time.monotonic() < self._looks_at:
                return
            self._looks_at = time.monotonic() + _RENEWAL_PAUSE
            try:
                rest = self.credentials().lifetime
            except GSSError:
                return  # The login says it better.
            self._life = max(self._life, float(rest or 0))
            if rest is not None and rest <= max(_LAST_SECONDS, self._life * _LAST_PART):
                _run("kinit", "-R")

    def refusal(self, host: str, reason: str) -> str:
        """Tell of a server that got a ticket and does not want it."""
        who = self._who() or "its user"
        clocks = self.clocks()
        return (
            f"it refused the ticket of {who} for {self.server_at(host)}: {reason}"
            f"{clocks and f', and {clocks}'}. Its log says "
            "why: often its clock differs by more than 5 minutes, its keytab is older than its key "
            "(klist -kt), or its principal is another one (hive.metastore.kerberos.principal)"
        )

    def describe(self) -> str:
        """Say who logs in, by what, and for how long that holds; ExecutionError when nobody can."""
        try:
            credentials = self.credentials()
            seconds = credentials.lifetime or 0
        except GSSError as error:
            raise self._error(None, error) from error
        source = f"keytab {self.keytab}" if self.keytab else "ticket cache"
        hours, minutes = divmod(int(seconds) // 60, 60)
        return f"{credentials.name}, by its {source}, for {hours} h {minutes} min"

    def clocks(self) -> str:
        """Say by how much this clock differs from the KDC's, where it is too much; else nothing."""
        return clocks_of(self._who() or self.server)

    def check(self, host: str) -> str:
        """Ask the KDC for a ticket for the metastore; its principal, or ExecutionError."""
        self.begin(host).start(self.mechanism)
        return self.server_at(host)

    def _who(self) -> str | None:
        """Tell who logs in; None where nobody can tell."""
        if self.principal:
            return self.principal
        try:
            return str(self.credentials().name)
        except GSSError:
            # The library names nobody whose ticket has ended.
            match = re.search(r"^Default principal: (\S+)", _run("klist"), re.MULTILINE)
            return match[1] if match and self.keytab is None else None

    def _error(self, host: str | None, error: GSSError) -> ExecutionError:
        server = self.server if host is None else self.server_at(host)
        cause = self._find_cause(error)
        return explain(cause, client=self._who(), keytab=self.keytab, server=server)


class GssapiSteps:
    """The steps of one login, and afterwards the protection of its messages (RFC 4752)."""

    def __init__(
        self,
        context: gssapi.SecurityContext,
        explain_error: Callable[[GSSError], Exception],
        least: int = PLAIN,
    ) -> None:
        self._context, self._explain, self._least = context, explain_error, least
        self._layer = 0

    def start(self, mechanism: str) -> tuple[bool, str, bytes]:
        """Give the ticket."""
        return True, mechanism, self._next(None)

    def step(self, challenge: bytes) -> tuple[bool, bytes]:
        """Answer the server, in the end with the layer that is wanted."""
        if not self._context.complete:
            return True, self._next(challenge)
        try:
            offer = self._context.unwrap(challenge).message
            layers = offer[0] if offer else PLAIN
            # Where it offers none that there is, the login does not end well.
            offered = (layer for layer in (ENCRYPTED, SIGNED, PLAIN) if layer & layers)
            self._layer = next(offered, 0)
            check_protection(self._layer or PLAIN, self._least)
            # Who acts for somebody else would name them behind it.
            answer = struct.pack("!I", self._layer << 24 | _LONGEST_MESSAGE)
            return True, self._context.wrap(answer, False).message
        except GSSError as error:
            raise self._explain(error) from error

    def finish(self, message: bytes) -> None:
        """ExecutionError where the server has not proved that it knows the ticket's key."""
        if not (self._context.complete and self._layer):
            raise ExecutionError(
                "no login by Kerberos: the server has ended it before it had proved that it is the "
                "ticket's. Check that the address is the metastore's, and that nobody sits in "
                "between",
                code=UNREACHABLE,
            )

    def _next(self, token: bytes | None) -> bytes:
        try:
            return self._context.step(token) or b""
        except GSSError as error:
            raise self._explain(error) from error

    def encode(self, message: bytes) -> tuple[bool, bytes]:
        """Sign or encrypt a message, and put its length before it."""
        if self._layer == PLAIN:
            return True, message
        try:
            sealed = self._context.wrap(message, self._layer == ENCRYPTED).message
        except GSSError as error:
            raise _lost(error) from error
        return True, struct.pack("!I", len(sealed)) + sealed

    def decode(self, frame: bytes) -> tuple[bool, bytes]:
        """Give the message of a frame, which is what the server sent."""
        try:
            return True, self._context.unwrap(frame[4:]).message
        except GSSError as error:
            raise _lost(error) from error


def _lost(error: GSSError) -> ConnectionError:
    return ConnectionError(f"Kerberos protects this connection no longer: {error}")


def _run(program: str, *options: str) -> str:
    """Run one of Kerberos' programs on the ticket cache; what it says, and nothing without it."""
    path = shutil.which(program)
    if path is None:
        return ""
    try:
        # It has nothing to ask: what it cannot do, the login tells of.
        completed = subprocess.run(
            [path, *options], stdin=subprocess.DEVNULL, capture_output=True, text=True,
            check=False, timeout=_PROGRAM_SECONDS,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return completed.stdout
