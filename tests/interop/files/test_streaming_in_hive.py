"""Streamed deltas in real Hive: between two flushes, after an abort, closed, and compacted."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from hivesql import streaming
from interop import hive
from interop.ours import Warehouse

pytestmark = [pytest.mark.hive, pytest.mark.spark, pytest.mark.slow]

DDL = (
    "CREATE TABLE {} (i INT, n DECIMAL(10,2), s STRING, c CHAR(4), day DATE, ts TIMESTAMP, "
    "many ARRAY<INT>) {} STORED AS ORC TBLPROPERTIES ('transactional'='true');\n"
)
TABLES = {
    "t": "",
    "u": "PARTITIONED BY (p STRING) CLUSTERED BY (i) INTO 3 BUCKETS",
}
COLUMNS = "i, n, s, day, ts"


def records(first: int, count: int) -> str:
    rows = (
        {"i": i, "n": f"{i}.25", "s": f"é {i}", "c": "ab", "day": f"{1500 + i}-01-01",
         "ts": f"{1900 + i}-06-01 12:00:00", "many": [i, None], "p": f"x={i % 2}"}
        for i in range(first, first + count)
    )  # fmt: skip
    return "\n".join(map(json.dumps, rows))


def test_hive_reads_a_stream_at_every_stage(
    open_ours: Callable[[str], Warehouse], tmp_path: Path
) -> None:
    ours = open_ours("ours")
    for name, rest in TABLES.items():
        ours.run(DDL.format(name, rest))
    readings: list[hive.Reading] = []
    expected: list[list[int]] = []

    def keep(table: str, numbers: list[int], **snapshot: list[int]) -> None:
        copy = tmp_path / f"stage{len(readings)}"
        shutil.copytree(ours.directory(table), copy)
        reading = hive.Reading(directory=copy, schema=ours.schema(table), **snapshot)
        readings.append(reading)
        expected.append(numbers)

    for table in TABLES:
        builder = streaming.HiveStreamingConnection.builder().with_session(ours.session)
        builder = builder.with_table(table).with_transaction_batch_size(3)
        connection = builder.with_record_writer(streaming.StrictJsonWriter()).connect()
        with connection:
            connection.begin_transaction()
            connection.write(records(0, 4))
            connection.commit_transaction()
            connection.begin_transaction()
            connection.write(records(4, 2))
            keep(table, [0, 1, 2, 3], open=[2, 3])
            connection.abort_transaction()
            connection.begin_transaction()
            connection.write(records(6, 3))
            connection.commit_transaction()
            keep(table, [0, 1, 2, 3, 6, 7, 8], aborted=[2])
            # A writer that died in its next flush leaves a part of it.
            for side in readings[-1].directory.rglob("*_flush_length"):
                file = side.with_name(side.name.removesuffix("_flush_length"))
                torn = file.read_bytes() + b"the beginning of a stripe"
                file.write_bytes(torn)
        keep(table, [0, 1, 2, 3, 6, 7, 8], aborted=[2])
    rows = hive.read_all(readings)
    assert [sorted(row.values[0] for row in one) for one in rows] == expected
    for table, one in zip(TABLES, (rows[2], rows[5]), strict=True):
        days = {row.values[0]: row.values[4:6] for row in one}
        assert days[0] == ("1500-01-01", "1900-06-01 12:00:00")
        ours.run(f"DELETE FROM {table} WHERE i = 1")

    adopt = "".join(
        f"!copy {ours.directory(table)} warehouse/{table};\n!adopt {table} 4 2;\n"
        for table in TABLES
    )
    select = "".join(f"SELECT {COLUMNS} FROM {table} ORDER BY i;\n" for table in TABLES)
    blocks = hive.run(
        f"""
        {"".join(DDL.format(*one) for one in TABLES.items())}
        {adopt}
        SET hive.fetch.task.conversion=none;
        SET hive.vectorized.execution.enabled=true;
        {select}
        SET hive.vectorized.execution.enabled=false;
        {select}
        UPDATE t SET s = 'hive' WHERE i = 7;
        ALTER TABLE t COMPACT 'major';
        !worker;
        !cleaner;
        SELECT {COLUMNS} FROM t ORDER BY i;
        """,
        tmp_path / "hive",
    )
    answers = [block.lines for block in blocks if block.statement.startswith("SELECT")]
    lines = [
        f"{i}\t{i}.25\té {i}\t{1500 + i}-01-01\t{1900 + i}-06-01 12:00:00"
        for i in (0, 2, 3, 6, 7, 8)
    ]
    assert answers[:4] == [lines] * 4
    assert answers[4] == [line.replace("é 7", "hive") for line in lines]
