"""Sessions, cursors and streams that a program lets go of without closing them."""

from __future__ import annotations

import copy
import gc
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import hivesql
from hivesql import dbapi, streaming
from hivesql_executor.transactions.reaper import reap
from interrupted_world import damaged
from waiting import wait_until

_SETTINGS = {"hive.txn.timeout": "1s"}
CHANGE = "UPDATE t SET b = 'lost' WHERE a = 1"


@pytest.fixture
def session(tmp_path: Path) -> Iterator[hivesql.Session]:
    with _connect(tmp_path) as session:
        session.sql("CREATE TRANSACTIONAL TABLE t (a INT, b STRING) STORED AS ORC")
        session.sql("INSERT INTO t VALUES (1, 'kept')")
        yield session


def _connect(home: Path) -> hivesql.Session:
    place = str(home / "warehouse")
    return hivesql.connect(f"sqlite:///{home}/metastore.db", place, settings=_SETTINGS)


def _leave_transaction(home: Path) -> None:
    _connect(home).sql(f"START TRANSACTION; {CHANGE}")


def _leave_script(home: Path) -> None:
    results = _connect(home).run(f"START TRANSACTION; {CHANGE}; COMMIT")
    next(results)
    next(results)


def _leave_cursor(home: Path) -> None:
    place = str(home / "warehouse")
    connection = dbapi.connect(f"sqlite:///{home}/metastore.db", place, settings=_SETTINGS)
    connection.cursor().execute(CHANGE)


def _leave_stream(home: Path) -> None:
    writer = streaming.StrictDelimitedInputWriter(field_delimiter=",")
    builder = streaming.HiveStreamingConnection.builder().with_session(_connect(home))
    stream = builder.with_table("t").with_transaction_batch_size(3).with_record_writer(writer)
    connection = stream.connect()
    connection.begin_transaction()
    connection.write("9,lost\n")


def _leave_copy(home: Path) -> None:
    session = _connect(home)
    session.sql(f"START TRANSACTION; {CHANGE}")
    with pytest.raises(hivesql.NotSupported):
        copy.copy(session)


@pytest.mark.parametrize(
    "leave", [_leave_transaction, _leave_script, _leave_cursor, _leave_stream, _leave_copy]
)
def test_nothing_keeps_a_transaction_alive_that_nobody_can_end(
    session: hivesql.Session, tmp_path: Path, leave: Callable[[Path], None]
) -> None:
    leave(tmp_path)
    gc.collect()

    def is_over() -> bool:
        reap(session.runtime)
        states = [txn.state for txn in session.runtime.metastore.transactions()]
        return "open" not in states

    wait_until(is_over, seconds=30)
    assert not session.runtime.metastore.locks()
    session.sql("UPDATE t SET b = 'changed' WHERE a = 1")
    assert session.sql("SELECT * FROM t").rows == [(1, "changed")]
    assert damaged(session) == []


@pytest.mark.parametrize("of", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_session_has_no_copies(session: hivesql.Session, of: Callable[[object], object]) -> None:
    with pytest.raises(hivesql.NotSupported, match="a copy of a session: open another one"):
        of(session)
    assert session.sql("SELECT a FROM t").rows == [(1,)]


def test_results_are_copied_by_pickle(session: hivesql.Session) -> None:
    rows = session.sql("SELECT * FROM t").rows
    assert pickle.loads(pickle.dumps(rows)) == rows
