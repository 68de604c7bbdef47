"""How a server is to behave; the defaults are safe on a machine with other users and networks."""

from __future__ import annotations

from dataclasses import dataclass, field
from ipaddress import ip_address
from os import fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from hivesql.connections import DEFAULT_WAREHOUSE
from hivesql_executor.files.locations import complete_location
from hivesql_planner.errors import SemanticError
from hivesql_planner.settings.settings import LOCAL_PLACES

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

Authentication = Literal["nosasl", "none", "password", "ldap", "kerberos"]
Protection = Literal["auth", "auth-int", "auth-conf"]
Transport = Literal["binary", "http"]
TRANSPORTS: tuple[Transport, ...] = ("binary", "http")
AUTHENTICATIONS: tuple[Authentication, ...] = ("nosasl", "none", "password", "ldap", "kerberos")
PROTECTIONS: tuple[Protection, ...] = ("auth", "auth-int", "auth-conf")
_WITH_PROOF = ("password", "ldap", "kerberos")
_OF_SPARK = {"spark.scheduler.mode": "FAIR"}
"""By which sessions share the tasks that run at once, each its part, instead of the first all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LdapOptions:
    """Which directory knows the users, and what they are called there."""

    url: str
    """``ldaps://host`` or ``ldap://host``, which is encrypted by StartTLS unless it is local."""
    names: tuple[str, ...]
    """Names to log in with; ``%s`` stands for the user's: of entries, or ``%s@domain``."""
    ca: Path | None = None
    """Whose certificate the directory has, in the PEM format; None for those of the system."""

    @property
    def must_encrypt(self) -> bool:
        """Tell whether the password would travel in the clear."""
        return self.url.startswith("ldap://") and not _is_local(urlsplit(self.url).hostname or "")

    def check(self) -> None:
        """SemanticError for what is no address, and for names without a place for the user's."""
        if urlsplit(self.url).scheme not in ("ldap", "ldaps"):
            raise SemanticError(f"--ldap-url is ldaps://host[:port] or ldap://…, not {self.url!r}")
        if not self.names or not all("%s" in name for name in self.names):
            raise SemanticError(
                "--ldap-name tells what users are called in the directory, such as "
                "uid=%s,ou=people,dc=example,dc=com: %s stands for the user's name"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class KerberosOptions:
    """Who the server is in Kerberos, and how messages must be protected at least."""

    principal: str
    """``hive/_HOST@REALM``; _HOST stands for this machine's full name."""
    keytab: Path
    protection: Protection = "auth"
    """Hive's ``hive.server2.thrift.sasl.qop``: ``auth-int`` signs, ``auth-conf`` encrypts. Clients
    may ask for more."""


def _is_local(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOptions:
    """Where to listen, who may come in, and how much each may take. Times are in seconds."""

    host: str = "127.0.0.1"
    port: int = 10000
    """0 takes one that is free."""
    authentication: Authentication = "none"
    """``nosasl``: Thrift alone; ``none``: SASL with any password; ``password``: as in the file;
    ``ldap``: as the directory has it; ``kerberos``: by tickets."""
    transport: Transport = "binary"
    password_file: Path | None = None
    ldap: LdapOptions | None = None
    kerberos: KerberosOptions | None = None
    certificate: Path | None = None
    """In the PEM format; with it connections are encrypted."""
    key: Path | None = None
    """The certificate's private key; None where the certificate's file has it."""
    client_ca: Path | None = None
    """Clients must show a certificate that one of these has signed; None asks for none."""
    allow_local: bool = False
    """Whether statements may touch the server's own machine: local files, jars, programs."""
    most_sessions: int = 100
    most_sessions_of_user: int = 20
    most_operations: int = 100
    """Of one session, that are not closed."""
    most_statement: int = 10 * 2**20
    """Characters of a statement with its variables, as Hive's ``hive.query.max.length``."""
    most_result_bytes: int = 10 * 2**30
    most_result_memory: int = 256 * 2**20
    """Bytes that the open results of all sessions may have in memory together; more of them wait
    in files."""
    most_frame_bytes: int = 64 * 2**20
    session_idle: float = 3600.0
    operation_idle: float = 600.0
    login_seconds: float = 10.0
    message_seconds: float = 60.0
    """What a client has to send a message, or to take in an answer, once it has begun."""
    drain_seconds: float = 30.0
    """What running statements have to end when the server is to stop."""
    starts_spark: bool = True
    """Whether Spark starts with the server, and not with the first statement that needs it."""
    metrics: CollectorRegistry | None = None
    """Where the statements of all sessions are counted, and what goes on in the warehouse."""
    connection: dict[str, Any] = field(default_factory=dict)
    """What ``hivesql.connect`` is given for each session, without its user."""

    @property
    def of_spark(self) -> dict[str, Any]:
        """Give what ``hivesql.connect`` is given for the session that Spark begins with."""
        arguments = dict(self.connection)
        return arguments | {"settings": _OF_SPARK | dict(arguments.get("settings") or {})}

    @property
    def of_sessions(self) -> dict[str, Any]:
        """Give what sessions are opened with: they name local places of the warehouse alone."""
        arguments = self.of_spark
        if not self.allow_local:
            warehouse = complete_location(fspath(arguments.get("warehouse") or DEFAULT_WAREHOUSE))
            arguments["settings"] = {LOCAL_PLACES: warehouse} | dict(
                arguments.get("settings") or {}
            )
        # Of a metastore that the server has opened before them.
        return arguments | {"warehouse": None}

    @property
    def is_local(self) -> bool:
        """Tell whether nobody from another machine can connect."""
        return _is_local(self.host)

    def _check_unused(self) -> None:
        """SemanticError for what was given and nothing would look at."""
        if self.password_file is not None and self.authentication != "password":
            raise SemanticError(
                f"--password-file has no effect with --auth {self.authentication}: leave one out"
            )

    def _check_numbers(self) -> None:
        if not 0 <= self.port <= 65535:
            raise SemanticError(f"--port is a number from 0 to 65535, not {self.port}")
        numbers = {
            "--max-sessions": self.most_sessions,
            "--max-sessions-of-user": self.most_sessions_of_user,
            "--max-statement": self.most_statement,
            "--max-result-bytes": self.most_result_bytes,
            "--max-result-memory": self.most_result_memory,
            "--session-idle": self.session_idle,
            "--operation-idle": self.operation_idle,
        }
        for name, number in numbers.items():
            if not number > 0:
                raise SemanticError(f"{name} is more than 0, not {number:g}")
        if not self.drain_seconds >= 0:
            raise SemanticError(f"--drain is 0 or more, not {self.drain_seconds:g}")

    def check(self) -> None:
        """SemanticError where the options contradict each other, or would let anybody in."""
        if self.authentication == "password" and self.password_file is None:
            raise SemanticError("authentication by password needs --password-file")
        if (self.ldap is not None) != (self.authentication == "ldap"):
            raise SemanticError("--auth ldap needs --ldap-url, and has it for itself")
        if self.ldap is not None:
            self.ldap.check()
        if (self.kerberos is not None) != (self.authentication == "kerberos"):
            raise SemanticError("--auth kerberos needs --keytab and --principal, as they need it")
        if self.authentication not in _WITH_PROOF and not self.is_local:
            raise SemanticError(
                f"{self.host} can be reached from other machines: without --password-file, "
                "--ldap-url or --keytab the server listens on 127.0.0.1 alone, where everybody is "
                "who they say they are"
            )
        self._check_unused()
        self._check_numbers()
        if self.transport == "http" and self.authentication == "nosasl":
            raise SemanticError("by HTTP clients tell their names: nosasl is for binary alone")
        if self.key is not None and self.certificate is None:
            raise SemanticError("--key needs --certificate")
        if self.client_ca is not None and self.certificate is None:
            raise SemanticError("--client-ca needs --certificate: clients show theirs in TLS alone")
