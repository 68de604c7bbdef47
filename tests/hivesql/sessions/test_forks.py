"""Processes that fork while their threads use an SQLite file."""

from __future__ import annotations

import faulthandler
import os
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import hivesql
from hivesql_executor.metastore.database.connection import Rdbms
from hivesql_planner.errors import HiveSqlError, OfAnotherProcess


def _fork(child: Callable[[], object]) -> int:
    """Run a call in a forked process; its exit code, which is 0 where it raised nothing."""
    with warnings.catch_warnings():
        # Since Python 3.12 a process of several threads is told that it should not.
        warnings.simplefilter("ignore", DeprecationWarning)
        process = os.fork()
    if process:
        return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    faulthandler.dump_traceback_later(60, exit=True)
    try:
        child()
    except BaseException:  # noqa: BLE001 - nothing of a test may go on in the child
        os._exit(1)
    os._exit(0)


def test_a_fork_waits_for_the_calls_of_other_threads(tmp_path: Path) -> None:
    database = Rdbms(f"sqlite:///{tmp_path}/a.db")
    begun, ended = threading.Event(), threading.Event()

    def work(db: object) -> None:
        begun.set()
        assert not threading.Event().wait(0.3)
        ended.set()

    thread = threading.Thread(target=database.read, args=[work])
    thread.start()
    assert begun.wait(30)

    def look() -> None:
        assert ended.is_set()

    assert _fork(look) == 0
    thread.join()
    # From inside of a call a fork waits for no other than those of other threads.
    assert database.read(lambda db: _fork(lambda: None)) == 0
    assert database.read(lambda db: 1) == 1
    database.close()


@pytest.fixture
def place(tmp_path: Path) -> Iterator[tuple[str, str]]:
    url, warehouse = f"sqlite:///{tmp_path}/metastore.db", str(tmp_path / "warehouse")
    with hivesql.connect(url, warehouse) as session:
        session.sql("CREATE TRANSACTIONAL TABLE t (a INT) STORED AS ORC; INSERT INTO t VALUES (1)")
        # A fork while another thread imports a module for the first time is Python's own trouble.
        session.sql("SELECT a FROM t")
    yield url, warehouse


def test_forked_processes_use_the_file_that_threads_of_their_parent_used(
    place: tuple[str, str],
) -> None:
    stopping = threading.Event()

    def write() -> None:
        with hivesql.connect(*place) as session:
            while not stopping.is_set():
                session.sql("INSERT INTO t VALUES (2)")

    def read() -> None:
        with hivesql.connect(*place) as session:
            assert session.sql("SELECT a FROM t WHERE a = 1").rows == [(1,)]

    def come_and_go() -> None:
        while not stopping.is_set():
            read()

    threads = [threading.Thread(target=work) for work in (write, come_and_go)]
    for thread in threads:
        thread.start()
    try:
        assert [_fork(read) for _ in range(16)] == [0] * 16
    finally:
        stopping.set()
        for thread in threads:
            thread.join()


_CONNECTIONS = """
import sys
from pathlib import Path

from hivesql_executor.metastore.database.dialects.forks import CALLS

outside = []


def look(event, arguments):
    if event == "sqlite3.connect" and not CALLS.is_inside():
        outside.append(arguments)


sys.addaudithook(look)
import hivesql
from hivesql_executor.metastore.read_only import ReadOnlyCopy

url, warehouse = sys.argv[1:]
for _ in range(2):
    with hivesql.connect(url, warehouse) as session:
        session.sql("SELECT a FROM t; INSERT INTO t VALUES (2); SHOW LOCKS; SHOW TRANSACTIONS")
ReadOnlyCopy.of(Path(url.removeprefix("sqlite:///")), warehouse).close()
assert not outside, outside
"""


def test_no_connection_to_a_file_is_made_where_a_fork_would_not_wait(
    place: tuple[str, str],
) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", _CONNECTIONS, *place], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr


def _in_child(work: Callable[[], object]) -> str:
    """Run a call in a forked process; the name and text of what it raised, or its value."""
    reading, writing = os.pipe()

    def tell() -> None:
        try:
            told = str(work())
        except HiveSqlError as error:
            told = f"{type(error).__name__}: {error}"
        os.write(writing, told.encode())

    assert _fork(tell) == 0
    os.close(writing)
    with os.fdopen(reading) as pipe:
        return pipe.read()


def _leave(session: hivesql.Session, way: str) -> None:
    if way == "close":
        session.close()
    elif way == "with":
        with pytest.raises(ZeroDivisionError), session:
            raise ZeroDivisionError
    elif way == "interrupt":
        session.end_interrupted()
    else:
        session.sql(way)


@pytest.mark.parametrize(
    "way",
    ["COMMIT", "ROLLBACK", "INSERT INTO t VALUES (7)", "SELECT a FROM t", "SELECT nothing FROM t",
     "START TRANSACTION", "no statement", "close", "with", "interrupt"],
)  # fmt: skip
def test_a_transaction_is_ended_by_the_process_that_began_it(
    place: tuple[str, str], way: str
) -> None:
    with hivesql.connect(*place) as session:
        session.sql("START TRANSACTION; INSERT INTO t VALUES (2)")
        told = _in_child(lambda: _leave(session, way))
        if way not in ("close", "with", "interrupt"):
            assert told.startswith("OfAnotherProcess"), told
        session.sql("INSERT INTO t VALUES (3); COMMIT")
        assert sorted(session.sql("SELECT a FROM t").rows) == [(1,), (2,), (3,)]


def test_behind_the_refused_one_a_forked_session_has_transactions_of_its_own(
    place: tuple[str, str],
) -> None:
    with hivesql.connect(*place) as session:
        session.sql("START TRANSACTION; INSERT INTO t VALUES (2)")

        def go_on() -> None:
            with pytest.raises(OfAnotherProcess):
                session.sql("COMMIT")
            session.sql("INSERT INTO t VALUES (7)")

        assert _in_child(go_on) == "None"
        session.sql("ROLLBACK")
        assert sorted(session.sql("SELECT a FROM t").rows) == [(1,), (7,)]


def test_temporary_tables_are_dropped_by_the_process_that_made_them(
    place: tuple[str, str],
) -> None:
    with hivesql.connect(*place) as session:
        session.sql("CREATE TEMPORARY TABLE own (a INT) STORED AS ORC")

        def look_and_close() -> object:
            with session:
                return session.sql("DESCRIBE own").rows[0][0]

        assert _in_child(look_and_close) == "a"
        session.sql("DESCRIBE own")


@pytest.mark.spark
def test_spark_is_used_by_the_process_that_started_it(place: tuple[str, str]) -> None:
    query = "SELECT count(*) FROM t x JOIN t y ON x.a = y.a"
    with hivesql.connect(*place) as session:
        assert session.sql(query).rows == [(1,)]

        def use() -> None:
            with session:
                session.sql("INSERT INTO t VALUES (2)")
                session.sql(query)

        def open_another() -> None:
            with hivesql.connect(*place) as another:
                another.sql("INSERT INTO t VALUES (3)")
                another.sql(query)

        for work in (use, open_another):
            told = _in_child(work)
            assert told.startswith("OfAnotherProcess") and "'spawn'" in told, told
        assert session.sql(query).rows == [(3,)]
