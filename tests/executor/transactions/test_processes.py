"""Real processes: writers and readers at once, and writers killed at every named place."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import select

import forks
from executor.transactions import actor, history
from executor.transactions.ledger import Ledger
from hivesql_executor.failpoints import VARIABLE, FailPoint
from hivesql_executor.metastore.database.connection import Rdbms
from hivesql_executor.metastore.database.schema import txn_to_write_id, txns

pytestmark = pytest.mark.slow

ACTOR = Path(actor.__file__)
BALANCE = 100
TOTAL = 2 * actor.ACCOUNTS * BALANCE
Open = Callable[..., Ledger]


@pytest.fixture
def bank(open_ledger: Open) -> Ledger:
    """Accounts in two tables, and a counter."""
    bank = open_ledger()
    for name in (*actor.TABLES, "c"):
        bank.create(name)
    bank.begin()
    for name in actor.TABLES:
        bank.insert(name, dict.fromkeys(range(1, actor.ACCOUNTS + 1), BALANCE))
    bank.insert("c", {0: 0})
    bank.commit()
    return bank


def start(
    url: str, home: Path, role: str, seed: int, count: int, *settings: str, fail_point: str = ""
) -> forks.Program:
    log = home.parent / f"{role}-{seed}.history"
    arguments = [url, str(home), str(log), role, str(seed), str(count), *settings]
    return forks.start(ACTOR, *arguments, cwd=home.parent, environment={VARIABLE: fail_point})


def recorded(home: Path) -> list[history.Done]:
    lines = [
        json.loads(line)
        for path in home.parent.glob("*.history")
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    return history.parse(lines)


def committed(url: str) -> dict[tuple[str, int], int]:
    """The transaction of each committed write id, as the metastore has it."""
    owned = txn_to_write_id.c
    query = (
        select(owned.table, owned.write_id, owned.txn_id)
        .join(txns, txns.c.id == owned.txn_id)
        .where(txns.c.state == "c")
    )
    rdbms = Rdbms(url)
    try:
        rows = rdbms.read(lambda db: list(db.execute(query)))
    finally:
        rdbms.close()
    return {(table, write_id): txn_id for table, write_id, txn_id in rows}


def test_writers_and_readers(url: str, bank: Ledger, exclusive: str) -> None:
    """With locks that exclude writers, and with the first committer winning."""
    counts = {"counter": (4, 6), "transfer": (4, 5), "reader": (8, 6)}
    running = [
        start(url, bank.home, role, seed, count, f"txn_xlock_write={exclusive}")
        for role, (clients, count) in counts.items()
        for seed in range(clients)
    ]
    for process in running:
        code, complaint = process.wait()
        assert code == 0, complaint
    found = recorded(bank.home)
    assert len(found) == sum(clients * count for clients, count in counts.values())
    assert history.problems(found, committed(url), TOTAL) == []
    assert bank.values("c") == {0: 24}
    balances = bank.select(*actor.TABLES).values()
    assert sum(row["v"] for rows in balances for row in rows.values()) == TOTAL
    assert bank.store.locks() == ()


KILLED = [
    (f"{point}:{which}" if which > 1 else str(point), point is FailPoint.AFTER_COMMIT)
    for point, times in {
        FailPoint.TXN_OPENED: 1,
        FailPoint.WRITE_IDS_ALLOCATED: 2,
        FailPoint.LOCKS_ACQUIRED: 2,
        FailPoint.ROWS_STAGED: 1,
        FailPoint.FILE_PUBLISHED: 3,
        FailPoint.ROWS_PUBLISHED: 2,
        FailPoint.BEFORE_COMMIT: 1,
        FailPoint.AFTER_COMMIT: 1,
    }.items()
    for which in {1, times}
]


def test_a_killed_writer_leaves_all_or_nothing(url: str, bank: Ledger) -> None:
    for seed, (fail_point, stays) in enumerate(KILLED):
        before = bank.select(*actor.TABLES)
        process = start(url, bank.home, "once", seed, 1, fail_point=fail_point)
        code, told = process.wait()
        assert code == -signal.SIGKILL, f"{fail_point}: {told}"
        # Nobody sees anything of it, whether its locks have timed out or not.
        assert (bank.select(*actor.TABLES) != before) == stays, fail_point
        bank.store.reap(-1)
        after = bank.select(*actor.TABLES)
        assert (after != before) == stays, fail_point
        assert sum(row["v"] for rows in after.values() for row in rows.values()) == TOTAL
        assert bank.store.locks() == (), fail_point
        # The next writer goes on.
        bank.update("a", lambda row: row["v"])
        bank.update("b", lambda row: row["v"])
    assert not recorded(bank.home)


def test_a_commit_whose_answer_was_lost_happens_once(url: str, bank: Ledger) -> None:
    before = bank.select(*actor.TABLES)
    process = start(url, bank.home, "once", 1, 1, fail_point=FailPoint.COMMIT_ANSWER_LOST)
    assert process.wait() == (0, "committed\n")
    assert history.problems(recorded(bank.home), committed(url), TOTAL) == []
    assert bank.select(*actor.TABLES) != before
    assert bank.store.locks() == ()
