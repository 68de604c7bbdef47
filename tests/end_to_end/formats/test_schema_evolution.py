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
          UNION ALL SELECT 4, NULL, 'z', if(false, named_struct('f', 7, 'g', array('q')), NULL)
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


def test_types_become_wide_enough_for_the_source(session: hivesql.Session) -> None:
    session.sql("""
        CREATE TABLE t (k INT, s SMALLINT, f FLOAT, d DECIMAL(4,1), st STRUCT<a:INT>,
          l ARRAY<STRUCT<a:INT>>, c VARCHAR(3))
          CLUSTERED BY (k) INTO 2 BUCKETS STORED AS ORC TBLPROPERTIES ('transactional'='true');
        INSERT INTO t SELECT i, i + 1, i - 0.5, i + 9.5, named_struct('a', i),
          array(named_struct('a', i)), 'x' FROM (SELECT explode(array(1, 2)) AS i) q;
        CREATE TABLE s (k BIGINT, s BIGINT, f DOUBLE, d DECIMAL(6,4), st STRUCT<a:BIGINT,b:STRING>,
          l ARRAY<STRUCT<a:INT, b:STRING>>, c STRING) STORED AS ORC;
        INSERT INTO s SELECT 2, 5000000000, 0.1, 12.1234, named_struct('a', 6000000000, 'b', 'q'),
          array(named_struct('a', 7, 'b', 'r')), 'long';
    """)
    plan = [str(row[0]).strip() for row in session.sql(f"EXPLAIN {MERGE}").rows]
    assert [line for line in plan if line.startswith("change column")] == [
        "change column s from smallint to bigint", "change column f from float to double",
        "change column d from decimal(4,1) to decimal(7,4)",
        "change column st from struct<a:int> to struct<a:bigint,b:string>",
        "change column l from array<struct<a:int>> to array<struct<a:int,b:string>>",
    ]  # fmt: skip
    assert session.sql(MERGE).affected == 1
    types = [row[1] for row in session.sql("DESCRIBE t").rows][:7]
    assert types == [
        "int", "bigint", "double", "decimal(7,4)", "struct<a:bigint,b:string>",
        "array<struct<a:int,b:string>>", "varchar(3)",
    ]  # fmt: skip
    query = "SELECT k, s, f, CAST(d AS STRING), st.a, st.b, l[0].a, l[0].b, c FROM t"
    expected: Rows = [
        (1, 2, 0.5, "10.5000", 1, None, 1, None, "x"),
        (2, 5000000000, 0.1, "12.1234", 6000000000, "q", 7, "r", "lon"),
    ]
    assert rows(session, query) == expected
    # The columns of today are those of earlier states, too; compaction writes them anew.
    assert rows(session, f"{query} FOR SYSTEM_VERSION AS OF 1") == [
        expected[0], (2, 3, 1.5, "11.5000", 2, None, 2, None, "x"),
    ]  # fmt: skip
    session.sql("ALTER TABLE t COMPACT 'major' AND WAIT")
    assert rows(session, query) == expected
    assert "change column" not in str(session.sql(f"EXPLAIN {MERGE}").rows)
    # A struct with other fields is no wider one.
    other = "SELECT 1 AS k, named_struct('b', 'x') AS st"
    with pytest.raises(HiveSqlError, match="st"):
        session.sql(f"MERGE WITH SCHEMA EVOLUTION INTO t USING ({other}) s ON t.k = s.k {ALL}")
    assert rows(session, query) == expected


def test_what_fails_adds_nothing(tables: hivesql.Session) -> None:
    before = rows(tables, "SELECT * FROM t")
    tables.sql("INSERT INTO s SELECT * FROM s")
    with pytest.raises(HiveSqlError, match="Cardinality"):
        tables.sql(MERGE)
    tables.sql("START TRANSACTION")
    with pytest.raises(ExecutionError, match="adds or changes columns is not allowed") as error:
        tables.sql(MERGE)
    assert error.value.code == 20007
    for source, code in (
        ("SELECT 1 k, NULL n", 10305),
        ("SELECT 1 k, 2 n, 3 n", 10036),
        ("SELECT 1 k, INTERVAL '1' DAY n", 40000),
    ):
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
