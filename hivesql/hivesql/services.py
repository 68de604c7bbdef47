"""Compaction and housekeeping beside the statements, for the process that keeps them running."""

from __future__ import annotations

import threading
from dataclasses import replace
from math import inf

from hivesql.compaction.owners_process import OwnersProcesses
from hivesql.session import Session
from hivesql_executor.service_health import ServiceHealth
from hivesql_executor.translate_errors import translate_errors


@translate_errors
def run_services(
    session: Session,
    stop: threading.Event,
    *,
    once: bool = False,
    pool: str | None = None,
    health: ServiceHealth | None = None,
    drain: float = inf,
) -> bool:
    """Run what the session's settings ask for until ``stop`` is set; what has begun is finished.

    What is not finished ``drain`` seconds later is given up: compactions wait again. ``once``: one
    round of each and no more. False when something failed in it, or does not end, as it waits for
    what never answers. ``health`` is told of every round, and tells others whether the threads
    beat.
    """
    from hivesql_executor.services import run_round, run_until, services_of

    session.runtime.metastore.require_writing()
    # A worker takes no further request once it is to stop.
    runtime = replace(
        session.runtime, cancelled=stop, rewrite_as=OwnersProcesses(session._spark.settings)
    )
    session._spark.must_end = runtime.must_end
    services = services_of(runtime, pool=pool)
    if once:
        return run_round(services, runtime)
    runtime.notify(f"running: {', '.join(service.name for service in services)}")
    left = run_until(stop, services, runtime, health, drain)
    if left:
        runtime.notify(
            f"{', '.join(left)} did not end within {drain:g} seconds (--drain), nor soon after: "
            "the process ends all the same. What it had begun is rolled back when it has been "
            "silent for hive.txn.timeout, or by the next services of this host"
        )
    return not left
