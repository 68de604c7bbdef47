"""Copies of the catalog of a real Hive Metastore while others change it: no answer is too old."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from executor.metastore.cache.cache_world import ACID, T, U, World, copies_follow
from executor.metastore.cache.test_cache_more import Players
from executor.metastore.conftest import empty
from hivesql import connect
from hivesql_executor.metastore.api import Metastore
from hivesql_executor.metastore.cache.metastore import CachingMetastore
from hivesql_executor.metastore.hms.metastore import HiveMetastore
from hivesql_executor.metastore.opening import open_metastore
from hivesql_planner.errors import HiveSqlError, NoSuchObject, NotSupported
from hivesql_planner.model.table import Column, Constraint, ConstraintKind, Table, TableName
from interop import hive

pytestmark = [pytest.mark.hive, pytest.mark.slow]
ON = {"hivesql.metastore.cache": "true"}


@pytest.fixture
def world(hive3_metastore: str) -> Iterator[World]:
    made = World(hive3_metastore)
    yield made
    empty(made.now)
    made.close()


def test_random_changes(world: World) -> None:
    chance = random.Random(0)
    players = Players(world, chance)
    for step in range(40):
        name = TableName("default", chance.choice("tuv"))
        try:
            chance.choice(players.actions)(name, str(step))
        except NoSuchObject:
            world.create(name, comment=str(step))


def constraint(kind: ConstraintKind, **fields: Any) -> Constraint:
    text = {"default": "5", "check": "a > 0"}.get(kind, "")
    named = kind.replace(" ", "_")
    one = Constraint(kind=kind, name=named, columns=("a",), text=text, enabled=False, rely=True)
    return replace(one, **fields)


def test_constraints_that_the_log_keeps_quiet_about(world: World) -> None:
    world.create(U, constraints=(constraint("primary key"),))
    world.create()
    key = constraint("foreign key", parent=U, parent_columns=("a",))
    kinds: tuple[ConstraintKind, ...] = ("default", "check", "unique", "not null")
    given = tuple(constraint(kind, enabled=True) for kind in kinds)
    for constraints in ((key,), (key, *given[:2]), (key, *given), given[1:], (key, given[0])):
        world.h2.table(T)
        world.now.alter_table(T, replace(world.now.table(T), constraints=constraints))
        for _ in range(2):
            assert world.h2.table(T) == world.now.table(T)
    assert len(world.h2.table(T).constraints) == 2
    hits = world.h2.counters.hits
    world.now.drop_table(U)
    assert world.h2.table(T) == world.now.table(T)
    assert world.h2.counters.hits == hits + 1
    assert [one.kind for one in world.h2.table(T).constraints] == ["default"]


def test_a_table_that_cannot_be_read_here(world: World) -> None:
    for name in (T, U):
        world.create(name)
        world.h2.table(name)
    back = world.backs[0].back
    assert isinstance(back, HiveMetastore)
    found = back._fetch_table(T)
    found.sd.serdeInfo.serializationLib = "some.other.SerDe"
    back._send_table(T, found, {})
    assert world.h2.table(U) == world.now.table(U)
    for _ in range(2):
        with pytest.raises(HiveSqlError, match=r"some\.other\.SerDe"):
            world.h2.table(T)


def test_a_session(hive3_metastore: str) -> None:
    with connect(hive3_metastore) as other, connect(hive3_metastore, settings=ON) as session:
        copies_follow(session, other)
        session.sql("DROP TABLE s")


def test_the_log_tells_writes(hive3_metastore: str) -> None:
    with connect(hive3_metastore) as session:
        session.sql("""
            CREATE TABLE before (a INT) STORED AS ORC TBLPROPERTIES ('transactional'='true');
            INSERT INTO before VALUES (1); ALTER TABLE before RENAME TO w;
            START TRANSACTION; INSERT INTO w VALUES (2); ROLLBACK;
            DELETE FROM w WHERE a = 1;
            CREATE TABLE x (a INT) STORED AS ORC TBLPROPERTIES ('transactional'='true');
            INSERT INTO x VALUES (1);
        """)
        told = session.sql("DESCRIBE HISTORY w")
        at = {name: number for number, name in enumerate(told.columns)}
        assert [(row[at["version"]], row[at["operation"]]) for row in told.rows] == [
            ("3", "WRITE"), ("1", "WRITE"),
        ]  # fmt: skip
        assert all(row[at["timestamp"]] and row[at["user"]] is None for row in told.rows)
        assert [row[1] for row in session.sql("SHOW HISTORY LIMIT 2").rows] == ["x", "w"]
        session.sql("DROP TABLE w; DROP TABLE x")
        assert session.sql("SHOW HISTORY DATABASE default LIMIT 1").rows == []


def test_a_site_without_a_log(hive_metastore: tuple[str, Path]) -> None:
    with pytest.raises(NotSupported, match=r"Set hive\.metastore\.transactional\.event\.listeners"):
        connect(hive_metastore[0], settings=ON)
    with (
        connect(hive_metastore[0]) as session,
        pytest.raises(NotSupported, match=r"HISTORY .* log"),
    ):
        session.sql("SHOW HISTORY")


SCRIPT = """
ALTER TABLE t ADD COLUMNS (c INT);
ALTER TABLE t ADD PARTITION (p=1) PARTITION (p=2);
ALTER TABLE t DROP PARTITION (p=1);
ALTER TABLE t ADD CONSTRAINT one CHECK (a > 0) ENABLE;
ALTER TABLE u CHANGE COLUMN a b INT;
ALTER TABLE t RENAME TO v;
CREATE TABLE t (y INT) STORED AS ORC TBLPROPERTIES ('transactional'='true');
"""


def described(store: Metastore, name: TableName) -> object:
    """What a metastore, or a copy of it, says of a table."""
    try:
        return store.table(name), store.partitions(name)
    except NoSuchObject:
        return None


def test_real_hive_changes_tables_between_look_ups(tmp_path: Path) -> None:
    with hive.metastore(tmp_path / "hms", log=True) as url:
        back = open_metastore(url, "", timeout=60)
        host: Any = CachingMetastore(open_metastore(url, "", timeout=60))
        made = Table(name=T, columns=(Column.of("a", "int"),), location="", properties=ACID)
        back.create_table(replace(made, partition_columns=(Column.of("p", "int"),)))
        back.create_table(replace(made, name=U, properties={}, type="EXTERNAL_TABLE"))
        warehouse = back.database("default").location
        places = ("hive.metastore.warehouse.dir", "hive.metastore.warehouse.external.dir")
        settings = [f"hive.metastore.uris={url}", *(f"{key}={warehouse}" for key in places)]
        compared = watch(lambda: hive.run(SCRIPT, tmp_path / "hive", settings=settings), back, host)
        assert compared > 10
        names = [*map(str, back.tables("default"))]
        assert names == ["default.t", "default.u", "default.v"]
        assert [one.name for one in host.table(T).columns] == ["y"]
        parts = host.partitions(TableName("default", "v"))
        assert [one.values for one in parts] == [("2",)]
        assert host.counters.hits > compared
        assert host.counters.resets == 0
        host.close()
        back.close()


def watch(work: Callable[[], object], back: Metastore, host: Metastore) -> int:
    """Compare look-ups with the metastore while something works; how many could be compared."""
    failures: list[BaseException] = []

    def guarded() -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - raised below, by the test's own thread
            failures.append(error)

    thread = threading.Thread(target=guarded)
    thread.start()
    compared = 0
    while thread.is_alive():
        # The one server has Hive's calls to answer too.
        thread.join(0.5)
        for letter in "tuv":
            name = TableName("default", letter)
            before, found, after = (described(store, name) for store in (back, host, back))
            if before == after:
                compared += 1
                assert found == before
    if failures:
        raise failures[0]
    return compared
