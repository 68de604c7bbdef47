"""Which partitions a query reads: those whose values the rest of it can meet as it runs."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyorc
import pytest

import hivesql
from hivesql_planner.errors import HiveSqlError
from hivesql_planner.model.table import TableName

pytestmark = pytest.mark.spark

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
COUNT = 20
"""More partitions than Spark would be told of one by one."""


def scramble(place: Path) -> dict[Path, bytes]:
    """Spoil all values in the files of a partition, and leave their footers; give what they were.

    What a test leaves behind is read by real Hive later, so that it must be whole again by then.
    """
    before = {path: path.read_bytes() for path in place.rglob("bucket_*")}
    for path, data in before.items():
        (stripe,) = pyorc.Reader(io.BytesIO(data)).iter_stripes()
        start, length = stripe.bytes_offset, stripe.bytes_length
        path.write_bytes(data[:start] + b"Z" * length + data[start + length :])
    return before


def location(session: hivesql.Session, table: str) -> Path:
    name = TableName("default", table)
    return Path(session.runtime.metastore.table(name).location.removeprefix("file:"))


@pytest.fixture
def days(session: hivesql.Session) -> Iterator[hivesql.Session]:
    """Twenty days of facts of which only the third and the fifth can be read."""
    session.sql(f"""
        CREATE TABLE fact (k int, v string) PARTITIONED BY (d date, h int) {ACID};
        INSERT INTO fact PARTITION (d, h)
            SELECT i, concat('v', i), date_add('2024-01-01', i), i % 2
            FROM (SELECT posexplode(split(space({COUNT - 1}), ' ')) AS (i, x)) q;
        UPDATE fact SET v = concat(v, '!') WHERE k IN (2, 4);
        CREATE TABLE calendar (d date, h int, kind string) {ACID};
        INSERT INTO calendar SELECT d, h, if(k IN (2, 4), 'odd', 'even') FROM fact;
    """)
    before: dict[Path, bytes] = {}
    for place in location(session, "fact").glob("d=*"):
        if not place.name.endswith(("-03", "-05")):
            before |= scramble(place)
    yield session
    for path, data in before.items():
        path.write_bytes(data)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT f.k, f.v FROM fact f JOIN calendar c ON f.d = c.d WHERE c.kind = 'odd'",
        "SELECT f.k, f.v FROM fact f JOIN calendar c ON f.d = c.d AND f.h = c.h AND c.kind = 'odd'",
        "SELECT k, v FROM fact WHERE d IN (SELECT d FROM calendar WHERE kind = 'odd')",
        # What one side says of the columns of a join holds for the other.
        "SELECT f.k, f.v FROM fact f JOIN calendar c ON f.d = c.d "
        "WHERE c.d IN ('2024-01-03', '2024-01-05')",
        "SELECT f.k, f.v FROM calendar c JOIN fact f ON f.d = c.d "
        "WHERE c.d BETWEEN '2024-01-03' AND '2024-01-05' AND dayofmonth(c.d) <> 4",
    ],
)
def test_only_such_partitions_are_read(days: hivesql.Session, query: str) -> None:
    assert sorted(map(tuple, days.sql(query).rows)) == [(2, "v2!"), (4, "v4!")]


def test_others_are_read_where_they_count(days: hivesql.Session) -> None:
    outer = "SELECT f.k FROM fact f LEFT JOIN calendar c ON f.d = c.d AND c.kind = 'odd'"
    with pytest.raises(HiveSqlError, match="cannot be read"):
        days.sql(outer)


def test_changes_read_only_such_partitions(days: hivesql.Session) -> None:
    merged = days.sql("""
        MERGE INTO fact f USING (SELECT * FROM calendar WHERE kind = 'odd') c ON f.d = c.d
        WHEN MATCHED AND f.k = 2 THEN DELETE WHEN MATCHED THEN UPDATE SET v = c.kind
    """)
    assert merged.affected == 2
    left = "SELECT k, v FROM fact WHERE d IN ('2024-01-03', '2024-01-05')"
    assert list(map(tuple, days.sql(left).rows)) == [(4, "odd")]


VALUES: dict[str, list[tuple[str, Any]]] = {
    "boolean": [("TRUE", "TRUE"), ("FALSE", "FALSE")],
    "tinyint": [("-127Y", "-127"), ("7Y", "7")],
    "smallint": [("-300S", "-300")],
    "int": [("01", "1"), ("-5", "-5")],
    "bigint": [("9223372036854775807L", "9223372036854775807")],
    "float": [("CAST(1.5 AS FLOAT)", "1.5"), ("CAST(-0.25 AS FLOAT)", "-0.25")],
    "double": [("1.0E10", "1.0E10")],
    "decimal(10,2)": [("1.50", "1.50"), ("-2.25", "-2.25")],
    "date": [("DATE '2024-02-29'", "2024-02-29"), ("DATE '0001-01-01'", "0001-01-01")],
    "timestamp": [("TIMESTAMP '2024-02-29 12:34:56.789'", "2024-02-29 12:34:56.789")],
    "string": [("'a b/c=d'", "a b/c=d"), ("'日本'", "日本")],
    "varchar(3)": [("'abc'", "abc")],
    "char(4)": [("'ab'", "ab")],
}


@pytest.mark.parametrize("kind", VALUES)
def test_values_of_every_type(session: hivesql.Session, kind: str) -> None:
    """They are the partition's in each row, by themselves, in conditions, groups and joins."""
    session.sql(f"CREATE TABLE t (k int) PARTITIONED BY (p {kind}) {ACID}")
    for number, (value, _) in enumerate(VALUES[kind]):
        session.sql(f"INSERT INTO t SELECT {number}, {value}")
    session.sql("INSERT INTO t SELECT 99, NULL")
    for number, (value, text) in enumerate(VALUES[kind]):
        asked = f"SELECT k, trim(CAST(p AS STRING)) FROM t WHERE p = {value} AND abs(k) >= 0"
        assert list(map(tuple, session.sql(asked).rows)) == [(number, text)]
    joined = "SELECT a.k FROM t a JOIN (SELECT p FROM t WHERE k < 50 GROUP BY p) b ON a.p = b.p"
    ids = sorted(row.k for row in session.sql(joined).rows)
    assert ids == list(range(len(VALUES[kind])))
    default = session.sql("SELECT p FROM t WHERE k = 99 AND abs(k) >= 0").scalar()
    is_text = kind in ("string", "varchar(3)", "char(4)")
    assert (default == "__HIVE_DEFAULT_PARTITION__"[: {"varchar(3)": 3, "char(4)": 4}.get(kind)]
            if is_text else default is None)  # fmt: skip
