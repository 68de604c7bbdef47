"""Sessions of a server share Spark fairly: a long query of one does not keep all others out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hivesql.server.server import Server
from thrift_servers import Client, serving

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
MANY = 20_000
"""Tasks of a query, which take minutes."""
RUNNING, CANCELED = 1, 3


@pytest.fixture
def server(spark: SparkSession, tmp_path: Path) -> Iterator[Server]:
    session = spark.newSession()
    session.range(0, MANY, 1, MANY).createOrReplaceTempView("long")
    session.range(0, 10, 1, 2).createOrReplaceTempView("short")
    with serving(tmp_path, authentication="nosasl", connection={"spark": session}) as server:
        yield server


def status(client: Client, handle: Any) -> Any:
    return client.calls.GetOperationStatus(
        client.thrift.TGetOperationStatusReq(operationHandle=handle, getProgressUpdate=True)
    )


def waiting_stages(spark: SparkSession) -> dict[str, int]:
    """How many stages have tasks to run, by the pools that have any."""
    context: Any = spark.sparkContext
    pools = context._jsc.sc().getAllPools()
    found = [pools.apply(number) for number in range(pools.size())]
    counts = {pool.name(): pool.getSortedTaskSetQueue().size() for pool in found}
    return {name: count for name, count in counts.items() if count}


def test_small_queries_end_while_a_long_one_runs(server: Server, spark: SparkSession) -> None:
    query = "SELECT count(*) FROM long WHERE id % 7 = 3"
    with Client(server).open("bob") as bob, Client(server).open("ann") as ann:
        long = bob.checked(bob.execute(query, runs_on=True)).operationHandle
        while not waiting_stages(spark):
            assert status(bob, long).operationState == RUNNING
        # Pools share Spark's tasks: each session has one of its own.
        assert waiting_stages(spark) == {"hivesql-1": 1}
        for _ in range(3):
            assert ann.rows("SELECT count(*) FROM short WHERE id > 3") == [(6,)]
        assert status(bob, long).operationState == RUNNING
        bob.calls.CancelOperation(bob.thrift.TCancelOperationReq(operationHandle=long))
        assert bob.end(long).operationState == CANCELED


def test_sessions_that_have_ended_leave_no_pools(server: Server, spark: SparkSession) -> None:
    context: Any = spark.sparkContext
    for number in range(4):
        with Client(server).open(f"user{number}") as client:
            client.rows("SELECT count(*) FROM short WHERE id > 3")
            request = client.thrift.TCloseSessionReq(sessionHandle=client.session)
            client.checked(client.calls.CloseSession(request))
    pools = context._jsc.sc().getAllPools()
    names = {pools.apply(number).name() for number in range(pools.size())}
    assert names & {"hivesql-1", "hivesql-3"} == {"hivesql-1"}
