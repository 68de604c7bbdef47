"""Servers of databases that were stopped: their system acknowledges all, and nobody answers.

So it is with a disk that hangs, and with a client that was stopped in a transaction.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

import hivesql
import mariadb
from failing_postgres import Postgres, running_postgres
from hivesql_executor.metastore.database.dialects.registry import terms_of
from hivesql_executor.metastore.database.metastore import DatabaseMetastore
from hivesql_planner.errors import Cancelled, CommitUnknown, ExecutionError
from mariadb import MariaDb, mariadb_process
from waiting import wait_until

Server = Postgres | MariaDb
Rows = list[tuple[Any, ...]]
NO_ANSWER = "the server has not answered for 1 seconds"
NO_CONNECTION = "connection timeout expired|did not greet within 2 seconds"


@contextmanager
def running(kind: str) -> Iterator[tuple[Server, str]]:
    if kind == "postgres":
        with running_postgres() as postgres:
            postgres.do("CREATE DATABASE m")
            yield postgres, f"{postgres.url}/m?connect_timeout=2"
    else:
        with mariadb_process() as process:
            mariadb.do(process.url, "CREATE DATABASE m")
            yield process, f"{process.url}/m?connect_timeout=2"


@pytest.fixture(params=[pytest.param("postgres", marks=pytest.mark.postgres), "mariadb"])
def server(request: pytest.FixtureRequest) -> Iterator[tuple[Server, str]]:
    """A server that can be stopped, and the address of an empty database."""
    with running(request.param) as pair:
        yield pair


@pytest.fixture
def connect(server: tuple[Server, str], tmp_path: Path) -> Iterator[Callable[..., hivesql.Session]]:
    """Opens sessions that wait a second for each answer, unless told otherwise."""
    opened: list[hivesql.Session] = []

    def open_one(seconds: str = "1s") -> hivesql.Session:
        settings = {"hive.metastore.client.socket.timeout": seconds, "hive.txn.timeout": "60s"}
        opened.append(
            hivesql.connect(server[1], str(tmp_path / "w"), settings=settings, notify=print)
        )
        return opened[-1]

    yield open_one
    for session in opened:
        session.close()


def rows(session: hivesql.Session, query: str) -> Rows:
    return sorted(tuple(row) for row in session.sql(query).rows)


def test_a_server_that_was_stopped_is_given_up(
    server: tuple[Server, str], connect: Callable[..., hivesql.Session]
) -> None:
    """When it goes on nothing is lost, and nothing is locked."""
    writer, other = connect(), connect()
    writer.sql("CREATE TRANSACTIONAL TABLE t (id INT) STORED AS ORC; INSERT INTO t VALUES (1)")
    writer.sql("START TRANSACTION; INSERT INTO t VALUES (2)")
    with server[0].standing_still():
        with pytest.raises(ExecutionError, match=NO_ANSWER) as raised:
            writer.sql("SELECT * FROM t")
        assert raised.value.code == 10280
        for work in (
            lambda: other.sql("INSERT INTO t VALUES (3)"),
            lambda: other.sql("SHOW TABLES"),
            connect,
        ):
            with pytest.raises(ExecutionError, match=f"{NO_ANSWER}|{NO_CONNECTION}"):
                work()
    assert rows(other, "SELECT id FROM t") == [(1,)]
    wait_until(lambda: not rows(other, "SHOW LOCKS"))
    writer.sql("UPDATE t SET id = 4; DROP TABLE t")


def test_a_server_that_is_stopped_within_a_commit(
    server: tuple[Server, str], connect: Callable[..., hivesql.Session]
) -> None:
    writer, other = connect(), connect()
    writer.sql("CREATE TRANSACTIONAL TABLE t (id INT) STORED AS ORC")
    writer.sql("START TRANSACTION; INSERT INTO t VALUES (2)")
    with server[0].standing_still(), pytest.raises((ExecutionError, CommitUnknown)):
        writer.sql("COMMIT")
    assert rows(other, "SELECT id FROM t") in ([], [(2,)])
    other.sql("INSERT INTO t VALUES (3)")
    assert (3,) in rows(writer, "SELECT id FROM t")


def test_who_was_stopped_in_a_transaction_is_not_waited_for_long(
    server: tuple[Server, str], connect: Callable[..., hivesql.Session], tmp_path: Path
) -> None:
    """Its locks of the database would stop everybody; the server ends it, and its work fails."""
    stopped = DatabaseMetastore.open(server[1], str(tmp_path / "w"), 2.0)
    is_inside, is_over, runs = threading.Event(), threading.Event(), []

    def work(db: Any) -> int:
        runs.append(terms_of(db).lock_txn_table(db, shared=False))
        db.execute(text("SELECT 1"))
        is_inside.set()
        assert is_over.wait(60)
        return int(db.execute(text("SELECT 7")).scalar_one())

    answers: list[int] = []
    thread = threading.Thread(target=lambda: answers.append(stopped._rdbms.write(work)))
    thread.start()
    assert is_inside.wait(60)
    session = connect("60s")
    session.sql("CREATE TRANSACTIONAL TABLE t (id INT) STORED AS ORC; INSERT INTO t VALUES (1)")
    assert len(runs) == 1 and not is_over.is_set()
    is_over.set()
    thread.join(60)
    assert answers == [7] and len(runs) == 2
    stopped.close()


def test_nobody_waits_for_an_answer_that_was_cancelled(
    server: tuple[Server, str], connect: Callable[..., hivesql.Session]
) -> None:
    """Its time-out would be over in an hour."""
    session = connect("1h")
    session.sql("CREATE TRANSACTIONAL TABLE t (id INT) STORED AS ORC; INSERT INTO t VALUES (1)")
    for statement in ("SELECT * FROM t", "INSERT INTO t VALUES (2)", "ALTER TABLE t RENAME TO u"):
        with server[0].standing_still():
            threading.Thread(target=wait_until, args=[session.cancel]).start()
            with pytest.raises(Cancelled):
                session.sql(statement)
        assert rows(session, "SELECT id FROM t") == [(1,)]
        wait_until(lambda: not rows(session, "SHOW LOCKS"))
    session.sql("UPDATE t SET id = 4; DROP TABLE t")


def test_nobody_waits_for_a_connection_that_was_cancelled(
    server: tuple[Server, str], tmp_path: Path
) -> None:
    """Who takes connections and greets nobody may do so for an hour."""
    url = server[1].replace("connect_timeout=2", "connect_timeout=3600")
    with hivesql.connect(url, str(tmp_path / "w")) as session:
        session.sql("CREATE TRANSACTIONAL TABLE t (id INT) STORED AS ORC; INSERT INTO t VALUES (1)")
        for statement in ("SELECT * FROM t", "INSERT INTO t VALUES (2)", "SHOW TABLES"):
            session.runtime.metastore._rdbms._engine.dispose()  # type: ignore[attr-defined]
            with server[0].standing_still():
                threading.Thread(target=wait_until, args=[session.cancel]).start()
                with pytest.raises(Cancelled):
                    session.sql(statement)
            assert rows(session, "SELECT id FROM t") == [(1,)]


def test_nobody_waits_for_what_another_client_has_locked(
    server: tuple[Server, str], connect: Callable[..., hivesql.Session], tmp_path: Path
) -> None:
    """The server answers all else; a lock would be waited for ten times its own time-out."""
    holder = DatabaseMetastore.open(server[1], str(tmp_path / "w"), 600.0)
    session = connect("1h")
    session.sql("CREATE TRANSACTIONAL TABLE t (id INT) STORED AS ORC; INSERT INTO t VALUES (1)")
    is_over = threading.Event()

    def work(db: Any) -> None:
        terms_of(db).lock_txn_table(db, shared=False)
        # To PostgreSQL the request for a lock goes with the next one.
        db.scalar(text("SELECT 1"))
        threading.Thread(target=wait_until, args=[session.cancel]).start()
        with pytest.raises(Cancelled):
            session.sql("INSERT INTO t VALUES (2)")
        is_over.set()

    holder._rdbms.write(work)
    assert is_over.is_set()
    session.sql("INSERT INTO t VALUES (3)")
    assert rows(session, "SELECT id FROM t") == [(1,), (3,)]
    holder.close()
