"""Streaming ingest: small transactions that share a file, read while they are being written."""

from __future__ import annotations

import json
from datetime import date

import pyarrow as pa

import hivesql
from hivesql import streaming

with hivesql.connect("sqlite:///metastore.db", "warehouse") as session:
    session.sql("""
        DROP TABLE IF EXISTS clicks;
        CREATE TRANSACTIONAL TABLE clicks (visitor INT, page STRING, at TIMESTAMP)
        PARTITIONED BY (day DATE) STORED AS ORC
    """)
    connection = (
        streaming.HiveStreamingConnection.builder()
        .with_session(session)
        .with_table("clicks")
        .with_transaction_batch_size(10)
        .with_record_writer(streaming.StrictJsonWriter())
        .connect()
    )
    with connection:
        for minute in range(3):
            connection.begin_transaction()
            for visitor in range(4):
                click = {"visitor": visitor, "page": f"/{minute}", "day": "2026-01-01"}
                connection.write(json.dumps(click | {"at": f"2026-01-01 10:0{minute}:00"}))
            try:
                connection.write('{"visitor": "nobody"}')
            except streaming.SerializationError as error:
                print("skipped:", error.message[:24])
            connection.commit_transaction()
            # Readers see what is committed, though the file is still open.
            print("clicks so far", session.sql("SELECT count(*) FROM clicks").rows[0][0])
        # Columns of Arrow go beside text: found by name, checked by type, and never made rows.
        clicks = {"visitor": [7, 8], "page": ["/3", "/3"], "day": [date(2026, 1, 2)] * 2}
        connection.begin_transaction()
        try:
            connection.write_batch(pa.table({**clicks, "at": [None, None]}))
        except streaming.SerializationError as error:
            print("refused:", error.message)
        small = pa.schema([("visitor", pa.int32()), ("page", pa.string()), ("day", pa.date32())])
        records = pa.table(clicks, small)
        connection.write_batch(records.append_column("at", pa.nulls(2)))
        connection.commit_transaction()

        connection.begin_transaction()
        connection.write('{"visitor": 9, "page": "/never", "day": "2026-01-02"}')
        connection.abort_transaction()
        said = connection.statistics
        print("committed", said.committed_transactions, "aborted", said.aborted_transactions)
    session.sql("DELETE FROM clicks WHERE visitor = 3")
    print("pages", session.sql("SELECT page, count(*) FROM clicks GROUP BY page").rows)
