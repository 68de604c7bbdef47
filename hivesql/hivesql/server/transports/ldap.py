"""Who may log in: whom a directory (LDAP) lets in with the password that the client gave."""

from __future__ import annotations

import logging
import ssl
from typing import Any

from hivesql.server.options import LdapOptions
from hivesql.server.protocol import LoginError
from hivesql_executor.metastore.extras import to_install
from hivesql_planner.errors import SemanticError

_LOG = logging.getLogger("hivesql.server")
_SECONDS = 4
"""For the directory to answer, within those that a login may take."""


class Directory:
    """Asks a directory by logging in there: nothing is searched, no other account needed."""

    at_once_of_address = 8

    def __init__(self, options: LdapOptions) -> None:
        """SemanticError without the package ``ldap3``, or for a CA that cannot be read."""
        try:
            import ldap3
        except ModuleNotFoundError as error:
            raise SemanticError(f"LDAP needs the package ldap3: {to_install('ldap')}") from error
        self._options = options
        ca = options.ca
        if ca is not None and not ca.is_file():
            raise SemanticError(f"no certificates of the directory's CA in {ca}: --ldap-ca")
        tls = ldap3.Tls(validate=ssl.CERT_REQUIRED, ca_certs_file=str(ca) if ca else None)
        self._server = ldap3.Server(
            options.url, tls=tls, get_info=ldap3.NONE, connect_timeout=_SECONDS
        )

    def accepts(self, user: str, password: str) -> bool:
        """Tell whether one of the names that the patterns make of the user's has the password."""
        # A directory takes whoever shows no password at all, as nobody in particular.
        if not password or user != user.strip():
            return False
        return any(self._binds(pattern, user, password) for pattern in self._options.names)

    def _binds(self, pattern: str, user: str, password: str) -> bool:
        import ldap3
        from ldap3.core.exceptions import LDAPException

        connection: Any = ldap3.Connection(
            self._server,
            user=pattern.replace("%s", _escaped(user) if "=" in pattern else user),
            password=password,
            receive_timeout=_SECONDS,
            read_only=True,
            raise_exceptions=False,
        )
        try:
            if self._options.must_encrypt and not connection.start_tls():
                raise LoginError(f"{self._options.url} does not encrypt (StartTLS)")
            return bool(connection.bind())
        except (LDAPException, OSError) as error:
            _LOG.error("the directory %s cannot be asked: %s", self._options.url, error)
            raise LoginError(f"the directory {self._options.url} cannot be asked") from None
        finally:
            connection.unbind()


def _escaped(user: str) -> str:
    """Let a name be a value within the name of an entry, and nothing else."""
    from ldap3.utils.dn import escape_rdn

    escaped: str = escape_rdn(user)
    return escaped
