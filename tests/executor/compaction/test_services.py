"""Initiator, cleaner, and the cleaner of aborted writes: scenarios of Hive's own tests."""

from __future__ import annotations

import subprocess
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hand_made import T, Warehouse
from hivesql_executor.compaction import worker
from hivesql_executor.compaction.aborts import clean_aborted
from hivesql_executor.compaction.initiator import initiate
from hivesql_executor.compaction.worker import claim_next, release_dead, run_next
from hivesql_executor.metastore.api import AbortLimits
from hivesql_executor.metastore.database.metastore import DatabaseMetastore
from hivesql_executor.metastore.database.schema import txn_components
from hivesql_executor.services import run_round, services_of
from hivesql_planner.model.table import TableName

AT_ONCE = AbortLimits(count=0, age=None)


def components(house: Warehouse) -> int:
    found = house.rdbms.read(lambda db: db.execute(txn_components.select()).all())
    return len(found)


def test_what_no_reader_needs_is_deleted(house: Warehouse) -> None:
    """C12 and C13: a reader from before holds the cleaner back, one from after does not."""
    for _ in range(2):
        house.write()
    before = house.reader()
    id_ = house.compact()
    house.write()
    assert house.clean() == 0
    assert len(house.names()) == 4
    house.store.commit_txn(before)
    after = house.reader()
    assert house.clean() == 1
    assert [name[:12] for name in house.names()] == ["base_0000002", "delta_000000"]
    assert house.state(id_) == "succeeded"
    house.store.commit_txn(after)


def test_what_the_dead_left_is_removed(house: Warehouse) -> None:
    """Directories without files, and what was staged; not those of who lives."""
    house.write()
    for dies in (True, False):
        txn_id, write_id = house.begin()
        (house.home / f"delta_{write_id:07d}_{write_id:07d}_0000").mkdir()
        (house.home / f".hive-staging_hivesql_{txn_id}_ab").mkdir()
        if dies:
            house.store.abort_txns([txn_id], "x")
    assert clean_aborted(house.runtime, AT_ONCE) == 1
    assert house.names() == [
        f".hive-staging_hivesql_{txn_id}_ab", "delta_0000001_0000001_0000",
        "delta_0000003_0000003_0000",
    ]  # fmt: skip
    assert components(house) == 1


def test_a_delayed_cleaner_waits(house: Warehouse) -> None:
    house.write()
    house.write()
    id_ = house.compact()
    runtime = house.using(hive__compactor__delayed__cleanup__enabled="true")
    assert house.clean(runtime) == 0
    house.older(301)
    assert house.clean(runtime) == 1
    assert house.state(id_) == "succeeded"


def test_a_table_that_keeps_everything(house: Warehouse) -> None:
    """C15."""
    house.store.alter_table(T, replace(house.table, properties={
        "transactional": "true", "NO_CLEANUP": "true"}))  # fmt: skip
    house.write()
    house.write()
    id_ = house.compact()
    assert house.clean() == 0
    assert (house.state(id_), len(house.names())) == ("refused", 3)
    house.store.alter_table(T, replace(house.table, properties={
        "transactional": "true", "no_cleanup": "false"}))  # fmt: skip
    house.write()
    house.compact()
    assert house.clean() == 1
    assert len(house.names()) == 1


def test_a_table_that_is_gone(house: Warehouse) -> None:
    """C16, and a worker whose table is gone."""
    house.write()
    house.write()
    id_ = house.compact()
    other = TableName("default", "other")
    house.store.enqueue_compaction(other, None, "minor", initiator_id="x")
    assert "Unable to find table default.other" in str(run_next(house.runtime))
    house.table = replace(house.table, name=other)
    kept = house.names()
    house.store.alter_table(T, house.table)
    assert house.clean() == 1
    assert house.state(id_) == "succeeded"
    assert kept


def test_a_failed_cleaning_is_tried_again(
    house: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C17 with one pause: the other tests count them all."""
    house.write()
    house.write()
    id_ = house.compact()

    def broken(self: object, path: str) -> None:
        raise OSError("the disk is on fire")

    with monkeypatch.context() as patched:
        patched.setattr("hivesql_executor.files.local.LocalFiles.delete", broken)
        once = house.using(hive__compactor__cleaner__retry__maxattempts="1")
        assert house.clean(once) == 0
        assert "the disk is on fire" in house.told[-1]
        assert house.state(id_) == "ready for cleaning"
        assert house.store.ready_to_clean() == ()
        house.older(301)
        assert house.clean(once) == 0
    assert house.state(id_) == "failed"
    assert len(house.names()) == 3


def test_a_compaction_that_was_lost_before_its_commit(house: Warehouse) -> None:
    """C20: its directory is never seen, and disappears with the other aborted ones."""
    house.write()
    house.write()
    id_ = house.compact(commit=False)
    assert house.clean() == 0
    assert house.state(id_) == "failed"
    assert clean_aborted(house.runtime, AT_ONCE) == 1
    assert house.names() == ["delta_0000001_0000001_0000", "delta_0000002_0000002_0000"]
    assert components(house) == 0


def test_aborted_writes_disappear_without_a_compaction(house: Warehouse) -> None:
    house.write()
    for _ in range(3):
        house.write(commit=False)
    open_txn, write_id = house.begin()
    house.directory(f"delta_{write_id:07d}_{write_id:07d}_0000")
    house.write()
    reader = house.reader()
    assert clean_aborted(house.runtime) == 0
    runtime = house.using(hive__compactor__abortedtxn__threshold="2")
    assert clean_aborted(runtime) == 1
    assert house.names() == [f"delta_000000{i}_000000{i}_0000" for i in (1, 5, 6)]
    assert components(house) == 1
    house.store.commit_txn(open_txn)
    house.store.commit_txn(reader)
    house.write(commit=False)
    house.older(13 * 3600)
    assert clean_aborted(house.runtime) == 1
    house.store.commit_txn(house.reader())
    house.older(2)
    house.store.clean_txns()
    assert house.store.valid_txns().aborted == frozenset()
    assert len(house.names()) == 3


def test_a_streaming_batch_keeps_its_aborted_ids(house: Warehouse) -> None:
    """A delta of many writes, one of them aborted: its rows are still there."""
    for commit in (True, False, True):
        txn_id, _ = house.begin()
        if commit:
            house.store.commit_txn(txn_id)
        else:
            house.store.abort_txns([txn_id], "x")
    house.directory("delta_0000001_0000003")
    assert clean_aborted(house.runtime, AT_ONCE) == 1
    assert house.names() == ["delta_0000001_0000003"]
    assert components(house) == 1


def test_aborted_writes_of_unknown_partitions(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    house = Warehouse(tmp_path / "x")
    house.store.drop_table(T)
    house.make({}, partitioned=True)
    house.add_partition("1")
    house.write(partition="p=1")
    txn_id, write_id = house.begin()
    for part in ("p=1", "p=2"):
        house.directory(f"delta_{write_id:07d}_{write_id:07d}_0000", under=part)
    # One had only begun, and one died before it made a file.
    (house.home / f".hive-staging_hivesql_{txn_id}_x").mkdir()
    (house.home / "p=3" / f"delta_{write_id:07d}_{write_id:07d}_0000").mkdir(parents=True)
    house.store.abort_txns([txn_id], "x")
    assert clean_aborted(house.runtime, AT_ONCE) == 1
    assert house.names("p=1") == ["delta_0000001_0000001_0000"]
    # The catalog names no such partition, so that its directory would stay for good.
    assert sorted(path.name for path in house.home.iterdir()) == ["p=1"]
    assert house.store.lost_moves(-1) == ()
    house.close()


def test_the_initiator_asks_once(house: Warehouse) -> None:
    """C4 and C7; what a table or database switches off; what is recorded."""
    for _ in range(11):
        house.write()
    database = house.store.database("default")
    house.store.alter_database(replace(database, properties={"no_auto_compaction": "true"}))
    assert initiate(house.runtime) == 0
    house.store.alter_database(database)
    assert initiate(house.runtime) == 1
    assert initiate(house.runtime) == 0
    (row,) = house.store.compactions()
    assert (row.kind, row.state, row.initiator_id) == ("major", "initiated", "here-initiator")
    house.store.next_compaction("here-1.0")
    house.store.mark_failed(row.id, "x")
    assert initiate(house.runtime) == 1
    (again,) = (one for one in house.store.compactions() if one.state == "initiated")
    house.store.next_compaction("here-1.0")
    house.store.mark_failed(again.id, "x")
    assert initiate(house.runtime) == 0
    states = sorted(one.state for one in house.store.compactions())
    assert states == ["did not initiate", "failed", "failed"]


def test_aborts_are_the_initiator_s_where_the_cleaner_leaves_them(house: Warehouse) -> None:
    for _ in range(3):
        house.write(commit=False)
    settings = {
        "metastore__compactor__clean__aborts__using__cleaner": "false",
        "hive__compactor__abortedtxn__threshold": "2",
    }
    assert initiate(house.runtime) == 0
    assert initiate(house.using(**settings)) == 1
    (row,) = house.store.compactions()
    assert row.kind == "major"


def test_a_dead_worker_s_request_is_queued_again(house: Warehouse) -> None:
    """C18."""
    house.write()
    house.store.enqueue_compaction(T, None, "major", initiator_id="x")
    done = subprocess.Popen(["true"])
    done.wait()
    house.store.next_compaction(f"elsewhere-{done.pid}.0")
    assert release_dead(house.runtime) == 0
    house.store.release_compactions(silent=-1)
    house.store.next_compaction(f"here-{done.pid}.0")
    assert release_dead(house.runtime) == 1
    assert house.state(1) == "initiated"


def test_a_worker_whose_claim_hangs_keeps_no_other(house: Warehouse) -> None:
    """Nor does anybody take for dead what it has perhaps claimed by now."""
    house.write()
    house.store.enqueue_compaction(T, None, "major", initiator_id="x")
    asked, go_on = threading.Event(), threading.Event()

    class Hanging(DatabaseMetastore):
        """Its answers come late."""

        def next_compaction(self, *words: Any, **named: Any) -> Any:
            claimed = house.store.next_compaction(*words, **named)
            asked.set()
            assert go_on.wait(60)
            return claimed

    runtime = replace(house.runtime, metastore=Hanging(house.store._rdbms))
    claims: list[Any] = []
    hanging = threading.Thread(target=lambda: claims.append(claim_next(runtime)))
    hanging.start()
    assert asked.wait(60)
    assert claim_next(house.runtime, number=1) is None
    assert release_dead(house.runtime) == 0
    go_on.set()
    hanging.join()
    assert [one.id for one in claims] == [1]
    assert release_dead(house.runtime) == 0
    worker._running.clear()
    assert release_dead(house.runtime) == 1
    assert house.state(1) == "initiated"


def test_pools(house: Warehouse) -> None:
    from hivesql_planner.compaction.request import CompactionDetails

    details = CompactionDetails(pool="etl", properties={"tblprops.a": "b"}, bucket_count=3)
    house.store.enqueue_compaction(T, None, "minor", initiator_id="x", details=details)
    assert house.store.next_compaction("here-1.0", pool="other") is None
    assert house.store.next_compaction("here-1.0", pool_timeout=60) is None
    claimed = house.store.next_compaction("here-1.0", pool="etl")
    assert claimed is not None
    assert (claimed.properties, claimed.bucket_count) == ({"tblprops.a": "b"}, 3)
    house.store.release_compactions(silent=-1)
    house.older(61)
    assert house.store.next_compaction("here-1.0", pool_timeout=60) is not None


def test_one_round_of_every_service(house: Warehouse) -> None:
    """Nothing to do is done without Spark, and a worker refuses what is not worth it."""
    house.write()
    house.store.enqueue_compaction(T, None, "minor", initiator_id="x")
    runtime = house.using(metastore__compactor__worker__threads="2")
    services = services_of(runtime)
    assert [service.name for service in services] == [
        "housekeeper", "initiator", "worker-0", "worker-1", "cleaner", "history"
    ]  # fmt: skip
    assert run_round(services, runtime)
    (row,) = house.store.compactions()
    assert (row.state, row.error) == (
        "refused", "None of the compaction thresholds met, compaction request is refused!"
    )  # fmt: skip


@pytest.mark.parametrize("stops", [True, False])
def test_what_a_stopping_worker_cannot_finish_waits_again(house: Warehouse, stops: bool) -> None:
    """A signal to all processes of a service ends its Spark as well."""
    stopping = threading.Event()

    def spark() -> Any:
        if stops:
            stopping.set()
        raise ConnectionResetError("the JVM is gone")

    house.write()
    house.write()
    id_ = house.store.enqueue_compaction(T, None, "major", initiator_id="x").id
    before = house.names()
    runtime = replace(house.runtime, spark=spark, cancelled=stopping)
    worker = next(one for one in services_of(runtime) if one.name == "worker-0")
    assert not worker.work()
    assert house.state(id_) == ("initiated" if stops else "failed")
    assert ("waits again" in house.told[-1]) == stops
    assert [row.state for row in house.store.transactions()] == ["aborted"]
    assert house.store.locks() == ()
    assert house.names() == before
