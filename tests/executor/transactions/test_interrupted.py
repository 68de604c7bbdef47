"""Every statement that changes files and catalog, cut off at every step: all of it, or nothing."""

from __future__ import annotations

import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import forks
from hivesql_executor.failpoints import VARIABLE, FailPoint
from hivesql_executor.metastore.database.dialects import engines
from interrupted_world import ACID, World, check_every_step, settle
from interruption import Cut
from scratch import in_memory

pytestmark = pytest.mark.slow

COMPILED: dict[Any, Any] = {}
# ``{user}`` is a directory that is not the warehouse's.
TWO = f"""
    CREATE TABLE t (a INT) PARTITIONED BY (p STRING) {ACID};
    INSERT INTO t PARTITION (p = 'x') VALUES (1), (2); INSERT INTO t PARTITION (p = 'y') VALUES (3);
"""
PLAIN = """
    CREATE TABLE l (a STRING) STORED AS TEXTFILE;
    LOAD DATA LOCAL INPATH '{user}/one' INTO TABLE l;
    LOAD DATA LOCAL INPATH '{user}/two' INTO TABLE l;
"""
PARTED = """
    CREATE TABLE l (a STRING) PARTITIONED BY (p STRING) STORED AS TEXTFILE;
    LOAD DATA LOCAL INPATH '{user}/one' INTO TABLE l PARTITION (p = 'x');
    LOAD DATA LOCAL INPATH '{user}/two' INTO TABLE l PARTITION (p = 'y');
"""
EXPORT = "EXPORT TABLE l TO '{user}/out';"
OTHER = "CREATE DATABASE d; CREATE TABLE d.u (a STRING) STORED AS TEXTFILE;"
CASES: dict[str, tuple[str, str]] = {
    # name: (what is there, the statement)
    "create": ("", "CREATE TABLE n (a INT)"),
    "create at a place": ("", "CREATE TABLE n (a STRING) LOCATION '{user}/new/deep'"),
    "create over files": ("", "CREATE TABLE n (a STRING) STORED AS TEXTFILE LOCATION '{user}'"),
    "create external": ("", "CREATE EXTERNAL TABLE n (a STRING) LOCATION '{user}/new'"),
    "create like": (PARTED, "CREATE TABLE n LIKE l LOCATION '{user}/new'"),
    "create database": ("", "CREATE DATABASE n LOCATION '{user}/new'"),
    "add partitions": (
        PARTED, "ALTER TABLE l ADD PARTITION (p = 'm') PARTITION (p = 'n') LOCATION '{user}/new'"
    ),
    "set location": (PARTED, "ALTER TABLE l PARTITION (p = 'x') SET LOCATION '{user}/new'"),
    "drop": (PARTED, "DROP TABLE l"),
    "drop of acid": (TWO, "DROP TABLE t"),
    "drop partitions": (PARTED, "ALTER TABLE l DROP PARTITION (p = 'x'), PARTITION (p = 'y')"),
    "drop database": (
        OTHER + "CREATE TABLE d.v (a INT); LOAD DATA LOCAL INPATH '{user}/one' INTO TABLE d.u",
        "DROP DATABASE d CASCADE",
    ),
    "rename": (PARTED, "ALTER TABLE l RENAME TO m"),
    "rename partition": (PARTED, "ALTER TABLE l PARTITION (p = 'x') RENAME TO PARTITION (p = 'z')"),
    "exchange": (
        PARTED + "CREATE TABLE m LIKE l;", "ALTER TABLE m EXCHANGE PARTITION (p = 'x') WITH TABLE l"
    ),
    "load local": (PLAIN, "LOAD DATA LOCAL INPATH '{user}/both' INTO TABLE l"),
    "load": (PLAIN, "LOAD DATA INPATH '{user}/both' INTO TABLE l"),
    "load over": (PLAIN, "LOAD DATA INPATH '{user}/both' OVERWRITE INTO TABLE l"),
    "load local over": (PLAIN, "LOAD DATA LOCAL INPATH '{user}/one' OVERWRITE INTO TABLE l"),
    "load into a new partition": (
        PARTED, "LOAD DATA INPATH '{user}/both' OVERWRITE INTO TABLE l PARTITION (p = 'z')"
    ),
    "load into acid": (TWO, "LOAD DATA INPATH '{user}/orc' INTO TABLE t PARTITION (p = 'x')"),
    "load over acid": (
        TWO, "LOAD DATA INPATH '{user}/orc' OVERWRITE INTO TABLE t PARTITION (p = 'n')"
    ),
    "export": (PARTED, "EXPORT TABLE l TO '{user}/out/deep'"),
    "import": (PARTED + EXPORT, "IMPORT TABLE m FROM '{user}/out'"),
    "import into partitions": (
        PARTED + EXPORT + "CREATE TABLE m LIKE l;", "IMPORT TABLE m FROM '{user}/out'"
    ),
    "import into acid": (
        TWO + "CREATE TABLE l (a INT) PARTITIONED BY (p STRING) STORED AS ORC; "
        "LOAD DATA INPATH '{user}/orc' INTO TABLE l PARTITION (p = 'z');" + EXPORT,
        "IMPORT TABLE t FROM '{user}/out'",
    ),
    "plain to insert-only": (
        PARTED, "ALTER TABLE l SET TBLPROPERTIES ('transactional'='true', "
        "'transactional_properties'='insert_only')"
    ),
    "truncate": (PARTED, "TRUNCATE TABLE l"),
    "truncate acid": (TWO, "TRUNCATE TABLE t"),
    "truncate a partition": (TWO, "TRUNCATE TABLE t PARTITION (p = 'x')"),
    "repair": (
        PARTED + "ALTER TABLE l ADD PARTITION (p = 'm'); ALTER TABLE l PARTITION (p = 'm') "
        "RENAME TO PARTITION (p = 'n'); ALTER TABLE l PARTITION (p = 'x') SET LOCATION '{user}/x'",
        "MSCK REPAIR TABLE l SYNC PARTITIONS",
    ),
    "insert into a new partition": (TWO, "INSERT INTO t PARTITION (p = 'new') VALUES (7)"),
    "insert into partitions": (TWO, "INSERT INTO t PARTITION (p) VALUES (7, 'x'), (8, 'n')"),
    "update": (TWO, "UPDATE t SET a = a + 10"),
    "delete": (TWO, "DELETE FROM t WHERE a > 1"),
}  # fmt: skip

FAILING = (
    "create at a place", "add partitions", "drop database", "rename", "load over",
    "load into acid", "plain to insert-only", "truncate", "insert into partitions",
)  # fmt: skip
UNANSWERED = ("create", "drop", "load local", "truncate", "rename partition")


@pytest.fixture(autouse=True)
def compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sessions share what SQLAlchemy has compiled: there are hundreds of them here."""
    original = engines._create
    monkeypatch.setattr(
        engines, "_create",
        lambda *given: original(*given).execution_options(compiled_cache=COMPILED),
    )  # fmt: skip


@pytest.fixture
def place() -> Iterator[Path]:
    """A directory in memory: whether a step was taken is no matter of the disk here."""
    with tempfile.TemporaryDirectory(prefix="hivesql-", dir=in_memory()) as directory:
        yield Path(directory)


@pytest.mark.parametrize("name", CASES)
def test_who_dies(name: str, place: Path, prepared_sqlite: Path, orc_file: bytes) -> None:
    world = World(place)
    world.prepare(CASES[name][0], prepared_sqlite, orc_file)
    check_every_step(world, world.spelled(CASES[name][1]), Cut.DIES, again=3)


@pytest.mark.parametrize(
    ("name", "cut"),
    [
        *((name, Cut.FAILS) for name in FAILING),
        *((name, Cut.UNANSWERED) for name in UNANSWERED),
    ],
)
def test_what_fails(
    name: str, cut: Cut, place: Path, prepared_sqlite: Path, orc_file: bytes
) -> None:
    world = World(place)
    world.prepare(CASES[name][0], prepared_sqlite, orc_file)
    check_every_step(world, world.spelled(CASES[name][1]), cut)


KILLED = {
    "create at a place": FailPoint.DIRECTORIES_MADE,
    "load over": FailPoint.FILES_HIDDEN,
    "truncate acid": FailPoint.PARTITION_EMPTIED,
}


@pytest.mark.parametrize("name", KILLED)
def test_who_is_killed(name: str, place: Path, prepared_sqlite: Path, orc_file: bytes) -> None:
    """What SIGKILL leaves is what the deaths of the other tests leave."""
    world = World(place)
    world.prepare(CASES[name][0], prepared_sqlite, orc_file)
    statement = world.spelled(CASES[name][1])
    with world.open() as session:
        before = world.look(session)
    words = ("--metastore", world.url, "--warehouse", str(world.now / "warehouse"), "-e", statement)
    killed = {VARIABLE: KILLED[name]}
    code, told = forks.start("hivesql_repl", *words, cwd=place, environment=killed).wait()
    assert code == -signal.SIGKILL, told
    with settle(world) as session:
        assert world.look(session) == before
        session.sql(statement)
        assert world.look(session) != before


@pytest.mark.postgres
def test_who_dies_beside_postgres(
    place: Path, postgres_server: str, prepared_postgres: str, orc_file: bytes
) -> None:
    for name in ("create at a place", "load over acid"):
        world = World(place / name.replace(" ", "_"), server=postgres_server)
        world.prepare(CASES[name][0], prepared_postgres, orc_file)
        check_every_step(world, world.spelled(CASES[name][1]), Cut.DIES, again=3)


@pytest.fixture(scope="module")
def orc_file() -> bytes:
    """A file that LOAD takes for a table of integers."""
    import io

    import pyarrow as pa
    from pyarrow import orc

    buffer = io.BytesIO()
    rows = pa.table({"a": pa.array([70, 80], pa.int32()), "loaded": pa.array(["x", "y"])})
    orc.write_table(rows, buffer)
    return buffer.getvalue()
