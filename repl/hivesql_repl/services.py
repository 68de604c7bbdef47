"""`hivesql services`: initiator, workers, cleaner and housekeepers of a warehouse."""

from __future__ import annotations

import argparse
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from types import FrameType
from typing import TYPE_CHECKING

from hivesql import HiveSqlError, connect
from hivesql.services import run_services
from hivesql_executor.service_health import ServiceHealth
from hivesql_executor.statement_log import LOG, with_id
from hivesql_repl.arguments import add_connection, command_parser, with_flags
from hivesql_repl.batch import FAILED
from hivesql_repl.configuration import read_profile
from hivesql_repl.logs import JSON, add_log_format, log_as_json
from hivesql_repl.metrics import add_metrics, serving_metrics
from hivesql_repl.output.errors import print_error

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

_DRAIN_SECONDS = 300.0


def run(argv: Sequence[str]) -> int:
    """Run until SIGTERM or SIGINT, then finish what has begun, within --drain seconds.

    2 when a round of --once failed, or something did not end.
    """
    arguments = make_parser().parse_args(argv)
    if arguments.workers is not None and arguments.workers < 0:
        raise ValueError(f"--workers is 0 or more, not {arguments.workers}")
    if not arguments.drain >= 0:
        raise ValueError(f"--drain is 0 or more, not {arguments.drain:g}")
    profile = with_flags(read_profile(arguments.config, arguments.profile), arguments)
    settings = dict(profile.settings)
    if arguments.workers is not None:
        settings["metastore.compactor.worker.threads"] = str(arguments.workers)
    if arguments.log_format == JSON:
        log_as_json()
    stop, health = threading.Event(), ServiceHealth()
    # Until there is something to finish, a metastore that does not answer is waited for no longer.
    _heed(signal.default_int_handler)
    try:
        # Before a metastore is made: the package that it needs may be missing.
        registry = _registry(arguments)
        with connect(
            profile.metastore,
            profile.warehouse,
            settings=settings,
            notify=None if arguments.log_format == JSON else _tell,
        ) as session:
            if registry is not None:
                from hivesql.metrics.register import register_metrics

                register_metrics(session, registry, warehouse=True, health=health)
            with serving_metrics(arguments.metrics, registry, health.problems):
                _heed(lambda *_: stop.set())
                good = run_services(
                    session, stop, once=arguments.once, pool=arguments.pool, health=health,
                    drain=arguments.drain,
                )  # fmt: skip
    except KeyboardInterrupt:
        return 0
    except HiveSqlError as error:
        if arguments.log_format == JSON:
            LOG.error("%s", error)
        else:
            print_error(error)
        return FAILED
    if health.running():
        # Python would wait for the threads that those have started.
        logging.shutdown()
        sys.stderr.flush()
        os._exit(FAILED)
    return 0 if good else FAILED


def _registry(arguments: argparse.Namespace) -> CollectorRegistry | None:
    if arguments.metrics is None:
        return None
    from hivesql.metrics.register import new_registry

    return new_registry()


def _heed(handler: Callable[[int, FrameType | None], object]) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, handler)


def _tell(line: str) -> None:
    print(with_id(line), file=sys.stderr, flush=True)


def make_parser() -> argparse.ArgumentParser:
    """Make the parser of `hivesql services`."""
    parser = command_parser("hivesql services", run.__doc__)
    parser.add_argument("--once", action="store_true", help="one round of each, then end")
    parser.add_argument("--workers", type=int, help="how many compactions run at a time")
    parser.add_argument(
        "--drain", type=float, default=_DRAIN_SECONDS, metavar="SECONDS",
        help="what has begun may take so long after SIGTERM; then Spark's jobs are stopped, and "
        "compactions wait again (default: %(default)g)",
    )  # fmt: skip
    parser.add_argument("--pool", help="take the requests of this pool alone")
    add_metrics(parser)
    add_log_format(parser)
    add_connection(parser)
    return parser
