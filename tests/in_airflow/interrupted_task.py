"""A task of the operator that goes wrong at each of its steps, and is tried again."""

from __future__ import annotations

import itertools
import json
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from airflow.exceptions import AirflowException
from airflow.sdk import AssetAlias
from airflow.sdk.exceptions import AirflowTaskTimeout

from hivesql.airflow.operator import HiveSqlOperator
from hivesql_planner.errors import HiveSqlError
from interrupted_world import ACID, World, damaged, settle
from interruption import Cut, Death, Steps, interrupted

BEFORE = f"CREATE TABLE t (a INT, b STRING) {ACID}; INSERT INTO t VALUES (1, 'x'), (2, 'y')"
SCRIPT = f"""
    CREATE TABLE IF NOT EXISTS u (a INT) PARTITIONED BY (p STRING) {ACID};
    INSERT INTO u PARTITION (p = 'new') VALUES (7), (8);
    UPDATE t SET b = 'changed' WHERE a = 1;
    TRUNCATE TABLE u PARTITION (p = 'new')
"""


class Signalled(Steps):
    """Steps before one of which a signal arrives, whose handler is done before the step goes on."""

    def __init__(self, number: int, at: int) -> None:
        super().__init__(at=at)
        self._number = number
        self.handled = threading.Event()

    def take(self, name: str, step: Callable[[], Any]) -> Any:
        self.taken.append(name)
        if len(self.taken) == self.at:
            os.kill(os.getpid(), self._number)
            self.handled.wait(5)
        return step()


class Attempt:
    """One attempt of a task with its own operator, as Airflow has one in every process."""

    def __init__(self) -> None:
        self.alias = AssetAlias("written")
        self.names: list[str] = []
        self.task = HiveSqlOperator(
            task_id="cut", hql=SCRIPT, idempotency_key="task", outlets=[self.alias], kill_timeout=5
        )

    def run(self) -> BaseException | None:
        """Run it; what Airflow would be told of it."""
        try:
            self.task.execute({"outlet_events": {self.alias: self}})
        except BaseException as error:  # noqa: BLE001 - what a dead process and a time-out raise
            return error
        return None

    def add(self, asset: Any) -> None:
        """Receive an asset event."""
        self.names.append(asset.uri.rpartition("/")[2])


def steps_of(way: str, at: int, attempt: Attempt) -> Steps:
    """Make what goes wrong at a step; signals do what Airflow's runner of tasks does."""
    if way in (Cut.DIES, Cut.FAILS, Cut.UNANSWERED):
        return Steps(cut=Cut(way), at=at)
    number = signal.SIGTERM if way == "killed" else signal.SIGALRM
    steps = Signalled(number, at)

    def handle(_number: int, _frame: object) -> None:
        steps.handled.set()
        if number == signal.SIGALRM:
            raise AirflowTaskTimeout("too long")
        attempt.task.on_kill()

    signal.signal(number, handle)
    return steps


def try_every_step(way: str) -> dict[str, Any]:
    """Let the first attempt go wrong at its steps; the second must end as if it had not."""
    world = World(Path("interrupted") / way.replace(" ", "_"))
    world.now.mkdir(parents=True)
    with world.open() as empty:
        empty.sql("SHOW TABLES")
    fresh = world.root / "fresh.db"
    (world.now / "metastore.db").rename(fresh)
    world.prepare(BEFORE, fresh)
    os.environ["AIRFLOW_CONN_HIVESQL_DEFAULT"] = json.dumps(
        {"conn_type": "hivesql",
         "extra": {"metastore": world.url, "warehouse": str(world.now / "warehouse")}}
    )  # fmt: skip
    whole = Attempt()
    assert whole.run() is None
    with world.open() as session:
        after = world.look(session)
    tried, failed = 0, 0
    for at in itertools.count(1, 1 if way == Cut.FAILS else 2):
        world.reset()
        first, second = Attempt(), Attempt()
        steps = steps_of(way, at, first)
        with interrupted(steps):
            error = first.run()
        if not steps.happened:
            assert error is None, error
            break
        where = f"{way} at step {at} of {steps.taken}: {error!r}"
        known = (HiveSqlError, AirflowException, AirflowTaskTimeout, Death)
        assert error is None or isinstance(error, known), where
        tried, failed = tried + 1, failed + (error is not None)
        with settle(world) as session:
            assert damaged(session) == [], where
        again = second.run()
        assert again is None, f"{where}; then {again!r}"
        assert sorted(second.names) == sorted(whole.names), where
        with settle(world) as session:
            assert world.look(session) == after, where
            assert damaged(session) == [], where
            assert session.runtime.metastore.locks() == (), where
    return {"tried": tried, "failed": failed}


if __name__ == "__main__":
    Path("answer.json").write_text(json.dumps(try_every_step(sys.argv[1])))
