"""Partitions of tables in S3, without Spark: what is asked of the store, and where they lie."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import hivesql
from s3_server import BUCKET, S3Server
from s3_sessions import ACID, QUICK, connect, keys, server_without_spark

MANY = 40


@pytest.fixture(scope="module")
def server() -> Iterator[S3Server]:
    with server_without_spark() as running:
        yield running


def test_dropped_partitions_are_one_list_and_one_deletion(server: S3Server, tmp_path: Path) -> None:
    """Nothing is moved: a move copies. Hidden files go too, and so does what is elsewhere."""
    import boto3

    client = boto3.client("s3", endpoint_url=server.url, region_name="us-east-1")
    with connect(server, tmp_path / "m.db", "gone") as session:
        session.sql(f"CREATE TABLE t (k INT) PARTITIONED BY (p INT) {ACID}")
        for _ in range(2):
            session.sql(f"INSERT INTO t VALUES {', '.join(f'({k}, {k})' for k in range(MANY))}")
        for key in (".hive-staging_1/x", "_tmp.1", "delta_0000009_0000009_0000/.hidden"):
            client.put_object(Bucket=BUCKET, Key=f"gone/t/p=3/{key}", Body=b"x")
        server.requests.clear()
        session.sql(f"ALTER TABLE t DROP PARTITION (p < {MANY - 1})")
        assert sorted(request.split()[0] for request in server.requests) == ["LIST", "POST"]
        assert all(key.startswith(f"t/p={MANY - 1}/") for key in keys(server, "gone"))
        assert session.sql("SELECT p FROM t").rows == [(MANY - 1,)] * 2
        session.sql(f"ALTER TABLE t ADD PARTITION (p = 9) LOCATION 's3a://{BUCKET}/gone/else'")
        session.sql("INSERT INTO t VALUES (1, 9)")
        server.requests.clear()
        session.sql("ALTER TABLE t DROP PARTITION (p = 9)")
        assert sorted(request.split()[0] for request in server.requests) == ["LIST", "POST"]
        assert not any(key.startswith("else/") for key in keys(server, "gone"))
        assert not session._spark.started


def test_a_partition_is_not_added_again_before_its_files_are_deleted(
    server: S3Server, tmp_path: Path
) -> None:
    """They would be rows again; who adds it deletes them first, where the store lets them."""
    adding = {
        "INSERT INTO t VALUES (3, 1)": [(3, 1)],
        "ALTER TABLE t ADD PARTITION (p = 1)": [],
        "MSCK REPAIR TABLE t ADD PARTITIONS": [],
    }
    with connect(server, tmp_path / "m.db", "dropped") as session:
        for statement, rows in adding.items():
            session.sql(f"CREATE TABLE t (k INT) PARTITIONED BY (p INT) {ACID}")
            session.sql("INSERT INTO t VALUES (1, 1), (2, 2)")
            server.fault = lambda request: "denied" if request.startswith("POST") else ""
            try:
                done = session.sql("ALTER TABLE t DROP PARTITION (p = 1)")
                assert session.sql("SELECT * FROM t").rows == [(2, 2)]
                with pytest.raises(hivesql.HiveSqlError, match="p=1, which was dropped") as refused:
                    session.sql(statement)
                assert "once the store lets them be deleted" in str(refused.value)
            finally:
                server.fault = lambda request: ""
            session.sql(statement)
            assert sorted(session.sql("SELECT * FROM t").rows) == sorted([(2, 2), *rows]), statement
            session.sql("INSERT INTO t VALUES (4, 1)")
            assert session.sql("SELECT k FROM t WHERE p = 1 AND k = 1").rows == []
            assert not any("p=1/delta_0000001" in key for key in keys(server, "dropped"))
            session.sql("DROP TABLE t")
            assert keys(server, "dropped") == {}, done


def test_msck_asks_for_the_partitions_of_a_table_once(server: S3Server, tmp_path: Path) -> None:
    """Which are there says the list of their names; the writes of new ones, one more."""
    import boto3

    with connect(server, tmp_path / "m.db", "repaired") as session:
        session.sql(f"CREATE TABLE t (k INT) PARTITIONED BY (p INT) {ACID}")
        session.sql(f"INSERT INTO t VALUES {', '.join(f'({k}, {k})' for k in range(MANY))}")
        server.requests.clear()
        assert session.sql("MSCK REPAIR TABLE t SYNC PARTITIONS").rows == []
        assert server.requests == ["LIST repaired/t/"]
        session.sql(f"CREATE TABLE u (k INT) PARTITIONED BY (p INT) {ACID}")
        client = boto3.client("s3", endpoint_url=server.url, region_name="us-east-1")
        for name, data in keys(server, "repaired").items():
            client.put_object(Bucket=BUCKET, Key=f"repaired/u{name[1:]}", Body=data)
        server.requests.clear()
        session.sql("MSCK REPAIR TABLE u ADD PARTITIONS")
        assert server.requests == ["LIST repaired/u/", "LIST repaired/u/"]
        assert session.sql("SELECT count(*) FROM u").rows == [(MANY,)]


def test_partitions_in_other_places_are_read_and_written_there(
    server: S3Server, tmp_path: Path
) -> None:
    """In another bucket, and on a disk: each has its files there, and nothing comes elsewhere."""
    import boto3

    client = boto3.client("s3", endpoint_url=server.url, region_name="us-east-1")
    client.create_bucket(Bucket="second")

    def in_second() -> set[str]:
        listed = client.list_objects_v2(Bucket="second").get("Contents", [])
        return {each["Key"].split("/")[1] for each in listed}

    local = tmp_path / "local"
    places = {1: "s3a://second/x", 2: f"file://{local}"}
    with connect(server, tmp_path / "m.db", "placed") as session:
        session.sql(f"CREATE TABLE t (k INT) PARTITIONED BY (p INT) {ACID}")
        for p, place in places.items():
            session.sql(f"ALTER TABLE t ADD PARTITION (p = {p}) LOCATION '{place}'")
        session.sql("INSERT INTO t VALUES (0, 0), (1, 1), (2, 2)")
        session.sql("UPDATE t SET k = k + 10")
        assert session.sql("SELECT * FROM t ORDER BY k").rows == [(10, 0), (11, 1), (12, 2)]
        deltas = {
            "delta_0000003_0000003_0000", "delete_delta_0000004_0000004_0000",
            "delta_0000004_0000004_0001",
        }  # fmt: skip
        assert in_second() == {path.name for path in local.iterdir()} == deltas
        assert {key.split("/")[2] for key in keys(server, "placed")} == deltas
        assert session.sql("MSCK REPAIR TABLE t SYNC PARTITIONS").rows == []
        assert session.check("t") == ()
        session.sql("TRUNCATE TABLE t PARTITION (p = 1)")
        session.sql("TRUNCATE TABLE t PARTITION (p = 2)")
        assert session.sql("SELECT * FROM t").rows == [(10, 0)]
        assert "base_0000005" in in_second()
        session.sql("ALTER TABLE t DROP PARTITION (p >= 1)")
        assert in_second() == set()
        assert not local.exists()
        assert not session._spark.started


def test_partitions_in_a_store_of_a_table_on_a_disk_are_refused(
    server: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their place would pass for a directory's name."""
    monkeypatch.chdir(tmp_path)
    settings = {**server.settings(), **QUICK}
    with hivesql.connect(
        f"sqlite:///{tmp_path}/m.db", tmp_path / "w", settings=settings
    ) as session:
        session.sql(f"CREATE TABLE t (k INT) PARTITIONED BY (p INT) {ACID}")
        session.sql(f"ALTER TABLE t ADD PARTITION (p = 1) LOCATION 's3a://{BUCKET}/refused/x'")
        for statement in ("INSERT INTO t VALUES (1, 1)", "SELECT * FROM t"):
            with pytest.raises(hivesql.NotSupported, match="partitions in object stores or HDFS"):
                session.sql(statement)
        session.sql("ALTER TABLE t DROP PARTITION (p = 1)")
        assert session.sql("SELECT * FROM t").rows == []
        assert not any(path.name.startswith("s3a") for path in tmp_path.iterdir())


def test_many_new_partitions_take_one_list(server: S3Server, tmp_path: Path) -> None:
    """It tells whether they have files already, of which their statistics would not know."""
    with connect(server, tmp_path / "m.db", "added") as session:
        session.sql(f"CREATE TABLE t (k INT) PARTITIONED BY (p INT) {ACID}")
        server.requests.clear()
        session.sql("ALTER TABLE t ADD " + " ".join(f"PARTITION (p={p})" for p in range(MANY)))
        assert server.requests == ["LIST added/t/"]
        described = session.sql("DESCRIBE FORMATTED t PARTITION (p=7)").rows
        assert ("", "numRows", "0") in map(tuple, described)


def test_many_partitions_take_one_list(server: S3Server, tmp_path: Path) -> None:
    """Each alone would be a request; a partition elsewhere is one, and few are asked for alone."""
    with connect(server, tmp_path / "m.db", "many") as session:
        session.sql(f"CREATE TABLE t (k INT) PARTITIONED BY (p INT) {ACID}")
        values = ", ".join(f"({k}, {k})" for k in range(MANY))
        session.sql(f"INSERT INTO t VALUES {values}")
        elsewhere = f"s3a://{BUCKET}/many/elsewhere"
        session.sql(f"ALTER TABLE t ADD PARTITION (p = 99) LOCATION '{elsewhere}'")
        session.sql("INSERT INTO t VALUES (99, 99)")
        rows = [(k, k) for k in (*range(MANY), 99)]
        for where, asked in {
            "": ["LIST many/elsewhere/", "LIST many/t/"],
            "WHERE p BETWEEN 5 AND 34": ["LIST many/t/"],
            "WHERE p < 2": ["LIST many/t/p=0/", "LIST many/t/p=1/"],
        }.items():
            server.requests.clear()
            read = session.sql(f"SELECT k, p FROM t {where} ORDER BY k").rows
            condition = {"": 100, "WHERE p < 2": 2}.get(where)
            wanted = [
                row for row in rows if (row[1] < condition if condition else 5 <= row[1] < 35)
            ]
            assert read == wanted, where
            assert sorted(server.requests) == asked, where
        server.requests.clear()
        session.sql("UPDATE t SET k = k + 1 WHERE p < 30")
        kinds = Counter(request.split()[0] for request in server.requests)
        assert kinds == {"LIST": 1, "PUT": 30 * 4}, kinds
        assert session.check("t") == ()


ODD = (
    "a b", "%", "%20", "+", "ü☃", "=", "a=b", "c:d", "#", "?", "x.", "x..", "//", "a//b", "\\\\",
    "..", ".", "&", "*", "[1]", "~", "`", "^", "|", "{}", " lead", "trail ", "é", "e\u0301", '"',
)  # fmt: skip
"""Values that a path, an address or a page's marker may take for something else."""


@pytest.mark.parametrize("most", [1, 2, 3])
def test_short_pages_and_odd_values_change_nothing(
    server: S3Server, tmp_path: Path, most: int
) -> None:
    """A page ends within directories and between them: the rows are those on a disk."""
    rows_of_all = ", ".join(f"({number}, '{value}')" for number, value in enumerate(ODD))
    statements = [
        f"CREATE TABLE t (k INT) PARTITIONED BY (d STRING) {ACID}",
        f"INSERT INTO t VALUES {rows_of_all}",
        "UPDATE t SET k = k + 100 WHERE k > 21",
        "DELETE FROM t WHERE k % 2 = 0",
        *(f"TRUNCATE TABLE t PARTITION (d = '{value}')" for value in ("%", "//", "?")),
        *(f"ALTER TABLE t DROP PARTITION (d = '{value}')" for value in ("+", "x.", "..", "#")),
        "ALTER TABLE t PARTITION (d = 'a b') RENAME TO PARTITION (d = 'n//?#')",
        "MSCK REPAIR TABLE t SYNC PARTITIONS",
        "ALTER TABLE t RENAME TO u",
    ]
    home = f"pages{most}"
    with (
        connect(server, tmp_path / "s3.db", home) as session,
        hivesql.connect(f"sqlite:///{tmp_path}/disk.db", tmp_path / home) as beside,
    ):
        server.most_names = most
        try:
            for statement in statements:
                for each in (session, beside):
                    each.sql(statement)
                if not statement.startswith(("CREATE", "INSERT")):
                    name = "u" if "TO u" in statement else "t"
                    rows, expected = (
                        sorted(each.sql(f"SELECT k, d FROM {name}").rows)
                        for each in (session, beside)
                    )
                    assert rows == expected and rows, statement
            assert session.check("u") == ()
            session.sql("DROP TABLE u")
        finally:
            server.most_names = 0
        assert keys(server, home) == {}
