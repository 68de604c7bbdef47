"""`--metrics [HOST:]PORT` of commands that run until they are stopped."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hivesql_executor.statement_log import LOG, log_notice

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry


def add_metrics(parser: argparse.ArgumentParser) -> None:
    """Give a command the option."""
    parser.add_argument(
        "--metrics",
        type=_address,
        metavar="[HOST:]PORT",
        help="serve /metrics for Prometheus and /healthz (this machine alone without a host)",
    )


def _address(text: str) -> tuple[str, int]:
    from hivesql.metrics.server import parse_address

    return parse_address(text)


@contextmanager
def serving_metrics(
    address: tuple[str, int] | None,
    registry: CollectorRegistry | None,
    problems: Callable[[], Collection[str]],
) -> Iterator[None]:
    """Serve a registry while the block runs, and ``problems`` as health; None serves nothing."""
    if address is None or registry is None:
        yield
        return
    from hivesql.metrics.server import serve_metrics

    with serve_metrics(address, registry, problems) as port:
        host = f"[{address[0]}]" if ":" in address[0] else address[0]
        line = f"metrics: http://{host}:{port}/metrics, health: /healthz"
        if LOG.isEnabledFor(logging.INFO):
            log_notice(line)
        else:
            print(line, file=sys.stderr, flush=True)
        yield
