"""Connections are encrypted, with certificates whose files may be replaced meanwhile."""

from __future__ import annotations

import logging
import socket
import ssl
import threading
from pathlib import Path

from hivesql.server.options import ServerOptions
from hivesql_executor.files.local import FileState, read_file_state
from hivesql_planner.errors import SemanticError

_LOG = logging.getLogger("hivesql.server")


class ServerTls:
    """Encrypts connections, with certificate, key and clients' CAs of the options' files.

    Each new connection looks whether one of them has changed: certificates end, and who renews them
    writes new ones to the same place. Where the new ones cannot be used, those from before go on.
    """

    def __init__(self, options: ServerOptions, certificate: Path) -> None:
        self._certificate, self._key, self._ca = certificate, options.key, options.client_ca
        self._paths = [each for each in (certificate, options.key, options.client_ca) if each]
        self._guard = threading.Lock()
        self._states = self._read_states()
        self._context = self._read()

    def wrap_socket(self, connection: socket.socket) -> ssl.SSLSocket:
        """Shake hands with a client."""
        return self.current_context().wrap_socket(connection, server_side=True)

    def current_context(self) -> ssl.SSLContext:
        """Return what new connections are encrypted with."""
        with self._guard:
            if (states := self._read_states()) != self._states:
                self._states = states
                self._take_new()
            return self._context

    def _take_new(self) -> None:
        try:
            # An empty password: OpenSSL would ask at the terminal for that of an encrypted key.
            self._context = self._read(password="")
        except SemanticError as error:
            _LOG.warning("the certificate from before is used on: %s", error)
        else:
            _LOG.info("a new certificate is used: %s", self._certificate)

    def _read_states(self) -> list[FileState]:
        return [read_file_state(path) for path in self._paths]

    def _read(self, password: str | None = None) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        try:
            context.load_cert_chain(self._certificate, self._key, password)
        except (OSError, ssl.SSLError) as error:
            where = f" and {self._key}" if self._key else ""
            raise SemanticError(
                f"no certificate and key in {self._certificate}{where}: {error}"
            ) from error
        if self._ca is not None:
            context.verify_mode = ssl.CERT_REQUIRED
            try:
                context.load_verify_locations(self._ca)
            except (OSError, ssl.SSLError) as error:
                raise SemanticError(
                    f"no certificates of clients' CAs in {self._ca}: {error}"
                ) from error
        return context
