"""Rows a second that one core streams into a table, by record writer and batch size.

Usage: python tests/benchmarks/streaming.py [rows]

Every transaction holds 10,000 rows, given record by record or in one piece. CPU seconds are those
of the process: nothing else works for it.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time

import hivesql
from hivesql import streaming

TABLE = (
    "CREATE TABLE t{n} (id INT, name STRING, amount DECIMAL(10,2), at TIMESTAMP, score DOUBLE) "
    "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
)
ROWS_OF_TRANSACTION = 10_000


def records(number: int) -> dict[str, list[str]]:
    """The same rows as delimited text, JSON and text to be matched."""
    rows = [
        (i, f"name {i % 1000}", f"{i % 10_000}.25", f"2026-01-01 00:00:{i % 60:02d}", i / 7)
        for i in range(number)
    ]
    names = ("id", "name", "amount", "at", "score")
    lines = [",".join(map(str, row)) for row in rows]
    objects = [json.dumps(dict(zip(names, row, strict=True))) for row in rows]
    return {"delimited": lines, "json": objects, "regex": lines}


WRITERS: dict[str, streaming.RecordWriter] = {
    "delimited": streaming.StrictDelimitedInputWriter(field_delimiter=","),
    "json": streaming.StrictJsonWriter(),
    "regex": streaming.StrictRegexWriter(regex="([^,]*)," * 4 + "([^,]*)"),
}


def main(number: int) -> None:
    """Stream the rows in each of the ways."""
    given = records(number)
    with (
        tempfile.TemporaryDirectory() as home,
        hivesql.connect(f"sqlite:///{home}/m.db", f"{home}/warehouse") as session,
    ):
        tables = 0
        for kind, writer in WRITERS.items():
            for size in (1, 10):
                for whole in (True, False):
                    tables += 1
                    session.sql(TABLE.format(n=tables))
                    builder = streaming.HiveStreamingConnection.builder().with_session(session)
                    builder = builder.with_table(f"t{tables}").with_record_writer(writer)
                    connection = builder.with_transaction_batch_size(size).connect()
                    began, cpu = time.perf_counter(), time.process_time()
                    stream(connection, given[kind], whole=whole)
                    wall, cpu = time.perf_counter() - began, time.process_time() - cpu
                    how = "in pieces" if whole else "one by one"
                    print(
                        f"{kind:10} batches of {size:2}, {how:10}: {number / wall:9,.0f} rows/s, "
                        f"{number / cpu:9,.0f} rows per CPU second"
                    )


def stream(connection: streaming.HiveStreamingConnection, lines: list[str], *, whole: bool) -> None:
    """Write the lines in transactions."""
    with connection:
        for start in range(0, len(lines), ROWS_OF_TRANSACTION):
            connection.begin_transaction()
            chunk = lines[start : start + ROWS_OF_TRANSACTION]
            for record in ["\n".join(chunk)] if whole else chunk:
                connection.write(record)
            connection.commit_transaction()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200_000)
