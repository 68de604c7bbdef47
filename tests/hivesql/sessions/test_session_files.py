"""ADD, LIST and DELETE of files, and DFS, as scripts of Hive use them."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import hivesql
from hivesql_planner.errors import HiveSqlError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> hivesql.Session:
    monkeypatch.chdir(tmp_path)
    return hivesql.connect()


def listed(session: hivesql.Session, kind: str) -> list[Any]:
    return [row[0] for row in session.sql(f"LIST {kind}").rows]


def test_files_of_a_session(session: hivesql.Session, tmp_path: Path) -> None:
    for name in ("a.py", "b.py", "c.jar"):
        (tmp_path / name).write_bytes(b"")
    added = session.sql("ADD FILES a.py b.py")
    assert added.message == "Added resources: [a.py, b.py]"
    session.sql(f"add jar file://{tmp_path}/c.jar")
    assert listed(session, "FILE") == ["a.py", "b.py"]
    assert listed(session, "FILES b.py nosuch") == ["b.py"]
    assert listed(session, "jars") == [f"file://{tmp_path}/c.jar"]
    assert listed(session, "archives") == []
    session.sql("DELETE FILE a.py nosuch")
    assert listed(session, "files") == ["b.py"]
    session.sql("DELETE FILES; DELETE ARCHIVE")
    assert listed(session, "files") == []
    for statement, problem in (
        ("ADD FILE a.py nosuch.py", "nosuch.py does not exist"),
        ("ADD FILE ivy://a:b:1", "not supported: ADD FILE of an ivy address"),
    ):
        with pytest.raises(HiveSqlError, match=problem):
            session.sql(statement)
    assert listed(session, "files") == []


@pytest.mark.spark
def test_spark_gets_them_and_dfs_runs(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyspark import SparkFiles

    monkeypatch.chdir(tmp_path)
    (tmp_path / "early.txt").write_text("early")
    (tmp_path / "late.txt").write_text("late")
    with zipfile.ZipFile(tmp_path / "z.zip", "w") as archive:
        archive.writestr("inside.txt", "inside")
    session = hivesql.connect(spark=spark)
    session.sql("ADD FILE early.txt")
    session.sql(f"DFS -mkdir -p '{tmp_path}/a b/c'")
    session.sql(f"ADD FILE {tmp_path}/late.txt; ADD ARCHIVE {tmp_path}/z.zip")
    assert [Path(SparkFiles.get(f"{one}.txt")).read_text() for one in ("early", "late")] == [
        "early", "late",
    ]  # fmt: skip
    assert (Path(SparkFiles.get("z.zip")) / "inside.txt").read_text() == "inside"
    session.sql(f"dfs -put {tmp_path}/late.txt '{tmp_path}/a b/c'")
    assert session.sql(f"dfs -cat '{tmp_path}/a b/c/late.txt'").rows == [("late",)]
    rows = session.sql(f"dfs -ls '{tmp_path}/a b'")
    assert rows.columns == ("DFS Output",)
    assert [row[0].split()[-1] for row in rows.rows] == ["items", "b/c"]
    session.sql(f"dfs -rm -r '{tmp_path}/a b'")
    assert not (tmp_path / "a b").exists()
    for statement, problem in (
        (f"dfs -ls {tmp_path}/nosuch", "exit code = 1: .*No such file or directory"),
        ("dfs -nosuch", "nosuch: Unknown command"),
        (f"ADD JAR hdfs://nowhere.invalid{tmp_path}/x.jar", "cannot add the jar hdfs"),
    ):
        with pytest.raises(HiveSqlError, match=problem):
            session.sql(statement)
