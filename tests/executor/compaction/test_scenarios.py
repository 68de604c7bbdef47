"""Scenarios of Hive's own compaction tests that need no rows, on each metastore."""

from __future__ import annotations

from dataclasses import replace

from hand_made import T, Warehouse
from hivesql_executor.compaction.initiator import initiate
from hivesql_executor.metastore.api import TxnType

NOT_ENOUGH = "None of the compaction thresholds met, compaction request is refused!"


def states(house: Warehouse) -> dict[int, str]:
    return {row.id: row.state for row in house.store.compactions()}


def test_a_large_base_and_few_small_deltas(house: Warehouse) -> None:
    """C1 and C3: a delta of five per cent is nothing, ten are nothing, eleven are a minor one."""
    for _ in range(20):
        house.write(size=1000)
    house.compact()
    base = next(name for name in house.names() if name.startswith("base_"))
    (house.home / base / "bucket_00000").write_bytes(b"x" * 20_000)
    assert house.clean() == 1
    for expected in [0] * 10 + [1]:
        house.write(size=1)
        assert initiate(house.runtime) == expected
    (row,) = (row for row in house.store.compactions() if row.state == "initiated")
    assert row.kind == "minor"


def test_deltas_that_outgrow_the_base(house: Warehouse) -> None:
    """C2."""
    house.write()
    house.compact()
    (house.home / house.names()[0] / "bucket_00000").write_bytes(b"x" * 1000)
    house.write(size=200)
    assert initiate(house.runtime) == 1
    (row,) = (row for row in house.store.compactions() if row.state == "initiated")
    assert row.kind == "major"


def test_an_obsolete_base_is_cleaned_without_a_merge(house: Warehouse) -> None:
    """C5."""
    for _ in range(2):
        house.write()
        txn_id, write_id = house.begin()
        house.directory(f"base_{write_id:07d}")
        house.store.commit_txn(txn_id)
    assert initiate(house.runtime) == 1
    (row,) = house.store.compactions()
    assert row.kind == "major"
    from hivesql_executor.compaction.worker import run_next

    assert run_next(house.runtime) == "ready for cleaning"
    assert house.clean() == 1
    assert house.names() == ["base_0000004"]
    assert states(house) == {1: "succeeded"}


def test_aborts_are_counted_in_each_partition(house: Warehouse) -> None:
    """C6: eleven aborted writes, each in a partition of its own."""
    house.store.drop_table(T)
    house.make({}, partitioned=True)
    for number in range(11):
        house.add_partition(str(number))
        house.write(partition=f"p={number}", commit=False)
    settings = {
        "metastore__compactor__clean__aborts__using__cleaner": "false",
        "hive__compactor__abortedtxn__threshold": "10",
    }
    assert initiate(house.using(**settings)) == 0
    for _ in range(11):
        house.write(partition="p=0", commit=False)
    assert initiate(house.using(**settings)) == 1
    (row,) = house.store.compactions()
    assert (row.partition, row.kind) == ("p=0", "major")


def test_a_request_while_another_waits_for_the_cleaner(house: Warehouse) -> None:
    """C8 and C9: refused while there is nothing new, accepted after a write."""
    house.write()
    house.write()
    assert house.compact() == 1
    refused = house.store.enqueue_compaction(T, None, "major", initiator_id="x")
    told = "Compaction is already scheduled with state='ready for cleaning' and id=1"
    assert (refused.accepted, refused.state, refused.error) == (False, "refused", told)
    house.write()
    accepted = house.store.enqueue_compaction(T, None, "major", initiator_id="x")
    assert (accepted.accepted, accepted.id) == (True, 2)


def test_a_delta_and_a_delete_delta_are_not_enough(house: Warehouse) -> None:
    """C10, and a single delta, and no delta at all."""
    assert house.work("minor") == f"refused ({NOT_ENOUGH})"
    house.write()
    assert house.work("minor") == f"refused ({NOT_ENOUGH})"
    txn_id, write_id = house.begin()
    house.directory(f"delete_delta_{write_id:07d}_{write_id:07d}_0000")
    house.store.commit_txn(txn_id)
    before = house.names()
    assert house.work("minor") == f"refused ({NOT_ENOUGH})"
    assert house.names() == before
    assert set(states(house).values()) == {"refused"}
    assert house.store.valid_txns().open == frozenset()


def test_only_aborted_deltas_above_the_base(house: Warehouse) -> None:
    """C11."""
    house.write()
    house.write()
    house.compact()
    assert house.clean() == 1
    base = house.names()
    for _ in range(2):
        house.write(commit=False)
    assert house.work("major") == "ready for cleaning"
    assert len(house.names()) == 3
    assert house.clean() == 1
    assert house.names() == base
    assert states(house) == {1: "succeeded", 2: "succeeded"}


def test_a_reader_between_two_minor_compactions(house: Warehouse) -> None:
    """C14: what the first made obsolete goes, what the reader sees stays."""
    house.write()
    house.write()
    first = house.compact("minor")
    reader = house.reader()
    house.write()
    house.write()
    second = house.compact("minor")
    assert house.clean() == 1
    assert states(house) == {first: "succeeded", second: "ready for cleaning"}
    assert [name[:21] for name in house.names()] == [
        "delta_0000001_0000002", "delta_0000001_0000004",
        "delta_0000003_0000003", "delta_0000004_0000004",
    ]  # fmt: skip
    house.store.commit_txn(reader)
    assert house.clean() == 1
    assert [name[:21] for name in house.names()] == ["delta_0000001_0000004"]
    assert set(states(house).values()) == {"succeeded"}


def test_failures_of_yesterday_and_of_last_week(house: Warehouse) -> None:
    """C19."""
    for _ in range(11):
        house.write()
    for _ in range(2):
        id_ = house.store.enqueue_compaction(T, None, "major", initiator_id="x").id
        house.store.next_compaction("here-1.0", id=id_)
        house.older(86400)
        house.store.mark_failed(id_, "x")
    assert initiate(house.runtime) == 0
    assert sorted(states(house).values()) == ["did not initiate", "failed", "failed"]
    soon = house.using(metastore__compactor__initiator__failed__retry__time="1s")
    assert initiate(soon) == 1


def test_kinds_that_a_worker_refuses(house: Warehouse) -> None:
    """Rebalance of tables with buckets or without deletes, anything of sorted tables."""
    house.write()
    house.write()
    bucketed = replace(house.table, bucket_columns=("a",), bucket_count=2)
    insert_only = {"transactional": "true", "transactional_properties": "insert_only"}
    for table, kind, told in (
        (bucketed, "rebalance", "Cannot execute rebalancing compaction on bucketed tables."),
        (replace(house.table, properties=insert_only), "rebalance",
         "Cannot execute rebalancing compaction on insert-only tables."),
        (replace(bucketed, sort_columns=("a",)), "major",
         "Attempt to compact sorted table default.t, which is not yet supported!"),
    ):  # fmt: skip
        house.store.alter_table(T, table)
        assert house.work(kind) == f"refused ({told})"


def test_several_at_a_time(house: Warehouse) -> None:
    """hive.compactor.request.queue and hive.compactor.cleaner.threads.num."""
    house.store.drop_table(T)
    house.make({}, partitioned=True)
    for number in range(4):
        house.add_partition(str(number))
        for _ in range(3):
            house.write(partition=f"p={number}")
    runtime = house.using(
        hive__compactor__request__queue="3",
        hive__compactor__cleaner__threads__num="3",
        hive__compactor__delta__num__threshold="2",
    )
    assert initiate(runtime) == 4
    for row in house.store.compactions():
        house.finish(row.id)
    assert house.clean(runtime) == 4
    assert [len(house.names(f"p={number}")) for number in range(4)] == [1] * 4


def test_two_workers_that_compacted_the_same(house: Warehouse) -> None:
    """What the first one made goes with what it was made of."""
    for _ in range(2):
        house.write()
    id_ = house.store.enqueue_compaction(T, None, "minor", initiator_id="x").id
    (other,) = house.store.open_txns(1, "ann", "here", type=TxnType.COMPACTION)
    house.directory(f"delta_0000001_0000002_v{other:07d}")
    house.store.commit_txn(other)
    house.finish(id_)
    assert house.clean() == 1
    assert house.names() == [f"delta_0000001_0000002_v{other + 1:07d}"]
    assert states(house) == {id_: "succeeded"}


def test_what_an_overwrite_replaced_goes_with_what_a_compaction_did(house: Warehouse) -> None:
    """An overwrite and a compaction of it have the same write id."""
    for _ in range(2):
        house.write()
    txn_id, write_id = house.begin()
    house.directory(f"base_{write_id:07d}")
    house.store.commit_txn(txn_id)
    house.compact()
    assert house.clean() == 1
    assert house.names() == [f"base_0000003_v{txn_id + 1:07d}"]


def test_each_compaction_is_cleaned_up_to_its_own_writes(house: Warehouse) -> None:
    """While a writer is open that began later, and a rolled-back overwrite lies above all."""
    for _ in range(3):
        house.write()
        house.write()
        house.compact()
    txn_id, write_id = house.begin()
    house.directory(f"base_{write_id:07d}")
    house.store.abort_txns([txn_id], "x")
    house.older(100)
    house.store.clean_txns()
    txn_id, write_id = house.begin()
    open_write = f"delta_{write_id:07d}_{write_id:07d}_0000"
    house.directory(open_write)
    for cleaned in (2, 4, 6):
        assert house.clean() == 1
        left = [name.partition("_v")[0] for name in house.names()]
        bases = [f"base_{highest:07d}" for highest in (2, 4, 6) if highest >= cleaned]
        deltas = [f"delta_{one:07d}_{one:07d}_0000" for one in range(cleaned + 1, 7)]
        assert left == [*bases, *deltas, open_write]
    assert set(states(house).values()) == {"succeeded"}
    house.store.commit_txn(txn_id)
    visible = house.store.valid_write_ids(house.store.valid_txns(), [T])[T]
    assert visible.sees(write_id) and not visible.sees(write_id - 1)
