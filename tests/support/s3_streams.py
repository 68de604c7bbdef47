"""Structured Streaming into a table in S3 and out of it, in a process of its own.

It reads the metastore's path, the warehouse and settings in JSON from its standard input, and tells
the first and last number in the table after each start of a sink, and the changes that each
start of a source gave.
"""

from __future__ import annotations

import json
import sys

import hivesql

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"


def _main() -> None:
    path, home, settings = json.load(sys.stdin)
    place = {"metastore": f"sqlite:///{path}", "warehouse": home}
    told: dict[str, list[list[object]]] = {"rows": [], "changes": []}
    with hivesql.connect(**place, settings=settings) as session:
        spark = session.runtime.spark()
        session.sql(f"CREATE TABLE t (n BIGINT) {ACID}")
        sink = hivesql.streaming_sink("t", **place)
        for last in (10, 20):
            # A source of files gives all there are, and ends.
            spark.range(last - 10, last).write.mode("append").parquet(f"{home}-in")
            numbers = spark.readStream.schema("id BIGINT").parquet(f"{home}-in")
            _run(numbers.selectExpr("id AS n"), sink, f"{home}-sink")
            told["rows"].append([*session.sql("SELECT min(n), max(n) FROM t").rows[0]])
        session.sql("DELETE FROM t WHERE n = 0")
        source = hivesql.streaming_source("t", **place, starting_version="earliest")
        changes = source.load(spark)
        for _ in range(2):
            taken: list[object] = []
            _run(
                changes,
                lambda rows, _, taken=taken: taken.extend([r[0], r[1]] for r in rows.collect()),
                f"{home}-source",
            )
            told["changes"].append(sorted(taken))
            session.sql("INSERT INTO t VALUES (50)")
        source.close()
        sink.close()
    sys.stdout.write(json.dumps(told))


def _run(stream: object, each: object, checkpoint: str) -> None:
    writer = stream.writeStream.foreachBatch(each).trigger(availableNow=True)  # type: ignore[attr-defined]
    writer.option("checkpointLocation", checkpoint).start().awaitTermination()


if __name__ == "__main__":
    _main()
