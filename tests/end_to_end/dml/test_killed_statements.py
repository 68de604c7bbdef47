"""Processes that are killed at any moment of what Spark runs: each statement whole, or undone."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import hivesql
from interrupted_world import World, damaged, directories, settle
from killed_program import SETUP, statements
from scratch import in_memory

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]

PROGRAM = Path(__file__).parents[2] / "support" / "killed_program.py"
KILLS = int(os.environ.get("HIVESQL_KILLS", "1"))
"""Each takes the start of a Spark, some five seconds."""


@dataclass(frozen=True)
class Seen:
    """Rows of each table, and the directories of the warehouse."""

    rows: dict[str, list[tuple[object, ...]]]
    directories: frozenset[str]
    seconds: float
    """How long the statement took that led there."""


def see(world: World, session: hivesql.Session, seconds: float = 0) -> Seen:
    names = session.runtime.metastore.tables("default")
    rows = {str(name): sorted(map(tuple, session.sql(f"SELECT * FROM {name}").rows))
            for name in names}  # fmt: skip
    return Seen(rows, frozenset(directories(world)), seconds)


@contextmanager
def killed_within(
    world: World, statement: int, seconds: float, *, with_its_jvm: bool
) -> Iterator[int]:
    """Run the program, kill it so long after a statement began, and tell how many have ended.

    A JVM that is not killed with it ends by itself, and until then may write files: the block runs
    beside that, and its end is waited for.
    """
    told = world.root / "told"
    command = [sys.executable, str(PROGRAM), world.url, str(world.now / "warehouse"),
               str(world.now / "user")]  # fmt: skip
    with (
        told.open("w") as out,
        subprocess.Popen(
            command, stdout=out, stderr=subprocess.DEVNULL, start_new_session=True
        ) as process,
    ):
        while len(told.read_text().split()) <= statement:
            assert process.poll() is None
            time.sleep(0.01)
        time.sleep(seconds)
        (os.killpg if with_its_jvm else os.kill)(process.pid, signal.SIGKILL)
        process.wait()
        yield len(told.read_text().split()) - 1
        while is_alive(process.pid):
            time.sleep(0.02)


def is_alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def test_whole_or_undone(spark: SparkSession, prepared_sqlite: Path) -> None:
    seed = os.environ.get("HIVESQL_SEED") or str(time.time_ns())
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="hivesql-", dir=in_memory()) as place:
        world = World(Path(place), spark)
        world.prepare(SETUP, prepared_sqlite)
        every = statements(str(world.now / "user"))
        states = list(run_all(world, every))
        for _ in range(KILLS):
            world.reset()
            victim, with_its_jvm = chance.randrange(len(every)), chance.random() < 0.5
            seconds = chance.uniform(0, 1.5 * states[victim + 1].seconds)
            with killed_within(world, victim, seconds, with_its_jvm=with_its_jvm) as ended:
                where = (
                    f"HIVESQL_SEED={seed}: killed in {every[ended : ended + 1]}, {with_its_jvm=}"
                )
                possible = [one.rows for one in states[ended : ended + 2]]
                # A reader who is less impatient would wait for the locks of the dead.
                with settle(world) as session:
                    assert see(world, session).rows in possible, where
            with settle(world) as session:
                settled = see(world, session)
                assert settled.rows in possible, where
                done = ended + possible.index(settled.rows)
                assert settled.directories - named(world, session) <= states[done].directories, (
                    where
                )
                assert session.runtime.metastore.lost_moves(-1) == (), where
                assert damaged(session) == [], where
                for statement in every[done:]:
                    session.sql(statement)
                assert see(world, session).rows == states[-1].rows, where


def named(world: World, session: hivesql.Session) -> set[str]:
    """The directories that the catalog names: a partition of a write that was undone may stay."""
    store = session.runtime.metastore
    tables = [store.table(name) for name in store.tables("default")]
    places = [table.location for table in tables]
    places += [one.location for table in tables if table.partition_columns
               for one in store.partitions(table.name)]  # fmt: skip
    return {str(Path(place).relative_to(world.now)) for place in places}


def run_all(world: World, every: list[str]) -> Iterator[Seen]:
    """Run the statements one after the other, and tell what is there before and after each."""
    with world.open() as session:
        yield see(world, session)
        for statement in every:
            seconds = session.sql(statement).seconds
            yield see(world, session, seconds)
