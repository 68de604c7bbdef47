"""Streamed rows in Spark's readers: while the file grows, afterwards, and after a compaction."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pyorc
import pytest

import hivesql
from acid_files import EVENT, tree
from hivesql import streaming
from hivesql_planner.model.table import TableName

TYPES = {
    "i": "int", "l": "bigint", "b": "boolean", "f": "float", "d": "double", "n": "decimal(10,2)",
    "s": "string", "c": "char(4)", "v": "varchar(3)", "day": "date", "ts": "timestamp",
    "many": "array<int>", "pairs": "map<string,int>", "named": "struct<x:int,y:string>",
}  # fmt: skip
RECORDS = [
    {"i": 1, "l": 2**40, "b": True, "f": 1.5, "d": 0.1, "n": 1.5, "s": "é€𝄞", "c": "ab",
     "v": "abcd", "day": "2020-02-29", "ts": "2020-02-29 12:00:00.123456", "many": [1, None],
     "pairs": {"k": 1}, "named": {"x": 1, "y": "z"}},
    {"i": 2, "day": "1500-01-01", "ts": "1883-11-18 12:03:57"},
    {"i": 3, "day": "9999-12-31", "ts": "9999-12-31 23:59:59.999999", "many": [], "pairs": {}},
]  # fmt: skip


def numbers(session: hivesql.Session, table: str = "t") -> list[int]:
    return [row[0] for row in session.sql(f"SELECT i FROM {table} ORDER BY i").rows]


@pytest.mark.spark
def test_a_stream_is_read_while_it_is_written(session: hivesql.Session) -> None:
    columns = ", ".join(f"{name} {kind}" for name, kind in TYPES.items())
    session.sql(f"CREATE TRANSACTIONAL TABLE t ({columns}) STORED AS ORC")
    connection = (
        streaming.HiveStreamingConnection.builder()
        .with_session(session)
        .with_table("t")
        .with_transaction_batch_size(4)
        .with_streaming_optimizations(False)
        .with_record_writer(streaming.StrictJsonWriter())
        .connect()
    )
    with connection:
        connection.begin_transaction()
        connection.write("\n".join(map(json.dumps, RECORDS)))
        assert numbers(session) == []
        connection.commit_transaction()
        assert numbers(session) == [1, 2, 3]
        one, old, late = session.sql("SELECT * FROM t ORDER BY i").rows
        assert one[:9] == (1, 2**40, True, 1.5, 0.1, one[5], "é€𝄞", "ab  ", "abc")
        assert (str(one[5]), one[11], one[12]) == ("1.50", [1, None], {"k": 1})
        assert (str(old[9]), str(old[10])) == ("1500-01-01", "1883-11-18 12:03:57")
        assert (str(late[9]), str(late[10])) == ("9999-12-31", "9999-12-31 23:59:59.999999")
        connection.begin_transaction()
        connection.write('{"i": 4}')
        connection.abort_transaction()
        session.sql("DELETE FROM t WHERE i = 2")
        connection.begin_transaction()
        connection.write('{"i": 5}')
        connection.commit_transaction()
        assert numbers(session) == [1, 3, 5]
    session.sql("UPDATE t SET s = upper(s) WHERE i IN (1, 5)")
    before = session.sql("SELECT row__id, * FROM t ORDER BY i").rows
    assert session.check("t") == ()
    session.sql("ALTER TABLE t COMPACT 'major'")
    assert session.sql("SELECT row__id, * FROM t ORDER BY i").rows == before


@pytest.mark.spark
def test_two_streams_and_an_inserter_share_a_table(
    session: hivesql.Session, tmp_path: Path
) -> None:
    session.sql("CREATE TRANSACTIONAL TABLE t (i int) STORED AS ORC")
    builder = streaming.HiveStreamingConnection.builder().with_session(session).with_table("t")
    builder = builder.with_record_writer(streaming.StrictJsonWriter())
    with (
        builder.with_transaction_batch_size(3).connect() as one,
        builder.with_transaction_batch_size(2).connect() as other,
    ):
        for i in range(0, 12, 3):
            for j, connection in enumerate((one, other)):
                connection.begin_transaction()
                connection.write(f'{{"i": {i + j}}}')
                connection.commit_transaction()
            session.sql(f"INSERT INTO t VALUES ({i + 2})")
    assert session.check("t") == ()
    session.sql("ALTER TABLE t COMPACT 'major'")
    assert numbers(session) == list(range(12))
    # As earlier releases could leave it: somebody's INSERT inside of a batch that does not own it.
    home = tmp_path / "warehouse" / "t"
    store, name = session.runtime.metastore, TableName("default", "t")
    first, last = store.open_txns(2, "ann", "here")
    low = store.allocate_write_id(first, name)
    session.sql("INSERT INTO t VALUES (12)")
    high = store.allocate_write_id(last, name)
    (made,) = home.glob("delta_*")
    batch = home / f"delta_{low:07d}_{high:07d}"
    batch.mkdir()
    write_events(batch / "bucket_00000", high)
    (batch / "_orc_acid_version").write_text("2")
    for txn_id in (first, last):
        store.commit_txn(txn_id)
    found = {Path(one.place).name: one.problem for one in session.check("t")}
    assert f"inside the write ids of {batch.name}" in found[made.name]
    assert f"not its batch's: {low + 1} (transaction" in found[batch.name]
    before = tree(home)
    with pytest.raises(hivesql.HiveSqlError, match="nothing here is compacted"):
        session.sql("ALTER TABLE t COMPACT 'major'")
    assert tree(home) == before
    shutil.rmtree(made)
    shutil.rmtree(batch)
    session.sql("DELETE FROM t; ALTER TABLE t COMPACT 'major'")
    (base,) = tree(home)
    assert base.endswith("/_orc_acid_version"), "nothing else is left where all is deleted"
    assert session.check("t") == ()


def write_events(path: Path, *writes: int) -> None:
    with path.open("wb") as file, pyorc.Writer(file, EVENT.format("i:int")) as writer:
        writer.writerows([(0, one, 1 << 29, 0, one, (one,)) for one in writes])
