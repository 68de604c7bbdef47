"""COMPACT 'rebalance' … ORDER BY ZORDER(…): lookups by any column of it read a part of a table."""

from __future__ import annotations

import re

import pytest

import hivesql
from hivesql_planner.errors import HiveSqlError

pytestmark = pytest.mark.spark

ROWS = "SELECT posexplode(split(space(79999), ' ')) AS (k, x)"
PROPERTIES = "'transactional'='true', 'orc.row.index.stride'='1000'"


@pytest.fixture
def table(session: hivesql.Session) -> hivesql.Session:
    """80 row groups; three columns in no order, and one without values."""
    session.sql(f"""
        SET hivesql.local.max.bytes=0;
        CREATE TABLE t (k INT, a BIGINT, u STRING, d DATE, e DOUBLE, m MAP<STRING,INT>)
          STORED AS ORC TBLPROPERTIES ({PROPERTIES});
        INSERT INTO t SELECT k, pmod(k * 7919, 80000),
          concat('user-', sha2(cast(k AS string), 256)),
          date_add('1850-01-01', cast(pmod(k * 104729, 80000) AS INT)), NULL, NULL
          FROM ({ROWS}) q;
        UPDATE t SET a = NULL, d = NULL WHERE k = 17;
        DELETE FROM t WHERE k = 18
    """)
    return session


def share(session: hivesql.Session, condition: str) -> float:
    """How many of the row groups are read."""
    lines = session.sql(f"EXPLAIN ANALYZE SELECT * FROM t WHERE {condition}").rows
    match = re.search(r"(\d+) row groups read, (\d+) skipped", "\n".join(str(row) for row in lines))
    assert match is not None, lines
    read, skipped = int(match[1]), int(match[2])
    return read / (read + skipped)


def test_lookups_by_any_column_read_a_part(table: hivesql.Session) -> None:
    conditions = ["d = '1983-05-06'", f"u = concat('user-', sha2('{77}', 256))"]
    asked = [f"SELECT * FROM t WHERE {condition}" for condition in (*conditions, "a IS NULL")]
    asked.append("SELECT count(*), sum(k), sum(a), min(u), max(d) FROM t")
    before = [table.sql(sql).rows for sql in asked]
    assert [len(rows) for rows in before] == [1, 1, 1, 1]
    table.sql("ALTER TABLE t COMPACT 'rebalance' AND WAIT ORDER BY ZORDER(d, u, e)")
    assert [table.sql(sql).rows for sql in asked] == before
    shares = [share(table, condition) for condition in conditions]
    assert max(shares) <= 0.3, shares


@pytest.mark.parametrize(("keys", "place"), [
    ("ZORDER(a, m)", "ZORDER of m, which is map"),
    ("ZORDER(a, u, a)", "ZORDER of a twice"),
    ("ZORDER(a, nosuch)", "Invalid column reference nosuch"),
    ("ZORDER(a), k", "ORDER BY of ZORDER and something else"),
    ("ZORDER()", "expected a column name"),
])  # fmt: skip
def test_what_has_no_z_order(session: hivesql.Session, keys: str, place: str) -> None:
    columns = "(k INT, a BIGINT, u STRING, m MAP<STRING,INT>)"
    session.sql(f"CREATE TABLE t {columns} STORED AS ORC TBLPROPERTIES ({PROPERTIES})")
    with pytest.raises(HiveSqlError, match=re.escape(place)) as error:
        session.sql(f"ALTER TABLE t COMPACT 'rebalance' ORDER BY {keys}")
    assert error.value.line == 1
    with pytest.raises(HiveSqlError, match="anything but 'rebalance'"):
        session.sql("ALTER TABLE t COMPACT 'major' ORDER BY ZORDER(a, u)")
    session.sql("ALTER TABLE t COMPACT 'rebalance' AND WAIT ORDER BY ZORDER(a, u)")


def test_a_table_without_rows(session: hivesql.Session) -> None:
    session.sql(f"""
        CREATE TABLE t (a INT, b INT) STORED AS ORC TBLPROPERTIES ({PROPERTIES});
        INSERT INTO t VALUES (1, 2);
        DELETE FROM t;
        ALTER TABLE t COMPACT 'rebalance' AND WAIT ORDER BY ZORDER(a, b)
    """)
    assert session.sql("SELECT * FROM t").rows == []
