"""Streams write each batch once: stopped, restarted, or killed between commit and checkpoint."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import hivesql
from end_to_end.answers import rows
from faults import FAULTS, Faults, faulty
from hivesql_executor.failpoints import VARIABLE, FailPoint
from hivesql_executor.jvm import spark_line

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"


def test_rate_source_stopped_and_restarted(
    session: hivesql.Session, spark: SparkSession, tmp_path: Path
) -> None:
    session.sql(f"CREATE TABLE t (value BIGINT, at TIMESTAMP) PARTITIONED BY (odd INT) {ACID}")
    sink = hivesql.streaming_sink(
        "T", metastore=f"sqlite:///{tmp_path}/metastore.db", warehouse=str(tmp_path / "warehouse")
    )
    with pytest.raises(hivesql.SemanticError, match="foreachBatch"):
        sink(spark.range(1), 0)
    source = (
        spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 10)
        .option("numPartitions", 2).option("startTimestamp", 0).load()
        .selectExpr("value", "timestamp AS at", "CAST(value % 2 AS INT) AS odd")
    )  # fmt: skip
    seen = 0
    for _ in range(2):
        stream = source.writeStream.foreachBatch(sink)
        query = stream.option("checkpointLocation", str(tmp_path / "checkpoint")).start()
        until = time.monotonic() + 60
        while len(session.sql("SELECT DISTINCT value FROM t").rows) < seen + 20:
            assert query.exception() is None
            assert time.monotonic() < until
            time.sleep(0.2)
        query.stop()
        values = [row[0] for row in session.sql("SELECT value FROM t ORDER BY value").rows]
        assert values == list(range(len(values)))
        seen = len(values)
    assert rows(session, "SHOW PARTITIONS t") == [("odd=0",), ("odd=1",)]
    sink.close()


def test_a_batch_whose_sink_failed_comes_again_and_is_there_once(
    session: hivesql.Session, spark: SparkSession, tmp_path: Path
) -> None:
    session.sql(f"CREATE TABLE t (a BIGINT) PARTITIONED BY (k INT) {ACID}")
    sink = hivesql.streaming_sink(
        "t", metastore=f"sqlite:///{tmp_path}/metastore.db", warehouse=str(tmp_path / "warehouse")
    )
    rows, counting, kinds = spark.range(1).selectExpr("id AS a", "7 AS k"), Faults(), list(FAULTS)
    spark.sparkContext.setLocalProperty("sql.streaming.queryId", "failing")
    try:
        sink(rows, 0)
        assert sink._session is not None
        with faulty(sink._session, counting, has_spark=True):
            sink(rows, 1)
        calls = dict.fromkeys(one for one in counting.seen if one.startswith("metastore."))
        assert len(calls) > 5
        for batch, call in enumerate(calls, 2):
            faults = Faults(FAULTS[kinds[batch * 7 % len(kinds)]], call)
            with (
                faulty(sink._session, faults, has_spark=True),
                contextlib.suppress(hivesql.HiveSqlError),
            ):
                sink(rows, batch)
            assert faults.hit, call
            sink(rows, batch)
            assert len(session.sql("SELECT a FROM t").rows) == batch + 1, call
    finally:
        spark.sparkContext.setLocalProperty("sql.streaming.queryId", None)
        sink.close()


STREAM = """
    import hivesql
    place = dict(metastore="sqlite:///{place}/metastore.db", warehouse="{place}/warehouse")
    with hivesql.connect(
        **place, settings={{"spark.master": "local[1]", "spark.driver.memory": "1g"}}
    ) as session:
        spark = session.runtime.spark()
        changes = spark.readStream.schema("id INT, v STRING").option("maxFilesPerTrigger", 1)
        for table, options in ("log", {{}}), ("state", {{"merge_on": ["id"]}}):
            # The locks of a process that was killed last until its transaction has timed out.
            sink = hivesql.streaming_sink(
                table, **place, **options, settings={{"hive.txn.timeout": "4s"}}
            )
            stream = changes.json("{place}/in").writeStream.foreachBatch(sink)
            stream = stream.option("checkpointLocation", "{place}/" + table)
            stream.trigger(availableNow=True).start().awaitTermination()
"""


@pytest.mark.parametrize("point", [f"{FailPoint.AFTER_COMMIT}:2", f"{FailPoint.BEFORE_COMMIT}:5"])
def test_killed_between_commit_and_checkpoint(
    session: hivesql.Session, tmp_path: Path, point: str
) -> None:
    session.sql(f"CREATE TABLE log (id INT, v STRING) {ACID};"
                f"CREATE TABLE state (id INT, v STRING) {ACID}")  # fmt: skip
    incoming = tmp_path / "in"
    incoming.mkdir()
    for n in range(3):
        (incoming / f"{n}.json").write_text(f'{{"id": {n}, "v": "a"}}\n{{"id": 9, "v": "{n}"}}')
    script = textwrap.dedent(STREAM).format(place=tmp_path)
    codes = []
    for environment in ({VARIABLE: point}, {}):
        done = subprocess.run(
            [sys.executable, "-c", script], check=False, capture_output=True, timeout=240,
            env={**os.environ, **environment},
        )  # fmt: skip
        codes.append(done.returncode)
    assert codes == [-signal.SIGKILL, 0], done.stderr.decode()[-2000:]
    assert rows(session, "SELECT * FROM log") == [
        (0, "a"), (1, "a"), (2, "a"), (9, "0"), (9, "1"), (9, "2"),
    ]  # fmt: skip
    assert rows(session, "SELECT id FROM state") == [(0,), (1,), (2,), (9,)]
    # The keys are those of two queries, and remembered for good.
    session.runtime.metastore.forget_keys(0)
    assert session.forget("stream") == 2


# As Kafka's topics: partitions that only grow, read again from any offset.
TOPIC = """
    import json
    from pathlib import Path

    import hivesql
    from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition

    place = dict(metastore="sqlite:///{place}/metastore.db", warehouse="{place}/warehouse")
    TOPIC = Path("{place}/topic")


    class Topic(DataSource):
        @classmethod
        def name(cls):
            return "topic"

        def schema(self):
            return "part STRING, place BIGINT, value STRING"

        def streamReader(self, schema):
            return Reader()


    class Slice(InputPartition):
        def __init__(self, part, start, end):
            self.part, self.start, self.end = part, start, end


    class Reader(DataSourceStreamReader):
        def initialOffset(self):
            return {{path.name: 0 for path in TOPIC.iterdir()}}

        def latestOffset(self, start, limit):
            ends = {{path.name: len(path.read_text().splitlines()) for path in TOPIC.iterdir()}}
            return {{part: min(end, start[part] + 3) for part, end in ends.items()}}

        def partitions(self, start, end):
            return [Slice(part, start[part], end[part]) for part in end]

        def read(self, slice):
            lines = (TOPIC / slice.part).read_text().splitlines()
            for number in range(slice.start, slice.end):
                yield slice.part, number, lines[number]


    with hivesql.connect(
        **place, settings={{"spark.master": "local[1]", "spark.driver.memory": "1g"}}
    ) as session:
        spark = session.runtime.spark()
        spark.dataSource.register(Topic)
        sink = hivesql.streaming_sink("log", **place)
        stream = spark.readStream.format("topic").load().writeStream.foreachBatch(sink)
        query = stream.option("checkpointLocation", "{place}/checkpoint").start()
        query.processAllAvailable()
        query.stop()
"""


@pytest.mark.slow
@pytest.mark.skipif(spark_line() < (4, 2), reason="a source in Python sets no size of batches")
def test_a_topic_with_offsets_read_by_a_stream_that_is_killed(
    session: hivesql.Session, tmp_path: Path
) -> None:
    session.sql(f"CREATE TABLE log (part STRING, place BIGINT, value STRING) {ACID}")
    topic = tmp_path / "topic"
    topic.mkdir()
    script = textwrap.dedent(TOPIC).format(place=tmp_path)
    points = [f"{FailPoint.AFTER_COMMIT}:2", ""]
    codes = []
    for number, point in enumerate(points):
        for part in "ab":
            with (topic / part).open("a") as file:
                file.writelines(f"{part}{i}\n" for i in range(5 * number, 5 * number + 5))
        done = subprocess.run(
            [sys.executable, "-c", script], check=False, capture_output=True, timeout=240,
            env={**os.environ, VARIABLE: point},
        )  # fmt: skip
        codes.append(done.returncode)
    assert codes == [-signal.SIGKILL, 0], done.stderr.decode()[-2000:]
    assert rows(session, "SELECT * FROM log") == [
        (part, i, f"{part}{i}") for part in "ab" for i in range(10)
    ]
