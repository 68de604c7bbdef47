"""Records of Arrow in a stream: the same files as those of text, and refusals that name columns."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import hivesql
from acid_files import bucket_files, tree
from hivesql import streaming

TYPES: dict[str, tuple[pa.DataType, Any, str]] = {
    # of Hive: of Arrow, a value, and the text of the same
    "tinyint": (pa.int8(), -1, "-1"),
    "smallint": (pa.uint8(), 200, "200"),
    "int": (pa.int32(), 2**31 - 1, "2147483647"),
    "bigint": (pa.uint32(), 2**32 - 1, "4294967295"),
    "float": (pa.float32(), 1.5, "1.5"),
    "double": (pa.float32(), -2.25, "-2.25"),
    "decimal(10,2)": (pa.decimal128(4, 1), Decimal("-99.5"), "-99.5"),
    "decimal(38,10)": (pa.decimal256(38, 10), Decimal("1.0000000001"), "1.0000000001"),
    "boolean": (pa.bool_(), True, "true"),
    "string": (pa.dictionary(pa.int8(), pa.string()), "日本", "日本"),
    "char(5)": (pa.large_string(), "abcdefg", "abcdefg"),
    "varchar(3)": (pa.string_view(), "abcd", "abcd"),
    "binary": (pa.binary(3), b"\x00\x01\x02", "AAEC"),
    "date": (pa.date32(), date(1500, 1, 1), "1500-01-01"),
    "timestamp": (pa.timestamp("ns"), datetime(2020, 1, 2, 3, 4, 5), "2020-01-02 03:04:05"),
    "array<int>": (pa.large_list(pa.int16()), [1, None], "1;\\N"),
    "map<string,bigint>": (pa.map_(pa.string(), pa.int32()), [("k", 1)], "k:1"),
    "struct<x:int,y:string>": (
        pa.struct([("x", pa.int8()), ("y", pa.large_string())]), {"x": 1, "y": "z"}, "1;z",
    ),
}  # fmt: skip
COLUMNS = ", ".join(f"c{number} {kind}" for number, kind in enumerate(TYPES))
ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
LINES = streaming.StrictDelimitedInputWriter(
    field_delimiter="|", collection_delimiter=";", map_key_delimiter=":"
)


@pytest.fixture
def session(tmp_path: Path) -> Iterator[hivesql.Session]:
    with hivesql.connect(f"sqlite:///{tmp_path}/m.db", str(tmp_path / "w")) as session:
        yield session


def connection(
    session: hivesql.Session, table: str, writer: streaming.RecordWriter, size: int = 2
) -> streaming.HiveStreamingConnection:
    builder = streaming.HiveStreamingConnection.builder().with_session(session).with_table(table)
    return builder.with_transaction_batch_size(size).with_record_writer(writer).connect()


def test_files_are_byte_by_byte_those_of_text(session: hivesql.Session, tmp_path: Path) -> None:
    session.sql("; ".join(
        f"CREATE TABLE {name} ({COLUMNS}) PARTITIONED BY (p int, q string) "
        f"CLUSTERED BY (c2) INTO 2 BUCKETS {ACID}" for name in "ab"
    ))  # fmt: skip
    texts = [text for _, _, text in TYPES.values()]
    lines = [*("|".join([*texts, *part]) for part in (["1", "x"], ["\\N", "a/b"])),
             "|".join(["\\N"] * len(TYPES) + ["1", "x"])]  # fmt: skip
    arrays = [pa.array([value, value, None], kind) for kind, value, _ in TYPES.values()]
    names = [f"C{number}" for number in range(len(arrays))]
    records = pa.table(
        [pa.array(["x", "a/b", "x"]), *arrays, pa.array([1, None, 1], pa.int16())],
        names=["Q", *names, "p"],
    )
    with (
        connection(session, "a", LINES) as by_text,
        connection(session, "b", streaming.ArrowRecordWriter()) as by_arrow,
    ):
        for many in (records, iter(records.to_batches()), records.to_reader()):
            by_text.begin_transaction()
            by_arrow.begin_transaction()
            by_text.write("\n".join(lines))
            by_arrow.write_batch(many)
            by_text.commit_transaction()
            by_arrow.commit_transaction()
        by_arrow.begin_transaction()
        by_arrow.write_batch(records)
        by_arrow.abort_transaction()
        said, told = by_arrow.statistics, by_text.statistics
        assert (said.created_partitions, said.committed_transactions) == (2, 3)
        assert said.records_written == told.records_written + 3
    of_text, of_arrow = tmp_path / "w" / "a", tmp_path / "w" / "b"
    assert tree(of_arrow) == tree(of_text)
    paths = bucket_files(of_text)
    assert len(paths) > 2
    for path in paths:
        assert (of_arrow / path.relative_to(of_text)).read_bytes() == path.read_bytes()
    rows = session.sql("SELECT c2, c10, c15, p, q FROM b WHERE q = 'a/b'").rows
    assert [tuple(row) for row in rows] == [(2**31 - 1, "abcde", [1, None], None, "a/b")] * 3


def test_text_and_arrow_come_in_one_transaction(session: hivesql.Session) -> None:
    session.sql(f"CREATE TABLE t (a int, b string) {ACID}")
    part = pa.record_batch({"b": ["two"], "a": pa.array([2], pa.int8())})
    with connection(session, "t", LINES, 1) as stream:
        stream.begin_transaction()
        stream.write("1|one")
        stream.write_batch(part)
        stream.write_batch([part, pa.Table.from_batches([part])])
        stream.write("3|three\n4|four")
        stream.write_batch(part.slice(1))
        stream.commit_transaction()
    rows = session.sql("SELECT a, b FROM t").rows
    assert [row[0] for row in rows] == [1, 2, 2, 2, 3, 4]


REFUSED: dict[str, Any] = {
    r"column a is int64 in the records and int in default\.t": {"a": pa.array([1])},
    r"column a is string in the records and int": {"a": pa.array(["1"])},
    r"column a is uint32 .* and int": {"a": pa.array([1], pa.uint32())},
    r"column b is int32 .* and string": {"b": pa.array([1], pa.int32())},
    r"column d is decimal128\(5, 3\) .* decimal\(4,2\)": {"d": pa.array([1], pa.decimal128(5, 3))},
    r"column at is timestamp\[us, tz=UTC\] .* timestamp": {
        "at": pa.array([0], pa.timestamp("us", "UTC"))
    },
    r"column at .* would lose data": {"at": pa.array([1], pa.timestamp("ns"))},
    r"column s is struct<y: int8> .* struct<x:int>": {
        "s": pa.array([{"y": 1}], pa.struct([("y", pa.int8())]))
    },
    r"no column b, which is string": {"b": None},
    r"a column other \(int64\), and default\.t takes none": {"other": pa.array([1])},
    r"more than one column a": {"A": pa.array([1], pa.int32())},
}


def test_what_does_not_fit_is_refused_before_it_is_written(
    session: hivesql.Session, tmp_path: Path
) -> None:
    session.sql(f"CREATE TABLE t (a int, b string, d decimal(4,2), at timestamp, "
                f"s struct<x:int>) {ACID}")  # fmt: skip
    good = {name: pa.nulls(1) for name in ("a", "b", "d", "at", "s")}
    with connection(session, "t", streaming.ArrowRecordWriter(), 1) as stream:
        with pytest.raises(streaming.InvalidTransactionState, match="Missing beginTransaction"):
            stream.write_batch(pa.table(good))
        stream.begin_transaction()
        for text, changed in REFUSED.items():
            columns = {name: array for name, array in (good | changed).items() if array is not None}
            with pytest.raises(streaming.SerializationError, match=text):
                stream.write_batch(pa.table(columns))
        for wrong in ("1", 5, [1]):
            with pytest.raises(streaming.SerializationError, match=r"not (str|int)"):
                stream.write_batch(wrong)
        with pytest.raises(streaming.SerializationError, match="write_batch"):
            stream.write("1")
        assert tree(tmp_path / "w" / "t") == []
        stream.write_batch(pa.table(good))
        stream.commit_transaction()
    assert session.sql("SELECT count(*) FROM t").rows[0][0] == 1
