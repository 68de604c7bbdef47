"""Small statements on a warehouse in S3, without Spark.

``HIVESQL_S3_STATEMENTS=2000 python -m pytest -s -n 0 -k fail PATH_OF_THIS_FILE`` runs more of them
while requests fail, and tells how many did; ``HIVESQL_S3_SEED=…`` runs the same ones again.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import hivesql
from hivesql import streaming
from hivesql_executor.compaction.aborts import clean_aborted
from hivesql_executor.compaction.cleaner import clean
from hivesql_executor.failpoints import VARIABLE, FailPoint
from hivesql_executor.metastore.api import AbortLimits, TxnType
from hivesql_executor.transactions.file_changes import FileChanges
from hivesql_executor.transactions.reaper import is_same
from hivesql_planner.model.table import TableName
from s3_server import BUCKET, S3Server
from s3_sessions import ACID, QUICK, connect, keys, server_without_spark

STATEMENTS = int(os.environ.get("HIVESQL_S3_STATEMENTS", "100"))
SEED = int(os.environ.get("HIVESQL_S3_SEED", "0")) or random.randrange(1, 1 << 30)
FAULTS = {"slow": 0.02, "broken": 0.04, "reset": 0.06, "dropped": 0.08, "half": 0.10, "late": 0.12}
"""Of all requests, up to which part each fault happens."""
_AT_ONCE = 100
"""Statements on one table."""


@pytest.fixture(scope="module")
def server() -> Iterator[S3Server]:
    with server_without_spark() as running:
        yield running


BOUNDED = {
    # The first list without files makes sure that what answers is a store.
    f"CREATE TABLE t (k INT, v STRING) {ACID}": 3,
    "INSERT INTO t VALUES (1, 'a')": 2,
    "INSERT INTO t VALUES (2, 'b'), (3, 'c')": 2,
    # A LIST; small files that were written here are remembered.
    "SELECT * FROM t": 1,
    "SELECT v FROM t WHERE k = 2": 1,
    "UPDATE t SET v = 'z' WHERE k = 2": 5,
    "DELETE FROM t WHERE k = 1": 3,
    "SELECT * FROM t ORDER BY k": 1,
    f"CREATE TABLE p (k INT, v STRING) PARTITIONED BY (d STRING) {ACID}": 2,
    "INSERT INTO p VALUES (1, 'a', 'x/y'), (2, 'b', 'z')": 4,
    "SELECT * FROM p ORDER BY k": 2,
    "ALTER TABLE p ADD PARTITION (d = 'q')": 1,
    "TRUNCATE TABLE p PARTITION (d = 'z')": 1,
    "ALTER TABLE p DROP PARTITION (d = 'q')": 1,
    "SELECT count(*) FROM p": 2,
    "DROP TABLE p": 3,
}


def test_small_statements_ask_little_and_write_what_they_write_on_a_disk(
    server: S3Server, tmp_path: Path
) -> None:
    """Of each partition one LIST, of no file its length; and Spark is not started."""
    with (
        connect(server, tmp_path / "s3.db", "few") as session,
        hivesql.connect(f"sqlite:///{tmp_path}/disk.db", tmp_path / "few") as beside,
    ):
        for statement, most in BOUNDED.items():
            server.requests.clear()
            rows = session.sql(statement).rows
            asked = [*server.requests]
            assert rows == beside.sql(statement).rows
            assert len(asked) <= most, (statement, asked)
            kinds = Counter(request.split()[0] for request in asked)
            if statement.startswith(("SELECT", "INSERT", "UPDATE", "DELETE")):
                assert kinds["HEAD"] == kinds["DELETE"] == 0, (statement, asked)
            if statement.startswith("SELECT"):
                assert kinds["LIST"] <= (3 if "FROM p" in statement else 1), (statement, asked)
        # Names that another client would change on their way.
        odd = "ü%2F +&?#*~[1]"
        for each in (session, beside):
            each.sql(f"CREATE TABLE odd (k INT) PARTITIONED BY (d STRING) {ACID}")
            each.sql(f"INSERT INTO odd VALUES (1, '{odd}')")
        assert session.sql("SELECT d FROM odd").rows == [(odd,)]
        assert not session._spark.started
    on_disk = {
        str(path.relative_to(tmp_path / "few")): path.read_bytes()
        for path in (tmp_path / "few").rglob("*") if path.is_file()
    }  # fmt: skip
    assert keys(server, "few") == on_disk


TOGETHER = {
    "INSERT INTO w VALUES (1, 'a', 0), (2, 'b', 1), (3, 'c', 2)": ("PUT _orc", "PUT bucket"),
    "SELECT * FROM w": ("LIST",),
    "UPDATE w SET v = 'z'": ("LIST", "PUT _orc", "PUT _orc", "PUT bucket", "PUT bucket"),
    "DELETE FROM w WHERE k > 0": ("LIST", "PUT _orc", "PUT bucket"),
    "TRUNCATE TABLE w": ("PUT _metadata",),
}
"""Of statements on a table of three partitions, requests of which three come at a time."""


def test_requests_of_a_statement_do_not_wait_for_each_other(
    server: S3Server, tmp_path: Path
) -> None:
    """Each waits until three of its kind are there: alone it would wait for ever."""
    kinds = {
        "LIST": "LIST",
        "_orc_acid_version": "PUT _orc",
        "bucket": "PUT bucket",
        "_metadata_acid": "PUT _metadata",
    }
    with connect(server, tmp_path / "m.db", "together") as session:
        session.sql(f"CREATE TABLE w (k INT, v STRING) PARTITIONED BY (p INT) {ACID}")
        for statement, rounds in TOGETHER.items():
            barriers = {kind: threading.Barrier(3) for kind in rounds}
            seen: Counter[str] = Counter()

            def wait(request: str, barriers: Any = barriers, seen: Counter[str] = seen) -> None:
                kind = next(kind for part, kind in kinds.items() if part in request)
                seen[kind] += 1
                barriers[kind].wait(timeout=60)

            server.waits = wait
            try:
                session.sql(statement)
            finally:
                server.waits = lambda request: None
            assert seen == {kind: 3 * rounds.count(kind) for kind in rounds}, statement


def test_a_round_of_the_cleaner_looks_through_a_table_once(
    server: S3Server, tmp_path: Path
) -> None:
    """Of each partition: two LISTs and what deletes. All of the table's and its uploads once."""
    with connect(server, tmp_path / "m.db", "rounds") as session:
        runtime, home = session.runtime, f"s3a://{BUCKET}/rounds/t"
        store, name, counts = runtime.metastore, TableName("default", "t"), []
        session.sql(f"CREATE TABLE t (k INT) PARTITIONED BY (p INT) {ACID}")
        for count in (2, 6):
            session.sql(f"INSERT INTO t VALUES {', '.join(f'(1, {p})' for p in range(count))}")
            for p in range(count):
                id_ = store.enqueue_compaction(name, f"p={p}", "major", initiator_id="x").id
                assert store.next_compaction("here-1.0", id=id_)
                (txn_id,) = store.open_txns(1, "ann", "here", type=TxnType.COMPACTION)
                highest = store.compactor_write_ids(name).high_watermark
                store.set_compaction_txn(id_, txn_id, highest)
                base = f"{home}/p={p}/base_{highest:07d}_v{txn_id:07d}"
                runtime.files(home).write(f"{base}/bucket_00000", b"x")
                store.mark_compacted(id_)
                store.commit_txn(txn_id)
            server.requests.clear()
            assert clean(runtime) == count
            counts.append(Counter(request.split()[0] for request in server.requests))
            left = {key.split("/")[2] for key in keys(server, "rounds")}
            assert {directory.partition("_")[0] for directory in left} == {"base"}
        few, many = counts
        assert many - few == Counter(LIST=8, POST=4), counts
        assert few.total() == 2 * 3 + 2, counts


MANY = 40


def test_a_survey_is_one_list(server: S3Server, tmp_path: Path) -> None:
    with connect(server, tmp_path / "m.db", "survey") as session:
        home = f"s3a://{BUCKET}/survey/s"
        session.sql(f"CREATE TABLE s (k INT) {ACID}; INSERT INTO s VALUES (1)")
        files = session.runtime.files(home)
        files.write(f"{home}/.hive-staging_1/part", b"x")
        files.write(f"{home}/alone", b"x")
        server.requests.clear()
        listed, names = files.survey(home)
        assert server.requests == ["LIST survey/s/"]
        assert names == (".hive-staging_1", "delta_0000001_0000001_0000")
        assert (listed, names) == (files.list(home), files.all_directories(home))


def test_streams_write_each_transaction_whole(server: S3Server, tmp_path: Path) -> None:
    """Nothing is there before the commit, nor after what ends otherwise."""
    stored = "t/p={}/delta_{:07d}_{:07d}/".format

    def ints(number: int) -> pa.Array:
        return pa.array([number], pa.int32())

    with connect(server, tmp_path / "m.db", "streams") as session:
        session.sql(f"CREATE TABLE t (k INT, v STRING) PARTITIONED BY (p INT) {ACID}")
        builder = streaming.ConnectionBuilder(session=session, table="t", batch_size=4)
        text = builder.with_record_writer(streaming.StrictDelimitedInputWriter(field_delimiter=","))
        with text.connect() as connection:
            connection.begin_transaction()
            connection.write("1,a,0\n2,b,1\n")
            assert keys(server, "streams") == {}
            server.requests.clear()
            connection.commit_transaction(key="_meta.offset", value="2")
            asked = Counter(request.split()[0] for request in server.requests)
            assert asked == {"PUT": 4}, server.requests
            connection.begin_transaction()
            connection.write("3,c,0\n")
            connection.abort_transaction()
            connection.begin_transaction()
            connection.write("4,d,0\n")
            # As whoever takes us for dead does.
            session.runtime.metastore.abort_txns([connection.current_txn_id], "a test")
            with pytest.raises(streaming.TransactionError):
                connection.commit_transaction(key="_meta.offset", value="4")
        with builder.with_record_writer(streaming.ArrowRecordWriter()).connect() as connection:
            connection.begin_transaction()
            connection.write_batch(pa.table({"k": ints(5), "v": ["e"], "p": ints(0)}))
            connection.commit_transaction(key="_meta.offset", value="5")
        rows = [(1, "a", 0), (2, "b", 1), (5, "e", 0)]
        assert [*session.sql("SELECT * FROM t ORDER BY k").rows] == rows
        directories = {key.rpartition("/")[0] + "/" for key in keys(server, "streams")}
        assert directories == {stored(0, 1, 1), stored(1, 1, 1), stored(0, 5, 5)}
        table = session.runtime.metastore.table(TableName("default", "t"))
        assert table.properties["_meta.offset"] == "5"
        server.fault = lambda request: "denied" if "bucket_" in request else ""
        try:
            connection = text.connect()
            connection.begin_transaction()
            connection.write("6,f,1\n")
            with pytest.raises(streaming.StreamingException, match="Give yourself the right"):
                connection.commit_transaction()
        finally:
            server.fault = lambda request: ""
        assert {key.rpartition("/")[0] + "/" for key in keys(server, "streams")} == directories
        assert not session._spark.started


def test_aborted_writes_are_cleaned_without_spark(server: S3Server, tmp_path: Path) -> None:
    """With what tasks of a dead driver had begun to upload; not what others upload now."""
    import boto3

    client = boto3.client("s3", endpoint_url=server.url, region_name="us-east-1")

    def waiting() -> set[str]:
        listed = client.list_multipart_uploads(Bucket=BUCKET, Prefix="aborts/").get("Uploads", [])
        return {each["Key"] for each in listed}

    with connect(server, tmp_path / "m.db", "aborts") as session:
        session.sql(f"CREATE TABLE t (k INT) {ACID}")
        session.sql("INSERT INTO t VALUES (1)")
        server.fault = lambda request: "denied" if "delta_0000002" in request else ""
        with pytest.raises(hivesql.HiveSqlError, match="Give yourself the right"):
            session.sql("INSERT INTO t VALUES (2)")
        server.fault = lambda request: ""
        left, running = (
            f"aborts/t/delta_000000{number}_000000{number}_0000/bucket_00000" for number in (2, 3)
        )
        client.put_object(Bucket=BUCKET, Key=f"{left}_", Body=b"left")
        for key in (left, running):
            client.create_multipart_upload(Bucket=BUCKET, Key=key)
        assert clean_aborted(session.runtime, AbortLimits(count=0, age=0)) == 1
        assert waiting() == {running}
        assert not any("delta_0000002" in key for key in keys(server, "aborts"))
        assert [*session.sql("SELECT * FROM t").rows] == [(1,)]
        assert not session._spark.started


def test_aborted_writes_of_many_partitions_share_what_their_table_is_asked(
    server: S3Server, tmp_path: Path
) -> None:
    """Its directory has an entry for each of them, and its uploads are one list."""
    with connect(server, tmp_path / "m.db", "shared") as session:
        session.sql(f"CREATE TABLE t (k INT) PARTITIONED BY (p INT) {ACID}")
        session.sql(f"INSERT INTO t VALUES {', '.join(f'({k}, {k})' for k in range(MANY))}")
        session.sql("START TRANSACTION; UPDATE t SET k = k + 1; ROLLBACK")
        server.requests.clear()
        assert clean_aborted(session.runtime, AbortLimits(count=0, age=0)) == MANY
        kinds = Counter(request.split()[0] for request in server.requests)
        assert kinds == {"LIST": 2 * MANY + 1, "GET": 1, "POST": MANY}
        assert not any("_0000002_" in key for key in keys(server, "shared"))
        assert session.sql("SELECT count(*) FROM t").rows == [(MANY,)]


def test_a_table_made_again_within_a_second_has_rows_of_its_own(
    server: S3Server, tmp_path: Path
) -> None:
    with connect(server, tmp_path / "m.db", "again") as session:
        for number in range(5):
            session.sql(f"CREATE TABLE t (k INT) {ACID}")
            session.sql(f"INSERT INTO t VALUES ({number})")
            assert session.sql("SELECT k FROM t").rows == [(number,)]
            session.sql("DROP TABLE t")
        assert keys(server, "again") == {}


def test_a_marker_is_no_directory_whose_files_are_missing(server: S3Server, tmp_path: Path) -> None:
    """Hadoop's S3A leaves one where it has removed the last file of a write that failed."""
    import boto3

    with connect(server, tmp_path / "m.db", "marked") as session:
        session.sql(f"CREATE TABLE t (k INT) {ACID}")
        session.sql("INSERT INTO t VALUES (1)")
        client = boto3.client("s3", endpoint_url=server.url, region_name="us-east-1")
        client.put_object(Bucket=BUCKET, Key="marked/t/delta_0000001_0000001_0001/")
        assert session.check("t") == ()


def test_a_move_that_came_half_way_is_known_by_its_contents(
    server: S3Server, tmp_path: Path
) -> None:
    """A copy of what was uploaded in parts has another tag; whoever mends would be stuck."""
    import boto3

    client = boto3.client("s3", endpoint_url=server.url, region_name="us-east-1")
    body = os.urandom(9_000_000)
    key = "half/t/000000_0"
    part = {"Bucket": BUCKET, "Key": key}
    upload = client.create_multipart_upload(**part)["UploadId"]
    told = client.upload_part(**part, UploadId=upload, PartNumber=1, Body=body)
    parts = {"Parts": [{"PartNumber": 1, "ETag": told["ETag"]}]}
    client.complete_multipart_upload(**part, UploadId=upload, MultipartUpload=parts)
    for name, data in {"same": body, "other": body[:-1] + bytes([body[-1] ^ 1])}.items():
        client.put_object(Bucket=BUCKET, Key=f"half/t/{name}", Body=data)
    with connect(server, tmp_path / "m.db", "half") as session:
        home = f"s3a://{BUCKET}/half/t"
        files = session.runtime.files(home)
        assert files.modified(f"{home}/000000_0") != files.modified(f"{home}/same")
        assert is_same(files, f"{home}/000000_0", f"{home}/same")
        assert not is_same(files, f"{home}/000000_0", f"{home}/other")


def test_files_are_hidden_side_by_side_and_come_back(server: S3Server, tmp_path: Path) -> None:
    """Names that another client would change on their way; and what is taken stays as it is."""
    names = ["a b", "p=1/x+y", "p=ü/%2F", "~#?*"]
    with connect(server, tmp_path / "m.db", "hide") as session:
        runtime, home = session.runtime, f"s3a://{BUCKET}/hide/t"
        files = runtime.files(home)
        for name in names:
            files.write(f"{home}/{name}", name.encode())
        changes = FileChanges(runtime, 0)
        server.requests.clear()
        changes.empty(home)
        kinds = Counter(request.split()[0] for request in server.requests)
        assert kinds == {"LIST": 1, "COPY": len(names), "POST": 1}, server.requests
        assert files.list(home) == ()
        changes.undo(None)
        assert {status.path for status in files.list(home)} == {*names}
        pairs = [(f"{home}/{name}", f"{home}/new/{name}") for name in names]
        files.write(pairs[0][1], b"another's")
        server.requests.clear()
        changes = FileChanges(runtime, 0)
        assert changes.bring(pairs) == [pairs[0]]
        left = {status.path for status in files.list(home)}
        assert left == {names[0], *(f"new/{name}" for name in names)}
        changes.undo(None)
        stored = {name.removeprefix("t/"): data for name, data in keys(server, "hide").items()}
        assert stored == {name: name.encode() for name in names} | {f"new/{names[0]}": b"another's"}


def test_nothing_is_written_over(server: S3Server, tmp_path: Path) -> None:
    """A metastore that was set back gives a write id again, whose files are there."""
    with connect(server, tmp_path / "m.db", "over") as session:
        session.sql(f"CREATE TABLE t (k INT) {ACID}")
        session.sql("INSERT INTO t VALUES (1)")
        before = keys(server, "over")
        session.sql("DROP TABLE t")
        session.sql(f"CREATE TABLE t (k INT) {ACID}")
        files = session.runtime.files(f"s3a://{BUCKET}/over/t")
        for name, data in before.items():
            files.write(f"s3a://{BUCKET}/over/{name}", data)
        with pytest.raises(hivesql.HiveSqlError, match="exists already, and was not written over"):
            session.sql("INSERT INTO t VALUES (2)")
        assert keys(server, "over") == before


REFUSED = {
    "denied": "Give yourself the right to it",
    "wrong": "Correct the credentials",
    "skewed": "Set this machine's clock",
    "unknown": "Correct the credentials",
    "expired": "Renew the credentials",
    "region": "Set fs.s3a.endpoint.region",
    "moved": "Set fs.s3a.endpoint.region",
    "slow": "Run the statement again",
}


def test_refusals_say_what_to_do(server: S3Server, tmp_path: Path) -> None:
    with connect(server, tmp_path / "m.db", "refused") as session:
        session.sql(f"CREATE TABLE t (k INT) {ACID}")
        for fault, remedy in REFUSED.items():
            server.fault = lambda request, fault=fault: fault  # type: ignore[misc]
            try:
                # The last one asks for one file first, where an answer has no body.
                create = f"CREATE TABLE u (k INT) {ACID}"
                for statement in ("INSERT INTO t VALUES (1)", "SELECT * FROM t", create):
                    with pytest.raises(hivesql.HiveSqlError, match=remedy) as refused:
                        session.sql(statement)
                    assert refused.value.retryable == (fault == "slow"), statement
            finally:
                server.fault = lambda request: ""
        with pytest.raises(hivesql.HiveSqlError, match="Make the bucket, or correct its name"):
            session.sql(f"CREATE TABLE u (k INT) LOCATION 's3a://nowhere/u' {ACID}")
        assert session.sql("SELECT * FROM t").rows == []


ODD = ("x//y", "/", "./z", "..", "a\x01b")


def test_a_name_that_is_no_path_is_told(server: S3Server, tmp_path: Path) -> None:
    """Other programs leave such, as a marker of a directory without a name."""
    import boto3

    client = boto3.client("s3", endpoint_url=server.url, region_name="us-east-1")
    with connect(server, tmp_path / "m.db", "odd") as session:
        session.sql(f"CREATE TABLE t (k INT) {ACID}; INSERT INTO t VALUES (1)")
        for name in ODD:
            key = f"odd/t/{name}"
            client.put_object(Bucket=BUCKET, Key=key)
            with pytest.raises(hivesql.HiveSqlError, match="Delete or rename it") as refused:
                session.sql("SELECT * FROM t")
            assert repr(key) in str(refused.value)
            assert not refused.value.retryable
            client.delete_object(Bucket=BUCKET, Key=key)
            assert session.sql("SELECT * FROM t").rows == [(1,)]


def test_empty_files_are_told_from_markers_side_by_side(server: S3Server, tmp_path: Path) -> None:
    """Each waits until four are asked for: alone it would wait for ever."""
    import boto3

    client = boto3.client("s3", endpoint_url=server.url, region_name="us-east-1")
    names = ["a b", "%2F+", "ü", "_SUCCESS"]
    for name in names:
        client.put_object(Bucket=BUCKET, Key=f"empty/t/{name}")
    barrier = threading.Barrier(len(names))
    with connect(server, tmp_path / "m.db", "empty") as session:
        files = session.runtime.files(f"s3a://{BUCKET}/empty")
        server.waits = lambda request: request.startswith("HEAD") and barrier.wait(timeout=60)
        try:
            listed = files.list(f"s3a://{BUCKET}/empty/t")
        finally:
            server.waits = lambda request: None
        assert {status.path for status in listed} == {"a b", "%2F+", "ü"}


Rows = dict[int, str]


def _change(chance: random.Random, number: int, rows: Rows) -> tuple[str, Rows]:
    """Make up a statement, and say what it makes of the rows."""
    low = chance.randrange(number + 1)
    match chance.randrange(5):
        case 0 | 1:
            new = {number * 3 + i: f"n{number}" for i in range(chance.randrange(1, 4))}
            values = ", ".join(f"({k}, '{v}', {k % 2})" for k, v in new.items())
            return f"INSERT INTO t VALUES {values}", rows | new
        case 2:
            return f"UPDATE t SET v = 'u{number}' WHERE k >= {low} AND k < {low + 20}", {
                k: f"u{number}" if low <= k < low + 20 else v for k, v in rows.items()
            }
        case 3:
            return f"DELETE FROM t WHERE k >= {low} AND k < {low + 9}", {
                k: v for k, v in rows.items() if not low <= k < low + 9
            }
        case _:
            return f"TRUNCATE TABLE t PARTITION (p = {low % 2})", {
                k: v for k, v in rows.items() if k % 2 != low % 2
            }


def test_requests_that_fail_lose_and_double_nothing(server: S3Server, tmp_path: Path) -> None:
    """Each statement is whole, or fails and has done nothing."""
    chance, lot, lock = random.Random(SEED), random.Random(SEED), threading.Lock()
    told: Counter[str] = Counter()

    def fault(request: str) -> str:
        with lock:
            drawn = lot.random()
            kind = next((kind for kind, part in FAULTS.items() if drawn < part), "")
            told[kind] += 1
            return kind

    rows: Rows = {}
    with connect(server, tmp_path / "m.db", "faults") as session:
        try:
            for number in range(STATEMENTS):
                if number % _AT_ONCE == 0:
                    # Nothing is compacted here, and many files are a matter for Spark.
                    server.fault, rows = lambda request: "", {}
                    session.sql("DROP TABLE IF EXISTS t")
                    session.sql(f"CREATE TABLE t (k INT, v STRING) PARTITIONED BY (p INT) {ACID}")
                    session.sql("ALTER TABLE t ADD PARTITION (p = 0) PARTITION (p = 1)")
                    server.fault = fault
                statement, after = _change(chance, number, rows)
                failed = _try(session, statement)
                rows = rows if failed else after
                told["failed"] += bool(failed)
                read: Any = _try(session, "SELECT k, v FROM t ORDER BY k")
                expected = [*sorted(rows.items())]
                assert isinstance(read, hivesql.HiveSqlError) or read == expected, (
                    SEED, number, statement, failed,
                )  # fmt: skip
        finally:
            server.fault = lambda request: ""
        assert session.sql("SELECT k, v FROM t ORDER BY k").rows == [*sorted(rows.items())], SEED
        assert not session._spark.started
    assert {*FAULTS} <= {*told}, told
    assert told["failed"] < STATEMENTS / 4, (SEED, told)
    sys.stdout.write(f"seed {SEED}: {STATEMENTS} statements, {dict(told)}\n")


def _try(session: hivesql.Session, statement: str) -> Any:
    """Give the rows of a SELECT, or None; or the error, which must be one to try again after."""
    try:
        rows = session.sql(statement).rows
    except hivesql.HiveSqlError as error:
        return error
    return rows if statement.startswith("SELECT") else None


KILLED = {
    "UPDATE t SET v = 'new' WHERE k < 3": (
        f"{FailPoint.FILE_PUBLISHED}", f"{FailPoint.FILE_PUBLISHED}:3",
        f"{FailPoint.BEFORE_COMMIT}", f"{FailPoint.AFTER_COMMIT}",
    ),
    "DROP TABLE u": (f"{FailPoint.DIRECTORIES_MOVED}", f"{FailPoint.CATALOG_CHANGED}"),
    "ALTER TABLE v DROP PARTITION (p = 0)": (
        f"{FailPoint.DIRECTORIES_MOVED}", f"{FailPoint.CATALOG_CHANGED}",
    ),
}  # fmt: skip
PROGRAM = """
import json, sys, hivesql
metastore, home, settings, statement = json.loads(sys.argv[1])
with hivesql.connect(metastore, home, settings=settings) as session:
    session.sql(statement)
"""


def test_a_killed_process_leaves_whole_tables(server: S3Server, tmp_path: Path) -> None:
    metastore, home = f"sqlite:///{tmp_path}/m.db", f"s3a://{BUCKET}/killed"
    settings = {**server.settings(), **QUICK}
    with connect(server, tmp_path / "m.db", "killed") as session:
        session.sql(f"CREATE TABLE t (k INT, v STRING) PARTITIONED BY (p INT) {ACID}")
        session.sql("INSERT INTO t VALUES (1, 'a', 0), (2, 'b', 1), (3, 'c', 0)")
    for statement, places in KILLED.items():
        for place in places:
            with connect(server, tmp_path / "m.db", "killed") as session:
                if "TABLE u" in statement:
                    session.sql(f"CREATE TABLE u (k INT) {ACID}")
                    session.sql("INSERT INTO u VALUES (7)")
                elif "TABLE v" in statement:
                    session.sql(f"CREATE TABLE v (k INT) PARTITIONED BY (p INT) {ACID}")
                    session.sql("INSERT INTO v VALUES (7, 0), (8, 1)")
            asked = json.dumps([metastore, home, settings, statement])
            done = subprocess.run(
                [sys.executable, "-c", PROGRAM, asked],
                env={**os.environ, VARIABLE: place}, capture_output=True, text=True,
            )  # fmt: skip
            assert done.returncode == -9, (place, done.stderr)
            # Whoever opens the next session reaps it.
            with connect(server, tmp_path / "m.db", "killed", **{"hive.txn.timeout": "1ms"}) as one:
                is_done = place in (FailPoint.AFTER_COMMIT, FailPoint.CATALOG_CHANGED)
                if "TABLE v" in statement:
                    stored = [name for name in keys(server, "killed") if name.startswith("v/p=0/")]
                    assert (stored == []) == is_done, place
                    left = [(8, 1)] if is_done else [(7, 0), (8, 1)]
                    assert one.sql("SELECT * FROM v ORDER BY k").rows == left, place
                    one.sql("INSERT INTO v VALUES (9, 0)")
                    assert one.sql("SELECT * FROM v ORDER BY k").rows == [*left, (9, 0)], place
                    one.sql("DROP TABLE v")
                elif "TABLE u" in statement:
                    stored = [name for name in keys(server, "killed") if name.startswith("u/")]
                    assert (one.sql("SHOW TABLES LIKE 'u'").rows == []) == is_done
                    assert (stored == []) == is_done, place
                    one.sql("DROP TABLE IF EXISTS u")
                else:
                    rows = one.sql("SELECT k, v FROM t ORDER BY k").rows
                    new = [(1, "new"), (2, "new"), (3, "c")]
                    assert rows == (new if is_done else [(1, "a"), (2, "b"), (3, "c")]), place
                assert not one._spark.started
