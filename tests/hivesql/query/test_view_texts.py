"""What SHOW and DESCRIBE tell of views, partitions and patterns, as real Hive 4.1 answers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import hivesql

SETUP = """
    CREATE TABLE o1 (a INT, b STRING, c INT);
    CREATE TABLE o2 (a INT, b STRING, c INT);
    CREATE VIEW vv1 AS SELECT a FROM o1;
    CREATE TRANSACTIONAL TABLE k (a INT, b STRING CONSTRAINT nn NOT NULL ENABLE, CONSTRAINT pk
      PRIMARY KEY (a) DISABLE NOVALIDATE) PARTITIONED BY (d DATE, i BOOLEAN, n INT) STORED AS ORC;
    ALTER TABLE k ADD PARTITION (d='2020-01-01', i=true, n=3);
    ALTER TABLE k ADD PARTITION (d='2020-01-02', i=false, n=4)
"""
FROM = "FROM `default`.`o1`"
VIEWS = {
    "SELECT a, b FROM o1 GROUP BY a, b ORDER BY b, a DESC":
        f"SELECT `o1`.`a`, `o1`.`b` {FROM} GROUP BY `o1`.`a`, `o1`.`b` "
        "ORDER BY `o1`.`b`, `o1`.`a` DESC",
    "SELECT a, max(b) b FROM o1 GROUP BY a ORDER BY b, a":
        f"SELECT `o1`.`a`, max(`o1`.`b`) `b` {FROM} GROUP BY `o1`.`a` ORDER BY b, `o1`.`a`",
    "SELECT a FROM o1 ORDER BY a + 1": f"SELECT `o1`.`a` {FROM} ORDER BY `o1`.`a` + 1",
    "SELECT * FROM o1 ORDER BY b":
        f"SELECT `o1`.`a`, `o1`.`b`, `o1`.`c` {FROM} ORDER BY `o1`.`b`",
    "SELECT a x, b FROM o1 ORDER BY x, b, c":
        f"SELECT `o1`.`a` `x`, `o1`.`b` {FROM} ORDER BY x, `o1`.`b`, `o1`.`c`",
    "SELECT a AS a FROM o1 SORT BY a": f"SELECT `o1`.`a` AS `a` {FROM} SORT BY `o1`.`a`",
    "SELECT DISTINCT a FROM o1 ORDER BY a": f"SELECT DISTINCT `o1`.`a` {FROM} ORDER BY `o1`.`a`",
    "SELECT a FROM o1 DISTRIBUTE BY a SORT BY a":
        f"SELECT `o1`.`a` {FROM} DISTRIBUTE BY a SORT BY `o1`.`a`",
    "SELECT x.a FROM (SELECT a FROM o1 ORDER BY a LIMIT 3) x":
        f"SELECT `x`.`a` FROM (SELECT `o1`.`a` {FROM} ORDER BY `o1`.`a` LIMIT 3) `x`",
    "WITH q AS (SELECT a FROM o1 ORDER BY a LIMIT 2) SELECT a FROM q ORDER BY a":
        f"WITH q AS (SELECT `o1`.`a` {FROM} ORDER BY `o1`.`a` LIMIT 2) "
        "SELECT `q`.`a` FROM q ORDER BY `q`.`a`",
    "SELECT o1.a, o2.b FROM o1 JOIN o2 ON o1.a = o2.a ORDER BY b, a":
        f"SELECT `o1`.`a`, `o2`.`b` {FROM} JOIN `default`.`o2` ON `o1`.`a` = `o2`.`a` "
        "ORDER BY `o2`.`b`, `o1`.`a`",
}  # fmt: skip
"""A view's query, and Hive's text of it."""
PATTERNS = {
    "SHOW EXTENDED TABLES 'o*'": ["o1", "o2"],
    "SHOW EXTENDED TABLES 'o%'": ["o1", "o2"],
    "SHOW EXTENDED TABLES 'o1|vv1'": ["o1", "vv1"],
    "SHOW EXTENDED TABLES IN default 'o.'": ["o1", "o2"],
    "SHOW EXTENDED TABLES 'zz*'": [],
    "SHOW TABLE EXTENDED LIKE 'o*'": [],
    "SHOW TABLE EXTENDED LIKE 'o1|o2'": [],
    "SHOW VIEWS 'vv.'": ["vv1"],
    "SHOW TABLES 'o.|v*'": ["o1", "o2", "vv1"],
}


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[hivesql.Session]:
    place = Path(tmp_path_factory.mktemp("shown"))
    with hivesql.connect(f"sqlite:///{place}/m.db", str(place / "w")) as session:
        session.sql(SETUP)
        yield session


def first_column(session: hivesql.Session, sql: str) -> list[str]:
    return [row[0].strip() for row in session.sql(sql).rows]


@pytest.mark.parametrize("query", VIEWS)
def test_a_view_is_told_in_hives_words(session: hivesql.Session, query: str) -> None:
    session.sql(f"CREATE OR REPLACE VIEW w AS {query}")
    text = "\n".join(first_column(session, "SHOW CREATE TABLE w"))
    assert text == f"CREATE VIEW `w` AS {VIEWS[query]}"


def test_a_name_that_the_view_gives_stays(session: hivesql.Session) -> None:
    """Hive orders by the table's column there, other than the query that the view was made of."""
    session.sql("CREATE OR REPLACE VIEW w AS SELECT -a AS a FROM o1 ORDER BY a")
    (text,) = first_column(session, "SHOW CREATE TABLE w")
    assert text.endswith("ORDER BY a")


@pytest.mark.spark
def test_such_views_answer_as_their_queries(session: hivesql.Session) -> None:
    values = "(3, 'x', 5), (1, 'z', 7), (2, 'y', 6)"
    session.sql(f"INSERT INTO o1 VALUES {values}; INSERT INTO o2 VALUES {values}")
    for query in (*VIEWS, "SELECT -a AS a FROM o1 ORDER BY a"):
        session.sql(f"CREATE OR REPLACE VIEW w AS {query}")
        assert session.sql("SELECT * FROM w").rows == session.sql(query).rows, query


@pytest.mark.parametrize("sql", PATTERNS)
def test_patterns(session: hivesql.Session, sql: str) -> None:
    rows = first_column(session, sql)
    assert [name for name in rows if name != "# Table Name"] == PATTERNS[sql]


def test_partitions_are_described_with_the_tables_constraints(session: hivesql.Session) -> None:
    place = "k PARTITION (d='2020-01-01', i=true, n=3)"
    formatted = [" ".join(map(str.strip, row)).strip()
                 for row in session.sql(f"DESCRIBE FORMATTED {place}").rows]  # fmt: skip
    start = formatted.index("# Constraints")
    assert [line for line in formatted[start:] if line] == [
        "# Constraints", "# Primary Key", "Table: default.k", "Constraint Name: pk",
        "Column Name: a", "# Not Null Constraints", "Table: default.k", "Constraint Name: nn",
        "Column Name: b",
    ]  # fmt: skip
    extended = first_column(session, f"DESCRIBE EXTENDED {place}")
    assert extended[-2:] == [
        "Constraints",
        "Not Null Constraints for default.k:[ {Constraint Name: nn, Column Name: b}]",
    ]


def test_key_columns_are_described_as_hive_knows_them(session: hivesql.Session) -> None:
    described = {
        key: dict(row[:2] for row in session.sql(f"DESCRIBE FORMATTED k {key}").rows)
        for key in "din"
    }
    shown = [[of_key[name] for name in ("min", "max", "distinct_count")]
             for of_key in described.values()]  # fmt: skip
    assert shown == [["", "", "2"], ["", "", ""], ["3", "4", "2"]]
    assert (described["i"]["num_trues"], described["i"]["num_falses"]) == ("0", "0")
