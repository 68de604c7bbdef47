"""Writers on a Spark standalone cluster: many tasks on two executors, some of which run twice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import executor_kills
from acid_files import bucket_files, check_file
from fuzz.seeds import AGAIN, FIRST
from programs import answer_of
from spark_archive import submit_options
from standalone import standalone_cluster

pytestmark = [pytest.mark.spark, pytest.mark.slow]

# The first attempt at the rows with number 7 waits among them until it is killed.
SLOW = """
while read -r line; do
    case "$line" in 7*) mkdir "{place}/first-$1" 2>/dev/null && exec sleep 60;; esac
    echo "$line"
done
"""

WALK_SECONDS = "10"
TABLES = ("acid", "parts", "buckets", "appended", "plain", "lines")

# Spark allows one context in a process, and the suite's is local: so the driver is another process.
DRIVER = """
import json, sys, time
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
}) as session:
    acid = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
    session.sql(f'''
        CREATE TABLE s (id int, v string) {acid};
        CREATE TABLE t (id int, v string) {acid};
        CREATE TABLE b (id int, v string) CLUSTERED BY (v) INTO 3 BUCKETS {acid};
        CREATE TABLE m (id int, v string) {acid};
        INSERT INTO s SELECT id, concat('s', id) FROM (SELECT i + 1 AS id FROM
          (SELECT posexplode(split(space(599), ' ')) AS (i, blank)) n) x;
    ''')
    for partitions in (2, 16):
        session.sql(f"SET spark.sql.shuffle.partitions={partitions}")
        session.sql("INSERT INTO t SELECT * FROM s DISTRIBUTE BY id")
        session.sql("INSERT INTO b SELECT * FROM s DISTRIBUTE BY id")
        session.sql("UPDATE t SET v = concat(v, '!') WHERE id % 3 = 0")
        session.sql("DELETE FROM b WHERE id % 5 = 0")
        session.sql("UPDATE b SET id = id + 100 WHERE id % 5 = 4")
        session.sql('''
            MERGE INTO m USING (SELECT id + 100 AS id, v FROM s) x ON m.id = x.id
            WHEN MATCHED AND m.id % 7 = 0 THEN DELETE
            WHEN MATCHED THEN UPDATE SET v = concat(m.v, '+')
            WHEN NOT MATCHED THEN INSERT VALUES (x.id, x.v)
        ''')
    def rows_of(name):
        found = session.sql(f"SELECT row__id, x.* FROM {name} x").rows
        return sorted(tuple(row) for row in found)
    rows = {name: rows_of(name) for name in ("t", "b", "m")}
    wrong = [str(one) for name in ("s", *rows) for one in session.check(name)]
    for name in rows:
        session.sql(f"ALTER TABLE {name} COMPACT 'major'")
    compacted = {name: rows_of(name) for name in rows}
    wrong += [str(one) for name in rows for one in session.check(name)]
    context = session._spark().sparkContext
    session.sql(f'''
        SET spark.sql.shuffle.partitions=4;
        CREATE TABLE numbers (id int, v string) STORED AS ORC;
        CREATE TABLE acid (id int, v string) {acid};
        CREATE TABLE parts (id int) PARTITIONED BY (v string) {acid};
        CREATE TABLE buckets (id int, v string) CLUSTERED BY (id) INTO 4 BUCKETS {acid};
        CREATE TABLE appended (id int, v string) STORED AS ORC
          TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only');
        CREATE TABLE plain (id int, v string) STORED AS PARQUET;
        CREATE TABLE lines (id int) PARTITIONED BY (v string) STORED AS TEXTFILE;
        INSERT INTO numbers SELECT id, concat('v', id % 3) FROM
          (SELECT posexplode(split(space(99), ' ')) AS (id, blank)) n;
    ''')
    began = time.time() * 1000
    for name in tables:
        session.sql(f'''
            INSERT INTO {name} SELECT id, v FROM (
              SELECT TRANSFORM (id, v) USING 'sh {home}/slow.sh {name}' AS (id int, v string)
              FROM (SELECT * FROM numbers DISTRIBUTE BY id) d) q
        ''')
    ended = time.time() * 1000
    print(json.dumps({
        "executors": context._jsc.sc().getExecutorMemoryStatus().size() - 1,
        "t": session.sql("SELECT count(*), count(DISTINCT row__id) FROM t").rows[0][:],
        "updated": session.sql("SELECT count(*) FROM t WHERE v LIKE '%!'").rows[0][0],
        "b": session.sql("SELECT count(*), count(DISTINCT row__id) FROM b").rows[0][:],
        "m": session.sql("SELECT count(*), count(DISTINCT id) FROM m").rows[0][:],
        "same": compacted == rows,
        "wrong": wrong,
        "twice": [
            session.sql(f"SELECT count(*), count(DISTINCT id), sum(id) FROM {name}").rows[0][:]
            for name in tables
        ],
        "while": [began, ended],
    }))
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the warehouse is, and the events that Spark tells of."""
    place = tmp_path_factory.mktemp("cluster")
    (place / "events").mkdir()
    (place / "slow.sh").write_text(SLOW.format(place=place))
    return place


@pytest.fixture(scope="module")
def told(place: Path) -> dict[str, Any]:
    """What the drivers saw: all tests look at one cluster, whose five JVMs take half a minute."""
    # Spark runs no task twice on one host; a script that was killed keeps its core for a while.
    hosts = ("127.0.0.1", "127.0.0.2")
    with standalone_cluster(place, memory="600m", hosts=hosts, cores=8) as master:
        options = submit_options()
        answer: dict[str, Any] = answer_of("-c", DRIVER, master, place, options, *TABLES)
        home = place / "killed"
        home.mkdir()
        walk = (executor_kills.__file__, master, home, options, WALK_SECONDS, FIRST)
        answer["walk"] = answer_of(*walk)
    return answer


def test_no_row_id_occurs_twice_on_two_executors(told: dict[str, Any], place: Path) -> None:
    assert told["executors"] == 2
    assert told["t"] == [1200, 1200]
    assert told["updated"] == 400
    assert told["b"] == [960, 960]
    # 600 keys: the second MERGE deletes the 86 that 7 divides.
    assert told["m"] == [514, 514]
    assert told["same"] is True
    assert told["wrong"] == []
    seen = set()
    for path in bucket_files(place / "warehouse"):
        if path.parent.name.startswith("delta_"):
            keys = {(path.parts[-3], *event[1:4]) for event in check_file(path)}
            assert not keys & seen
            seen |= keys


def test_rows_of_a_task_that_ran_twice_are_there_once(told: dict[str, Any], place: Path) -> None:
    assert told["twice"] == [[100, 100, 4950]] * len(TABLES)
    (log,) = (place / "events").rglob("events_*")
    ends = [json.loads(line) for line in log.read_text().splitlines() if "TaskEnd" in line]
    began, ended = told["while"]
    second = [end for end in ends if end["Task Info"]["Speculative"]
              and began < end["Task Info"]["Launch Time"] < ended]  # fmt: skip
    assert [end["Task End Reason"]["Reason"] for end in second] == ["Success"] * len(TABLES)
    for name in TABLES:
        for path in bucket_files(place / "warehouse" / name):
            check_file(path)
    leftovers = [path for path in (place / "warehouse").rglob("*") if "temporary" in path.name]
    assert leftovers == []


def test_rows_are_right_though_executors_are_killed(told: dict[str, Any]) -> None:
    """Which executors are killed when depends on how fast the machine is."""
    walk = told["walk"]
    assert walk["wrong"] == [], f"{AGAIN} takes the same statements: {walk}"
    assert walk["killed"] > 0
