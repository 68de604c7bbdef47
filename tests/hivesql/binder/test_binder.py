"""Bound statements and the errors of binding."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from hivesql.binder.statement import BINDERS, bind
from hivesql.dialect.nodes import alter, authorization, commands, ddl, dml, functions
from hivesql.dialect.statements.statement import parse
from hivesql.script import StatementText
from hivesql_planner.compaction.request import CompactionFilter, OrderKey
from hivesql_planner.errors import HiveSqlError, NoSuchObject, SemanticError
from hivesql_planner.model.hive_type import INT
from hivesql_planner.model.table import DEFAULT_PARTITION, TableName
from hivesql_planner.predicates.predicate import AllOf, Compare
from hivesql_planner.settings.settings import Settings
from hivesql_planner.statements.alter import ChangeProperties
from hivesql_planner.statements.bound import (
    AbortTransactions,
    CompactTable,
    CreateDatabase,
    CreateTable,
    CreateView,
    DeleteRows,
    Describe,
    DropTable,
    Explain,
    InsertRows,
    MergeRows,
    SelectRows,
    SetSetting,
    Show,
    TruncateTable,
    UpdateRows,
    UseDatabase,
)
from hivesql_planner.statements.ddl import (
    AlterDatabase,
    AlterTable,
    AlterView,
    DropPartitions,
    ExchangePartitions,
    LoadData,
    MovePartition,
    RenamePartition,
    RenameTable,
    Touch,
)
from memory_catalog import MemoryCatalog, table, warehouse


def bound(sql: str, database: str = "default", **settings: str) -> Any:
    given = Settings(values={key.replace("__", "."): value for key, value in settings.items()})
    tree = parse(StatementText(sql, "f.hql"))
    return bind(tree, warehouse(), database=database, settings=given)


_KINDS = [
    {"transactional": "true", "transactional_properties": kind}
    for kind in ("default", "insert_only")
]


@pytest.mark.parametrize(
    ("clauses", "format_", "properties"),
    [
        ("TABLE x (a int)", "textfile", {}),
        ("TABLE x (a int) STORED AS ORC TBLPROPERTIES ('k'='v')", "orc", {"k": "v"}),
        ("TABLE x (a int) STORED AS ORC TBLPROPERTIES ('transactional'='false')", "orc", {}),
        ("TABLE x (a int) STORED AS ORC TBLPROPERTIES ('TRANSACTIONAL'='True')", "orc",
         {"transactional": "true", "transactional_properties": "default"}),
        ("TRANSACTIONAL TABLE x (a int) STORED AS ORC", "orc", _KINDS[0]),
        ("MANAGED TABLE x (a int) STORED AS ORC", "orc", _KINDS[0]),
        ("TRANSACTIONAL TABLE x (a int)", "textfile", _KINDS[1]),
        ("MANAGED TABLE x (a int)", "textfile", _KINDS[1]),
        ("TRANSACTIONAL TABLE x (a int) STORED AS PARQUET", "parquet", _KINDS[1]),
        ("TRANSACTIONAL TABLE x (a int) CLUSTERED BY (a) SORTED BY (a) INTO 2 BUCKETS "
         "STORED AS ORC", "orc", _KINDS[1]),
        ("TRANSACTIONAL TABLE x (a int) TBLPROPERTIES ('transactional'='false')", "textfile", {}),
        ("TRANSACTIONAL TABLE x AS SELECT 1 AS a", "textfile", _KINDS[1]),
        ("TRANSACTIONAL TABLE x STORED AS ORC AS SELECT 1 AS a", "orc", _KINDS[0]),
        ("TRANSACTIONAL TABLE x LIKE plain", "orc", _KINDS[0]),
        ("TABLE x LIKE t", "orc", _KINDS[0]),
        ("TABLE x LIKE only", "orc", _KINDS[1]),
        ("TABLE x LIKE plain", "orc", {}),
        ("EXTERNAL TABLE x LIKE t", "orc", {"EXTERNAL": "TRUE"}),
        ("TRANSACTIONAL TABLE x (a int) STORED AS PARQUET "
         "TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only')",
         "parquet", {"transactional": "true", "transactional_properties": "insert_only"}),
        ("EXTERNAL TABLE x (a int) STORED AS AVRO", "avro", {"EXTERNAL": "TRUE"}),
    ],
)  # fmt: skip
def test_properties_of_new_tables(clauses: str, format_: str, properties: dict[str, str]) -> None:
    made = bound(f"CREATE {clauses}").table
    assert made.format == format_
    sorted_too = {"SORTBUCKETCOLSPREFIX": "TRUE"} if made.sort_columns else {}
    assert made.properties == {"bucketing_version": "2", **sorted_too, **properties}


def test_create_as_acid_makes_plain_managed_orc_tables_acid() -> None:
    on = {"hive__create__as__acid": "true"}
    assert bound("CREATE TABLE x (a int) STORED AS ORC", **on).table.is_full_acid
    same = {"metastore__create__as__acid": "true"}
    assert bound("CREATE TABLE x (a int) STORED AS ORC", **same).table.is_full_acid
    for clauses in (
        "TABLE x (a int) STORED AS PARQUET",
        "EXTERNAL TABLE x (a int) STORED AS ORC",
        "TABLE x (a int) STORED AS ORC TBLPROPERTIES ('transactional'='false')",
        "TABLE x (a int) CLUSTERED BY (a) SORTED BY (a) INTO 2 BUCKETS STORED AS ORC",
    ):
        assert not bound(f"CREATE {clauses}", **on).table.is_transactional


def test_create_as_insert_only_makes_all_plain_managed_tables_insert_only() -> None:
    on = {"hive__create__as__insert__only": "true"}
    for clauses in (
        "TABLE x (a int)",
        "TABLE x (a int) STORED AS ORC",
        "TABLE x AS SELECT 1 AS a",
        "TABLE x LIKE plain",
        "TABLE x (a int) CLUSTERED BY (a) SORTED BY (a) INTO 2 BUCKETS STORED AS ORC",
    ):
        assert bound(f"CREATE {clauses}", **on).table.is_insert_only
    for clauses in (
        "EXTERNAL TABLE x (a int)",
        "TABLE x (a int) TBLPROPERTIES ('transactional'='false')",
    ):
        assert not bound(f"CREATE {clauses}", **on).table.is_transactional
    for clauses in (
        "TRANSACTIONAL TABLE x (a int) STORED AS ORC",
        "TABLE x (a int) STORED AS ORC TBLPROPERTIES ('transactional'='true')",
    ):
        assert bound(f"CREATE {clauses}", **on).table.is_full_acid
    both = on | {"hive__create__as__acid": "true"}
    assert bound("CREATE TABLE x (a int) STORED AS ORC", **both).table.is_full_acid
    assert bound("CREATE TABLE x (a int)", **both).table.is_insert_only


def test_the_format_of_tables_that_name_none() -> None:
    managed = {"hive__default__fileformat__managed": "ORC"}
    assert bound("CREATE TABLE x (a int)", **managed).table.format == "orc"
    assert bound("CREATE TRANSACTIONAL TABLE x (a int)", **managed).table.is_full_acid
    assert bound("CREATE EXTERNAL TABLE x (a int)", **managed).table.format == "textfile"
    every = {"hive__default__fileformat": "orc"}
    assert bound("CREATE TRANSACTIONAL TABLE x (a int)", **every).table.is_full_acid
    assert bound("CREATE EXTERNAL TABLE x (a int)", **every).table.format == "orc"


def test_create_table_with_everything() -> None:
    made = bound(
        "CREATE EXTERNAL TABLE IF NOT EXISTS db2.x (A int COMMENT 'c', b string) COMMENT 'd' "
        "PARTITIONED BY (p date) CLUSTERED BY (a) SORTED BY (b DESC) INTO 4 BUCKETS "
        "ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' NULL DEFINED AS 'N' "
        "STORED AS TEXTFILE LOCATION '/x'"
    )
    assert isinstance(made, CreateTable)
    assert made.if_not_exists
    x = made.table
    assert x.name == TableName("db2", "x")
    assert [(c.name, str(c.type), c.comment) for c in x.all_columns] == [
        ("a", "int", "c"), ("b", "string", None), ("p", "date", None),
    ]  # fmt: skip
    assert (x.bucket_columns, x.bucket_count, x.sort_columns) == (("a",), 4, ("b",))
    assert x.serde_properties == {
        "field.delim": ",", "serialization.format": ",", "serialization.null.format": "N",
    }  # fmt: skip
    assert (x.type, x.location, x.comment) == ("EXTERNAL_TABLE", "/x", "d")


def test_create_table_like_takes_columns_and_the_kind_but_no_properties() -> None:
    x = bound("CREATE TABLE x LIKE p").table
    assert x.partition_names == ("ds", "hr")
    assert x.column_names == ("id", "v", "day")
    assert x.is_full_acid
    assert x.location == ""


def test_create_table_as_select() -> None:
    made = bound("CREATE TRANSACTIONAL TABLE x AS SELECT id, count(*) FROM t GROUP BY id")
    assert isinstance(made, CreateTable)
    assert made.rows is not None
    assert made.rows.sql == ("SELECT id, count(*) AS `_c1` FROM `default__t__1` AS `t` GROUP BY id")
    made = bound("CREATE TABLE x PARTITIONED BY (id) AS SELECT id, name FROM t")
    assert made.rows.sql.startswith("SELECT `name`, `id` FROM (SELECT")
    assert [column.name for column in made.table.partition_columns] == ["id"]
    assert bound("CREATE TABLE IF NOT EXISTS t AS SELECT 1 AS id").rows is None
    assert bound("CREATE TEMPORARY TABLE x (a int)").temporary


@pytest.mark.parametrize(
    ("query", "rewrite", "incremental"),
    [
        ("SELECT id FROM t WHERE id > 1", True, "inserts"),
        ("SELECT id, sum(amount) s, count(*) c FROM t GROUP BY id", True, "all"),
        ("SELECT id, count(*) c FROM t GROUP BY id", True, "all"),
        ("SELECT id, sum(amount) s, count(1) c FROM t GROUP BY id", True, "all"),
        ("SELECT t.id, count(*) c FROM t JOIN s ON t.id = s.id GROUP BY t.id", True, "all"),
        ("SELECT id, sum(amount) s FROM t GROUP BY id", True, "inserts"),
        ("SELECT id, count(amount) c FROM t GROUP BY id", True, "inserts"),
        ("SELECT id, count(*) c FROM (SELECT DISTINCT id FROM t) x GROUP BY id", True, "inserts"),
        ("SELECT id, min(amount) s, count(*) c FROM t GROUP BY id", True, "inserts"),
        ("SELECT DISTINCT id FROM t", True, "inserts"),
        ("SELECT id, row_number() OVER (ORDER BY id) r FROM t", True, "inserts"),
        ("SELECT t.id FROM t JOIN s ON t.id = s.id", True, "inserts"),
        ("SELECT t.id FROM t LEFT JOIN s ON t.id = s.id", True, "none"),
        ("SELECT id FROM t WHERE EXISTS (SELECT 1 FROM s WHERE s.id = t.id)", True, "none"),
        ("SELECT id FROM t WHERE id IN (SELECT s.id FROM s)", True, "none"),
        ("SELECT id FROM t UNION ALL SELECT id FROM s", True, "none"),
        ("SELECT id FROM t ORDER BY id", True, "none"),
        ("SELECT id FROM t LIMIT 2", True, "none"),
        ("SELECT id, rand() r FROM t", False, "inserts"),
        ("SELECT id, current_date d FROM t", False, "inserts"),
    ],
)
def test_what_hive_could_do_with_a_materialized_view(
    query: str, rewrite: bool, incremental: str
) -> None:
    made = bound(f"CREATE MATERIALIZED VIEW x AS {query}").table
    assert (made.type, made.format) == ("MATERIALIZED_VIEW", "orc")
    assert (made.materialized.rewrite, made.materialized.incremental) == (rewrite, incremental)
    assert not bound(
        f"CREATE MATERIALIZED VIEW x DISABLE REWRITE AS {query}"
    ).table.materialized.rewrite


def test_a_materialized_view_knows_its_text_and_its_tables() -> None:
    made = bound(
        "CREATE MATERIALIZED VIEW x COMMENT 'c' PARTITIONED ON (id) STORED AS TEXTFILE "
        "TBLPROPERTIES ('k'='v') AS SELECT t.id, s.op FROM t JOIN s ON t.id = s.id"
    )
    assert made.rows.sql.startswith("SELECT `op`, `id` FROM (SELECT")
    assert made.table.view_text == (
        "SELECT `op`, `id` FROM (SELECT `t`.`id`, `s`.`op` FROM `default`.`t` "
        "JOIN `default`.`s` ON `t`.`id` = `s`.`id`) `x`"
    )
    assert made.table.partition_names == ("id",)
    assert set(made.table.materialized.sources) == {"default.t", "default.s"}
    assert (made.table.comment, made.table.properties["k"]) == ("c", "v")
    made = bound(
        "CREATE MATERIALIZED VIEW x DISABLE REWRITE AS SELECT id FROM v JOIN plain USING (id)"
    )
    assert set(made.table.materialized.sources) == {"default.t", "default.plain"}
    assert bound("CREATE MATERIALIZED VIEW IF NOT EXISTS kept AS SELECT id FROM t").rows is None
    like = bound("CREATE TABLE x LIKE kept").table
    assert (like.type, like.view_text, like.materialized) == ("MANAGED_TABLE", None, None)
    (target,) = bound("ALTER MATERIALIZED VIEW kept REBUILD").targets
    assert (target.overwrite, target.rebuilds) == (True, True)
    assert target.query.sql == "SELECT `t`.`id` FROM `default__t__1` AS `t`"
    off = bound("ALTER MATERIALIZED VIEW kept DISABLE REWRITE").altered.materialized
    assert not off.rewrite
    assert bound("DROP MATERIALIZED VIEW IF EXISTS kept").kind == "MATERIALIZED VIEW"


def test_partition_columns_have_constraints_that_are_only_told() -> None:
    made = bound(
        "CREATE TABLE x (a int NOT NULL) PARTITIONED BY "
        "(s string COMMENT 'c', i int NOT NULL DISABLE, k int PRIMARY KEY DISABLE NOVALIDATE)"
    ).table
    assert made.partition_names == ("s", "i", "k")
    assert [(one.kind, one.columns, one.enabled) for one in made.constraints] == [
        ("not null", ("a",), True), ("not null", ("i",), False), ("primary key", ("k",), False),
    ]  # fmt: skip


@pytest.mark.parametrize("key", ["hive.metastore", "metastore"])
def test_columns_get_any_type_where_that_is_allowed(key: str) -> None:
    sql = "ALTER TABLE p CHANGE v v int"
    with pytest.raises(SemanticError, match="types incompatible") as caught:
        bound(sql)
    assert caught.value.code == 40013
    setting = {f"{key}.disallow.incompatible.col.type.changes".replace(".", "__"): "false"}
    assert bound(sql, **setting).altered.columns[1].type == INT
    # Those of a partition get it anyway, as in Hive.
    part = bound(sql.replace("CHANGE", "PARTITION (ds='2024-01-01', hr=1) CHANGE"))
    assert part.altered[0].storage.columns[1].type == INT


def test_concatenate_writes_the_same_rows_or_compacts() -> None:
    made = bound("ALTER TABLE t CONCATENATE")
    assert isinstance(made, CompactTable)
    assert (made.kind, made.wait, made.partitions) == ("major", True, ())
    made = bound("ALTER TABLE p PARTITION (ds='2024-01-01', hr=1) CONCATENATE")
    assert [one.values for one in made.partitions] == [("2024-01-01", "1")]
    (target,) = bound("ALTER TABLE plain CONCATENATE").targets
    assert (target.overwrite, target.table.name.name) == (True, "plain")
    assert target.query.sql == "SELECT `id`, `v` FROM `default__plain__1`"


def test_a_view_keeps_full_names_and_the_columns_of_its_day() -> None:
    made = bound("CREATE OR REPLACE VIEW db2.w AS SELECT *, id + 1 FROM t WHERE id > 1", "default")
    assert isinstance(made, CreateView)
    assert made.or_replace
    assert [(c.name, str(c.type)) for c in made.table.columns] == [
        ("id", "int"), ("name", "string"), ("amount", "decimal(10,2)"), ("_c1", "int"),
    ]  # fmt: skip
    assert made.table.view_original == "SELECT *, id + 1 FROM t WHERE id > 1"
    assert made.table.view_text == (
        "SELECT `t`.`id`, `t`.`name`, `t`.`amount`, `t`.`id` + 1 FROM `default`.`t` "
        "WHERE `t`.`id` > 1"
    )


@pytest.mark.parametrize(
    ("query", "expanded"),
    [
        (
            "t.id, count(1) N FROM default.t group by t.id order by n",
            "`t`.`id`, count(1) `n` FROM `default`.`t` group by `t`.`id` order by n",
        ),
        (
            "x.id FROM t x JOIN t AS `y z` ON x.id = `y z`.id",
            "`x`.`id` FROM `default`.`t` `x` JOIN `default`.`t` AS `y z` ON `x`.`id` = `y z`.`id`",
        ),
        (
            "* FROM (SELECT id AS k FROM t) s LATERAL VIEW explode(array(k)) e AS v",
            "`s`.`k`, `e`.`v` FROM (SELECT `t`.`id` AS `k` FROM `default`.`t`) `s` "
            "LATERAL VIEW explode(array(`s`.`k`)) `e` AS `v`",
        ),
        (
            "a.name FROM t a JOIN t b USING (id) WHERE id > 1",
            "`a`.`name` FROM `default`.`t` `a` JOIN `default`.`t` `b` USING (id) WHERE `id` > 1",
        ),
        (
            "id FROM t WHERE EXISTS (SELECT 1 FROM p WHERE p.id = t.id)",
            "`t`.`id` FROM `default`.`t` WHERE EXISTS "
            "(SELECT 1 FROM `default`.`p` WHERE `p`.`id` = `t`.`id`)",
        ),
    ],
)
def test_the_query_of_a_view_is_expanded_as_in_hive(query: str, expanded: str) -> None:
    made = bound(f"CREATE VIEW db2.w AS SELECT {query}", "default")
    assert isinstance(made, CreateView)
    assert made.table.view_original == f"SELECT {query}".replace("`", "")
    assert made.table.view_text == f"SELECT {expanded}"


@pytest.mark.parametrize(
    ("query", "names"),
    [
        # What real Hive 4.1 calls them.
        ("id AS `_c1`, name FROM t", ["id", "name"]),
        ("id + 1 AS `_c5`, name AS `_C0` FROM t", ["_c5", "name"]),
        ("id AS `_c1`, id AS `_c2` FROM t", ["id", "_c2"]),
        ("*, id AS `_c9` FROM t", ["id", "name", "amount", "_c9"]),
        ("cast(id AS bigint), cast(name AS int) AS `_cx` FROM t", ["id", "name"]),
        ("q.id AS `_c1` FROM (SELECT * FROM t) q", ["id"]),
        ("* FROM (SELECT id AS `_c1`, name AS `_c` FROM t) q", ["id", "name"]),
        ("`_c0` AS `_c7` FROM (SELECT id + 1 FROM t) q", ["_c7"]),
        ("cast(a.id AS int), b.id AS `_c1` FROM t a JOIN t b ON a.id = b.id", ["_c0", "_c1"]),
        ("DISTINCT id AS `_c5` FROM t", ["_c5"]),
        ("id AS `_c5`, count(*) FROM t GROUP BY id", ["_c5", "_c1"]),
        ("id AS `_c1`, sum(id) OVER () FROM t", ["_c1", "sum_window_0"]),
        ("id AS `_c1`, e FROM t LATERAL VIEW explode(array(id)) x AS e", ["_c1", "e"]),
    ],
)
def test_aliases_that_look_like_names_of_hives_own(query: str, names: list[str]) -> None:
    made = bound(f"CREATE VIEW db2.w AS SELECT {query}", "default")
    assert isinstance(made, CreateView)
    assert [column.name for column in made.table.columns] == names


def test_a_view_that_names_its_columns_has_them_in_its_text() -> None:
    made = bound("CREATE VIEW db2.w (x, y) AS SELECT id, name n FROM t", "default")
    assert isinstance(made, CreateView)
    assert made.table.view_text == (
        "SELECT `id` AS `x`, `n` AS `y` FROM "
        "(SELECT `t`.`id`, `t`.`name` `n` FROM `default`.`t`) `w`"
    )


@pytest.mark.parametrize(
    ("sql", "static", "dynamic"),
    [
        ("INSERT INTO p PARTITION (ds='a', hr=01) SELECT 1, 'x', null", {"ds": "a", "hr": "1"},
         ()),
        ("INSERT INTO p PARTITION (ds='a', hr) SELECT 1, 'x', null, 2", {"ds": "a"}, ("hr",)),
        ("INSERT INTO p PARTITION (ds, hr) SELECT 1, 'x', null, 'd', 2", {}, ("ds", "hr")),
        ("INSERT INTO p SELECT 1, 'x', null, 'd', 2", {}, ("ds", "hr")),
        (f"INSERT INTO p PARTITION (ds='{DEFAULT_PARTITION}', hr='{DEFAULT_PARTITION}') "
         "SELECT 1, 'x', null", {"ds": None, "hr": None}, ()),
        ("INSERT INTO p PARTITION (ds=DATE '2024-01-05', hr=-1) SELECT 1, 'x', null",
         {"ds": "2024-01-05", "hr": "-1"}, ()),
    ],
)  # fmt: skip
def test_partitions_of_an_insert(
    sql: str, static: dict[str, str | None], dynamic: tuple[str, ...]
) -> None:
    (target,) = bound(sql).targets
    assert (target.static_partition, target.dynamic_partition) == (static, dynamic)


def test_an_insert_knows_the_partition_that_exists() -> None:
    sql = "INSERT INTO p PARTITION (ds='{}', hr=1) SELECT 1, 'x', null"
    assert bound(sql.format("2024-01-01")).targets[0].partition is not None
    assert bound(sql.format("2025-01-01")).targets[0].partition is None


def test_multi_insert_reads_its_source_once_for_each_branch() -> None:
    made = bound(
        "WITH q AS (SELECT * FROM s) FROM q JOIN t ON q.id = t.id "
        "INSERT INTO t SELECT q.id, q.name, 1 WHERE q.id > 1 "
        "INSERT OVERWRITE TABLE p PARTITION (ds='x', hr) SELECT t.id, 'v', null, 2 LIMIT 3"
    )
    assert isinstance(made, InsertRows)
    first, second = made.targets
    assert " ".join(first.query.sql.split()) == (
        "WITH q AS (SELECT * FROM `default__s__1` AS `s`) FROM q JOIN `default__t__1` AS `t` "
        "ON q.id = t.id SELECT q.id, q.name, 1 AS `_c2` WHERE q.id > 1"
    )
    assert [source.view for source in second.query.sources] == ["default__s__2", "default__t__2"]
    assert (first.overwrite, second.overwrite) == (False, True)


def test_update_delete_and_their_subqueries() -> None:
    update = bound(
        "UPDATE t SET name = upper(t.name), amount = DEFAULT "
        "WHERE id IN (SELECT id FROM s WHERE s.name = t.name) AND default.t.id > 3"
    )
    assert isinstance(update, UpdateRows)
    assert {key: str(value) for key, value in update.assignments.items()} == {
        "name": "upper(t.name)", "amount": "NULL",
    }  # fmt: skip
    assert str(update.where) == (
        "id IN (SELECT id FROM `default__s__1` AS `s` WHERE s.name = t.name) AND t.id > 3"
    )
    assert [source.view for source in update.subqueries] == ["default__s__1"]
    assert (update.alias, update.target.with_row_id, update.target.where) == (
        "t", True, AllOf((Compare("id", ">", 3),)),
    )  # fmt: skip
    delete = bound("DELETE FROM db2.t WHERE k = 1")
    assert isinstance(delete, DeleteRows)
    assert (delete.alias, delete.target.table.name) == ("t", TableName("db2", "t"))


def test_merge() -> None:
    merge = bound(
        "MERGE INTO p AS T USING (SELECT id, name FROM s WHERE op = 'x') S "
        "ON T.id = S.id AND T.ds = '2024-01-01' "
        "WHEN MATCHED AND S.name IS NULL THEN DELETE "
        "WHEN MATCHED THEN UPDATE SET v = S.name, T.day = DEFAULT "
        "WHEN NOT MATCHED AND EXISTS (SELECT 1 FROM t x WHERE x.id = S.id) "
        "THEN INSERT (id, ds) VALUES (S.id, '2024-01-01')"
    )
    assert isinstance(merge, MergeRows)
    assert (merge.alias, merge.source_alias, merge.on_mentions_target) == ("t", "s", True)
    assert merge.source.sql == (
        "SELECT * FROM (SELECT id, name FROM `default__s__1` AS `s` WHERE op = 'x') S"
    )
    assert str(merge.on) == "T.id = S.id AND T.ds = '2024-01-01'"
    assert len(merge.target.partitions) == 2
    assert [source.view for source in merge.subqueries] == ["default__t__1"]
    delete, update, insert = merge.clauses
    assert str(delete.condition) == "S.name IS NULL"
    assert {key: str(value) for key, value in update.assignments.items()} == {
        "v": "S.name", "day": "NULL",
    }  # fmt: skip
    assert [str(value) for value in insert.values] == [
        "S.id", "NULL", "NULL", "'2024-01-01'", "NULL",
    ]  # fmt: skip


def test_merge_of_a_table_and_of_values() -> None:
    merge = bound("MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN DELETE")
    assert (merge.source.sql, merge.source_alias) == ("SELECT * FROM `default__s__1` AS `s`", "s")
    merge = bound(
        "MERGE INTO t USING (VALUES (1, 'a')) AS s(id, name) ON t.id = s.id "
        "WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.name, NULL)"
    )
    assert merge.source.sql == "SELECT * FROM (VALUES (1, 'a')) AS s(id, name)"
    with pytest.raises(HiveSqlError) as caught:
        bound("MERGE INTO t USING t ON t.id = t.id WHEN MATCHED THEN DELETE")
    assert caught.value.code == 10008


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ("PARTITION (ds='2024-01-01')", ["1", "12"]),
        ("PARTITION (ds='2024-01-01', hr=12)", ["12"]),
        ("PARTITION (hr > 2)", ["12", "3"]),
        ("PARTITION (ds < '2024-01-02'), PARTITION (hr=2)", ["1", "12", "2"]),
        (f"PARTITION (hr='{DEFAULT_PARTITION}')", [None]),
        ("PARTITION (ds != '2024-01-01', hr <= 2)", ["2"]),
    ],
)
def test_partitions_to_drop(filters: str, expected: list[str | None]) -> None:
    made = bound(f"ALTER TABLE p DROP {filters}")
    assert isinstance(made, DropPartitions)
    assert [partition.values[1] for partition in made.partitions] == expected


@pytest.mark.parametrize(
    ("sql", "kind", "expected"),
    [
        ("USE DB2", UseDatabase, {"name": "db2"}),
        ("CREATE DATABASE d", CreateDatabase, {"if_not_exists": False}),
        ("DROP TABLE IF EXISTS nosuch PURGE", DropTable, {"if_exists": True, "purge": True}),
        ("DROP VIEW v", DropTable, {"kind": "VIEW", "name": TableName("default", "v")}),
        ("TRUNCATE TABLE t", TruncateTable, {"partitions": None}),
        ("ALTER TABLE t SET TBLPROPERTIES ('TRANSACTIONAL'='true')", AlterTable,
         {"change": ChangeProperties(set={"transactional": "true"})}),
        ("ALTER TABLE t UNSET TBLPROPERTIES IF EXISTS ('x')", AlterTable,
         {"change": ChangeProperties(unset=("x",), if_exists=True)}),
        ("ALTER VIEW v SET TBLPROPERTIES ('a'='b')", AlterView, {"reads": ()}),
        ("ALTER VIEW v RENAME TO w", RenameTable, {"to": TableName("default", "w")}),
        ("ALTER DATABASE db2 SET OWNER ROLE r", AlterDatabase, {}),
        ("ALTER TABLE p PARTITION (ds='2024-01-01', hr=12) RENAME TO PARTITION (ds='x', hr=1)",
         RenamePartition, {"values": ("x", "1")}),
        ("ALTER TABLE p PARTITION (ds='2024-01-01', hr=12) SET LOCATION '/x'", MovePartition,
         {"location": "/x"}),
        ("ALTER TABLE p2 EXCHANGE PARTITION (ds='1') WITH TABLE p1", ExchangePartitions, {}),
        ("ALTER TABLE t TOUCH", Touch, {}),
        ("ALTER TABLE t RENAME TO db2.u", RenameTable, {"to": TableName("db2", "u")}),
        ("ALTER TABLE p ADD PARTITION (ds='x', hr=1) LOCATION '/y'", LoadData,
         {"path": "/y", "values": ("x", "1"), "adds_partition": True}),
        ("ALTER TABLE p COMPACT 'MAJOR' AND WAIT", CompactTable,
         {"kind": "major", "wait": True, "partitions": ()}),
        ("ABORT TRANSACTIONS 1 2", AbortTransactions, {"txn_ids": (1, 2)}),
        ("SHOW TABLES LIKE 'a*'", Show, {"kind": "tables", "database": "default", "pattern": "a*"}),
        ("SHOW VIEWS IN db2", Show, {"kind": "views", "database": "db2"}),
        ("SHOW COLUMNS FROM t IN db2", Show, {"kind": "columns"}),
        ("SHOW LOCKS p PARTITION (ds='a b', hr=1) EXTENDED", Show,
         {"kind": "locks", "partition": "ds=a b/hr=1", "extended": True}),
        ("SHOW LOCKS DATABASE db2", Show, {"kind": "locks", "database": "db2"}),
        ("SHOW LOCKS DATABASE nosuch", Show, {"kind": "locks", "database": "nosuch"}),
        ("SHOW LOCKS nosuch.u PARTITION (a=1, b='x y')", Show,
         {"absent": TableName("nosuch", "u"), "partition": "a=1/b=x y", "table": None}),
        ("SHOW COMPACTIONS gone", Show, {"absent": TableName("default", "gone")}),
        ("SHOW COMPACTIONS ORDER BY 'TabName' DESC, type", Show,
         {"compactions": CompactionFilter(order=(OrderKey("tabname", True), OrderKey("type")))}),
        ("SHOW FUNCTIONS LIKE 'a*'", Show, {"kind": "functions", "pattern": "a*"}),
        ("DESCRIBE FORMATTED p PARTITION (ds='2024-01-01', hr=12)", Describe,
         {"style": "formatted"}),
        ("DESCRIBE DATABASE db2", Describe, {"database": "db2"}),
        ("SET a=b", SetSetting, {"key": "a", "value": "b"}),
        ("EXPLAIN LOCKS SELECT 1", Explain, {"style": "locks"}),
        ("SELECT 1", SelectRows, {}),
    ],
)  # fmt: skip
def test_commands(sql: str, kind: type, expected: dict[str, Any]) -> None:
    made = bound(sql)
    assert isinstance(made, kind)
    assert {key: getattr(made, key) for key in expected} == expected


def test_names_are_looked_up_in_the_current_database() -> None:
    assert bound("SELECT k FROM T", "db2").query.sources[0].view == "db2__t__1"
    with pytest.raises(NoSuchObject):
        bound("SELECT * FROM s", "db2")
    catalog = MemoryCatalog.of(table("MY.T".lower(), "a int"))
    made = bind(parse(StatementText("SELECT A FROM My.T")), catalog)
    assert isinstance(made, SelectRows)
    assert made.query.sources[0].scan.table.name == TableName("my", "t")


def test_properties_that_settings_give_new_tables() -> None:
    given = {"hive__table__parameters__default": "k=w, l = m,odd"}
    made = bound("CREATE TABLE x (a int) TBLPROPERTIES ('k'='v')", **given).table
    assert made.properties == {"k": "v", "l": "m", "bucketing_version": "2"}
    like = bound("CREATE TABLE x LIKE plain", **given).table
    assert like.properties == {"k": "w", "l": "m", "bucketing_version": "2"}


def test_every_statement_has_a_function_that_binds_it() -> None:
    bodies = {
        name
        for module in (alter, authorization, commands, ddl, dml, functions)
        for name, kind in vars(module).items()
        if isinstance(kind, type) and name.endswith("Body")
    }
    assert set(BINDERS) == bodies - {"ExplainBody"} | {
        "AddPartitions", "AlterDatabase", "AlterView", "Analyze", "Compact", "Concatenate",
        "Create", "CreateDatabase", "Delete", "DropPartitions", "Except", "ExchangePartition",
        "ExportTable", "ImportTable", "Insert", "Intersect", "LoadData", "Merge", "MovePartition",
        "MultiInsert", "Restore",
        "Rebuild", "Rename", "RenamePartition", "Repair", "Select", "Subquery", "Touch",
        "Truncate", "Union", "Update", "UpdateStatistics", "Values",
    }  # fmt: skip
    for place in BINDERS.values():
        module, function = place.split(".")
        assert callable(getattr(import_module(f"hivesql.binder.{module}"), function))


_STRUCT = "if(true, named_struct('a', array(named_struct('a', 1))), null)"


@pytest.mark.parametrize("value", ["1L", "-1L", "1.5BD", "CAST(1 AS INT)", "(1)", "'a'", _STRUCT])
@pytest.mark.parametrize("field", [".a", ".a.a", ".a[0].a"])
def test_a_field_may_be_asked_of_any_value(value: str, field: str) -> None:
    """Whether it has one is Spark's to tell, where the type is not known before."""
    assert isinstance(bound(f"SELECT {value}{field} FROM t"), SelectRows)


@pytest.mark.parametrize("value", ["1L", "-1L", "1.5BD", "CAST(1 AS INT)", "(1)", "'a'"])
def test_an_element_is_asked_of_collections_alone(value: str) -> None:
    with pytest.raises(SemanticError, match="10033"):
        bound(f"SELECT {value}[0] FROM t")
