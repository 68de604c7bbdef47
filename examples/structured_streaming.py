"""Structured Streaming into a table and out of it, exactly once: MERGE, and the changes it made."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import hivesql

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

PLACE = {"metastore": "sqlite:///metastore.db", "warehouse": "warehouse"}
ORDERS = Path("incoming")

with hivesql.connect(**PLACE) as session:
    session.sql("""
        DROP TABLE IF EXISTS orders;
        CREATE TRANSACTIONAL TABLE orders (id INT, state STRING, price DECIMAL(8,2)) STORED AS ORC
    """)
    ORDERS.mkdir(exist_ok=True)
    # The session's Spark reads the stream too.
    spark = session.runtime.spark()
    orders = spark.readStream.schema("id INT, state STRING, price DECIMAL(8,2)").json(str(ORDERS))
    sink = hivesql.streaming_sink(
        "orders", **PLACE, merge_on=["id"], delete="source.state = 'void'"
    )

    def deliver(name: str, *rows: dict[str, object]) -> None:
        """Add a file of orders, and let the stream take what is new."""
        (ORDERS / name).write_text("\n".join(map(json.dumps, rows)))
        stream = orders.writeStream.foreachBatch(sink).trigger(availableNow=True)
        stream.option("checkpointLocation", "checkpoint").start().awaitTermination()
        latest = session.sql("SELECT id, state, price FROM orders ORDER BY id").rows
        print(name, [(row.id, row.state, float(row.price)) for row in latest])

    deliver("1.json", {"id": 1, "state": "new", "price": 10}, {"id": 2, "state": "new", "price": 5})
    deliver("2.json", {"id": 1, "state": "paid", "price": 9}, {"id": 3, "state": "new", "price": 7})
    deliver("3.json", {"id": 2, "state": "void", "price": 5})
    sink.close()

    # What has happened to the table is a stream as well: of it this takes the MERGEs one by one.
    source = hivesql.streaming_source(
        "orders", **PLACE, starting_version="earliest", max_versions_per_trigger=1, key="id"
    )

    def tell(batch: DataFrame, number: int) -> None:
        """Print what a MERGE has done."""
        for row in batch.orderBy("id", "_change_type").collect():
            print(row["_write_id"], row["_change_type"], row.id, row.state, row.price)

    feed = source.load(spark).writeStream.foreachBatch(tell).trigger(availableNow=True)
    feed.option("checkpointLocation", "feed-checkpoint").start().awaitTermination()
    source.close()

    # The same for a program that runs now and then, and remembers the version in between.
    changes, version = session.changes("orders", since=2, key="id")
    print("since 2:", changes.count(), "up to", version)
