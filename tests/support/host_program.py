"""A session on one of several hosts, which runs what it is told, a line of JSON after the other.

``python tests/support/host_program.py METASTORE WAREHOUSE SETTINGS`` reads from its input
``{"sql": …}`` and answers ``{"rows": …}`` or ``{"error": class, "message": …}``. ``{"repeat": …,
"times": n}`` runs a statement with ``{n}`` for 0, 1, … and tells which numbers succeeded, and what
errors there were. ``{"call": "services"}`` runs one round of the services.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from typing import Any

import hivesql
from hivesql.services import run_services


def _tell(answer: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(answer, default=str) + "\n")
    sys.stdout.flush()


def _notify(line: str) -> None:
    sys.stderr.write(f"{os.uname().nodename}: {line}\n")


def _error(error: Exception) -> dict[str, Any]:
    return {"error": type(error).__name__, "message": str(error)}


def _answer(session: hivesql.Session, asked: dict[str, Any]) -> dict[str, Any]:
    if "call" in asked:
        return {"ok": run_services(session, threading.Event(), once=True)}
    if "repeat" in asked:
        done, errors = [], []
        for number in range(asked["times"]):
            try:
                session.sql(asked["repeat"].replace("{n}", str(number)))
                done.append(number)
            except hivesql.HiveSqlError as error:
                errors.append([number, type(error).__name__, str(error)])
        return {"done": done, "errors": errors}
    return {"rows": [[*row] for row in session.sql(asked["sql"]).rows]}


def main(metastore: str, warehouse: str, settings: str) -> None:
    """Answer until the input ends."""
    # A JVM hangs under another clock.
    os.environ.pop("LD_PRELOAD", None)
    with hivesql.connect(
        metastore, warehouse, settings=json.loads(settings), notify=_notify
    ) as session:
        _tell({"ready": time.time()})
        for line in sys.stdin:
            began = time.monotonic()
            try:
                answer = _answer(session, json.loads(line))
            except Exception as error:  # noqa: BLE001 - whatever it is, the test judges it
                answer = _error(error)
            answer["seconds"] = time.monotonic() - began
            _tell(answer)


if __name__ == "__main__":
    main(*sys.argv[1:])
