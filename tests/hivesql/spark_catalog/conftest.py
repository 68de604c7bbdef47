"""A session of plain Spark, with Spark's own settings, and a catalog of a fresh warehouse in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import hivesql

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def plain(spark: SparkSession) -> SparkSession:
    """A session whose settings are a user's, not ours."""
    plain = spark.newSession()
    for key, value in {
        "spark.sql.session.timeZone": "America/New_York",
        "spark.sql.ansi.enabled": "true",
        "spark.sql.storeAssignmentPolicy": "ANSI",
        "spark.sql.groupByOrdinal": "true",
    }.items():
        plain.conf.set(key, value)
    return plain


@pytest.fixture
def empty(plain: SparkSession, tmp_path: Path) -> Iterator[hivesql.Session]:
    """The session behind the catalog ``acid``, which has no tables yet."""
    plain.conf.set("spark.sql.shuffle.partitions", "2")
    with hivesql.register_catalog(
        plain,
        "acid",
        metastore=f"sqlite:///{tmp_path}/metastore.db",
        warehouse=str(tmp_path / "warehouse"),
    ) as session:
        yield session


@pytest.fixture
def session(empty: hivesql.Session) -> hivesql.Session:
    """The session behind the catalog ``acid``, with a table to read."""
    empty.sql(
        """
        CREATE TRANSACTIONAL TABLE t (id INT, n STRING, d DECIMAL(10,2), at TIMESTAMP,
          c CHAR(3), s STRUCT<a: INT, at: TIMESTAMP>) PARTITIONED BY (p INT) STORED AS ORC;
        INSERT INTO t PARTITION (p) SELECT 1, 'a', 1.5, '2020-01-01 01:00:00', 'x',
          named_struct('a', 1, 'at', TIMESTAMP '2020-01-01 02:00:00'), 1;
        INSERT INTO t PARTITION (p) SELECT 2, 'b', 2.5, NULL, 'y', NULL, 2;
        INSERT INTO t PARTITION (p) SELECT 3, 'c', 3.5, NULL, 'z', NULL, 2;
        DELETE FROM t WHERE id = 3;
        """
    )
    return empty
