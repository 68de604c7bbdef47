"""What the relations of a query are, whatever Spark calls them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hivesql_planner.errors import HiveSqlError, SemanticError

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


def test_rows_tell_the_files_that_they_are_in(session: hivesql.Session) -> None:
    acid = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
    insert_only = acid.replace(")", ", 'transactional_properties'='insert_only')")
    session.sql(f"""
        CREATE TABLE texts (a int, b string) PARTITIONED BY (p string) STORED AS TEXTFILE;
        INSERT INTO texts PARTITION (p='x y+z') VALUES (1, 'x'), (2, 'yy');
        CREATE TABLE acid (a int, b string) {acid};
        INSERT INTO acid VALUES (1, 'x'), (2, 'y'), (3, 'z');
        UPDATE acid SET b = 'q' WHERE a = 2;
        CREATE TABLE inserted (a int) {insert_only};
        INSERT INTO inserted VALUES (1);
        CREATE TABLE parquet_files (a int) STORED AS PARQUET;
        INSERT INTO parquet_files VALUES (1);
        CREATE TABLE avro_files (a int) PARTITIONED BY (p string) STORED AS AVRO;
        CREATE TABLE framed (a int) TBLPROPERTIES
          ('skip.header.line.count'='1', 'skip.footer.line.count'='1');
    """)
    # Rows of Avro come from Python, those of text with footers from other tasks.
    for number in (1, 2, 3):
        session.sql(f"INSERT INTO avro_files VALUES ({number}, 'x y+z')")
        session.sql(f"INSERT INTO framed VALUES (0), ({number}), (0)")

    def told(table: str, what: str = "") -> list[tuple[object, ...]]:
        short = f"regexp_extract({table}.input__file__name, '^file:/[^/].*/({table}/.*)', 1)"
        found = session.sql(f"SELECT a, {short} AS f{what} FROM {table} ORDER BY a").rows
        return [tuple(row) for row in found]

    first, second = (f"acid/delta_000000{n}_000000{n}_000{n - 1}/bucket_00000" for n in (1, 2))
    assert told("acid", ", row__is__deleted") == [
        (1, first, False), (2, second, False), (3, first, False),
    ]  # fmt: skip
    assert told("texts", ", row__is__deleted") == [
        (1, "texts/p=x y+z/000000_0", None), (2, "texts/p=x y+z/000000_0", None),
    ]  # fmt: skip
    assert told("inserted") == [(1, "inserted/delta_0000001_0000001_0000/000000_0")]
    assert told("parquet_files") == [(1, "parquet_files/000000_0")]
    files = ("000000_0", "000000_0_copy_1", "000000_0_copy_2")
    for table, home in (("avro_files", "avro_files/p=x y+z"), ("framed", "framed")):
        assert told(table) == [(n, f"{home}/{file}") for n, file in enumerate(files, 1)]
    assert len(session.sql("SELECT *, input__file__name FROM acid").columns) == 3
    joined = "SELECT t.input__file__name FROM acid x JOIN texts t ON x.a = t.a WHERE x.a = 2"
    assert session.sql(joined).scalar().endswith("/texts/p=x y+z/000000_0")
    with pytest.raises(SemanticError) as caught:
        session.sql("SELECT input__file__name FROM acid x JOIN texts t ON x.a = t.a")
    assert caught.value.code == 10007
    session.sql("""
        UPDATE acid SET b = regexp_extract(input__file__name, '.*/(.*)/[^/]*', 1) WHERE a > 1;
        DELETE FROM acid WHERE input__file__name LIKE '%delta_0000001%'
    """)
    assert sorted(map(tuple, session.sql("SELECT * FROM acid").rows)) == [
        (2, "delta_0000002_0000002_0001"), (3, "delta_0000001_0000001_0000"),
    ]  # fmt: skip


def test_deleted_rows_where_they_are_asked_for(session: hivesql.Session) -> None:
    """With the answers of Hive 4.1: the write of a deleted row's id is the one that deleted it."""
    session.sql("""
        CREATE TABLE t (i INT, s STRING) STORED AS ORC TBLPROPERTIES ('transactional'='true');
        INSERT INTO t VALUES (1,'a'),(2,'b'),(3,'c');
        DELETE FROM t WHERE i = 1; UPDATE t SET s = 'bb' WHERE i = 2
    """)
    shown = "t('acid.fetch.deleted.rows'='true')"
    first, second = 536870912, 536870913
    asked = f"SELECT ROW__IS__DELETED, ROW__ID, * FROM {shown} ORDER BY i, s"
    assert [(row[0], tuple(row[1]), *row[2:]) for row in session.sql(asked).rows] == [
        (True, (2, first, 0), 1, "a"), (True, (3, first, 1), 2, "b"),
        (False, (3, second, 0), 2, "bb"), (False, (1, first, 2), 3, "c"),
    ]  # fmt: skip
    assert session.sql("SELECT ROW__IS__DELETED, * FROM t ORDER BY i").rows == [
        (False, 2, "bb"), (False, 3, "c"),
    ]  # fmt: skip
    gone = f"SELECT x.i, x.s FROM {shown} x WHERE x.ROW__IS__DELETED ORDER BY i"
    assert session.sql(gone).rows == [(1, "a"), (2, "b")]
    session.sql("""
        ALTER TABLE t SET TBLPROPERTIES ('acid.fetch.deleted.rows'='true');
        UPDATE t SET s = 'cc' WHERE i = 3
    """)
    assert session.sql("SELECT count(*), count(DISTINCT i) FROM t").rows == [(5, 3)]
    past = "SELECT i, ROW__IS__DELETED FROM t FOR SYSTEM_VERSION AS OF 2 ORDER BY i"
    assert session.sql(past).rows == [(1, True), (2, False), (3, False)]
    session.sql("ALTER TABLE t UNSET TBLPROPERTIES ('acid.fetch.deleted.rows')")
    assert session.sql("SELECT s FROM t ORDER BY s").rows == [("bb",), ("cc",)]


MAP = "map('a', {}, 'b', 2)"


@pytest.mark.parametrize(
    "value",
    [MAP, f"array({MAP})", f"map(1, {MAP})", f"named_struct('x', 1, 'm', {MAP})",
     f"array(named_struct('y', array({MAP}), 'z', 'w'))"],
)  # fmt: skip
def test_maps_are_compared_wherever_they_are(session: hivesql.Session, value: str) -> None:
    """Each row of i is the same map as another row of i, and no row of another."""
    session.sql("CREATE TABLE t (i INT); INSERT INTO t VALUES (1), (1), (2), (3)")
    one, two = (f"SELECT {value.format('i')} AS m FROM t WHERE i {test}" for test in ("< 3", "> 1"))

    def rows_of(query: str) -> list[str]:
        kinds = {value.format(i): i for i in "123"}
        texts = {str(session.sql(f"SELECT {text}").rows[0][0]): i for text, i in kinds.items()}
        return sorted(texts[str(row[0])] for row in session.sql(query).rows)

    assert rows_of(f"{one} INTERSECT {two}") == ["2"]
    assert rows_of(f"{one} EXCEPT {two}") == ["1"]
    assert rows_of(f"{one} EXCEPT ALL {two}") == ["1", "1"]
    assert rows_of(f"({one}) INTERSECT ALL ({one}) LIMIT 9") == ["1", "1", "2"]
    assert rows_of(f"({one} LIMIT 9) UNION ALL ({two}) EXCEPT SELECT {value.format(3)}") == [
        "1", "2",
    ]  # fmt: skip
    assert rows_of(f"SELECT * FROM ({one}) q WHERE m IN ({two})") == ["2"]
    assert rows_of(f"SELECT * FROM ({one}) q WHERE NOT m NOT IN ({two})") == ["2"]
    assert rows_of(f"SELECT * FROM ({one}) q WHERE m NOT IN ({two})") == ["1", "1"]
    told = session.sql(f"SELECT m IN ({two}), m NOT IN ({two}) FROM ({one}) q").rows
    assert sorted(map(tuple, told)) == [(False, True), (False, True), (True, False)]


@pytest.mark.parametrize(
    ("sql", "place"),
    [
        ("SELECT 1,\n  m + 1 FROM {t}", ((2, 3), (2, 8))),
        ("SELECT `m`['a'], sort_array( m ) FROM {t}", ((1, 18), (1, 33))),
        ("SELECT a FROM {t} ORDER BY\n sum(a)", ((1, 17), (2, 8))),
        ("INSERT INTO {t} SELECT 1, CAST(m AS int) FROM {t}", ((1, 25), (1, 39))),
        # Twice the same: nobody knows which.
        ("SELECT m + 1, m + 1 FROM {t}", ((1, 1), None)),
    ],
)
def test_what_spark_finds_is_told_where_it_stands(
    session: hivesql.Session, sql: str, place: tuple[tuple[int, int], tuple[int, int] | None]
) -> None:
    session.sql("CREATE TABLE p (a int, m map<string,int>)")
    with pytest.raises(HiveSqlError, match="cannot be analysed") as caught:
        session.sql(sql.format(t="p"))
    assert caught.value.line is not None
    assert caught.value.column is not None
    assert ((caught.value.line, caught.value.column), caught.value.end) == place


@pytest.mark.slow
def test_tables_over_tables(session: hivesql.Session) -> None:
    """Of each Spark's analyzer may need a round."""
    names = ["SELECT 1 AS x", *(f"SELECT x + 1 AS x FROM q{n}" for n in range(119))]
    tables = ", ".join(f"q{n} AS ({query})" for n, query in enumerate(names))
    assert session.sql(f"WITH {tables} SELECT x FROM q119").rows == [(120,)]
