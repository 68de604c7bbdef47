"""`/metrics` and `/healthz` over HTTP, for a process that has no web server of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from hivesql_planner.errors import ExecutionError, SemanticError

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

LOOPBACK = "127.0.0.1"


def parse_address(text: str) -> tuple[str, int]:
    """Take ``[HOST:]PORT`` apart; this machine alone is served unless a host is named."""
    host, _, port = text.rpartition(":")
    if not port.isdigit() or int(port) > 65535:
        raise SemanticError(f"an address is [HOST:]PORT, as in 9464 or 0.0.0.0:9464, not {text!r}")
    return host.strip("[]") or LOOPBACK, int(port)


@contextmanager
def serve_metrics(
    address: tuple[str, int],
    registry: CollectorRegistry,
    problems: Callable[[], Collection[str]],
) -> Iterator[int]:
    """Serve until the block ends; the port, which 0 lets the system choose.

    ``/healthz`` is 200 without ``problems``, and else 503 with a line of each.
    """
    from prometheus_client.exposition import choose_encoder

    class Handler(BaseHTTPRequestHandler):
        server_version = "hivesql"
        sys_version = ""
        timeout = 30

        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            if path == "/metrics":
                encode, kind = choose_encoder(self.headers.get("Accept") or "")
                self._answer(200, kind, encode(registry))
            elif path == "/healthz":
                lines = problems()
                text = "\n".join(lines) or "ok"
                self._answer(503 if lines else 200, "text/plain; charset=utf-8", text.encode())
            else:
                self._answer(404, "text/plain", b"/metrics and /healthz are served here")

        def do_HEAD(self) -> None:
            self.do_GET()

        def _answer(self, status: int, kind: str, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def log_message(self, *arguments: Any) -> None:
            """Nothing: a scrape every few seconds is no news."""

    host, port = address
    try:
        server = _server_class(host)(address, Handler)
    except OSError as error:
        reason = error.strerror or str(error)
        raise ExecutionError(f"metrics cannot be served at {host}:{port}: {reason}") from error
    thread = threading.Thread(target=server.serve_forever, name="metrics", daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


def _server_class(host: str) -> type[ThreadingHTTPServer]:
    import socket

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        address_family = socket.AF_INET6 if ":" in host else socket.AF_INET

        def handle_error(self, request: Any, client_address: Any) -> None:
            """Nothing: who asked has hung up."""

    return Server
