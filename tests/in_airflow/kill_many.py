"""Kill tasks, their supervisors and the scheduler of a real Airflow, and count the rows after all.

    python tests/in_airflow/kill_many.py --airflow build/airflow --kills 100

Each of eight tasks runs 96 statements, each under an idempotency key: INSERTs into a table of its
own and a shared one, UPDATEs, and MERGEs of a shared count. SIGKILL hits a process a random time
after it has begun to run statements. At the end each row must be there once, and each UPDATE and
MERGE must have counted once. ``build/airflow`` is made by ``test_airflow.py``.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sqlite3
import subprocess
import tempfile
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import hivesql

ROOT = Path(__file__).parents[2]
TASKS, ROWS, EVERY = 8, 40, 5
PORT = 18_099
DAG = f"""
import os, pathlib
from datetime import datetime, timedelta
from airflow.sdk import DAG
from hivesql.airflow.operator import HiveSqlOperator

RUNNING = pathlib.Path(os.environ["RUNNING"])


class Marked(HiveSqlOperator):
    def execute(self, context):
        mark = RUNNING / str(os.getpid())
        mark.touch()
        try:
            return super().execute(context)
        finally:
            mark.unlink()


def script(task):
    lines = [f"CREATE TRANSACTIONAL TABLE IF NOT EXISTS t{{task}} (id INT, n INT) STORED AS ORC"]
    for k in range({ROWS}):
        lines.append(f"INSERT INTO t{{task}} VALUES ({{k}}, 0)")
        lines.append(f"INSERT INTO shared VALUES ({{task}}, {{k}})")
        if k % {EVERY} == {EVERY} - 1:
            lines.append(f"UPDATE t{{task}} SET n = n + 1 WHERE id <= {{k}}")
            lines.append(
                f"MERGE INTO counts c USING (SELECT {{task}} AS i) s ON c.id = s.i "
                "WHEN MATCHED THEN UPDATE SET n = c.n + 1 "
                "WHEN NOT MATCHED THEN INSERT VALUES (s.i, 1)"
            )
    return ";\\n".join(lines)


with DAG("killed", schedule=None, start_date=datetime(2024, 1, 1), max_active_tasks=3):
    for task in range({TASKS}):
        Marked(task_id=f"task{{task}}", hql=script(task), retries=1000,
               retry_delay=timedelta(seconds=0))
"""


def environment(home: Path) -> dict[str, str]:
    """The settings of an Airflow that notices soon who died."""
    extra = {
        "metastore": f"sqlite:///{home}/metastore.db", "warehouse": f"{home}/warehouse",
        "settings": {"spark.master": "local[1]", "hive.txn.timeout": "20s"},
    }  # fmt: skip
    roots = (str(ROOT / name) for name in ("hivesql", "planner", "executor", "repl"))
    settings = {
        "CORE__DAGS_FOLDER": home / "dags", "CORE__LOAD_EXAMPLES": False, "CORE__PARALLELISM": 3,
        "CORE__EXECUTOR": "LocalExecutor", "CORE__SIMPLE_AUTH_MANAGER_ALL_ADMINS": True,
        "CORE__EXECUTION_API_SERVER_URL": f"http://localhost:{PORT}/execution/",
        "CORE__INTERNAL_API_SECRET_KEY": "k" * 32, "API_AUTH__JWT_SECRET": "j" * 64,
        "API__WORKERS": 1, "API__PORT": PORT, "OPENLINEAGE__DISABLED": True,
        "SCHEDULER__TASK_INSTANCE_HEARTBEAT_SEC": 4,
        "SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT": 25,
        "SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT_DETECTION_INTERVAL": 5,
        "SCHEDULER__ORPHANED_TASKS_CHECK_INTERVAL": 15,
        "SCHEDULER__SCHEDULER_HEALTH_CHECK_THRESHOLD": 15,
    }  # fmt: skip
    return {
        **os.environ,
        **{f"AIRFLOW__{key}": str(value) for key, value in settings.items()},
        "AIRFLOW_HOME": str(home),
        "AIRFLOW_CONN_HIVESQL_DEFAULT": json.dumps({"conn_type": "hivesql", "extra": extra}),
        "PYTHONPATH": os.pathsep.join(roots),
        "RUNNING": str(home / "running"),
    }


class Cluster:
    """Airflow's processes; those that died are started anew."""

    def __init__(self, airflow: Path, home: Path) -> None:
        self.home, self.environment = home, environment(home)
        self.program = str(airflow.absolute() / "bin" / "airflow")
        self.log = (home / "log.txt").open("w")
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    def run(self, *arguments: str) -> bool:
        """Run a command of Airflow's; whether it did."""
        command = [self.program, *arguments]
        done = subprocess.run(
            command, env=self.environment, stdout=self.log, stderr=self.log, check=False
        )
        return done.returncode == 0

    def keep_up(self) -> None:
        """Start what does not run."""
        for name in ("api-server", "dag-processor", "scheduler"):
            if name not in self.processes or self.processes[name].poll() is not None:
                self.processes[name] = subprocess.Popen(
                    [self.program, name], env=self.environment, stdout=self.log, stderr=self.log,
                    start_new_session=True,
                )  # fmt: skip

    def states(self) -> Counter[str]:
        """How many tasks are in each state."""
        with closing(sqlite3.connect(self.home / "airflow.db", timeout=60)) as database:
            return Counter(
                state for (state,) in database.execute("SELECT state FROM task_instance")
            )

    def stop(self) -> None:
        """End all processes, tasks too."""
        for process in self.processes.values():
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(60)


def kill_at_random(cluster: Cluster, kills: int, choices: random.Random) -> Counter[str]:
    """Kill until there were so many, and wait until all tasks have succeeded; who was killed."""
    killed: Counter[str] = Counter()
    due: dict[str, float] = {}
    while set(cluster.states()) != {"success"}:
        cluster.keep_up()
        for mark in (cluster.home / "running").iterdir():
            if not Path("/proc", mark.name).exists():
                mark.unlink(missing_ok=True)
                continue
            now = time.monotonic()
            if now < due.setdefault(mark.name, now + choices.uniform(0.5, 6)):
                continue
            if killed.total() >= kills:
                continue
            due[mark.name] = now + 3
            (who,) = choices.choices(["task", "supervisor", "scheduler"], [80, 14, 6])
            try:
                status = Path("/proc", mark.name, "stat").read_text()
                victims = {
                    "task": int(mark.name),
                    "supervisor": int(status.rpartition(")")[2].split()[1]),
                    "scheduler": cluster.processes["scheduler"].pid,
                }
                os.kill(victims[who], signal.SIGKILL)
            except (ProcessLookupError, FileNotFoundError):
                continue  # it ended just now
            killed[who] += 1
            print(killed.total(), who, dict(cluster.states()), flush=True)
        time.sleep(0.3)
    return killed


def check(session: hivesql.Session) -> None:
    """Compare the tables with what all statements give, each run once."""
    updates = range(EVERY - 1, ROWS, EVERY)
    whole = [(k, sum(k <= last for last in updates)) for k in range(ROWS)]
    for task in range(TASKS):
        assert sorted(map(tuple, session.sql(f"SELECT id, n FROM t{task}").rows)) == whole, task
    shared = sorted(map(tuple, session.sql("SELECT i, k FROM shared").rows))
    assert shared == [(task, k) for task in range(TASKS) for k in range(ROWS)]
    counts = sorted(map(tuple, session.sql("SELECT id, n FROM counts").rows))
    assert counts == [(task, len(updates)) for task in range(TASKS)]


def main() -> None:
    """Run the tasks to their end under kills."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--airflow", type=Path, default=ROOT / "build" / "airflow")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        for folder in ("dags", "running"):
            (home / folder).mkdir()
        (home / "dags" / "killed.py").write_text(DAG)
        with hivesql.connect(f"sqlite:///{home}/metastore.db", f"{home}/warehouse") as session:
            session.sql("CREATE TRANSACTIONAL TABLE shared (i INT, k INT) STORED AS ORC")
            session.sql("CREATE TRANSACTIONAL TABLE counts (id INT, n INT) STORED AS ORC")
            cluster = Cluster(given.airflow, home)
            assert cluster.run("db", "migrate")
            cluster.keep_up()
            while not cluster.run("dags", "trigger", "killed"):
                time.sleep(5)  # until the DAG's file has been read
            assert cluster.run("dags", "unpause", "killed")
            killed = kill_at_random(cluster, given.kills, random.Random(given.seed))
            cluster.stop()
            check(session)
    print(f"killed {dict(killed)}: every row is there once")


if __name__ == "__main__":
    main()
