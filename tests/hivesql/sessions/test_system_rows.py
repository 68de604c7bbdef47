"""A look into ``sys`` and ``information_schema`` that needs no Spark starts none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import hivesql


@pytest.fixture
def session(tmp_path: Path) -> Iterator[hivesql.Session]:
    with hivesql.connect(f"sqlite:///{tmp_path}/metastore.db", tmp_path / "wh") as session:
        session.sql("""
            CREATE TABLE t (a INT) STORED AS ORC TBLPROPERTIES ('transactional'='true');
            CREATE VIEW v AS SELECT a FROM t;
            INSERT INTO t VALUES (1)
        """)
        yield session
        assert not session._spark.started


ANSWERS: dict[str, list[tuple[Any, ...]]] = {
    "SELECT schema_name FROM information_schema.schemata": [("default",)],
    "SELECT table_name FROM information_schema.tables ORDER BY table_name DESC": [("v",), ("t",)],
    "SELECT table_name FROM information_schema.tables WHERE table_type = 'VIEW'": [("v",)],
    "SELECT table_name FROM information_schema.tables ORDER BY table_name LIMIT 1": [("t",)],
    "SELECT count(*) FROM information_schema.columns WHERE ordinal_position = 0": [(2,)],
    "SELECT is_updatable, 'x' FROM information_schema.views": [(False, "x")],
    "SELECT max(tbl_name), min(tbl_id) FROM sys.tbls": [("v", 1)],
    "SELECT tbl_name FROM sys.tbls WHERE view_original_text IS NULL": [("t",)],
    "SELECT count(*) FROM sys.roles WHERE role_name = 'nobody'": [(0,)],
    "SELECT files, deltas, delete_deltas FROM sys.hivesql_table_layout": [(1, 1, 0)],
}


def test_answers_come_without_spark(session: hivesql.Session) -> None:
    answers = {sql: [tuple(row) for row in session.sql(sql).rows] for sql in ANSWERS}
    assert answers == ANSWERS


def test_types_are_those_of_the_columns(session: hivesql.Session) -> None:
    result = session.sql("SELECT tbl_id, create_time, tbl_name FROM sys.tbls")
    assert result.types == ("bigint", "int", "string")


def test_explain_says_so(session: hivesql.Session) -> None:
    told = [line for (line,) in session.sql("EXPLAIN SELECT * FROM sys.dbs").rows]
    assert told[1] == "  without Spark"
