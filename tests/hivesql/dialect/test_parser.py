"""Statements are parsed or refused, and nothing in between."""

from __future__ import annotations

import pytest
from sqlglot import exp

from hivesql.dialect.nodes.alter import RefusedBody
from hivesql.dialect.nodes.commands import ShowBody
from hivesql.dialect.nodes.ddl import CreateTableBody
from hivesql.dialect.nodes.files import Compact
from hivesql.dialect.nodes.parts import name_of, partition_of, table_of
from hivesql.dialect.slices import PartitionItem
from hivesql.dialect.statements.statement import parse
from hivesql.dialect.tokens import MOST_NESTED
from hivesql.script import StatementText
from hivesql_planner.errors import HiveSqlError, NotSupported, ParseError
from hivesql_planner.statements.bound import SetSetting


def text(sql: str) -> StatementText:
    return StatementText(sql.rstrip("\n"))


def outcome(sql: str) -> str:
    try:
        body = parse(text(sql)).body
        if isinstance(body, RefusedBody):
            raise body.error
        return type(body).__name__
    except NotSupported as error:
        return f"NotSupported({error.feature})"
    except ParseError:
        return "ParseError"


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        # What sqlglot alone would misread.
        ("START TRANSACTION", "StartTransaction"),
        ("START TRANSACTION ISOLATION LEVEL SNAPSHOT, READ ONLY", "StartTransaction"),
        (
            "START TRANSACTION ISOLATION LEVEL SERIALIZABLE",
            "NotSupported(ISOLATION LEVEL SERIALIZABLE (only SNAPSHOT))",
        ),
        ("BEGIN WORK", "StartTransaction"),
        ("BEGIN t", "ParseError"),
        ("COMMIT", "EndTransaction"),
        ("ROLLBACK TO a", "NotSupported(ROLLBACK TO a savepoint)"),
        ("LOCK TABLE t PARTITION (ds='1') EXCLUSIVE", "LockBody"),
        ("LOCK TABLE t", "ParseError"),
        ("UNLOCK DATABASE d", "LockBody"),
        ("UNLOCK TABLE t SHARED", "ParseError"),
        ("EXPLAIN LOCKS SELECT 1", "ExplainBody"),
        ("EXPLAIN FORMATTED LOCKS SELECT 1", "ExplainBody"),
        ("dfs -ls /x", "FileSystemShell"),
        ("foo", "ParseError"),
        ("t u", "ParseError"),
        ("1 + 2", "ParseError"),
        ("SELECT FROM t", "ParseError"),
        ("SELECT a b c FROM t", "ParseError"),
        ("SELECT d - (a) DAYS FROM t", "Select"),
        ("SELECT count(*) day FROM t", "Select"),
        ("SELECT INTERVAL '1' DAY", "Select"),
        ("SELECT a::int FROM t", "ParseError"),
        ("SELECT x -> 1 FROM t", "ParseError"),
        ("SELECT 'open", "ParseError"),
        ("SELECT (1", "ParseError"),
        ("SELECT * FROM ${x}", "ParseError"),
        ("SELECT 1; SELECT 2", "ParseError"),
        # DML
        ("INSERT INTO t WITH q AS (SELECT 1) SELECT * FROM q", "ParseError"),
        ("INSERT INTO t VALUES", "ParseError"),
        ("INSERT INTO t SELECT * FROM s RETURNING id", "ParseError"),
        ("INSERT INTO t PARTITION (ds) IF NOT EXISTS SELECT 1", "ParseError"),
        ("UPDATE t SET", "ParseError"),
        ("UPDATE t SET a", "ParseError"),
        ("UPDATE t SET a = ", "ParseError"),
        ("UPDATE t SET a = 1 b = 2", "ParseError"),
        ("UPDATE t AS x SET x.a = 1", "ParseError"),
        ("UPDATE t SET a = 1 FROM s", "ParseError"),
        ("UPDATE t SET a = b IS DISTINCT FROM c WHERE d = 1", "Update"),
        ("UPDATE t SET a = 1 WHERE b = 2 RETURNING a", "ParseError"),
        ("UPDATE t SET a = 1 WHERE b = 2 LIMIT 1", "ParseError"),
        ("WITH q AS (SELECT 1) UPDATE t SET a = 1", "ParseError"),
        ("DELETE t", "ParseError"),
        ("DELETE FROM t x WHERE x.a = 1", "ParseError"),
        ("DELETE FROM t WHERE", "ParseError"),
        ("DELETE FROM t USING s", "ParseError"),
        ("DELETE FROM t USING s, u WHERE t.id = s.id", "ParseError"),
        ("UPDATE t SET a = 1 FROM (SELECT 1) WHERE t.id = 1", "ParseError"),
        ("MERGE INTO t USING s WHEN MATCHED THEN DELETE", "ParseError"),
        ("MERGE INTO t USING s ON t.id = s.id", "ParseError"),
        ("MERGE INTO t USING (SELECT 1) ON t.id = 1 WHEN MATCHED THEN DELETE", "ParseError"),
        ("MERGE INTO t USING s ON a = b WHEN NOT MATCHED THEN UPDATE SET a = 1", "ParseError"),
        ("MERGE INTO t USING s ON a = b WHEN MATCHED THEN INSERT VALUES (1)", "ParseError"),
        (
            "MERGE INTO t USING s ON a = b WHEN NOT MATCHED THEN INSERT VALUES (1) "
            "WHEN MATCHED THEN DELETE",
            "ParseError",
        ),
        (
            "MERGE INTO t USING s ON a = b WHEN NOT MATCHED BY SOURCE THEN UPDATE SET *",
            "ParseError",
        ),
        (
            "MERGE INTO t USING s ON a = b WHEN NOT MATCHED BY SOURCE THEN INSERT VALUES (1)",
            "ParseError",
        ),
        (
            "MERGE WITH SCHEMA EVOLUTION INTO t USING s ON a = b WHEN MATCHED THEN DELETE",
            "Merge",
        ),
        # DDL
        ("CREATE TABLE t (a foo)", "ParseError"),
        ("CREATE TABLE t (a varchar)", "ParseError"),
        ("CREATE TABLE t (a int) STORED AS foo", "ParseError"),
        ("CREATE TABLE t (a int) PARTITIONED BY (b)", "ParseError"),
        ("CREATE TABLE t (a int,)", "ParseError"),
        ("CREATE TABLE t (a int NOT NULL)", "CreateTableBody"),
        ("CREATE TABLE t (a int NOT)", "ParseError"),
        ("CREATE TABLE t (a int DEFAULT)", "ParseError"),
        ("CREATE TABLE t (a int, PRIMARY KEY a)", "ParseError"),
        ("CREATE TABLE t (a int, FOREIGN KEY (a) REFERENCES p)", "ParseError"),
        ("CREATE TABLE t (CONSTRAINT c)", "ParseError"),
        ("CREATE TABLE t (a int CONSTRAINT)", "ParseError"),
        ("ALTER TABLE t ADD CONSTRAINT PRIMARY KEY (a)", "ParseError"),
        ("ALTER TABLE t DROP CONSTRAINT", "ParseError"),
        ("DROP TABLE t, s", "ParseError"),
        ("DROP TABLE", "ParseError"),
        ("TRUNCATE TABLE t s", "ParseError"),
        ("USE a b", "ParseError"),
        ("ALTER TABLE t", "ParseError"),
        ("ALTER TABLE t FOO", "ParseError"),
        ("ALTER TABLE t EXCHANGE PARTITION (ds='1')", "ParseError"),
        ("ALTER TABLE t RENAME TO", "ParseError"),
        ("ALTER TABLE t CHANGE a INT", "ParseError"),
        ("ALTER TABLE t CHANGE a b INT AFTER", "ParseError"),
        ("ALTER TABLE t ADD COLUMNS a INT", "ParseError"),
        ("ALTER TABLE t ADD COLUMNS (a INT) CASCADE RESTRICT", "ParseError"),
        ("ALTER TABLE t SET TBLPROPERTIES ('a', 'b'='c')", "ParseError"),
        ("ALTER TABLE t UNSET TBLPROPERTIES ('a' 'b' 1)", "ParseError"),
        ("ALTER TABLE t SET LOCATION x", "ParseError"),
        ("ALTER TABLE t SET FILEFORMAT foo", "ParseError"),
        ("ALTER TABLE t SET OWNER bob", "ParseError"),
        ("ALTER TABLE t CLUSTERED BY (a)", "ParseError"),
        ("ALTER TABLE t SET SERDE 'a.B'", "NotSupported(the SerDe 'a.B')"),
        ("ALTER TABLE t PARTITION (a=1) FOO", "ParseError"),
        (
            "ALTER TABLE t PARTITION (a=1) UNARCHIVE",
            "NotSupported(ALTER TABLE … PARTITION … UNARCHIVE)",
        ),
        ("ALTER TABLE t PARTITION (a=1) CONCATENATE AND WAIT", "ParseError"),
        (
            "ALTER TABLE t PARTITION (a) SET LOCATION '/x'",
            "NotSupported(ALTER TABLE … PARTITION with keys that have no value)",
        ),
        ("ALTER VIEW v ADD PARTITION (a=1)", "AddPartitions"),
        ("ALTER VIEW v AS", "ParseError"),
        ("ALTER DATABASE d SET foo 'x'", "ParseError"),
        ("ALTER TABLE t COMPACT major", "ParseError"),
        ("ALTER TABLE t DROP PARTITION (ds)", "ParseError"),
        ("SHOW", "ParseError"),
        ("SHOW FOO", "ParseError"),
        ("SHOW TABLES foo bar", "ParseError"),
        ("ABORT TRANSACTIONS", "ParseError"),
        ("ABORT TRANSACTIONS x", "ParseError"),
        ("LOAD DATA INPATH '/x' INTO TABLE t", "LoadData"),
        ("LOAD DATA INPATH '/x' INTO t", "ParseError"),
        ("LOAD DATA INPATH x INTO TABLE t", "ParseError"),
        ("LOAD DATA INPATH '/x' INTO TABLE t PARTITION (ds)", "LoadData"),
        (
            "LOAD DATA INPATH '/x' INTO TABLE t INPUTFORMAT 'a.B' SERDE "
            "'org.apache.hadoop.hive.ql.io.orc.OrcSerde'",
            "NotSupported(the INPUTFORMAT 'a.B' with this SERDE)",
        ),
        ("ANALYZE TABLE t", "ParseError"),
        ("ANALYZE TABLE t COMPUTE STATISTICS FOR COLUMNS", "Analyze"),
        ("ANALYZE TABLE t COMPUTE STATISTICS FOR a", "ParseError"),
        ("MSCK t", "ParseError"),
        ("MSCK TABLE t ADD PARTITIONS", "Repair"),
        ("MSCK REPAIR TABLE t SYNC", "ParseError"),
        ("EXPLAIN", "ParseError"),
        ("EXPLAIN START TRANSACTION", "NotSupported(EXPLAIN START)"),
        ("SET a b", "ParseError"),
        ("RESET -d", "ParseError"),
        ("ADD JAR", "ParseError"),
        ("dfs", "ParseError"),
        ("dfs -ls '/x", "ParseError"),
    ],
)
def test_traps(sql: str, expected: str) -> None:
    assert outcome(sql) == expected


@pytest.mark.parametrize(
    ("sql", "line", "column"),
    [
        ("SELECT a b c FROM t", 1, 12),
        ("SELECT a\n FROM t\n WHERE a here b", 3, 10),
        ("SELECT 'a', 'open", 1, 13),
        ("INSERT INTO t\n  VALEUS (1)", 2, 3),
        ("DELETE FROM t x", 1, 15),
        ("UPDATE t SET a = (1 + ) WHERE b", 1, 23),
        ("CREATE TABLE t (\n  a int,\n  b foo)", 3, 5),
        ("SELECT a,\n  TRANSFORM (a) USING 'x' FROM t", 2, 3),
        ("ALTER TABLE t COMPACT", 1, 22),
    ],
)
def test_errors_point_at_the_token(sql: str, line: int, column: int) -> None:
    with pytest.raises(HiveSqlError) as caught:
        parse(StatementText(sql, "f.hql", 1, 1))
    assert (caught.value.file, caught.value.line) == ("f.hql", line)
    assert caught.value.column == column


def test_places_count_from_where_the_statement_stands() -> None:
    with pytest.raises(ParseError) as caught:
        parse(StatementText("DELETE FROM t\n x", "f.hql", 10, 5))
    assert (caught.value.line, caught.value.column) == (11, 2)
    with pytest.raises(ParseError) as caught:
        parse(StatementText("DELETE t", "f.hql", 10, 5))
    assert (caught.value.line, caught.value.column) == (10, 12)


@pytest.mark.parametrize(
    ("opening", "closing", "each"),
    [("(", ")", 1), ("CASE WHEN a THEN b ELSE ", " END", 1), ("a[", "]", 1), ("- ", "", 1),
     ("NOT ", "", 1), ("CAST(", " AS INT)", 1), ("array<", ">", 10)],
)  # fmt: skip
def test_deep_nesting_is_an_error_at_the_level_that_is_too_deep(
    opening: str, closing: str, each: int
) -> None:
    levels = MOST_NESTED // each
    text = "SELECT " + opening * (levels + 1) + "1" + closing * (levels + 1)
    with pytest.raises(ParseError, match="nested too deeply: more than 500 levels") as caught:
        parse(StatementText(text))
    # The bracket, word or sign of the last level.
    sign = next(i for i, char in enumerate(opening) if char in "([<" or opening.startswith("CASE")
                or opening.strip() in ("-", "NOT"))  # fmt: skip
    assert caught.value.column == len("SELECT ") + len(opening) * levels + sign + 1


def test_insert_with_everything() -> None:
    insert = parse(
        StatementText("INSERT INTO TABLE D.T PARTITION (ds='a\\'b', HR) (X, `y`) SELECT 1, 2")
    ).body
    assert isinstance(insert, exp.Insert)
    table = table_of(insert.this.this)
    assert (table.database and table.database.text, table.name.text) == ("d", "t")
    assert not insert.args["overwrite"]
    partition = partition_of(insert.args["partition"])
    assert partition is not None
    assert [(one.key.text, one.value, one.is_static) for one in partition] == [
        ("ds", "a'b", True),
        ("hr", None, False),
    ]
    assert [name_of(one).text for one in insert.this.expressions] == ["x", "y"]
    assert isinstance(partition[0], PartitionItem)
    again = parse(
        StatementText("INSERT OVERWRITE TABLE t PARTITION (ds='x') IF NOT EXISTS SELECT 1")
    ).body
    assert isinstance(again, exp.Insert)
    assert (again.args["overwrite"], again.args["exists"]) == (True, True)


def test_update_knows_case_from_its_own_clauses() -> None:
    update = parse(
        StatementText("UPDATE t SET a = CASE WHEN x THEN y END, b = f(1, 2) WHERE c IN (1, 2)")
    ).body
    assert isinstance(update, exp.Update)
    assert [one.this.name for one in update.expressions] == ["a", "b"]
    assert update.args["where"] is not None


def test_merge_with_everything() -> None:
    merge = parse(
        StatementText(
            "MERGE INTO d.t AS a USING (SELECT 1 id) AS s ON a.id = s.id "
            "WHEN MATCHED AND CASE WHEN s.x THEN true ELSE false END THEN DELETE "
            "WHEN MATCHED THEN UPDATE SET a.v = CASE WHEN 1 = 1 THEN 2 END, w = 3 "
            "WHEN NOT MATCHED AND s.id > 1 THEN INSERT (id, v) VALUES (s.id, (SELECT 1))"
        )
    ).body
    assert isinstance(merge, exp.Merge)
    whens = merge.args["whens"].expressions
    delete, update, insert = (when.args["then"] for when in whens)
    assert delete.name == "DELETE"
    assert [when.args["condition"] is not None for when in whens] == [True, False, True]
    assert [one.this.name for one in update.expressions] == ["v", "w"]
    assert len(insert.expression.expressions) == 2


def test_types_are_written_as_the_metastore_writes_them() -> None:
    body = parse(
        StatementText(
            "CREATE TABLE t (a INTEGER, b NUMERIC, c DEC(5), d DECIMAL(10, 2), e VARCHAR( 3 ), "
            "f DOUBLE PRECISION, g TIMESTAMP WITH LOCAL TIME ZONE, "
            "h MAP<STRING, ARRAY<STRUCT<X:INT COMMENT 'c', `y z`:CHAR(2)>>>, "
            "i UNIONTYPE<INT, STRING>)"
        )
    ).body
    assert isinstance(body, CreateTableBody)
    assert [str(column.type) for column in body.columns] == [
        "int", "decimal(10,0)", "decimal(5,0)", "decimal(10,2)", "varchar(3)", "double",
        "timestamp with local time zone", "map<string,array<struct<x:int,y z:char(2)>>>",
        "uniontype<int,string>",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SET", SetSetting()),
        ("SET -v", SetSetting(all=True)),
        ("SET a.b", SetSetting(key="a.b")),
        ("SET a.b=", SetSetting(key="a.b", value="")),
        ("set a.b = c d=e ", SetSetting(key="a.b", value="c d=e")),
        ("SET hiveconf:a.b=it's a, b; c", SetSetting(key="hiveconf:a.b", value="it's a, b; c")),
        ("SET a=b -- why", SetSetting(key="a", value="b")),
        ("SET u=jdbc:x--y", SetSetting(key="u", value="jdbc:x--y")),
        ("RESET", SetSetting(reset=True)),
        ("RESET a.b", SetSetting(keys=("a.b",), reset=True)),
        ("RESET -d a.b c", SetSetting(keys=("a.b", "c"), reset=True, to_default=True)),
    ],
)
def test_settings(sql: str, expected: SetSetting) -> None:
    assert parse(StatementText(sql)).body == expected


def test_show_locks_of_a_table_called_extended() -> None:
    def show(sql: str) -> ShowBody:
        body = parse(StatementText(sql)).body
        assert isinstance(body, ShowBody)
        return body

    assert show("SHOW LOCKS EXTENDED").table is None
    assert show("SHOW LOCKS t EXTENDED").table is not None
    assert show("SHOW LOCKS t EXTENDED").extended


def test_compact_takes_its_kind_as_it_is_written() -> None:
    body = parse(StatementText("ALTER TABLE t PARTITION (a=1) COMPACT 'MAJOR' AND WAIT")).body
    assert isinstance(body, Compact)
    assert (body.args["kind"].name, body.args["wait"]) == ("MAJOR", True)


@pytest.mark.parametrize("name", ["orc", "parquet", "avro"])
def test_formats_have_older_names(name: str) -> None:
    body = parse(StatementText(f"CREATE TABLE t (a int) STORED AS {name}file")).body
    assert isinstance(body, CreateTableBody)
    assert body.format == name


@pytest.mark.parametrize(
    ("written", "condition"),
    [
        ("(a > 0)", "a > 0"),
        ("a > 0", "a > 0"),
        ("a IS NOT NULL and not a in (1, 2) NOT ENFORCED", "a IS NOT NULL and not a in (1, 2)"),
        ("case when a > 0 then not b end COMMENT 'c'", "case when a > 0 then not b end"),
    ],
)
def test_a_check_needs_no_brackets(written: str, condition: str) -> None:
    body = parse(text(f"CREATE TABLE t (a int CHECK {written}, b int)")).body
    assert isinstance(body, CreateTableBody)
    assert [constraint.text for constraint in body.constraints] == [condition]
