"""Certificates whose files are replaced while a server runs, as their renewal does."""

from __future__ import annotations

import logging
import socket
import ssl
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization

from certificates import write_certificate
from hivesql.server.server import Server
from thrift_servers import serving


def read_certificate(server: Server, shown: Path | None = None) -> str:
    """The certificate that a server shows, which is not checked; a client may show one too."""
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.check_hostname, client.verify_mode = False, ssl.CERT_NONE
    if shown is not None:
        client.load_cert_chain(shown)
    with (
        socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection,
        client.wrap_socket(connection) as stream,
    ):
        return ssl.DER_cert_to_PEM_cert(stream.getpeercert(binary_form=True) or b"")


def split_certificate(path: Path) -> tuple[str, str]:
    """A certificate and its key, of the file that has both."""
    certificate, mark, key = path.read_text().partition("-----BEGIN PRIVATE KEY")
    return certificate, mark + key


@pytest.mark.parametrize("transport", ["binary", "http"])
def test_new_connections_are_shown_the_new_certificate(
    tmp_path: Path, transport: str, caplog: pytest.LogCaptureFixture
) -> None:
    (first, first_key), (second, second_key) = (
        split_certificate(write_certificate(tmp_path / name)) for name in ("a.pem", "b.pem")
    )
    certificate, key = tmp_path / "tls.crt", tmp_path / "tls.key"
    certificate.write_text(first)
    key.write_text(first_key)
    with (
        caplog.at_level(logging.INFO, "hivesql.server"),
        serving(tmp_path, certificate=certificate, key=key, transport=transport) as server,
    ):
        caplog.clear()
        assert read_certificate(server) == first and not caplog.messages
        # Between the two, and where there is none or a broken one, the first is shown.
        certificate.write_text(second)
        assert read_certificate(server) == first
        assert f"no certificate and key in {certificate} and {key}: " in caplog.messages[-1]
        key.write_text(second_key)
        assert read_certificate(server) == second
        assert caplog.messages[-1] == f"a new certificate is used: {certificate}"
        certificate.unlink()
        assert read_certificate(server) == second
        assert "the certificate from before is used on" in caplog.messages[-1]
        count = len(caplog.messages)
        assert read_certificate(server) == second and len(caplog.messages) == count
        certificate.write_text(second)
        assert read_certificate(server) == second
        # Kubernetes, and who writes beside and renames, puts links and files in place at once.
        for path, text in ((certificate, first), (key, first_key)):
            (tmp_path / "new").write_text(text)
            (tmp_path / "new").replace(path)
        assert read_certificate(server) == first


def test_an_encrypted_key_is_refused_and_not_waited_for(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = write_certificate(tmp_path / "server.pem")
    certificate, key = split_certificate(path)
    with serving(tmp_path, certificate=path) as server:
        private = serialization.load_pem_private_key(key.encode(), None)
        locked = private.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(b"secret"),
        )  # fmt: skip
        path.write_text(certificate + locked.decode())
        assert read_certificate(server) == certificate
        assert "the certificate from before is used on" in caplog.messages[-1]


def test_new_authorities_of_clients_count(tmp_path: Path) -> None:
    own, other = (write_certificate(tmp_path / name) for name in ("a.pem", "b.pem"))
    trusted = tmp_path / "trusted.pem"
    trusted.write_text(own.read_text())
    with serving(tmp_path, certificate=own, client_ca=trusted) as server:
        assert may_log_in(server, own) and not may_log_in(server, other)
        trusted.write_text(other.read_text())
        assert may_log_in(server, other) and not may_log_in(server, own)


def may_log_in(server: Server, shown: Path) -> bool:
    """Tell whether a client that shows this certificate is answered."""
    client = ssl.create_default_context(cafile=Path(str(server.options.certificate)))
    client.load_cert_chain(shown)
    address = ("127.0.0.1", server.port)
    try:
        with (
            socket.create_connection(address, timeout=20) as connection,
            client.wrap_socket(connection, server_hostname="localhost") as stream,
        ):
            stream.sendall(b"\x01\x00\x00\x00\x04NONE")
            return bool(stream.recv(1))
    except (ssl.SSLError, ConnectionError):
        return False
