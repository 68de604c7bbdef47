"""HiveServer2's protocol over Spark, to drivers that are not ours."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from impala.dbapi import connect as connect_impala
from impala.error import OperationalError
from pyhive import hive

from hivesql.server.server import Server
from thrift_servers import Client, serving

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
MANY = "SELECT id, CAST(id AS STRING) s, id / 3 q FROM many"


@pytest.fixture(scope="module")
def server(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    session = spark.newSession()
    session.range(200_000).createOrReplaceTempView("many")
    session.range(10**15).createOrReplaceTempView("endless")
    with serving(tmp_path_factory.mktemp("server"), connection={"spark": session}) as server:
        yield server


@pytest.fixture
def impala(server: Server) -> Iterator[Any]:
    with connect_impala("127.0.0.1", server.port, auth_mechanism="PLAIN", user="bob",
                        password="any") as connection:  # fmt: skip
        cursor = connection.cursor()
        yield cursor
        cursor.close()


def test_values_of_every_type(impala: Any) -> None:
    impala.execute(
        "SELECT date '2020-01-02', timestamp '2020-01-02 03:04:05.000000678', "
        "cast('x' as binary), array(1, null), map('a', array(1)), "
        "named_struct('x', 1.50, 'y', cast(1.1 as float)), "
        "cast(1.1 as float), 1e20D, cast('a' as char(3)), "
        "interval '1-2' year to month, interval '1 02:03:04' day to second, null, "
        "cast(5 as tinyint), cast(0.0000001 as decimal(10,7))"
    )
    assert [column[1] for column in impala.description[:9]] == [
        "DATE", "TIMESTAMP", "BINARY", "ARRAY", "MAP", "STRUCT", "FLOAT", "DOUBLE", "CHAR"
    ]  # fmt: skip
    (row,) = impala.fetchall()
    # The driver leaves texts of nested types as they come.
    assert tuple(v.decode() if isinstance(v, bytes) else v for v in row[3:]) == (
        "[1,null]", '{"a":[1]}', '{"x":1.5,"y":1.1}', 1.1, 1e20, "a  ", "1-2",
        "1 02:03:04.000000000", None, 5, Decimal("0.0000001"),
    )  # fmt: skip


def test_a_map_with_null_as_its_key_fails_where_it_is_evaluated(impala: Any) -> None:
    # As dbt asks for the type of a column.
    query = "SELECT * FROM (SELECT CAST(map(NULL, NULL) AS map<string,string>) AS m) q WHERE "
    impala.execute(f"{query} false LIMIT 0")
    assert (impala.description[0][:2], impala.fetchall()) == (("q.m", "MAP"), [])
    with pytest.raises(OperationalError, match="Cannot use NULL as a key of a map"):
        impala.execute(f"{query} true")


@pytest.fixture(scope="module")
def plain(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """On the same warehouse, without SASL: for a client that is ours."""
    place = tmp_path_factory.mktemp("plain")
    connection = server.options.connection
    with serving(place, authentication="nosasl", connection=connection) as plain:
        yield plain


@pytest.mark.parametrize(("version", "types"), [(10, [21, 20, 21, 17]), (5, [7, 7, 7, 17])])
def test_intervals_have_types_that_newer_clients_know(
    plain: Server, version: int, types: list[int]
) -> None:
    with Client(plain).open(version=version) as client:
        answer = client.execute(
            "SELECT interval '1' day, interval '1-2' year to month, "
            "interval '-1 02:03:04.5' day to second, date '2020-01-02'", runs_on=True
        )  # fmt: skip
        handle = client.checked(answer).operationHandle
        client.end(handle)
        assert [number for _, number, _ in client.columns(handle)] == types
        assert client.fetch(handle) == [
            ("1 00:00:00.000000000", "1-2", "-1 02:03:04.500000000", "2020-01-02")
        ]  # fmt: skip


def test_hives_lineage_logger_tells_which_columns_were_made_of_which(plain: Server) -> None:
    hook = {"set__hiveconf__hive.exec.post.hooks": "org.apache.hadoop.hive.ql.hooks.LineageLogger"}
    with Client(plain).open(**hook) as client:
        for text in ("CREATE TABLE made (n INT, s STRING) STORED AS ORC",
                     "INSERT INTO made SELECT 1 + n, upper(s) FROM made"):  # fmt: skip
            handle = client.checked(client.execute(text, runs_on=True)).operationHandle
            client.end(handle)
        request = client.thrift.TFetchResultsReq(operationHandle=handle, maxRows=99, fetchType=1)
        log = client.checked(client.calls.FetchResults(request)).results.columns[0].stringVal.values
    (line,) = (line for line in log if line.startswith('INFO  : {"version":"1.0"'))
    told = json.loads(line.removeprefix("INFO  : "))
    assert [(edge["sources"], edge["targets"]) for edge in told["edges"]] == [
        ([0], [0]),
        ([1], [1]),
    ]
    assert [vertex["vertexId"] for vertex in told["vertices"]] == [
        "default.made.n",
        "default.made.s",
    ]


def test_functions_that_tell_of_the_session(impala: Any) -> None:
    impala.execute("CREATE DATABASE its")
    impala.execute("CREATE VIEW whose AS SELECT logged_in_user() u, current_database() d")
    impala.execute("USE its")
    impala.execute(
        "SELECT current_user(), logged_in_user(), current_schema(), w.* FROM default.whose w"
    )
    assert impala.fetchall() == [("bob", "bob", "its", "bob", "its")]
    impala.execute("USE default")


def test_many_rows_come_batch_by_batch(impala: Any, server: Server) -> None:
    impala.execute(MANY)
    total = count = 0
    while rows := impala.fetchmany(20_000):
        total += sum(row[0] for row in rows)
        count += len(rows)
    assert (count, total) == (200_000, sum(range(200_000)))
    with pytest.raises(OperationalError, match="not true"):
        impala.execute("SELECT assert_true(id < 199999) FROM many")


def test_pyhive_cancels_a_query(server: Server) -> None:
    with hive.connect("127.0.0.1", server.port, username="carl", auth="NONE") as connection:
        cursor = connection.cursor()
        cursor.execute("CREATE TRANSACTIONAL TABLE p (i INT, d DECIMAL(5,2)) STORED AS ORC")
        cursor.execute("INSERT INTO p SELECT id, id / 4 FROM many WHERE id < 3")
        cursor.execute("SELECT i, d FROM p WHERE i < %s ORDER BY i", (2,))
        assert cursor.fetchall() == [(0, Decimal("0.00")), (1, Decimal("0.25"))]
        assert any("Executing command" in line for line in cursor.fetch_logs())
        cursor.execute("SELECT count(*) FROM endless WHERE id % 7 = 8", async_=True)
        cursor.cancel()
        state = cursor.poll().operationState
        while state in (1, 7):  # running, pending
            state = cursor.poll().operationState
        assert state == 3  # cancelled
        cursor.execute("SELECT count(*) FROM p")
        assert cursor.fetchall() == [(3,)]


def test_beelines_bar_shows_the_tasks(server: Server) -> None:
    connection = server.options.connection
    home = Path(connection["warehouse"]).parent
    with (
        serving(home, authentication="nosasl", connection=connection) as plain,
        Client(plain).open() as client,
    ):
        text = "SELECT count(*) FROM endless WHERE id % 7 = 8"
        handle = client.checked(client.execute(text, runs_on=True)).operationHandle
        asked = client.thrift.TGetOperationStatusReq(operationHandle=handle, getProgressUpdate=True)
        while not (status := client.calls.GetOperationStatus(asked)).progressUpdateResponse.rows:
            assert status.operationState == 1  # running
        update = status.progressUpdateResponse
        assert update.headerNames[:3] == ["VERTICES", "MODE", "STATUS"]
        assert len(update.headerNames) == len(update.rows[0]) == 9
        assert update.rows[0][:3] == ["Spark", "tasks", "RUNNING"]
        assert 0 <= update.progressedPercentage < 1
        client.calls.CancelOperation(client.thrift.TCancelOperationReq(operationHandle=handle))
        assert client.end(handle).operationState == 3  # cancelled
