"""Answers and files are the same by each line of Spark.

``lines-of-spark.txt`` holds what the newest line gave: ``HIVESQL_WRITE_LINES=1`` writes it anew.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pyorc
import pytest

import hivesql
from acid_files import events

pytestmark = pytest.mark.spark

KNOWN = Path(__file__).with_name("lines-of-spark.txt")
# Spark's own writer names its release.
WRITTEN_BY = "org.apache.spark.version"
TYPES = (
    "b boolean, y tinyint, s smallint, i int, l bigint, f float, d double, n decimal(20,4), "
    "c char(6), v varchar(6), t string, x binary, day date, at timestamp, "
    "a array<int>, m map<string,decimal(8,2)>, r struct<p:int,q:struct<z:varchar(3)>>"
)
VALUES = (
    "id % 2 = 0, id, id * 100, id * 100000, id * 10000000000, id / 3, id / 7, id / 9, "
    "concat('c', id), concat('varchar', id), concat('é漢', id), unhex(hex(id)), "
    "date_add('1999-12-31', CAST(id AS INT)), "
    "CAST(concat('2001-02-03 04:05:', 10 + id, '.123456') AS TIMESTAMP), "
    "array(CAST(id AS INT), NULL), map('k', CAST(id / 4 AS DECIMAL(8,2))), "
    "named_struct('p', CAST(id AS INT), 'q', named_struct('z', concat('zz', id)))"
)
SCRIPT = f"""
CREATE TABLE ids (id BIGINT) STORED AS PARQUET;
INSERT INTO ids SELECT p.pos FROM (SELECT posexplode(split(space(39), ' '))) p;
CREATE TABLE typed (id bigint, {TYPES}) STORED AS ORC TBLPROPERTIES ('transactional'='true');
INSERT INTO typed SELECT id, {VALUES} FROM ids WHERE id < 20;
INSERT INTO typed (id, n) SELECT id, -id FROM ids WHERE id >= 35;
UPDATE typed SET t = upper(t), n = n * 2.5 WHERE id % 3 = 1;
DELETE FROM typed WHERE id IN (4, 5) OR c = 'c9';
CREATE TABLE buckets (k int, s string, e decimal(10,2)) PARTITIONED BY (p string)
  CLUSTERED BY (k, s) INTO 3 BUCKETS STORED AS ORC TBLPROPERTIES ('transactional'='true');
INSERT INTO buckets PARTITION (p)
  SELECT id, concat('s', id % 4), id / 8, concat('p ', id % 2) FROM ids;
MERGE INTO buckets USING (SELECT CAST(id AS INT) + 30 AS k FROM ids) AS src ON buckets.k = src.k
  WHEN MATCHED AND src.k % 2 = 0 THEN DELETE
  WHEN MATCHED THEN UPDATE SET e = e + 1
  WHEN NOT MATCHED THEN INSERT VALUES (src.k, 'new', 0, 'p 1');
INSERT OVERWRITE TABLE buckets PARTITION (p = 'p 0') SELECT 1, 'over', 2;
CREATE TABLE adds (a int, t string) PARTITIONED BY (d date) STORED AS PARQUET
  TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only');
INSERT INTO adds SELECT id, t, day FROM typed WHERE id < 4;
CREATE TABLE lines ROW FORMAT DELIMITED FIELDS TERMINATED BY '|' STORED AS TEXTFILE
  AS SELECT id, b, f, d, n, c, v, t, day, at, a, m, r FROM typed;
CREATE TABLE avro STORED AS AVRO AS SELECT id, t, n FROM typed;
CREATE TABLE rc STORED AS RCFILE AS SELECT id, t, n, a FROM typed;
CREATE TABLE moved (id int, v string) STORED AS ORC TBLPROPERTIES ('transactional'='true');
INSERT INTO moved SELECT id, 'low' FROM ids WHERE id < 10;
INSERT INTO moved SELECT id, 'high' FROM ids WHERE id > 30;
DELETE FROM moved WHERE id = 3;
ALTER TABLE moved COMPACT 'minor';
UPDATE moved SET v = concat(v, id) WHERE id % 5 = 0;
ALTER TABLE moved COMPACT 'major';
INSERT INTO moved VALUES (100, 'last');
ALTER TABLE moved COMPACT 'rebalance' CLUSTERED INTO 2 BUCKETS ORDER BY id DESC;
TRUNCATE TABLE adds PARTITION (d = '2000-01-01');
ANALYZE TABLE moved COMPUTE STATISTICS FOR COLUMNS;
"""
QUERIES = """
SELECT row__id, * FROM typed
SELECT * FROM buckets
SELECT * FROM adds
SELECT * FROM lines
SELECT * FROM avro
SELECT * FROM rc
SELECT row__id, * FROM moved
SHOW CREATE TABLE buckets
SHOW PARTITIONS buckets
DESCRIBE FORMATTED moved id
SELECT * FROM typed FOR SYSTEM_VERSION AS OF 2
SELECT * FROM table_changes('moved', 1, 4)
SELECT 1 / 0, 7 % 0, CAST('x' AS INT), CAST(300 AS TINYINT), 2147483647 + 1, array(1)[7], map('a',
  1)['b']
SELECT CAST('12abc' AS DOUBLE), CAST(' 7 ' AS INT), CAST('2020-02-30' AS DATE), date '2020-01-31'
  + interval '1' month
SELECT hash(i, t, day), murmur_hash(l, n, a), md5(t), sha2(t, 256), crc32(t), quote(t) FROM typed
SELECT n / 3, n * n, f + d, round(d, 2), bround(n, 1), CAST(n AS INT), format_number(d, 3) FROM
  typed
SELECT to_date(at), year(day), weekofyear(day), date_format(at, 'yyyy-MM-dd HH:mm'),
  unix_timestamp(at) FROM typed
SELECT regexp_replace(t, '[0-9]+', '#'), initcap(v), lpad(c, 8, '*'), instr(t, 'é'), reverse(t)
  FROM typed
SELECT get_json_object('{"a":[1,{"b":2}]}', '$.a[1].b'), str_to_map('a:1,b:2'), sentences('Hi.
  You!')
SELECT p, k % 3, count(*), sum(e), collect_set(s) FROM buckets WHERE k < 3 GROUP BY p, k % 3
  GROUPING SETS ((p), (k % 3), ())
SELECT id, rank() OVER (PARTITION BY b ORDER BY n DESC), sum(i) OVER (ORDER BY id ROWS 2
  PRECEDING) FROM typed
SELECT b.k, t.id FROM buckets b LEFT JOIN typed t ON b.k = t.id AND t.b WHERE NOT EXISTS (SELECT 1
  FROM moved m WHERE m.id = b.k)
SELECT id, e FROM typed LATERAL VIEW explode(a) x AS e WHERE e IS NOT NULL
WITH few AS (SELECT id FROM moved WHERE id < 5) SELECT * FROM few UNION ALL SELECT id FROM few
  INTERSECT SELECT 2
SELECT 'a' < 1, '10' = 10.0, 1 = true, concat_ws('-', array('x', NULL)), greatest('2', 10),
  coalesce(NULL, 3)
SELECT nothing FROM moved
SELECT id, count(*) FROM moved
SELECT sum(t) OVER () FROM (SELECT 1)
SELECT unknown_function(1)
"""


@pytest.fixture
def told(session: hivesql.Session, tmp_path: Path) -> str:
    """All that a script has answered and left."""
    session.sql("SET hivesql.local.max.bytes=0")
    session.sql("SET hive.exec.dynamic.partition.mode=nonstrict")
    session.sql(SCRIPT)
    home = tmp_path / "warehouse"
    return "\n".join([*answers(session), *files(home)]).replace(str(tmp_path), "<here>") + "\n"


def answers(session: hivesql.Session) -> Iterator[str]:
    for query in QUERIES.replace("\n  ", " ").strip().splitlines():
        yield f"== {query}"
        try:
            result = session.sql(query)
        except hivesql.HiveSqlError as error:
            # The words may be Spark's own, the kind and the code are ours.
            yield f"{type(error).__name__} {error.code}"
            continue
        yield from (
            f"{field.name} {field.dataType.simpleString()}" for field in result.schema or ()
        )
        yield from sorted(map(str, map(tuple, result.rows)))


def files(home: Path) -> Iterator[str]:
    for path in sorted(one for one in home.rglob("*") if one.is_file()):
        name = path.relative_to(home).as_posix()
        if path.name.endswith(".crc"):
            continue
        yield f"== {name}"
        if path.read_bytes()[:3] == b"ORC":
            yield from footer(path)
            yield from map(str, events(path))
        elif name.startswith("lines/"):
            yield path.read_text("utf-8")


def footer(path: Path) -> Iterator[str]:
    with path.open("rb") as file:
        reader = pyorc.Reader(file)
        yield str(reader.schema)
        told = {key: value for key, value in reader.user_metadata.items() if key != WRITTEN_BY}
        yield from (f"{key} = {value!r}" for key, value in sorted(told.items()))
        yield f"stripes of {[len(one) for one in reader.iter_stripes()]}"
        for i in range(len(list(walk(reader.schema)))):
            # How long a column is encoded depends on the release of ORC.
            found = {k: v for k, v in reader[i].statistics.items() if k != "bytes_on_disk"}
            yield f"{i}: {found}"


def walk(schema: pyorc.TypeDescription) -> Iterator[pyorc.TypeDescription]:
    yield schema
    inside = [getattr(schema, name, None) for name in ("type", "key", "value")]
    inside += list(getattr(schema, "fields", {}).values())
    for one in inside:
        if isinstance(one, pyorc.TypeDescription):
            yield from walk(one)


def test_answers_and_files_are_those_of_the_newest_line(told: str) -> None:
    told = re.sub(r"(transient_lastDdlTime'=)'\d+'", r"\1'…'", told)
    if os.environ.get("HIVESQL_WRITE_LINES"):
        KNOWN.write_text(told, encoding="utf-8")
    assert told.splitlines() == KNOWN.read_text("utf-8").splitlines()
