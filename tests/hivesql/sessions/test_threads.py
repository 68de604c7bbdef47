"""One session that several threads use."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import hivesql
from waiting import wait_until


@pytest.fixture
def session(tmp_path: Path) -> hivesql.Session:
    return hivesql.connect(f"sqlite:///{tmp_path}/metastore.db", str(tmp_path / "warehouse"))


def test_statements_of_threads_run_one_after_the_other(session: hivesql.Session) -> None:
    """Each is its own transaction: none takes another thread's for its own."""
    with session:
        session.sql("CREATE TRANSACTIONAL TABLE t (thread INT, n INT) STORED AS ORC")
        session.sql("CREATE TRANSACTIONAL TABLE counter (n INT) STORED AS ORC")
        session.sql("INSERT INTO counter VALUES (0)")

        def work(thread: int) -> list[str]:
            errors = []
            for number in range(5):
                session.sql("UPDATE counter SET n = n + 1")
                session.sql(f"INSERT INTO t VALUES ({thread}, {number})")
                try:
                    session.sql("INSERT INTO t VALUES (1, 2, 3)")
                except hivesql.SemanticError as error:
                    errors.append(str(error.code))
            return errors

        with ThreadPoolExecutor(8) as threads:
            answers = list(threads.map(work, range(8)))
        assert answers == [["10044"] * 5] * 8
        assert session.sql("SELECT n FROM counter").rows == [(40,)]
        rows = session.sql("SELECT thread, n FROM t").rows
        assert sorted(rows) == [(thread, n) for thread in range(8) for n in range(5)]


def test_threads_share_a_transaction_that_one_of_them_began(session: hivesql.Session) -> None:
    with session:
        session.sql("CREATE TRANSACTIONAL TABLE t (n INT) STORED AS ORC")
        session.sql("START TRANSACTION")
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(lambda n: session.sql(f"INSERT INTO t VALUES ({n})"), range(8)))
        session.sql("ROLLBACK")
        assert session.sql("SELECT n FROM t").rows == []


def test_who_waits_for_another_thread_learns_that_the_session_was_closed(
    session: hivesql.Session,
) -> None:
    session.sql("CREATE TRANSACTIONAL TABLE t (n INT) STORED AS ORC")

    def insert(n: int) -> str:
        try:
            for _ in range(50):
                session.sql(f"INSERT INTO t VALUES ({n})")
        except (hivesql.SessionClosed, hivesql.Cancelled) as error:
            return type(error).__name__
        return "done"

    with ThreadPoolExecutor(4) as threads:
        running = [threads.submit(insert, n) for n in range(4)]
        session.close()
        answers = {one.result() for one in running}
    assert answers <= {"SessionClosed", "Cancelled"}


def test_whoever_tells_the_user_may_fail(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """What waits, and what keeps transactions alive beside a statement, goes on all the same."""
    place = (f"sqlite:///{tmp_path}/metastore.db", str(tmp_path / "warehouse"))
    lines: list[str] = []

    def break_down(line: str) -> None:
        lines.append(line)
        raise BrokenPipeError(32, "Broken pipe")

    with hivesql.connect(*place) as first, hivesql.connect(*place, notify=break_down) as second:
        first.sql("CREATE TRANSACTIONAL TABLE t (n INT) STORED AS ORC")
        first.sql("INSERT INTO t VALUES (1)")
        first.sql("START TRANSACTION")
        first.sql("DELETE FROM t")
        with ThreadPoolExecutor(1) as threads:
            waiting = threads.submit(second.sql, "DELETE FROM t")
            wait_until(lambda: any("waiting for locks" in line for line in lines))
            first.sql("COMMIT")
            waiting.result()
        assert first.sql("SELECT n FROM t").rows == []
        second.sql("START TRANSACTION")
        with pytest.raises(hivesql.SemanticError):
            second.sql("INSERT INTO t VALUES (1, 2, 3)")
    assert any("was rolled back" in line for line in lines)
    assert "notify failed on: " in caplog.text
