"""Every statement that changes files and catalog, cut off at every step: all of it, or nothing."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import hivesql
from conftest import move_warehouse
from hivesql.opening import connect
from hivesql_executor.compaction.aborts import clean_aborted
from hivesql_executor.compaction.cleaner import clean
from hivesql_executor.metastore.compaction_api import AbortLimits
from hivesql_planner.errors import HiveSqlError
from hivesql_planner.table import TableName, partition_name
from interruption import Cut, Death, Steps, interrupted
from scratch import in_memory

pytestmark = pytest.mark.slow

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
IMPATIENT = {"hive.txn.timeout": "10ms"}
TWO = (
    f"CREATE TABLE t (a INT) PARTITIONED BY (p STRING) {ACID};"
    """
    INSERT INTO t PARTITION (p = 'x') VALUES (1), (2); INSERT INTO t PARTITION (p = 'y') VALUES (3);
"""
)


@dataclass(frozen=True)
class Case:
    """What is there, the statement, and what else it may leave: empty partitions of a table."""

    prepare: str
    statement: str


CASES = {
    "truncate": Case(TWO, "TRUNCATE TABLE t"),
    "truncate of a partition": Case(
        TWO + "INSERT INTO t PARTITION (p = 'z') VALUES (4)", "TRUNCATE TABLE t PARTITION (p = 'x')"
    ),
    "insert into a new partition": Case(TWO, "INSERT INTO t PARTITION (p = 'new') VALUES (7)"),
    "insert into partitions": Case(TWO, "INSERT INTO t PARTITION (p) VALUES (7, 'x'), (8, 'n')"),
    "update": Case(TWO, "UPDATE t SET a = a + 10"),
    "delete": Case(TWO, "DELETE FROM t WHERE a > 1"),
}


@pytest.fixture
def place() -> Iterator[Path]:
    """A directory in memory: whether a step was taken is no matter of the disk here."""
    with tempfile.TemporaryDirectory(prefix="hivesql-", dir=in_memory()) as directory:
        yield Path(directory)


@dataclass(frozen=True)
class World:
    """A warehouse, a metastore, and both as they were before the statement."""

    root: Path

    @property
    def url(self) -> str:
        return f"sqlite:///{self.root}/now/metastore.db"

    def open(self, **options: str) -> hivesql.Session:
        return connect(self.url, str(self.root / "now" / "warehouse"), settings=options)

    def prepare(self, text: str, metastore: Path) -> None:
        (self.root / "now" / "user").mkdir(parents=True)
        shutil.copy(metastore, self.root / "now" / "metastore.db")
        move_warehouse(self.url, str(self.root / "now" / "warehouse"))
        with self.open() as session:
            session.sql(text)
        shutil.copytree(self.root / "now", self.root / "before", symlinks=True)

    def reset(self) -> None:
        shutil.rmtree(self.root / "now")
        shutil.copytree(self.root / "before", self.root / "now", symlinks=True)


@dataclass(frozen=True)
class State:
    """What one sees: databases, tables, partitions with rows, and files of users."""

    rows: dict[str, list[tuple[object, ...]]]
    partitions: dict[str, frozenset[str]]


def look(session: hivesql.Session) -> State:
    store = session.runtime.metastore
    rows, partitions = {}, {}
    for database in store.databases():
        for name in store.tables(database):
            rows[str(name)] = sorted(map(tuple, session.sql(f"SELECT * FROM {name}").rows))
            partitions[str(name)] = frozenset(_partitions(session, name))
    return State(rows, partitions)


def _partitions(session: hivesql.Session, name: TableName) -> list[str]:
    table = session.runtime.metastore.table(name)
    if not table.partition_columns:
        return []
    found = session.runtime.metastore.partitions(name)
    return [partition_name(table.partition_names, one.values) for one in found]


def settle(world: World) -> hivesql.Session:
    """A session long after: whoever died is reaped, and what was aborted is cleaned."""
    time.sleep(0.012)
    session = world.open(**IMPATIENT)
    session.runtime.metastore.clean_txns()
    clean_aborted(session.runtime, AbortLimits(count=0, age=0))
    clean(session.runtime)
    session.runtime.metastore.clean_txns()
    return session


@pytest.mark.parametrize("cut", [Cut.DIES])
@pytest.mark.parametrize("name", CASES)
def test_all_or_nothing(name: str, cut: Cut, place: Path, prepared_sqlite: Path) -> None:
    case, world = CASES[name], World(place)
    world.prepare(case.prepare, prepared_sqlite)
    with world.open() as session:
        before = look(session)
        session.sql(case.statement)
        after = look(session)
    number = 0
    while True:
        number += 1
        world.reset()
        steps = Steps(cut=cut, at=number)
        session = world.open()
        failed = None
        with interrupted(steps):
            try:
                session.sql(case.statement)
            except (Death, HiveSqlError, OSError) as error:
                failed = error
        session.runtime.metastore.close()
        if not steps.happened:
            assert failed is None
            break
        where = f"{cut} at {number} of {steps.taken}: {failed!r}"
        with settle(world) as session:
            found = look(session)
            assert found.rows in (before.rows, after.rows), where
            assert before.partitions.items() <= found.partitions.items() or all(
                before.partitions[one] <= found.partitions[one] <= after.partitions[one]
                for one in before.partitions
            ), where
            assert session.runtime.metastore.lost_moves(-1) == (), where
            if found.rows == before.rows:
                session.sql(case.statement)
                assert look(session) == after, where
    assert number > 3
