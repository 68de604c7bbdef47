"""`hivesql services`: initiator, workers, cleaner and housekeepers of a warehouse."""

from __future__ import annotations

import argparse
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from hivesql import HiveSqlError, Session, connect
from hivesql.services import run_services
from hivesql_executor.service_health import ServiceHealth
from hivesql_repl.arguments import add_places, pairs
from hivesql_repl.batch import FAILED
from hivesql_repl.configuration import read_profile


def run(argv: Sequence[str]) -> int:
    """Run until SIGTERM or SIGINT, then finish what has begun; 2 when a round of --once failed."""
    arguments = _arguments().parse_args(argv)
    profile = read_profile(arguments.config, arguments.profile)
    settings = {**profile.settings, **pairs(arguments.hiveconf)}
    if arguments.workers is not None:
        settings["metastore.compactor.worker.threads"] = str(arguments.workers)
    if master := arguments.master or profile.master:
        settings["spark.master"] = master
    address = None
    if arguments.metrics is not None:
        from hivesql.metrics.server import parse_address

        address = parse_address(arguments.metrics)
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    try:
        with connect(
            arguments.metastore or profile.metastore,
            arguments.warehouse or profile.warehouse,
            settings=settings,
            notify=_tell,
        ) as session:
            health = ServiceHealth()
            with _serving(address, session, health):
                good = run_services(
                    session, stop, once=arguments.once, pool=arguments.pool, health=health
                )
    except HiveSqlError as error:
        print(f"ERROR: {error}", file=sys.stderr)
        return FAILED
    return 0 if good else FAILED


@contextmanager
def _serving(
    address: tuple[str, int] | None, session: Session, health: ServiceHealth
) -> Iterator[None]:
    """Serve metrics while the block runs, where an address was given."""
    if address is None:
        yield
        return
    from hivesql.metrics.register import new_registry, register_metrics
    from hivesql.metrics.server import serve_metrics

    registry = new_registry()
    register_metrics(session, registry, warehouse=True, health=health)
    with serve_metrics(address, registry, health.problems) as port:
        host = f"[{address[0]}]" if ":" in address[0] else address[0]
        _tell(f"metrics: http://{host}:{port}/metrics, health: /healthz")
        yield


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="hivesql services", description=run.__doc__)
    parser.add_argument("--once", action="store_true", help="one round of each, then end")
    parser.add_argument("--workers", type=int, help="how many compactions run at a time")
    parser.add_argument("--pool", help="take the requests of this pool alone")
    parser.add_argument(
        "--metrics",
        metavar="[HOST:]PORT",
        help="serve /metrics for Prometheus and /healthz (this machine alone without a host)",
    )
    add_places(parser)
    parser.add_argument("--hiveconf", action="append", default=[], metavar="KEY=VALUE")
    return parser
