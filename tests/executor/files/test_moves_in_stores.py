"""Directories that move or go in S3, where each file does so by itself, while requests fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import boto3
import pytest

import hivesql
from hivesql_executor.transactions.file_changes import FileChanges
from s3_server import BUCKET, S3Server
from s3_sessions import ACID, connect, keys, server_without_spark

DEAD = {"hive.txn.timeout": "1ms"}
ROWS = [(1, 0), (2, 1), (3, 0)]


@pytest.fixture(scope="module")
def server() -> Iterator[S3Server]:
    with server_without_spark() as running:
        yield running


def _fail(kind: str, count: int, *, lasts: bool) -> Callable[[str], str]:
    """Refuse a request of a kind, of which so many were carried out; ``lasts``: all after it."""
    seen: list[str] = []

    def fault(request: str) -> str:
        if request.startswith(kind) or len(seen) > count:
            seen.append(request)
        return "denied" if len(seen) > count and (lasts or len(seen) == count + 1) else ""

    return fault


MOVED = {
    "ALTER TABLE {} RENAME TO {}_new": "{}_new",
    "ALTER TABLE {} PARTITION (p = 0) RENAME TO PARTITION (p = 5)": "{}/p=5",
}
BROKEN = [("COPY", 0), ("COPY", 2), ("POST", 0)]
"""Of the copies, and the deletion behind them, how many were carried out before one was refused."""


@pytest.mark.parametrize("statement", MOVED)
def test_a_directory_that_came_half_way_goes_back(
    server: S3Server, tmp_path: Path, statement: str
) -> None:
    """At once, or by whoever reaps it where nothing can be put back; a hidden file comes, too."""
    client = boto3.client("s3", endpoint_url=server.url, region_name="us-east-1")
    names = iter("abcdefgh")
    for lasts in (False, True):
        for kind, count in BROKEN:
            name = next(names)
            with connect(server, tmp_path / "m.db", "half") as session:
                session.sql(f"CREATE TABLE {name} (k INT) PARTITIONED BY (p INT) {ACID}")
                session.sql(f"INSERT INTO {name} VALUES (1, 0), (2, 1), (3, 0)")
                client.put_object(Bucket=BUCKET, Key=f"half/{name}/p=0/_hidden", Body=b"x")
                before = keys(server, "half")
                server.fault = _fail(kind, count, lasts=lasts)
                try:
                    with pytest.raises(hivesql.HiveSqlError, match="Give yourself the right"):
                        session.sql(statement.format(name, name))
                finally:
                    server.fault = lambda request: ""
            with connect(server, tmp_path / "m.db", "half", **(DEAD if lasts else {})) as session:
                rows = session.sql(f"SELECT k, p FROM {name} ORDER BY k").rows
                assert rows == ROWS, (kind, count, lasts)
                assert keys(server, "half") == before, (kind, count, lasts)
                session.sql(statement.format(name, name))
                place = MOVED[statement].format(name)
                assert any(key.startswith(f"{place}/") for key in keys(server, "half"))


def test_a_copy_whose_answer_is_an_error_is_none(server: S3Server, tmp_path: Path) -> None:
    """S3 says 200 before it copies, and an error behind it; nothing is deleted then."""
    with connect(server, tmp_path / "m.db", "hollow") as session:
        session.sql(f"CREATE TABLE t (k INT) {ACID}; INSERT INTO t VALUES (1)")
        before = keys(server, "hollow")
        server.fault = lambda request: "hollow" if request.startswith("COPY") else ""
        try:
            with pytest.raises(hivesql.HiveSqlError, match="Run the statement again"):
                session.sql("ALTER TABLE t RENAME TO u")
        finally:
            server.fault = lambda request: ""
        assert keys(server, "hollow") == before
        assert session.sql("SELECT k FROM t").rows == [(1,)]


def test_what_another_has_put_where_a_directory_moves_stays(
    server: S3Server, tmp_path: Path
) -> None:
    """It comes between the look at the place and the move."""
    client = boto3.client("s3", endpoint_url=server.url, region_name="us-east-1")
    with connect(server, tmp_path / "m.db", "taken") as session:
        session.sql(f"CREATE TABLE t (k INT) {ACID}; INSERT INTO t VALUES (1)")
        before = keys(server, "taken")
        looks = []

        def put(request: str) -> None:
            looks.append(request)
            if looks.count("LIST taken/u/") == 1 and request == "LIST taken/t/":
                client.put_object(Bucket=BUCKET, Key="taken/u/000000_0", Body=b"x")

        server.waits = put
        try:
            with pytest.raises(hivesql.HiveSqlError, match="exists already"):
                session.sql("ALTER TABLE t RENAME TO u")
        finally:
            server.waits = lambda request: None
        assert keys(server, "taken") == before | {"u/000000_0": b"x"}
        assert session.sql("SELECT k FROM t").rows == [(1,)]


def test_a_dropped_table_is_deleted_where_it_lies(server: S3Server, tmp_path: Path) -> None:
    """Nobody has its place before; of a store that refuses it the table is dropped all the same."""
    client = boto3.client("s3", endpoint_url=server.url, region_name="us-east-1")
    taking = (
        "CREATE TABLE t (k INT)",
        f"CREATE EXTERNAL TABLE x (k INT) LOCATION 's3a://{BUCKET}/drop/t/inner'",
        f"CREATE EXTERNAL TABLE x (k INT) LOCATION 's3a://{BUCKET}/drop'",
        f"ALTER TABLE p ADD PARTITION (d = 1) LOCATION 's3a://{BUCKET}/drop/t'",
        f"ALTER TABLE e SET LOCATION 's3a://{BUCKET}/drop/t'",
    )
    with connect(server, tmp_path / "m.db", "drop") as session:
        session.sql(f"CREATE EXTERNAL TABLE e (k INT) LOCATION 's3a://{BUCKET}/drop-e'")
        partitioned = "CREATE EXTERNAL TABLE IF NOT EXISTS p (k INT) PARTITIONED BY (d INT)"
        for statement in taking:
            session.sql(f"{partitioned}; CREATE TABLE t (k INT)")
            for name in ("000000_0", "_hidden", "sub/000000_0"):
                client.put_object(Bucket=BUCKET, Key=f"drop/t/{name}", Body=b"1\n")
            server.fault = lambda request: "denied" if request.startswith("POST") else ""
            try:
                session.sql("DROP TABLE t")
                assert session.sql("SHOW TABLES LIKE 't'").rows == []
                with pytest.raises(hivesql.HiveSqlError, match="could not be deleted yet") as told:
                    session.sql(statement)
                assert told.value.retryable, statement
            finally:
                server.fault = lambda request: ""
            session.sql(statement)
            assert not any(key.startswith("t/") for key in keys(server, "drop")), statement
            session.sql("DROP TABLE IF EXISTS t; DROP TABLE IF EXISTS x; DROP TABLE IF EXISTS p")
        session.sql("DROP TABLE e; CREATE TABLE t (k INT)")
        client.put_object(Bucket=BUCKET, Key="drop/t/000000_0", Body=b"1\n")
        server.requests.clear()
        session.sql("DROP TABLE t")
        assert [request.split()[0] for request in server.requests] == ["LIST", "POST"]
        assert not session._spark.started


def test_files_are_not_taken_for_deleted_where_the_bucket_is_missing(
    server: S3Server, tmp_path: Path
) -> None:
    with connect(server, tmp_path / "m.db", "bucket") as session:
        session.sql(f"CREATE TABLE t (k INT) {ACID}; INSERT INTO t VALUES (1)")
        files = session.runtime.files(f"s3a://{BUCKET}/bucket")
        server.fault = lambda request: "gone" if request.startswith("POST") else ""
        try:
            with pytest.raises(hivesql.HiveSqlError, match="Make the bucket"):
                files.delete(f"s3a://{BUCKET}/bucket/t")
        finally:
            server.fault = lambda request: ""
        assert session.sql("SELECT k FROM t").rows == [(1,)]


def test_a_refused_file_is_not_called_damaged(server: S3Server, tmp_path: Path) -> None:
    with connect(server, tmp_path / "m.db", "refusing") as session:
        session.sql(f"CREATE TABLE t (k INT) {ACID}; INSERT INTO t VALUES (1)")
        data = {name: body for name, body in keys(server, "refusing").items() if "bucket_" in name}
        client = boto3.client("s3", endpoint_url=server.url, region_name="us-east-1")
        for name, body in data.items():
            # Else it is remembered, as it was written here.
            client.put_object(Bucket=BUCKET, Key=f"refusing/{name}", Body=body)
    with connect(server, tmp_path / "other.db", "refusing") as session:
        session.sql(f"CREATE EXTERNAL TABLE x (k INT) STORED AS ORC "
                    f"LOCATION 's3a://{BUCKET}/refusing/t/delta_0000001_0000001_0000'")  # fmt: skip
        from hivesql_executor.orc.tail import read_tail

        (name,) = data
        path = f"s3a://{BUCKET}/refusing/{name}"
        server.fault = lambda request: "expired" if request.startswith("GET") else ""
        try:
            with pytest.raises(hivesql.HiveSqlError, match="Renew the credentials") as refused:
                read_tail(session.runtime.files(path), path, len(data[name]))
            assert "readable ORC" not in str(refused.value)
        finally:
            server.fault = lambda request: ""


def test_uploads_of_a_failed_statement_are_given_up(server: S3Server, tmp_path: Path) -> None:
    """Those below where it worked, and no others; also where nobody may list them it is undone."""
    client = boto3.client("s3", endpoint_url=server.url, region_name="us-east-1")

    def waiting() -> set[str]:
        listed = client.list_multipart_uploads(Bucket=BUCKET, Prefix="left/").get("Uploads", [])
        return {each["Key"] for each in listed}

    with connect(server, tmp_path / "m.db", "left") as session:
        home = f"s3a://{BUCKET}/left"
        for number, fault in enumerate(("", "denied")):
            ours, others = f"left/work{number}/a", f"left/work{number}0/a"
            for key in (ours, others):
                client.create_multipart_upload(Bucket=BUCKET, Key=key)
            changes = FileChanges(session.runtime, 0)
            changes.work_aside(f"{home}/work{number}", lasts=False)
            server.fault = lambda request, fault=fault: (  # type: ignore[misc]
                fault if request == "GET " else ""
            )
            try:
                changes.undo(None)
            finally:
                server.fault = lambda request: ""
            assert changes.left is None
            assert others in waiting()
            assert (ours in waiting()) == bool(fault)
        changes = FileChanges(session.runtime, 0)
        changes.work_aside(f"{home}/work1", lasts=False)
        server.requests.clear()
        changes.finish()
        assert "GET " not in server.requests
