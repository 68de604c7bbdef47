"""Kill triggerer and server while a deferred script waits, and count the rows after all.

    python tests/in_airflow/restart_deferred.py --airflow build/airflow

The script's second statement waits for a lock. Meanwhile SIGKILL hits a real Airflow's triggerer,
the server (``hivesql serve``), and both. Each is started anew; when the lock is given back, each
statement must have counted once.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import hivesql

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "tests" / "support"), str(ROOT / "tests" / "in_airflow")]

import kill_many  # noqa: E402 - its folder is on the path now

from programs import free_port  # noqa: E402
from waiting import wait_until  # noqa: E402

DAG = """
from datetime import datetime, timedelta
from airflow.sdk import DAG
from hivesql.airflow.operator import HiveSqlOperator

with DAG("killed", schedule=None, start_date=datetime(2024, 1, 1)):
    HiveSqlOperator(
        task_id="deferred", hivesql_conn_id="hivesql_served", deferrable=True, poll_interval=0.5,
        hql="INSERT INTO t VALUES (1); UPDATE counts SET n = n + 1 WHERE id = 1; "
        "INSERT INTO t VALUES (2)", retries=20, retry_delay=timedelta(seconds=0),
    )
"""
SECONDS = 240


class Warehouse:
    """The server of a warehouse, which may be killed, and somebody who holds a lock in it."""

    def __init__(self, home: Path, port: int) -> None:
        self.home, self.port = home, port
        place = (f"sqlite:///{home}/metastore.db", f"{home}/warehouse")
        # Its heartbeats must suffice for the server, which takes silence for death sooner.
        settings = {"hive.txn.timeout": "20s"}
        self.session = hivesql.connect(*place, settings=settings)
        self.session.sql("CREATE TRANSACTIONAL TABLE t (id INT) STORED AS ORC")
        self.session.sql("CREATE TRANSACTIONAL TABLE counts (id INT, n INT) STORED AS ORC")
        self.session.sql("INSERT INTO counts VALUES (1, 0)")
        self.holder = hivesql.connect(*place, settings=settings)
        self.holder.sql("START TRANSACTION; UPDATE counts SET n = n WHERE id = 1")
        self.log = (home / "server.txt").open("w")

    def serve(self) -> subprocess.Popen[bytes]:
        """Start a server, as after a crash."""
        command = [
            sys.executable, "-m", "hivesql_repl", "serve", "--port", str(self.port),
            "--auth", "nosasl", "--lazy-spark", "--warehouse", f"{self.home}/warehouse",
            "--metastore", f"sqlite:///{self.home}/metastore.db",
            "--hiveconf", "hive.txn.timeout=20s", "--hiveconf", "hive.lock.numretries=1000",
        ]  # fmt: skip
        return subprocess.Popen(command, stdout=self.log, stderr=self.log)

    def waiting(self) -> set[str]:
        """Return the transactions that wait for the lock; a dead server's waits for a while too."""
        shown = self.session.sql("SHOW LOCKS counts")
        locks = [dict(zip(shown.columns, row, strict=True)) for row in shown.rows]
        return {lock["transaction_id"] for lock in locks if lock["lock_state"] == "WAITING"}


class Cluster(kill_many.Cluster):
    """Airflow with a triggerer, which is noticed soon when it has died."""

    def __init__(self, airflow: Path, home: Path, port: int) -> None:
        super().__init__(airflow, home)
        connection = {
            "conn_type": "hivesql", "host": "127.0.0.1", "port": port, "login": "etl",
            "extra": {"sasl": False},
        }  # fmt: skip
        self.environment |= {
            "AIRFLOW_CONN_HIVESQL_SERVED": json.dumps(connection),
            "AIRFLOW__TRIGGERER__JOB_HEARTBEAT_SEC": "2",
            "AIRFLOW__TRIGGERER__TRIGGERER_HEALTH_CHECK_THRESHOLD": "10",
        }

    def keep_up(self) -> None:
        """Start what does not run."""
        super().keep_up()
        if "triggerer" not in self.processes or self.processes["triggerer"].poll() is not None:
            self.processes["triggerer"] = subprocess.Popen(
                [self.program, "triggerer"], env=self.environment, stdout=self.log,
                stderr=self.log, start_new_session=True,
            )  # fmt: skip

    def stop(self) -> None:
        """End all processes at once: what they would say is not asked for."""
        for process in self.processes.values():
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def await_with(cluster: Cluster, is_so: Callable[[], bool]) -> None:
    """Wait for something, and start meanwhile what has died."""

    def look() -> bool:
        cluster.keep_up()
        return is_so()

    wait_until(look, SECONDS, pause=1)


def main() -> None:
    """Kill while the statement waits, and let it go on."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--airflow", type=Path, default=ROOT / "build" / "airflow")
    airflow = parser.parse_args().airflow
    kill_many.PORT, port = free_port(), free_port()
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        for folder in ("dags", "running"):
            (home / folder).mkdir()
        (home / "dags" / "killed.py").write_text(DAG)
        warehouse = Warehouse(home, port)
        server = warehouse.serve()
        cluster = Cluster(airflow, home, port)
        assert cluster.run("db", "migrate")
        cluster.keep_up()
        while not cluster.run("dags", "trigger", "killed"):
            time.sleep(5)  # until the DAG's file has been read
        assert cluster.run("dags", "unpause", "killed")
        known: set[str] = set()
        try:
            for victims in ("triggerer", "server", "triggerer server"):
                await_with(cluster, lambda: warehouse.waiting() - known)
                known.update(warehouse.waiting())
                if "triggerer" in victims:
                    os.killpg(cluster.processes["triggerer"].pid, signal.SIGKILL)
                if "server" in victims:
                    server.kill()
                    server.wait()
                    server = warehouse.serve()
                print(f"killed {victims}", dict(cluster.states()), flush=True)
            await_with(cluster, lambda: warehouse.waiting() - known)
            warehouse.holder.sql("COMMIT")
            await_with(cluster, lambda: set(cluster.states()) == {"success"})
        except BaseException:
            print((home / "log.txt").read_text()[-4000:], (home / "server.txt").read_text()[-2000:])
            raise
        finally:
            cluster.stop()
            server.kill()
        rows = sorted(map(tuple, warehouse.session.sql("SELECT id FROM t").rows))
        counts = [tuple(row) for row in warehouse.session.sql("SELECT n FROM counts").rows]
        assert (rows, counts) == ([(1,), (2,)], [(1,)]), (rows, counts)
    print("every statement has counted once")


if __name__ == "__main__":
    main()
