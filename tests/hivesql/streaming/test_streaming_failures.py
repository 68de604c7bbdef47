"""Streaming ingest when something fails: locks, heartbeats, disks, commits; and unmanaged mode."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pyorc
import pytest

import hivesql
from acid_files import bucket_files, tree
from faults import files_limited_to
from hivesql import streaming
from hivesql.streaming import State
from hivesql_executor.failpoints import VARIABLE, FailPoint
from hivesql_executor.metastore.api import LockOwner, Metastore
from hivesql_planner.errors import CommitUnknown
from hivesql_planner.locks.lock import Lock, LockType, Operation
from hivesql_planner.model.table import TableName

TABLES = """
CREATE TABLE t (a int, b string) STORED AS ORC TBLPROPERTIES ('transactional'='true');
CREATE TABLE p (a int) PARTITIONED BY (k int) STORED AS ORC
    TBLPROPERTIES ('transactional'='true');
"""
COMMAS = streaming.StrictDelimitedInputWriter(field_delimiter=",")


@pytest.fixture
def session(tmp_path: Path) -> Iterator[hivesql.Session]:
    settings = {"hive.lock.numretries": "2", "hive.lock.sleep.between.retries": "100ms"}
    url, home = f"sqlite:///{tmp_path}/m.db", str(tmp_path / "w")
    with hivesql.connect(url, home, settings=settings) as session:
        session.sql(TABLES)
        yield session


def builder(session: hivesql.Session, table: str = "t") -> streaming.ConnectionBuilder:
    started = streaming.HiveStreamingConnection.builder().with_session(session)
    return started.with_table(table).with_record_writer(COMMAS)


def rows(path: Path) -> list[Any]:
    """Write id and row of each event."""
    with path.open("rb") as file:
        return [(one[4], one[5]) for one in pyorc.Reader(file)]


def states(session: hivesql.Session) -> list[str]:
    return [row.state for row in session.runtime.metastore.transactions()]


def test_a_lock_that_another_holds_is_waited_for(session: hivesql.Session, tmp_path: Path) -> None:
    with hivesql.connect(f"sqlite:///{tmp_path}/m.db", str(tmp_path / "w")) as other:
        # An exclusive lock, as DROP TABLE takes it.
        store = other.runtime.metastore
        (txn,) = store.open_txns(1, "someone", "somewhere")
        lock = Lock(LockType.EXCLUSIVE, "default", "t", None, Operation.NO_TXN)
        store.enqueue_locks(txn, [lock], LockOwner("someone", "somewhere"))
        connection = builder(session).with_transaction_batch_size(2).connect()
        with pytest.raises(
            streaming.TransactionError, match=r"Unable to acquire lock on default\.t"
        ):
            connection.begin_transaction()
        with pytest.raises(streaming.InvalidTransactionState, match="is closed"):
            connection.write("1,a")
        assert "open" not in states(session)[1:], "the whole batch is aborted"
        release = threading.Timer(0.15, lambda: store.abort_txns([txn], "test"))
        release.start()
        connection.begin_transaction()
        connection.write("1,a")
        connection.commit_transaction()
        connection.close()
        release.join()
    assert [len(rows(path)) for path in bucket_files(tmp_path / "w" / "t")] == [1]


def test_a_lost_heartbeat_closes_the_batch(session: hivesql.Session) -> None:
    session.sql("SET hive.txn.timeout=200ms")
    with builder(session).with_transaction_batch_size(3).connect() as connection:
        connection.begin_transaction()
        connection.write("1,a")
        first, *_ = connection.txn_to_write_ids
        for _ in range(4):
            time.sleep(0.1)
            session.runtime.metastore.reap(0.35)
        assert states(session) == ["open"] * 3, "kept alive"
        session.runtime.metastore.abort_txns([first], "test")
        assert connection._batch is not None
        deadline = time.monotonic() + 20
        while connection._batch.heartbeat.lost is None and time.monotonic() < deadline:
            time.sleep(0.02)
        with pytest.raises(streaming.InvalidTransactionState, match="is closed"):
            connection.write("2,b")
        assert states(session) == ["aborted"] * 3
        connection.begin_transaction()
        connection.commit_transaction()


def test_no_beat_takes_a_commit_for_a_loss(session: hivesql.Session) -> None:
    # Beats come as fast as they can.
    session.sql("SET hive.txn.timeout=1ms")
    with builder(session).with_transaction_batch_size(60).connect() as connection:
        for number in range(60):
            connection.begin_transaction()
            if number % 3:
                connection.commit_transaction()
            else:
                connection.abort_transaction()
        assert connection._batch is not None
        assert connection._batch.heartbeat.lost is None
        assert connection.statistics.committed_transactions == 40


def test_a_batch_is_as_large_as_the_metastore_allows(
    session: hivesql.Session, tmp_path: Path
) -> None:
    session.sql("SET hive.txn.max.open.batch=3")
    with builder(session).with_transaction_batch_size(10).connect() as connection:
        for number in range(5):
            connection.begin_transaction()
            connection.write(f"{number},x")
            connection.commit_transaction()
        assert connection.remaining_transactions == 1
        assert connection.statistics.metastore_calls == 2 * 2 + 5 * 3
    deltas = sorted(path.name for path in (tmp_path / "w" / "t").iterdir())
    assert deltas == ["delta_0000001_0000003", "delta_0000004_0000006"]


def test_a_disk_that_is_full_leaves_what_was_committed(
    session: hivesql.Session, tmp_path: Path
) -> None:
    home = tmp_path / "w" / "t"
    noise = os.urandom(2_000_000).hex()
    connection = builder(session).with_transaction_batch_size(3).connect()
    connection.begin_transaction()
    connection.write(f"1,{noise}")
    connection.commit_transaction()
    path = home / "delta_0000001_0000003" / "bucket_00000"
    good = path.stat().st_size
    connection.begin_transaction()
    connection.write(f"2,{noise}")
    with (
        files_limited_to(good + 100_000),
        pytest.raises(streaming.StreamingIOFailure, match=r"written: .* large: '.*bucket_0+'\. L"),
    ):
        connection.commit_transaction()
    assert tree(path.parent) == ["_orc_acid_version", "bucket_00000"]
    assert path.stat().st_size == good, "cut back to the last flush"
    assert rows(path) == [(1, (1, noise))]
    assert states(session) == ["aborted"] * 2
    with pytest.raises(streaming.InvalidTransactionState, match="is closed"):
        connection.commit_transaction()
    connection.begin_transaction()
    connection.write(f"3,{noise}")
    with files_limited_to(good - 100_000), pytest.raises(streaming.StreamingIOFailure):
        connection.commit_transaction()
    assert not (home / "delta_0000004_0000006").exists(), "nothing was flushed"
    (home / "delta_0000007_0000009").write_text("in the way")
    connection.begin_transaction()
    connection.write("4,d")
    with pytest.raises(streaming.StreamingIOFailure, match="delta could not be written"):
        connection.commit_transaction()
    connection.close()


class Lossy:
    """A metastore at the end of a line that breaks while it answers a commit."""

    def __init__(self, store: Metastore) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def commit_txn(self, txn_id: int, **options: Any) -> None:
        """Commit, and lose the answer."""
        self._store.commit_txn(txn_id, **options)
        raise CommitUnknown("the metastore's answer to a commit was lost")


def test_a_commit_whose_answer_is_lost_is_not_aborted(
    session: hivesql.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    with builder(session).connect() as connection:
        connection.begin_transaction()
        connection.write("0,x")
        monkeypatch.setenv(VARIABLE, FailPoint.COMMIT_ANSWER_LOST)
        connection.commit_transaction()
        assert connection.transaction_states == (State.COMMITTED,), "asked again"
    lossy = cast("Metastore", Lossy(session.runtime.metastore))
    session.runtime = replace(session.runtime, metastore=lossy)
    connection = builder(session).with_transaction_batch_size(2).connect()
    connection.begin_transaction()
    connection.write("1,a")
    with pytest.raises(CommitUnknown):
        connection.commit_transaction()
    assert connection.transaction_states == (State.COMMITTED, State.ABORTED)
    assert states(session) == ["aborted"], "the second; the first was committed"
    connection.close()


def test_parts_of_one_transaction_are_written_by_several(
    session: hivesql.Session, tmp_path: Path
) -> None:
    with builder(session, "p").connect() as leader:
        leader.begin_transaction()
        write_id = leader.current_write_id
        assert (leader.current_txn_id, write_id) == (next(iter(leader.txn_to_write_ids)), 1)
        parts: set[str] = set()
        for number in (1, 2):
            options = builder(session, "p").with_write_id(write_id).with_statement_id(number)
            worker = options.with_table_object(leader.table).connect()
            worker.begin_transaction()
            worker.write(f"{number},{number}\n{number},7")
            locks = len(session.runtime.metastore.locks())
            worker.commit_transaction()
            assert worker.transaction_states == (State.PREPARED,)
            assert (locks, worker.txn_to_write_ids) == (1, {-1: 1})
            with pytest.raises(streaming.InvalidTransactionState, match="one transaction"):
                worker.begin_transaction()
            with pytest.raises(streaming.InvalidTransactionState, match="not OPEN"):
                worker.write("1,1")
            parts |= set(worker.partitions)
            worker.close()
        known = session.runtime.metastore.partitions(TableName("default", "p"))
        assert known == (), "workers only tell of theirs"
        assert parts == {"k=1", "k=2", "k=7"}
        leader.commit_transaction(parts, key="_meta.offset", value="42")
        assert leader.statistics.created_partitions == 3
    found = {
        str(path.relative_to(tmp_path / "w" / "p")): rows(path)
        for path in bucket_files(tmp_path / "w" / "p")
    }
    assert found == {
        "k=1/delta_0000001_0000001_0001/bucket_00000": [(1, (1,))],
        "k=2/delta_0000001_0000001_0002/bucket_00000": [(1, (2,))],
        "k=7/delta_0000001_0000001_0001/bucket_00000": [(1, (1,))],
        "k=7/delta_0000001_0000001_0002/bucket_00000": [(1, (2,))],
    }
    with builder(session, "p").connect() as leader:
        leader.begin_transaction()
        leader.write("0,1")
        with pytest.raises(streaming.StreamingException, match="would hide"):
            leader.commit_transaction(["k=1"])
    table = session.runtime.metastore.table(TableName("default", "p"))
    assert table.properties["_meta.offset"] == "42"
    known = session.runtime.metastore.partitions(TableName("default", "p"))
    assert {one.values for one in known} == {("1",), ("2",), ("7",)}
    assert session.sql("DELETE FROM p WHERE a >= 0").affected == 4


def test_an_unmanaged_part_that_is_aborted_leaves_no_rows(
    session: hivesql.Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hivesql_executor.streaming.deltas.FLUSH_ROWS", 1)
    with builder(session).connect() as leader:
        leader.begin_transaction()
        options = builder(session).with_table_object(leader.table)
        for number in (1, 2):
            part = options.with_write_id(leader.current_write_id).with_statement_id(number)
            worker = part.connect()
            worker.begin_transaction()
            worker.write(f"{number},x")
            (worker.abort_transaction if number == 1 else worker.close)()
            assert worker.transaction_states == (State.ABORTED,)
        assert leader.statistics.auto_flushes == 0
        leader.commit_transaction()
    assert bucket_files(tmp_path / "w" / "t") == []


def test_options_of_unmanaged_mode_fit_together(session: hivesql.Session) -> None:
    with builder(session).connect() as leader:
        table = leader.table
    both = builder(session).with_table_object(table).with_write_id(1)
    cases = [
        (builder(session).with_write_id(1), "given together"),
        (builder(session).with_table_object(table), "given together"),
        (both.with_transaction_batch_size(2), "one transaction"),
        (both.with_table("p"), "the table object is default.t and not p"),
    ]
    for options, text in cases:
        with pytest.raises(streaming.StreamingException, match=text):
            options.connect()
    worker = both.connect()
    worker.begin_transaction()
    with pytest.raises(streaming.StreamingException, match="connection that commits"):
        worker.commit_transaction(["k=1"])
    worker.close()
    with builder(session).connect() as leader:
        leader.begin_transaction()
        for key, value in (("offset", "1"), ("_meta.x", None)):
            with pytest.raises(streaming.StreamingException, match="key"):
                leader.commit_transaction(key=key, value=value)
        leader.abort_transaction()
