"""Warehouses that older releases have written are opened, raised, read, written and streamed to.

``write_older.py`` ran with the code of 79637b57 (revision 0002) and 73315abb (0007).
"""

from __future__ import annotations

import getpass
import json
import re
import sqlite3
import tarfile
import threading
import time
from collections.abc import Callable
from contextlib import closing
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest
from sqlalchemy import inspect

import hivesql
from end_to_end.answers import rows
from end_to_end.upgrades.pack_older import PLACE
from hivesql.services import run_services
from hivesql_executor.metastore.database.connection import Rdbms

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

# What time it was, in seconds or milliseconds: all of it on one day of 2026.
TIME = re.compile(r"\b(1795[89]\d{5})(\d{3})?\b")
TABLES = ("stock", "buckets", "flags", "orders", "clicks", "waiting")


def restored(archive: Path, url: str, home: Path) -> None:
    """Put an archive in place, as if its program had died two hours ago."""
    with tarfile.open(archive) as tar:
        tar.extractall(home, filter="data")
    file = home / "metastore.sql"
    text = file.read_text("utf-8").replace(PLACE, str(home))
    passed = int(time.time()) - 7200 - max(int(match[1]) for match in TIME.finditer(text))
    text = TIME.sub(lambda match: f"{int(match[1]) + passed}{match[2] or ''}", text)
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as db:
            db.executescript(text)
    else:
        with psycopg.connect(url.replace("+psycopg", "")) as connection:
            connection.execute(text)
    for path in (home / "checkpoint" / "sources" / "0").iterdir():
        path.write_text(path.read_text("utf-8").replace(PLACE, str(home)), "utf-8")


def schema_of(url: str) -> dict[str, tuple[set[str], set[str]]]:
    """Columns and indexes of each table."""
    rdbms = Rdbms(url)
    there = rdbms.read(
        lambda db: {
            name: (
                {column["name"] for column in inspect(db).get_columns(name)},
                {str(index["name"]) for index in inspect(db).get_indexes(name)},
            )
            for name in inspect(db).get_table_names()
        }
    )
    rdbms.close()
    return there


@pytest.mark.parametrize(
    "backend", ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)]
)
@pytest.mark.parametrize("older", ["0002", "0007"])
def test_an_older_warehouse_goes_on(
    older: str,
    backend: str,
    request: pytest.FixtureRequest,
    spark: SparkSession,
    prepared: Callable[[str], str],
    tmp_path: Path,
) -> None:
    sqlite = f"sqlite:///{tmp_path}/older.db"
    url = sqlite if backend == "sqlite" else request.getfixturevalue("postgres_url")
    archive = Path(__file__).with_name(f"revision-{older}-{backend}.tar.xz")
    restored(archive, url, tmp_path)
    place = {"metastore": url, "warehouse": str(tmp_path / "warehouse")}
    admin = {"hive.users.in.admin.role": getpass.getuser()}
    with hivesql.connect(**place, spark=spark, settings=admin) as session:
        reads_what_was_written(session)
        if older >= "0007":
            assert rows(session, "SHOW FUNCTIONS LIKE 'other.mask'") == [("other.mask",)]
            session.sql("SET ROLE admin")
            assert ("readers",) in rows(session, "SHOW ROLES")
        streams_go_on(session, spark, tmp_path, place)
        writes(session)
        ends_what_had_begun(session)
    assert schema_of(url) == schema_of(prepared(backend))


def reads_what_was_written(session: hivesql.Session) -> None:
    assert rows(session, "SELECT id, n, note, day FROM stock ORDER BY id") == [
        (1, Decimal("10.00"), "a", date(2026, 1, 1)),
        (2, Decimal("20.50"), "b", date(2026, 1, 1)),
        (4, Decimal("40.00"), None, date(2026, 1, 2)),
        (5, Decimal("-5.00"), "e", date(2026, 1, 2)),
    ]
    assert rows(session, "SELECT id FROM stocked ORDER BY id") == [(1,), (2,), (4,)]
    merged = [(1, "one"), (2, "deux"), (3, "three"), (4, "quatre")]
    assert rows(session, "SELECT * FROM buckets ORDER BY id") == merged
    assert rows(session, "SELECT * FROM flags ORDER BY id") == [(1, True), (2, False)]
    assert rows(session, "SELECT * FROM lines ORDER BY id") == [(1, "x"), (2, "y")]
    assert rows(session, "SELECT * FROM clicks ORDER BY id") == [(0, "/0"), (1, "/1")]
    before = "SELECT count(*) FROM stock FOR SYSTEM_VERSION AS OF 3"
    assert rows(session, before) == [(5,)]
    assert rows(session, "SHOW TBLPROPERTIES stock('made')")[0][-1] == "long ago"
    assert rows(session, "SHOW DATABASES") == [("default",), ("other",)]


def streams_go_on(
    session: hivesql.Session, spark: SparkSession, home: Path, place: dict[str, str]
) -> None:
    """The batch that was committed and not noted comes again, and changes nothing."""
    version = "SELECT max(row__id.writeid) FROM orders"
    latest = rows(session, version)
    order = json.dumps({"id": 2, "state": "void"})
    (home / "in" / "3.json").write_text(order, encoding="utf-8")
    incoming = spark.readStream.schema("id INT, state STRING").json(str(home / "in"))
    sink = hivesql.streaming_sink("orders", **place, merge_on=["id"])
    stream = incoming.writeStream.foreachBatch(sink).trigger(availableNow=True)
    stream.option("checkpointLocation", str(home / "checkpoint")).start().awaitTermination()
    sink.close()
    assert {"0", "1", "2"} <= {path.name for path in (home / "checkpoint" / "commits").iterdir()}
    assert rows(session, version) == [(latest[0][0] + 1,)]
    states = [(1, "paid"), (2, "void"), (3, "new")]
    assert rows(session, "SELECT id, state FROM orders ORDER BY id") == states


def writes(session: hivesql.Session) -> None:
    session.sql("INSERT INTO waiting VALUES (3)", idempotency_key="night/2026-01-01")
    assert rows(session, "SELECT id FROM waiting ORDER BY id") == [(1,), (2,), (3,)]
    session.sql("""
        UPDATE stock SET note = 'now' WHERE id IN (1, 4);
        INSERT INTO stock PARTITION (day='2026-01-03') VALUES (6, 6, 'f');
        DELETE FROM buckets WHERE id = 1;
        INSERT INTO flags VALUES (3, NULL);
        INSERT INTO clicks VALUES (2, '/2');
        ALTER TABLE stock SET TBLPROPERTIES ('made'='again');
    """)
    written = [(1, "now"), (2, "b"), (4, "now"), (5, "e"), (6, "f")]
    assert rows(session, "SELECT id, note FROM stock ORDER BY id") == written
    assert rows(session, "SELECT id FROM buckets ORDER BY id") == [(2,), (3,), (4,)]
    assert rows(session, "SELECT count(*) FROM flags") == [(3,)]
    assert rows(session, "SELECT id FROM clicks ORDER BY id") == [(0,), (1,), (2,)]
    assert rows(session, "DESCRIBE HISTORY stock")


def ends_what_had_begun(session: hivesql.Session) -> None:
    """Services compact what was queued, and clear what the dead program left."""
    assert run_services(session, threading.Event(), once=True)
    assert {row[1] for row in rows(session, "SHOW TRANSACTIONS")} <= {"ABORTED"}
    assert rows(session, "SHOW LOCKS") == []
    states = {row[5] for row in session.sql("SHOW COMPACTIONS").rows}
    assert states <= {"succeeded", "ready for cleaning"}
    assert states
    assert rows(session, "SELECT id FROM waiting ORDER BY id") == [(1,), (2,), (3,)]
    for table in TABLES:
        assert session.check(table) == (), table
