"""Scripts at a server that ends while they run: nothing is lost or done twice by another attempt.

So Airflow runs them, whose tasks and triggers know no more of a server than this.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from hivesql.airflow.served import ScriptRun, ServedSession, ServerPlace
from hivesql_executor.failpoints import FailPoint
from hivesql_planner.errors import CommitUnknown, ExecutionError
from programs import free_port
from thrift_servers import running_server

SCRIPT = (
    "CREATE TRANSACTIONAL TABLE IF NOT EXISTS t (i INT) STORED AS ORC",
    "INSERT INTO t VALUES (1)",
    "UPDATE t SET i = i + 10",
    "INSERT INTO t VALUES (2)",
)
ROWS = [(2,), (11,)]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Starts a server where the one before was, which has ended."""
    port = free_port()
    with ExitStack() as servers:
        yield lambda fail_point="": servers.enter_context(
            running_server(tmp_path, 3, port=port, fail_point=fail_point)
        )


def begin(port: int, key: str | None = "a task") -> ScriptRun:
    """A script that is yet to run."""
    place = ServerPlace(host="127.0.0.1", port=port, user="ann", sasl=False)
    return ScriptRun(ServedSession(place), SCRIPT, key)


def run(script: ScriptRun) -> None:
    """Run a script to its end."""
    try:
        for _ in script.steps():
            pass
    finally:
        script.close()


def rows(port: int) -> list[tuple[Any, ...]]:
    """What is there, by a client of its own."""
    from impala.dbapi import connect

    connection = connect("127.0.0.1", port, auth_mechanism="NOSASL")
    with connection, connection.cursor() as cursor:
        cursor.execute("SELECT i FROM t")
        return sorted(cursor.fetchall())


@pytest.mark.parametrize("point", [
    f"{FailPoint.ROWS_STAGED}:2", f"{FailPoint.BEFORE_COMMIT}:2", f"{FailPoint.AFTER_COMMIT}:2",
    f"{FailPoint.AFTER_COMMIT}:4",
])  # fmt: skip
def test_it_dies_within_a_statement(start: Callable[..., Any], point: str) -> None:
    server = start(point)
    with pytest.raises(CommitUnknown, match=r"(?s)statement \d of 4 .*may be committed") as raised:
        run(begin(server.port))
    assert server.process.wait() == -signal.SIGKILL
    assert "another attempt does not do again what was committed" in str(raised.value)
    assert f"127.0.0.1:{server.port}" in str(raised.value)
    assert raised.value.retryable
    start()
    for _ in range(2):
        run(begin(server.port))
        assert rows(server.port) == ROWS


@pytest.mark.parametrize("way", [signal.SIGKILL, signal.SIGTERM])
def test_it_is_ended_between_two_statements(start: Callable[..., Any], way: int) -> None:
    server = start()
    script = begin(server.port)
    steps = script.steps()
    while script.totals.statements < 2:
        next(steps)
    server.process.send_signal(way)
    server.process.wait()
    with pytest.raises(CommitUnknown, match="statement 3 of 4"):
        list(steps)
    script.close()
    with pytest.raises(ExecutionError, match=f"no answer .* 127.0.0.1:{server.port}"):
        begin(server.port)
    start()
    run(begin(server.port))
    assert rows(server.port) == ROWS


def test_without_a_key_nobody_may_just_try_again(start: Callable[..., Any]) -> None:
    server = start(f"{FailPoint.AFTER_COMMIT}:2")
    with pytest.raises(CommitUnknown, match="look what is there first") as raised:
        run(begin(server.port, None))
    assert not raised.value.retryable
