"""Bloom filters of ORC: written where a table's properties ask for them, and used."""

from __future__ import annotations

import re
from pathlib import Path

import pyorc
import pytest

import hivesql

pytestmark = pytest.mark.spark

ROWS = "SELECT posexplode(split(space(49999), ' ')) AS (k, x)"
VALUES = (
    "SELECT k, sha2(cast(k AS string), 256), named_struct('a', k), pmod(k * 7919, 50000) "
    f"FROM ({ROWS}) q"
)
COLUMNS = "(k INT, u STRING, s STRUCT<a:INT>, r INT)"
BLOOM = "'orc.bloom.filter.columns'='U, r, nosuch'"


def filtered(warehouse: Path, table: str) -> dict[str, set[int]]:
    """The numbers of the columns with filters, of each file of rows."""
    found = {}
    for path in sorted((warehouse / table).rglob("*0000*")):
        if path.is_file() and not path.name.startswith((".", "_")):
            with path.open("rb") as file:
                stripes = list(pyorc.Reader(file).iter_stripes())
                columns = {tuple(stripe.bloom_filter_columns) for stripe in stripes}
            found[str(path.relative_to(warehouse / table))] = {i for ids in columns for i in ids}
    return found


def row_groups(session: hivesql.Session, sql: str) -> tuple[int, int]:
    """How many were read and skipped."""
    text = "\n".join(str(row[0]) for row in session.sql(f"EXPLAIN ANALYZE {sql}").rows)
    match = re.search(r"(\d+) row groups read, (\d+) skipped", text)
    assert match is not None, text
    return int(match[1]), int(match[2])


def test_lookups_skip_row_groups(session: hivesql.Session, tmp_path: Path) -> None:
    """By text and by number, of a table of which some was written before and some without Spark."""
    session.sql(f"""
        SET hivesql.local.max.bytes=0;
        CREATE TABLE t {COLUMNS} STORED AS ORC TBLPROPERTIES ('transactional'='true');
        INSERT INTO t {VALUES}
    """)
    warehouse = tmp_path / "warehouse"
    assert list(filtered(warehouse, "t").values()) == [set()]
    lookups = [
        f"SELECT * FROM t WHERE {condition}"
        for condition in (f"u = sha2('{31 * 1000}', 256)", "r IN (SELECT r FROM t WHERE k = 77)")
    ]
    expected = [session.sql(sql).rows for sql in lookups]
    assert row_groups(session, lookups[0]) == (5, 0)
    session.sql(f"ALTER TABLE t SET TBLPROPERTIES ({BLOOM})")
    session.sql("INSERT INTO t SELECT 50000, 'x', named_struct('a', 1), 1")
    session.sql("SET hivesql.local.max.bytes=16777216")
    session.sql("INSERT INTO t VALUES (50001, 'y', NULL, 2)")
    before, small, smaller = filtered(warehouse, "t").values()
    # Those of the row come after the five of an event.
    assert (before, small, smaller) == (set(), {8, 11}, {8, 11})
    session.sql("SET hivesql.local.max.bytes=0; ALTER TABLE t COMPACT 'major' AND WAIT")
    base = [ids for name, ids in filtered(warehouse, "t").items() if name.startswith("base")]
    assert base == [{8, 11}]
    assert [session.sql(sql).rows for sql in lookups] == expected
    assert row_groups(session, lookups[0]) == (1, 5)


def test_tables_without_row_ids(session: hivesql.Session, tmp_path: Path) -> None:
    for name, properties in (
        ("plain", BLOOM),
        ("inserts", f"{BLOOM}, 'transactional'='true', 'transactional_properties'='insert_only'"),
    ):
        session.sql(f"CREATE TABLE {name} {COLUMNS} STORED AS ORC TBLPROPERTIES ({properties})")
        session.sql(f"INSERT INTO {name} {VALUES}")
        assert list(filtered(tmp_path / "warehouse", name).values()) == [{2, 5}]
    session.sql(f"INSERT INTO inserts {VALUES}; ALTER TABLE inserts COMPACT 'major' AND WAIT")
    base = [
        ids for name, ids in filtered(tmp_path / "warehouse", "inserts").items() if "base" in name
    ]
    assert base == [{2, 5}]
    assert (
        session.sql("SELECT count(*) FROM inserts WHERE r = 1").rows
        == session.sql("SELECT 2 * count(*) FROM plain WHERE r = 1").rows
    )
