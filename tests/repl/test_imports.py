"""What a start imports: Spark's modules take longer than the answers of the metastore."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

# What only changes of definitions, rewrites of rows and lists of files need.
CHANGES = {
    "hivesql.alter_trees", "hivesql.definition_trees", "hivesql.plain_rows", "hivesql.rehearsal",
    "hivesql.row_trees", "hivesql_executor.definitions",
    "hivesql_planner.acid.snapshot", "hivesql_planner.ddl", "hivesql_planner.deciding",
    "hivesql_planner.explain", "hivesql_planner.small",
}  # fmt: skip
# What only changes of definitions need.
ALTERATIONS = {
    "hivesql.alter_trees", "hivesql.bind_alter", "hivesql.definition_trees", "hivesql.parse_alter",
    "hivesql_planner.alter", "hivesql_planner.altered_locks", "hivesql_planner.ddl",
}  # fmt: skip
HEAVY = {"pyspark", "py4j", "pyarrow", "numpy", "pyorc", "prompt_toolkit"}
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
    command = [sys.executable, "-c", MAIN, "--silent", "-e", script]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120
    )
    code, imported = json.loads(done.stdout.splitlines()[-1])
    assert code == 0, done.stderr
    assert not unwanted & set(imported)
