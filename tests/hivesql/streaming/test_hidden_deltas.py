"""A directory that a streaming batch's delta covers, but not its files: nothing deletes it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pyorc
import pytest

import hivesql
from acid_files import EVENT, tree
from hivesql import streaming
from hivesql_executor.compaction.cleaner import clean
from hivesql_executor.compaction.worker import run_next
from hivesql_executor.metastore.api import TxnType
from hivesql_executor.orc.hidden_deltas import HiddenDelta, hidden_deltas
from hivesql_executor.snapshot.listing import acid_state
from hivesql_planner.errors import DataError
from hivesql_planner.model.table import TableName

T = TableName("default", "t")
BATCH, INNER = "delta_0000001_0000004", "delta_0000002_0000002_0000"
BUCKET = 1 << 29


@pytest.fixture
def session(tmp_path: Path) -> Iterator[hivesql.Session]:
    """A batch whose second transaction has written nothing, and an INSERT under its write id."""
    with hivesql.connect(f"sqlite:///{tmp_path}/m.db", str(tmp_path / "w")) as session:
        for name in ("t", "u"):
            session.sql(f"CREATE TRANSACTIONAL TABLE {name} (a int) STORED AS ORC")
        session.sql("INSERT INTO u VALUES (0)")
        session.sql("INSERT INTO u VALUES (20)")
        stream(session)
        shutil.copytree(tmp_path / "w" / "u" / INNER, tmp_path / "w" / "t" / INNER)
        yield session


def stream(session: hivesql.Session) -> None:
    builder = streaming.HiveStreamingConnection.builder().with_session(session).with_table("t")
    commas = streaming.StrictDelimitedInputWriter(field_delimiter=",")
    with builder.with_transaction_batch_size(4).with_record_writer(commas).connect() as connection:
        for number in range(4):
            connection.begin_transaction()
            if number != 1:
                connection.write(str(number))
            connection.commit_transaction()


def found(session: hivesql.Session) -> tuple[HiddenDelta, ...]:
    store, files = session.runtime.metastore, session.runtime.files("")
    txns = store.valid_txns()
    visible = store.valid_write_ids(txns, [T])[T]
    home = store.table(T).location
    return hidden_deltas(files, home, acid_state(files, home, visible, txns))


def write_events(path: Path, *writes: int) -> None:
    path.parent.mkdir(exist_ok=True)
    with path.open("wb") as file, pyorc.Writer(file, EVENT.format("a:int")) as writer:
        writer.writerows([(0, one, BUCKET, 0, one, (one,)) for one in writes])


def test_no_compaction_deletes_what_a_batch_hides(session: hivesql.Session, tmp_path: Path) -> None:
    home = tmp_path / "w" / "t"
    assert found(session) == (HiddenDelta(INNER, BATCH),)
    before = tree(home)
    store = session.runtime.metastore
    for kind in ("major", "minor"):
        id_ = store.enqueue_compaction(T, None, kind, initiator_id="test").id
        with pytest.raises(DataError, match=f"{INNER} lies inside the write ids of {BATCH}"):
            run_next(session.runtime, id=id_)
    assert [row.state for row in store.compactions()] == ["failed", "failed"]
    assert tree(home) == before


def test_nor_does_the_cleaner_after_one_that_did_not_look(
    session: hivesql.Session, tmp_path: Path
) -> None:
    home, store = tmp_path / "w" / "t", session.runtime.metastore
    id_ = store.enqueue_compaction(T, None, "major", initiator_id="test").id
    store.next_compaction("w", id=id_)
    (txn_id,) = store.open_txns(1, "ann", "here", type=TxnType.COMPACTION)
    store.set_compaction_txn(id_, txn_id, 4)
    write_events(home / f"base_0000004_v{txn_id:07d}" / "bucket_00000", 1, 3, 4)
    store.mark_compacted(id_)
    store.commit_txn(txn_id)
    before = tree(home)
    assert clean(session.runtime) == 0
    assert tree(home) == before
    (row,) = store.compactions()
    assert row.state == "ready for cleaning"
    assert row.error is not None
    assert INNER in row.error
    shutil.rmtree(home / INNER)
    assert found(session) == (), "saved and deleted by hand"


def test_what_a_compaction_of_hive_3_covers_is_not_hidden(
    session: hivesql.Session, tmp_path: Path
) -> None:
    home = tmp_path / "w" / "t"
    shutil.rmtree(home / BATCH)
    write_events(home / BATCH / "bucket_00000", 1, 2, 3, 4)
    assert found(session) == ()
    write_events(home / BATCH / "bucket_00000", 1, 3, 4)
    assert found(session) == (), "one stripe of them all may hold it"
    write_events(home / BATCH / "bucket_00000", 3, 4)
    assert found(session) == (HiddenDelta(INNER, BATCH),)
    write_events(home / f"delete_{BATCH}" / "bucket_00000", 1)
    assert found(session) == (), "batches never delete"
