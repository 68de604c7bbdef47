"""Called as beeline, with the words that Airflow's HiveCliHook gives it; and ended by a signal."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import hivesql
from hivesql_executor.metastore.api import LockOwner
from hivesql_planner.locks.lock import Lock, LockType, Operation

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A PATH with `beeline`, a link to the command as it is installed."""
    programs = tmp_path / "bin"
    programs.mkdir()
    command = programs / "hivesql"
    command.write_text(
        f"#!{sys.executable}\nimport sys\nfrom hivesql_repl.start import main\nsys.exit(main())\n"
    )
    command.chmod(0o755)
    (programs / "beeline").symlink_to(command)
    return {
        **os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path / "config"), "PYTHONPATH": os.pathsep.join(sys.path),
    }  # fmt: skip


def test_airflow_calls_beeline(tmp_path: Path, environment: dict[str, str]) -> None:
    task = tmp_path / "airflow_hiveop_x"
    task.mkdir()
    script = task / "tmpabc"

    def run(hql: str) -> subprocess.CompletedProcess[str]:
        script.write_text(f"USE sales;\n{hql}\n")
        conf = {"airflow.ctx.dag_id": "d", "airflow.ctx.task_id": "t", "hive.lock.numretries": "3",
                "mapreduce.job.queuename": "q", "mapred.job.queue.name": "q",
                "tez.queue.name": "q", "mapreduce.job.priority": "HIGH",
                "mapred.job.name": "Airflow HiveOperator task for host.d.t"}  # fmt: skip
        words = [word for key, value in conf.items() for word in ("-hiveconf", f"{key}={value}")]
        return subprocess.run(
            ["beeline", "-u", '"jdbc:hive2://localhost:10000/default;auth=none"', "-n", "me",
             "-p", "secret", "--verbose=true", *words, "-f", str(script)],
            cwd=task, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, check=False, timeout=100,
        )  # fmt: skip

    refused = run("SHOW TABLES;")
    assert refused.returncode == 1
    assert "called as beeline, it must be told where the metastore is" in refused.stdout
    assert sorted(path.name for path in task.iterdir()) == ["tmpabc"]
    place = tmp_path / "config" / "hivesql" / "config.toml"
    place.parent.mkdir(parents=True)
    place.write_text(
        f'profile = "a"\n[profiles.a]\nmetastore = "sqlite:///{tmp_path}/m.db"\n'
        f'warehouse = "{tmp_path}/w"\n'
    )
    with hivesql.connect(f"sqlite:///{tmp_path}/m.db", f"{tmp_path}/w") as session:
        session.sql("CREATE DATABASE sales")
    done = run(f"CREATE TABLE t (a INT) {ACID};\nINSERT INTO t VALUES (1);\nSHOW TABLES;")
    assert done.returncode == 0, done.stdout
    assert "\nt\n" in done.stdout
    failed = run("INSERT INTO nosuch VALUES (1);")
    assert failed.returncode == 2
    assert "[Error 10001]" in failed.stdout
    assert [path.name for path in task.iterdir()] == ["tmpabc"], "nothing is left in Airflow's way"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_aborts_before_the_process_ends(
    tmp_path: Path, environment: dict[str, str], number: signal.Signals
) -> None:
    """HiveCliHook.kill ends its program so."""
    url, home = f"sqlite:///{tmp_path}/m.db", f"{tmp_path}/w"
    with hivesql.connect(url, home) as session:
        session.sql(f"CREATE TABLE t (a INT) {ACID}")
        store = session.runtime.metastore
        (txn,) = store.open_txns(1, "someone", "somewhere")
        lock = Lock(LockType.EXCLUSIVE, "default", "t", None, Operation.NO_TXN)
        store.enqueue_locks(txn, [lock], LockOwner("someone", "somewhere"))
        process = subprocess.Popen(
            ["hivesql", "--metastore", url, "--warehouse", home, "-e", "INSERT INTO t VALUES (1)"],
            env=environment, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        until = time.monotonic() + 60
        while len(store.locks()) < 2:
            assert process.poll() is None
            assert time.monotonic() < until
            time.sleep(0.05)
        process.send_signal(number)
        _, told = process.communicate(timeout=60)
        assert process.returncode == 128 + number, told
        assert "Traceback" not in told
        assert [row.state for row in store.transactions()] == ["open", "aborted"]
        assert len(store.locks()) == 1
