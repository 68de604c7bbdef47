"""Clients that vanish while Spark starts for them: those who stay have it, and their answers."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from thrift_servers import Client, running_server
from waiting import wait_until

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
BY_SPARK = "SELECT count(*) FROM (SELECT explode(split(space(7), ' ')) x) s"
WITHOUT_SPARK = "SELECT i FROM t"


@contextmanager
def asking(server: Any) -> Iterator[list[str]]:
    """Ask again and again for what needs no Spark; the errors."""
    errors: list[str] = []
    stop = threading.Event()

    def ask(name: str) -> None:
        with Client(server).open(name) as client:
            while not stop.is_set():
                answer = client.execute(WITHOUT_SPARK)
                if answer.status.errorMessage:
                    errors.append(answer.status.errorMessage)
                    return
                request = client.thrift.TCloseOperationReq(operationHandle=answer.operationHandle)
                client.checked(client.calls.CloseOperation(request))

    with ThreadPoolExecutor(2) as threads:
        asked = [threads.submit(ask, name) for name in ("first", "second")]
        try:
            yield errors
        finally:
            stop.set()
            for one in asked:
                one.result()


def has_jvm(server: Any) -> bool:
    """Whether a JVM was begun that does not take calls yet, or does."""
    return any(one.name() == "java" for one in psutil.Process(server.process.pid).children())


@pytest.mark.slow
@pytest.mark.spark
def test_two_vanish_while_spark_starts_and_a_third_one_asks(tmp_path: Path) -> None:
    with running_server(tmp_path) as server:
        with Client(server).open() as owner:
            for text in (f"CREATE TABLE t (i INT) {ACID}", "INSERT INTO t VALUES (1)"):
                owner.checked(owner.execute(text))
        with asking(server) as errors:
            for moment in ("at once", "once there is a JVM", "once one has its answer"):
                two = [Client(server).open(name) for name in ("ann", "bob")]
                handles = [
                    one.checked(one.execute(BY_SPARK, runs_on=True)).operationHandle for one in two
                ]
                if moment == "once there is a JVM":
                    wait_until(lambda: has_jvm(server))
                elif moment == "once one has its answer":
                    two[0].end(handles[0])
                for one in two:
                    one.close()
                with Client(server).open("cid") as third:
                    handle = third.checked(third.execute(BY_SPARK, runs_on=True)).operationHandle
                    status = third.end(handle)
                    assert (moment, status.errorMessage) == (moment, None)
                    assert third.fetch(handle) == [(8,)]
        assert errors == []
    failed = [line for line in (tmp_path / "log").read_text().splitlines() if " ERROR " in line]
    assert [line for line in failed if not line.endswith("cancelled")] == []
