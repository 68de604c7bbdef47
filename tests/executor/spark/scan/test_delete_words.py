"""How many words of 64 rows hold the deletes of many writes, as files tell it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import hivesql
from acid_files import bucket_files, events
from hivesql_executor.files.local import LocalFiles
from hivesql_executor.spark.scan.delete_filter import delete_files
from hivesql_executor.spark.scan.partition_columns import Place
from hivesql_planner.acid.files_to_read import DeleteFile

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def test_row_groups_tell_what_footers_do_not(spark: SparkSession, tmp_path: Path) -> None:
    """A file has deletes of seven writes; nearly all of its rows are of the first."""
    url = f"sqlite:///{tmp_path}/metastore.db"
    with hivesql.connect(url, str(tmp_path / "wh"), spark=spark) as session:
        session.sql("CREATE TRANSACTIONAL TABLE t (id INT, n INT) STORED AS ORC")
        rows = spark.range(0, 120_000, 1, 1).selectExpr("cast(id AS int) id", "0 n")
        session.append("t", rows)
        for part in range(6):
            session.sql(f"UPDATE t SET n = n + 1 WHERE id % 1000 = {part}")
        session.sql("UPDATE t SET n = 9 WHERE id % 2 = 0")
        assert session.sql("SELECT sum(n) FROM t").rows == [(60_000 * 9 + 360,)]
    table = tmp_path / "wh" / "t"
    paths = [path for path in bucket_files(table) if path.parent.name.startswith("delete_delta")]
    found = [
        DeleteFile(str(path.relative_to(table)), path.stat().st_size, bucket=0) for path in paths
    ]
    files = LocalFiles()
    gone = delete_files([(Place(0, None, str(table)), found)], files)
    deleted = [event for path in paths for event in events(path)]
    exact = len({(event[1], event[2], event[3] >> 6) for event in deleted})
    by_footers, by_groups = (
        gone.count_bitmap_words(files, len(deleted)),
        gone.count_bitmap_words(files, 0),
    )
    assert exact <= by_groups < by_footers < len(deleted)
    # Of six row groups one has rows of more than one write, and counts as all of its rows.
    assert by_groups < exact + 12_000
    assert gone.count_bitmap_words(files, by_footers) == by_footers
