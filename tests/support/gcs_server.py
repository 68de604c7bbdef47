"""A stand-in for Google Cloud Storage on this machine: fake-gcs-server behind a door of ours.

It knows Google's JSON. What clients ask in the store's other language, XML, and it does not know
(to write an object on condition, and to copy one), the door puts into JSON.
"""

from __future__ import annotations

import json
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from typing import Any
from urllib.parse import quote, unquote

import pytest
from werkzeug.serving import WSGIRequestHandler, make_server

from azure_server import PLACE
from programs import free_port

PROGRAM = PLACE / "fake-gcs-server"
BUCKET = "warehouses"
_PASSED_ON = ("content-type", "content-range", "range", "if-match", "if-none-match", "x-goog-")


# Hadoop 3.5 has a connector of its own, of which some settings are not read by Google's.
_OF_GOOGLES_OWN = {
    "fs.gs.impl": "com.google.cloud.hadoop.fs.gcs.GoogleHadoopFileSystem",
    "fs.gs.block.size": "67108864",
    "fs.gs.outputstream.buffer.size": "8388608",
    "fs.gs.outputstream.sync.min.interval": "0",
    "fs.gs.rewrite.max.chunk.size": "536870912",
    "fs.gs.inputstream.inplace.seek.limit": "8388608",
    "fs.gs.inputstream.min.range.request.size": "2097152",
}


@dataclass
class GcsServer:
    """Where it listens, and what it was asked."""

    url: str = ""
    requests: list[str] = field(default_factory=list)
    """Method and path of each."""

    @property
    def home(self) -> str:
        """Location of the bucket."""
        return f"gs://{BUCKET}"

    def settings(self) -> dict[str, str]:
        """Settings to reach it."""
        return {
            "fs.gs.storage.root.url": f"{self.url}/",
            "fs.gs.auth.type": "UNAUTHENTICATED",
            "fs.gs.auth.service.account.enable": "false",
            "fs.gs.auth.null.enable": "true",
            "fs.gs.project.id": "a-project",
            **_OF_GOOGLES_OWN,
        }


class _Quiet(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"

    def log(self, type: str, message: str, *args: Any) -> None:
        """Nothing."""


def _in_json(method: str, path: str, headers: dict[str, str]) -> tuple[str, str]:
    """The method and path of a request of XML's where the server knows only that of JSON's."""
    bucket, _, key = path.partition("?")[0].lstrip("/").partition("/")
    if method != "PUT" or bucket in ("storage", "upload"):
        return method, path
    name = quote(unquote(key), safe="")
    generation = headers.pop("x-goog-if-generation-match", "")
    condition = f"ifGenerationMatch={generation}" if generation else ""
    source = headers.pop("x-goog-copy-source", "")
    if source:
        home, _, old = source.lstrip("/").partition("/")
        place = f"{home}/o/{quote(unquote(old), safe='')}/rewriteTo/b/{bucket}/o/{name}"
        return "POST", f"/storage/v1/b/{place}?{condition}"
    return "POST", f"/upload/storage/v1/b/{bucket}/o?uploadType=media&name={name}&{condition}"


@contextmanager
def gcs_server() -> Iterator[GcsServer]:
    """Serve an empty bucket until the end of the block; skip where the server is not installed."""
    if not PROGRAM.exists():
        pytest.skip("fake-gcs-server is not there: make stand-ins installs it")
    server, port, lock = GcsServer(), free_port(), threading.Lock()

    def ask(method: str, path: str, body: bytes | None, headers: dict[str, str]) -> Any:
        asking = HTTPConnection("127.0.0.1", port)
        try:
            asking.request(method, path, body, headers)
            answer = asking.getresponse()
            return answer.status, answer.reason, answer.getheaders(), answer.read()
        finally:
            asking.close()

    def serve(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        method, path = environ["REQUEST_METHOD"], environ["REQUEST_URI"]
        with lock:
            server.requests.append(f"{method} {path}")
        headers = {
            key.removeprefix("HTTP_").replace("_", "-").lower(): text
            for key, text in environ.items()
            if isinstance(text, str) and (key.startswith("HTTP_") or key == "CONTENT_TYPE")
        }
        headers = {key: text for key, text in headers.items() if key.startswith(_PASSED_ON)}
        # What comes in chunks ends by itself, nothing else does.
        length = -1 if environ.get("wsgi.input_terminated") else environ.get("CONTENT_LENGTH")
        body = environ["wsgi.input"].read(int(length or 0))
        asked, (method, path) = method, _in_json(method, path, headers)
        headers["host"] = server.url.removeprefix("http://")
        status, reason, told, text = ask(method, path, body, headers)
        dropped = ("transfer-encoding", "connection", "content-length")
        kept = [(key, each) for key, each in told if key.lower() not in dropped]
        length = next((each for key, each in told if key.lower() == "content-length"), None)
        if asked != method and status == 200:
            written = json.loads(text).get("resource") or json.loads(text)
            kept.append(("ETag", written["etag"]))
            kept.append(("x-goog-generation", written["generation"]))
        kept.append(("Content-Length", length if method == "HEAD" and length else str(len(text))))
        start(f"{status} {reason}", kept)
        return [text]

    http = make_server("127.0.0.1", 0, serve, threaded=True, request_handler=_Quiet)
    server.url = f"http://127.0.0.1:{http.server_port}"
    address = server.url.removeprefix("http://")
    thread = threading.Thread(target=http.serve_forever, daemon=True)
    thread.start()
    with subprocess.Popen(
        [PROGRAM, "-scheme", "http", "-host", "127.0.0.1", "-port", str(port), "-backend",
         "memory", "-public-host", address, "-external-url", server.url, "-log-level", "error"],
    ) as process:  # fmt: skip
        try:
            deadline = time.monotonic() + 30
            while True:
                try:
                    ask("POST", "/storage/v1/b?project=p", f'{{"name":"{BUCKET}"}}'.encode(), {})
                    break
                except ConnectionRefusedError:
                    assert time.monotonic() < deadline and process.poll() is None
                    time.sleep(0.05)
            yield server
        finally:
            process.kill()
            http.shutdown()
            thread.join()
            http.server_close()
