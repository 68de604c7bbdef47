"""MERGE WITH SCHEMA EVOLUTION: a table gets the columns of its source with the rows."""

from __future__ import annotations

import pytest

import hivesql
from hivesql.dry_run import rehearse
from hivesql_planner.errors import ExecutionError, HiveSqlError, SemanticError

pytestmark = pytest.mark.spark

ALL = "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
MERGE = f"MERGE WITH SCHEMA EVOLUTION INTO t USING s ON t.k = s.k {ALL}"
Rows = list[tuple[object, ...]]


@pytest.fixture
def tables(session: hivesql.Session) -> hivesql.Session:
    """The source lacks a column of the target and has two that the target lacks."""
    session.sql("""
        CREATE TABLE t (k INT, v STRING) PARTITIONED BY (p STRING) STORED AS ORC
          TBLPROPERTIES ('transactional'='true');
        INSERT INTO t PARTITION (p) VALUES (1, 'a', 'x'), (2, 'b', 'x'), (3, 'c', 'y');
        CREATE TABLE s (k INT, n DECIMAL(5,2), p STRING, st STRUCT<f:INT, g:ARRAY<STRING>>)
          STORED AS ORC;
        INSERT INTO s SELECT 1, 1.5, 'x', named_struct('f', 7, 'g', array('q'))
          UNION ALL SELECT 4, NULL, 'z', NULL
    """)
    return session


def rows(session: hivesql.Session, query: str = "SELECT k, v, n, st.f, st.g[0], p FROM t") -> Rows:
    return sorted((tuple(row) for row in session.sql(query).rows), key=repr)


def columns(session: hivesql.Session) -> list[str]:
    return [str(row[0]) for row in session.sql("SHOW COLUMNS IN t").rows]


def test_new_columns_come_with_the_rows(tables: hivesql.Session) -> None:
    (step,) = rehearse(tables, MERGE, None)
    plan = [str(row[0]) for row in tables.sql(f"EXPLAIN {MERGE}").rows]
    assert tuple(plan) == step.lines
    assert "  add columns n decimal(5,2), st struct<f:int,g:array<string>>" in plan
    assert columns(tables) == ["k", "v", "p"]
    before = tables.sql("DESCRIBE HISTORY t LIMIT 1").rows[0][0]
    assert tables.sql(MERGE).affected == 2
    expected: Rows = [
        (1, "a", 1.5, 7, "q", "x"),
        (2, "b", None, None, None, "x"),
        (3, "c", None, None, None, "y"),
        (4, None, None, None, None, "z"),
    ]
    assert [(*row[:2], row[2] and float(str(row[2])), *row[3:]) for row in rows(tables)] == expected
    assert columns(tables) == ["k", "v", "n", "st", "p"]
    for partition in ("x", "z"):
        described = tables.sql(f"DESCRIBE t PARTITION (p='{partition}')").rows
        assert [row[0] for row in described][:4] == ["k", "v", "n", "st"]
    for kind in ("minor", "major"):
        tables.sql(f"ALTER TABLE t PARTITION (p='x') COMPACT '{kind}' AND WAIT")
        assert len(rows(tables)) == 4
        assert rows(tables, "SELECT k, st.f FROM t WHERE p = 'x'") == [(1, 7), (2, None)]
    earlier = rows(tables, f"SELECT k, v, n FROM t FOR SYSTEM_VERSION AS OF {before} WHERE p = 'y'")
    assert earlier == [(3, "c", None)]
    # Again there is nothing to add.
    assert "add columns" not in str(tables.sql(f"EXPLAIN {MERGE}").rows)
    assert tables.sql(MERGE).affected == 2


def test_what_fails_adds_nothing(tables: hivesql.Session) -> None:
    before = rows(tables, "SELECT * FROM t")
    tables.sql("INSERT INTO s SELECT * FROM s")
    with pytest.raises(HiveSqlError, match="Cardinality"):
        tables.sql(MERGE)
    tables.sql("START TRANSACTION")
    with pytest.raises(ExecutionError, match="adds columns is not allowed") as error:
        tables.sql(MERGE)
    assert error.value.code == 20007
    for source, code in (("SELECT 1 k, NULL n", 10305), ("SELECT 1 k, 2 n, 3 n", 10036)):
        with pytest.raises(SemanticError) as refused:
            tables.sql(f"MERGE WITH SCHEMA EVOLUTION INTO t USING ({source}) s ON t.k = s.k {ALL}")
        assert (refused.value.code, refused.value.line) == (code, 1)
    assert columns(tables) == ["k", "v", "p"]
    assert rows(tables, "SELECT * FROM t") == before


def test_named_columns_are_those_that_are_there(tables: hivesql.Session) -> None:
    """Only * takes columns that the table lacks."""
    when = "WHEN NOT MATCHED THEN INSERT (k, n) VALUES (s.k, s.n)"
    with pytest.raises(SemanticError, match="'n' in the INSERT of MERGE is not a column"):
        tables.sql(f"MERGE WITH SCHEMA EVOLUTION INTO t USING s ON t.k = s.k {when}")
