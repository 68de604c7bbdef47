"""What inspect shows and check finds, on a table of ours and on damaged copies of it."""

from __future__ import annotations

import io
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pyorc
import pytest
from rich.console import Console

import hivesql
from adoption import adopt
from golden_tables import golden_tables
from hivesql.services import run_services
from hivesql_planner.model.table import TableName
from hivesql_repl.output.layout import draw, report

pytestmark = pytest.mark.spark

EVENT = (
    "struct<operation:int,originalTransaction:bigint,bucket:int,rowId:bigint,"
    "currentTransaction:bigint,row:struct<id:int,v:string>>"
)


def home_of(session: hivesql.Session, table: str) -> Path:
    return Path(session.runtime.metastore.table(TableName("default", table)).location)


def text_of(show: Any, *arguments: Any) -> tuple[int, str]:
    out = io.StringIO()
    code = show(*arguments, Console(file=out, width=200, highlight=False))
    return code, out.getvalue()


def write_events(path: Path, *events: tuple[Any, ...], **metadata: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file, pyorc.Writer(file, EVENT) as writer:
        for event in events:
            writer.write(event)
        for key, text in metadata.items():
            writer.set_user_metadata(**{f"hive.acid.{key}": text.encode()})


def test_inspect_draws_the_layout_and_says_why(session: hivesql.Session) -> None:
    session.sql("""
        CREATE TABLE t (id int, v string) PARTITIONED BY (p int)
          STORED AS ORC TBLPROPERTIES ('transactional'='true');
        INSERT INTO t VALUES (1, 'a', 1), (2, 'b', 1), (3, 'c', 2);
        DELETE FROM t WHERE id = 1;
        ALTER TABLE t PARTITION (p = 1) COMPACT 'major' AND WAIT;
        INSERT INTO t VALUES (4, 'd', 1), (5, 'e', 2);
        DELETE FROM t WHERE id IN (2, 3);
    """)
    home = home_of(session, "t")
    shutil.copytree(
        home / "p=1" / "delta_0000003_0000003_0000", home / "p=1" / "delta_0000002_0000002_0000"
    )
    inspection = session.inspect("T")
    first, second = inspection.roots
    assert (first.name, first.rows, first.deleted, first.delete_share) == ("p=1", 2, 1, 0.5)
    assert (second.rows, second.deleted) == (2, 1)
    found = {
        one.verdict.name.partition("_v")[0]: (one.verdict.is_read, one.verdict.why, one.rows)
        for one in first.directories
    }
    assert found["base_0000002"] == (True, "the newest base that the snapshot sees", 1)
    assert found["delta_0000003_0000003_0000"] == (True, "write 3 is committed", 1)
    is_read, why, _ = found["delta_0000002_0000002_0000"]
    assert not is_read
    assert re.fullmatch(r"covered by base_0000002_v\d+: the cleaner will remove it", why)
    code, text = text_of(draw, inspection)
    assert code == 0
    assert "default.t  full ACID, orc" in text
    assert "p=1  2 rows, 1 of them deleted (50%)" in text
    assert re.search(r"✓ delete_delta_0000004_0000004_0000  1 delete, \S+ kB", text)
    assert "✗ delta_0000002_0000002_0000" in text
    assert session.check("default.t") == ()
    assert text_of(report, "t", ()) == (0, "t: nothing is wrong\n")


def test_check_finds_nothing_wrong_with_files_of_hive(session: hivesql.Session) -> None:
    known = {str(one): one for one in golden_tables()}
    for number, name in enumerate(
        ("b_part_bucket/final/p", "e_original/stage2_dml/o", "g_load/stage1/g", "l_merge/final/t")
    ):
        adopt(session, known[name].table, f"t{number}")
        assert session.check(f"t{number}") == (), name


def test_check_names_everything_that_is_wrong(session: hivesql.Session) -> None:
    session.sql("""
        CREATE TABLE t (id int, v string) STORED AS ORC TBLPROPERTIES ('transactional'='true');
        INSERT INTO t VALUES (1, 'a'), (2, 'b');
        INSERT INTO t VALUES (3, 'c');
        INSERT INTO t VALUES (4, 'd');
        INSERT INTO t VALUES (5, 'e');
        DELETE FROM t WHERE id = 1;
    """)
    home, bucket = home_of(session, "t"), 536870912
    third = home / "delta_0000003_0000003_0000" / "bucket_00000"
    write_events(
        third, (0, 3, bucket, 1, 3, (7, "x")), (0, 3, bucket, 0, 3, (8, "y")), stats="9,0,0"
    )
    fourth = home / "delta_0000004_0000004_0000" / "bucket_00000"
    write_events(fourth, (0, 4, bucket + 65536, 0, 4, (9, "z")), (0, 2, bucket, 0, 4, (3, "c")))
    (deletes,) = (home / "delete_delta_0000005_0000005_0000").glob("bucket_*")
    write_events(deletes, (2, 1, bucket, 0, 5, None), (2, 1, bucket, 77, 5, None))
    write_events(home / "delta_0000099_0000099_0000" / "bucket_00000")
    (home / ".hive-staging_hivesql_1").mkdir()
    found = [
        (one.place.removeprefix("file:").removeprefix(str(home)), one.problem)
        for one in session.check("t")
    ]
    for place, problem in (
        ("/delta_0000099_0000099_0000", "knows no write above 5"),
        ("/.hive-staging_hivesql_1", "left over by a write"),
        ("/delta_0000003_0000003_0000/bucket_00000", "says 9,0,0, the file has 2 rows"),
        ("/delta_0000003_0000003_0000/bucket_00000", "not in the order"),
        ("/delta_0000004_0000004_0000/bucket_00000", "not in the order"),
        ("/delta_0000004_0000004_0000/bucket_00000", "1 rows belong to other buckets"),
        ("/delta_0000004_0000004_0000/bucket_00000", "holds events of writes 2 to 4"),
        ("", "statistics tell of 4 rows, and there are 6: deletes may be missing"),
        ("", "2,536870912,0: 2 rows have this row id"),
        ("", "1,536870912,77: a delete event of a row that is not there"),
    ):
        assert any(place == one and problem in text for one, text in found), (problem, found)
    assert len(found) == 10, found
    code, text = text_of(report, "t", session.check("t"))
    assert code == 1
    assert text.endswith("t: 10 problems\n")
    # What cannot be read hides nothing of what can, but rows that are missing then.
    fourth.write_bytes(fourth.read_bytes()[:100])
    (third.parent / "_orc_acid_version").write_bytes(b"1")
    problems = [one.problem for one in session.check("t")]
    for text in ("truncated", "another version", "not in the order", "knows no write above"):
        assert any(text in one for one in problems), text
    assert not any("not there" in one for one in problems)
    with pytest.raises(hivesql.SemanticError, match="not transactional"):
        session.sql("CREATE TABLE plain (id int) STORED AS ORC")
        session.check("plain")


def test_check_reads_the_files_of_insert_only_tables(session: hivesql.Session) -> None:
    for stored in ("orc", "parquet"):
        session.sql(f"""
            CREATE TABLE {stored} (id int) STORED AS {stored} TBLPROPERTIES (
              'transactional'='true', 'transactional_properties'='insert_only');
            INSERT INTO {stored} VALUES (1);
        """)
        assert session.check(stored) == ()
        (path,) = (one for one in home_of(session, stored).rglob("0*"))
        path.write_bytes(path.read_bytes()[:-5])
        (finding,) = session.check(stored)
        assert finding.place.endswith(str(path)), finding


def test_check_finds_partitions_that_the_catalog_does_not_know(session: hivesql.Session) -> None:
    session.sql("""
        CREATE TABLE t (id int) PARTITIONED BY (p int, q string)
          STORED AS ORC TBLPROPERTIES ('transactional'='true');
        INSERT INTO t VALUES (1, 1, 'a');
    """)
    home = home_of(session, "t")
    shutil.copytree(home / "p=1" / "q=a", home / "p=2" / "q=b")
    (finding,) = session.check("t")
    assert finding.place == f"{home}/p=2/q=b"
    assert "no such partition" in finding.problem


def test_bases_of_killed_truncates_are_known(session: hivesql.Session, tmp_path: Path) -> None:
    """A reader's list ends at the first aborted write where no later one is committed."""
    warehouse = tmp_path / "warehouse"
    shell = [sys.executable, "-m", "hivesql_repl", "--warehouse", str(warehouse),
             "--metastore", f"sqlite:///{tmp_path}/metastore.db"]  # fmt: skip
    session.sql(
        "SET hive.txn.timeout=10ms;"
        "CREATE TRANSACTIONAL TABLE p (a INT) PARTITIONED BY (k INT) STORED AS ORC;"
        "INSERT INTO p PARTITION (k=1) VALUES (1); INSERT INTO p PARTITION (k=2) VALUES (2)"
    )
    for _ in range(2):
        killed = subprocess.run(
            [*shell, "--hiveconf", "hive.txn.timeout=10ms", "-e", "TRUNCATE TABLE p"],
            env={**os.environ, "HIVESQL_FAIL_POINT": "partition-emptied:1"}, check=False,
            capture_output=True,
        )  # fmt: skip
        assert killed.returncode == -signal.SIGKILL
        run_services(session, threading.Event(), once=True)
    bases = sorted(path.name for path in (warehouse / "p" / "k=1").glob("base_*"))
    assert bases == ["base_0000003", "base_0000004"]
    assert session.check("p") == ()
    assert sorted(session.sql("SELECT a FROM p").rows) == [(1,), (2,)]
    (warehouse / "p" / "k=1" / "base_0000009").mkdir()
    (found,) = session.check("p")
    assert found.place.endswith("base_0000009")
    assert found.problem.startswith("the catalog knows no write above ")
