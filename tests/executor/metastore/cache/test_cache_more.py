"""Copies of the catalog: changes without a write id, limits, the log, and chance."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from executor.metastore.cache import cache_actor
from executor.metastore.cache.cache_world import ACID, T, U, World, copies_follow, eleven
from hivesql import connect
from hivesql_executor.metastore.api import Metastore, TxnType
from hivesql_executor.metastore.cache.metastore import CachingMetastore
from hivesql_executor.metastore.cache.shelf import Limits
from hivesql_executor.metastore.database.metastore import DatabaseMetastore
from hivesql_planner.errors import HiveSqlError, NoSuchObject
from hivesql_planner.model.statistics import Statistics
from hivesql_planner.model.table import Column, Database, Partition, Table, TableName
from hivesql_planner.predicates.partitions import OPERATORS, Kind, PartitionTest


def definitions_change(world: World) -> None:
    """Every DDL of a session: a reader beside a log that is not read gets no old answer."""
    by = (Column.of("p", "string"),)
    world.create(partition_columns=by, location=f"{world.root}/t")
    world.create(U, partition_columns=by, location=f"{world.root}/u")
    one, two = (Partition(values=(n,), location=f"{world.root}/t/p={n}") for n in "12")

    def change(make: Callable[[int], None]) -> None:
        """H2 has a copy before; a reader gets there what the database has afterwards."""
        world.h2.follow()
        asked = world.asked()
        before = (
            world.h2.get_table(T.database, T.name, *asked),
            world.h2.get_partitions(T.database, T.name, (), *asked),
        )
        (txn_id,) = world.now.open_txns(1, "ann", "here")
        make(txn_id)
        world.commit(txn_id)
        asked = world.asked()
        after = (
            world.h2.get_table(T.database, T.name, *asked),
            world.h2.get_partitions(T.database, T.name, (), *asked),
        )
        assert after != before
        assert after == (world.now.table(T), world.now.partitions(T))

    change(lambda txn: world.now.add_partitions(T, [one, two], txn_id=txn))
    change(lambda txn: world.alter("new", txn))
    moved = replace(one, location=f"{world.root}/elsewhere")
    change(lambda txn: world.now.alter_partition(T, ("1",), moved, txn_id=txn))
    handed = replace(two, location=f"{world.root}/u/p=2")
    change(lambda txn: world.now.exchange_partitions(T, U, [handed], txn_id=txn))
    change(lambda txn: world.now.drop_partitions(T, [("1",)], txn_id=txn))


def a_change_without_a_write(world: World) -> None:
    eleven(world)
    for txn in world.now.transactions():
        world.now.abort_txns([txn.txn_id], "test")
    world.alter("new")
    assert world.h2.table(T).comment == "new"
    world.h2.follow()
    assert world.tag(world.h2) == "11:7,8"


def a_table_becomes_transactional(world: World) -> None:
    world.create(properties={})
    world.h2.table(T)
    world.now.alter_table(T, replace(world.now.table(T), properties=ACID))
    assert world.h2.table(T).is_transactional
    # Hive seeds the ids of such a table.
    assert world.tag(world.h2) == f"{world.asked()[1].high_watermark}:"


def a_rename_takes_open_writes_along(world: World) -> None:
    world.create(comment="old")
    host = CachingMetastore(cast(Metastore, world.backs[2]))
    host.table(T)
    txn_id = world.begin()
    world.now.alter_table(T, replace(world.now.table(T), name=U, location=f"{world.root}/u"))
    world.create(comment="the new t")
    world.write(1)
    assert host.table(T).comment == "the new t"
    assert (world.tag(host), host.table(U).comment) == ("1:", "old")
    world.commit(txn_id)
    host.follow()
    assert world.tag(host) == "1:"
    assert host.table(U).comment == "old"
    assert world.tag(host, U) == "1:"


def databases_go_and_change(world: World) -> None:
    name = TableName("d", "t")
    world.now.create_database(Database(name="d", location=f"{world.root}/d"))
    world.create(name)
    assert world.h2.table(name) == world.now.table(name)
    world.now.alter_database(Database(name="d", location=f"{world.root}/e"))
    world.h2.follow()
    assert len(world.h2._shelf) == 0
    world.h2.table(name)
    world.now.drop_database("d", cascade=True)
    with pytest.raises(NoSuchObject):
        world.h2.table(name)


def test_statistics_are_never_copied(world: World) -> None:
    world.create()
    copied = world.h2.table(T)
    world.now.put_statistics(T, [Statistics(rows=7, files=1, bytes=2)])
    assert (world.h2.table(T), world.h2.statistics(T).rows) == (copied, 7)


SCENARIOS = [
    definitions_change, a_change_without_a_write,
    a_table_becomes_transactional, a_rename_takes_open_writes_along,
    databases_go_and_change,
]  # fmt: skip


@pytest.mark.thrift(hive4=False)
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda one: one.__name__)
def test_interleaving(world: World, scenario: Callable[[World], None]) -> None:
    scenario(world)


@pytest.mark.parametrize("seed", range(3))
def test_random_changes_never_give_an_old_answer(world: World, seed: int) -> None:
    """After following, a copy is the database; without, no older than its committed writes."""
    chance = random.Random(seed)
    players = Players(world, chance)
    for step in range(150):
        name = TableName("default", chance.choice("tuv"))
        try:
            chance.choice(players.actions)(name, str(step))
        except NoSuchObject:
            world.create(name, comment=str(step))


class Players:
    """What may happen to a table at any time."""

    def __init__(self, world: World, chance: random.Random) -> None:
        self.world, self.chance = world, chance
        self.open: list[int] = []
        self.oldest: dict[tuple[int, frozenset[int]], int] = {}
        self.actions = [
            self.begin, self.alter, self.end, self.read, self.read, self.read_as_of,
            self.read_as_of, self.follow, self.drop, self.rename,
        ]  # fmt: skip

    @property
    def host(self) -> CachingMetastore:
        return self.chance.choice([self.world.h1, self.world.h2, self.world.h3])

    def begin(self, name: TableName, step: str) -> None:
        self.open.append(self.world.begin(name))

    def alter(self, name: TableName, step: str) -> None:
        self.world.now.table(name)
        self.begin(name, step)
        self.world.alter(step, self.open[-1], name)

    def end(self, name: TableName, step: str) -> None:
        for txn_id in self.chance.sample(self.open, len(self.open) // 2):
            self.open.remove(txn_id)
            if self.chance.random() < 0.3:
                self.world.now.abort_txns([txn_id], "test")
            else:
                self.world.commit(txn_id)

    def read(self, name: TableName, step: str) -> None:
        assert self.host.table(name) == self.world.now.table(name)

    def read_as_of(self, name: TableName, step: str) -> None:
        asked = self.world.asked(name=name)
        seen = frozenset(one for one in range(200) if asked[1].sees(one))
        least = self.oldest.setdefault((asked[0], seen), _age(self.world.now.table(name)))
        found = self.host.get_table(name.database, name.name, *asked)
        assert found.id == asked[0]
        assert _age(found) >= least

    def follow(self, name: TableName, step: str) -> None:
        self.host.follow()

    def drop(self, name: TableName, step: str) -> None:
        if self.chance.random() < 0.2:
            self.world.now.drop_table(name)

    def rename(self, name: TableName, step: str) -> None:
        to = TableName("default", self.chance.choice("tuv"))
        if to not in self.world.now.tables("default"):
            self.world.now.alter_table(name, replace(self.world.now.table(name), name=to))


def test_partitions_in_memory_pass_the_same_tests(world: World) -> None:
    world.create(partition_columns=(Column.of("p", "string"),))
    values = [
        "1",
        "01",
        "-1",
        "10",
        "9",
        "x",
        "2020-01-01",
        "2020-1-1",
        "é",
        "A",
        "a" * 19,
        "1" * 19,
    ]
    new = [Partition(values=(one,), location="") for one in (*values, None)]
    world.now.add_partitions(T, new)
    world.h2.table(T)
    world.h2.partitions(T)
    kinds: list[tuple[Kind, tuple[str, ...]]] = [
        ("integer", ("1", "10")), ("date", ("2020-01-01",)), ("text", ("a", "9"))
    ]  # fmt: skip
    for kind, wanted in kinds:
        for operator in OPERATORS:
            given = wanted if operator == "=" else wanted[:1]
            test = PartitionTest(position=0, operator=operator, values=given, kind=kind)
            found = world.h2.partitions(T, [test])
            assert found == world.now.partitions(T, [test]), test
    assert world.h2.counters.hits == len(kinds) * len(OPERATORS)


def _age(table: Table) -> int:
    return int(table.comment or 0)


def test_only_tables_that_are_wanted_are_kept(world: World) -> None:
    limits = Limits(allowed=r"default\.[tuv]\d?, other.*", denied=r".*\.T2")
    host = CachingMetastore(world.now, limits)
    for name in ("t", "t2", "u", "w"):
        made = TableName("default", name)
        world.create(made)
        assert host.table(made) == host.table(made) == world.now.table(made)
    assert (host.counters.tables, host.counters.hits) == (2, 2)
    world.now.alter_table(U, replace(world.now.table(U), name=TableName("default", "x")))
    host.follow()
    assert list(host._shelf) == [T]
    key = "hive.metastore.cached.rawstore.cached.object.blacklist"
    with pytest.raises(HiveSqlError, match="no list of regular expressions"):
        connect(world.url, settings={"hivesql.metastore.cache": "true", key: "a.(, b"})


def test_no_more_is_kept_than_allowed(world: World) -> None:
    host = CachingMetastore(world.now, Limits(tables=2, partitions=3))
    for name in "tuv":
        world.create(TableName("default", name), partition_columns=(Column.of("p", "int"),))
        host.table(TableName("default", name))
    assert (host.counters.tables, host.counters.evictions) == (2, 1)
    for name, count in (("u", 2), ("v", 2), ("v", 3)):
        found = TableName("default", name)
        new = [Partition(values=(f"{count}{n}",), location="") for n in range(count)]
        world.now.add_partitions(found, new)
        host.table(found)
        host.partitions(found)
    assert (host.counters.tables, host.counters.partitions) == (0, 0)
    assert host.counters.hit_ratio == pytest.approx(0.0)


def test_without_a_cache_nothing_is_logged(metastore_url: str) -> None:
    store = DatabaseMetastore.open(metastore_url, "/wh")
    store.open_txns(1, "ann", "here")
    assert store.events_after(0).events == ()
    assert store.keep_log() == 0
    assert store.keep_log() == 0
    (txn_id,) = store.open_txns(1, "ann", "here")
    store.open_txns(1, "ann", "here", type=TxnType.READ_ONLY)
    with pytest.raises(HiveSqlError):
        store.allocate_write_id(99, T)
    store.allocate_write_id(txn_id, T)
    store.commit_txn(txn_id)
    told = [(one.id, one.kind.name, one.table, one.writes) for one in store.events_after(0).events]
    assert told == [
        (1, "OPEN_TXN", None, ()),
        (2, "ALLOC_WRITE_ID", T, ((txn_id, 1),)),
        (3, "COMMIT_TXN", None, ()),
    ]
    store.close()


def test_two_processes(world: World) -> None:
    for name in "tu":
        world.create(TableName("default", name))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    running = [
        subprocess.Popen(
            [sys.executable, cache_actor.__file__, world.url, own, "t,u", "30"],
            env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for own in "tu"
    ]  # fmt: skip
    for process in running:
        told, failure = process.communicate(timeout=120)
        assert process.returncode == 0, failure
        assert int(told) > 0


def test_a_session_tells_how_its_cache_does(metastore_url: str, tmp_path: Path) -> None:
    on = {"hivesql.metastore.cache": "true"}
    warehouse = str(tmp_path / "warehouse")
    with (
        connect(metastore_url, warehouse) as other,
        connect(metastore_url, warehouse, settings=on) as session,
    ):
        assert other.cache_counters is None
        copies_follow(session, other)
