"""Copies of the catalog in several processes: every interleaving has its required answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import cast

import pytest
from sqlalchemy import delete

from executor.metastore.cache.cache_world import DATABASE, HIT, T, U, World, eleven
from hivesql_executor.metastore.api import LockOwner, Metastore, TxnType
from hivesql_executor.metastore.cache.metastore import CachingMetastore
from hivesql_executor.metastore.database.schema import txn_to_write_id
from hivesql_planner.acid.write_ids import ValidWriteIdList
from hivesql_planner.errors import SemanticError
from hivesql_planner.locks.lock import Lock, LockType, Operation
from hivesql_planner.model.table import Column, Partition
from hivesql_planner.predicates.partitions import PartitionTest


def m1_an_open_write_is_no_difference(world: World) -> None:
    eleven(world)
    world.begin()
    assert world.asked()[1].exceptions == {7, 8, 12}
    assert world.read(world.h2) == (HIT, "old")


def m2_a_newer_copy_is_not_for_an_older_reader(world: World) -> None:
    _, eight = eleven(world)
    world.begin()
    reader = world.asked()
    world.commit(eight)
    world.h2.follow()
    assert world.tag(world.h2) == "11:7"
    assert world.read(world.h2, reader)[0] == DATABASE


def altered(world: World) -> tuple[tuple[int, ValidWriteIdList], int]:
    """H1 alters T as write 12; the reader's list before that, and the transaction."""
    eleven(world)
    before = world.asked()
    txn_id = world.begin()
    world.alter("new", txn_id)
    return before, txn_id


def m3_the_log_is_not_read_yet(world: World) -> None:
    _, txn_id = altered(world)
    world.commit(txn_id)
    assert world.read(world.h2) == (DATABASE, "new")


def m4_m5_m6_alter_and_commit(world: World) -> None:
    before, txn_id = altered(world)
    world.h2.follow()
    assert world.tag(world.h2) == "11:7,8*"
    assert world.read(world.h2, before)[0] == DATABASE
    world.commit(txn_id)
    after = world.asked()
    assert world.read(world.h2, after) == (DATABASE, "new")
    world.h2.follow()
    world.rule_out_others(world.h2)
    assert world.tag(world.h2) == ("12:7,8" if world.tells_writes else "12:")
    assert world.read(world.h2) == (HIT, "new")


def m7_one_reads_ones_own_change(world: World) -> None:
    eleven(world)
    txn_id = world.begin()
    world.alter("own", txn_id)
    own = world.asked(txn_id)
    assert own[1].sees(12)
    assert world.read(world.h1, own) == (DATABASE, "own")
    assert world.tag(world.h1) is None
    assert world.h1.table(T).comment == "own"


def m8_one_reads_ones_own_second_change(world: World) -> None:
    eleven(world)
    txn_id = world.begin()
    for comment in ("first", "second"):
        world.alter(comment, txn_id)
        assert world.read(world.h2, world.asked(txn_id)) == (DATABASE, comment)
        assert world.h2.table(T).comment == comment
    world.commit(txn_id)
    assert world.read(world.h2) == (DATABASE, "second")


def m9_two_changes_of_one_write(world: World) -> None:
    _, txn_id = altered(world)
    world.h2.follow()
    world.alter("newer", txn_id)
    world.h2.follow()
    assert world.tag(world.h2) == "11:7,8*"
    world.commit(txn_id)
    world.h2.follow()
    world.rule_out_others(world.h2)
    assert world.read(world.h2) == (HIT, "newer")


def m10_two_writes_at_once(world: World) -> None:
    seven, eight = eleven(world)
    world.commit(seven, eight)
    twelve, thirteen = world.begin(), world.begin()
    world.alter("12", twelve)
    world.alter("12 and 13", thirteen)
    world.commit(thirteen)
    world.h2.follow()
    assert world.asked()[1].exceptions == {12}
    assert world.read(world.h2) == (DATABASE, "12 and 13")
    assert world.tag(world.h2) == "13:12*"
    world.commit(twelve)
    world.h2.follow()
    assert world.tag(world.h2) == "13:"
    assert world.read(world.h2) == (HIT, "12 and 13")


def m11_the_change_is_aborted(world: World) -> None:
    seven, eight = eleven(world)
    world.commit(seven, eight)
    txn_id = world.begin()
    world.alter("aborted", txn_id)
    world.h2.follow()
    world.now.abort_txns([txn_id], "test")
    world.h2.follow()
    assert world.tag(world.h2) is None
    assert world.read(world.h2)[0] == DATABASE
    assert world.tag(world.h2) == "12:12"
    eleven_only = (
        world.asked()[0],
        replace(world.asked()[1], high_watermark=11, aborted=frozenset()),
    )
    assert world.read(world.h2, eleven_only)[0] == HIT


def m12_another_table_of_that_name(world: World) -> None:
    eleven(world)
    world.now.alter_table(T, replace(world.now.table(T), name=U, location=f"{world.root}/u"))
    world.create(comment="the new t")
    reader = world.asked()
    assert world.read(world.h2, reader) == (DATABASE, "the new t")
    world.h2.follow()
    assert world.h2.table(T).comment == "the new t"
    assert world.h2.table(U).comment == "old"


def m13_dropped_and_made_again(world: World) -> None:
    world.create(comment="first")
    world.write(3)
    assert world.read(world.h2) == (DATABASE, "first")
    world.now.drop_table(T)
    world.create(comment="second")
    world.write(3)
    assert world.tag(world.h2) == "3:"
    assert world.asked()[1].high_watermark == 3
    assert world.read(world.h2) == (DATABASE, "second")


def late(world: World) -> CachingMetastore:
    """A host that begins to follow now, with a copy of T."""
    host = CachingMetastore(cast(Metastore, world.backs[2]))
    host.table(T)
    return host


def m14_opened_before_the_log_was_read(world: World) -> None:
    world.create()
    world.write(1)
    (txn_id,) = world.now.open_txns(1, "ann", "here")
    host = late(world)
    world.now.allocate_write_id(txn_id, T)
    world.commit(txn_id)
    host.follow()
    assert host.counters.lookups == 1
    assert world.tag(host) == "2:"


def m14_and_its_rows_are_gone(world: World) -> None:
    world.create()
    txn_id = world.begin()
    host = late(world)
    world.alter("new", txn_id)
    host.follow()
    assert world.tag(host) == "1:1*"
    world.commit(txn_id)
    world.backs[0]._write(lambda db: db.execute(delete(txn_to_write_id)))
    host.follow()
    assert host.counters.lookups == 1
    assert world.tag(host) is None
    assert host.table(T).comment == "new"


def m15_opened_afterwards(world: World) -> None:
    world.create()
    host = late(world)
    world.write(1)
    host.follow()
    assert host.counters.lookups == 0
    assert world.tag(host) == "1:"


def m16_two_tables_in_one_transaction(world: World) -> None:
    world.create()
    world.create(U)
    host = late(world)
    host.table(U)
    txn_id = world.begin(T, U)
    world.alter("new", txn_id)
    world.commit(txn_id)
    host.follow()
    assert [world.tag(host, name) for name in (T, U)] == ["1:", "1:"]


def m17_a_write_in_between_stays_open(world: World) -> None:
    world.create()
    world.write(13)
    host = late(world)
    fourteen, fifteen = world.begin(), world.begin()
    world.commit(fifteen)
    host.follow()
    assert world.tag(host) == "15:14"
    assert world.read(host)[0] == HIT
    world.commit(fourteen)
    assert world.read(host)[0] == world.ahead
    host.follow()
    assert world.read(host)[0] == HIT


def m18_other_tables_are_right_in_the_end(world: World) -> None:
    world.create(properties={}, type="EXTERNAL_TABLE", comment="old")
    assert world.h2.get_table("default", "t").comment == "old"
    world.alter("new")
    stale = "old" if world.tells_writes else "new"
    assert world.h2.get_table("default", "T", 99).comment == stale
    world.h2.follow()
    assert world.h2.get_table("default", "t").comment == "new"
    assert world.h2.counters.misses == 1


def m19_a_list_is_needed(world: World) -> None:
    world.create()
    for _ in range(2):
        with pytest.raises(SemanticError, match="list of valid write ids"):
            world.h2.get_table("default", "t")
        world.h2.table(T)
    with pytest.raises(SemanticError, match="list of valid write ids"):
        world.h2.get_partitions("default", "t")


def m20_the_log_was_purged(world: World) -> None:
    before, txn_id = altered(world)
    world.commit(txn_id)
    assert world.now.purge_events(3600) == 0
    assert world.now.purge_events(-1) > 0
    for _ in range(2):
        world.h2.follow()
    assert (world.h2.counters.resets, world.tag(world.h2)) == (1, None)
    assert world.read(world.h2, before)[0] == DATABASE
    assert world.h2.table(T).comment == "new"


def m21_changed_while_it_was_read(world: World) -> None:
    world.create(comment="old")

    def meanwhile() -> None:
        world.alter("new", world.begin())
        world.h2.follow()

    world.backs[1].after_described = meanwhile
    assert world.h2.table(T).comment == "old"
    assert world.h2.counters.refused_fills == 1
    assert world.h2.table(T).comment == "new"
    assert world.read(world.h2) == (DATABASE, "new")


def m22_not_all_partitions_are_known(world: World) -> None:
    world.create(partition_columns=(Column.of("p", "int"),))
    parts = [Partition(values=(str(n),), location=f"{world.root}/p{n}") for n in range(3)]
    world.now.add_partitions(T, parts)
    one, two = (
        PartitionTest(position=0, operator="=", values=(text,), kind="integer") for text in "12"
    )
    world.h2.table(T)
    for tests, expected in (([one], 1), ([one], 1), ([two], 1), ([], 3), ([two], 1), ([], 3)):
        assert len(world.h2.get_partitions("default", "t", tests, *world.asked())) == expected
    assert (world.h2.counters.hits, world.h2.counters.misses) == (3, 4)
    assert world.h2.partition(T, ["1"]) == parts[1]
    assert world.h2.partition(T, ["7"]) is None
    assert world.h2.partition_count(T) == 3
    assert world.h2.counters.partitions == 3
    world.now.drop_partitions(T, [("1",)])
    assert world.h2.partition(T, ["1"]) is None
    assert world.h2.partition_count(T) == 2


def m23_only_data(world: World) -> None:
    world.create()
    world.write(12)
    host = late(world)
    world.write(1)
    host.follow()
    assert world.tag(host) == "13:"
    assert world.read(host)[0] == HIT


def m24_a_compaction(world: World) -> None:
    world.create()
    world.write(3)
    host = late(world)
    (txn_id,) = world.now.open_txns(1, "ann", "here", type=TxnType.COMPACTION)
    lock = Lock(LockType.SHARED_READ, "default", "t", None, Operation.COMPACT)
    world.now.enqueue_locks(txn_id, [lock], LockOwner("ann", "here"))
    world.commit(txn_id)
    host.follow()
    assert world.tag(host) == "3:"
    assert world.read(host)[0] == HIT


def m25_changed_between_list_and_table(world: World) -> None:
    world.create(comment="old")
    world.write(10)
    reader = world.asked()

    def meanwhile() -> None:
        txn_id = world.begin()
        world.backs[0].alter_table(
            T, replace(world.backs[0].table(T), comment="new"), txn_id=txn_id
        )
        world.commit(txn_id)

    world.backs[1].before_table = meanwhile
    world.h2.warm(["default"])
    assert world.tag(world.h2) == "10:"
    assert world.read(world.h2, reader) == (HIT if world.tells_writes else DATABASE, "new")
    assert world.read(world.h2) == (world.ahead, "new")
    world.h2.follow()
    assert world.tag(world.h2) == "11:"


SCENARIOS = [
    m1_an_open_write_is_no_difference, m2_a_newer_copy_is_not_for_an_older_reader,
    m3_the_log_is_not_read_yet, m4_m5_m6_alter_and_commit, m7_one_reads_ones_own_change,
    m8_one_reads_ones_own_second_change, m9_two_changes_of_one_write, m10_two_writes_at_once,
    m11_the_change_is_aborted, m12_another_table_of_that_name, m13_dropped_and_made_again,
    m14_opened_before_the_log_was_read, m15_opened_afterwards,
    m16_two_tables_in_one_transaction, m17_a_write_in_between_stays_open,
    m18_other_tables_are_right_in_the_end, m19_a_list_is_needed,
    m21_changed_while_it_was_read, m22_not_all_partitions_are_known, m23_only_data,
    m24_a_compaction, m25_changed_between_list_and_table,
]  # fmt: skip


# They take away what only the database itself can.
OF_DATABASES = [m14_and_its_rows_are_gone, m20_the_log_was_purged]


@pytest.mark.thrift(hive4=False)
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda one: one.__name__)
def test_interleaving(world: World, scenario: Callable[[World], None]) -> None:
    scenario(world)


@pytest.mark.parametrize("scenario", OF_DATABASES, ids=lambda one: one.__name__)
def test_interleaving_in_a_database(world: World, scenario: Callable[[World], None]) -> None:
    scenario(world)
