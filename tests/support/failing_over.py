"""Statements in an HDFS whose name nodes take turns between them and while they run.

``HADOOP_CONF_DIR=… python tests/support/failing_over.py PLACE URI CONTROL SEED SCRIPT`` prints what
went wrong, and what is there in the end, in JSON.
"""

from __future__ import annotations

import json
import random
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import hivesql
from hivesql_planner.errors import HiveSqlError
from minidfs import NameService

LONGEST = 1.5
"""Seconds of a statement after which the other name node comes."""


@contextmanager
def in_the_middle(service: NameService, chance: random.Random) -> Iterator[None]:
    """Let the other name node come while the block runs, or right after it."""
    wait = chance.random() * LONGEST

    def work() -> None:
        threading.Event().wait(wait)
        service.move()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        thread.join()


def main(place: str, uri: str, control: str, seed: str, script: str) -> None:
    """Run a script, and tell errors, rows and problems."""
    service, chance = NameService(uri, Path(place), int(control)), random.Random(seed)
    errors, began = [], time.monotonic()
    settings = {"spark.master": "local[2]", "spark.driver.memory": "1g"}
    with hivesql.connect(f"sqlite:///{place}/m.db", f"{uri}/w", settings=settings) as session:
        for statement in filter(str.strip, script.split(";")):
            sys.stderr.write(f"{time.monotonic() - began:.1f} {statement.strip()}\n")
            with in_the_middle(service, chance):
                try:
                    session.sql(statement)
                except HiveSqlError as error:
                    errors.append(f"{statement.strip()}: {error}")
        service.move()
        rows = [list(row) for row in session.sql("SELECT id, v, p FROM t").rows]
        problems = [str(problem) for problem in session.check("t")]
        compactions = sorted({row[5] for row in session.sql("SHOW COMPACTIONS").rows})
    told = {"errors": errors, "rows": rows, "problems": problems, "compactions": compactions}
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main(*sys.argv[1:])
