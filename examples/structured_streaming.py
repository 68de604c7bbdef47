"""Structured Streaming into a table, exactly once: files come in, MERGE keeps the latest state."""

from __future__ import annotations

import json
from pathlib import Path

import hivesql

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
    changes = spark.readStream.schema("id INT, state STRING, price DECIMAL(8,2)").json(str(ORDERS))
    sink = hivesql.streaming_sink(
        "orders", **PLACE, merge_on=["id"], delete="source.state = 'void'"
    )

    def deliver(name: str, *orders: dict[str, object]) -> None:
        """Add a file of orders, and let the stream take what is new."""
        (ORDERS / name).write_text("\n".join(map(json.dumps, orders)))
        stream = changes.writeStream.foreachBatch(sink).trigger(availableNow=True)
        stream.option("checkpointLocation", "checkpoint").start().awaitTermination()
        rows = session.sql("SELECT id, state, price FROM orders ORDER BY id").rows
        print(name, [(row.id, row.state, float(row.price)) for row in rows])

    deliver("1.json", {"id": 1, "state": "new", "price": 10}, {"id": 2, "state": "new", "price": 5})
    deliver("2.json", {"id": 1, "state": "paid", "price": 9}, {"id": 3, "state": "new", "price": 7})
    deliver("3.json", {"id": 2, "state": "void", "price": 5})
    sink.close()
