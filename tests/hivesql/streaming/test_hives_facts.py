"""What Hive's own tests of its streaming ingest (V2) hold, one fact after the other.

Left out are facts about what is not here: ORC's FileDump and its recovery, the path that a writer
would choose (getDeltaFileLocation), and Hive's reading of a file system's class. In object stores
each transaction has files of its own instead of a refusal of larger batches; compactions of streams
are among the end-to-end tests, heartbeats and disks that fail beside this file.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyorc
import pytest

import hivesql
from acid_files import bucket_files, tree
from hivesql import streaming
from hivesql.streaming import State
from hivesql_planner.model.table import TableName

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
_KEYED = "(key1 STRING, key2 INT, data STRING) CLUSTERED BY (key1, key2) INTO"
TABLES = {
    "alerts": "(id INT, msg STRING) PARTITIONED BY (continent STRING, country STRING) "
    "CLUSTERED BY (id) INTO 1 BUCKETS",
    "plain": "(id INT, msg STRING) CLUSTERED BY (id) INTO 2 BUCKETS",
    "months": "(id INT, msg STRING) PARTITIONED BY (year INT, month INT) "
    "CLUSTERED BY (id) INTO 2 BUCKETS",
    "free": "(a STRING, b STRING)",
    "keyed": f"{_KEYED} 4 BUCKETS",
    "many": f"{_KEYED} 100 BUCKETS",
    "copied": f"{_KEYED} 100 BUCKETS",
    "sales": "(a INT, store INT, promo INT, price DECIMAL(7,2)) PARTITIONED BY (dt STRING) "
    "CLUSTERED BY (store, promo) INTO 4 BUCKETS",
    "types": "(bo BOOLEAN, ti TINYINT, si SMALLINT, i INT, bi BIGINT, f FLOAT, d DOUBLE, "
    "de DECIMAL(10,3), ts TIMESTAMP, da DATE, s STRING, c CHAR(5), vc VARCHAR(5), "
    "m MAP<STRING,STRING>, l ARRAY<INT>, st STRUCT<c1:INT,c2:STRING>)",
}
COMMAS = streaming.StrictDelimitedInputWriter(field_delimiter=",")
NONE = "__HIVE_DEFAULT_PARTITION__"
INDIA = ["Asia", "India"]
RECORDS = ("1,Matrix", "2,Gandhi", "3,Silence")


@pytest.fixture
def session(tmp_path: Path) -> Iterator[hivesql.Session]:
    with hivesql.connect(f"sqlite:///{tmp_path}/m.db", str(tmp_path / "w")) as session:
        yield session


def make(session: hivesql.Session, *tables: str) -> None:
    """Make tables that are not there yet."""
    for table in tables:
        session.sql(f"CREATE TABLE IF NOT EXISTS {table} {TABLES[table]} {ACID}")


class Stream:
    """A connection to a table, and what its readers see."""

    def __init__(
        self, session: hivesql.Session, table: str, *, size: int = 1, into: list[str] | None = None,
        writer: streaming.RecordWriter = COMMAS, fast: bool = True,
    ) -> None:  # fmt: skip
        make(session, table.lower())
        options = streaming.HiveStreamingConnection.builder().with_session(session)
        options = options.with_table(table).with_record_writer(writer).with_agent_info("UT")
        options = options.with_transaction_batch_size(size).with_streaming_optimizations(fast)
        options = options.with_static_partition_values(into) if into else options
        self.session, self.table, self.connection = session, table, options.connect()

    def commit(self, *records: str) -> None:
        """Write records in a transaction."""
        self.connection.begin_transaction()
        for record in records:
            self.connection.write(record)
        self.connection.commit_transaction()

    def abort(self, *records: str) -> None:
        """Write records in a transaction, and roll it back."""
        self.connection.begin_transaction()
        for record in records:
            self.connection.write(record)
        self.connection.abort_transaction()

    def rows(self) -> list[tuple[Any, ...]]:
        """All rows, sorted by their first column."""
        rows = self.session.sql(f"SELECT * FROM {self.table}").rows
        return sorted((tuple(row) for row in rows), key=lambda row: str(row[0]))

    def partitions(self) -> list[str]:
        """The names that SHOW PARTITIONS tells."""
        return [row[0] for row in self.session.sql(f"SHOW PARTITIONS {self.table}").rows]


def home(session: hivesql.Session, table: str) -> Path:
    return Path(session.runtime.metastore.table(TableName("default", table)).location)


def buckets(session: hivesql.Session, table: str) -> dict[str, list[Any]]:
    """The keys of each bucket's rows."""
    found = {}
    for path in bucket_files(home(session, table)):
        with path.open("rb") as file:
            found[path.name[:12]] = sorted(event[5][0] for event in pyorc.Reader(file))
    return found


def ids(session: hivesql.Session, table: str) -> list[tuple[int, int]]:
    """Write id and number of each row."""
    found = []
    for path in bucket_files(home(session, table)):
        with path.open("rb") as file:
            events = list(pyorc.Reader(file))
        assert {event[2] for event in events} == {536870912}
        found += [(event[1], event[3]) for event in events]
    return sorted(found)


# -- partitions
def a_new_partition_for_each_value(session: hivesql.Session) -> None:
    stream = Stream(session, "sales")
    session.sql("ALTER TABLE sales ADD PARTITION (dt='2015')")
    stream.commit(*(f"0,{i},{i},{i}.1,2018-04-{i}" for i in range(10)))
    assert stream.partitions() == ["dt=2015", *(f"dt=2018-04-{i}" for i in range(10))]
    assert {row[4][:8] for row in stream.rows()} == {"2018-04-"}


def bucket_columns_need_not_come_first(session: hivesql.Session) -> None:
    stream = Stream(session, "sales", into=["2015"])
    # What comes after the last column is ignored.
    stream.commit("0,1,2,0.1", "0,1,2,0.1,0,1,2")
    assert [str(row[3]) for row in stream.rows()] == ["0.10", "0.10"]


def two_levels(session: hivesql.Session) -> None:
    stream = Stream(session, "alerts")
    for n, (one, two) in enumerate([("India", "Germany")] * 2 + [("China", "France")] * 2):
        stream.commit(f"{2 * n},foo,Asia,{one}", f"{2 * n + 1},bar,Europe,{two}")
    assert stream.rows()[0] == (0, "foo", "Asia", "India")
    assert stream.rows()[7] == (7, "bar", "Europe", "France")
    assert set(stream.partitions()) == {
        "continent=Asia/country=India", "continent=Asia/country=China",
        "continent=Europe/country=Germany", "continent=Europe/country=France",
    }  # fmt: skip


def values_that_are_missing(session: hivesql.Session) -> None:
    stream = Stream(session, "months")
    stream.commit("1,foo,2018,2", "2,bar,2019")
    stream.commit("3,foo,2018", "4,bar,,12", "5,foo,,")
    assert stream.rows() == [
        (1, "foo", 2018, 2), (2, "bar", 2019, None), (3, "foo", 2018, None), (4, "bar", None, 12),
        (5, "foo", None, None),
    ]  # fmt: skip
    assert set(stream.partitions()) == {
        "year=2018/month=2", f"year=2018/month={NONE}", f"year=2019/month={NONE}",
        f"year={NONE}/month={NONE}", f"year={NONE}/month=12",
    }  # fmt: skip


def texts_by_a_regular_expression(session: hivesql.Session) -> None:
    stream = Stream(
        session, "alerts", writer=streaming.StrictRegexWriter(regex="([^,]*),(.*),(.*),(.*)")
    )
    stream.commit("1,foo,Asia,India\r2,bar,Europe,Germany\r3,baz,Asia,China\r4,cat,Australia,")
    assert [row[:3] for row in stream.rows()][3] == (4, "cat", "Australia")
    assert f"continent=Australia/country={NONE}" in stream.partitions()
    assert len(stream.partitions()) == 4
    other = Stream(session, "plain", writer=streaming.StrictRegexWriter(regex="([^:]*):(.*)"))
    other.commit("1:Hello streaming")
    assert other.rows() == [(1, "Hello streaming")]


def objects_of_json_between_bars(session: hivesql.Session) -> None:
    writer = streaming.StrictJsonWriter(line_delimiter_pattern=r"\|")
    stream = Stream(session, "alerts", writer=writer)
    stream.commit(
        '{"id" : 1, "msg": "a", "continent": "Asia", "Country": "India"}|'
        '{"id" : 4, "msg": "Hmm..", "continent": "Australia", "Unknown-field": "whatever"}|'
    )
    assert stream.rows()[0] == (1, "a", "Asia", "India")
    assert set(stream.partitions()) == {
        "continent=Asia/country=India", f"continent=Australia/country={NONE}"
    }  # fmt: skip


def a_static_partition_is_added(session: hivesql.Session) -> None:
    stream = Stream(session, "alerts", into=["Asia", "Nepal"])
    stream.commit("3,Hello streaming - once again")
    assert stream.partitions() == ["continent=Asia/country=Nepal"]


def static_values_want_a_partitioned_table(session: hivesql.Session) -> None:
    with pytest.raises(streaming.ConnectionError, match="not partitioned"):
        Stream(session, "plain", into=INDIA)


# -- states
def nothing_goes_without_a_transaction(session: hivesql.Session) -> None:
    stream = Stream(session, "alerts")
    calls = (
        lambda: stream.connection.write("3,SHOULD FAIL!"), stream.connection.commit_transaction,
        stream.connection.abort_transaction,
    )  # fmt: skip
    for begun in (False, True):
        if begun:
            stream.commit("1,foo,Asia", "2,bar,Europe")
        for call in calls:
            with pytest.raises(streaming.InvalidTransactionState, match="Missing beginTransaction"):
                call()
    stream.connection.close()
    for call in (*calls, stream.connection.begin_transaction):
        with pytest.raises(streaming.StreamingException, match=r"connection is closed already\.$"):
            call()
    assert [row[0] for row in stream.rows()] == [1, 2]


def aborted_records_are_gone(session: hivesql.Session) -> None:
    stream = Stream(session, "plain")
    stream.commit("1,foo", "2,bar")
    stream.abort("3,oops!")
    stream.abort("4,I did it again!")
    stream.commit("5,Not now!")
    assert [row[0] for row in stream.rows()] == [1, 2, 5]


def empty_transactions(session: hivesql.Session) -> None:
    for table, into in (("alerts", INDIA), ("plain", None)):
        stream = Stream(session, table, size=2, into=into)
        stream.commit()
        stream.abort()
        assert stream.connection.transaction_states == (State.COMMITTED, State.ABORTED)
        stream.connection.close()
        assert tree(home(session, table)) == []


def an_aborted_transaction_writes_nothing(session: hivesql.Session) -> None:
    stream = Stream(session, "alerts", size=10, into=INDIA)
    stream.connection.begin_transaction()
    stream.connection.write("1,Hello streaming")
    (lock,) = session.runtime.metastore.locks()
    assert (lock.type, lock.agent_info) == ("SHARED_READ", "UT")
    stream.connection.abort_transaction()
    assert bucket_files(home(session, "alerts")) == []
    stream.commit("1,Hello streaming", "2,Welcome to streaming")
    assert [row[0] for row in stream.rows()] == [1, 2]


def what_is_left_of_a_batch_is_counted(session: hivesql.Session) -> None:
    for ends in (Stream.commit, Stream.abort):
        stream = Stream(session, "plain", size=3)
        for left in (2, 1, 0, 2):
            ends(stream, "1,Hello streaming")
            assert stream.connection.remaining_transactions == left
        stream.connection.close()


def a_silent_transaction_is_aborted(session: hivesql.Session) -> None:
    stream = Stream(session, "plain", size=2)
    stream.commit("1,a")
    stream.connection.begin_transaction()
    session.runtime.metastore.reap(-1)
    with pytest.raises(streaming.TransactionError):
        stream.connection.commit_transaction()
    stream.commit("2,b")
    assert [row[0] for row in stream.rows()] == [1, 2]


def closing_aborts_the_batch(session: hivesql.Session) -> None:
    stream = Stream(session, "plain", size=2)
    stream.connection.begin_transaction()
    stream.connection.close()
    states = [row.state for row in session.runtime.metastore.transactions()]
    assert states == ["aborted", "aborted"]


# -- files
def rows_are_seen_when_they_are_committed(session: hivesql.Session) -> None:
    stream = Stream(session, "alerts", size=10, into=INDIA)
    stream.commit("1,Hello streaming")
    stream.connection.begin_transaction()
    stream.connection.write("2,Welcome to streaming")
    assert [row[0] for row in stream.rows()] == [1]
    stream.connection.commit_transaction()
    assert [row[0] for row in stream.rows()] == [1, 2]
    (delta,) = (home(session, "alerts") / "continent=Asia" / "country=India").iterdir()
    assert delta.name == "delta_0000001_0000010"


def batches_follow_each_other(session: hivesql.Session) -> None:
    """Names in any case; the table has no buckets, and changes and a lock of its own."""
    make(session, "free")
    session.sql("INSERT INTO free VALUES ('foo', 'bar')")
    stream = Stream(session, "FREE", size=2)
    for n in range(1, 16, 4):
        stream.connection.begin_transaction()
        stream.connection.write(f"a{n},b{n + 1}")
        stream.connection.write(f"a{n + 2},b{n + 3}")
        (lock,) = session.runtime.metastore.locks()
        assert (lock.database, lock.table) == ("default", "free")
        stream.connection.commit_transaction()
    stream.connection.close()
    deltas = sorted(path.parent.name for path in bucket_files(home(session, "free")))
    assert deltas == [
        "delta_0000001_0000001_0000", "delta_0000002_0000003", "delta_0000004_0000005"
    ]  # fmt: skip
    assert ids(session, "free") == [
        (1, 0),
        *((write, row) for write in range(2, 6) for row in (0, 1)),
    ]
    session.sql("UPDATE free SET b = '0' WHERE a = 'a7'; DELETE FROM free WHERE a = 'a1'")
    rows = dict(Stream(session, "free").rows())
    assert len(rows) == 8 and rows["a7"] == "0" and "a1" not in rows


def two_batches_at_once(session: hivesql.Session) -> None:
    one, two = (Stream(session, "alerts", size=10, into=INDIA) for _ in range(2))
    for stream in (one, two):
        stream.connection.begin_transaction()
    one.connection.write("1,Hello streaming")
    two.connection.write("3,Hello streaming - once again")
    assert one.rows() == []
    two.connection.commit_transaction()
    assert [row[0] for row in one.rows()] == [3]
    one.connection.commit_transaction()
    for stream, record in ((one, "2,Welcome"), (two, "4,Welcome")):
        stream.connection.begin_transaction()
        stream.connection.write(record)
    written = [path for path in bucket_files(home(session, "alerts")) if path.name[-1] == "0"]
    assert len(written) == 2
    for path in written:
        side = path.with_name(f"{path.name}_flush_length").read_bytes()
        assert 0 < int.from_bytes(side[-8:], "big") <= path.stat().st_size
    assert [row[0] for row in one.rows()] == [1, 3]
    one.connection.commit_transaction()
    assert [row[0] for row in one.rows()] == [1, 2, 3]
    two.connection.commit_transaction()
    assert [row[0] for row in one.rows()] == [1, 2, 3, 4]


def three_threads_write_at_once(session: hivesql.Session) -> None:
    failures: list[Exception] = []

    streams = {record: Stream(session, "alerts", into=INDIA) for record in RECORDS}

    def write(record: str) -> None:
        try:
            stream = streams[record]
            for _ in range(10):
                stream.commit(record, record)
            stream.connection.close()
        except Exception as error:  # noqa: BLE001 - told below
            failures.append(error)

    threads = [threading.Thread(target=write, args=[record]) for record in RECORDS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert [row[0] for row in Stream(session, "alerts").rows()] == [1] * 20 + [2] * 20 + [3] * 20


def rows_lie_in_the_buckets_of_their_keys(session: hivesql.Session) -> None:
    stream = Stream(session, "keyed")
    stream.commit("name0,1,Hello", "name2,2,Welcome", "name4,2,more", "name5,2,even more")
    found = buckets(session, "keyed")
    assert {name: len(keys) for name, keys in found.items()} == {
        "bucket_00001": 1, "bucket_00002": 2, "bucket_00003": 1
    }  # fmt: skip


def buckets_are_those_of_an_insert(session: hivesql.Session) -> None:
    records = [
        ("PSFAHYLZVC", 29), ("PPPRKWAYAU", 96), ("MIAOFERCHI", 3), ("CEGQAZOWVN", 0),
        ("XWAKMNSVQF", 28), ("XBWTSAJWME", 2), ("FUVLQTAXAY", 5), ("QTQMDJMGJH", 6),
        ("EFLOTLWJWN", 71), ("PEQNAOJHCM", 82), ("MOEKQLGZCP", 41), ("DJBXUEUOEB", 35),
    ]  # fmt: skip
    Stream(session, "many").commit(*(f"{key},{number},x" for key, number in records))
    make(session, "copied")
    values = ", ".join(f"('{key}', {number}, 'x')" for key, number in records)
    session.sql(f"INSERT INTO copied VALUES {values}")
    assert buckets(session, "many") == buckets(session, "copied")


def all_types_as_delimited_text(session: hivesql.Session) -> None:
    """Fractions before 1970, which Hive's test has too, are refused by name."""
    writer = streaming.StrictDelimitedInputWriter(
        field_delimiter="|", collection_delimiter=",", map_key_delimiter=":"
    )
    stream = Stream(session, "types", size=2, writer=writer)
    row = "false|20|200|2000|20000|8.0|40.0|2.2222|{}|1971-01-01|abcd|world|world"
    row += "|k4:v4|200,300|20,bar"
    stream.commit(row.format("1970-12-31 15:59:58.174"))
    path = bucket_files(home(session, "types"))[0]
    with path.open("rb") as file:
        (told,) = (event[5] for event in pyorc.Reader(file))
    assert [str(value).strip() for value in told[:8]] == [
        "False", "20", "200", "2000", "20000", "8.0", "40.0", "2.222"
    ]  # fmt: skip
    assert [str(value) for value in told[8:13]] == [
        "1970-12-31 15:59:58.174000+00:00", "1971-01-01", "abcd", "world", "world"
    ]  # fmt: skip
    assert (dict(told[13]), told[14], told[15]) == ({"k4": "v4"}, [200, 300], (20, "bar"))
    stream.connection.begin_transaction()
    stream.connection.write(row.format("1969-12-31 15:59:58.174"))
    with pytest.raises(streaming.StreamingException, match="fractions of seconds before"):
        stream.connection.commit_transaction()


def dictionaries_where_streams_need_not_be_quick(session: hivesql.Session) -> None:
    encodings = {}
    for table, fast in (("many", True), ("keyed", False)):
        words = ("streaming", "unlimited")
        stream = Stream(session, table, fast=fast)
        stream.commit("\n".join(f"name{i},{i},{words[i % 2]}" for i in range(6000)))
        path = max(bucket_files(home(session, table)), key=lambda path: path.stat().st_size)
        with path.open("rb") as file:
            (stripe,) = pyorc.Reader(file).iter_stripes()
            encodings[fast] = stripe.bytes_length / len(stripe)
        assert len(stream.rows()) == 6000
    assert encodings[False] < encodings[True] * 2


# -- writers under one write id
def parts_of_a_transaction(session: hivesql.Session) -> None:
    make(session, "free")
    session.sql("INSERT INTO free VALUES ('a0', 'bar')")
    leader = Stream(session, "free")
    leader.connection.begin_transaction()
    options = streaming.HiveStreamingConnection.builder().with_session(session)
    options = options.with_record_writer(COMMAS).with_table_object(leader.connection.table)
    options = options.with_write_id(leader.connection.current_write_id)
    parts = [options.with_statement_id(number).connect() for number in (1, 2)]
    for part in parts:
        part.begin_transaction()
    parts[0].write("a1,b2")
    parts[1].write("a5,b6")
    parts[0].write("a3,b4")
    for part in parts:
        part.commit_transaction()
        assert part.transaction_states == (State.PREPARED,)
        with pytest.raises(streaming.StreamingException):
            part.begin_transaction()
        part.close()
    assert [row[0] for row in leader.rows()] == ["a0"]
    leader.connection.commit_transaction()
    assert [row[0] for row in leader.rows()] == ["a0", "a1", "a3", "a5"]


def partitions_of_parts_come_with_the_commit(session: hivesql.Session) -> None:
    leader = Stream(session, "alerts")
    leader.connection.begin_transaction()
    options = streaming.HiveStreamingConnection.builder().with_session(session)
    options = options.with_record_writer(COMMAS).with_table_object(leader.connection.table)
    options = options.with_write_id(leader.connection.current_write_id)
    parts = [options.with_statement_id(number).connect() for number in (1, 2)]
    for number, part in enumerate(parts):
        part.begin_transaction()
        part.write(f"1,2,{number},4")
        part.write(f"1,2,{number},6")
        part.commit_transaction()
        part.close()
    names = {name for part in parts for name in part.partitions}
    assert len(names) == 4 and leader.partitions() == []
    leader.connection.commit_transaction(names)
    assert set(leader.partitions()) == names


def a_property_of_the_commit(session: hivesql.Session) -> None:
    make(session, "free")
    session.sql("ALTER TABLE free SET TBLPROPERTIES ('_metamykey' = 'other')")
    stream = Stream(session, "free", size=2)
    stream.connection.begin_transaction()
    stream.connection.write("a1,b2")
    stream.connection.commit_transaction(key="_metamykey", value="myvalue")
    told = session.sql("SHOW TBLPROPERTIES free('_metamykey')").rows
    assert [tuple(row)[-1] for row in told] == ["myvalue"]
    assert stream.rows() == [("a1", "b2")]


FACTS: list[Callable[[hivesql.Session], None]] = [
    a_new_partition_for_each_value, bucket_columns_need_not_come_first, two_levels,
    values_that_are_missing, texts_by_a_regular_expression, objects_of_json_between_bars,
    a_static_partition_is_added, static_values_want_a_partitioned_table,
    nothing_goes_without_a_transaction, aborted_records_are_gone, empty_transactions,
    an_aborted_transaction_writes_nothing, what_is_left_of_a_batch_is_counted,
    a_silent_transaction_is_aborted, closing_aborts_the_batch,
    rows_are_seen_when_they_are_committed, batches_follow_each_other, two_batches_at_once,
    three_threads_write_at_once, rows_lie_in_the_buckets_of_their_keys,
    buckets_are_those_of_an_insert, all_types_as_delimited_text,
    dictionaries_where_streams_need_not_be_quick, parts_of_a_transaction,
    partitions_of_parts_come_with_the_commit, a_property_of_the_commit,
]  # fmt: skip


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: str(fact.__name__))
def test_facts(session: hivesql.Session, fact: Callable[[hivesql.Session], None]) -> None:
    fact(session)
