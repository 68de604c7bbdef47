"""Many at once: threads on one metastore, processes on one database."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from hivesql_executor.metastore.api import LockOwner, LockState
from hivesql_executor.metastore.database.dialects import turns
from hivesql_executor.metastore.database.metastore import DatabaseMetastore
from hivesql_executor.metastore.database.schema import txn_to_write_id
from hivesql_planner.errors import WriteConflict
from hivesql_planner.locks.lock import Lock, LockType, Operation
from hivesql_planner.model.table import TableName
from waiting import wait_until

T = TableName("default", "t")
EXCLUSIVE = Lock(LockType.EXCL_WRITE, "default", "t", None, Operation.UPDATE)

WRITER = """
import sys
from hivesql_executor.metastore.database.metastore import DatabaseMetastore
from hivesql_planner.model.table import TableName
store = DatabaseMetastore.open(sys.argv[1], "/wh")
for _ in range(int(sys.argv[2])):
    (txn_id,) = store.open_txns(1, "u", "h")
    print(store.allocate_write_id(txn_id, TableName("default", "t")))
    store.commit_txn(txn_id)
store.close()
"""


def test_open_again_finds_what_was_there(store: Any) -> None:
    txn_id = store.begin()
    again = DatabaseMetastore.open(store.url, "/other")
    assert again.database("default").location == "/wh"
    again.commit_txn(txn_id)
    again.close()
    assert store.calls.transactions() == ()


def test_threads_allocate_dense_write_ids(store: Any) -> None:
    def write(_: int) -> list[int]:
        found = []
        for _ in range(50):
            (txn_id,) = store.calls.open_txns(1, "u", "h")
            found.append(store.calls.allocate_write_id(txn_id, T))
            store.calls.commit_txn(txn_id)
        return found

    with ThreadPoolExecutor(8) as pool:
        given = [id_ for ids in pool.map(write, range(8)) for id_ in ids]
    assert sorted(given) == list(range(1, 401))
    seen = store.calls.valid_write_ids(store.calls.valid_txns(), [T])[T]
    assert (seen.high_watermark, seen.exceptions) == (400, frozenset())


def test_processes_open_an_empty_database_together(metastore_url: str) -> None:
    command = [sys.executable, "-c", WRITER, metastore_url, "1"]
    workers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    given = [int(worker.communicate()[0]) for worker in workers]
    assert sorted(given) == [1, 2, 3, 4]


def test_processes_allocate_dense_write_ids(store: Any) -> None:
    command = [sys.executable, "-c", WRITER, store.url, "40"]
    workers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    given = [int(line) for worker in workers for line in worker.communicate()[0].split()]
    assert [worker.returncode for worker in workers] == [0, 0]
    assert sorted(given) == list(range(1, 81))
    assert len(store.rows(txn_to_write_id, "txn_id")) == 80


def test_an_exclusive_lock_has_one_holder(store: Any) -> None:
    holders: list[int] = []

    def update(_: int) -> int:
        granted = 0
        for _ in range(8):
            (txn_id,) = store.calls.open_txns(1, "u", "h")
            answer = store.calls.enqueue_locks(txn_id, [EXCLUSIVE], LockOwner("u", "h"))
            while answer.state is LockState.WAITING:
                answer = store.calls.check_lock(answer.lock_id)
            holders.append(txn_id)
            held = [row for row in store.calls.locks() if row.state is LockState.ACQUIRED]
            assert [row.txn_id for row in held] == [txn_id]
            assert holders == [txn_id]
            holders.remove(txn_id)
            store.calls.commit_txn(txn_id)
            granted += 1
        return granted

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(update, range(4))) == 32


def test_first_committer_wins_among_threads(store: Any) -> None:
    lock = Lock(LockType.SHARED_WRITE, "default", "t", None, Operation.UPDATE)
    ids = store.calls.open_txns(8, "u", "h")
    for txn_id in ids:
        assert store.ask(txn_id, lock).state is LockState.ACQUIRED

    def commit(txn_id: int) -> bool:
        try:
            store.calls.commit_txn(txn_id, exclusive_write=False)
        except WriteConflict as error:
            assert "write conflict on default/t" in str(error)
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(commit, ids)) == 1
    assert store.calls.locks() == ()


def test_writers_queue_for_a_file_until_their_patience_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "_PATIENCE", 0.2)
    first, second = (turns.FileTurn(str(tmp_path / "m.db")) for _ in range(2))
    order: list[str] = []

    def write() -> None:
        with second:
            order.append("second")

    with first:
        # One thread never waits for itself.
        with second:
            order.append("nested")
        queued = threading.Thread(target=write)
        queued.start()
        # Behind one who does not end it asks SQLite itself.
        queued.join()
        order.append("first")
    write()
    first.close()
    second.close()
    assert order == ["nested", "second", "first", "second"]


def test_a_fork_does_not_keep_the_turn_that_its_parent_has_waited_for_too_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "_PATIENCE", 0.2)
    first, second, third = (turns.FileTurn(str(tmp_path / "m.db")) for _ in range(3))
    writes, ends, child = threading.Event(), threading.Event(), 0

    def write() -> None:
        with second:
            writes.set()
            ends.wait()

    with first:
        queued = threading.Thread(target=write)
        queued.start()
        assert writes.wait(30)
        # It has what the thread waits for open, and lives on.
        child = fork_idly()
    try:
        wait_until(lambda: "hivesql-turn" not in {each.name for each in threading.enumerate()})
        monkeypatch.setattr(turns, "_PATIENCE", 60)
        with third:
            assert third._is_queued
    finally:
        ends.set()
        queued.join()
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    for turn in (first, second, third):
        turn.close()


def fork_idly() -> int:
    """Fork, and return the number of a process that does nothing."""
    child = os.fork()
    if not child:
        while True:
            time.sleep(100)
    return child


def test_a_writer_waits_for_another_process(tmp_path: Path) -> None:
    left = tmp_path / "left"
    code = f"""
import pathlib, sys
from hivesql_executor.metastore.database.dialects.turns import FileTurn
with FileTurn({str(tmp_path / "m.db")!r}):
    print("mine", flush=True)
    sys.stdin.readline()
    pathlib.Path({str(left)!r}).touch()
"""
    turn = turns.FileTurn(str(tmp_path / "m.db"))

    def write() -> bool:
        with turn:
            return left.exists()

    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with (
        ThreadPoolExecutor(1) as threads,
        subprocess.Popen([sys.executable, "-c", code], **pipes) as other,
    ):
        assert other.stdout.readline() == "mine\n"
        queued = threads.submit(write)
        other.communicate("\n")
        assert queued.result()
    turn.close()
