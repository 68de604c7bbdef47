"""Fixtures that the whole suite shares: one Spark, servers of databases, metastores to copy."""

from __future__ import annotations

import os
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from mariadb import mariadb_database, mariadb_server
from postgres import postgres_database, postgres_server
from spark_archive import submit_options

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from hand_made import Warehouse

# How long an example takes says more about the machine than about us.
settings.register_profile("hivesql", deadline=None)
settings.load_profile("hivesql")
os.environ.setdefault("SPARK_SUBMIT_OPTS", submit_options())
GOLDEN = Path(__file__).parent / "golden"


def spark_line() -> tuple[int, ...]:
    """Tell the line of the installed PySpark, such as (4, 3)."""
    return tuple(map(int, version("pyspark").split(".")[:2]))


def pytest_configure(config: pytest.Config) -> None:
    """Let older lines of PySpark leave the sockets of their answers to the garbage collector."""
    if spark_line() < (4, 3):
        socket_left = (
            r"ignore:Exception ignored in. <socket:pytest.PytestUnraisableExceptionWarning"
        )
        config.addinivalue_line("filterwarnings", socket_left)
    if spark_line() < (4, 0):
        distutils = "ignore:distutils Version classes are deprecated:DeprecationWarning"
        config.addinivalue_line("filterwarnings", distutils)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """`make fast` is without Spark: whoever asks for it says so."""
    unmarked = [
        item.nodeid
        for item in items
        if "spark" in getattr(item, "fixturenames", ()) and not item.get_closest_marker("spark")
    ]
    if unmarked:
        raise pytest.UsageError(f"tests with Spark lack the mark `spark`: {unmarked}")
    # Files go to whichever process is free: the longest first, or one of them ends alone.
    sizes = Counter(item.path for item in items)
    long = ("airflow", "timeout", "slow")
    items.sort(
        key=lambda item: (
            *(item.get_closest_marker(name) is None for name in long),
            -sizes[item.path],
        )
    )


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """One local Spark for the whole run, with the settings that the product itself uses."""
    from hivesql_executor.spark.session import start_spark

    session = start_spark(
        master="local[2]",
        conf={
            "spark.sql.shuffle.partitions": "2",
            "spark.ui.enabled": "false",
            # Statements on the same tables come again, and the last hundred classes are not enough.
            "spark.sql.codegen.cache.maxEntries": "2000",
            "spark.driver.memory": "2g",
            # As a server's, whose sessions have pools of their own; all others are in one.
            "spark.scheduler.mode": "FAIR",
            "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("spark-warehouse")),
        },
    )
    yield session
    session.stop()


def _running_spark() -> object | None:
    pyspark = sys.modules.get("pyspark")
    return None if pyspark is None else pyspark.SparkContext._active_spark_context


@pytest.fixture(autouse=True)
def no_spark_started(request: pytest.FixtureRequest) -> Iterator[None]:
    """A test without the mark `spark` starts none: `make fast` would take its time."""
    before = _running_spark()
    yield
    if not request.node.get_closest_marker("spark"):
        assert _running_spark() is before


@pytest.fixture(autouse=True)
def no_view_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """A test that leaves a view in the Spark that all share fails itself, not one after it."""
    shared = "spark" in request.fixturenames
    session = request.getfixturevalue("spark") if shared else None
    yield
    if session is not None:
        # Tells temporary views beside the global ones.
        left = [row.viewName for row in session.sql("SHOW VIEWS IN global_temp").collect()]
        for view in left:
            session.catalog.dropTempView(view)
        assert left == []


@pytest.fixture(scope="session", name="postgres_server")
def _postgres_server() -> Iterator[str]:
    """A PostgreSQL of our own on a free port; yields its URL without a database."""
    with postgres_server() as url:
        yield url


@pytest.fixture
def postgres_url(postgres_server: str) -> Iterator[str]:
    """A fresh, empty database on the test server."""
    with postgres_database(postgres_server, "template1") as url:
        yield url


@pytest.fixture(scope="session")
def prepared_postgres(postgres_server: str) -> Iterator[str]:
    """The name of a database that a metastore was opened in, with ``/wh`` for its warehouse."""
    from hivesql_executor.metastore.database.metastore import DatabaseMetastore

    with postgres_database(postgres_server, "template1") as url:
        DatabaseMetastore.open(url, "/wh").close()
        yield url.rpartition("/")[2]


@pytest.fixture(scope="session")
def mariadb() -> Iterator[str]:
    """A MariaDB of our own on a free port; yields its URL without a database."""
    with mariadb_server() as url:
        yield url


@pytest.fixture
def mariadb_url(mariadb: str) -> Iterator[str]:
    """A fresh, empty database on the test server."""
    with mariadb_database(mariadb) as url:
        yield url


@pytest.fixture(scope="session")
def prepared_mariadb(mariadb: str) -> Iterator[str]:
    """The name of a database that a metastore was opened in, with ``/wh`` for its warehouse."""
    from hivesql_executor.metastore.database.metastore import DatabaseMetastore

    with mariadb_database(mariadb) as url:
        DatabaseMetastore.open(url, "/wh").close()
        yield url.rpartition("/")[2]


@pytest.fixture(scope="session")
def prepared_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of such a metastore."""
    from hivesql_executor.metastore.database.metastore import DatabaseMetastore

    file = tmp_path_factory.mktemp("prepared") / "metastore.db"
    DatabaseMetastore.open(f"sqlite:///{file}", "/wh").close()
    return file


@pytest.fixture
def prepared(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[..., str]]:
    """Makes metastores that were opened before, by copying one: its tables take their time."""
    with ExitStack() as databases:

        def prepare(kind: str, warehouse: Path | str = "/wh") -> str:
            if kind == "sqlite":
                url = f"sqlite:///{tmp_path}/metastore.db"
                shutil.copy(request.getfixturevalue("prepared_sqlite"), tmp_path / "metastore.db")
            elif kind == "mariadb":
                server = request.getfixturevalue("mariadb")
                template = request.getfixturevalue("prepared_mariadb")
                url = databases.enter_context(mariadb_database(server, template))
            else:
                server = request.getfixturevalue("postgres_server")
                template = request.getfixturevalue("prepared_postgres")
                url = databases.enter_context(postgres_database(server, template))
            if str(warehouse) != "/wh":
                move_warehouse(url, str(warehouse))
            return url

        yield prepare


def move_warehouse(url: str, warehouse: str) -> None:
    """Let the default database of a metastore live elsewhere."""
    from sqlalchemy import create_engine, update

    from hivesql_executor.metastore.database.schema import dbs

    engine = create_engine(url)
    with engine.begin() as db:
        db.execute(update(dbs).values(location=warehouse))
    engine.dispose()


@pytest.fixture(scope="session")
def hive_metastore(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """A real Hive Metastore of our own: its address, and the directory that it works in."""
    from interop.hive import metastore

    work = tmp_path_factory.mktemp("hms")
    with metastore(work) as url:
        yield url, work


@pytest.fixture(scope="session")
def hive3_metastore(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a real Hive Metastore of Hive 3.1."""
    from interop.hive import metastore

    with metastore(tmp_path_factory.mktemp("hms3"), hive3=True) as url:
        yield url


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def house(
    request: pytest.FixtureRequest, tmp_path: Path, prepared: Callable[..., str]
) -> Iterator[Warehouse]:
    """A table ``t`` whose directories the test makes."""
    from hand_made import Warehouse

    house = Warehouse(tmp_path, url=prepared(request.param, tmp_path / "wh"))
    yield house
    house.close()
