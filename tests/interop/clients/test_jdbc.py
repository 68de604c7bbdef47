"""Hive's own clients at our server: beeline, and the JDBC drivers of Hive 4.1 and 3.1."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pyspark
import pytest

from hivesql.server.server import Server
from interop.clients.jdbc_drivers import fetch_driver
from thrift_servers import Client, serving

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.hive
WALK = Path(__file__).with_name("JdbcWalk.java")
INTERRUPTS = Path(__file__).with_name("JdbcInterrupts.java")
JARS = Path(pyspark.__path__[0]) / "jars"
KEYS = (
    "CREATE TABLE pk (a INT, CONSTRAINT k PRIMARY KEY (a) DISABLE NOVALIDATE)",
    "CREATE TABLE fk (x INT, CONSTRAINT r FOREIGN KEY (x) REFERENCES pk (a) DISABLE NOVALIDATE)",
    "CREATE TABLE t (i INT COMMENT 'number', s STRING, d DECIMAL(10,2), b BINARY) STORED AS ORC "
    "TBLPROPERTIES ('transactional'='true')",
    "INSERT INTO t VALUES (1, 'a', 1.50, 'xy'), (2, NULL, NULL, NULL)",
    "CREATE VIEW v AS SELECT i FROM t",
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("server"), authentication="nosasl") as server:
        with Client(server).open() as client:
            for text in KEYS:
                client.checked(client.execute(text))
        yield server


@pytest.fixture(scope="module")
def web_server(server: Server) -> Iterator[Server]:
    """On the same warehouse, by HTTP."""
    places = server.options.connection
    with serving(Path(places["warehouse"]).parent, transport="http") as web_server:
        yield web_server


@pytest.fixture(scope="module", params=["4.1.0", "3.1.3"])
def driver(request: pytest.FixtureRequest) -> Path:
    return fetch_driver(str(request.param))


def test_the_jdbc_driver(server: Server, driver: Path) -> None:
    url = f"jdbc:hive2://127.0.0.1:{server.port}/default;auth=noSasl"
    statements = (
        "SELECT * FROM t ORDER BY i",
        "INSERT INTO t VALUES (3, 'c', 2, 'z')",
        "UPDATE t SET s = 'd' WHERE i > 1",
        "DELETE FROM t WHERE i = 3",
        "UPDATE t SET s = NULL WHERE s = 'd'",
        "SELECT nosuch FROM t",
    )
    done = subprocess.run(
        ["java", "-cp", str(driver), str(WALK), url, *statements],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    # It is the driver that tells its own version.
    version = driver.name.split("-")[2]
    assert lines[:3] == [f"Apache Hive by {version}", "# schemas|string|string", "default|"]
    parts = {part.split("\n")[0].partition("|")[0]: part.split("\n")[1:]
             for part in done.stdout.strip().split("\n# ")}  # fmt: skip
    tables = [line.split("|")[2:5] for line in parts["tables"]]
    assert tables == [["fk", "TABLE", "null"], ["pk", "TABLE", "null"], ["t", "TABLE", "null"],
                      ["v", "VIEW", "null"]]  # fmt: skip
    columns = [line.split("|") for line in parts["columns"]]
    assert [[row[3], row[4], row[5], row[6], row[11]] for row in columns] == [
        ["i", "4", "INT", "10", "number"], ["s", "12", "STRING", "2147483647", "null"],
        ["d", "3", "DECIMAL", "10", "null"], ["b", "-2", "BINARY", "2147483647", "null"],
    ]  # fmt: skip
    assert parts["keys"] == ["null|default|pk|a|1|k"]
    assert parts["references"] == ["null|default|pk|a|null|default|fk|x|1|3|3|r|k|7"]
    assert parts["functions"][0].split("|")[2] == "concat"
    assert "# rows|int|string|decimal|binary\n1|a|1.50|xy\n2|null|null|null\n" in done.stdout
    counts = [line for line in done.stdout.splitlines() if line.startswith("updated")]
    # The driver of Hive 3.1 never asks how many rows there were.
    assert counts == [f"updated {n if version > '4' else -1}" for n in (1, 2, 1, 1)]
    assert "error 42000 10004" in done.stdout
    assert parts["prepared"] == ["a"]


def test_the_jdbc_driver_over_http(web_server: Server, driver: Path) -> None:
    url = f"jdbc:hive2://127.0.0.1:{web_server.port}/default;transportMode=http;httpPath=cliservice"
    done = subprocess.run(
        ["java", "-cp", str(driver), str(WALK), url, "SELECT i, d FROM t WHERE i = 1"],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "# rows|int|decimal\n1|1.50\n" in done.stdout


def test_beeline(server: Server) -> None:
    url = f"jdbc:hive2://127.0.0.1:{server.port}/default;auth=noSasl"
    script = "SELECT i, s FROM t WHERE i = 1; DESCRIBE t; !primarykeys pk\n!tables\n!columns v\n"
    done = subprocess.run(
        ["java", "-cp", f"{JARS}/*", "org.apache.hive.beeline.BeeLine", "-u", url, "-n", "ann",
         "--outputformat=tsv2", "--color=false"],
        input=script.replace("; ", ";\n"), capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert "i\ts\n1\ta\n" in done.stdout, done.stderr
    assert "col_name\tdata_type\tcomment\ni\tint\tnumber\n" in done.stdout
    assert "\tdefault\tpk\ta\t1\tk\n" in done.stdout
    assert "\tdefault\tv\tVIEW\t" in done.stdout
    assert "Connected to: Apache Hive (version 4.1.0)" in done.stderr
    assert "INFO  : Executing command(queryId=hivesql_" in done.stderr


@pytest.mark.spark
def test_what_the_driver_throws_of_interrupted_statements(
    spark: SparkSession, driver: Path, tmp_path: Path
) -> None:
    session = spark.newSession()
    session.range(10**15).createOrReplaceTempView("endless")
    query, change = "SELECT count(*) FROM endless WHERE id % 7 = 8", "UPDATE t SET i = 3"
    write, some = "INSERT INTO p SELECT id FROM endless", "SELECT id FROM endless LIMIT 50"
    late = "SQLTimeoutException null 0 Query timed out after 1 seconds"
    # The older driver has no dot.
    cancelled = f"SQLException 01000 0 Query was cancelled{'.' if '4.1' in driver.name else ''}"
    # Seconds of the time-out, milliseconds until another thread cancels (-1: when ten rows are
    # read), and how it ends.
    cases = (
        (1, 0, query, late), (0, 900, query, cancelled), (1, 0, change, late),
        (0, 900, change, cancelled), (1, 0, write, late), (0, 900, write, cancelled),
        (0, 900, "DROP TABLE t", cancelled), (0, -1, some, "50 rows"), (9, 0, some, "50 rows"),
    )  # fmt: skip
    options = {"authentication": "nosasl", "connection": {"spark": session}}
    with serving(tmp_path, **options) as server, Client(server).open() as owner:
        for text in (
            "CREATE TRANSACTIONAL TABLE t (i INT) STORED AS ORC", "INSERT INTO t VALUES (1)",
            "CREATE TRANSACTIONAL TABLE p (i BIGINT) STORED AS ORC",
            "START TRANSACTION", "UPDATE t SET i = 2",
        ):  # fmt: skip
            owner.checked(owner.execute(text))
        url = f"jdbc:hive2://127.0.0.1:{server.port}/default;auth=noSasl"
        done = subprocess.run(
            ["java", "-cp", str(driver), str(INTERRUPTS), url,
             *(str(part) for case in cases for part in case[:3])],
            capture_output=True, text=True, check=False, timeout=240,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        # After each the next one works.
        assert done.stdout.splitlines() == [
            line for *_, outcome in cases for line in (outcome, "1 rows")
        ]
        assert {row[2] for row in owner.rows("SHOW LOCKS")} == {"t"}
        owner.checked(owner.execute("COMMIT"))
        assert owner.rows("SHOW LOCKS") == []
        assert owner.rows("SELECT i FROM t") == [(2,)]
        warehouse = Path(server.options.connection["warehouse"])
        assert [*(warehouse / "p").iterdir()] == []
