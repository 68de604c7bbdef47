"""An S3 server on this machine, which counts what it is asked, and fails or delays it on demand."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode

import pyspark
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server

POM = Path(__file__).parents[1] / "interop" / "object_stores" / "pom.xml"
BUCKET = "bucket"
ASKED = "/-/requests"
"""Answers with the requests since it was asked last, in JSON; with ``?calm`` no more fails."""
_ANSWERS = {
    "slow": ("503 Slow Down", "SlowDown"),
    "denied": ("403 Forbidden", "AccessDenied"),
    "wrong": ("403 Forbidden", "SignatureDoesNotMatch"),
    "skewed": ("403 Forbidden", "RequestTimeTooSkewed"),
    "unknown": ("403 Forbidden", "InvalidAccessKeyId"),
    "expired": ("400 Bad Request", "ExpiredToken"),
    "region": ("400 Bad Request", "AuthorizationHeaderMalformed"),
    "moved": ("301 Moved Permanently", "PermanentRedirect"),
    "page": ("200 OK", ""),
    "broken": ("500 Internal Server Error", "InternalError"),
    "hollow": ("200 OK", "InternalError"),
    "conflict": ("409 Conflict", "ConditionalRequestConflict"),
    "taken": ("412 Precondition Failed", "PreconditionFailed"),
    "gone": ("404 Not Found", "NoSuchBucket"),
}


_LATE = 0.05
"""Seconds that a late request waits."""


@dataclass
class S3Server:
    """Where it listens, and what becomes of the next requests."""

    url: str = ""
    latency: float = 0.0
    """Seconds that each request takes longer."""
    fault: Callable[[str], str] = lambda request: ""
    """What happens to a request (as ``requests`` tells it), '' for its answer.

    ``slow``, ``denied``, ``wrong`` (the secret is), ``unknown`` (the key is), ``expired`` (the
    token is), ``skewed`` (the clock is), ``region`` and ``moved`` (the bucket is in another one)
    refuse it, ``page`` answers like the web, ``broken`` carries it out and says 500, ``reset``
    carries it out and ends the connection,
    ``dropped`` ends it at once, ``half`` ends it within the answer, ``late`` makes it wait,
    ``unconditional`` forgets its conditions, ``hollow`` says 200 and an error behind it,
    ``conflict`` and ``taken`` refuse it as one on a condition, ``gone`` as of no bucket.
    """
    most_names: int = 0
    """Names on a page of a list; 0 for what is asked for."""
    waits: Callable[[str], object] = lambda request: None
    """Called with a request before it is carried out, which waits for its end."""
    requests: list[str] = field(default_factory=list)
    times: list[tuple[str, float, float]] = field(default_factory=list)
    """Of each request that was answered: itself, when it came and when its answer was there."""

    def settings(self) -> dict[str, str]:
        """Settings to reach it."""
        s3a = {
            "endpoint": self.url,
            "endpoint.region": "us-east-1",
            "access.key": "a-key",
            "secret.key": "a-secret",
            "path.style.access": "true",
        }
        return {f"fs.s3a.{name}": value for name, value in s3a.items()}


def _name_of(environ: dict[str, Any]) -> str:
    """A request as ``LIST t/delta``: GET, HEAD, PUT, COPY, DELETE, LIST or POST and the key."""
    query = parse_qs(environ.get("QUERY_STRING", ""))
    key = environ["PATH_INFO"].removeprefix(f"/{BUCKET}").lstrip("/")
    if environ["REQUEST_METHOD"] == "GET" and "list-type" in query:
        return f"LIST {query.get('prefix', [''])[0]}"
    if "HTTP_X_AMZ_COPY_SOURCE" in environ:
        return f"COPY {key}"
    return f"{environ['REQUEST_METHOD']} {key}"


def count_rounds(times: Iterable[tuple[str, float, float]]) -> int:
    """Count the requests, at most, of which each began when the one before had ended."""
    rounds, free = 0, float("-inf")
    for _, begun, ended in sorted(times, key=lambda request: request[2]):
        if begun >= free:
            rounds, free = rounds + 1, ended
    return rounds


class _Quiet(WSGIRequestHandler):
    def log(self, type: str, message: str, *args: Any) -> None:
        """Nothing."""


def _half(body: bytes, connection: socket.socket) -> Iterator[bytes]:
    """Give half of an answer, whose length was told, and end the connection."""
    yield body[: len(body) // 2]
    connection.shutdown(socket.SHUT_RDWR)


def _cut(environ: dict[str, Any], most: int) -> dict[str, Any]:
    """Let a list ask for so many names on a page."""
    query = parse_qs(environ.get("QUERY_STRING", ""), keep_blank_values=True)
    if not most or "list-type" not in query:
        return environ
    return {**environ, "QUERY_STRING": urlencode({**query, "max-keys": [most]}, doseq=True)}


def _refuse(fault: str, start: Callable[..., Any]) -> list[bytes]:
    """Answer otherwise than a store that does what it is asked."""
    status, code = _ANSWERS[fault]
    start(status, [("Content-Type", "application/xml" if code else "text/html")])
    if not code:
        return [b"<html><body>Please log in</body></html>"]
    return [f"<?xml version='1.0'?><Error><Code>{code}</Code></Error>".encode()]


@contextmanager
def s3_server() -> Iterator[S3Server]:
    """Serve an empty bucket until the end of the block."""
    # The kit looks for credentials of its own otherwise.
    os.environ.setdefault("AWS_ACCESS_KEY_ID", "a-key")
    os.environ.setdefault("AWS_SECRET_ACCESS_KEY", "a-secret")
    server, store, lock = (
        S3Server(),
        DomainDispatcherApplication(create_backend_app),
        threading.Lock(),
    )

    def serve(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        if environ["PATH_INFO"] == ASKED:
            with lock:
                told, server.requests = server.requests, []
                if environ.get("QUERY_STRING") == "calm":
                    server.fault = lambda request: ""
            start("200 OK", [("Content-Type", "application/json")])
            return [json.dumps(told).encode()]
        name, begun = _name_of(environ), time.monotonic()
        with lock:
            server.requests.append(name)
            fault = server.fault(name)
        time.sleep(server.latency)
        server.waits(name)
        if fault == "unconditional":
            environ.pop("HTTP_IF_NONE_MATCH", None)
        if fault == "late":
            time.sleep(_LATE)
        if fault in ("", "unconditional", "late"):
            answer: Iterable[bytes] = store(_cut(environ, server.most_names), start)
            server.times.append((name, begun, time.monotonic()))
            return answer
        if fault == "half":
            return _half(b"".join(store(environ, start)), environ["werkzeug.socket"])
        if fault in ("broken", "reset"):
            list(store(environ, lambda *_: None))
        if fault in ("reset", "dropped"):
            environ["werkzeug.socket"].shutdown(socket.SHUT_RDWR)
            # Of which the client sees nothing any more.
            start("200 OK", [])
            return []
        return _refuse(fault, start)

    http = make_server("127.0.0.1", 0, serve, threaded=True, request_handler=_Quiet)
    server.url = f"http://127.0.0.1:{http.server_port}"
    thread = threading.Thread(target=http.serve_forever, daemon=True)
    thread.start()
    try:
        import boto3

        boto3.client("s3", endpoint_url=server.url, region_name="us-east-1").create_bucket(
            Bucket=BUCKET
        )
        server.requests.clear()
        yield server
    finally:
        http.shutdown()
        thread.join()
        http.server_close()


def s3a_jars(place: Path, version: str | None = None) -> list[Path]:
    """S3A for a version of Hadoop, without one for the installed Spark's; Maven fetches it once."""
    if version is None:
        hadoop = next(Path(pyspark.__file__).parent.glob("jars/hadoop-client-api-*.jar"))
        version = hadoop.stem.rpartition("-")[2]
    place = place / f"s3a-{version}"
    if not place.is_dir():
        subprocess.run(
            ["mvn", "-q", "-B", "-f", POM, "dependency:copy-dependencies",
             f"-Dhadoop.version={version}", f"-DoutputDirectory={place}"],
            check=True, stdout=subprocess.DEVNULL,
        )  # fmt: skip
    return sorted(place.glob("*.jar"))
