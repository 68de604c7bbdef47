"""`hivesql doctor` where things are wrong, each brought about; and what it says helps."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import update

from hand_made import T, Warehouse
from hivesql_executor.checks import warehouse
from hivesql_executor.checks.executors import observe_executors
from hivesql_executor.checks.finding import Observation
from hivesql_executor.checks.warehouse import observe_activity, observe_tables
from hivesql_executor.metastore.database.schema import sds, txns
from hivesql_planner.model.table import TableName
from hivesql_repl.cli import main
from programs import free_port
from rights import read_only

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.usefixtures("empty_home")


def by_subject(house: Warehouse) -> dict[str, list[Observation]]:
    every: dict[str, list[Observation]] = {}
    for look in (observe_activity, observe_tables):
        for observation in look(house.runtime):
            every.setdefault(observation.subject, []).append(observation)
    return every


def test_all_is_well(house: Warehouse) -> None:
    house.write()
    subjects = by_subject(house)
    assert {of.state for every in subjects.values() for of in every} == {"ok"}
    assert list(subjects) == [
        "clock", "transactions", "heartbeats", "compactions", "tables", "files",
    ]  # fmt: skip
    assert subjects["files"][0].message == "none without an owner in 1 transactional tables"


def test_a_great_warehouse_is_looked_at_in_part(
    house: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = replace(house.table, name=TableName("default", "u"), location="", id=0)
    made = house.store.create_table(other)
    Path(made.location, "delta_0000099_0000099_0000").mkdir(parents=True)
    monkeypatch.setattr(warehouse, "MOST_PLACES", 1)
    (part,) = (of for of in observe_tables(house.runtime) if of.subject == "files")
    assert (part.message, part.help) == (
        "none without an owner in the first 1 transactional tables",
        "doctor --every-table looks at all",
    )
    looked = observe_tables(house.runtime, every_table=True)
    (restored,) = (of for of in looked if of.subject == "restore")
    assert f"such as {made.location}/delta_0000099" in restored.message


def test_what_is_wrong_is_told_with_what_helps(
    house: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(11):
        house.write()
    txn_id, _ = house.begin()
    house.rdbms.write(
        lambda db: db.execute(update(txns).values(last_heartbeat=txns.c.last_heartbeat - 250_000))
    )
    other = TableName("default", "other")
    house.store.enqueue_compaction(other, None, "major", initiator_id="x")
    house.store.next_compaction("here-1.0")
    house.store.mark_failed(1, "no such table")
    house.store.enqueue_compaction(other, None, "minor", initiator_id="x")
    (house.home / "delta_0000099_0000099_0000").mkdir()
    (house.home / ".hive-staging_hivesql_7_x").mkdir()
    house.older(7300)
    monkeypatch.setattr(warehouse.time, "time", lambda: 0.0)
    wrong = by_subject(house)
    (clock,), (opened,), (silent,) = wrong["clock"], wrong["transactions"], wrong["heartbeats"]
    assert "behind the metastore's database" in clock.message and "chrony" in clock.help
    assert opened.message.startswith(f"open for up to 2.0 h: {txn_id} of ann@here")
    assert opened.help.endswith(f"ABORT TRANSACTIONS {txn_id}")
    assert silent.message.startswith("silent for up to 4 min")
    waiting, failed = wrong["compactions"]
    assert waiting.message == "1 initiated, the oldest for 2.0 h"
    assert "hivesql services" in waiting.help
    assert failed.message == "the last one failed of 1: default.other"
    assert [(of.state, of.message) for of in wrong["tables"]] == [
        ("warning", "need a compaction: default.t (major)")
    ]
    (staged,) = wrong["files"]
    assert staged.message == (
        f"{house.home}/.hive-staging_hivesql_7_x: left over by a write, unless one is running now"
    )
    assert f"hivesql check {T} tells more" in staged.help
    (restored,) = wrong["restore"]
    assert (restored.state, restored.message.partition(":")[0]) == (
        "failed", "the warehouse is newer than the metastore",
    )  # fmt: skip


def test_a_warehouse_that_is_not_there_yet_is_not_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "later" / "warehouse"
    assert main(["doctor", "--no-spark", str(place)]) == 0
    assert f"{place}, " in (out := capsys.readouterr().out) and "not there yet" in out
    assert not place.parent.exists()


def test_what_helps_can_be_typed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    house = Warehouse(tmp_path)
    txn_id, _ = house.begin()
    places = ["--metastore", f"sqlite:///{tmp_path}/metastore.db", "--warehouse", f"{tmp_path}/wh"]
    advice = f"ABORT TRANSACTIONS {txn_id}; SHOW COMPACTIONS STATUS 'failed'"
    assert main([*places, "-S", "-e", advice]) == 0
    assert house.store.transactions()[0].state == "aborted"
    (house.home / ".hive-staging_hivesql_7_x").mkdir()
    capsys.readouterr()
    assert main([*places, "doctor", "--no-spark", "--every-table"]) == 0
    out = capsys.readouterr().out
    assert "warning  files" in out and "hivesql check default.t" in out
    house.close()


def test_a_warehouse_that_is_newer_than_the_restored_metastore_is_told_and_not_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, backup = tmp_path / "metastore.db", tmp_path / "backup.db"
    places = ["--metastore", f"sqlite:///{file}", "--warehouse", f"{tmp_path}/wh"]
    define = "CREATE TRANSACTIONAL TABLE {} (a INT) STORED AS ORC; INSERT INTO {} VALUES (1), (2);"
    assert main([*places, "-S", "-e", define.format("t", "t") + define.format("u", "u")]) == 0
    with closing(sqlite3.connect(file)) as db, closing(sqlite3.connect(backup)) as copy:
        db.backup(copy)
    # After the backup: a write under the next id, and one that deletes what was there before.
    assert main([*places, "-S", "-e", "INSERT INTO t VALUES (3); DELETE FROM t WHERE a = 1"]) == 0
    for path in tmp_path.glob("metastore.db*"):
        path.unlink()
    backup.rename(file)
    capsys.readouterr()
    assert main([*places, "doctor", "--no-spark"]) == 1
    assert "failed   restore       the warehouse is newer than" in capsys.readouterr().out
    assert main(["check", "t", *places]) == 1
    assert capsys.readouterr().out.count("the catalog knows no write above 1 of this table") == 2
    # Whichever files a write would be mixed with, of the same kind or not.
    for statement in ("INSERT INTO t VALUES (4)", "INSERT INTO t VALUES (5)"):
        assert main([*places, "-S", "-e", statement]) == 2
        assert "an older metastore was restored" in capsys.readouterr().err
    assert main([*places, "-S", "-e", "INSERT INTO u VALUES (3); SELECT sum(a) FROM u"]) == 0
    assert main([*places, "-S", "-e", "SELECT sum(a) FROM t"]) == 0
    assert "\n6\n" in (out := capsys.readouterr().out) and "\n3\n" in out


@pytest.mark.spark
def test_the_executors_python_is_tried(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    (fine,) = observe_executors(spark)
    assert (fine.state, fine.help) == ("ok", "")
    assert "with pyarrow on 1 host" in fine.message
    monkeypatch.setattr(spark.sparkContext, "pythonExec", "/nowhere/python")
    (missing,) = observe_executors(spark)
    assert missing.state == "warning"
    assert "/nowhere/python" in missing.message
    assert "spark.pyspark.python" in missing.help


def test_a_user_without_a_name_is_told_what_helps(tmp_path: Path) -> None:
    as_a_number = ["unshare", "--user", "--map-user=4242"]
    if subprocess.run([*as_a_number, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this system has no name spaces of users for everybody")
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": ":".join(sys.path)}
    environment |= {"HOME": str(tmp_path)}

    def run(*arguments: str, **names: str) -> subprocess.CompletedProcess[str]:
        command = [*as_a_number, sys.executable, "-m", "hivesql_repl", *arguments]
        return subprocess.run(
            command, cwd=tmp_path, env=environment | names, capture_output=True, text=True,
            check=False,
        )  # fmt: skip

    refused = run("-e", "SHOW TABLES")
    assert refused.returncode == 2
    assert "the user 4242, whom this process belongs to, has no name" in refused.stderr
    assert "for a reason that it does not know" not in refused.stderr
    assert run("-e", "SHOW TABLES", USER="ann").returncode == 0
    looked = run("doctor", USER="ann")
    assert looked.returncode == 1
    assert "failed   user          the user 4242" in looked.stdout


def finding(capsys: pytest.CaptureFixture[str], subject: str, *words: str) -> tuple[str, str, str]:
    """State, message and help of the first finding about a subject that is not fine."""
    main(["doctor", "--no-spark", *words])
    lines = capsys.readouterr().out.splitlines()
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        if line[9:].startswith(f"{subject} ") and not line.startswith("ok"):
            return line[:8].strip(), line[23:], after.strip()
    raise AssertionError(lines)


def test_a_configuration_that_cannot_be_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "c.toml").write_text("[profiles\n")
    state, message, help_ = finding(capsys, "configuration", "--config", "c.toml")
    assert (state, help_) == ("failed", "correct the file")
    assert message.startswith("c.toml") and "line 1" in message


def test_a_java_that_is_not_there_or_says_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    state, message, help_ = finding(capsys, "Java")
    assert (state, message) == ("failed", f"{tmp_path}/bin/java is not there")
    assert help_.startswith("install a JDK 17 and set JAVA_HOME")
    program = tmp_path / "bin" / "java"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho nothing\n")
    program.chmod(0o755)
    assert finding(capsys, "Java")[1] == f"{program} does not tell its version"


def test_a_metastore_that_does_not_answer(capsys: pytest.CaptureFixture[str]) -> None:
    url = f"postgresql+psycopg://a@127.0.0.1:{free_port()}/x"
    state, message, help_ = finding(capsys, "metastore", "--metastore", url)
    assert (state, help_) == ("failed", "check --metastore, and that it runs")
    assert "refused" in message


def test_a_login_whose_keytab_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("gssapi", reason="pip install 'hivesql[kerberos]'")
    settings = (
        "hive.metastore.sasl.enabled=true", "hive.metastore.kerberos.principal=hive/h@REALM",
        "hivesql.kerberos.keytab=nothing", "hivesql.kerberos.principal=ann@REALM",
    )  # fmt: skip
    words = [word for setting in settings for word in ("--hiveconf", setting)]
    state, message, help_ = finding(
        capsys, "login", "--metastore", f"thrift://127.0.0.1:{free_port()}", *words
    )
    assert (state, help_) == ("failed", "correct the settings")
    assert "nothing" in message and "hivesql.kerberos.keytab" in message


def test_a_warehouse_that_may_not_be_used(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "full").mkdir()
    advice = "give yourself the right to it, or choose another --warehouse"
    for place, problem in (
        (f"{tmp_path}/file", f"{tmp_path}/file cannot be written: Not a directory"),
        (f"{tmp_path}/file/w", f"{tmp_path}/file/w cannot be made: Not a directory"),
    ):
        assert finding(capsys, "warehouse", place) == ("failed", problem, advice)
    with read_only(tmp_path / "full"):
        for place, step in ((f"{tmp_path}/full", "written"), (f"{tmp_path}/full/w", "made")):
            problem = f"{place} cannot be {step}: Permission denied"
            assert finding(capsys, "warehouse", place) == ("failed", problem, advice)
    (tmp_path / "full").chmod(0o300)
    with read_only():
        problem = f"{tmp_path}/full cannot be listed: Permission denied"
        assert finding(capsys, "warehouse", f"{tmp_path}/full") == ("failed", problem, advice)
    (tmp_path / "full").chmod(0o700)


def test_a_disk_that_is_nearly_full(tmp_path: Path) -> None:
    as_root = ["unshare", "--user", "--map-root-user", "--mount"]
    if subprocess.run([*as_root, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this system has no name spaces of users for everybody")
    small = tmp_path / "small"
    small.mkdir()
    command = f"mount -t tmpfs -o size=16m none {small} && exec {sys.executable} -m hivesql_repl"
    done = subprocess.run(
        [*as_root, "sh", "-c", f"{command} doctor --no-spark {small}"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert f"warning  warehouse     {small}, 0.0 GiB free\n" in done.stdout
    assert "make room: Spark's jobs spill to disk too" in done.stdout


def test_a_cache_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    cached = ["--hiveconf", "hivesql.metastore.cache=true"]
    assert main(["-S", "-e", "CREATE DATABASE d"]) == 0
    assert main(["doctor", "--no-spark", *cached]) == 0
    assert "schema revision" in (out := capsys.readouterr().out)
    assert ", cache on (notification log at event " in out


def test_tables_that_cannot_be_looked_into_hide_no_others(house: Warehouse) -> None:
    for _ in range(11):
        house.write()
    (house.home / ".hive-staging_hivesql_7_x").mkdir()
    for number in range(7):
        name = TableName("default", f"a{number}")
        made = house.store.create_table(replace(house.table, name=name, location="", id=0))
        Path(made.location).mkdir()
        Path(made.location, "base_0000001").write_text("a file, where a directory should be")
    findings = [*observe_tables(house.runtime)]
    due, *others = findings
    assert due.message == f"need a compaction: {T} (major)"
    assert [(of.state, of.subject) for of in others] == [("warning", "files")] * len(others)
    assert any(of.message.startswith(f"{house.home}/.hive-staging") for of in others), others


def test_a_table_elsewhere_starts_no_spark(capsys: pytest.CaptureFixture[str]) -> None:
    script = "; ".join(
        f"CREATE TRANSACTIONAL TABLE {name} (a INT) STORED AS ORC; INSERT INTO {name} VALUES (1)"
        for name in ("t", "u")
    )
    assert main(["-S", "-e", script]) == 0
    house = Warehouse(Path.cwd())
    place = sds.c.location
    house.rdbms.write(
        lambda db: db.execute(
            update(sds).where(place.endswith("/warehouse/t")).values(location="hdfs://far/t")
        )
    )
    house.close()
    Path("warehouse", "u", "delta_0000009_0000009_0000").mkdir()
    state, message, help_ = finding(capsys, "files")
    assert (state, help_) == ("warning", "see the message")
    assert message == (
        "default.t cannot be looked into: hdfs://far/t is not on this machine: doctor with Spark "
        "looks there"
    )
    state, message, _ = finding(capsys, "restore")
    assert state == "failed" and "warehouse/u/delta_0000009" in message


def test_more_places_without_an_owner_than_are_named(house: Warehouse) -> None:
    for number in range(8):
        (house.home / f".hive-staging_hivesql_{number}_x").mkdir()
    *named, rest = (of for of in observe_tables(house.runtime) if of.subject == "files")
    assert len(named) == 5
    assert rest.message == "3 more such places in 1 transactional tables"


@pytest.mark.spark
def test_a_spark_that_does_not_start(tmp_path: Path) -> None:
    """In a process of its own: here one runs."""
    done = subprocess.run(
        [sys.executable, "-m", "hivesql_repl", "doctor", "--master", "nosuch"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert done.returncode == 1
    *_, failed, help_ = done.stdout.splitlines()
    assert failed.startswith("failed   Spark         Spark cannot be started: ")
    assert "doctor" not in failed
    assert help_.strip().startswith("what Java has printed above says why: look at --master")
    assert "Master must either be yarn or start with spark, k8s, or local" in done.stderr
