"""Real Hive and HiveSQL on the same tables of one Hive Metastore: in turns, and at once."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import hivesql
from hivesql import streaming
from hivesql_planner.errors import HiveSqlError, NotSupported, WriteConflict
from hivesql_planner.model.table import TableName
from interop import hive

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.hive, pytest.mark.spark, pytest.mark.slow]


@dataclass
class Shared:
    """A session of HiveSQL, and scripts of real Hive, beside one metastore."""

    session: hivesql.Session
    settings: list[str]
    work: Path

    def ours(self, *statements: str) -> list[tuple[Any, ...]]:
        """Run statements here; rows of the last one, sorted as texts where NULLs are among them."""
        rows: list[tuple[Any, ...]] = []
        for statement in statements:
            rows = [tuple(row) for row in self.session.sql(statement).rows]
        return sorted(rows, key=str) if any(None in row for row in rows) else sorted(rows)

    def hive(self, *statements: str, settings: Sequence[str] = ()) -> list[hive.Block]:
        """Run statements in real Hive; their blocks."""
        script = "".join(f"{statement};\n" for statement in statements)
        return hive.run(script, self.work, settings=[*self.settings, *settings])


@pytest.fixture
def shared(
    hive_metastore: tuple[str, Path], spark: SparkSession, tmp_path: Path
) -> Iterator[Shared]:
    url, server = hive_metastore
    warehouse = f"file:{server}/warehouse"
    settings = [
        f"hive.metastore.uris={url}",
        f"hive.metastore.warehouse.dir={warehouse}",
        f"hive.metastore.warehouse.external.dir={warehouse}",
    ]
    with hivesql.connect(metastore=url, spark=spark) as session:
        yield Shared(session, settings, tmp_path / "hive")


def test_in_turns(shared: Shared) -> None:
    ours = shared.ours
    ours(
        "CREATE TABLE mixed (a INT, b STRING) PARTITIONED BY (p INT) STORED AS ORC "
        "TBLPROPERTIES ('transactional'='true')",
        "INSERT INTO mixed VALUES (1, 'ours', 1), (2, 'ours', 1), (3, 'ours', 2)",
        "UPDATE mixed SET b = 'changed' WHERE a = 2",
        "CREATE EXTERNAL TABLE plain (a INT) STORED AS ORC",
        "INSERT INTO plain VALUES (1)",
        # Hive's own COMPACT wants the metastore's database, not its address.
        "ALTER TABLE mixed PARTITION (p=1) COMPACT 'major'",
    )
    blocks = shared.hive(
        "SELECT a, b, p FROM mixed ORDER BY a",
        "INSERT INTO mixed VALUES (4, 'hive', 2), (5, 'hive', 3)",
        "DELETE FROM mixed WHERE a = 1",
        "MERGE INTO mixed t USING (SELECT 3 AS a) s ON t.a = s.a "
        "WHEN MATCHED THEN UPDATE SET b = 'merged'",
        "CREATE TABLE counted (a INT) STORED AS ORC TBLPROPERTIES ('transactional'='true')",
        "INSERT INTO counted VALUES (1), (2)",
        "SELECT count(*) FROM counted",
        "CREATE TABLE inserts (a INT) TBLPROPERTIES "
        "('transactional'='true', 'transactional_properties'='insert_only')",
        "INSERT INTO inserts VALUES (1)",
        "INSERT INTO plain VALUES (2)",
        "!worker",
        "SHOW COMPACTIONS",
        "SELECT a, b, p FROM mixed ORDER BY a",
    )
    assert blocks[0].lines == ["1\tours\t1", "2\tchanged\t1", "3\tours\t2"]
    assert "ready for cleaning" in "\n".join(blocks[-2].lines)
    after = [(2, "changed", 1), (3, "merged", 2), (4, "hive", 2), (5, "hive", 3)]
    assert [tuple(line.split("\t")) for line in blocks[-1].lines] == [
        tuple(map(str, row)) for row in after
    ]
    assert ours("SELECT a, b, p FROM mixed") == after
    assert ours("SELECT * FROM inserts") == [(1,)]
    assert ours("SELECT * FROM plain") == [(1,), (2,)]
    # Hive answers the counts from the catalog where it calls its statistics accurate.
    ours(
        "INSERT INTO counted VALUES (3)",
        "DELETE FROM counted WHERE a = 1",
        "INSERT INTO mixed VALUES (6, 'ours', 3)",
        "INSERT INTO inserts VALUES (2)",
        "INSERT INTO plain VALUES (3)",
        "DELETE FROM mixed WHERE a = 3",
        "ALTER TABLE mixed PARTITION (p=3) COMPACT 'minor'",
    )
    (run,) = [row for row in ours("SHOW COMPACTIONS") if row[3] == "p=3"]
    assert "initiated" in run
    hivesql_worker(shared.session)
    blocks = shared.hive(
        "SELECT count(*) FROM counted",
        "SELECT count(*) FROM mixed",
        "SELECT count(*) FROM mixed WHERE p = 3",
        "SELECT count(*) FROM inserts",
        "SELECT count(*) FROM plain",
        "SELECT a, b, p FROM mixed ORDER BY a",
        "SHOW COMPACTIONS",
        "ALTER TABLE mixed RENAME TO renamed",
        "ALTER TABLE renamed ADD COLUMNS (c INT)",
        "DROP TABLE counted",
    )
    assert [block.lines for block in blocks[:5]] == [["2"], ["4"], ["2"], ["2"], ["3"]]
    assert blocks[5].lines == ["2\tchanged\t1", "4\thive\t2", "5\thive\t3", "6\tours\t3"]
    (worked,) = [line for line in blocks[6].lines if "p=3" in line]
    assert "ready for cleaning" in worked
    assert ours("SELECT a, c FROM renamed WHERE p = 3") == [(5, None), (6, None)]
    assert ("counted",) not in ours("SHOW TABLES")
    ours("ALTER TABLE renamed RENAME TO again", "ALTER TABLE again DROP PARTITION (p=1)")
    ours("TRUNCATE TABLE again PARTITION (p=2)")
    (block, parts) = shared.hive("SELECT a FROM again ORDER BY a", "SHOW PARTITIONS again")
    assert (block.lines, parts.lines) == (["5", "6"], ["p=2", "p=3"])
    ours("DROP TABLE again", "DROP TABLE plain", "DROP TABLE inserts")
    assert shared.session.runtime.metastore.tables("default") == ()


def hivesql_worker(session: hivesql.Session) -> None:
    """One round of our worker beside the metastore's queue."""
    from hivesql.services import run_services

    with_worker = {"metastore.compactor.worker.threads": "1"}
    for key, value in with_worker.items():
        session.set(key, value)
    assert run_services(session, threading.Event(), once=True)


def test_at_once(shared: Shared) -> None:
    ours = shared.ours
    ours(
        "CREATE TABLE busy (a INT, b STRING) STORED AS ORC TBLPROPERTIES ('transactional'='true')",
        "INSERT INTO busy VALUES (1, 'x'), (2, 'x')",
        "START TRANSACTION",
        "UPDATE busy SET b = 'ours' WHERE a = 1",
    )
    held = shared.session.open_transaction
    assert held is not None
    blocks = shared.hive(
        "SHOW LOCKS",
        "!error UPDATE busy SET b = 'hive' WHERE a = 1",
        "SELECT a, b FROM busy ORDER BY a",
        settings=["hive.lock.numretries=1"],
    )
    (lock,) = [line.split("\t") for line in blocks[0].lines if "busy" in line]
    assert ("EXCL_WRITE" in lock, str(held) in lock) == (True, True)
    assert "lock" in (blocks[1].error or "").lower()
    assert blocks[2].lines == ["1\tx", "2\tx"]
    ours("COMMIT")
    assert ours("SELECT * FROM busy") == [(1, "ours"), (2, "x")]
    # Hive commits between our snapshot and our write.
    ours("START TRANSACTION", "SELECT * FROM busy")
    shared.hive("UPDATE busy SET b = 'hive' WHERE a = 2")
    with pytest.raises(WriteConflict):
        ours("UPDATE busy SET b = 'late' WHERE a = 2")
    assert ours("SELECT * FROM busy") == [(1, "ours"), (2, "hive")]
    ours("DROP TABLE busy")


def test_conflicts_streams_and_hives_own_compactor(shared: Shared) -> None:
    """Hive loses a race; then it reads a stream, and its compactor works on what we wrote."""
    ours, session = shared.ours, shared.session
    acid = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
    session.set("hive.txn.xlock.write", "false")
    ours(
        f"CREATE TABLE contested (a INT, b STRING) {acid}",
        "INSERT INTO contested VALUES (1, 'x'), (2, 'x')",
        f"CREATE TABLE streamed (a INT) PARTITIONED BY (p INT) {acid}",
    )
    stream(session, "streamed", [1, 2, 3])
    stream(session, "streamed", [4])
    ours("DELETE FROM contested WHERE a = 2", "ALTER TABLE contested COMPACT 'major'",
         "ALTER TABLE streamed PARTITION (p=0) COMPACT 'minor'")  # fmt: skip
    told: list[hive.Block] = []
    running = threading.Thread(
        target=lambda: told.extend(
            shared.hive(
                "!error UPDATE contested SET b = 'hive' WHERE a = 1",
                "SELECT a, b FROM contested ORDER BY a",
                "SELECT a, p FROM streamed ORDER BY a",
                "!worker", "!worker",
                "SHOW COMPACTIONS",
                "!cleaner",
                "SELECT a, b FROM contested ORDER BY a",
                "SELECT a, p FROM streamed ORDER BY a",
                settings=["hive.txn.xlock.write=false"],
            )
        )
    )  # fmt: skip
    running.start()
    store = session.runtime.metastore
    while running.is_alive() and not store.locks("default", "contested"):
        running.join(0.05)
    # Hive has its locks and reads; whoever commits first wins.
    ours("UPDATE contested SET b = 'ours' WHERE a = 1")
    running.join()
    assert "write conflict" in (told[0].error or "").lower()
    streamed = [["1", "1"], ["2", "0"], ["3", "1"], ["4", "0"]]
    for contested, read in ((told[1], told[2]), (told[-2], told[-1])):
        assert contested.lines == ["1\tours"]
        assert [line.split("\t") for line in read.lines] == streamed
    (shown,) = [block for block in told if block.statement == "SHOW COMPACTIONS"]
    done = [line for line in shown.lines if "ready for cleaning" in line]
    assert {line.split("\t")[2] for line in done} == {"contested", "streamed"}
    assert ours("SELECT a, p FROM streamed") == [(1, 1), (2, 0), (3, 1), (4, 0)]
    assert ours("SELECT a, b FROM contested") == [(1, "ours")]
    ours("DROP TABLE contested", "DROP TABLE streamed")


def stream(session: hivesql.Session, table: str, numbers: Sequence[int]) -> None:
    """One streamed transaction."""
    builder = streaming.HiveStreamingConnection.builder().with_session(session)
    builder = builder.with_table(table).with_record_writer(streaming.StrictJsonWriter())
    with builder.connect() as connection:
        connection.begin_transaction()
        connection.write("\n".join(json.dumps({"a": one, "p": one % 2}) for one in numbers))
        connection.commit_transaction()


def test_what_only_our_own_metastore_has(shared: Shared) -> None:
    refused = [
        ("ANALYZE TABLE kept COMPUTE STATISTICS FOR COLUMNS", NotSupported),
        ("SELECT * FROM kept FOR SYSTEM_TIME AS OF '2020-01-01 00:00:00'", NotSupported),
        ("ALTER TABLE kept COMPACT 'major'", None),
    ]
    shared.ours(
        "CREATE TABLE kept (a INT) STORED AS ORC TBLPROPERTIES ('transactional'='true')",
        "INSERT INTO kept VALUES (1)",
        "ANALYZE TABLE kept COMPUTE STATISTICS",
    )
    for statement, error in refused:
        if error is None:
            shared.ours(statement)
            continue
        with pytest.raises(error):
            shared.ours(statement)
    with pytest.raises(NotSupported, match="it keeps no notification log"):
        hivesql.connect(
            metastore=shared.settings[0].partition("=")[2],
            settings={"hivesql.metastore.cache": "true"},
        )
    name = TableName("default", "kept")
    assert shared.session.runtime.metastore.statistics(name).rows == 1
    shared.session.set("hivesql.compactor.inline", "true")
    shared.ours("INSERT INTO kept VALUES (2)")
    with pytest.raises(HiveSqlError):
        shared.ours("ALTER TABLE kept COMPACT 'minor'")
    shared.ours("DROP TABLE kept")


def test_an_avro_schema_grows(shared: Shared) -> None:
    """Each sees the columns of the schema that the other has set, in older partitions too."""

    def schema(*fields: str) -> str:
        columns = [{"name": name, "type": ["null", "string"], "default": None} for name in fields]
        literal = json.dumps({"type": "record", "name": "r", "fields": columns})
        return f"('avro.schema.literal'='{literal}')"

    def as_hive_prints(rows: list[tuple[Any, ...]]) -> list[str]:
        return sorted("\t".join("NULL" if v is None else str(v) for v in row) for row in rows)

    read = "SELECT * FROM grown"
    shared.ours(
        f"CREATE TABLE grown PARTITIONED BY (p INT) STORED AS AVRO TBLPROPERTIES {schema('a')}",
        "INSERT INTO grown PARTITION (p=1) SELECT 'a1'",
    )
    blocks = shared.hive(
        f"ALTER TABLE grown SET TBLPROPERTIES {schema('b', 'a')}",
        "INSERT INTO grown PARTITION (p=2) SELECT 'b2', 'a2'",
        "INSERT INTO grown PARTITION (p=1) SELECT 'b1', 'a1'",
        read,
    )
    rows = [("b1", "a1", 1), ("b2", "a2", 2), (None, "a1", 1)]
    assert sorted(blocks[-1].lines) == as_hive_prints(rows)
    assert shared.ours(read) == sorted(rows, key=str)
    shared.ours(
        f"ALTER TABLE grown SET TBLPROPERTIES {schema('a', 'c')}",
        "INSERT INTO grown PARTITION (p=1) SELECT 'a3', 'c3'",
    )
    blocks = shared.hive(read)
    rows_since = [("a1", None, 1), ("a1", None, 1), ("a2", None, 2), ("a3", "c3", 1)]
    assert shared.ours(read) == sorted(rows_since, key=str)
    # Hive compares the columns that it keeps, not those of the schema.
    wider = schema("c").replace(
        '"fields": [',
        '"fields": [{"name": "l", "type": {"type": "array", "items": "int"}, "default": []}, ',
    )
    shared.hive(f"ALTER TABLE grown SET TBLPROPERTIES {wider}")
    shared.ours("ALTER TABLE grown SET TBLPROPERTIES ('x'='1')")
    assert shared.ours("SELECT l, p FROM grown WHERE c = 'c3'") == [([], 1)]
    assert sorted(blocks[-1].lines) == as_hive_prints(rows_since)
    shared.ours("DROP TABLE grown")
