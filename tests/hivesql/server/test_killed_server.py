"""A server that is killed with SIGKILL: what its clients see, and what the next one finds."""

from __future__ import annotations

import signal
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest
from thriftpy2.transport import TTransportException

import hivesql
from thrift_servers import Client, running_server
from waiting import wait_until

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
TIMEOUT = 3
"""Seconds after which a transaction counts as dead."""


def clear(home: Path) -> None:
    """What `hivesql services` does, once; aborted writes need not be old."""
    command = [sys.executable, "-m", "hivesql_repl", "services", "--once", "--metastore",
               f"sqlite:///{home}/m.db", "--warehouse", f"{home}/w",
               "--hiveconf", f"hive.txn.timeout={TIMEOUT}s",
               "--hiveconf", "hive.compactor.aborted.txn.time.threshold=0s"]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True)


def directories(home: Path) -> list[str]:
    return sorted(path.name for path in (home / "w" / "t").iterdir())


def states(client: Client) -> list[str]:
    return [row[1] for row in client.rows("SHOW TRANSACTIONS")]


def test_a_server_that_is_killed(tmp_path: Path) -> None:
    with ExitStack() as clients:
        with running_server(tmp_path, TIMEOUT) as server:
            owner = clients.enter_context(Client(server)).open()
            waiting = clients.enter_context(Client(server)).open("bob")
            for text in (
                f"CREATE TABLE t (i INT) {ACID}", "INSERT INTO t VALUES (1)",
                "START TRANSACTION", "INSERT INTO t VALUES (2)", "UPDATE t SET i = 3 WHERE i = 1",
            ):  # fmt: skip
                owner.checked(owner.execute(text))
            read = owner.checked(owner.execute("SELECT i FROM t")).operationHandle
            waits = waiting.checked(waiting.execute("UPDATE t SET i = 4", runs_on=True))
            wait_until(lambda: any("WAITING" in row for row in owner.rows("SHOW LOCKS t")))
            server.process.send_signal(signal.SIGKILL)
            assert server.process.wait() == -signal.SIGKILL
        for client, handle in ((owner, read), (waiting, waits.operationHandle)):
            request = client.thrift.TGetOperationStatusReq(operationHandle=handle)
            with pytest.raises((TTransportException, OSError)):
                client.calls.GetOperationStatus(request)
    assert len(directories(tmp_path)) == 4  # of rows that are seen, and of three changes
    with running_server(tmp_path, TIMEOUT) as server, Client(server).open() as late:
        # Old handles are nobody's.
        old, own = owner.session, late.session
        late.session = old
        assert late.execute("SELECT 1").status.errorMessage == "Invalid handle: no such session"
        late.session = own
        request = late.thrift.TFetchResultsReq(operationHandle=read, maxRows=1)
        message = late.calls.FetchResults(request).status.errorMessage
        assert message == "Invalid handle: no such operation"
        # What was open is not seen, and is aborted once it has been silent for long enough.
        assert late.rows("SELECT i FROM t") == [(1,)]
        changed = late.checked(late.execute("UPDATE t SET i = 5 WHERE i = 1", runs_on=True))
        assert late.end(changed.operationHandle).numModifiedRows == 1
        wait_until(lambda: set(states(late)) <= {"ABORTED"})
        assert late.rows("SHOW LOCKS t") == []
        assert late.rows("SELECT i FROM t") == [(5,)]
    clear(tmp_path)
    assert len(directories(tmp_path)) == 3  # of the first row, and of its change
    with hivesql.connect(f"sqlite:///{tmp_path}/m.db", str(tmp_path / "w")) as session:
        assert session.check("t") == ()
        assert session.sql("SELECT i FROM t").rows == [(5,)]


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.parametrize(
    "write",
    ["INSERT INTO t SELECT a.i FROM t a, t b, t c", "UPDATE t SET i = (SELECT max(a.i + b.i + c.i"
     " + d.i) FROM t a, t b, t c, t d)", "INSERT OVERWRITE TABLE t SELECT a.i FROM t a, t b, t c"],
    ids=["insert", "update", "overwrite"],
)  # fmt: skip
def test_a_server_that_is_killed_while_spark_writes(tmp_path: Path, write: str) -> None:
    rows = [(number,) for number in range(2000)]
    with running_server(tmp_path, TIMEOUT) as server, Client(server).open() as owner:
        owner.checked(owner.execute(f"CREATE TABLE t (i INT) {ACID}"))
        values = ", ".join(f"({number})" for (number,) in rows)
        owner.checked(owner.execute(f"INSERT INTO t VALUES {values}"))
        whole = directories(tmp_path)
        handle = owner.checked(owner.execute(write, runs_on=True)).operationHandle
        request = owner.thrift.TGetOperationStatusReq(
            operationHandle=handle, getProgressUpdate=True
        )
        wait_until(lambda: owner.calls.GetOperationStatus(request).progressUpdateResponse.rows)
        if write.startswith("INSERT"):
            wait_until(lambda: len(directories(tmp_path)) > 1)
        started = psutil.Process(server.process.pid).children(recursive=True)
        server.process.send_signal(signal.SIGKILL)
        assert server.process.wait() == -signal.SIGKILL
        # Spark ends with it: nobody writes on.
        assert psutil.wait_procs(started, timeout=60)[1] == []
    with running_server(tmp_path, TIMEOUT) as server, Client(server).open() as late:
        assert sorted(late.fetch(late.checked(
            late.execute("SELECT i FROM t")).operationHandle, most=5000)) == rows  # fmt: skip
        wait_until(lambda: _is_cleared(tmp_path, late))
        assert directories(tmp_path) == whole
        assert late.rows("SHOW LOCKS t") == []
        late.checked(late.execute("INSERT INTO t VALUES (-1)"))
    with hivesql.connect(f"sqlite:///{tmp_path}/m.db", str(tmp_path / "w")) as session:
        assert session.check("t") == ()
        assert sorted(session.sql("SELECT i FROM t").rows) == [(-1,), *rows]


def _is_cleared(home: Path, client: Client) -> bool:
    clear(home)
    return "OPEN" not in {state.upper() for state in states(client)}
