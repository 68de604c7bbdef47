"""Small statements on warehouses in Azure and Google Cloud Storage, without Spark."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

import pytest

import hivesql
from azure_server import azure_server
from gcs_server import gcs_server

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
SCRIPT = {
    f"CREATE TABLE t (k INT, v STRING) PARTITIONED BY (d STRING) {ACID}": [],
    "INSERT INTO t VALUES (1, 'a', 'x/y ü%2F'), (2, 'b', 'z'), (3, 'c', 'z')": [],
    "UPDATE t SET v = 'u' WHERE k = 2": [],
    "DELETE FROM t WHERE k = 3": [],
    "SELECT * FROM t ORDER BY k": [(1, "a", "x/y ü%2F"), (2, "u", "z")],
    "TRUNCATE TABLE t PARTITION (d = 'z')": [],
    "SELECT count(*) FROM t": [(1,)],
    "ALTER TABLE t DROP PARTITION (d = 'z')": [],
    "ALTER TABLE t RENAME TO u": [],
    "SELECT k, v FROM u": [(1, "a")],
    "DROP TABLE u": [],
}


class Server(Protocol):
    @property
    def home(self) -> str: ...

    def settings(self) -> dict[str, str]: ...


SERVERS: dict[str, Callable[[], AbstractContextManager[Server]]] = {
    "azure": azure_server,
    "google": gcs_server,
}


@pytest.fixture(scope="module", params=SERVERS)
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    if sys.modules.get("pyspark"):
        from pyspark import SparkContext

        if SparkContext._active_spark_context is not None:
            pytest.skip("sessions of a process use the Spark that runs in it")
    with SERVERS[request.param]() as running:
        yield running


def test_small_statements_need_no_spark(server: Server, tmp_path: Path) -> None:
    with hivesql.connect(
        f"sqlite:///{tmp_path}/m.db", f"{server.home}/w", settings=server.settings()
    ) as session:
        for statement, rows in SCRIPT.items():
            assert [*session.sql(statement).rows] == rows, statement
        files = session.runtime.files(f"{server.home}/w")
        assert files.list(f"{server.home}/w") == ()
        files.write(f"{server.home}/w/one", b"1")
        with pytest.raises(hivesql.HiveSqlError, match="exists already, and was not written over"):
            files.write(f"{server.home}/w/one", b"2")
        assert files.read(f"{server.home}/w/one", 0, 1) == b"1"
        assert not session._spark.started


def test_a_container_that_is_not_there_is_told(tmp_path: Path) -> None:
    with (
        azure_server() as server,
        hivesql.connect(f"sqlite:///{tmp_path}/m.db", settings=server.settings()) as session,
    ):
        elsewhere = server.home.replace("warehouses", "nowhere")
        with pytest.raises(hivesql.HiveSqlError, match="Make the container, or correct its name"):
            session.runtime.files(elsewhere).list(f"{elsewhere}/w")
