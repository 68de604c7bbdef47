"""A real HDFS: the same statements leave the same rows and the same files as on a local disk."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import hivesql
import lost_rights
from end_to_end.answers import rows
from hivesql_executor.checks.place import probe_place
from hivesql_executor.files.hadoop import HadoopFiles
from hivesql_planner.errors import Cancelled, HiveSqlError
from minidfs import hdfs_cluster, standing_still
from programs import answer_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.hive]

SCRIPT = """
    CREATE TABLE t (id int, v string) PARTITIONED BY (p int)
    STORED AS ORC TBLPROPERTIES ('transactional'='true');
    CREATE TABLE plain (id int, v string) STORED AS PARQUET;
    INSERT INTO t PARTITION (p) VALUES (1, 'a', 1), (2, 'b', 1), (3, 'c', 2), (4, 'd', 1);
    INSERT INTO plain SELECT id, v FROM t;
    UPDATE t SET v = 'z' WHERE id = 2;
    DELETE FROM t WHERE id = 3;
    MERGE INTO t USING (SELECT 1 AS id, 'm' AS v UNION ALL SELECT 9, 'n') s ON t.id = s.id
    WHEN MATCHED THEN UPDATE SET v = s.v
    WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.v, 5);
    ALTER TABLE t PARTITION (p=1) COMPACT 'minor';
    DELETE FROM t WHERE id = 4;
    ALTER TABLE t PARTITION (p=1) COMPACT 'major';
    INSERT OVERWRITE TABLE t PARTITION (p=2) SELECT id, v FROM plain WHERE id < 3;
    TRUNCATE TABLE plain;
    ALTER TABLE plain RENAME TO bare;
    CREATE TABLE gone LIKE t;
    DROP TABLE gone
"""
LEFT = [(1, "a", 2), (1, "m", 1), (2, "b", 2), (2, "z", 1), (9, "n", 5)]


@pytest.fixture(scope="module")
def hdfs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URI of a cluster of one name node and one data node."""
    with hdfs_cluster(tmp_path_factory.mktemp("hdfs")) as uri:
        yield uri


def test_refusals_of_hdfs_say_what_to_do(hdfs: str, spark: SparkSession, tmp_path: Path) -> None:
    """Those of the driver's calls and of tasks; what it refused leaves nothing."""
    long, jvm = "x" * 300, spark._jvm
    assert jvm is not None
    path = jvm.org.apache.hadoop.fs.Path(f"{hdfs}/refusals")
    system = path.getFileSystem(spark._jsc.hadoopConfiguration())  # type: ignore[attr-defined]
    safe_mode = jvm.org.apache.hadoop.fs.SafeModeAction
    insert = f"INSERT INTO t SELECT 1, concat('{long}', rand())"
    with hivesql.connect(f"sqlite:///{tmp_path}/m.db", f"{hdfs}/refusals", spark=spark) as session:
        session.sql("CREATE TABLE t (id int) PARTITIONED BY (p string) STORED AS ORC "
                    "TBLPROPERTIES ('transactional'='true')")  # fmt: skip
        for statement in (f"CREATE TABLE u (a int) LOCATION '{hdfs}/{long}'", insert):
            with pytest.raises(HiveSqlError, match=r"(Choose|Use) a shorter"):
                session.sql(statement)
        system.setSafeMode(safe_mode.ENTER)
        for statement in ("CREATE TABLE u (a int)", "INSERT INTO t VALUES (1, 'p')"):
            with pytest.raises(HiveSqlError, match="Wait until the name node") as refusal:
                session.sql(statement)
            assert refusal.value.retryable
        (told,) = (one for one in probe_place(spark, f"{hdfs}/refusals/a/b") if one.help)
        assert (told.state, told.subject) == ("failed", "write")
        assert told.help.startswith("Wait until the name node")
        system.setSafeMode(safe_mode.LEAVE)
        looked_at = [*probe_place(spark, f"{hdfs}/refusals/a/b")]
        assert {one.state for one in looked_at} == {"ok"}
        assert looked_at[0].message == f"{hdfs}/refusals/a/b, not made yet; can be listed"
        assert [str(status.getPath().getName()) for status in system.listStatus(path)] == ["t"]
        system.setQuota(path, system.getContentSummary(path).getFileCount() + 4, 1 << 40)
        with pytest.raises(HiveSqlError, match="Make room in the directory's quota of names"):
            session.sql(
                "INSERT INTO t SELECT i, i FROM (SELECT stack(20, "
                f"{', '.join(map(str, range(20)))}) AS i) q"
            )
        system.setQuota(path, 1 << 40, 1 << 40)
        assert session.sql("SHOW TABLES").rows[0][0] == "t"
        assert rows(session, "SELECT * FROM t") == []
        session.sql("INSERT INTO t VALUES (1, 'p')")
        assert [str(problem) for problem in session.check("t")] == []


def test_hdfs_holds_what_a_local_disk_holds(hdfs: str, spark: SparkSession, tmp_path: Path) -> None:
    trees = {}
    for home in (f"{hdfs}/warehouse", str(tmp_path / "warehouse")):
        name = home.partition(":")[0].replace("/", "_")
        with hivesql.connect(f"sqlite:///{tmp_path}/{name}.db", home, spark=spark) as session:
            session.sql(SCRIPT)
            assert rows(session, "SELECT id, v, p FROM t") == LEFT
            assert [str(one) for one in session.check("t")] == []
            states = {row[5] for row in session.sql("SHOW COMPACTIONS").rows}
            assert states == {"succeeded"}
        trees[home] = {
            re.sub(r"part-00000-.*", "part", file.path)
            for file in HadoopFiles(lambda: spark).list(home)
            if not file.path.endswith(".crc")
        }
    on_hdfs, on_disk = trees.values()
    assert on_hdfs == on_disk
    assert any("/base_" in path for path in on_hdfs)


def test_nobody_waits_for_an_hdfs_that_answers_nothing(
    hdfs: str, spark: SparkSession, tmp_path: Path
) -> None:
    """Who cancels a statement has it end before the servers go on, and nothing of it is left."""
    with hivesql.connect(f"sqlite:///{tmp_path}/m.db", f"{hdfs}/silent", spark=spark) as session:
        session.sql("CREATE TABLE t (k int) PARTITIONED BY (p int) STORED AS ORC "
                    "TBLPROPERTIES ('transactional'='true')")  # fmt: skip
        session.sql("INSERT INTO t VALUES (1, 1), (2, 2)")
        for statement in (
            "SELECT * FROM t",
            "INSERT INTO t VALUES (3, 1), (4, 2)",
            "INSERT INTO t SELECT k + 10, p FROM t",
            "UPDATE t SET k = 5",
            "ALTER TABLE t PARTITION (p = 1) COMPACT 'major'",
            "ALTER TABLE t DROP PARTITION (p = 1)",
            "TRUNCATE TABLE t",
        ):
            is_over = threading.Event()

            def cancel(is_over: threading.Event = is_over) -> None:
                while not is_over.wait(0.5):
                    session.cancel()

            canceller = threading.Thread(target=cancel)
            with standing_still(hdfs):
                canceller.start()
                try:
                    with pytest.raises(Cancelled):
                        session.sql(statement)
                finally:
                    is_over.set()
                    canceller.join()
            assert rows(session, "SELECT * FROM t") == [(1, 1), (2, 2)], statement
            assert not session.sql("SHOW LOCKS").rows, statement
        session.sql("INSERT INTO t VALUES (3, 3); DELETE FROM t WHERE k < 3")
        assert rows(session, "SELECT * FROM t") == [(3, 3)]
        assert [str(problem) for problem in session.check("t")] == []


def test_rights_that_are_lost_on_the_way(hdfs: str, tmp_path: Path) -> None:
    """What is told names path and user; nothing is half written, and no lock stays."""
    program = Path(lost_rights.__file__)
    environment = {"HADOOP_USER_NAME": "ann"}
    home = f"{hdfs}/rights"
    attempts, compacted = answer_of(program, tmp_path, home, environment=environment)
    for one in attempts:
        assert one["hit"] and one["left"] == [] and one["wrong"] == [], one
        if one["at"] == lost_rights.COMMITS:
            # All is written by then.
            assert one["error"] is None and not one["same"], one
            continue
        assert one["same"] and one["ours"], one
        where = f'inode="/rights/warehouse/{one["table"]}'
        assert "Permission denied: user=ann" in one["error"] and where in one["error"], one
        assert "Give yourself the right to it" in one["error"], one
        assert "\tat " not in one["error"], one
    (failed, reason), (succeeded, _) = compacted["told"]
    assert (failed, succeeded) == ("failed", "succeeded"), compacted
    assert "Permission denied: user=ann" in reason and "/rights/warehouse/t" in reason
    assert any("cleaning after" in one and "user=ann" in one for one in compacted["notes"])
    assert compacted["same"] and compacted["left"] == [] and compacted["wrong"] == []
    (directory,) = compacted["directories"]
    assert directory.startswith("base_")
