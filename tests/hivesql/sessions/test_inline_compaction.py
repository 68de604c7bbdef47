"""COMPACT where no services run: what was queued or left by the dead is done, and blocks nobody.

After TRUNCATE there is nothing to merge and something to clean, which needs no Spark.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import forks
import hivesql
from acid_files import tree
from hivesql_executor.failpoints import VARIABLE, FailPoint
from hivesql_planner.model.table import TableName

T = TableName("default", "t")
PLACES = (
    FailPoint.COMPACTION_CLAIMED,
    FailPoint.COMPACTION_STARTED,
    FailPoint.COMPACTION_MARKED,
    FailPoint.COMPACTION_COMMITTED,
    FailPoint.ENTRY_DELETED,
    FailPoint.DIRECTORY_CLEANED,
)
COMPACT = "ALTER TABLE t COMPACT 'major'"


@pytest.fixture
def session(tmp_path: Path) -> Iterator[hivesql.Session]:
    with hivesql.connect(f"sqlite:///{tmp_path}/metastore.db", f"{tmp_path}/warehouse") as session:
        session.sql("CREATE TRANSACTIONAL TABLE t (a int) STORED AS ORC")
        yield session


def overwrite(session: hivesql.Session) -> str:
    """Leave something for the cleaner; the base that stays."""
    session.sql("INSERT INTO t VALUES (1); TRUNCATE TABLE t")
    store = session.runtime.metastore
    highest = store.valid_write_ids(store.valid_txns(), [T])[T].high_watermark
    return f"base_{highest:07d}"


def queue(session: hivesql.Session, kind: str = "major") -> None:
    session.sql(
        f"SET hivesql.compactor.inline=false; ALTER TABLE t COMPACT '{kind}'; "
        "SET hivesql.compactor.inline=true"
    )


def states(session: hivesql.Session) -> list[tuple[int, str]]:
    return sorted((row.id, row.state) for row in session.runtime.metastore.compactions())


def directories(tmp_path: Path) -> set[str]:
    return {path.partition("/")[0] for path in tree(tmp_path / "warehouse" / "t")}


def test_what_is_killed_does_not_block_the_next(session: hivesql.Session, tmp_path: Path) -> None:
    for place in PLACES:
        overwrite(session)
        killed = {VARIABLE: place}
        program = forks.start("hivesql_repl", "-e", COMPACT, cwd=tmp_path, environment=killed)
        code, told = program.wait()
        assert code == -signal.SIGKILL, f"{place}: {told}"
        base = overwrite(session)
        session.sql(COMPACT)
        assert directories(tmp_path) == {base}, place
        working = {"initiated", "working", "ready for cleaning"}
        assert not working & {state for _, state in states(session)}, place
        assert session.runtime.metastore.locks() == (), place


def test_what_is_queued_is_run(session: hivesql.Session, tmp_path: Path) -> None:
    base = overwrite(session)
    queue(session)
    told = session.sql(COMPACT).message
    assert told == "Compaction 1, which was queued before: ready for cleaning"
    assert (states(session), directories(tmp_path)) == ([(1, "succeeded")], {base})
    base = overwrite(session)
    queue(session, "minor")
    told = session.sql(COMPACT).message
    assert told is not None
    assert told.splitlines()[0] == "Compaction 2, which was queued before: ready for cleaning"
    assert told.splitlines()[1].startswith("Compaction enqueued with id 3: refused (None of")
    assert states(session) == [(1, "succeeded"), (2, "succeeded"), (3, "refused")]
    assert directories(tmp_path) == {base}


def claimed_by(session: hivesql.Session, worker: str) -> Any:
    overwrite(session)
    queue(session)
    return session.runtime.metastore.next_compaction(worker)


def test_what_a_living_process_works_on_is_left_to_it(session: hivesql.Session) -> None:
    host = session.runtime.host
    claimed_by(session, f"{host}-{os.getppid()}.0")
    with pytest.raises(hivesql.HiveSqlError, match="already scheduled with state='working'"):
        session.sql(COMPACT)
    assert states(session) == [(1, "working")]


def test_a_dead_process_may_have_had_our_number(session: hivesql.Session) -> None:
    """As in containers, where every process is called alike."""
    claimed_by(session, f"{session.runtime.host}-{os.getpid()}.0")
    session.sql(COMPACT)
    assert states(session) == [(1, "succeeded")]


def test_silence_tells_of_a_death_elsewhere(session: hivesql.Session) -> None:
    claimed = claimed_by(session, "elsewhere-1.0")
    store = session.runtime.metastore
    (txn_id,) = store.open_txns(1, "ann", "elsewhere")
    store.set_compaction_txn(claimed.id, txn_id, 2)
    with pytest.raises(hivesql.HiveSqlError, match="state='working'"):
        session.sql(COMPACT)
    session.sql("SET hive.txn.timeout=1ms")
    session.sql(COMPACT)
    assert states(session) == [(1, "succeeded")]
