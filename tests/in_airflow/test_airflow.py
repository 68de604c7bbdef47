"""HiveSQL in a real Airflow 3: provider, DAGs, lost workers, killed tasks, lineage.

Airflow comes from the package index into ``build/airflow`` once; it sees this environment's
packages behind its own, so that Spark is not installed twice.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import site
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import hivesql
from hivesql_executor.failpoints import VARIABLE, FailPoint

pytestmark = [pytest.mark.airflow, pytest.mark.spark, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
WANTED = (
    "apache-airflow==3.3.*", "apache-airflow-providers-common-sql",
    "apache-airflow-providers-openlineage", "apache-airflow-providers-apache-hive",
)  # fmt: skip
ROOTS = [str(ROOT / name) for name in ("hivesql", "planner", "executor", "repl")]

Run = Callable[..., Any]


@pytest.fixture(scope="session")
def python() -> Path:
    """The Python of an environment with Airflow and this checkout."""
    home = ROOT / "build" / "airflow"
    ready = home / "ready"
    if ready.exists() and ready.read_text() == "\n".join(WANTED):
        return home / "bin" / "python"
    uv = shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    assert uv, "uv is missing: pip install uv"
    shutil.rmtree(home, ignore_errors=True)
    quiet = {"check": True, "stdout": subprocess.DEVNULL, "timeout": 400}
    subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, str(home)], **quiet)  # type: ignore[call-overload]
    into = [uv, "pip", "install", "--quiet", "--python", str(home / "bin" / "python")]
    subprocess.run([*into, *WANTED], **quiet)  # type: ignore[call-overload]
    subprocess.run([*into, "--no-deps", "--editable", str(ROOT)], **quiet)  # type: ignore[call-overload]
    (packages,) = (home / "lib").glob("python3*/site-packages")
    (packages / "behind.pth").write_text("\n".join(site.getsitepackages()))
    ready.write_text("\n".join(WANTED))
    return home / "bin" / "python"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, python: Path) -> Path:
    """A home of Airflow with its database, the DAGs, and an empty warehouse."""
    home = tmp_path_factory.mktemp("airflow")
    dags = home / "dags"
    dags.mkdir()
    for path in (ROOT / "examples").glob("airflow_*"):
        shutil.copy(path, dags)
    for name in ("kill_dag.py", "hive_dag.py", "served_dag.py"):
        shutil.copy(HERE / name, dags)
    arguments = [str(python), "-m", "airflow", "db", "migrate"]
    subprocess.run(arguments, check=True, env=environment(home), capture_output=True, timeout=200)
    return home


def environment(home: Path) -> dict[str, str]:
    extra = {
        "metastore": f"sqlite:///{home}/metastore.db", "warehouse": f"{home}/warehouse",
        "settings": {"spark.master": "local[1]", "spark.driver.memory": "1g"},
    }  # fmt: skip
    return {
        **os.environ,
        # Airflow's thousands of modules are compiled once, not by every process anew.
        "PYTHONDONTWRITEBYTECODE": "",
        "PYTHONPATH": os.pathsep.join([*ROOTS, str(home / "dags")]),
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__DAGS_FOLDER": str(home / "dags"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__OPENLINEAGE__DISABLED": "True",
        "AIRFLOW_CONN_HIVESQL_DEFAULT": json.dumps({"conn_type": "hivesql", "extra": extra}),
        "AIRFLOW_CONN_HIVESQL_TYPED": json.dumps(
            {
                "conn_type": "hivesql",
                "extra": extra | {"settings": "hive.txn.timeout = 7s\nhive.txn.max.open.batch=5"},
            }
        ),
    }


@pytest.fixture(scope="module")
def start(place: Path, python: Path) -> Run:
    """Run a function of ``inside.py`` in Airflow's Python; the process, not awaited."""

    def run(*arguments: str, more: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        with (place / "log.txt").open("w") as log:
            return subprocess.Popen(
                [str(python), str(HERE / "inside.py"), *arguments], cwd=place, text=True,
                env=environment(place) | dict(more or {}), stdout=log, stderr=log,
            )  # fmt: skip

    return run


def answer(process: subprocess.Popen[str], place: Path) -> Any:
    code = process.wait(timeout=240)
    assert code == 0, (place / "log.txt").read_text()[-6000:]
    return json.loads((place / "answer.json").read_text())


@pytest.fixture(scope="module")
def warehouse(place: Path) -> hivesql.Session:
    return hivesql.connect(f"sqlite:///{place}/metastore.db", f"{place}/warehouse")


def rows(session: hivesql.Session, spark: Any, query: str) -> list[tuple[Any, ...]]:
    home = session.runtime.metastore.database("default").location
    with hivesql.connect(f"sqlite:///{Path(home).parent}/metastore.db", home, spark=spark) as own:
        return sorted(map(tuple, own.sql(query).rows))


def test_airflow_finds_the_provider(start: Run, place: Path) -> None:
    found = answer(start("provider"), place)
    assert found["hook"] == "HiveSQL"
    assert found["test"] == [True, "databases: default"]
    assert found["databases"] == [["default"]]
    assert found["typed"] == [["hive.txn.timeout=7s"]]
    assert found["split"] == ["SELECT ';' -- a;b", "SELECT 2"]
    assert found["asset"] == "hivesql://hivesql_default/sales/orders"


def test_a_dag_whose_worker_is_lost_right_after_a_commit(
    start: Run, place: Path, warehouse: hivesql.Session, spark: Any
) -> None:
    # The third commit is that of the first INSERT: two tables were made before.
    lost = start("dag_test", "airflow_dag", more={VARIABLE: f"{FailPoint.AFTER_COMMIT}:3"})
    assert lost.wait(timeout=240) == -signal.SIGKILL, (place / "log.txt").read_text()[-6000:]
    assert rows(warehouse, spark, "SELECT count(*) FROM orders") == [(3,)]
    states = answer(start("dag_test", "airflow_dag"), place)
    assert states == {"tables": "success", "load": "success"}
    told = (place / "log.txt").read_text()
    assert "has committed this before" in told
    assert rows(warehouse, spark, "SELECT id, day FROM orders") == [
        (1, "2024-03-01"), (2, "2024-03-01"), (3, "2024-03-01"),
    ]  # fmt: skip
    assert rows(warehouse, spark, "SELECT day, CAST(total AS INT) FROM totals") == [
        ("2024-03-01", 60)
    ]
    import sqlite3

    with sqlite3.connect(place / "airflow.db") as database:
        uris = {uri for (uri,) in database.execute("SELECT uri FROM asset")}
    database.close()
    assert uris >= {f"hivesql://hivesql_default/default/{name}" for name in ("orders", "totals")}


def test_lineage_and_errors(
    start: Run, place: Path, warehouse: hivesql.Session, spark: Any
) -> None:
    found = answer(start("operator"), place)
    assert found["done"] == {"statements": 3, "affected": 3}
    assert found["inputs"] == [["hivesql://hivesql_default", "default.orders"]]
    assert found["outputs"] == [["default.totals", 3, ["day", "total"]]]
    orders = "default.orders"
    assert found["columns"] == {"day": [[orders, "day"]], "total": [[orders, "price"]]}
    assert found["sql"]
    assert "SELEKT" in found["refused"]
    assert rows(warehouse, spark, "SELECT * FROM totals") == []


def test_spans_and_lines_of_a_task_have_its_statements_ids(start: Run, place: Path) -> None:
    given = answer(start("traced"), place)
    statements = [(parent, name) for span, parent, name in given["spans"] if "statement" in span]
    assert [parent for parent, _ in statements] == ["task", "task"]
    parts = [(parent, name) for span, parent, name in given["spans"] if "statement" not in span]
    assert set(parts) == {("hivesql.statement", name) for _, name in statements}
    assert statements[-1][1] == given["failed"]
    log = (place / "log.txt").read_text()
    assert f"SHOW DATABASES [{statements[0][1]}]" in log
    assert f"statement {given['failed']} failed: " in log


def test_hive_operator_runs_us_as_beeline_and_as_hive(
    start: Run, place: Path, python: Path, warehouse: hivesql.Session, spark: Any
) -> None:
    programs, config = place / "bin", place / "config" / "hivesql"
    programs.mkdir()
    config.mkdir(parents=True)
    for name in ("beeline", "hive"):
        (programs / name).symlink_to(python.parent / "hivesql")
    (config / "config.toml").write_text(
        f'profile = "here"\n[profiles.here]\nmetastore = "sqlite:///{place}/metastore.db"\n'
        f'warehouse = "{place}/warehouse"\n'
    )
    connection = {"conn_type": "hive_cli", "host": "localhost", "port": 10000, "schema": "default",
                  "login": "ann", "password": "secret", "extra": {"use_beeline": True}}  # fmt: skip
    more = {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "XDG_CONFIG_HOME": str(config.parent),
        "AIRFLOW_CONN_BY_BEELINE": json.dumps(connection),
        "AIRFLOW_CONN_BY_HIVE": json.dumps({"conn_type": "hive_cli"}),
    }
    states = answer(start("dag_test", "hive_dag", more=more), place)
    assert states == {"by_beeline": "success", "by_hive": "success", "fails": "failed"}
    told = (place / "log.txt").read_text()
    assert "tez.queue.name=etl" in told
    assert re.search(r"ERROR: .*:3:13: .*nosuch", told)
    assert rows(warehouse, spark, "SELECT * FROM parcels") == [
        (2, "2024-03-01", "by_beeline"), (3, "", ""),
    ]  # fmt: skip
    assert [str(one) for one in warehouse.runtime.metastore.tables("depot")] == ["depot.days"]


@pytest.fixture
def served(place: Path, python: Path) -> Iterator[dict[str, str]]:
    """A server of the warehouse; the environment that has its connection."""
    command = [
        str(python), "-m", "hivesql_repl", "serve", "--port", "0", "--metastore",
        f"sqlite:///{place}/metastore.db", "--warehouse", f"{place}/warehouse",
        "--master", "local[1]", "--hiveconf", "spark.driver.memory=1g", "--lazy-spark",
    ]  # fmt: skip
    server = subprocess.Popen(
        command, cwd=place, env=environment(place), stderr=subprocess.PIPE, text=True
    )
    assert server.stderr
    with server, server.stderr as told:
        while not (address := re.search(r"jdbc:hive2://(.*):(\d+)/", line := told.readline())):
            assert line, "the server has ended"
        reader = threading.Thread(target=told.read)
        reader.start()
        connection = {"conn_type": "hivesql", "host": address[1], "port": int(address[2]),
                      "login": "ann", "password": "secret"}  # fmt: skip
        custom = {"auth_mechanism": "CUSTOM"}
        by_pyhive = connection | {"conn_type": "hiveserver2", "extra": custom}
        yield {
            "AIRFLOW_CONN_HIVESQL_SERVED": json.dumps(connection),
            "AIRFLOW_CONN_HIVESQL_SERVER": json.dumps(connection),
            "AIRFLOW_CONN_BY_HIVESERVER2": json.dumps(by_pyhive),
        }
        server.terminate()
        reader.join()


def test_a_server_runs_what_a_trigger_waits_for(
    start: Run, place: Path, served: dict[str, str], warehouse: hivesql.Session, spark: Any
) -> None:
    # The second run is of the same tasks: what they have committed is not done again.
    for _ in range(2):
        states = answer(start("dag_test", "served_dag", more=served), place)
        assert states == {
            "deferred": "success", "awaited": "success", "checked_hivesql_default": "success",
            "checked_by_hiveserver2": "success", "wrong": "failed", "alone": "failed",
        }  # fmt: skip
    told = (place / "log.txt").read_text()
    assert "SELEKT" in told
    assert groups_of_statements(told)
    assert "deferrable=True needs a connection with a host" in told
    for kind in ("deferred", "awaited"):
        found = rows(warehouse, spark, f"SELECT * FROM parcels_{kind}")
        assert found == [(1, f"{kind}; not the end")]
    import sqlite3

    with sqlite3.connect(place / "airflow.db") as database:
        uris = {uri for (uri,) in database.execute("SELECT uri FROM asset")}
    database.close()
    tables = ("parcels_deferred", "parcels_awaited")
    assert uris >= {f"hivesql://hivesql_served/default/{table}" for table in tables}
    deferred = "default.parcels_deferred"
    assert answer(start("served_lineage", more=served), place) == {
        "inputs": [[deferred, 2]],
        "outputs": [["default.parcels_awaited", 1, ["id", "task"]]],
        "types": ["int", "string"],
        "columns": {"id": [[deferred, "id"]], "task": [[deferred, "task"]]},
    }


def groups_of_statements(log: str) -> list[str]:
    """The folded parts of a log that are ours; each ends before anything else begins.

    Airflow closes groups of its own that ``dag.test`` has not opened.
    """
    groups: list[str] = []
    is_open = False
    for mark in re.findall(r"::group::[^\n]*|::endgroup::", log):
        assert not (is_open and mark != "::endgroup::"), f"{groups[-1]} is open before {mark}"
        is_open = "::group::statement" in mark
        groups += [mark] if is_open else []
    assert not is_open
    return groups


def test_the_example_of_a_deferred_load_and_checks_at_a_server(
    start: Run, place: Path, served: dict[str, str], warehouse: hivesql.Session, spark: Any
) -> None:
    # That is examples/airflow_served_dag.py.
    states = answer(start("dag_test", "airflow_served_dag", more=served), place)
    assert states == {
        "load": "success", "columns": "success", "rows": "success", "total": "success",
        "is_heavy": "success", "truck": "success", "bicycle": "skipped",
    }  # fmt: skip
    assert len(groups_of_statements((place / "log.txt").read_text())) == 4
    assert rows(warehouse, spark, "SELECT id, kilos FROM arrivals") == [(1, 2.5)]
    assert rows(warehouse, spark, "SELECT * FROM weights") == [("2024-03-01", 42.5)]


def test_a_killed_task_cancels_and_aborts(
    start: Run, place: Path, warehouse: hivesql.Session
) -> None:
    store = warehouse.runtime.metastore
    process = start("dag_test", "kill_dag")
    until = time.monotonic() + 120
    while not any(lock.table == "endless" and lock.txn_id for lock in store.locks()):
        assert process.poll() is None, (place / "log.txt").read_text()[-6000:]
        assert time.monotonic() < until
        time.sleep(0.2)
    time.sleep(3)
    began = time.monotonic()
    process.send_signal(signal.SIGTERM)
    states = answer(process, place)
    assert time.monotonic() - began < 60
    assert states == {"endless": "failed"}
    assert "open" not in {one.state for one in store.transactions()}
    assert store.locks() == ()


WAYS = ("the step fails", "the process dies", "the step succeeds, and says that it did not",
        "killed", "timed out")  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_a_task_interrupted_at_any_step_is_whole_after_its_next_attempt(
    python: Path, tmp_path: Path, way: str
) -> None:
    roots = os.pathsep.join([*ROOTS, str(ROOT / "tests"), str(ROOT / "tests" / "support")])
    process = subprocess.run(
        [str(python), str(HERE / "interrupted_task.py"), way], cwd=tmp_path, capture_output=True,
        text=True, env=environment(tmp_path) | {"PYTHONPATH": roots}, timeout=400, check=False,
    )  # fmt: skip
    assert process.returncode == 0, process.stderr[-6000:]
    told = json.loads((tmp_path / "answer.json").read_text())
    assert told["failed"] > told["tried"] * 2 // 3 > 10
