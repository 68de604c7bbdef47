"""Speculation: a task runs again while its first attempt still writes; its rows are there once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from acid_files import bucket_files, check_file
from programs import answer_of
from spark_archive import submit_options
from standalone import standalone_cluster

pytestmark = [pytest.mark.spark, pytest.mark.slow]

# The first attempt at the rows with number 7 waits among them until it is killed.
SCRIPT = """
while read -r line; do
    case "$line" in 7*) mkdir "{place}/first-$1" 2>/dev/null && exec sleep 60;; esac
    echo "$line"
done
"""

TABLES = ("acid", "parts", "buckets", "appended", "plain", "lines")

# Spark allows one context in a process, and the suite's is local: so the driver is another process.
DRIVER = """
import json, sys
import hivesql
master, home, options, *tables = sys.argv[1:]
with hivesql.connect(f"sqlite:///{home}/metastore.db", f"{home}/warehouse", settings={
    "spark.master": master,
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "768m",
    "spark.executor.memory": "512m",
    "spark.executor.extraJavaOptions": options,
    "spark.eventLog.enabled": "true",
    "spark.eventLog.compress": "false",
    "spark.eventLog.dir": f"file://{home}/events",
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.quantile": "0.3",
    "spark.speculation.minTaskRuntime": "500ms",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "4",
}) as session:
    acid = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
    session.sql(f'''
        CREATE TABLE s (id int, v string) STORED AS ORC;
        CREATE TABLE acid (id int, v string) {acid};
        CREATE TABLE parts (id int) PARTITIONED BY (v string) {acid};
        CREATE TABLE buckets (id int, v string) CLUSTERED BY (id) INTO 4 BUCKETS {acid};
        CREATE TABLE appended (id int, v string) STORED AS ORC
          TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only');
        CREATE TABLE plain (id int, v string) STORED AS PARQUET;
        CREATE TABLE lines (id int) PARTITIONED BY (v string) STORED AS TEXTFILE;
        INSERT INTO s SELECT id, concat('v', id % 3) FROM
          (SELECT posexplode(split(space(99), ' ')) AS (id, blank)) n;
    ''')
    for name in tables:
        session.sql(f'''
            INSERT INTO {name} SELECT id, v FROM (
              SELECT TRANSFORM (id, v) USING 'sh {home}/slow.sh {name}' AS (id int, v string)
              FROM (SELECT * FROM s DISTRIBUTE BY id) d) q
        ''')
    print(json.dumps([
        session.sql(f"SELECT count(*), count(DISTINCT id), sum(id) FROM {name}").rows[0][:]
        for name in tables
    ]))
"""


def test_rows_of_a_task_that_ran_twice_are_there_once(tmp_path: Path) -> None:
    (tmp_path / "events").mkdir()
    (tmp_path / "slow.sh").write_text(SCRIPT.format(place=tmp_path))
    # Spark runs no task twice on one host; a script that was killed keeps its core for a while.
    hosts = ("127.0.0.1", "127.0.0.2")
    with standalone_cluster(tmp_path, memory="600m", hosts=hosts, cores=8) as master:
        totals = answer_of("-c", DRIVER, master, tmp_path, submit_options(), *TABLES)
    assert totals == [[100, 100, 4950]] * len(TABLES)
    (log,) = (tmp_path / "events").rglob("events_*")
    ends = [json.loads(line) for line in log.read_text().splitlines() if "TaskEnd" in line]
    second = [end for end in ends if end["Task Info"]["Speculative"]]
    assert [end["Task End Reason"]["Reason"] for end in second] == ["Success"] * len(TABLES)
    for path in bucket_files(tmp_path / "warehouse"):
        check_file(path)
    leftovers = [path for path in (tmp_path / "warehouse").rglob("*") if "temporary" in path.name]
    assert leftovers == []
