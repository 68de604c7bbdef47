"""Writers on a Spark standalone cluster: two executors, many tasks, no row id twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from acid_files import bucket_files, check_file
from programs import answer_of
from spark_archive import submit_options
from standalone import standalone_cluster

pytestmark = [pytest.mark.spark, pytest.mark.slow]

# Spark allows one context in a process, and the suite's is local: so the driver is another process.
DRIVER = """
import json, sys
import hivesql
master, home, options = sys.argv[1:]
with hivesql.connect(f"sqlite:///{home}/metastore.db", f"{home}/warehouse", settings={
    "spark.master": master,
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "768m",
    "spark.executor.memory": "512m",
    "spark.executor.instances": "2",
    "spark.executor.extraJavaOptions": options,
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
    print(json.dumps({
        "executors": context._jsc.sc().getExecutorMemoryStatus().size() - 1,
        "t": session.sql("SELECT count(*), count(DISTINCT row__id) FROM t").rows[0][:],
        "updated": session.sql("SELECT count(*) FROM t WHERE v LIKE '%!'").rows[0][0],
        "b": session.sql("SELECT count(*), count(DISTINCT row__id) FROM b").rows[0][:],
        "m": session.sql("SELECT count(*), count(DISTINCT id) FROM m").rows[0][:],
        "same": compacted == rows,
        "wrong": wrong,
    }))
"""


def test_no_row_id_occurs_twice_on_two_executors(tmp_path: Path) -> None:
    with standalone_cluster(tmp_path, memory="600m") as master:
        told = answer_of("-c", DRIVER, master, tmp_path, submit_options())
    assert told["executors"] == 2
    assert told["t"] == [1200, 1200]
    assert told["updated"] == 400
    assert told["b"] == [960, 960]
    # 600 keys: the second MERGE deletes the 86 that 7 divides.
    assert told["m"] == [514, 514]
    assert told["same"] is True
    assert told["wrong"] == []
    seen = set()
    for path in bucket_files(tmp_path / "warehouse"):
        if path.parent.name.startswith("delta_"):
            keys = {(path.parts[-3], *event[1:4]) for event in check_file(path)}
            assert not keys & seen
            seen |= keys
