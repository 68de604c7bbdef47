"""Streams of changes: each comes once and in order, whoever commits, compacts, stops or kills."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import StreamingQueryException

import hivesql
from end_to_end.answers import rows
from hivesql_executor.failpoints import VARIABLE, FailPoint

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from hivesql.structured_streaming import StreamingSource

pytestmark = pytest.mark.spark

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
Batch = list[tuple[Any, ...]]


class Reader:
    """Runs a stream until it has read all that is there, and again from its checkpoint."""

    def __init__(self, spark: SparkSession, place: Path) -> None:
        self.spark = spark
        self.place = place
        self.sources: list[StreamingSource] = []

    def source(self, table: str, **options: Any) -> DataFrame:
        source = hivesql.streaming_source(
            table,
            metastore=f"sqlite:///{self.place}/metastore.db",
            warehouse=str(self.place / "warehouse"),
            **options,
        )
        self.sources.append(source)
        return source.load(self.spark)

    def batches(self, stream: DataFrame, checkpoint: str) -> list[Batch]:
        """What each batch that is not empty gave, sorted."""
        taken: list[Batch] = []

        def take(batch: DataFrame, number: int) -> None:
            taken.append(sorted((tuple(row) for row in batch.collect()), key=repr))

        writer = stream.writeStream.foreachBatch(take).trigger(availableNow=True)
        writer.option("checkpointLocation", str(self.place / checkpoint)).start().awaitTermination()
        return [batch for batch in taken if batch]


@pytest.fixture
def reader(session: hivesql.Session, spark: SparkSession, tmp_path: Path) -> Any:
    reader = Reader(spark, tmp_path)
    yield reader
    for source in reader.sources:
        source.close()


def test_changes_come_once_and_in_order(
    session: hivesql.Session, reader: Reader, tmp_path: Path
) -> None:
    session.sql(f"""
        CREATE TABLE t (id INT, v CHAR(2), at TIMESTAMP) PARTITIONED BY (p INT) {ACID};
        INSERT INTO t VALUES (1, 'a', '2020-01-01 02:00:00', 1), (2, 'b', NULL, 2);
        UPDATE t SET v = 'A' WHERE id = 1;
        MERGE INTO t USING (SELECT 2 AS id UNION ALL SELECT 3) s ON t.id = s.id
          WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT VALUES (s.id, 'c', NULL, 1);
    """)
    stream = reader.source("t", starting_version="earliest", max_versions_per_trigger=1, key="id")
    at = datetime(2020, 1, 1, 2)
    assert stream.dtypes == [
        ("id", "int"), ("v", "string"), ("at", "timestamp_ntz"), ("p", "int"),
        ("_change_type", "string"), ("_write_id", "bigint"),
    ]  # fmt: skip
    assert reader.batches(stream, "all") == [
        [(1, "a ", at, 1, "insert", 1), (2, "b ", None, 2, "insert", 1)],
        [(1, "A ", at, 1, "update_postimage", 2), (1, "a ", at, 1, "update_preimage", 2)],
        [(2, "b ", None, 2, "delete", 3), (3, "c ", None, 1, "insert", 3)],
    ]

    # What another has open holds back the write above it; what is rolled back leaves a gap.
    latest = reader.source("default.T")
    assert reader.batches(latest, "latest") == []
    with hivesql.connect(
        f"sqlite:///{tmp_path}/metastore.db", str(tmp_path / "warehouse"),
        spark=session.runtime.spark(),
    ) as other:  # fmt: skip
        other.sql("START TRANSACTION; INSERT INTO t VALUES (4, 'd', NULL, 1)")
        session.sql("START TRANSACTION; INSERT INTO t VALUES (0, 'x', NULL, 1); ROLLBACK")
        session.sql("INSERT INTO t VALUES (6, 'f', NULL, 1)")
        assert reader.batches(stream, "all") == reader.batches(latest, "latest") == []
        assert session.changes("t", 3).version == 3
        other.sql("COMMIT")
    fourth, sixth = (4, "d ", None, 1, "insert", 4), (6, "f ", None, 1, "insert", 6)
    assert reader.batches(stream, "all") == [[fourth], [sixth]]
    assert reader.batches(latest, "latest") == [[fourth, sixth]]
    assert reader.batches(stream, "all") == []

    # As increments of a batch.
    changed, version = session.changes("t", since=3)
    assert (sorted(map(tuple, changed.collect())), version) == ([fourth[:2] + fourth[2:], sixth], 6)
    assert session.changes("t", since=version).rows.isEmpty()
    assert session.changes("t", since=datetime.now(timezone.utc)).version == 6
    with pytest.raises(hivesql.SemanticError, match="versions go to 6"):
        session.changes("t", since=7)


def test_a_stream_goes_on_past_an_overwrite(session: hivesql.Session, reader: Reader) -> None:
    only = "'transactional'='true', 'transactional_properties'='insert_only'"
    session.sql(f"""
        CREATE TABLE t (id INT) STORED AS PARQUET TBLPROPERTIES ({only});
        INSERT INTO t VALUES (1), (2);
        INSERT OVERWRITE TABLE t VALUES (3)
    """)
    stream = reader.source("t", starting_version="earliest", max_rows_per_trigger=2)
    replaced = [(1, "delete", 2), (2, "delete", 2), (3, "insert", 2)]
    assert reader.batches(stream, "t") == [[(1, "insert", 1), (2, "insert", 1)], replaced]
    session.sql("""
        INSERT INTO t VALUES (4); INSERT INTO t VALUES (5); INSERT INTO t VALUES (6);
        ALTER TABLE t COMPACT 'minor' AND WAIT; INSERT INTO t VALUES (7)
    """)
    # A batch has no less than what a compaction has merged.
    merged = [(4, "insert", 5), (5, "insert", 5), (6, "insert", 5)]
    assert reader.batches(stream, "t") == [merged, [(7, "insert", 6)]]
    slow = reader.source("t", starting_version=3, max_versions_per_trigger=1)
    assert reader.batches(slow, "slow") == [merged, [(7, "insert", 6)]]


def test_compactions_while_a_stream_lags(session: hivesql.Session, reader: Reader) -> None:
    session.sql(f"CREATE TABLE t (id INT) {ACID}; INSERT INTO t VALUES (1)")
    stream = reader.source("t", starting_version=1, max_rows_per_trigger=2)
    assert reader.batches(stream, "t") == [[(1, "insert", 1)]]
    session.sql("""
        INSERT INTO t VALUES (2);
        DELETE FROM t WHERE id = 1;
        ALTER TABLE t COMPACT 'minor' AND WAIT;
        INSERT INTO t VALUES (4), (5), (6);
        SET hivesql.retention=1d;
        ALTER TABLE t COMPACT 'major' AND WAIT;
        INSERT INTO t VALUES (7)
    """)
    assert rows(session, "SELECT id FROM t") == [(2,), (4,), (5,), (6,), (7,)]
    assert reader.batches(stream, "t") == [
        [(1, "delete", 3), (2, "insert", 2)],
        [(4, "insert", 4), (5, "insert", 4), (6, "insert", 4)],
        [(7, "insert", 5)],
    ]
    # Without a retention the changes are gone, and the stream says so and what to do.
    session.sql("""
        INSERT INTO t VALUES (8);
        SET hivesql.retention=;
        ALTER TABLE t COMPACT 'major' AND WAIT
    """)
    for _ in range(2):
        with pytest.raises(StreamingQueryException, match=r"from write 7 on\. hivesql\.retention"):
            reader.batches(stream, "t")
    session.sql("INSERT INTO t VALUES (9)")
    fresh = reader.source("t", starting_version="earliest")
    assert reader.batches(fresh, "fresh") == [[(9, "insert", 7)]]
    session.sql(f"DROP TABLE t; CREATE TABLE t (id INT) {ACID}")
    with pytest.raises(StreamingQueryException, match=r"made anew .* new checkpoint"):
        reader.batches(fresh, "fresh")


REFUSED: dict[str, dict[str, Any]] = {
    "not transactional": {"table": "plain"},
    "nosuch": {"table": "nosuch"},
    "no column other": {"key": "other"},
    "not at both": {"starting_version": 1, "starting_timestamp": datetime(2020, 1, 1)},
    "from 1 on, not 0": {"starting_version": 0},
    "not 'first'": {"starting_version": "first"},
    "no version 2 yet: its versions go to 0. Start with 1 ": {"starting_version": 2},
    "max_rows_per_trigger": {"max_rows_per_trigger": 0},
    "is a datetime": {"starting_timestamp": "2020-01-01"},
}


def test_what_no_stream_can_be_of(session: hivesql.Session, reader: Reader) -> None:
    session.sql(f"CREATE TABLE t (id INT) {ACID}; CREATE TABLE plain (id INT) STORED AS ORC")
    for text, options in REFUSED.items():
        with pytest.raises(hivesql.HiveSqlError, match=text):
            reader.source(**{"table": "t", **options})
    reader.source("t", starting_version=1)
    stream = reader.source("t")
    reader.sources[-1].close()
    with pytest.raises(StreamingQueryException, match="was closed"):
        reader.batches(stream, "t")


COPY = """
    import hivesql
    place = dict(metastore="sqlite:///{place}/metastore.db", warehouse="{place}/warehouse")
    with hivesql.connect(
        **place, settings={{"spark.master": "local[1]", "spark.driver.memory": "1g"}}
    ) as session:
        source = hivesql.streaming_source(
            "t", **place, starting_version="earliest", max_versions_per_trigger=1,
            settings={{"hive.txn.timeout": "4s"}},
        )
        sink = hivesql.streaming_sink("log", **place, settings={{"hive.txn.timeout": "4s"}})
        stream = source.load(session.runtime.spark()).writeStream.foreachBatch(sink)
        stream = stream.option("checkpointLocation", "{place}/checkpoint")
        stream.trigger(availableNow=True).start().awaitTermination()
        source.close()
        sink.close()
"""


@pytest.mark.slow
def test_killed_between_commit_and_checkpoint(session: hivesql.Session, tmp_path: Path) -> None:
    session.sql(f"""
        CREATE TABLE t (id INT, at TIMESTAMP) {ACID};
        CREATE TABLE log (id INT, at TIMESTAMP, _change_type STRING, _write_id BIGINT) {ACID};
        INSERT INTO t VALUES (1, '2020-01-01 02:00:00');
        INSERT INTO t VALUES (2, NULL);
        DELETE FROM t WHERE id = 1
    """)
    script = textwrap.dedent(COPY).format(place=tmp_path)
    codes = []
    for environment in ({VARIABLE: f"{FailPoint.AFTER_COMMIT}:2"}, {}):
        done = subprocess.run(
            [sys.executable, "-c", script], check=False, capture_output=True, timeout=240,
            env={**os.environ, **environment},
        )  # fmt: skip
        codes.append(done.returncode)
    assert codes == [-signal.SIGKILL, 0], done.stderr.decode()[-2000:]
    first = datetime(2020, 1, 1, 2)
    assert rows(session, "SELECT * FROM log") == [
        (1, first, "delete", 3), (1, first, "insert", 1), (2, None, "insert", 2),
    ]  # fmt: skip
