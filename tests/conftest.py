"""Fixtures that the whole suite shares: one Spark, one PostgreSQL."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

os.environ.setdefault("SPARK_CONF_DIR", str(Path(__file__).parent / "spark_conf"))
GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """One local Spark for the whole run, with the settings that the product itself uses."""
    from hivesql_executor.spark.session import start_spark

    session = start_spark(
        master="local[2]",
        conf={
            "spark.sql.shuffle.partitions": "2",
            "spark.ui.enabled": "false",
            "spark.driver.memory": "2g",
            "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("spark-warehouse")),
        },
    )
    yield session
    session.stop()


def _postgres_binary(name: str) -> str | None:
    """The server's program, from PATH or from where Debian keeps it."""
    for directory in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True):
        if (directory / name).exists():
            return str(directory / name)
    return shutil.which(name)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """A PostgreSQL of our own on a free port; yields its URL without a database."""
    initdb, server = _postgres_binary("initdb"), _postgres_binary("pg_ctl")
    if initdb is None or server is None:
        pytest.fail("PostgreSQL is missing: apt-get install postgresql")
    with tempfile.TemporaryDirectory(prefix="hivesql-pg-") as directory, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        data = f"{directory}/data"
        # PostgreSQL refuses to run as root, so hand the directory to its own user.
        run: dict[str, Any] = {"check": True, "stdout": subprocess.DEVNULL, "cwd": directory}
        if os.geteuid() == 0:
            shutil.chown(directory, "postgres", "postgres")
            run |= {"user": "postgres", "group": "postgres", "extra_groups": []}
        subprocess.run([initdb, "-D", data, "-A", "trust", "-U", "postgres"], **run)
        options = f"-p {port} -k {directory} -c listen_addresses=127.0.0.1 -c fsync=off"
        subprocess.run(
            [server, "-D", data, "-w", "-o", options, "-l", f"{directory}/log", "start"],
            **run,
        )
        try:
            yield f"postgresql+psycopg://postgres@127.0.0.1:{port}"
        finally:
            subprocess.run([server, "-D", data, "-m", "immediate", "stop"], **run)


@pytest.fixture
def postgres_url(postgres_server: str) -> Iterator[str]:
    """A fresh, empty database on the test server."""
    import uuid

    from sqlalchemy import create_engine, text

    name = f"t{uuid.uuid4().hex[:12]}"
    admin = create_engine(f"{postgres_server}/postgres", isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    yield f"{postgres_server}/{name}"
    with admin.connect() as connection:
        connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
    admin.dispose()


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
