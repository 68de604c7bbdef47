"""Every statement on every kind of file that a table's rows may be in, however much was deleted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import pyorc
import pytest

import hivesql
from acid_files import EVENT
from adoption import adopt
from hivesql_planner.acid.layout import MARKERS
from hivesql_planner.model.hive_type import Kind
from hivesql_planner.model.table import Table
from tables import make_table, property_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

pytestmark = pytest.mark.spark

IDS = range(1, 41)
UTC = ZoneInfo("UTC")
TIME = datetime(2020, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
Row = tuple[Any, ...]
PLAIN = "id:int,v:string"
COLUMNS = "id int, v string"


def write(path: Path, schema: str, rows: Sequence[Row]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    options: dict[str, Any] = {"stripe_size": 1 << 16, "row_index_stride": 1000, "timezone": UTC}
    with path.open("wb") as file, pyorc.Writer(file, schema, **options) as writer:
        writer.writerows(rows)
    return path


def write_originals(home: Path, columns: str, rows: Sequence[Row]) -> None:
    """Two files of one bucket, and one of another."""
    schema = f"struct<{columns}>"
    write(home / "000000_0", schema, rows[:15])
    write(home / "000000_0_copy_1", schema, rows[15:30])
    write(home / "000001_0", schema, rows[30:])


def write_delta(home: Path, name: str, columns: str, rows: Sequence[Row]) -> Path:
    bucket = property_of(0)
    events = [(0, 1, bucket, number, 1, row) for number, row in enumerate(rows)]
    return write(home / name / "bucket_00000", EVENT.format(columns), events)


def rows_of(ids: range, *more: object) -> list[Row]:
    return [(i, f"v{i}", *more) for i in ids]


def events(home: Path, ids: range) -> Table:
    write_delta(home, "delta_0000001_0000001_0000", PLAIN, rows_of(ids))
    return make_table(home, COLUMNS)


def originals(home: Path, ids: range) -> Table:
    write_originals(home, PLAIN, rows_of(ids))
    return make_table(home, COLUMNS)


def loaded(home: Path, ids: range) -> Table:
    write_originals(home / "delta_0000001_0000001_0000", PLAIN, rows_of(ids))
    return make_table(home, COLUMNS)


def still_written(home: Path, ids: range) -> Table:
    path = write_delta(home, "delta_0000001_0000002", PLAIN, rows_of(ids))
    (path.parent / "_orc_acid_version").write_bytes(b"2")
    length = path.stat().st_size
    path.with_name(f"{path.name}_flush_length").write_bytes(length.to_bytes(8, "big"))
    with path.open("ab") as end:
        end.write(b"a stripe that is not committed")
    return make_table(home, COLUMNS)


def version_1(home: Path, _: range) -> Table:
    """Rows of before, most of them changed, some twice, and others deleted; and new ones."""
    write(home / "000000_0", f"struct<{PLAIN}>", [(i, "old") for i in range(1, 31)])
    first, second = 10_000_001, 10_000_002
    changes: list[Row] = [(1, 0, 0, i - 1, first, (i, f"v{i}")) for i in range(1, 26)]
    changes += [(2, 0, 0, i - 1, first, None) for i in range(26, 31)]
    new: list[Row] = [(0, first, 0, i, first, (26 + i, "new")) for i in range(20)]
    path = home / f"delta_{first}_{first}" / "bucket_00000"
    write(path, EVENT.format(PLAIN), changes + new)
    again: list[Row] = [(1, first, 0, i, second, (26 + i, f"v{26 + i}")) for i in range(15)]
    again += [(2, first, 0, i, second, None) for i in range(15, 20)]
    path = home / f"delta_{second}_{second}" / "bucket_00000"
    write(path, EVENT.format(PLAIN), again)
    return make_table(home, COLUMNS)


def changed_types(home: Path, ids: range) -> Table:
    rows = rows_of(ids, "7", TIME)
    columns = f"{PLAIN},n:string,t:timestamp"
    write_delta(home, "delta_0000001_0000001_0000", columns, rows)
    return make_table(home, "id bigint, v varchar(9), n int, t string, added int")


def changed_originals(home: Path, ids: range) -> Table:
    write_originals(home, f"{PLAIN},n:string", rows_of(ids, "7"))
    return make_table(home, "id bigint, w char(9), n decimal(5,1), added int")


def nanoseconds(home: Path, ids: range) -> Table:
    columns = f"{PLAIN},t:timestamp,a:array<timestamp>"
    write_delta(home, "delta_0000001_0000001_0000", columns, rows_of(ids, TIME, [TIME, None]))
    return make_table(home, f"{COLUMNS}, t timestamp, a array<timestamp>")


KINDS: dict[str, Callable[[Path, range], Table]] = {
    "events": events,
    "originals": originals,
    "loaded": loaded,
    "still written": still_written,
    "version 1": version_1,
    "changed types": changed_types,
    "originals of changed types": changed_originals,
    "times that may have nanoseconds": nanoseconds,
}


@pytest.fixture(params=["4000000", "0"], ids=["kept whole", "by task"])
def with_spark(session: hivesql.Session, request: pytest.FixtureRequest) -> Iterator[str]:
    """A session whose statements all go to Spark, and how many words of deletes it keeps."""
    session.sql(f"SET hivesql.deletes.broadcast.max={request.param}")
    session.sql("SET hivesql.local.max.bytes=0")
    yield request.param


def scanned_rows(frame: DataFrame) -> int:
    plan: Any = frame._jdf.queryExecution().executedPlan()
    frame._jdf.queryExecution().toRdd().count()
    leaves = plan.collectLeaves()
    return sum(
        int(leaves.apply(i).metrics().apply("numOutputRows").value()) for i in range(leaves.size())
    )


@pytest.mark.parametrize("kind", KINDS)
def test_statements(session: hivesql.Session, with_spark: str, tmp_path: Path, kind: str) -> None:
    home = tmp_path / "files"
    home.mkdir()
    table = adopt(session, KINDS[kind](home, IDS), "t")
    v = table.columns[1].name
    more = ", ".join(f"CAST({one.name} AS STRING)" for one in table.columns[2:]) or "1"
    if "t" in table.column_names and table.columns[-1].type.kind is Kind.ARRAY:
        more = "CAST(t AS STRING), CAST(a[0] AS STRING)"

    def rows() -> dict[int, tuple[Any, ...]]:
        """By id: the text, what else there is, the row's id, and whether its file is there."""
        found = session.sql(
            f"SELECT id, {v}, struct({more}), row__id, INPUT__FILE__NAME FROM t"
        ).rows
        assert len(found) == len({row[0] for row in found}) == len({row[3] for row in found})
        assert all(Path(row[4].removeprefix("file:")).is_file() for row in found)
        return {row[0]: (row[1].rstrip(), tuple(row[2]), tuple(row[3])) for row in found}

    def texts() -> dict[int, str]:
        found = session.sql(f"SELECT id, {v} FROM t").rows
        return {row[0]: row[1].rstrip() for row in found}

    before = rows()
    expected = {i: f"v{i}" for i in IDS}
    assert texts() == {i: row[0] for i, row in before.items()} == expected
    assert session.sql("SELECT count(*) FROM t").rows == [(len(IDS),)]
    assert session.sql(f"SELECT id FROM t WHERE {v} = 'v7'").rows == [(7,)]
    assert session.sql("SELECT id FROM t WHERE id = 7").rows == [(7,)]

    assert session.sql("DELETE FROM t WHERE id % 4 = 0").affected == 10
    expected = {i: text for i, text in expected.items() if i % 4}
    assert texts() == expected
    assert rows() == {i: row for i, row in before.items() if i % 4}
    assert session.sql("SELECT id FROM t WHERE id = 8").rows == []
    assert session.sql(f"UPDATE t SET {v} = 'u' WHERE id % 4 = 1").affected == 10
    expected |= {i: "u" for i in IDS if i % 4 == 1}
    assert texts() == expected
    session.sql(f"""
        MERGE INTO t USING (SELECT 2 k UNION ALL SELECT 3 UNION ALL SELECT 1000) s ON t.id = s.k
        WHEN MATCHED AND k = 3 THEN DELETE
        WHEN MATCHED THEN UPDATE SET {v} = 'm'
        WHEN NOT MATCHED THEN INSERT (id, {v}) VALUES (k, 'n')
    """)
    expected |= {2: "m", 1000: "n"}
    del expected[3]
    after = rows()
    assert {i: row[0] for i, row in after.items()} == expected
    # What a statement does not set stays, and so do the ids of rows that it does not touch.
    assert all(after[i][1] == before[i][1] for i in after if i != 1000)
    assert all(after[i] == before[i] for i in IDS if i % 4 == 2 and i > 2)
    assert session.sql(f"SELECT id FROM t WHERE {v} = 'm'").rows == [(2,)]
    if with_spark == "0":
        session.sql("ALTER TABLE t COMPACT 'major' AND WAIT")
        assert rows() == after
        assert session.check("t") == ()


@pytest.mark.parametrize(
    ("kind", "condition"),
    [
        ("events", "id = 7"),
        ("originals", "id = 7"),
        ("originals", "v = 'v7'"),
        ("still written", "id = 7"),
        ("changed types", "id = 7"),
        ("originals of changed types", "id = 7"),
    ],
)
def test_stripes_are_skipped_in_every_kind(
    session: hivesql.Session, tmp_path: Path, kind: str, condition: str
) -> None:
    home = tmp_path / "files"
    home.mkdir()
    adopt(session, KINDS[kind](home, range(1, 30_001)), "t")
    session.sql("SET hivesql.local.max.bytes=0; SET hivesql.scan.filter.min=-1")
    sql = f"SELECT * FROM t WHERE {condition}"
    assert [row[0] for row in session.sql(sql).rows] == [7]
    assert 0 < session.sql(sql, consume=scanned_rows).value <= 4000


@pytest.mark.parametrize("stored", ["ORC", "PARQUET", "TEXTFILE", "AVRO", "SEQUENCEFILE"])
def test_markers_of_acid_directories_are_no_rows_of_plain_tables(
    session: hivesql.Session, tmp_path: Path, stored: str
) -> None:
    """They come with files that were copied out of an ACID table, and Hive passes over them."""
    session.sql(f"CREATE EXTERNAL TABLE copied (id int) PARTITIONED BY (p int) STORED AS {stored}")
    session.sql("INSERT INTO copied VALUES (1, 1), (2, 1)")
    for marker in MARKERS:
        (tmp_path / "warehouse" / "copied" / "p=1" / marker).write_text("2")
    assert session.sql("SELECT id, p FROM copied ORDER BY id").rows == [(1, 1), (2, 1)]
    assert session.sql("SELECT count(*) FROM copied").scalar() == 2
    session.sql("ANALYZE TABLE copied PARTITION (p=1) COMPUTE STATISTICS")
    assert session.sql("SELECT count(*) FROM copied").scalar() == 2
