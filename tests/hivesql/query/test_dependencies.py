"""EXPLAIN DEPENDENCY tells what real Hive 4.1 tells: tables, views and partitions that are read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import hivesql

_TABLES = """
CREATE TABLE t (a INT, s STRING);
CREATE TABLE pt (a INT) PARTITIONED BY (p INT, q STRING);
ALTER TABLE pt ADD PARTITION (p = 1, q = 'x') PARTITION (p = 2, q = 'y');
CREATE TABLE ac (a INT) STORED AS ORC TBLPROPERTIES ('transactional' = 'true');
CREATE VIEW v AS SELECT a FROM pt WHERE p = 1;
CREATE VIEW vv AS SELECT v.a FROM v JOIN t ON v.a = t.a;
CREATE EXTERNAL TABLE ex (a INT);
CREATE DATABASE d2;
CREATE TABLE d2.z (a INT)
"""
_DUMMY = {"tablename": "_dummy_database@_dummy_table", "tabletype": "MANAGED_TABLE"}
_BOTH = ("default@pt@p=1/q=x", "default@pt@p=2/q=y")


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[hivesql.Session]:
    root: Path = tmp_path_factory.mktemp("dependencies")
    with hivesql.connect(f"sqlite:///{root}/metastore.db", root / "warehouse") as session:
        for statement in _TABLES.strip().split(";\n"):
            session.sql(statement)
        yield session


def read(name: str, *parents: str, kind: str = "MANAGED_TABLE") -> dict[str, str]:
    told = {"tablename": f"{'' if '@' in name else 'default@'}{name}", "tabletype": kind}
    return {**told, "tableParents": f"[{', '.join(parents)}]"} if parents else told


VIEW = read("v", kind="VIRTUAL_VIEW")
OUTER = read("vv", kind="VIRTUAL_VIEW")
INNER = [
    read("v", "default@vv", kind="VIRTUAL_VIEW"), read("t", "default@vv"),
    read("pt", "default@v"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("statement", "tables", "partitions"),
    [
        ("SELECT * FROM t", [read("t")], ()),
        ("SELECT * FROM d2.z", [read("d2@z")], ()),
        ("SELECT * FROM ex", [read("ex", kind="EXTERNAL_TABLE")], ()),
        ("SELECT * FROM pt", [read("pt")], _BOTH),
        ("SELECT * FROM pt WHERE p = 1", [read("pt")], _BOTH[:1]),
        ("SELECT * FROM pt WHERE p = 5", [read("pt")], ()),
        ("SELECT * FROM v", [VIEW, read("pt", "default@v")], _BOTH[:1]),
        ("SELECT * FROM vv JOIN ac ON vv.a = ac.a", [OUTER, read("ac"), *INNER], _BOTH[:1]),
        ("WITH q AS (SELECT * FROM t) SELECT * FROM q", [read("t")], ()),
        ("SELECT * FROM t WHERE a IN (SELECT a FROM ac)", [read("t"), read("ac")], ()),
        ("SELECT t.* FROM t JOIN t u ON t.a = u.a", [read("t")], ()),
        ("SELECT a FROM t UNION ALL SELECT a FROM ac", [read("t"), read("ac")], ()),
        ("SELECT 1", [_DUMMY], ()),
        ("INSERT INTO t VALUES (1, 'a')", [_DUMMY], ()),
        ("INSERT INTO t SELECT a, 'x' FROM pt WHERE q = 'y'", [read("pt")], _BOTH[1:]),
        ("INSERT OVERWRITE TABLE pt PARTITION (p, q) SELECT a, a, s FROM t", [read("t")], ()),
        ("CREATE TABLE n AS SELECT * FROM pt", [read("pt")], _BOTH),
        ("UPDATE ac SET a = 1 WHERE a = 2", [read("ac")], ()),
        (
            "MERGE INTO ac USING t ON ac.a = t.a WHEN MATCHED THEN DELETE",
            [read("t"), read("ac")],
            (),
        ),
    ],
)
def test_what_is_read(
    session: hivesql.Session, statement: str, tables: list[object], partitions: tuple[str, ...]
) -> None:
    ((line,),) = session.sql(f"EXPLAIN DEPENDENCY {statement}").rows
    assert json.loads(line) == {
        "input_tables": tables,
        "input_partitions": [{"partitionName": name} for name in partitions],
    }


@pytest.mark.parametrize("statement", ["DROP TABLE t", "SHOW TABLES", "ALTER TABLE t RENAME TO u"])
def test_statements_that_read_no_rows_are_refused(session: hivesql.Session, statement: str) -> None:
    with pytest.raises(hivesql.NotSupported, match="EXPLAIN DEPENDENCY of a statement that is no"):
        session.sql(f"EXPLAIN DEPENDENCY {statement}")
