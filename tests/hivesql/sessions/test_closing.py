"""A session that one thread closes while others use it: their statements fail, and nothing else."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

import hivesql
from hivesql.sessions import spark_start
from interrupted_world import damaged

STATEMENTS = (
    "SHOW TABLES",
    "SELECT * FROM t",
    "INSERT INTO t VALUES (2)",
    "DESCRIBE t",
    "SHOW LOCKS",
)


@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_session_may_be_closed_while_its_statements_run(tmp_path: Path, statement: str) -> None:
    url = f"sqlite:///{tmp_path}/metastore.db"
    with hivesql.connect(url, str(tmp_path / "warehouse")) as session:
        session.sql("CREATE TRANSACTIONAL TABLE t (a INT) STORED AS ORC; INSERT INTO t VALUES (1)")
    for number in range(40):
        session = hivesql.connect(url, str(tmp_path / "warehouse"))
        begun, failures = threading.Event(), []

        def use(session: hivesql.Session, begun: threading.Event, failures: list[object]) -> None:
            try:
                while True:
                    session.sql(statement)
                    begun.set()
            except Exception as error:  # noqa: BLE001 - looked at below
                failures.append(error)
                begun.set()

        thread = threading.Thread(target=use, args=[session, begun, failures])
        thread.start()
        assert begun.wait(30)
        threading.Event().wait(number / 20_000)
        session.close()
        thread.join(30)
        assert not thread.is_alive()
        assert isinstance(failures[0], hivesql.HiveSqlError), failures[0]
    with hivesql.connect(url, str(tmp_path / "warehouse")) as session:
        assert {one.state for one in session.runtime.metastore.transactions()} <= {"aborted"}
        assert damaged(session) == []


def test_who_asked_for_no_spark_waits_for_no_start_of_one(tmp_path: Path) -> None:
    session = hivesql.connect(f"sqlite:///{tmp_path}/metastore.db", str(tmp_path / "warehouse"))
    session.sql("SHOW TABLES")
    # As long as the Spark of another session takes to start.
    with spark_start._starting:
        thread = threading.Thread(target=session.close)
        thread.start()
        thread.join(30)
        assert not thread.is_alive()
