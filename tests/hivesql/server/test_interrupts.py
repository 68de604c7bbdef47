"""Statements at a server that time out or are cancelled leave no lock and no file."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyspark
import pytest

from hivesql.server.server import Server
from thrift_servers import Client, serving
from waiting import wait_until

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
ENDLESS = "SELECT count(*) FROM endless WHERE id % 7 = 8"
ADMIN = "chief"
RUNNING, FINISHED, CANCELED, TIMED_OUT = 1, 2, 3, 8
"""States of an operation."""


@pytest.fixture(scope="module")
def server(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    session = spark.newSession()
    session.range(10**15).createOrReplaceTempView("endless")
    session.range(4_000_000).createOrReplaceTempView("many")
    home = tmp_path_factory.mktemp("server")
    settings = {"hive.users.in.admin.role": ADMIN}
    connection = {"spark": session, "settings": settings}
    with serving(home, authentication="nosasl", connection=connection) as server:
        yield server


@pytest.fixture
def client(server: Server) -> Iterator[Client]:
    with Client(server).open() as client:
        client.checked(client.execute("DROP TABLE IF EXISTS t"))
        client.checked(client.execute(f"CREATE TABLE t (i BIGINT) {ACID}"))
        yield client


def begin(client: Client, text: str, **others: Any) -> Any:
    return client.checked(client.execute(text, runs_on=True, **others)).operationHandle


def cancel(client: Client, handle: Any) -> None:
    request = client.thrift.TCancelOperationReq(operationHandle=handle)
    client.checked(client.calls.CancelOperation(request))


def files(server: Server) -> list[Path]:
    return sorted(Path(server.options.connection["warehouse"], "t").rglob("*"))


def check_clean(server: Server, client: Client, before: list[Path]) -> None:
    """Nothing is left of a statement, and the session goes on."""
    assert files(server) == before
    assert client.rows("SHOW LOCKS t") == []
    assert {row[1] for row in client.rows("SHOW TRANSACTIONS")} <= {"ABORTED"}
    client.checked(client.execute("INSERT INTO t VALUES (-7)"))
    assert client.rows("SELECT count(*) FROM t WHERE i = -7") == [(1,)]


@pytest.mark.parametrize("text", [ENDLESS, "INSERT INTO t SELECT id FROM endless"])
@pytest.mark.parametrize("by", ["call", "setting", "overlay"])
def test_a_statement_that_takes_too_long(
    server: Server, client: Client, text: str, by: str
) -> None:
    key, before = "hive.query.timeout.seconds", files(server)
    others: dict[str, Any] = {"call": {"queryTimeout": 1}, "overlay": {"confOverlay": {key: "1s"}},
                              "setting": {"queryTimeout": 3600}}[by]  # fmt: skip
    if by == "setting":
        client.checked(client.execute(f"SET {key}=1s"))
    handle = begin(client, text, **others)
    status = client.end(handle)
    assert (status.operationState, status.errorMessage) == (
        TIMED_OUT, "Query timed out after 1 seconds"
    )  # fmt: skip
    request = client.thrift.TFetchResultsReq(operationHandle=handle, maxRows=1)
    message = client.calls.FetchResults(request).status.errorMessage
    assert message == "Expected states: [FINISHED], but found TIMEDOUT"
    # A client that waits is told at once.
    answer = client.execute(text, **others).status
    assert (answer.sqlState, answer.errorMessage) == ("HY008", "Query timed out after 1 seconds")
    client.checked(client.execute(f"SET {key}=0s"))
    check_clean(server, client, before)


def test_a_time_out_of_the_connection(server: Server) -> None:
    limit = {"set__hiveconf__hive.query.timeout.seconds": "1"}
    with Client(server).open(**limit) as client:
        assert client.end(begin(client, ENDLESS)).operationState == TIMED_OUT


@pytest.mark.parametrize(
    "text",
    [ENDLESS, "INSERT INTO t SELECT id FROM endless",
     "UPDATE t SET i = (SELECT max(id) FROM endless WHERE id % 7 = 8)"],
    ids=["query", "insert", "update"],
)  # fmt: skip
def test_cancelled_while_spark_runs_it(server: Server, client: Client, text: str) -> None:
    client.checked(client.execute("INSERT INTO t VALUES (1)"))
    before = files(server)
    handle = begin(client, text)
    wait_until(lambda: client.calls.GetOperationStatus(client.thrift.TGetOperationStatusReq(
        operationHandle=handle, getProgressUpdate=True)).progressUpdateResponse.rows)  # fmt: skip
    cancel(client, handle)
    status = client.end(handle)
    # The driver has words for it: "Query was cancelled."
    assert (status.operationState, status.errorMessage) == (CANCELED, None)
    cancel(client, handle)
    check_clean(server, client, before)


def id_of(client: Client, handle: Any) -> str:
    request = client.thrift.TGetQueryIdReq(operationHandle=handle)
    return str(client.calls.GetQueryId(request).queryId)


def test_a_query_is_killed_by_its_user_or_an_admin(server: Server, client: Client) -> None:
    handle = begin(client, "INSERT INTO t SELECT id FROM endless")
    query, before = id_of(client, handle), files(server)
    with Client(server).open("bob") as bob, Client(server).open("ann") as ann:
        refused = bob.execute(f"KILL QUERY '{query}'").status
        assert f"No privilege to kill the query {query}" in refused.errorMessage
        request = client.thrift.TGetOperationStatusReq(operationHandle=handle)
        assert client.calls.GetOperationStatus(request).operationState == RUNNING
        # As in Hive, where there is none nothing fails.
        answer = ann.checked(ann.execute("KILL QUERY 'nobody' 'other'"))
        log = ann.thrift.TFetchResultsReq(
            operationHandle=answer.operationHandle, maxRows=99, fetchType=1
        )
        lines = ann.calls.FetchResults(log).results.columns[0].stringVal.values
        assert "INFO  : no statement of the id nobody runs at this server" in lines
        ann.checked(ann.execute(f"KILL QUERY 'nobody' '{query}'"))
        assert client.end(handle).operationState == CANCELED
        check_clean(server, client, before)
        handle = begin(client, ENDLESS)
        query = id_of(client, handle)
        with Client(server).open(ADMIN) as admin:
            assert "No privilege" in admin.execute(f"KILL QUERY '{query}'").status.errorMessage
            admin.checked(admin.execute("SET ROLE ADMIN"))
            admin.checked(admin.execute(f"KILL QUERY '{query}'"))
        assert client.end(handle).operationState == CANCELED


def test_beeline_kills_a_query(server: Server, client: Client) -> None:
    handle = begin(client, ENDLESS)
    url = f"jdbc:hive2://127.0.0.1:{server.port}/default;auth=noSasl"
    done = subprocess.run(
        [Path(pyspark.__path__[0], "bin", "beeline"), "-u", url, "-n", "ann",
         "-e", f"KILL QUERY '{id_of(client, handle)}'"],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert client.end(handle).operationState == CANCELED


def test_a_task_is_told_as_hive_tells_of_stages(client: Client) -> None:
    def task(handle: Any) -> list[dict[str, Any]]:
        request = client.thrift.TGetOperationStatusReq(operationHandle=handle)
        status = client.calls.GetOperationStatus(request).taskStatus
        return [] if status is None else json.loads(status)

    def done(text: str) -> list[dict[str, Any]]:
        return task(client.checked(client.execute(text)).operationHandle)

    (shown,) = done("SHOW TABLES")
    assert shown["endTime"] >= shown["beginTime"] > 1.7e12
    assert {**shown, "beginTime": 0, "endTime": 0} == {
        "returnValue": 0, "beginTime": 0, "endTime": 0, "taskId": "Stage-0",
        "taskState": "FINISHED", "taskType": "DDL", "name": "DDL",
    }  # fmt: skip
    (inserted,) = done("INSERT INTO t VALUES (1)")
    assert (inserted["taskId"], inserted["taskType"]) == ("Stage-1", "MAPRED")
    # What is only fetched, or set, is no task in Hive either.
    assert done("SELECT i FROM t") == done("SET a=b") == []
    handle = begin(client, ENDLESS)
    wait_until(lambda: client.calls.GetOperationStatus(client.thrift.TGetOperationStatusReq(
        operationHandle=handle, getProgressUpdate=True)).progressUpdateResponse.rows)  # fmt: skip
    (running,) = task(handle)
    assert running.keys() == {"beginTime", "taskId", "taskState", "taskType", "name"}
    assert running["taskState"] == "RUNNING"
    cancel(client, handle)
    client.end(handle)
    (ended,) = task(handle)
    assert (ended["taskState"], ended["returnValue"]) == ("FINISHED", 1)
    assert "cancelled" in ended["errorMsg"]


def test_cancelled_before_it_begins(server: Server, client: Client) -> None:
    first = begin(client, ENDLESS)
    queued = begin(client, "INSERT INTO t VALUES (1)")
    for handle in (queued, first):
        cancel(client, handle)
    assert client.end(first).operationState == CANCELED
    assert client.end(queued).operationState == CANCELED
    assert client.rows("SELECT count(*) FROM t") == [(0,)]


def test_cancelled_without_spark(server: Server, client: Client) -> None:
    before = files(server)
    rows = ", ".join(f"({number})" for number in range(60_000))
    handle = begin(client, f"INSERT INTO t VALUES {rows}")
    cancel(client, handle)
    assert client.end(handle).operationState == CANCELED
    check_clean(server, client, before)


def test_cancelled_while_rows_are_fetched(client: Client) -> None:
    # As Hive has it: the statement has ended, and its rows stay.
    handle = begin(client, "SELECT id FROM many WHERE id < 50 ORDER BY id")
    assert client.end(handle).operationState == FINISHED
    assert client.fetch(handle, most=20) == [(number,) for number in range(20)]
    cancel(client, handle)
    assert client.fetch(handle) == [(number,) for number in range(20, 50)]


def test_a_client_that_dies_while_spark_writes(server: Server, client: Client) -> None:
    before = files(server)
    with Client(server).open("bob") as dying:
        begin(dying, "START TRANSACTION")
        handle = begin(dying, "INSERT INTO t SELECT id FROM endless")
        request = dying.thrift.TGetOperationStatusReq(
            operationHandle=handle, getProgressUpdate=True
        )
        wait_until(lambda: dying.calls.GetOperationStatus(request).progressUpdateResponse.rows)
        assert client.rows("SHOW LOCKS t") != []
    wait_until(lambda: server.registry.session_count() == 1)
    wait_until(lambda: client.rows("SHOW LOCKS t") == [] and files(server) == before)
    check_clean(server, client, before)


def test_a_client_that_dies_while_it_fetches(server: Server, client: Client) -> None:
    client.checked(client.execute("INSERT INTO t VALUES (1)"))
    with Client(server).open("bob") as dying:
        begin(dying, "START TRANSACTION")
        dying.checked(dying.execute("UPDATE t SET i = 2 WHERE i = 1"))
        handle = begin(dying, "SELECT id FROM many")
        assert dying.end(handle).operationState == FINISHED
        assert len(dying.fetch(handle, most=1000)) == 1000
        request = dying.thrift.TFetchResultsReq(
            operationHandle=handle, orientation=0, maxRows=10**6
        )
        dying.calls._send("FetchResults", req=request)  # nobody reads the answer
    wait_until(lambda: server.registry.session_count() == 1)
    wait_until(lambda: client.rows("SHOW LOCKS t") == [])
    assert client.rows("SELECT i FROM t") == [(1,)]


def test_a_compaction_that_is_cancelled(server: Server, client: Client) -> None:
    for half in (0, 1):
        client.checked(client.execute(f"INSERT INTO t SELECT id FROM many WHERE id % 2 = {half}"))
    # Stripes without deleted rows would be copied, which takes no time.
    client.checked(client.execute("DELETE FROM t WHERE i % 7 = 3"))
    before = files(server)
    compact = "ALTER TABLE t COMPACT 'major' AND WAIT"
    with Client(server).open() as other:
        handle = begin(client, compact)
        wait_until(lambda: any("working" in row for row in other.rows("SHOW COMPACTIONS")))
        cancel(client, handle)
        assert client.end(handle).operationState == CANCELED
        assert files(server) == before
        (row,) = other.rows("SHOW COMPACTIONS")
        assert row[5] == "failed"
    assert client.end(begin(client, compact)).operationState == FINISHED
    assert client.rows("SELECT count(*), max(i) FROM t") == [(3_428_571, 3_999_998)]
    assert any(path.name.startswith("base_") for path in files(server))
