"""Keys of object stores that are replaced in their files while a process runs."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from obstore.exceptions import BaseError

from hivesql_executor.files.stores.clients import open_store
from hivesql_planner.settings.gcs_access import GcsAccess


@contextmanager
def store_without_objects(tokens: list[str]) -> Iterator[str]:
    """A server that has nothing and notes what requests are signed with; its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            tokens.append(self.headers["Authorization"].removeprefix("Bearer "))
            self.send_response(404)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


def write_key(path: Path, number: str) -> None:
    """Write a service account's new key, and put it in place at once."""
    key = rsa.generate_private_key(65537, 2048).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    account = {
        "type": "service_account", "private_key": key.decode(), "private_key_id": number,
        "client_email": "a@b", "client_id": "1",
    }  # fmt: skip
    new = path.with_name("new")
    new.write_text(json.dumps(account))
    new.replace(path)


def read_key_id(token: str) -> str:
    """The number of the key that a token is signed with."""
    head = token.partition(".")[0]
    return str(json.loads(base64.urlsafe_b64decode(head + "=" * (-len(head) % 4)))["kid"])


def test_a_service_account_s_new_key_is_read(tmp_path: Path) -> None:
    path, tokens = tmp_path / "key.json", list[str]()
    with store_without_objects(tokens) as address:
        access = GcsAccess(bucket="b", endpoint=address, key_file=str(path), retries=0)
        for number in ("first", "second"):
            write_key(path, number)
            for _ in range(2):
                with suppress(BaseError, FileNotFoundError):
                    open_store(access, 0).head("x")
            assert open_store(access, 0) is open_store(access, 0)
    assert [read_key_id(token) for token in tokens] == ["first", "first", "second", "second"]
