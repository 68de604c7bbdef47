"""Avro tables, and buckets of insert-only tables in every format."""

from __future__ import annotations

import io
import json
import uuid
from collections.abc import Iterator
from datetime import date, datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import fastavro
import pyarrow as pa
import pytest

import hivesql

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def test_a_worker_reads_avro_as_ever_afterwards(
    session: hivesql.Session, spark: SparkSession, tmp_path: Path
) -> None:
    """The user's functions run in the workers that have read our tables."""
    home = tmp_path / "data"
    home.mkdir()
    times = [
        {"type": "int", "logicalType": "date"},
        {"type": "long", "logicalType": "timestamp-micros"},
        {"type": "string", "logicalType": "uuid"},
        {"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 2},
    ]
    fields = [{"name": f"c{i}", "type": kind} for i, kind in enumerate(times)]
    schema = {"type": "record", "name": "any", "fields": fields}
    moment = datetime(2024, 1, 2, 3, 4, 5, tzinfo=timezone.utc)
    row = {"c0": date(2024, 1, 2), "c1": moment, "c2": uuid.UUID(int=1), "c3": Decimal("1.25")}
    with (home / "f").open("wb") as file:
        fastavro.writer(file, schema, [row])
    session.sql(f"""
        CREATE EXTERNAL TABLE t (c0 DATE, c1 TIMESTAMP, c2 STRING, c3 DECIMAL(4,2))
        STORED AS AVRO LOCATION '{home}'""")
    before = [str(value) for value in session.sql("SELECT * FROM t").rows[0]]
    assert before == ["2024-01-02", "2024-01-02 03:04:05", str(uuid.UUID(int=1)), "1.25"]

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for content in batch.column("content").to_pylist():
                (found,) = fastavro.reader(io.BytesIO(content))
                yield pa.RecordBatch.from_pydict({"told": [repr(found)]})

    files = spark.read.format("binaryFile").load(str(home)).select("content")
    told = files.mapInArrow(read, "told string").collect()
    assert [one.told for one in told] == [repr(row)]


SCHEMA: dict[str, Any] = {
    "type": "record", "name": "any", "fields": [
        {"name": "Id", "type": "int"},
        {"name": "gone", "type": "string"},
        {"name": "d", "type": ["null", {"type": "int", "logicalType": "date"}]},
        {"name": "t", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "u", "type": {"type": "long", "logicalType": "timestamp-micros"}},
        {"name": "s", "type": {"type": "record", "name": "x", "fields": [
            {"name": "K", "type": {"type": "map", "values": "int"}},
        ]}},
    ],
}  # fmt: skip
# The hybrid calendar is nine days behind the proleptic one there.
ROW = {"Id": 1, "gone": "x", "d": -171650, "t": -14830516800000, "u": 7, "s": {"K": {"a": 1}}}


@pytest.mark.parametrize(
    ("metadata", "day", "time"),
    [
        ({}, "1500-01-06", "1500-01-06 12:00:00"),
        ({"writer.proleptic": "true"}, "1500-01-15", "1500-01-15 12:00:00"),
        (
            {"writer.proleptic": "true", "writer.time.zone": "Etc/GMT-9"},
            "1500-01-15", "1500-01-15 21:00:00",
        ),
    ],
)  # fmt: skip
def test_files_of_other_writers(
    session: hivesql.Session, tmp_path: Path, metadata: dict[str, str], day: str, time: str
) -> None:
    home = tmp_path / "data"
    home.mkdir()
    with (home / "f").open("wb") as file:
        fastavro.writer(file, SCHEMA, [ROW, {**ROW, "d": None}], metadata=metadata)
    session.sql(f"""
        CREATE EXTERNAL TABLE t (d DATE, id BIGINT, t TIMESTAMP, u BIGINT,
            s STRUCT<k:MAP<STRING,INT>>, missing INT) STORED AS AVRO LOCATION '{home}'""")
    rows = session.sql(
        "SELECT cast(d AS STRING), id, cast(t AS STRING), u, s.k, missing FROM t"
    ).rows
    (first, *rest), (second, *_) = rows
    assert (first, second) == (day, None)
    assert rest == [1, time, 7, {"a": 1}, None]


def test_partitions_overwrites_and_nulls(session: hivesql.Session) -> None:
    session.execute("""
        CREATE TABLE t (a INT, c CHAR(3), m MAP<STRING,ARRAY<DATE>>, ts TIMESTAMP)
            PARTITIONED BY (p STRING, q INT) STORED AS AVRO;
        INSERT INTO t PARTITION (p, q) SELECT id, if(id % 2 = 0, 'x', null),
            map('k', array(date'1500-01-02', null)), timestamp'2020-01-02 03:04:05.678912',
            concat('v', id % 3), id % 2 FROM (SELECT pos + 1 AS id FROM (SELECT 1 AS one) AS x
            LATERAL VIEW posexplode(split(space(29), ' ')) AS pos, val) AS ids;
        INSERT INTO t PARTITION (p = 'v0', q = 0) VALUES (100, null, null, null);
    """)
    rows = session.sql("SELECT count(*), sum(a), count(c), count(DISTINCT p, q) FROM t").rows
    assert tuple(rows[0]) == (31, 565, 15, 6)
    found = session.sql("SELECT c, m, cast(ts AS STRING) FROM t WHERE a = 6 AND p = 'v0'").rows
    assert [(c.strip(), str(m["k"][0]), ts) for c, m, ts in found] == [
        ("x", "1500-01-02", "2020-01-02 03:04:05.678")
    ]
    session.sql("INSERT OVERWRITE TABLE t PARTITION (p = 'v0', q = 0) SELECT 1, 'y', null, null")
    assert session.sql("SELECT a FROM t WHERE p = 'v0' AND q = 0").rows == [(1,)]


@pytest.mark.parametrize("stored", ["ORC", "PARQUET", "TEXTFILE", "AVRO"])
def test_buckets_of_insert_only_tables(session: hivesql.Session, stored: str) -> None:
    session.execute(f"""
        CREATE TABLE t (id INT, v STRING) CLUSTERED BY (id) SORTED BY (v DESC) INTO 3 BUCKETS
            STORED AS {stored} TBLPROPERTIES
            ('transactional'='true', 'transactional_properties'='insert_only');
        INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd'), (5, 'e'), (6, null);
    """)
    home = Path(session.sql("DESCRIBE FORMATTED t").rows and _location(session))
    files = sorted(str(one.relative_to(home)) for one in home.glob("delta*/0*"))
    # As real Hive places them.
    assert files == [f"delta_0000001_0000001_0000/00000{n}_0" for n in (1, 2)]
    rows = sorted(tuple(row) for row in session.sql("SELECT id, v FROM t").rows)
    assert rows == [(1, "a"), (2, "b"), (3, "c"), (4, "d"), (5, "e"), (6, None)]
    if stored == "TEXTFILE":
        assert (home / files[1]).read_text() == "4\x01d\n3\x01c\n2\x01b\n6\x01\\N\n"
    session.sql("INSERT OVERWRITE TABLE t SELECT * FROM t WHERE id > 100")
    assert session.sql("SELECT count(*) FROM t").rows == [(0,)]


def _location(session: hivesql.Session) -> str:
    rows = session.sql("DESCRIBE FORMATTED t").rows
    return next(str(row[1]).strip() for row in rows if str(row[0]).startswith("Location"))


def test_columns_of_a_schema(session: hivesql.Session) -> None:
    literal = '{"type":"record","name":"r","fields":[{"name":"A","type":"int"}]}'
    session.execute(f"""
        CREATE TABLE t STORED AS AVRO TBLPROPERTIES ('avro.schema.literal'='{literal}');
        INSERT INTO t VALUES (7);
    """)
    assert session.sql("SELECT a FROM t").rows == [(7,)]


DEFAULTS: dict[str, Any] = {
    "type": "record", "name": "any", "fields": [
        {"name": "Id", "type": "int"},
        {"name": "n", "type": ["long", "null"], "default": 7},
        {"name": "s", "type": "string", "default": "é"},
        {"name": "b", "type": "bytes", "default": "\u00ff"},
        {"name": "x", "type": {"type": "bytes", "logicalType": "decimal", "precision": 5,
                               "scale": 2}, "default": "\u0001\u0000"},
        {"name": "day", "type": {"type": "int", "logicalType": "date"}, "default": 1},
        {"name": "m", "type": {"type": "map", "values": "int"}, "default": {"k": 1}},
        {"name": "r", "type": {"type": "record", "name": "in", "fields": [
            {"name": "A", "type": "int"}]}, "default": {"A": 2}},
        {"name": "empty", "type": ["null", "int"], "default": None},
    ],
}  # fmt: skip


def test_defaults_fill_in_what_structs_lack(session: hivesql.Session, tmp_path: Path) -> None:
    def schema(*more: dict[str, Any]) -> dict[str, Any]:
        inner = {"type": "record", "name": "in", "fields": [{"name": "A", "type": "int"}, *more]}
        return {"type": "record", "name": "r", "fields": [
            {"name": "s", "type": ["null", inner]}, {"name": "l", "type": {
                "type": "array", "items": {**inner, "name": "other"}}}]}  # fmt: skip

    home = tmp_path / "data"
    home.mkdir()
    row = {"s": {"A": 1}, "l": [{"A": 2}]}
    with (home / "f").open("wb") as file:
        fastavro.writer(file, schema(), [row, {"s": None, "l": []}])
    wider = json.dumps(schema({"name": "d", "type": "string", "default": "x"}))
    session.sql(f"""CREATE EXTERNAL TABLE t STORED AS AVRO LOCATION '{home}'
        TBLPROPERTIES ('avro.schema.literal'='{wider}')""")
    found = session.sql("SELECT s.a, s.d, s IS NULL, l FROM t").rows
    assert sorted(map(str, map(tuple, found))) == sorted(
        ["(1, 'x', False, [Row(a=2, d='x')])", "(None, None, True, [])"]
    )


def test_a_schema_in_a_file_fills_in_what_files_lack(
    session: hivesql.Session, tmp_path: Path
) -> None:
    url, home = tmp_path / "any.avsc", tmp_path / "data"
    url.write_text(json.dumps(DEFAULTS), "utf-8")
    home.mkdir()
    with (home / "f").open("wb") as file:
        fastavro.writer(file, {**DEFAULTS, "fields": DEFAULTS["fields"][:1]}, [{"Id": 1}])
    for given in (f"file:{url}", str(url)):
        session.sql(f"""CREATE EXTERNAL TABLE t STORED AS AVRO LOCATION '{home}'
            TBLPROPERTIES ('avro.schema.url'='{given}')""")
        assert session.sql("SELECT id, n, s, b, x, day, m, r.a, empty FROM t").rows == [
            (1, 7, "é", b"\xff", Decimal("2.56"), date(1970, 1, 2), {"k": 1}, 2, None)
        ]
        session.sql("DROP TABLE t")
    with pytest.raises(hivesql.SemanticError, match="nowhere"):
        session.sql("CREATE TABLE u STORED AS AVRO TBLPROPERTIES ('avro.schema.url'='/nowhere')")
    assert session.sql("SHOW TABLES").rows == []


def record(*fields: dict[str, Any]) -> str:
    return json.dumps({"type": "record", "name": "r", "fields": list(fields)})


ID = {"name": "id", "type": "int"}
TAGS = {"name": "tags", "type": {"type": "array", "items": "string"}, "default": []}
NOTE = {"name": "note", "type": ["null", "string"], "default": None}
MARK = {"name": "mark", "type": "string", "default": "none yet"}


@pytest.mark.parametrize("properties", ["TBLPROPERTIES", "SERDEPROPERTIES"])
def test_a_schema_grows(session: hivesql.Session, properties: str) -> None:
    """As in Hive: its columns are the table's and its partitions', defaults fill in older rows."""
    session.sql(f"""
        CREATE TABLE t PARTITIONED BY (p INT) STORED AS AVRO
            TBLPROPERTIES ('avro.schema.literal'='{record(ID)}');
        INSERT INTO t PARTITION (p=1) VALUES (1);
        ALTER TABLE t SET {properties} ('avro.schema.literal'='{record(TAGS, ID, NOTE, MARK)}');
    """)
    for of in ("t", "t PARTITION (p=1)"):
        shown = [row[:2] for row in session.sql(f"DESCRIBE {of}").rows[:5]]
        assert shown == [("tags", "array<string>"), ("id", "int"), ("note", "string"),
                         ("mark", "string"), ("p", "int")]  # fmt: skip
    assert session.sql("SELECT * FROM t").rows == [([], 1, None, "none yet", 1)]
    for partition in (1, 2):
        session.sql(f"INSERT INTO t PARTITION (p={partition}) SELECT array('x'), 2, 'n', 'm'")
    assert sorted(session.sql("SELECT id, p, tags, note, mark FROM t").rows) == [
        (1, 1, [], None, "none yet"), (2, 1, ["x"], "n", "m"), (2, 2, ["x"], "n", "m"),
    ]  # fmt: skip
    for change in ("ADD COLUMNS (z INT)", "CHANGE id id BIGINT"):
        with pytest.raises(hivesql.SemanticError, match="Not allowed to alter schema") as refused:
            session.sql(f"ALTER TABLE t {change}")
        assert refused.value.code == 40000
    for literal, problem in (
        ("{", "no JSON"),
        ('{"type":"record","name":"r"}', "not understood"),
        (record({"name": "x", "type": {"type": "array"}}), "not understood"),
        (record({"name": "x", "type": 5}), "not understood"),
        (record(ID, {"name": "P", "type": "int"}), "p"),
        (record(ID, ID), "id"),
    ):
        with pytest.raises(hivesql.SemanticError, match=problem):
            session.sql(f"ALTER TABLE t SET {properties} ('avro.schema.literal'='{literal}')")
    assert session.sql("SELECT count(*) FROM t").rows == [(3,)]


def test_partitions_that_are_stored_otherwise_have_the_tables_schema(
    session: hivesql.Session,
) -> None:
    session.sql(f"""
        CREATE TABLE t (id INT) PARTITIONED BY (p INT) STORED AS AVRO;
        ALTER TABLE t SET SERDEPROPERTIES ('avro.schema.literal'='{record(ID)}');
        INSERT INTO t PARTITION (p=1) VALUES (1);
        ALTER TABLE t SET SERDEPROPERTIES ('other'='1');
        ALTER TABLE t SET SERDEPROPERTIES ('avro.schema.literal'='{record(ID, MARK)}');
    """)
    assert session.sql("SELECT * FROM t").rows == [(1, "none yet", 1)]


def test_a_schema_in_a_file_takes_the_place_of_columns(
    session: hivesql.Session, tmp_path: Path
) -> None:
    (tmp_path / "any.avsc").write_text(record(ID, MARK), "utf-8")
    session.sql(f"""
        CREATE TABLE t (id INT) STORED AS AVRO;
        INSERT INTO t VALUES (1);
        ALTER TABLE t SET TBLPROPERTIES ('avro.schema.url'='{tmp_path}/any.avsc');
    """)
    assert session.sql("SELECT * FROM t").rows == [(1, "none yet")]
    with pytest.raises(hivesql.SemanticError, match="nowhere"):
        session.sql("ALTER TABLE t SET TBLPROPERTIES ('avro.schema.url'='/nowhere')")
    session.sql("INSERT INTO t VALUES (2, 'm')")
    assert sorted(session.sql("SELECT * FROM t").rows) == [(1, "none yet"), (2, "m")]
    session.sql("ALTER TABLE t UNSET TBLPROPERTIES ('avro.schema.url')")
    session.sql("ALTER TABLE t ADD COLUMNS (z INT)")
    assert sorted(map(tuple, session.sql("SELECT id, z FROM t").rows)) == [(1, None), (2, None)]
