"""Few rows of large tables, without Spark: the same files and rows as with it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pyorc
import pytest

import hivesql
from acid_files import bucket_files, check_file, tree

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = 12_000
# Row groups of 1,000 rows, of which few may be read: the whole is more than the limit below.
MOST_BYTES = 60_000
COLUMNS = (
    "id bigint, k int, n decimal(8,2), t string, v varchar(8), c char(6), day date, ts timestamp, "
    "b boolean, f double, e int"
)
KEPT = "STORED AS ORC TBLPROPERTIES ('transactional'='true', 'orc.row.index.stride'='1000')"
TABLES = f"""
CREATE TABLE many ({COLUMNS}) {KEPT};
CREATE TABLE nested (id bigint, a array<int>, pad string) {KEPT};
CREATE TABLE parts (id bigint, t string) PARTITIONED BY (p int) {KEPT};
CREATE TABLE numbers (id bigint) STORED AS ORC;
"""
FILL = """
INSERT INTO many SELECT id, cast(id % 7 as int), cast(id / 8 as decimal(8,2)),
    concat('t', lpad(cast(id as string), 5, '0')), concat('v', id), concat('c', id % 10000),
    date_add('2000-01-01', cast(id as int)), cast(date_add('2000-01-01', cast(id as int)) as timestamp),
    id % 2 = 0, cast(id as double), CASE WHEN id BETWEEN 5000 AND 5003 THEN NULL ELSE 1 END
    FROM numbers;
INSERT INTO nested SELECT id, array(cast(id as int), 1), md5(cast(id as string)) FROM numbers;
INSERT INTO parts SELECT id, md5(cast(id as string)), cast(id % 2 as int) FROM numbers;
"""  # noqa: E501
SMALL = """
UPDATE many SET k = 5 WHERE id = 7777;
UPDATE many SET k = k + 1 WHERE id = 7777;
UPDATE many SET k = -3 * k, t = 'x' WHERE id IN (3, 8000, 11999, 99999);
UPDATE many SET e = 9, ts = '2020-01-01 00:00:00.5' WHERE id BETWEEN 995 AND 1004;
UPDATE many SET v = 'n' WHERE n = 500.25;
UPDATE many SET n = n WHERE t = 't04321' OR t = 't04322';
UPDATE many SET f = 1.5 WHERE day = '2010-05-05';
UPDATE many SET c = 'new' WHERE e IS NULL;
UPDATE many SET k = 1 WHERE id = 100 AND k = 2 AND b;
UPDATE many SET k = 1 WHERE id < 3 AND NOT b;
UPDATE many SET k = 2 WHERE id >= 11998 AND v <> 'v11998' AND c = 'c1999';
DELETE FROM many WHERE id = 7777 OR id = 3;
DELETE FROM many WHERE id = 7777;
DELETE FROM many WHERE id = 99999;
UPDATE parts SET t = 'one' WHERE id = 4001 AND p = 1;
UPDATE parts SET t = 'both' WHERE id BETWEEN 6000 AND 6003;
DELETE FROM parts WHERE id = 4001;
DELETE FROM many WHERE id BETWEEN 2000 AND 2600;
UPDATE many SET k = 77 WHERE id = 2601 OR id = 2600;
DELETE FROM many WHERE id < 1050;
"""
QUERIES = """
SELECT * FROM many WHERE id = 8000;
SELECT * FROM many WHERE id IN (8001, 2600, 2601, 5001) ORDER BY id;
SELECT count(*), sum(k), min(t), max(day) FROM many WHERE id BETWEEN 1000 AND 2650;
SELECT id, c FROM many WHERE day = date '2010-05-06';
SELECT * FROM parts WHERE id = 4001 OR id = 4002;
SELECT a FROM nested LIMIT 0;
"""
# These read too much, or what is not read row by row.
FOR_SPARK = """
UPDATE many SET k = 3 WHERE k = 4 AND id > 10;
UPDATE many SET k = 2147483647 + k WHERE id = 7;
UPDATE many SET k = 0 WHERE v LIKE 'v777_';
DELETE FROM many WHERE f > 11000 AND f < 11500;
DELETE FROM nested WHERE id = 5;
ALTER TABLE many CHANGE COLUMN v v varchar(4);
UPDATE many SET k = 4 WHERE id = 9000;
"""


def statements(text: str) -> list[str]:
    return [one.strip() for one in text.split(";\n") if one.strip()]


@pytest.fixture
def warehouses(spark: SparkSession, tmp_path: Path) -> Iterator[dict[str, hivesql.Session]]:
    """The same rows twice; one session does what it can without Spark, one nothing."""
    found = {}
    for name, most in (("local", str(MOST_BYTES)), ("spark", "0")):

        def connect(name: str = name, most: str = most) -> hivesql.Session:
            return hivesql.connect(
                f"sqlite:///{tmp_path}/{name}.db",
                str(tmp_path / name),
                spark=spark,
                settings={"hivesql.local.max.bytes": most},
            )

        with connect() as session:
            session.sql(TABLES)
            session.append("numbers", spark.range(0, ROWS, 1, 2))
            session.sql(FILL)
        found[name] = connect()
    yield found
    for session in found.values():
        session.close()


def compare(one: Path, other: Path) -> None:
    assert tree(one) == tree(other)
    for path in bucket_files(one):
        twin = other / path.relative_to(one)
        assert check_file(path) == check_file(twin), path
        with path.open("rb") as ours, twin.open("rb") as theirs:
            footers = [pyorc.Reader(file) for file in (ours, theirs)]
            assert len({str(footer.schema) for footer in footers}) == 1


@pytest.mark.spark
def test_few_rows_of_many(warehouses: dict[str, hivesql.Session], tmp_path: Path) -> None:
    local, by_spark = warehouses["local"], warehouses["spark"]
    for statement in statements(SMALL):
        assert local.sql(statement).affected == by_spark.sql(statement).affected, statement
        assert not local._spark.started, statement
    compare(tmp_path / "local" / "many", tmp_path / "spark" / "many")
    compare(tmp_path / "local" / "parts", tmp_path / "spark" / "parts")
    for query in statements(QUERIES):
        assert local.sql(query).rows == by_spark.sql(query).rows, query
        assert not local._spark.started, query
    # Fewer than these are read, and the first rows of a file are deleted.
    for count in (0, 7, 1500):
        found = [row.id for row in local.sql(f"SELECT id, t FROM many LIMIT {count}").rows]
        assert len(set(found)) == len(found) == count
        assert all(1050 <= one < 2000 or 2600 < one < ROWS for one in found)
    assert not local._spark.started
    for statement in statements(FOR_SPARK):
        assert local.sql(statement).affected == by_spark.sql(statement).affected, statement
        assert local._spark.started, statement
    for table in ("many", "nested", "parts"):
        query = f"SELECT * FROM {table} ORDER BY row__id.writeid, row__id.bucketid, row__id.rowid"
        rows = [session.sql(query).rows for session in warehouses.values()]
        assert rows[0] == rows[1]
