"""What Spark would get wrong, silently, when it reads ACID files as plain ORC."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import hivesql

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

ROWS = 30_000
DAY = datetime.date(2020, 1, 1)
Row = dict[str, Any]


def row(n: int) -> Row:
    """Row n; every seventh has NULLs."""
    some = n % 7 != 0
    return {
        "id": n,
        "s": f"row {n:06d}" if some else None,
        "c": f"c{n % 10}  ",
        "d": Decimal(n).scaleb(-2) if some else None,
        "day": DAY + datetime.timedelta(days=n % 1000) if some else None,
        "t": datetime.datetime(1899, 12, 31, 23, 59, 59) + datetime.timedelta(hours=n),
        "x": n / 3 if some else None,
    }


@pytest.fixture(scope="module")
def many(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> tuple[hivesql.Session, list[Row]]:
    """Table n in several stripes, with deleted and updated rows; and the rows it has."""
    place = tmp_path_factory.mktemp("traps")
    session = hivesql.connect(f"sqlite:///{place}/metastore.db", f"{place}/warehouse", spark=spark)
    session.sql("""
        CREATE TABLE n (id INT, s STRING, c CHAR(4), d DECIMAL(12,2), day DATE, t TIMESTAMP,
          x DOUBLE) STORED AS ORC TBLPROPERTIES ('transactional'='true',
          'orc.stripe.size'='65536', 'orc.row.index.stride'='1000')
    """)
    session.sql(f"""
        INSERT INTO n SELECT n, if(n % 7 <> 0, concat('row ', lpad(n, 6, '0')), NULL),
          concat('c', n % 10), if(n % 7 <> 0, CAST(n AS DECIMAL(12,2)) / 100, NULL),
          if(n % 7 <> 0, date_add(DATE '2020-01-01', n % 1000), NULL),
          CAST(TIMESTAMP '1899-12-31 23:59:59' + n * INTERVAL '1' HOUR AS TIMESTAMP),
          if(n % 7 <> 0, n / 3D, NULL)
        FROM (SELECT posexplode(split(space({ROWS - 1}), ' ')) AS (n, nothing)) numbers
    """)
    session.sql("DELETE FROM n WHERE id % 10 = 3")
    session.sql("UPDATE n SET s = 'changed' WHERE id % 1000 = 500")
    rows = [row(n) for n in range(ROWS) if n % 10 != 3]
    for one in rows:
        if one["id"] % 1000 == 500:
            one["s"] = "changed"
    return session, rows


PREDICATES: dict[str, tuple[str, Callable[[Row], bool]]] = {
    "equal": ("id = 12345", lambda r: r["id"] == 12345),
    "deleted row": ("id = 12343", lambda r: False),
    "range": ("id >= 29990", lambda r: r["id"] >= 29990),
    "between": ("id BETWEEN 100 AND 120", lambda r: 100 <= r["id"] <= 120),
    "in": ("id IN (1, 2, 29999)", lambda r: r["id"] in (1, 2, 29999)),
    "not": ("NOT (id < 29995)", lambda r: r["id"] >= 29995),
    "text": ("s = 'row 000100'", lambda r: r["s"] == "row 000100"),
    "text of updated rows": ("s = 'changed'", lambda r: r["s"] == "changed"),
    "text order": ("s > 'row 029990'", lambda r: bool(r["s"]) and r["s"] > "row 029990"),
    "null": ("s IS NULL AND id < 50", lambda r: r["s"] is None and r["id"] < 50),
    "not null": ("s IS NOT NULL AND id < 50", lambda r: r["s"] is not None and r["id"] < 50),
    "null-safe": ("d <=> NULL AND id < 50", lambda r: r["d"] is None and r["id"] < 50),
    "char": ("c = 'c5' AND id < 100", lambda r: r["c"] == "c5  " and r["id"] < 100),
    "decimal": ("d = 123.45", lambda r: r["d"] == Decimal("123.45")),
    "date": ("day = DATE '2020-01-11' AND id < 2000",
             lambda r: r["day"] == datetime.date(2020, 1, 11) and r["id"] < 2000),
    "timestamp": ("t = TIMESTAMP '1900-01-01 00:59:59'", lambda r: r["id"] == 1),
    "timestamp range": ("t < TIMESTAMP '1900-01-01 04:00:00'", lambda r: r["id"] <= 4),
    "double": ("x > 9995.5", lambda r: r["x"] is not None and r["x"] > 9995.5),
    "or": ("id = 5 OR s = 'row 000100'", lambda r: r["id"] == 5 or r["s"] == "row 000100"),
    "expression": ("id + 1 = 101", lambda r: r["id"] == 100),
}  # fmt: skip


@pytest.mark.parametrize(("where", "holds"), PREDICATES.values(), ids=PREDICATES)
def test_search_arguments_lose_no_row(
    many: tuple[hivesql.Session, list[Row]], where: str, holds: Callable[[Row], bool]
) -> None:
    session, rows = many
    expected = [tuple(r.values()) for r in rows if holds(r)]
    found = session.sql(f"SELECT * FROM n WHERE {where}").rows
    assert sorted(map(tuple, found)) == sorted(expected)


def scanned_rows(frame: DataFrame) -> int:
    """How many rows the scan of a query gives to Spark."""
    plan: Any = frame._jdf.queryExecution().executedPlan()
    frame._jdf.queryExecution().toRdd().count()
    return int(plan.collectLeaves().head().metrics().apply("numOutputRows").value())


def test_search_arguments_skip_what_cannot_match(
    many: tuple[hivesql.Session, list[Row]],
) -> None:
    session, _ = many
    session.sql("SET hivesql.scan.filter.min=-1")
    try:
        for where in ("id = 12345", "s = 'row 012345'", "d = 123.45", "x < 1.0"):
            sql = f"SELECT * FROM n WHERE {where}"
            assert 0 < session.sql(sql, consume=scanned_rows).value <= ROWS / 4, where
        # What ORC compares otherwise is left to Spark.
        for where in ("t = TIMESTAMP '1900-01-01 00:59:59'", "c = 'c5'", "s >= '\uff0c'"):
            sql = f"SELECT * FROM n WHERE {where}"
            assert session.sql(sql, consume=scanned_rows).value > ROWS / 2, where
    finally:
        session.sql("RESET hivesql.scan.filter.min")


def test_every_choice_of_columns_reads_the_same_values(
    many: tuple[hivesql.Session, list[Row]],
) -> None:
    session, rows = many
    names = list(rows[0])
    few = [r for r in rows if r["id"] < 60]
    for chosen in ([name] for name in names):
        found = session.sql(f"SELECT {', '.join(chosen)} FROM n WHERE id < 60").rows
        expected = [tuple(r[name] for name in chosen) for r in few]
        assert sorted(map(repr, map(tuple, found))) == sorted(map(repr, expected)), chosen
    backwards = session.sql(f"SELECT {', '.join(reversed(names))} FROM n WHERE id < 60").rows
    assert sorted(r[-1] for r in backwards) == [r["id"] for r in few]
    assert session.sql("SELECT count(*) FROM n").rows[0][0] == len(rows)
    assert session.sql("SELECT count(row__id.rowid) FROM n").rows[0][0] == len(rows)
    assert session.sql("SELECT DISTINCT row__id.writeid FROM n WHERE s = 'changed'").rows == [(3,)]


def test_columns_are_found_by_position(session: hivesql.Session) -> None:
    acid = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
    session.sql(f"CREATE TABLE p (a INT, b STRING) {acid}; INSERT INTO p VALUES (1, 'x'), (2, 'y')")
    session.sql("ALTER TABLE p CHANGE a renamed INT; ALTER TABLE p CHANGE b a STRING")
    session.sql("INSERT INTO p VALUES (3, 'z')")
    assert session.sql("SELECT renamed, a FROM p WHERE a >= 'y' ORDER BY renamed").rows == [
        (2, "y"), (3, "z"),
    ]  # fmt: skip
    session.sql("UPDATE p SET a = 'changed' WHERE renamed = 1; DELETE FROM p WHERE a = 'y'")
    assert sorted(map(tuple, session.sql("SELECT * FROM p").rows)) == [(1, "changed"), (3, "z")]


def test_stale_checksum_files_do_not_stop_a_reader(session: hivesql.Session) -> None:
    """Amending a file's footer changes it; a checksum of before would make Hadoop refuse it."""
    acid = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
    session.sql(f"CREATE TABLE k (id INT) {acid}; INSERT INTO k VALUES (1); DELETE FROM k")
    home = Path(session.runtime.metastore.database("default").location) / "k"
    assert list(home.rglob("bucket_*"))
    assert not list(home.rglob("*.crc"))
