"""Streaming ingest without Spark: states, files while they grow, records, partitions, buckets."""

from __future__ import annotations

import datetime
import io
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyorc
import pytest
from pyarrow import orc

import hivesql
from acid_files import bucket_files, check_file, tree
from delimited_values import INF, LINES, NAN, VALUES
from hivesql import streaming
from hivesql.streaming import State
from hivesql_executor.local.events import bucket_numbers
from hivesql_executor.local.types import row_type
from hivesql_executor.streaming.orc_pieces import OrcPieces
from hivesql_planner.errors import DataError
from hivesql_planner.model.hive_type import HiveType, Kind
from hivesql_planner.model.table import Column, TableName

TABLES = """
CREATE TABLE t (a int, b string) STORED AS ORC TBLPROPERTIES ('transactional'='true');
CREATE TABLE p (a int) PARTITIONED BY (k int, l string) STORED AS ORC
    TBLPROPERTIES ('transactional'='true');
CREATE TABLE n (a int, b string, c int) CLUSTERED BY (c, a) INTO 4 BUCKETS STORED AS ORC
    TBLPROPERTIES ('transactional'='true');
CREATE TABLE many (a int) CLUSTERED BY (a) INTO 4097 BUCKETS STORED AS ORC
    TBLPROPERTIES ('transactional'='true');
CREATE TABLE plain (a int) STORED AS ORC;
CREATE TABLE mm (a int) STORED AS ORC TBLPROPERTIES ('transactional'='true',
    'transactional_properties'='insert_only');
CREATE TABLE ruled (a int NOT NULL) STORED AS ORC TBLPROPERTIES ('transactional'='true');
"""
COMMAS = streaming.StrictDelimitedInputWriter(field_delimiter=",")


@pytest.fixture
def session(tmp_path: Path) -> Iterator[hivesql.Session]:
    with hivesql.connect(f"sqlite:///{tmp_path}/m.db", str(tmp_path / "w")) as session:
        session.sql(TABLES)
        yield session


def builder(session: hivesql.Session, table: str = "t") -> streaming.ConnectionBuilder:
    started = streaming.HiveStreamingConnection.builder().with_session(session)
    return started.with_table(table).with_record_writer(COMMAS)


def events(data: bytes) -> list[tuple[Any, ...]]:
    """Write id, row number and row of each event."""
    return [(one[1], one[3], one[5]) for one in pyorc.Reader(io.BytesIO(data))]


def lengths(side: Path) -> list[int]:
    data = side.read_bytes()
    return [int.from_bytes(data[i : i + 8], "big") for i in range(0, len(data), 8)]


def test_a_batch_of_three_grows_one_file(session: hivesql.Session, tmp_path: Path) -> None:
    home = tmp_path / "w" / "t"
    connection = builder(session).with_transaction_batch_size(3).connect()
    connection.begin_transaction()
    assert tree(home) == []
    connection.write("1,a\n2,b\r\n\n")
    connection.write(b"3,c")
    connection.commit_transaction()
    names = ["_orc_acid_version", "bucket_00000", "bucket_00000_flush_length"]
    assert tree(home) == [f"delta_0000001_0000003/{name}" for name in names]
    file = home / "delta_0000001_0000003" / "bucket_00000"
    side = file.with_name("bucket_00000_flush_length")
    first = file.stat().st_size
    assert lengths(side) == [0, first]
    ours = [(1, 0, (1, "a")), (1, 1, (2, "b")), (1, 2, (3, "c"))]
    assert events(file.read_bytes()) == ours

    connection.begin_transaction()
    connection.write("4,never")
    connection.abort_transaction()
    assert lengths(side) == [0, first]
    connection.begin_transaction()
    assert connection.remaining_transactions == 0
    connection.write("5,e\n6,f")
    connection.commit_transaction()
    second = file.stat().st_size
    assert lengths(side) == [0, first, second]
    ours += [(3, 0, (5, "e")), (3, 1, (6, "f"))]
    assert events(file.read_bytes()) == ours
    assert events(file.read_bytes()[:first]) == ours[:3], "earlier footers are still in their place"
    assert connection.transaction_states == (State.COMMITTED, State.ABORTED, State.COMMITTED)
    assert list(connection.txn_to_write_ids.values()) == [1, 2, 3]

    connection.begin_transaction()
    assert tree(home) == [f"delta_0000001_0000003/{name}" for name in names[:2]]
    connection.write("7,g")
    connection.commit_transaction()
    connection.begin_transaction()
    connection.write("8,h")
    connection.close()
    connection.close()
    assert second < sum(path.stat().st_size for path in bucket_files(home))
    said = connection.statistics
    assert (said.committed_transactions, said.aborted_transactions) == (3, 3)
    assert (said.records_written, said.records_size) == (8, 33)
    assert session.runtime.metastore.locks() == ()
    assert not session._spark.started


def test_a_batch_of_one_is_an_ordinary_delta(session: hivesql.Session, tmp_path: Path) -> None:
    with builder(session).connect() as connection:
        for number in range(2):
            connection.begin_transaction()
            (lock,) = session.runtime.metastore.locks()
            assert (lock.type, lock.table) == ("SHARED_READ", "t")
            connection.write(f"{number},x")
            connection.commit_transaction()
    home = tmp_path / "w" / "t"
    names = ["_orc_acid_version", "bucket_00000"]
    deltas = ("delta_0000001_0000001", "delta_0000002_0000002")
    assert tree(home) == [f"{delta}/{name}" for delta in deltas for name in names]
    assert [len(check_file(path)) for path in bucket_files(home)] == [1, 1]


def test_calls_out_of_order_are_refused(session: hivesql.Session) -> None:
    connection = builder(session).with_transaction_batch_size(2).connect()
    missing = "Missing beginTransaction"
    for call in (lambda: connection.write("1,a"), connection.commit_transaction):
        with pytest.raises(streaming.InvalidTransactionState, match=missing):
            call()
    connection.begin_transaction()
    with pytest.raises(streaming.InvalidTransactionState, match="has not ended"):
        connection.begin_transaction()
    connection.commit_transaction()
    with pytest.raises(streaming.InvalidTransactionState, match=missing):
        connection.write("1,a")
    connection.close()
    closed = (
        connection.begin_transaction,
        connection.commit_transaction,
        lambda: connection.write("1"),
    )
    for call in closed:
        with pytest.raises(streaming.StreamingException, match="closed already"):
            call()


def test_a_record_that_is_none_can_be_skipped(session: hivesql.Session, tmp_path: Path) -> None:
    options = builder(session).with_record_writer(streaming.StrictJsonWriter())
    with options.connect() as connection:
        connection.begin_transaction()
        connection.write('{"a": 1, "b": "x"}')
        for bad in ('{"a": 2}\n{"a": ', "[1]", '{"a": "x"}', b"\xff", '{"a": 3000000000}'):
            with pytest.raises(streaming.SerializationError):
                connection.write(bad)
        connection.write('{"B": "y", "other": 1}')
        connection.commit_transaction()
    (path,) = bucket_files(tmp_path / "w" / "t")
    assert [one[5] for one in check_file(path)] == [(1, "x"), (None, "y")]


def test_an_aborted_transaction_ends_its_batch(session: hivesql.Session) -> None:
    connection = builder(session).with_transaction_batch_size(3).connect()
    connection.begin_transaction()
    connection.write("1,a")
    (txn, *_) = connection.txn_to_write_ids
    session.runtime.metastore.abort_txns([txn], "test")
    with pytest.raises(streaming.TransactionError):
        connection.commit_transaction()
    with pytest.raises(streaming.InvalidTransactionState, match="is closed"):
        connection.write("2,b")
    assert connection.remaining_transactions == 0
    assert [row.state for row in session.runtime.metastore.transactions()] == ["aborted"] * 3
    connection.begin_transaction()
    connection.commit_transaction()
    connection.close()


def test_partitions_come_from_the_records(session: hivesql.Session, tmp_path: Path) -> None:
    metastore = session.runtime.metastore
    with builder(session, "p").with_transaction_batch_size(2).connect() as connection:
        connection.begin_transaction()
        connection.write("1,1,x\n2,01,x\n3,1,a/b\n4,,\n5,1,x\n6,\\N,y")
        connection.commit_transaction()
        said = connection.statistics
        assert (said.created_partitions, said.total_partitions) == (4, 4)
    default = "__HIVE_DEFAULT_PARTITION__"
    rows = {
        str(path.parent.parent.relative_to(tmp_path / "w" / "p")): [
            one[5][0] for one in check_streamed(path)
        ]
        for path in bucket_files(tmp_path / "w" / "p")
    }
    assert rows == {
        "k=1/l=x": [1, 2, 5],
        "k=1/l=a%2Fb": [3],
        f"k={default}/l={default}": [4],
        f"k={default}/l=y": [6],
    }
    values = {one.values for one in metastore.partitions(TableName("default", "p"))}
    assert values == {("1", "x"), ("1", "a/b"), (None, None), (None, "y")}
    static = builder(session, "p").with_static_partition_values(["9", "z"])
    with static.connect() as connection:
        connection.begin_transaction()
        (lock,) = metastore.locks()
        assert lock.partition == "k=9/l=z"
        connection.write("7")
        connection.commit_transaction()
    assert tree(tmp_path / "w" / "p" / "k=9")[-1] == "l=z/delta_0000003_0000003/bucket_00000"


def check_streamed(path: Path) -> list[tuple[Any, ...]]:
    with path.open("rb") as file:
        return list(pyorc.Reader(file))


def test_buckets_hash_in_the_order_of_the_table(session: hivesql.Session, tmp_path: Path) -> None:
    with builder(session, "n").connect() as connection:
        connection.begin_transaction()
        connection.write("\n".join(f"{i},x,{i * 7}" for i in range(50)))
        connection.commit_transaction()
    files = bucket_files(tmp_path / "w" / "n")
    assert [path.name for path in files] == [f"bucket_{i:05d}" for i in range(4)]
    table = session.runtime.metastore.table(TableName("default", "n"))
    for number, path in enumerate(files):
        rows = [one[5] for one in check_file(path)]
        row = pa.array([dict(zip("abc", one, strict=True)) for one in rows], row_type(table))
        assert set(bucket_numbers(row, table, ("a", "c"))) == {number}


def test_a_connection_checks_its_options(session: hivesql.Session) -> None:
    empty = streaming.HiveStreamingConnection.builder()
    none = builder(session).with_transaction_batch_size(0)
    cases: list[tuple[streaming.ConnectionBuilder, type[hivesql.HiveSqlError], str]] = [
        (empty, streaming.StreamingException, "Table and table object cannot be null"),
        (empty.with_table("t"), streaming.StreamingException, "Record writer cannot be null"),
        (none, streaming.StreamingException, "than zero"),
        (builder(session, "no"), streaming.InvalidTable, "Invalid table db:default, table:no"),
        (builder(session, "plain"), streaming.InvalidTable, "is not an Acid table"),
        (builder(session, "mm"), streaming.InvalidTable, "is not an Acid table"),
        (builder(session, "ruled"), hivesql.NotSupported, "constraints"),
        (builder(session, "many"), hivesql.NotSupported, "4097 buckets"),
        (builder(session).with_static_partition_values(["1"]), streaming.ConnectionError,
         "not partitioned"),
        (builder(session, "p").with_static_partition_values(["1"]), streaming.ConnectionError,
         "1 values for the 2"),
    ]  # fmt: skip
    for options, kind, text in cases:
        with pytest.raises(kind, match=text):
            options.connect()


D, T = datetime.date, datetime.datetime
# Beside what all readers of such texts agree on.
OF_STREAMS: dict[str, dict[str | None, Any]] = {
    "int": {"-7": -7, "\\N": None, None: None},
    "decimal(4,2)": {"1.5": Decimal("1.50"), "-99.99": Decimal("-99.99"), "1_0": None, "NaN": None},
    "timestamp": {
        "2020-01-01 01:02:03.1234567": T(2020, 1, 1, 1, 2, 3, 123456),
        "1500-02-29 00:00:00": None,
    },
    "double": {"1.5": 1.5, "-1e3": -1000.0},
    "varchar(2)": {"é日本": "é日"},
    "char(3)": {"a": "a", "abcd": "abc"},
    "map<string,int>": {"b\x031\x02a\x032\x02b\x033": [("b", 1), ("a", 2)]},
    "array<array<int>>": {"1\x032\x02x": [[1, 2], [None]]},
}
TEXTS: dict[str, dict[str | None, Any]] = {
    kind: {**VALUES.get(kind, {}), **OF_STREAMS.get(kind, {})} for kind in (*VALUES, *OF_STREAMS)
}


def _told(value: Any) -> Any:
    if isinstance(value, float):
        return {"nan": NAN, "inf": INF}.get(str(value), value)
    return value


@pytest.mark.parametrize("kind", TEXTS)
def test_delimited_values_are_read_as_hive_does(kind: str) -> None:
    type_ = HiveType.parse(kind)
    texts, values = TEXTS[kind].keys(), list(TEXTS[kind].values())
    if type_.kind is Kind.CHAR:
        values = [value.ljust(type_.length or 0) for value in values]
    assert list(map(_told, COMMAS.column(list(texts), type_).to_pylist())) == values
    for text, value in zip(texts, values, strict=True):
        (alone,) = COMMAS.column([text], type_).to_pylist()
        assert _told(alone) == value, "alone as among others"


def _as_told(value: Any, type_: HiveType) -> Any:
    """Maps and structs as tests of all readers have them."""
    if value is None or not type_.is_nested:
        return value
    inside = type_.children
    if type_.kind is Kind.ARRAY:
        return [_as_told(one, inside[0]) for one in value]
    if type_.kind is Kind.MAP:
        return {key: _as_told(one, inside[1]) for key, one in value}
    return {name: _as_told(value[name], one) for name, one in type_.fields}


def _with_tuples(value: Any, type_: HiveType) -> Any:
    """Name the fields of structs that a test has as tuples."""
    if value is None or not type_.is_nested:
        return value
    inside = type_.children
    if type_.kind is Kind.ARRAY:
        return [_with_tuples(one, inside[0]) for one in value]
    if type_.kind is Kind.MAP:
        return {key: _with_tuples(one, inside[1]) for key, one in value.items()}
    values = value if isinstance(value, tuple) else [value[name] for name, _ in type_.fields]
    pairs = zip(type_.fields, values, strict=True)
    return {name: _with_tuples(one, kind) for (name, kind), one in pairs}


@pytest.mark.parametrize("separators", LINES)
def test_delimited_lines_are_read_as_hive_does(separators: str) -> None:
    columns, cases = LINES[separators]
    fields = HiveType.parse(f"struct<{columns.replace(' ', ':')}>".replace(",:", ",")).fields
    named = [Column(name, type_) for name, type_ in fields]
    writer = streaming.StrictDelimitedInputWriter(
        field_delimiter=separators[0],
        collection_delimiter=separators[1],
        map_key_delimiter=separators[2],
    )
    for line, expected in cases.items():
        (row,) = writer.rows(line, named)
        for text, column, value in zip(row, named, expected, strict=True):
            (got,) = writer.column([text], column.type).to_pylist()
            wanted = _with_tuples(value, column.type)
            assert _as_told(got, column.type) == wanted, (line, column.name)


JSON: dict[tuple[str, str], Any] = {
    ("int", "1"): 1,
    ("string", "1.50"): "1.50",
    ("string", "true"): "true",
    ("decimal(5,2)", "1.5"): Decimal("1.50"),
    ("decimal(5,2)", "1.005"): Decimal("1.01"),
    ("decimal(5,2)", "1000"): None,
    ("double", "1"): 1.0,
    ("boolean", '"TRUE"'): True,
    ("date", '"2020-01-01"'): D(2020, 1, 1),
    ("timestamp", '"2020-01-01 00:00:00.25"'): T(2020, 1, 1, 0, 0, 0, 250000),
    ("char(3)", '"a"'): "a  ",
    ("array<int>", "[1, null]"): [1, None],
    ("map<string,double>", '{"k": 1}'): [("k", 1.0)],
    ("struct<x:int,y:array<string>>", '{"X": 1, "y": ["a"]}'): {"x": 1, "y": ["a"]},
    ("int", "null"): None,
}
NOT_JSON = (
    ("int", '"x"'),
    ("tinyint", "128"),
    ("boolean", "2"),
    ("date", '"x"'),
    ("date", "1"),
    ("timestamp", '"2020-01-01T00:00:00Z"'),
    ("array<int>", "1"),
    ("string", "{}"),
)


@pytest.mark.parametrize(("kind", "text"), JSON)
def test_json_values_become_the_columns_type(kind: str, text: str) -> None:
    writer = streaming.StrictJsonWriter()
    ((value,),) = writer.rows(f'{{"a": {text}}}', [Column.of("a", kind)])
    assert writer.column([value], HiveType.parse(kind)).to_pylist() == [JSON[kind, text]]


@pytest.mark.parametrize(("kind", "text"), NOT_JSON)
def test_json_values_of_another_kind_are_refused(kind: str, text: str) -> None:
    with pytest.raises(streaming.SerializationError):
        streaming.StrictJsonWriter().rows(f'{{"a": {text}}}', [Column.of("a", kind)])


def test_groups_of_an_expression_are_columns() -> None:
    columns = [Column.of("a", "int"), Column.of("b", "string")]
    writer = streaming.StrictRegexWriter(regex=r"(\d+) (\w+)?.*", line_delimiter_pattern=";")
    assert list(map(tuple, writer.rows("1 x y;no;2 ", columns))) == [
        ("1", "x"), (None, None), ("2", None),
    ]  # fmt: skip
    with pytest.raises(streaming.SerializationError, match="2 groups"):
        writer.rows("1", columns[:1])


@pytest.mark.parametrize("codec", ["uncompressed", "zlib", "snappy", "zstd"])
def test_pieces_make_one_file(codec: str) -> None:
    pieces, data, expected = OrcPieces(), b"", []
    for number in range(4):
        table = pa.table({
            "i": pa.array([None if number == 2 else number - 2] * 3, pa.int64()),
            "s": pa.array([f"text {number}", None, ""]),
            "d": pa.array([datetime.date(1500, 1, 1)] * 3),
        })  # fmt: skip
        expected += table.to_pylist()
        buffer = io.BytesIO()
        orc.write_table(table, buffer, compression=codec)
        added, rows = pieces.add(buffer.getvalue())
        data += added + pieces.tail({"seen": str(number).encode()})
        assert rows == [3]
        assert pieces.length == len(data)
        assert orc.ORCFile(io.BytesIO(data)).read().to_pylist() == expected
    reader = pyorc.Reader(io.BytesIO(data))
    assert reader.user_metadata == {"seen": b"3"}
    assert [len(stripe) for stripe in reader.iter_stripes()] == [3] * 4
    statistics = reader[1].statistics
    assert (statistics["minimum"], statistics["maximum"]) == (-2, 1)
    assert (statistics["number_of_values"], statistics["has_null"]) == (9, True)
    other = io.BytesIO()
    orc.write_table(pa.table({"i": pa.array([1])}), other, compression=codec)
    with pytest.raises(DataError, match="another schema"):
        pieces.add(other.getvalue())
