"""`--metrics [HOST:]PORT` of commands that run until they are stopped."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry


def add_metrics(parser: argparse.ArgumentParser) -> None:
    """Give a command the option."""
    parser.add_argument(
        "--metrics",
        metavar="[HOST:]PORT",
        help="serve /metrics for Prometheus and /healthz (this machine alone without a host)",
    )


def check_metrics(option: str | None) -> None:
    """SemanticError for an option that is no address, before anything is opened."""
    if option is not None:
        from hivesql.metrics.server import parse_address

        parse_address(option)


@contextmanager
def serving_metrics(
    option: str | None,
    registry: CollectorRegistry | None,
    problems: Callable[[], Collection[str]],
) -> Iterator[None]:
    """Serve a registry while the block runs, and ``problems`` as health; None serves nothing."""
    if option is None or registry is None:
        yield
        return
    from hivesql.metrics.server import parse_address, serve_metrics

    address = parse_address(option)
    with serve_metrics(address, registry, problems) as port:
        host = f"[{address[0]}]" if ":" in address[0] else address[0]
        print(
            f"metrics: http://{host}:{port}/metrics, health: /healthz",
            file=sys.stderr,
            flush=True,
        )
        yield
