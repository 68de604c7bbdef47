"""What the relations of a query are, whatever Spark calls them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import hivesql

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("kind", ["TEXTFILE", "ORC"])
def test_tables_have_no_columns_of_sparks(session: hivesql.Session, kind: str) -> None:
    session.sql(f"""
        CREATE TABLE own (`_metadata` int, k int) STORED AS ORC
          TBLPROPERTIES ('transactional'='true');
        INSERT INTO own VALUES (1, 1), (NULL, 2);
        CREATE TABLE other (a int) STORED AS {kind};
        INSERT INTO other VALUES (1), (3);
    """)

    exists = "SELECT k FROM own WHERE EXISTS (SELECT 1 FROM other WHERE `_metadata` IS NULL)"
    assert [row.k for row in session.sql(exists).rows] == [2]
    among = "SELECT k FROM own WHERE k IN (SELECT a FROM other WHERE `_metadata` > 0)"
    assert [row.k for row in session.sql(among).rows] == [1]
    having = "SELECT a, count(*) AS `_metadata` FROM other GROUP BY a HAVING `_metadata` > 0"
    assert sorted(map(tuple, session.sql(having).rows)) == [(1, 1), (3, 1)]


def test_names_of_databases_and_tables_do_not_run_into_each_other(
    session: hivesql.Session,
) -> None:
    session.sql("""
        CREATE DATABASE a;
        CREATE DATABASE a__b;
        CREATE TABLE a.b__c (x int) STORED AS ORC TBLPROPERTIES ('transactional'='true');
        CREATE TABLE a__b.c (x int) STORED AS ORC TBLPROPERTIES ('transactional'='true');
        INSERT INTO a.b__c VALUES (1);
        INSERT INTO a__b.c VALUES (2);
    """)

    rows = session.sql("SELECT p.x, q.x FROM a.b__c p CROSS JOIN a__b.c q").rows

    assert [tuple(row) for row in rows] == [(1, 2)]


def test_a_window_of_a_query_may_ask_another_table(session: hivesql.Session) -> None:
    session.sql("""
        CREATE TABLE t (a int) STORED AS ORC TBLPROPERTIES ('transactional'='true');
        CREATE TABLE u (a int) STORED AS ORC TBLPROPERTIES ('transactional'='true');
        INSERT INTO t VALUES (1), (2), (3);
        INSERT INTO u VALUES (1);
    """)

    rows = session.sql(
        "SELECT a, sum(a) OVER w FROM t WINDOW w AS (PARTITION BY a > (SELECT min(a) FROM u))"
    ).rows

    assert sorted(map(tuple, rows)) == [(1, 1), (2, 5), (3, 5)]
