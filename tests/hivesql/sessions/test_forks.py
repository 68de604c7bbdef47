"""Processes that fork while their threads use an SQLite file."""

from __future__ import annotations

import faulthandler
import os
import threading
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import hivesql
from hivesql_executor.metastore.database.connection import Rdbms


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

    thread = threading.Thread(target=write)
    thread.start()
    try:
        assert [_fork(read) for _ in range(8)] == [0] * 8
    finally:
        stopping.set()
        thread.join()
