"""A backup of one moment is put in place elsewhere, as the guide says, and goes on from there."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import hivesql
from end_to_end.answers import rows
from hivesql.services import run_services
from hivesql_repl.cli import main
from postgres import find_program, postgres_database

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

TABLES = ("stock", "sales", "orders")
BY_ID = "SELECT id, n FROM stock ORDER BY id"
BY_DAY = "SELECT n, day FROM sales ORDER BY n"
STATES = "SELECT id, state FROM orders ORDER BY id"


@contextmanager
def copied_metastore(url: str, backup: Path, restored: Path, server: str | None) -> Iterator[
    tuple[Callable[[], None], Callable[[], str]]
]:  # fmt: skip
    """How it is backed up; how it is restored, and its new URL."""
    if server is None:

        def back_up() -> None:
            file = url.removeprefix("sqlite:///")
            with closing(sqlite3.connect(file)) as db, closing(sqlite3.connect(backup)) as copy:
                db.backup(copy)

        def restore() -> str:
            file = restored / "metastore.db"
            shutil.copy(backup, file)
            return f"sqlite:///{file}"

        yield back_up, restore
        return
    with postgres_database(server, "template0") as target:

        def run(program: str, database: str, *words: str) -> None:
            path = find_program(program)
            assert path is not None
            address = database.replace("+psycopg", "")
            subprocess.run([path, *words, address], check=True, stdout=subprocess.DEVNULL)

        def dump() -> None:
            run("pg_dump", url, "-f", str(backup))

        def load() -> str:
            run("psql", target, "-q", "-v", "ON_ERROR_STOP=1", "-f", str(backup))
            return target

        yield dump, load


@pytest.mark.parametrize(
    "backend", ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)]
)
def test_a_backup_is_restored_elsewhere_and_goes_on(
    backend: str,
    request: pytest.FixtureRequest,
    spark: SparkSession,
    prepared: Callable[[str, Path], str],
    tmp_path: Path,
) -> None:
    old, new, backup = (tmp_path / name for name in ("old", "new", "backup"))
    for home in (old, new, backup, tmp_path / "incoming"):
        home.mkdir()
    server = request.getfixturevalue("postgres_server") if backend == "postgres" else None
    url = prepared(backend, old / "warehouse")
    queued = {"hivesql.compactor.inline": "false"}
    with copied_metastore(url, backup / "metastore", new, server) as (back_up, restore):
        with (
            hivesql.connect(url, str(old / "warehouse"), spark=spark, settings=queued) as session,
            hivesql.connect(url, str(old / "warehouse"), spark=spark) as writer,
        ):
            begin(session, writer)
            add_order(tmp_path / "incoming", 1)
            stream(spark, url, old, tmp_path / "incoming")
            expected = [rows(session, query) for query in (BY_ID, BY_DAY, STATES)]
            back_up()
            for part in ("warehouse", "checkpoint"):
                shutil.copytree(old / part, backup / part)
            # What comes after the backup is lost with the old place, but for what streams read.
            writer.sql("COMMIT; DELETE FROM stock")
            add_order(tmp_path / "incoming", 2)
            stream(spark, url, old, tmp_path / "incoming")
            assert run_services(session, threading.Event(), once=True)
        shutil.rmtree(old)
        for part in ("warehouse", "checkpoint"):
            shutil.copytree(backup / part, new / part)
        url = restore()
        # As the guide says, whose paths are others.
        paths = [str(home / "warehouse") for home in (old, new)]
        assert main(["relocate", *paths, "--metastore", url]) == 0
        with hivesql.connect(url, str(new / "warehouse"), spark=spark) as session:
            assert [rows(session, query) for query in (BY_ID, BY_DAY, STATES)] == expected
            assert [session.check(table) for table in TABLES] == [(), (), ()]
            goes_on(session, spark, url, new, tmp_path / "incoming")
        place = ["--metastore", url, "--warehouse", str(new / "warehouse")]
        assert main([*place, "doctor", "--no-spark"]) == 0


def add_order(incoming: Path, number: int) -> None:
    order = f'{{"id": {number}, "state": "new"}}'
    (incoming / f"{number}.json").write_text(order, encoding="utf-8")


def stream(spark: SparkSession, url: str, home: Path, incoming: Path) -> None:
    """Take in what has come, and end."""
    orders = spark.readStream.schema("id INT, state STRING").json(str(incoming))
    sink = hivesql.streaming_sink("orders", metastore=url, warehouse=str(home / "warehouse"))
    writing = orders.writeStream.foreachBatch(sink).trigger(availableNow=True)
    writing.option("checkpointLocation", str(home / "checkpoint")).start().awaitTermination()
    sink.close()


def begin(session: hivesql.Session, writer: hivesql.Session) -> None:
    """Leave an open transaction, and a compaction that waits."""
    session.sql("""
        CREATE TRANSACTIONAL TABLE stock (id INT, n INT) STORED AS ORC;
        INSERT INTO stock VALUES (1, 10), (2, 20), (3, 30);
        UPDATE stock SET n = n + 1 WHERE id = 2;
        DELETE FROM stock WHERE id = 3;
        CREATE TRANSACTIONAL TABLE sales (n INT) PARTITIONED BY (day STRING) STORED AS ORC;
        INSERT INTO sales PARTITION (day = '2026-11-26') VALUES (1), (2);
        CREATE TRANSACTIONAL TABLE orders (id INT, state STRING) STORED AS ORC;
        ALTER TABLE stock COMPACT 'major';
    """)
    assert [row[5] for row in session.sql("SHOW COMPACTIONS").rows] == ["initiated"]
    writer.sql("START TRANSACTION")
    writer.sql("INSERT INTO sales PARTITION (day = '2026-11-27') VALUES (99)")
    writer.sql("UPDATE sales SET n = 3 WHERE n = 2")


def goes_on(
    session: hivesql.Session, spark: SparkSession, url: str, home: Path, incoming: Path
) -> None:
    (waiting,) = rows(session, "SHOW TRANSACTIONS")
    session.sql(f"ABORT TRANSACTIONS {waiting[0]}")
    stream(spark, url, home, incoming)
    assert rows(session, STATES) == [(1, "new"), (2, "new")]
    session.sql("UPDATE sales SET n = n + 10; INSERT INTO stock VALUES (4, 40)")
    assert run_services(session, threading.Event(), once=True)
    states = {row[5] for row in session.sql("SHOW COMPACTIONS").rows}
    assert states <= {"succeeded", "ready for cleaning"}
    assert states
    assert rows(session, BY_ID) == [(1, 10), (2, 21), (4, 40)]
    assert rows(session, BY_DAY) == [(11, "2026-11-26"), (12, "2026-11-26")]
    assert [session.check(table) for table in TABLES] == [(), (), ()]
    session.sql("CREATE TRANSACTIONAL TABLE more (id INT) STORED AS ORC; DROP TABLE sales")
    assert sorted(path.name for path in (home / "warehouse").iterdir()) == [
        "more", "orders", "stock",
    ]  # fmt: skip
    assert not (home.parent / "old").exists()
