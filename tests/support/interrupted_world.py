"""Worlds in which statements are cut off at every step, and what must hold afterwards."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import create_engine, text

import hivesql
from acid_files import tree
from conftest import move_warehouse
from hivesql.connections import connect
from hivesql_executor.compaction.aborts import clean_aborted
from hivesql_executor.compaction.cleaner import clean
from hivesql_executor.metastore.api import AbortLimits
from hivesql_executor.snapshot.listing import acid_state
from hivesql_planner.errors import HiveSqlError
from hivesql_planner.model.table import Table, partition_name
from interruption import Cut, Death, Steps, interrupted

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
IMPATIENT = {"hive.txn.timeout": "10ms"}


@dataclass(frozen=True)
class World:
    """A warehouse, a metastore, files of a user, and all of them before the statement."""

    root: Path
    spark: SparkSession | None = None
    server: str = ""
    """A PostgreSQL server whose databases ``now`` and ``before`` are the world's; none: SQLite."""

    @property
    def now(self) -> Path:
        return self.root / "now"

    @property
    def url(self) -> str:
        return f"{self.server}/now" if self.server else f"sqlite:///{self.now}/metastore.db"

    def open(self, **options: str) -> hivesql.Session:
        return connect(self.url, str(self.now / "warehouse"), settings=options, spark=self.spark)

    def spelled(self, statement: str) -> str:
        """The statement with the user's directory in it."""
        return statement.format(user=self.now / "user")

    def prepare(self, statements: str, metastore: Path | str, orc: bytes = b"") -> None:
        """Make files and tables; ``metastore`` is one to copy: a file, or a database's name."""
        user = self.now / "user"
        (user / "both").mkdir(parents=True)
        (self.now / "warehouse").mkdir()
        for name in ("one", "two", "both/one", "both/three"):
            (user / name).write_text(f"row of {name}\n")
        (user / "orc").write_bytes(orc)
        if self.server:
            self._copy(str(metastore), "now")
        else:
            shutil.copy(metastore, self.now / "metastore.db")
        move_warehouse(self.url, str(self.now / "warehouse"))
        with self.open() as session:
            session.sql(self.spelled(statements))
        shutil.copytree(self.now, self.root / "before", symlinks=True)
        if self.server:
            self._copy("now", "before")

    def _copy(self, database: str, to: str) -> None:
        admin = create_engine(f"{self.server}/postgres", isolation_level="AUTOCOMMIT")
        with admin.connect() as connection:
            connection.execute(text(f"DROP DATABASE IF EXISTS {to} WITH (FORCE)"))
            connection.execute(text(f"CREATE DATABASE {to} TEMPLATE {database}"))
        admin.dispose()

    def reset(self) -> None:
        """Let everything be as it was before the statement."""
        if self.server:
            self._copy("before", "now")
        shutil.rmtree(self.now)
        shutil.copytree(self.root / "before", self.now, symlinks=True)

    def look(self, session: hivesql.Session) -> State:
        store = session.runtime.metastore
        catalog: dict[str, object] = {}
        rows: dict[str, object] = {}
        for database in store.databases():
            catalog[database] = store.database(database).location
            for name in store.tables(database):
                table = store.table(name)
                partitions = store.partitions(name) if table.partition_columns else ()
                catalog[str(name)] = table.location
                for one in partitions:
                    catalog[f"{name}/{partition_name(table.partition_names, one.values)}"] = (
                        one.location
                    )
                if table.is_transactional:
                    rows[str(name)] = read(session, table)
                    continue
                for location in (table.location, *(one.location for one in partitions)):
                    rows[location] = contents(Path(location))
        return State(catalog, rows, contents(self.now / "user"))


@dataclass(frozen=True)
class State:
    """What one sees: what the catalog names and where, rows, and files of users."""

    catalog: dict[str, object]
    rows: dict[str, object]
    user: dict[str, bytes]


def read(session: hivesql.Session, table: Table) -> object:
    """Rows; of files that were loaded, which only Spark would read, the files that one sees."""
    store, name = session.runtime.metastore, table.name
    parts = store.partitions(name)
    txns = store.valid_txns()
    ids = store.valid_write_ids(txns, (name,))[name]
    files = session.runtime.files(table.location)
    seen: list[bytes] = []
    for one in parts:
        state = acid_state(files, one.location, ids, txns)
        seen += [
            Path(one.location, file.path).read_bytes()
            for entry in state.directories
            for file in entry.files
        ]
    if any(b"loaded" in data for data in seen):
        return sorted(seen)
    return sorted(map(tuple, session.sql(f"SELECT * FROM {name}").rows))


def read_first(session: hivesql.Session, table: Table) -> object:
    """One of the rows, or a file that was loaded; None where there is neither."""
    rows = read(session, table)
    return rows[0] if isinstance(rows, list) and rows else None


def contents(directory: Path) -> dict[str, bytes]:
    return {path: (directory / path).read_bytes() for path in tree(directory)}


def settle(world: World) -> hivesql.Session:
    """A session long after: whoever died is reaped, and what was aborted is cleaned."""
    time.sleep(0.012)
    session = world.open(**IMPATIENT)
    session.runtime.metastore.clean_txns()
    clean_aborted(session.runtime, AbortLimits(count=0, age=0))
    clean(session.runtime)
    session.runtime.metastore.clean_txns()
    return session


def damaged(session: hivesql.Session) -> list[object]:
    """What `hivesql check` finds in all transactional tables; without Spark it counts the rows."""
    store = session.runtime.metastore
    names = [name for database in store.databases() for name in store.tables(database)]
    of_acid = [
        name for name in names if store.table(name).is_transactional
        # Rows of files that were loaded are what only Spark reads.
        and not isinstance(read_first(session, store.table(name)), bytes)
    ]  # fmt: skip
    return [(name, found) for name in of_acid for found in session.check(str(name))]


def directories(world: World) -> set[str]:
    """Every directory outside of ACID directories and partitions, and whatever is hidden."""
    found = (path for path in world.now.rglob("*") if path.is_dir())
    names = {str(path.relative_to(world.now)) for path in found}
    return {name for name in names if "delta_" not in name and "base_" not in name}


def check_every_step(world: World, statement: str, cut: Cut, *, again: int = 1) -> None:
    """Cut the statement off at each of its steps, and see afterwards that it is whole or undone.

    Where it is undone it is run once more, after every n-th step (``again``).
    """
    with world.open() as session:
        before, before_on_disk = world.look(session), directories(world)
        session.sql(statement)
        after, after_on_disk = world.look(session), directories(world)
    steps = Steps(cut=cut, at=0)
    while True:
        steps = Steps(cut=cut, at=steps.at + 1)
        world.reset()
        session = world.open()
        failed = None
        with interrupted(steps):
            try:
                session.sql(statement)
            except (Death, HiveSqlError, OSError) as error:
                failed = error
        session.runtime.metastore.close()
        if not steps.happened:
            assert failed is None
            break
        if cut is Cut.UNANSWERED and steps.taken[steps.at - 1] != "commit":
            continue
        where = f"{cut} at step {steps.at} of {steps.taken}: {failed!r}"
        with settle(world) as session:
            found = world.look(session)
            is_after = found == after
            if not is_after:
                # A partition that a rolled back write has added may stay, empty.
                added = {k: v for k, v in found.catalog.items() if k not in before.catalog}
                assert added.items() <= after.catalog.items(), where
                assert found.catalog == before.catalog | added, where
                rows = {k: v for k, v in found.rows.items() if k in before.rows or v}
                assert rows == before.rows, where
                assert found.user == before.user, where
            on_disk = after_on_disk if is_after else before_on_disk | set()
            named = set(map(str, found.catalog.values()))
            added_there = {
                path for path in directories(world) ^ on_disk if str(world.now / path) in named
            }
            assert directories(world) - added_there == on_disk - added_there, where
            assert session.runtime.metastore.lost_moves(-1) == (), where
            assert damaged(session) == [], where
            if not is_after and steps.at % again == 0:
                session.sql(statement)
                assert world.look(session) == after, where
    assert steps.at > 2
