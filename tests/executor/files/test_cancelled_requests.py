"""Statements that are cancelled while a store answers nothing."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from hivesql_executor.beats import GRACE_SECONDS
from hivesql_planner.errors import Cancelled
from s3_server import S3Server
from s3_sessions import ACID, connect, server_without_spark

PATIENT = {"fs.s3a.connection.request.timeout": "1h", "fs.s3a.retry.limit": "0"}
STATEMENTS = {
    "SELECT * FROM t": "LIST",
    "INSERT INTO t VALUES (3, 1), (4, 2)": "PUT",
    "ALTER TABLE t PARTITION (p = 1) COMPACT 'major'": "LIST",
    "ALTER TABLE t DROP PARTITION (p = 1)": "LIST",
}
"""Statements, and what they ask for when the store falls silent."""


@pytest.fixture(scope="module")
def server() -> Iterator[S3Server]:
    with server_without_spark() as running:
        yield running


def test_nobody_waits_for_a_store_that_answers_nothing(server: S3Server, tmp_path: Path) -> None:
    """Each statement ends long before its requests do, and nothing of it is left."""
    with connect(server, tmp_path / "m.db", "silent", **PATIENT) as session:
        session.sql(f"CREATE TABLE t (k INT) PARTITIONED BY (p INT) {ACID}")
        session.sql("INSERT INTO t VALUES (1, 1), (2, 2)")
        for statement, kind in STATEMENTS.items():
            goes_on, silent = threading.Event(), threading.Event()

            def wait(
                request: str,
                kind: str = kind,
                goes_on: threading.Event = goes_on,
                silent: threading.Event = silent,
            ) -> None:
                if silent.is_set() or request.startswith(kind):
                    silent.set()
                    session.cancel()
                    assert goes_on.wait(600)

            server.waits = wait
            try:
                with pytest.raises(Cancelled):
                    session.sql(statement)
                assert silent.is_set(), statement
                assert not session.sql("SHOW LOCKS").rows, statement
            finally:
                server.waits = lambda request: None
                goes_on.set()
            assert sorted(session.sql("SELECT * FROM t").rows) == [(1, 1), (2, 2)], statement
        session.sql("INSERT INTO t VALUES (3, 3); DELETE FROM t WHERE k < 3")
        assert session.sql("SELECT * FROM t").rows == [(3, 3)]
        assert session.check("t") == ()


def test_a_move_that_is_cancelled_is_waited_for(server: S3Server, tmp_path: Path) -> None:
    """A slow store: what was given up would COPY or delete (POST) when files are put back."""
    with connect(server, tmp_path / "m.db", "slow", **PATIENT) as session:
        session.sql(f"CREATE TABLE t (k INT) PARTITIONED BY (p INT) {ACID}")
        session.sql("INSERT INTO t VALUES (1, 1), (2, 2)")
        for kind in ("COPY", "POST"):
            slow: list[str] = []

            def wait(request: str, kind: str = kind, slow: list[str] = slow) -> None:
                if request.startswith(kind):
                    slow.append(request)
                    session.cancel()
                    time.sleep(2 * GRACE_SECONDS)

            server.waits = wait
            name = "t"
            try:
                with suppress(Cancelled):
                    session.sql("ALTER TABLE t RENAME TO u")
                    name = "u"
            finally:
                server.waits = lambda request: None
            time.sleep(2 * GRACE_SECONDS)
            assert session.sql("SHOW TABLES").rows == [(name,)], slow
            assert sorted(session.sql(f"SELECT * FROM {name}").rows) == [(1, 1), (2, 2)], slow
            if name == "u":
                session.sql("ALTER TABLE u RENAME TO t")
