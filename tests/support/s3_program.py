"""Statements in a process of its own whose Spark reaches an S3 server.

``python tests/support/s3_program.py URL`` reads in JSON from its standard input: ``metastore``,
``warehouse``, ``settings`` and ``statements``. It prints ``ready`` before the first statement, and
the number of each that has ended with its error. Then it cleans aborted writes, and prints in JSON
what came of all: ``rows`` or ``error`` of each, ``seconds``, and the ``requests`` that the server
at the URL counted; and the ``files`` and ``problems`` that are left.
"""

from __future__ import annotations

import json
import re
import sys
import time
import urllib.request
from typing import Any

import hivesql
from hivesql_executor.compaction.aborts import clean_aborted
from hivesql_executor.metastore.api import AbortLimits


def _requests(url: str, query: str = "") -> list[str]:
    with urllib.request.urlopen(f"{url}{query}") as answer:
        told: list[str] = json.load(answer)
    return told


def _run(session: hivesql.Session, statement: str, url: str) -> dict[str, Any]:
    _requests(url)
    start, outcome = time.monotonic(), {}
    try:
        outcome["rows"] = [[*row] for row in session.sql(statement).rows]
    except hivesql.HiveSqlError as error:
        outcome["error"] = str(error)
    seconds = time.monotonic() - start
    return {**outcome, "seconds": seconds, "requests": _requests(url)}


def _files(session: hivesql.Session, home: str) -> list[str]:
    """Paths below the warehouse; those of tasks of Spark's have no names of their own."""
    listed = session.runtime.files(home).list(home)
    return [re.sub(r"part-00000-.*", "part", file.path) for file in listed]


def _main(url: str) -> None:
    asked = json.load(sys.stdin)
    home = asked["warehouse"]
    with hivesql.connect(asked["metastore"], home, settings=asked["settings"]) as session:
        # To start Spark is nobody's time.
        session.sql("SELECT stack(2, 1, 2)")
        _tell("ready")
        outcomes = []
        for number, statement in enumerate(asked["statements"]):
            outcomes.append(_run(session, statement, url))
            _tell(f"{number} {outcomes[-1].get('error', '')}".strip().replace("\n", " "))
        _requests(url, "?calm")
        clean_aborted(session.runtime, AbortLimits(count=0, age=0))
        catalog = session.runtime.metastore
        problems = [
            f"{name}: {problem}"
            for name in catalog.tables("default")
            if catalog.table(name).is_transactional
            for problem in session.check(str(name))
        ]
        left = {"files": _files(session, home), "problems": problems}
    _tell(json.dumps({"outcomes": outcomes, **left}, default=str))


def _tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    _main(sys.argv[1])
