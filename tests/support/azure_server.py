"""Azurite, Microsoft's stand-in for Azure's blobs, on this machine."""

from __future__ import annotations

import base64
import hashlib
import hmac
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from email.utils import formatdate
from http.client import HTTPConnection
from pathlib import Path

import pytest

from programs import free_port

PLACE = Path(__file__).parents[2] / "build" / "stand-ins"
ACCOUNT = "devstoreaccount1"
"""That of Azurite, whose key everybody knows."""
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
HOST = f"{ACCOUNT}.dfs.core.windows.net"
CONTAINER = "warehouses"
_VERSION = "2023-11-03"


@dataclass(frozen=True, slots=True)
class AzureServer:
    """Where it listens, without the scheme."""

    address: str

    @property
    def home(self) -> str:
        """Location of the container."""
        return f"abfs://{CONTAINER}@{HOST}"

    def settings(self) -> dict[str, str]:
        """Settings to reach it."""
        return {
            "fs.azure.abfs.endpoint": self.address,
            "fs.azure.always.use.https": "false",
            f"fs.azure.account.hns.enabled.{HOST}": "false",
            f"fs.azure.account.key.{HOST}": KEY,
        }


@contextmanager
def azure_server() -> Iterator[AzureServer]:
    """Serve an empty container until the end of the block; skip where Azurite is not installed."""
    program = PLACE / "node_modules" / ".bin" / "azurite-blob"
    if not program.exists() or shutil.which("node") is None:
        pytest.skip("Azurite is not there: make stand-ins installs it")
    port = free_port()
    quiet = ("--inMemoryPersistence", "--silent", "--skipApiVersionCheck", "--disableTelemetry")
    with subprocess.Popen(
        [program, *quiet, "--blobPort", str(port)], stdout=subprocess.PIPE
    ) as process:
        try:
            assert process.stdout is not None
            while b"successfully" not in (line := process.stdout.readline()):
                assert line, "Azurite ended"
            _make_container(f"127.0.0.1:{port}")
            yield AzureServer(f"127.0.0.1:{port}")
        finally:
            process.kill()


def _make_container(address: str) -> None:
    """Ask for it as Microsoft's documents tell, signed by the account's key."""
    headers = {"x-ms-date": formatdate(usegmt=True), "x-ms-version": _VERSION}
    named = "\n".join(f"{name}:{text}" for name, text in headers.items())
    # In the path of the emulator the account stands twice.
    asked = f"/{ACCOUNT}/{ACCOUNT}/{CONTAINER}\nrestype:container"
    text = "\n".join(["PUT", *[""] * 11, named, asked]).encode()
    sign = hmac.new(base64.b64decode(KEY), text, hashlib.sha256).digest()
    headers["Authorization"] = f"SharedKey {ACCOUNT}:{base64.b64encode(sign).decode()}"
    asking = HTTPConnection(address)
    asking.request("PUT", f"/{ACCOUNT}/{CONTAINER}?restype=container", headers=headers)
    assert asking.getresponse().status == 201
    asking.close()
