"""HiveSQL inside a Python program: pandas and Arrow in, SQL in between, Spark and pandas out."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa

import hivesql

with hivesql.connect("sqlite:///metastore.db", "warehouse") as session:
    session.sql("""
        DROP TABLE IF EXISTS readings;
        CREATE TRANSACTIONAL TABLE readings (sensor INT, celsius DOUBLE) PARTITIONED BY (day STRING)
        STORED AS ORC
    """)

    # Columns are matched by name; the partitions are whatever is in the column "day".
    first = pd.DataFrame(
        {"sensor": [1, 2, 3], "celsius": [20.5, 99.9, 18.0], "day": ["mon", "mon", "tue"]}
    )
    print("appended", session.append("readings", first).affected)

    # Corrections and newcomers in one transaction, as MERGE would do it.
    news = pa.table({"sensor": [2, 4], "celsius": [19.9, 21.0], "day": ["mon", "tue"]})
    print("merged", session.merge("readings", news, on=["sensor", "day"]).affected)

    try:
        session.append("readings", pd.DataFrame({"sensor": [5], "fahrenheit": [70.0]}))
    except hivesql.SemanticError as error:
        print("refused:", error.code, "retry:", error.retryable)

    result = session.sql("SELECT day, avg(celsius) AS mean FROM readings GROUP BY day ORDER BY day")
    print(result.to_pandas())

    # A Spark DataFrame whose rows stay as they are, whatever is committed later.
    warm = session.frame("SELECT sensor FROM readings WHERE celsius > 20")
    session.sql("DELETE FROM readings")
    print("warm sensors", sorted(row.sensor for row in warm.collect()))
