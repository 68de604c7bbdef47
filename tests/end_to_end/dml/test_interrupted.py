"""What Spark writes beside ACID directories, cut off at every step: all of it, or nothing."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from interrupted_world import ACID, World, check_every_step
from interruption import Cut
from scratch import in_memory

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]

SOURCE = (
    f"CREATE TABLE t (a INT) PARTITIONED BY (p STRING) {ACID};"
    """
    INSERT INTO t VALUES (1, 'x'), (2, 'y');
    CREATE TABLE l (a STRING) PARTITIONED BY (p STRING) STORED AS TEXTFILE;
    LOAD DATA LOCAL INPATH '{user}/one' INTO TABLE l PARTITION (p = 'x');
    LOAD DATA LOCAL INPATH '{user}/two' INTO TABLE l PARTITION (p = 'y');
"""
)
CASES = {
    "create as": ("CREATE TABLE n STORED AS TEXTFILE AS SELECT a FROM t", Cut.DIES),
    "create as over files": (
        "CREATE TABLE n STORED AS TEXTFILE LOCATION '{user}/both' AS SELECT a FROM t", Cut.FAILS),
    "create as acid": (f"CREATE TABLE n {ACID} AS SELECT a FROM t", Cut.DIES),
    "overwrite partitions": ("INSERT OVERWRITE TABLE l SELECT a, p FROM t", Cut.DIES),
    "overwrite a directory": ("INSERT OVERWRITE DIRECTORY '{user}/both' SELECT 'new'", Cut.DIES),
    "overwrite a new directory": (
        "INSERT OVERWRITE DIRECTORY '{user}/new/deep' SELECT 'new'", Cut.DIES),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_all_or_nothing(name: str, spark: SparkSession, prepared_sqlite: Path) -> None:
    statement, cut = CASES[name]
    with tempfile.TemporaryDirectory(prefix="hivesql-", dir=in_memory()) as place:
        world = World(Path(place), spark)
        world.prepare(SOURCE, prepared_sqlite)
        check_every_step(world, world.spelled(statement), cut, again=3)
