"""Hive's own clients at our server: beeline, and the JDBC drivers of Hive 4.1 and 3.1."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pyspark
import pytest

from hivesql.server.server import Server
from interop.clients.jdbc_drivers import fetch_driver
from thrift_servers import Client, serving

pytestmark = pytest.mark.hive
WALK = Path(__file__).with_name("JdbcWalk.java")
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
