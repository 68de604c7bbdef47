"""SHOW and DESCRIBE against what real Hive 4.1 answers; nothing here needs Spark."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import hivesql
from hivesql_planner.errors import HiveSqlError
from hivesql_planner.model.table import TableName

SETUP = """
    CREATE DATABASE dd COMMENT 'it''s' LOCATION '{root}/ddloc' MANAGEDLOCATION '{root}/ddm'
        WITH DBPROPERTIES ('a'='b');
    CREATE TABLE p (a int COMMENT 'ca', b string) COMMENT 'tabc'
        PARTITIONED BY (ds string COMMENT 'pc', hr int)
        CLUSTERED BY (a) SORTED BY (b DESC, a) INTO 4 BUCKETS
        ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' ESCAPED BY '\\\\' NULL DEFINED AS 'NN'
        STORED AS TEXTFILE TBLPROPERTIES ('x'='y');
    ALTER TABLE p ADD PARTITION (ds='1', hr=2) PARTITION (ds='1', hr=10) PARTITION (ds='2', hr=3);
    CREATE EXTERNAL TABLE dd.e (a int, m map<string,array<int>>) STORED AS PARQUET;
    CREATE VIEW v COMMENT 'vc' AS SELECT a FROM p;
"""


@pytest.fixture
def session(tmp_path: Path) -> Iterator[hivesql.Session]:
    with hivesql.connect(f"sqlite:///{tmp_path}/metastore.db", str(tmp_path / "wh")) as session:
        session.sql(SETUP.replace("it''s", "its").format(root=tmp_path))
        yield session


def rows(session: hivesql.Session, sql: str) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in session.sql(sql).rows]


SHOWN: dict[str, tuple[str, ...]] = {
    "SHOW DATABASES": ("dd", "default"),
    "SHOW SCHEMAS LIKE 'd%'": ("dd", "default"),
    "SHOW TABLES": ("p", "v"),
    "SHOW TABLES '*'": ("p", "v"),
    "SHOW TABLES LIKE 'v*|x*'": ("v",),
    "SHOW TABLES IN dd": ("e",),
    "SHOW TABLES WHERE `table_type` = 'VIRTUAL_VIEW'": ("v",),
    "SHOW VIEWS": ("v",),
    "SHOW VIEWS IN dd": (),
    "SHOW MATERIALIZED VIEWS": (),
    "SHOW EXTENDED TABLES": (
        "# Table Name|Table Type", "p|MANAGED_TABLE", "v|VIRTUAL_VIEW"),
    "SHOW PARTITIONS p": ("ds=1/hr=10", "ds=1/hr=2", "ds=2/hr=3"),
    "SHOW PARTITIONS p PARTITION (ds='1')": ("ds=1/hr=10", "ds=1/hr=2"),
    "SHOW PARTITIONS p PARTITION (ds='7')": (),
    "SHOW PARTITIONS p WHERE hr >= 3 ORDER BY hr DESC": ("ds=2/hr=3", "ds=1/hr=10"),
    "SHOW PARTITIONS p ORDER BY hr LIMIT 2": ("ds=1/hr=10", "ds=1/hr=2"),
    "SHOW PARTITIONS p WHERE ds = '1' AND hr < 10": ("ds=1/hr=2",),
    "SHOW PARTITIONS p WHERE hr = 10 OR ds LIKE '2%' AND NOT hr < 3": ("ds=1/hr=10", "ds=2/hr=3"),
    "SHOW PARTITIONS p WHERE (hr = 10 OR ds = '2') AND hr != 3": ("ds=1/hr=10",),
    "SHOW PARTITIONS p WHERE hr IN (2, '3')": ("ds=1/hr=2", "ds=2/hr=3"),
    "SHOW PARTITIONS p WHERE hr NOT IN (2, 3)": ("ds=1/hr=10",),
    "SHOW PARTITIONS p WHERE hr BETWEEN 3 AND 10 LIMIT 1": ("ds=1/hr=10",),
    "SHOW PARTITIONS p WHERE hr NOT BETWEEN 3 AND 10": ("ds=1/hr=2",),
    "SHOW PARTITIONS p WHERE NOT (ds LIKE '1' OR hr = 2)": ("ds=2/hr=3",),
    "SHOW PARTITIONS p WHERE ds NOT LIKE '1'": ("ds=2/hr=3",),
    "SHOW COLUMNS IN p": ("a", "b", "ds", "hr"),
    "SHOW COLUMNS FROM p LIKE 'd*|h*'": ("ds", "hr"),
    "SHOW COLUMNS FROM p '[AB]'": ("a", "b"),
    "SHOW COLUMNS FROM p '(a|d)*'": ("a", "ds"),
    "SHOW COLUMNS FROM p 'h.'": ("hr",),
    "SHOW COLUMNS FROM p ' a | b '": (),
    "SHOW COLUMNS FROM p '%'": (),
    "SHOW PARTITIONS p PARTITION (ds)": ("ds=1/hr=10", "ds=1/hr=2", "ds=2/hr=3"),
    "SHOW PARTITIONS p PARTITION (ds = '1', hr)": ("ds=1/hr=10", "ds=1/hr=2"),
    "SHOW PARTITIONS p PARTITION (ds, hr = 2)": ("ds=1/hr=2",),
    "SHOW SORTED COLUMNS FROM e IN dd": ("a", "m"),
    "SHOW TBLPROPERTIES p": ("bucketing_version|2", "comment|tabc", "x|y"),
    "SHOW TBLPROPERTIES p ('x')": ("x|y",),
    "SHOW TBLPROPERTIES p ('nope')": ("Table default.p does not have property: nope|",),
    "DESCRIBE p": (
        "a|int|ca", "b|string|", "ds|string|pc", "hr|int|", "||", "# Partition Information||",
        "# col_name|data_type|comment", "ds|string|pc", "hr|int|"),
    "DESCRIBE p a": ("a|int|from deserializer",),
    "DESCRIBE p b": ("b|string|from deserializer",),
    "DESCRIBE P B": ("B|string|from deserializer",),
    "DESCRIBE EXTENDED p `Ds`": ("ds|string|pc",),
    "DESCRIBE FORMATTED p a": (
        "col_name|a", "data_type|int", "min|", "max|", "num_nulls|", "distinct_count|",
        "avg_col_len|", "max_col_len|", "num_trues|", "num_falses|", "bit_vector|",
        "comment|from deserializer", "COLUMN_STATS_ACCURATE|{}"),
    "DESCRIBE DATABASE dd": ("dd|its|ROOT/ddloc|ROOT/ddm|WHO|USER||",),
    "DESCRIBE DATABASE EXTENDED dd": ("dd|its|ROOT/ddloc|ROOT/ddm|WHO|USER|||{a=b}",),
    "SHOW CREATE DATABASE dd": (
        "CREATE DATABASE `dd`", "COMMENT", "  'its'", "LOCATION", "  'ROOT/ddloc'",
        "MANAGEDLOCATION", "  'ROOT/ddm'", "WITH DBPROPERTIES (", "  'a'='b')"),
    "SHOW TABLE EXTENDED IN dd LIKE 'e'": (
        "tableName:e", "owner:WHO", "location:ROOT/ddloc/e",
        "inputformat:org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat",
        "outputformat:org.apache.hadoop.hive.ql.io.parquet.MapredParquetOutputFormat",
        "columns:struct columns { i32 a, map<string,list<i32>> m}", "partitioned:false",
        "partitionColumns:", "totalNumberFiles:0", "totalFileSize:0", "maxFileSize:0",
        "minFileSize:0", ""),
}  # fmt: skip


def test_what_is_shown(session: hivesql.Session, tmp_path: Path) -> None:
    hidden = {str(tmp_path): "ROOT", session.runtime.user: "WHO"}
    for sql, expected in SHOWN.items():
        lines = ["|".join(row) for row in rows(session, sql)]
        for text, name in hidden.items():
            lines = [line.replace(text, name) for line in lines]
        found = tuple(lines)
        assert (sql, found) == (sql, expected)


def test_formatted_and_extended(session: hivesql.Session) -> None:
    table = [row[:2] for row in rows(session, "DESCRIBE FORMATTED p")]
    for wanted in (
        ("# Detailed Table Information", ""), ("Table Type:", "MANAGED_TABLE"), ("Retention:", "0"),
        ("", "comment"), ("Num Buckets:", "4"), ("Bucket Columns:", "[a]"),
        ("Sort Columns:", "[Order(col:b, order:0), Order(col:a, order:1)]"),
        ("SerDe Library:", "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"),
        ("", "field.delim"), ("", "serialization.null.format"),
    ):  # fmt: skip
        assert wanted in table
    part = [row[:2] for row in rows(session, "DESCRIBE FORMATTED p PARTITION (ds='1', hr=2)")]
    assert ("Partition Value:", "[1, 2]") in part
    assert any(key == "Location:" and value.endswith("/p/ds=1/hr=2") for key, value in part)
    view = [row[:2] for row in rows(session, "DESCRIBE FORMATTED v")]
    assert ("Expanded Query:", "SELECT `a` FROM `default`.`p` `p`") in view or any(
        key == "Expanded Query:" and "`default`.`p`" in value for key, value in view
    )
    (last,) = [row for row in rows(session, "DESCRIBE EXTENDED dd.e") if "Detailed" in row[0]]
    assert last[1].startswith("Table(tableName:e, dbName:dd, owner:")
    assert "tableType:EXTERNAL_TABLE" in last[1]
    (last,) = rows(session, "DESCRIBE EXTENDED p PARTITION (ds='1', hr=2)")[-1:]
    assert last[1].startswith("Partition(values:[1, 2], dbName:default, tableName:p")
    paragraph = rows(session, "SHOW TABLE EXTENDED LIKE 'p' PARTITION (ds='1', hr=2)")
    assert ("partitionColumns:struct partition_columns { string ds, i32 hr}",) in paragraph


@pytest.mark.parametrize("name", ["p", "dd.e"])
def test_what_show_create_table_says_makes_the_same_table(
    session: hivesql.Session, name: str
) -> None:
    database, _, short = name.rpartition(".")
    full = TableName(database or "default", short)
    before = session.runtime.metastore.table(full)
    text = "\n".join(row[0] for row in rows(session, f"SHOW CREATE TABLE {name}"))
    session.sql(f"DROP TABLE {name}")
    session.sql(text)
    after = session.runtime.metastore.table(full)
    assert replace(after, id=before.id, created_at=before.created_at) == before


@pytest.mark.parametrize(
    ("sql", "text"),
    [
        ("DESCRIBE p zz", "cannot find field zz from .0:a, 1:b."),
        ("DESCRIBE p a.b", "Unknown type for b"),
        ("DESCRIBE p hr", "cannot find field hr from .0:a, 1:b."),
        ("DESCRIBE dd.e m.$elem$", "Unknown type for [$]elem[$]"),
        ("DESCRIBE dd.e $key$", "cannot find field [$]key[$] from .0:a, 1:m."),
        ("SHOW PARTITIONS p WHERE zz = 1", "Invalid table alias or column reference 'zz'"),
        ("SHOW PARTITIONS p WHERE hr NOT > 1", "expected a comparison"),
        ("SHOW PARTITIONS p WHERE (hr = 1", r"expected '?\)"),
        ("SHOW PARTITIONS p ORDER BY zz", "Only partition keys are allowed for sorting"),
        ("SHOW PARTITIONS dd.e ORDER BY a", "Only partition keys are allowed for sorting"),
        ("SHOW PARTITIONS p PARTITION (hr='x')", "cannot be converted to type int"),
        ("SHOW TABLES WHERE name = 'x'", "not supported: SHOW TABLES … WHERE"),
        ("SHOW TABLES WHERE `table_type` = 'VIEW'", "no type of tables: these are MANAGED_TABLE"),
        ("SHOW DATABASES 'd*'", "expected the end"),
        ("SHOW FUNCTIONS 'abs'", "expected the end"),
        ("DESCRIBE p PARTITION (hr=2)", "doesn't contain all .2. partition columns"),
        ("DESCRIBE nosuch.t", "Database does not exist: nosuch"),
        ("SHOW TABLE EXTENDED LIKE 'nosuch' PARTITION (ds='1', hr=1)", "Table not found"),
        ("SHOW CREATE DATABASE nosuch", "Database does not exist"),
    ],
)
def test_what_cannot_be_shown(session: hivesql.Session, sql: str, text: str) -> None:
    with pytest.raises(HiveSqlError, match=text):
        session.sql(sql)


COLUMNS = (
    '[{"name":"a","type":"int","comment":"ca"},{"name":"b","type":"string"}'
    '%s]'
)  # fmt: skip
AS_JSON: list[tuple[str, str]] = [
    ("SHOW DATABASES", '{"databases":["dd","default"]}'),
    ("SHOW DATABASES LIKE 'zz*'", '{"databases":[]}'),
    ("SHOW TABLES", '{"tables":["p","v"]}'),
    ("SHOW TABLES LIKE 'nosuch'", '{"tables":[]}'),
    ("SHOW VIEWS", '{"tables":["v"]}'),
    ("SHOW EXTENDED TABLES", '{"tables":[{"Table Name":"p","Table Type":"MANAGED_TABLE"},'
     '{"Table Name":"v","Table Type":"VIRTUAL_VIEW"}]}'),
    ("SHOW PARTITIONS p PARTITION (ds='2')", '{"partitions":[{"name":"ds=\'2\',hr=\'3\'",'
     '"values":[{"columnName":"ds","columnValue":"2"},{"columnName":"hr","columnValue":"3"}]}]}'),
    ("DESCRIBE v", '{"columns":[{"name":"a","type":"int"}]}'),
    ("DESCRIBE p", '{"columns":' + COLUMNS % (',{"name":"ds","type":"string","comment":"pc"},'
     '{"name":"hr","type":"int"}') + "}"),
    ("DESCRIBE FORMATTED p PARTITION (ds='2', hr=3)", '{"columns":' + COLUMNS % "" + "}"),
    ("DESCRIBE FORMATTED p a",
     '{"columns":[{"name":"a","type":"int","comment":"from deserializer"}]}'),
]  # fmt: skip


def test_lines_of_json_are_those_of_hive(session: hivesql.Session, tmp_path: Path) -> None:
    session.sql("SET hive.ddl.output.format=json")
    for sql, line in AS_JSON:
        result = session.sql(sql)
        assert (sql, result.columns, rows(session, sql)) == (sql, ("json",), [(line,)])

    def told(sql: str) -> Any:
        return json.loads(session.sql(sql).scalar())

    database = told("DESCRIBE DATABASE EXTENDED dd")
    owner = session.runtime.metastore.database("dd").owner
    assert database == {
        "database": "dd", "comment": "its", "location": f"{tmp_path}/ddloc",
        "managedLocation": f"{tmp_path}/ddm", "owner": owner, "ownerType": "USER",
        "connector_name": "", "remote_dbname": "", "params": {"a": "b"},
    }  # fmt: skip
    (status,) = told("SHOW TABLE EXTENDED LIKE 'p'")["tables"]
    assert (status["partitioned"], status["totalNumberFiles"]) == (True, 0)
    assert [one["name"] for one in status["partitionColumns"]] == ["ds", "hr"]
    table = told("DESCRIBE EXTENDED p")["tableInfo"]
    assert table["sd"]["sortCols"] == [{"col": "b", "order": 0}, {"col": "a", "order": 1}]
    partition = told("DESCRIBE EXTENDED p PARTITION (ds='2', hr=3)")["partitionInfo"]
    assert partition["values"] == ["2", "3"]
    assert rows(session, "SHOW COLUMNS IN p") == [("a",), ("b",), ("ds",), ("hr",)]
    session.sql("SET hive.ddl.output.format=xml")
    with pytest.raises(HiveSqlError, match="must be text or json"):
        session.sql("SHOW TABLES")


def test_semicolons_do_not_end_what_show_create_table_says(session: hivesql.Session) -> None:
    session.sql("""
        CREATE TABLE s (a int COMMENT 'a;b') COMMENT 'x;y' ROW FORMAT DELIMITED
            FIELDS TERMINATED BY ';' STORED AS TEXTFILE TBLPROPERTIES ('k;1'='v;2')
    """)
    before = session.runtime.metastore.table(TableName("default", "s"))
    text = "\n".join(row[0] for row in session.sql("SHOW CREATE TABLE s").rows)
    for line in ("COMMENT 'a\\;b'", "COMMENT 'x\\;y'", "'field.delim'='\\;'", "'k;1'='v\\;2'"):
        assert line in text
    session.sql("DROP TABLE s")
    session.sql(text)
    after = session.runtime.metastore.table(TableName("default", "s"))
    assert replace(after, id=before.id, created_at=before.created_at) == before


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("s", ["x:int", "y:array<struct<z:string,w:map<string,int>>>"]),
        ("S.X", ["X:int"]),
        ("s.y", ["y:array<struct<z:string,w:map<string,int>>>"]),
        ("s.y.$elem$", ["z:string", "w:map<string,int>"]),
        ("s.`y`.$ELEM$.z", ["z:string"]),
        ("s.y.$elem$.w.$key$", ["$key$:string"]),
        ("m.$value$", ["q:int"]),
        ("m.$value$.q", ["q:int"]),
        ("m", ["m:map<string,struct<q:int>>"]),
        ("a.$elem$.$elem$", ["$elem$:decimal(10,2)"]),
    ],
)
def test_what_is_inside_of_a_column_is_described_as_hive_does(
    session: hivesql.Session, path: str, expected: list[str]
) -> None:
    session.sql("""
        CREATE TABLE n (s struct<x:int,y:array<struct<z:string,w:map<string,int>>>> COMMENT 'c',
            m map<string,struct<q:int>>, a array<array<decimal(10,2)>>) PARTITIONED BY (p int);
        ALTER TABLE n ADD PARTITION (p=1)
    """)
    for described in (f"n {path}", f"EXTENDED n {path}", f"n PARTITION (p=1) {path}"):
        found = rows(session, f"DESCRIBE {described}")
        assert [f"{name}:{type_}" for name, type_, _ in found] == expected
        assert {comment for *_, comment in found} == {"from deserializer"}
    formatted = dict(rows(session, f"DESCRIBE FORMATTED n {path}"))
    assert f"{formatted['col_name']}:{formatted['data_type']}" == expected[0]
    session.sql("SET hive.ddl.output.format=json")
    columns = json.loads(rows(session, f"DESCRIBE n {path}")[0][0])["columns"]
    assert [f"{column['name']}:{column['type']}" for column in columns] == expected


def test_a_partition_of_a_view_has_no_files_to_describe(session: hivesql.Session) -> None:
    session.sql("CREATE VIEW w PARTITIONED ON (ds) AS SELECT a, ds FROM p")
    session.sql("ALTER VIEW w ADD PARTITION (ds='1')")
    titles = [row[0] for row in rows(session, "DESCRIBE FORMATTED w PARTITION (ds='1')")]
    described = dict(row[:2] for row in rows(session, "DESCRIBE FORMATTED w PARTITION (ds='1')"))
    assert (described["Partition Value:"], described["Location:"]) == ("[1]", "null")
    assert not {"# Storage Information", "# View Information"} & set(titles)
    assert "# View Information" in [row[0] for row in rows(session, "DESCRIBE FORMATTED w")]


SERDE_PROPERTIES = {
    "STORED AS TEXTFILE": {"serialization.format": "1"},
    "STORED AS PARQUET": {"serialization.format": "1"},
    "STORED AS ORC TBLPROPERTIES ('transactional'='true')": {},
    "STORED AS ORC TBLPROPERTIES ('transactional'='true', "
    "'transactional_properties'='insert_only')": {"serialization.format": "1"},
    "ROW FORMAT DELIMITED FIELDS TERMINATED BY ','": {
        "field.delim": ",", "serialization.format": ","
    },
}  # fmt: skip


@pytest.mark.parametrize("storage", SERDE_PROPERTIES)
def test_what_is_told_of_a_serde(session: hivesql.Session, storage: str) -> None:
    session.sql(f"CREATE TABLE s (a int) {storage}")
    (extended,) = (row[1] for row in rows(session, "DESCRIBE EXTENDED s") if "SerDeInfo" in row[1])
    formatted = [row[1:] for row in rows(session, "DESCRIBE FORMATTED s")]
    for key, value in SERDE_PROPERTIES[storage].items():
        assert (key, value) in [tuple(cell.strip() for cell in row) for row in formatted]
        assert f"{key}={value}" in extended
    assert ("serialization.format=" in extended) == bool(SERDE_PROPERTIES[storage])


def test_show_create_names_the_database_as_the_statement_does(session: hivesql.Session) -> None:
    session.sql("CREATE DATABASE d; USE d; CREATE TABLE t (a INT); CREATE VIEW v AS SELECT 1 AS x")
    for asked, made in (("t", "`t`("), ("d.t", "`d`.`t`("), ("v", "`v` AS"), ("d.v", "`d`.`v` AS")):
        (first, *_) = session.sql(f"SHOW CREATE TABLE {asked}").rows
        assert made in first[0], asked
    session.sql("USE default; CREATE TABLE u (a INT)")
    assert "TABLE `default`.`u`(" in session.sql("SHOW CREATE TABLE default.u").rows[0][0]


WRITTEN = {
    "(a struct<x:int,y:map<string,array<struct<`q z`:int>>>>, b array<int>)": (
        "`a` struct<`x`:int, `y`:map<string,array<struct<`q z`:int>>>>", "`b` array<int>"),
    "(a int COMMENT 'mine', b int) STORED AS JSONFILE": (
        "`a` int COMMENT 'from deserializer'", "`b` int COMMENT 'from deserializer'"),
    "(a int COMMENT 'mine', b int) STORED AS AVRO": (
        "`a` int COMMENT 'mine'", "`b` int COMMENT ''"),
    "(a string) ROW FORMAT SERDE 'org.apache.hadoop.hive.serde2.RegexSerDe'"
    " WITH SERDEPROPERTIES ('input.regex'='(.*)')": ("`a` string COMMENT ''",),
    "(a int, b int) STORED AS ORC": ("`a` int", "`b` int)"),
}  # fmt: skip


@pytest.mark.parametrize("rest", WRITTEN)
def test_columns_are_written_as_hive_writes_them(session: hivesql.Session, rest: str) -> None:
    session.sql(f"CREATE TABLE w {rest}")
    lines = [line.strip(", )") for (line,) in rows(session, "SHOW CREATE TABLE w")]
    for line in WRITTEN[rest]:
        assert line.strip(")") in lines
    if "JSON" in rest:
        assert {row[2] for row in session.sql("DESCRIBE w").rows} == {"from deserializer"}


def test_show_create_has_what_is_in_force(session: hivesql.Session) -> None:
    """As Hive: checks and defaults that are enabled, and keys that one may rely on."""
    session.sql("""
        CREATE TABLE k (a int, b int, c int DEFAULT 3, d int CONSTRAINT n1 NOT NULL ENABLE NORELY,
            e int CONSTRAINT n2 NOT NULL, h int CONSTRAINT n3 NOT NULL DISABLE NOVALIDATE RELY,
            i int CONSTRAINT n4 NOT NULL DISABLE NOVALIDATE NORELY,
            f int CONSTRAINT c1 CHECK (f > 0) DISABLE,
            g int CONSTRAINT c2 CHECK (g > 0) ENABLE NORELY,
            CONSTRAINT k1 PRIMARY KEY (a) DISABLE NOVALIDATE RELY,
            CONSTRAINT u1 UNIQUE (b) DISABLE NOVALIDATE NORELY)
            CLUSTERED BY (a) SORTED BY (b) INTO 2 BUCKETS
    """)
    text = "\n".join(line for (line,) in rows(session, "SHOW CREATE TABLE k"))
    assert [name for name in ("n1", "n2", "n3", "n4", "c1", "c2", "k1", "u1")
            if f"`{name}`" in text] == ["n2", "n3", "c2", "k1"]  # fmt: skip
    assert "DEFAULT 3" in text
    assert "SORTBUCKETCOLSPREFIX" not in text
    names = {str(row) for row in session.sql("DESCRIBE FORMATTED k").rows}
    assert all(any(name in row for row in names) for name in ("n1", "c1", "u1"))


def test_extended_describes_all_of_storage(session: hivesql.Session) -> None:
    for name, access in (("p", 8), ("v", 2)):
        text = session.sql(f"DESCRIBE EXTENDED {name}").rows[-1][1]
        assert "skewedInfo:SkewedInfo(skewedColNames:[], skewedColValues:[], " in text
        assert "rewriteEnabled:false, catName:hive, ownerType:USER, writeId:0" in text
        assert f"accessType:{access}, id:" in text


def test_a_paragraph_tells_types_in_thrift_words_also_inside_of_others(
    session: hivesql.Session,
) -> None:
    session.sql(
        "CREATE TABLE nested (a ARRAY<MAP<STRING, STRUCT<b: INT, c: ARRAY<BIGINT>>>>, t TINYINT)"
    )
    told = [line for (line,) in rows(session, "SHOW TABLE EXTENDED LIKE nested")]
    columns = "list<map<string,struct<b:i32,c:list<i64>>>> a, byte t"
    assert f"columns:struct columns {{ {columns}}}" in told


def test_functions_match_without_stars(session: hivesql.Session) -> None:
    """As Hive: ``%`` and ``_`` stand for others, ``|`` is between patterns, ``*`` is a star."""
    for pattern, expected in {
        "ab_": ["abs"], "ab*": [], "abs|ac%": ["abs", "acos"], "ABS": ["abs"], "a.s": [],
    }.items():  # fmt: skip
        found = [name for (name,) in rows(session, f"SHOW FUNCTIONS LIKE '{pattern}'")]
        assert (pattern, found) == (pattern, expected)


def test_partitions_are_sorted_by_the_texts_of_their_values(session: hivesql.Session) -> None:
    """As Hive, whatever the column's type; rows without a value are where their directory is."""
    session.sql("""
        CREATE TABLE n (a int) PARTITIONED BY (i int, s string);
        ALTER TABLE n ADD PARTITION (i=1, s='a') PARTITION (i=2, s='b') PARTITION (i=10, s='a')
            PARTITION (i='-3', s='z') PARTITION (i=100, s='y');
        INSERT INTO n PARTITION (i, s) VALUES (1, NULL, 'n');
    """)
    for order, expected in {
        "i": ["-3", "1", "10", "100", "2", "__HIVE_DEFAULT_PARTITION__"],
        "i DESC": ["__HIVE_DEFAULT_PARTITION__", "2", "100", "10", "1", "-3"],
        "s, i DESC": ["10", "1", "2", "__HIVE_DEFAULT_PARTITION__", "100", "-3"],
        "s DESC, i": ["-3", "100", "__HIVE_DEFAULT_PARTITION__", "2", "1", "10"],
    }.items():
        names = [name for (name,) in rows(session, f"SHOW PARTITIONS n ORDER BY {order}")]
        assert (order, [name.split("/")[0][2:] for name in names]) == (order, expected)


@pytest.mark.parametrize(
    "sql",
    [
        "SHOW COLUMNS IN t IN nosuch", "SHOW PARTITIONS nosuch.t", "SHOW CREATE TABLE nosuch.t",
        "SHOW TBLPROPERTIES nosuch.t", "SELECT * FROM nosuch.t", "INSERT INTO nosuch.t VALUES (1)",
        "ALTER TABLE nosuch.t ADD COLUMNS (c int)", "ALTER TABLE nosuch.t DROP PARTITION (p=1)",
        "TRUNCATE TABLE nosuch.t", "ANALYZE TABLE nosuch.t COMPUTE STATISTICS",
        "MSCK REPAIR TABLE nosuch.t", "UPDATE nosuch.t SET a = 1", "DELETE FROM nosuch.t",
        "ALTER VIEW nosuch.v SET TBLPROPERTIES ('a'='b')",
        "CREATE VIEW w AS SELECT * FROM nosuch.t",
    ],
)  # fmt: skip
def test_a_table_of_no_database_is_a_table_that_is_not_there(
    session: hivesql.Session, sql: str
) -> None:
    """As Hive: only what makes something in a database, and DESCRIBE, miss the database."""
    with pytest.raises(hivesql.NoSuchObject, match="Database does not exist: nosuch") as caught:
        session.sql(sql)
    assert caught.value.code == 10001


def test_extended_tells_statistics(session: hivesql.Session) -> None:
    """As Hive, which prints the quotes of a partition's parameters as they are."""
    session.sql("""
        CREATE TABLE s (a int) PARTITIONED BY (i int);
        INSERT INTO s PARTITION (i=1) VALUES (5), (6);
        CREATE TABLE o (a int, `ü` int);
    """)
    partition = session.sql("DESCRIBE EXTENDED s PARTITION (i=1)").rows[-1][1]
    assert 'COLUMN_STATS_ACCURATE={"BASIC_STATS":"true"' in partition
    assert "numRows=2" in partition
    assert partition.endswith("}, catName:hive, writeId:-1)")
    of_all = session.sql("DESCRIBE EXTENDED s").rows[-1][1]
    assert "numPartitions=1, numRows=2" in of_all
    assert r"COLUMN_STATS_ACCURATE={\"BASIC_STATS\":\"true\"" in of_all
    plain = session.sql("DESCRIBE EXTENDED o").rows[-1][1]
    assert r"\"a\":\"true\",\"ü\":\"true\"" in plain


def test_a_server_sends_lines_in_one_cell_and_none_where_there_is_no_cell(
    session: hivesql.Session,
) -> None:
    session.sql(r"""
        CREATE TABLE lines (a int COMMENT 'one\n\ntwo', b int)
        PARTITIONED BY (c int) STORED AS ORC TBLPROPERTIES ('k'='v\n\nw')
    """)
    plain = session.sql("DESCRIBE lines")
    assert plain.rows[:4] == [("a", "int", "one"), ("", "", ""), ("", "", "two"), ("b", "int", "")]
    heading = ("# Partition Information", None, None)
    assert plain.of_server == [
        ("a", "int", r"one\n\ntwo"), ("b", "int", ""), ("c", "int", ""), ("", None, None), heading,
        ("# col_name", "data_type", "comment"), ("c", "int", ""),
    ]  # fmt: skip
    formatted = session.sql("DESCRIBE FORMATTED lines")
    assert formatted.rows[0] == ("# col_name", "data_type", "comment")
    sent = formatted.of_server or ()
    assert sent[0] == ("a", "int", r"one\n\ntwo") and heading in sent
    assert ("", "k".ljust(20), r"v\n\nw".ljust(20)) in sent
    assert ("Retention:".ljust(20), "0".ljust(20), None) in sent
    assert session.sql("SHOW TABLES").of_server is None


@pytest.mark.parametrize(
    ("statement", "shown"),
    [
        ("SHOW TABLES '.*s'", ["events", "pokes", "vokes"]),
        ("SHOW TABLES 'p.kes'", ["pokes"]),
        ("SHOW TABLES '..kes'", ["pokes", "vokes"]),
        ("SHOW TABLES 'poke.s'", []),
        ("SHOW VIEWS 'v.kes'", ["vokes"]),
        ("SHOW COLUMNS FROM pokes LIKE '.'", ["a", "b"]),
        ("SHOW DATABASES LIKE 'defaul.'", []),
        ("SHOW FUNCTIONS LIKE 'uppe.'", []),
    ],
)
def test_a_dot_stands_for_a_character_where_it_does_in_hive(
    session: hivesql.Session, statement: str, shown: list[str]
) -> None:
    session.execute("""
        CREATE TABLE pokes (a INT, b STRING); CREATE TABLE events (a INT);
        CREATE VIEW vokes AS SELECT a FROM pokes""")
    assert [row[0] for row in session.sql(statement).rows] == shown


@pytest.mark.parametrize("pattern", ["?", "[", "(a"])
def test_what_is_no_pattern_of_columns_is_refused(session: hivesql.Session, pattern: str) -> None:
    session.sql("CREATE TABLE pokes (a INT)")
    with pytest.raises(hivesql.SemanticError, match="no pattern of columns") as caught:
        session.sql(f"SHOW COLUMNS FROM pokes '{pattern}'")
    assert caught.value.code == 40000


def test_properties_without_values_are_empty(session: hivesql.Session) -> None:
    session.execute("""
        CREATE TABLE flagged (a INT) TBLPROPERTIES ('q', 'r');
        ALTER TABLE flagged SET TBLPROPERTIES ('s');
        ALTER TABLE flagged UNSET TBLPROPERTIES ('r');
        CREATE VIEW seen TBLPROPERTIES ('v') AS SELECT 1 AS one""")
    assert {("q", ""), ("s", "")} <= set(map(tuple, session.sql("SHOW TBLPROPERTIES flagged").rows))
    assert ("v", "") in set(map(tuple, session.sql("SHOW TBLPROPERTIES seen").rows))
    for properties in ("('a', 'b' = 'c')", "('b' = 'c', 'a')"):
        with pytest.raises(hivesql.ParseError):
            session.sql(f"ALTER TABLE flagged SET TBLPROPERTIES {properties}")
