"""What a start imports: Spark's modules take longer than the answers of the metastore."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

# What only changes of definitions, rewrites of rows and lists of files need.
CHANGES = {
    "hivesql.dialect.nodes.alter", "hivesql.dialect.nodes.ddl",
    "hivesql.dialect.plain_rows", "hivesql.dry_run",
    "hivesql.dialect.nodes.dml", "hivesql_executor.statements.definitions",
    "hivesql_planner.acid.snapshot", "hivesql_planner.statements.ddl",
    "hivesql_planner.transactional_plans", "hivesql_planner.explain", "hivesql_planner.local",
}  # fmt: skip
# What only changes of definitions need.
ALTERATIONS = {
    "hivesql.dialect.nodes.alter", "hivesql.binder.alter", "hivesql.dialect.nodes.ddl",
    "hivesql.dialect.statements.alter",
    "hivesql_planner.locks.alterations", "hivesql_planner.statements.alter",
    "hivesql_planner.statements.ddl",
}  # fmt: skip
# What takes longer to import than a metastore in a file takes to answer.
DATABASE = {"sqlalchemy", "asyncio", "ssl", "alembic"}
HEAVY = {
    "pyspark", "py4j", "pyarrow", "numpy", "pyorc", "prompt_toolkit", "opentelemetry",
    "prometheus_client", "hivesql.metrics",
}  # fmt: skip
MAIN = (
    "import json, sys; from hivesql_repl.cli import main; code = main(sys.argv[1:]); "
    "print(json.dumps([code, sorted(sys.modules)]))"
)
QUESTIONS = """
show databases; show tables; show locks; show transactions; show compactions; use default;
set hive.lock.numretries; describe database default; start transaction; rollback;
"""
EXPLAINED = "explain select 1; explain values (1); explain locks select 1;"
COMMANDS = f"{QUESTIONS} drop table if exists nosuch;"
METADATA_ONLY = """
show tables; show databases; show locks; show transactions; show compactions;
create table t (a int, b string) partitioned by (p int) stored as orc
  tblproperties ('transactional'='true');
alter table t add partition (p=1); alter table t set tblproperties ('k'='v');
show partitions t; show create table t; show tblproperties t; show columns in t;
describe t; describe formatted t; describe extended t partition (p=1);
create view v as select a from t; show views;
explain select b, count(*) from t where p = 1 group by b;
explain locks update t set b = 'x' where a = 1;
explain insert into t partition (p) values (1, 'x', 2);
drop view v; truncate table t; alter table t drop partition (p=1); drop table t;
"""

READ_ONLY = """
show databases; show tables; show views; show extended tables; show locks; show locks p;
show transactions; use default; show partitions p; show create table t; show tblproperties t;
show columns in t; describe t; describe formatted t; describe formatted t b; describe p;
describe database default; set hive.lock.numretries;
"""
PLANS = """
explain select b, count(*) from t where a > 1 group by b; explain select * from p where k = 1;
explain locks select * from v; explain insert into p partition (k) values (1, 2);
explain update t set b = 'x' where a = 1; explain delete from p where k > 1;
"""
DEFINED = """
create table t (a int, b string) clustered by (a) into 2 buckets stored as orc
  tblproperties ('transactional'='true');
create table p (a int) partitioned by (k int) stored as orc tblproperties ('transactional'='true');
alter table p add partition (k=1) partition (k=2); create view v as select a from t;
"""

SMALL = """
create table t (a int, b string) partitioned by (p int) stored as orc
  tblproperties ('transactional'='true');
insert into t values (1, 'x', 1), (2, 'y', 2); update t set b = 'z' where a = 1;
delete from t where p = 2;
"""


@pytest.mark.parametrize(
    ("script", "unwanted"),
    [
        (QUESTIONS, CHANGES),
        (EXPLAINED, ALTERATIONS | HEAVY),
        (COMMANDS, HEAVY | {"sqlglot", "rich", "psycopg"}),
        (METADATA_ONLY, HEAVY),
        (SMALL, {"pyspark", "py4j"}),
    ],
    ids=["questions", "plans of queries", "commands", "definitions and plans", "small statements"],
)
def test_what_statements_without_spark_import(
    script: str, unwanted: set[str], tmp_path: Path
) -> None:
    assert not unwanted & imported_by(script, tmp_path)


def test_what_is_asked_of_a_metastore_in_a_file_needs_no_database_layer(tmp_path: Path) -> None:
    assert imported_by(DEFINED, tmp_path) >= {"sqlalchemy"}
    unwanted = DATABASE | HEAVY | CHANGES | {"importlib.metadata", "sqlglot", "rich", "psycopg"}
    assert not unwanted & imported_by(READ_ONLY, tmp_path)
    assert not (DATABASE | HEAVY | ALTERATIONS) & imported_by(PLANS, tmp_path)


def imported_by(script: str, home: Path) -> set[str]:
    """The modules that are there after a script."""
    command = [sys.executable, "-c", MAIN, "--silent", "-e", script]
    done = subprocess.run(
        command, cwd=home, capture_output=True, text=True, check=False, timeout=120
    )
    code, imported = json.loads(done.stdout.splitlines()[-1])
    assert code == 0, done.stderr
    return set(imported)


def test_a_name_that_nobody_knows_starts_no_spark_to_ask(tmp_path: Path) -> None:
    command = [sys.executable, "-c", MAIN, "--silent", "-e", "select * from nosuch"]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120
    )
    code, imported = json.loads(done.stdout.splitlines()[-1])
    assert code == 2 and "Table not found: default.nosuch" in done.stderr
    assert not HEAVY & set(imported)
