"""Queries over frames that stand for the relations they name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pyspark.errors import AnalysisException, ParseException

from hivesql_executor.spark.steps import query_over

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

# The frame `a` holds 1, 2, 3; `b` holds 2, 3, 4.
QUERIES = {
    "SELECT i FROM a": [1, 2, 3],
    "SELECT a.i FROM a": [1, 2, 3],
    "SELECT x.i FROM a AS x": [1, 2, 3],
    "SELECT x.j FROM a AS x (j)": [1, 2, 3],
    "SELECT a.i FROM a JOIN b ON a.i = b.i": [2, 3],
    "SELECT x.i FROM a AS x JOIN a AS y ON x.i = y.i + 1": [2, 3],
    "SELECT i FROM a UNION ALL SELECT i FROM b": [1, 2, 2, 3, 3, 4],
    "SELECT i FROM a WHERE i IN (SELECT i FROM b)": [2, 3],
    "SELECT i FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.i = a.i)": [2, 3],
    "SELECT i FROM a WHERE i = (SELECT min(i) FROM b)": [2],
    "SELECT (SELECT max(i) FROM b) AS i": [4],
    "SELECT i FROM (SELECT i FROM a WHERE i > 1) WHERE i NOT IN (SELECT i FROM b WHERE i > 2)": [2],
    "SELECT s FROM a, LATERAL (SELECT max(i) AS s FROM b WHERE b.i <= a.i)": [None, 2, 3],
    "WITH c AS (SELECT i FROM a) SELECT i FROM c WHERE i IN (SELECT i FROM b)": [2, 3],
    "WITH c AS (SELECT i FROM a), d AS (SELECT c.i FROM c JOIN b ON c.i = b.i) "
    "SELECT x.i FROM d AS x JOIN d AS y ON x.i = y.i": [2, 3],
    "SELECT i, sum(i) OVER w FROM a WINDOW w AS (PARTITION BY i > (SELECT min(i) FROM b))": [
        1,
        2,
        3,
    ],
    "WITH c AS (SELECT i, sum(i) OVER w AS s FROM a WINDOW w AS (ORDER BY i IN (SELECT i FROM b))) "
    "SELECT s FROM c": [1, 6, 6],
    "SELECT i FROM (WITH c AS (SELECT i FROM b) SELECT i FROM c)": [2, 3, 4],
    "WITH c AS (WITH d AS (SELECT i FROM a WHERE i > (SELECT min(i) FROM b)) SELECT i FROM d) "
    "SELECT i FROM c": [3],
}


@pytest.mark.parametrize("sql", QUERIES)
def test_frames_stand_for_relations(spark: SparkSession, sql: str) -> None:
    frames = {"a": spark.range(1, 4).toDF("i"), "b": spark.range(2, 5).toDF("i")}

    rows = query_over(spark, sql, frames).collect()

    found = [value for value, *_ in rows]
    assert sorted(found, key=lambda value: value or 0) == QUERIES[sql]


def test_views_of_a_name_are_left_alone(spark: SparkSession) -> None:
    spark.range(7).createOrReplaceTempView("kept")
    try:
        frame = spark.range(3)
        over = query_over(spark, "SELECT count(*) FROM kept", {"kept": frame})
        beside = query_over(spark, "SELECT count(*) FROM kept JOIN given", {"given": frame})

        assert over.collect()[0][0] == 3
        assert beside.collect()[0][0] == 21
        assert not spark.catalog.tableExists("given")
        assert spark.table("kept").count() == 7
    finally:
        spark.catalog.dropTempView("kept")


def test_errors_are_sparks_own(spark: SparkSession) -> None:
    frames = {"a": spark.range(3)}
    for sql, error, text in (
        ("SELECT j FROM a", AnalysisException, "cannot be resolved"),
        ("SELECT id FROM other", AnalysisException, "cannot be found"),
        ("SELECT id FROM db.a", AnalysisException, "cannot be found"),
        ("SELECT id FROM a b c", ParseException, "Syntax error"),
    ):
        with pytest.raises(error, match=text):
            query_over(spark, sql, frames)
