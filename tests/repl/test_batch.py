"""Flags, configuration, dry runs and checkpoints: the command without Spark."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from hivesql_repl.arguments import arguments, ignored, normalized
from hivesql_repl.cli import main
from hivesql_repl.configuration import read_profile

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
pytestmark = pytest.mark.usefixtures("empty_home")


def parsed(*words: str) -> dict[str, object]:
    return vars(arguments().parse_args(normalized(words)))


FLAGS = {
    "hive's one dash": (["-hiveconf", "a=b", "-hivevar", "c=d"], "settings", ["a=b"]),
    "two dashes": (["--hiveconf", "a=b", "--hiveconf", "c=d"], "settings", ["a=b", "c=d"]),
    "define": (["-d", "a=b", "--define", "c=d"], "hivevars", ["a=b", "c=d"]),
    "silent": (["-S"], "silent", True),
    "silent by name": (["--silent"], "silent", True),
    "silent with a value": (["--silent=false"], "silent", False),
    "header off": (["--showHeader=false"], "showHeader", False),
    "force before a file": (["--force", "-f", "x.hql"], "files", ["x.hql"]),
    "format": (["--outputformat=dsv"], "outputformat", "dsv"),
    "beeline's connection": (["-u", "jdbc:hive2://h:10000/db", "-n", "me", "-p", "x"], "url",
                             "jdbc:hive2://h:10000/db"),
}  # fmt: skip


@pytest.mark.parametrize(("words", "name", "value"), FLAGS.values(), ids=FLAGS)
def test_flags(words: list[str], name: str, value: object) -> None:
    assert parsed(*words)[name] == value


def test_flags_without_a_meaning_here_are_told(capfd: pytest.CaptureFixture[str]) -> None:
    words = ["--fastConnect=true", "--isolation=TRANSACTION_SERIALIZABLE", "-n", "me"]
    assert ignored(arguments().parse_args(normalized(words))) == ["fastConnect", "isolation", "n"]
    assert main([*words, "-v", "-e", "SHOW DATABASES"]) == 0
    out = capfd.readouterr()
    assert "without effect here: fastConnect, isolation, n" in out.err
    assert "default" in out.out


def test_an_error_within_a_view_shows_its_text(capfd: pytest.CaptureFixture[str]) -> None:
    Path("made.hql").write_text(
        f"CREATE TABLE t (id INT) {ACID};\nCREATE VIEW v AS SELECT id FROM t;\nDROP TABLE t;\n"
    )
    assert main(["-f", "made.hql"]) == 0
    Path("read.hql").write_text("SHOW TABLES;\nEXPLAIN SELECT * FROM v;\n")
    assert main(["-f", "read.hql"]) != 0
    told = capfd.readouterr().err
    assert "ERROR: view default.v:1:22: [Error 10001] Table not found: default.t" in told
    assert "SELECT `t`.`id` FROM `default`.`t`" in told
    assert "SHOW TABLES;" not in told
    assert told.endswith(
        "\n  Look at SHOW TABLES IN db, name the database, and look at --metastore\n"
    )


def test_jdbc_url_names_the_database(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["-e", "CREATE DATABASE sales; CREATE DATABASE x"]) == 0
    url = "jdbc:hive2://host:10000/sales;principal=hive/_HOST@EXAMPLE"
    assert main(["-u", url, "-e", "SHOW TABLES"]) == 1
    refused = capfd.readouterr().err
    assert "names a HiveServer2 at host:10000" in refused
    assert "config.toml" in refused
    assert main(["-u", "jdbc:hive2:///sales", "-e", "SHOW TABLES"]) == 0
    mapped = ["--metastore", "sqlite:///metastore.db"]
    assert main(["-u", url, *mapped, "-e", f"CREATE TABLE t (id INT) {ACID}"]) == 0
    # As Airflow's hook for Hive's command line calls beeline, quotes and all.
    Path("task.hql").write_text(f"USE sales;\nCREATE TABLE u (id INT) {ACID};\n")
    words = [*mapped, "-u", f'"{url}"', "-n", "me", "-p", "x", "-hiveconf", "airflow.ctx.dag_id=d",
             "-hiveconf", "mapred.job.name=n", "-f", "task.hql"]  # fmt: skip
    assert main(words) == 0
    capfd.readouterr()
    assert main(["-S", "--showHeader=false", "-e", "SHOW TABLES IN sales"]) == 0
    assert capfd.readouterr().out == "t\nu\n"


def test_watching_needs_a_terminal_and_a_statement_that_reads(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert main(["-e", "SHOW LOCKS"]) == 0
    for words, code, told in (
        (["--watch", "-e", "SHOW LOCKS"], 2, "run the statement without --watch"),
        (["--watch=2", "-e", "DROP TABLE t"], 2, "one SHOW or DESCRIBE is wanted"),
        (["--watch", "0", "-e", "SHOW LOCKS"], 2, "seconds between 0.1 and 86400"),
        (["--watch", "2"], 1, "--watch takes one -e"),
    ):
        assert main(words) == code
        assert told in capfd.readouterr().err


def test_bad_arguments(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bad.toml").write_text("profile = ")
    (tmp_path / "odd.toml").write_text("[profiles.a]\nmetastor = 'x'")
    for words, told in (
        (["--nosuch"], "--nosuch"),
        (["--hivevar", "x", "-e", "SHOW DATABASES"], "KEY=VALUE expected, not 'x'"),
        (["-f", "nosuch.hql"], "cannot read nosuch.hql: no such file"),
        (["--showHeader=maybe", "-e", "x"], "true or false expected"),
        (["--delimiter", "//", "-e", "x"], "not supported: a delimiter other than ';'"),
        (["--config", "bad.toml", "-e", "x"], "bad.toml: Invalid value"),
        (["--config", "odd.toml", "--profile", "a", "-e", "x"], "unknown key 'metastor'"),
        (["--profile", "nosuch", "-e", "x"], "there is no profile 'nosuch'"),
    ):
        assert main(words) == 1, words
        assert told in capfd.readouterr().err


def test_profile(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / "config" / "hivesql" / "config.toml"
    place.parent.mkdir(parents=True)
    place.write_text(
        'profile = "here"\n[profiles.here]\noutputformat = "jsonfile"\n'
        f'metastore = "sqlite:///{tmp_path}/mine.db"\nwarehouse = "{tmp_path}/house"\n'
        '[profiles.here.settings]\n"hive.lock.numretries" = 7\n"hive.support.concurrency" = true\n'
    )
    profile = read_profile()
    assert profile.settings == {"hive.lock.numretries": "7", "hive.support.concurrency": "true"}
    assert main(["-S", "-e", "SET hive.lock.numretries"]) == 0
    assert capfd.readouterr().out == '{"set": "hive.lock.numretries=7"}\n'
    assert (tmp_path / "mine.db").exists()
    words = ["-S", "--outputformat=csv2", "--hiveconf", "hive.lock.numretries=8"]
    assert main([*words, "-e", "SET hive.lock.numretries"]) == 0
    assert capfd.readouterr().out == "set\nhive.lock.numretries=8\n"


def test_property_file(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.properties").write_text("# ours\nhive.lock.numretries=9\n\n")
    assert main(["-S", "--property-file", "a.properties", "-e", "SET hive.lock.numretries"]) == 0
    assert "hive.lock.numretries=9" in capfd.readouterr().out


DRY = f"""
CREATE DATABASE sales;
USE sales;
SET hivevar:limit=3;
CREATE TABLE t (id INT, v STRING) PARTITIONED BY (d STRING) {ACID};
ALTER TABLE t ADD PARTITION (d = 'x');
CREATE TABLE copied {ACID} AS SELECT id AS key, v FROM t;
UPDATE t SET v = 'x' WHERE id = ${{limit}};
UPDATE copied SET v = 'y' WHERE key = 1;
DELETE FROM nosuch WHERE id = 1;
DROP TABLE t;
DELETE FROM t WHERE id = 1;
!rm -rf /nosuch
"""


def test_dry_run_plans_all_and_does_nothing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "dry.hql").write_text(DRY)
    assert main(["--dry-run", "-f", "dry.hql"]) == 2
    out = capfd.readouterr()
    assert "-- dry.hql:8:1\nUPDATE t SET v = 'x' WHERE id = 3\n   TRANSACTION" in out.out
    assert "lock sales.t" in out.out
    assert "delete_delta_W_W_0000 of sales.copied" in out.out
    assert out.err.splitlines()[1].startswith("ERROR: dry.hql:10:13: [Error 10001]")
    assert "ERROR: dry.hql:12:13: [Error 10001]" in out.err
    assert len(out.err.splitlines()) == 9
    assert main(["-S", "-e", "SHOW DATABASES"]) == 0
    assert capfd.readouterr().out == "database_name\ndefault\n"
    assert not (tmp_path / "warehouse" / "sales.db").exists()


AGAIN = f"""
CREATE TABLE kept (a INT, b INT) {ACID};
CREATE TABLE IF NOT EXISTS kept (other STRING);
CREATE DATABASE IF NOT EXISTS default;
UPDATE kept SET b = 1 WHERE a = 1;
DROP DATABASE IF EXISTS sales CASCADE;
CREATE DATABASE sales;
CREATE TABLE sales.t (a INT) PARTITIONED BY (d STRING) {ACID};
ALTER TABLE sales.t ADD PARTITION (d = 'x');
DROP DATABASE sales CASCADE;
CREATE DATABASE sales;
CREATE TABLE sales.t (a INT) PARTITIONED BY (d STRING) {ACID};
SHOW PARTITIONS sales.t;
ALTER TABLE sales.t ADD PARTITION (d = 'x');
INSERT INTO sales.t VALUES (1, 'new');
ALTER TABLE sales.t PARTITION (d = 'new') COMPACT 'major';
TRUNCATE TABLE sales.t PARTITION (d = 'new');
ALTER TABLE sales.t RENAME TO sales.u;
ALTER TABLE sales.u PARTITION (d = 'new') RENAME TO PARTITION (d = 'old');
"""


def test_the_example_can_be_rehearsed(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    script = Path(__file__).parents[2] / "examples" / "flights.hql"
    assert main(["--dry-run", "-f", str(script)]) == 0, capfd.readouterr().err
    assert not (tmp_path / "warehouse" / "nyc.db").exists()


def test_a_dry_run_knows_what_was_dropped_and_made_again(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "again.hql").write_text(AGAIN)
    assert main(["--dry-run", "-f", "again.hql"]) == 0, capfd.readouterr().err


def test_checkpoint_goes_on_where_it_failed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "s.hql"
    script.write_text("CREATE DATABASE a;\nUSE a;\nCREATE DATABASE b;\nUSE nosuch;\n")
    words = ["--checkpoint", "done.json", "-f", "s.hql"]
    assert main(words) == 2
    assert (tmp_path / "done.json").exists()
    script.write_text(
        f"CREATE DATABASE a;\nUSE a;\nCREATE DATABASE b;\nCREATE TABLE t (id INT) {ACID};"
    )
    capfd.readouterr()
    assert main(words) == 0
    told = capfd.readouterr().err
    assert "s.hql:1: ran before, left out" in told
    assert "s.hql:3: ran before, left out" in told
    assert not (tmp_path / "done.json").exists()
    # USE a had to run again for the table to land there.
    assert main(["-S", "--showHeader=false", "-e", "SHOW TABLES IN a"]) == 0
    assert capfd.readouterr().out == "t\n"


def test_checkpoint_of_another_script(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "s.hql"
    script.write_text("CREATE DATABASE a;\nCREATE DATABASE a;\n")
    assert main(["--checkpoint", "done.json", "-f", "s.hql"]) == 2
    script.write_text("CREATE DATABASE other;\nCREATE DATABASE a;\n")
    capfd.readouterr()
    assert main(["--checkpoint", "done.json", "-f", "s.hql"]) == 1
    assert "s.hql:1: this is not the statement that ran before" in capfd.readouterr().err
    (tmp_path / "junk").write_text("{")
    assert main(["--checkpoint", "junk", "-f", "s.hql"]) == 1


def test_doctor(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--no-spark"]) == 0
    out = capfd.readouterr().out
    assert [line.split()[:2] for line in out.splitlines()] == [
        ["ok", "Python"], ["ok", "Java"], ["ok", "configuration"],
        # Nothing is made by a look, and one that is elsewhere may be meant.
        ["warning", "metastore"], ["one", "that"], ["ok", "warehouse"],
    ]  # fmt: skip
    assert f"{tmp_path}/metastore.db (not there yet: the first session makes it)" in out
    assert f"{tmp_path}/warehouse, " in out
    assert [*tmp_path.iterdir()] == []
    assert main(["-S", "-e", "CREATE DATABASE d"]) == 0
    capfd.readouterr()
    assert main(["doctor", "--no-spark"]) == 0
    out = capfd.readouterr().out
    assert [line.split()[:2] for line in out.splitlines()] == [
        ["ok", "Python"], ["ok", "Java"], ["ok", "configuration"], ["ok", "metastore"],
        ["ok", "clock"], ["ok", "transactions"], ["ok", "heartbeats"], ["ok", "compactions"],
        ["ok", "warehouse"], ["ok", "tables"], ["ok", "files"],
    ]  # fmt: skip
    (tmp_path / "file").touch()
    url = f"sqlite:///{tmp_path}/file/metastore.db"
    assert main(["doctor", "--no-spark", "--metastore", url]) == 1
    assert "failed   metastore" in capfd.readouterr().out


def test_doctor_finds_an_old_java(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    java = tmp_path / "jdk" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text("#!/bin/sh\necho 'openjdk version \"1.8.0_402\"' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jdk"))
    assert main(["doctor", "--no-spark"]) == 1
    out = capfd.readouterr().out
    assert "is Java 8" in out
    assert "install a JDK 17" in out


def test_sourced_file_shows_its_own_line(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "inner.hql").write_text("SHOW DATABASES;\nDELETE FROM nosuch;\n")
    (tmp_path / "outer.hql").write_text("SOURCE inner.hql;\n")
    assert main(["-S", "-f", "outer.hql"]) == 2
    error = capfd.readouterr().err
    assert "ERROR: inner.hql:2:13: [Error 10001]" in error
    assert "  DELETE FROM nosuch;\n              ^" in error


def test_set_and_reset(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HIVESQL_TEST", "here")
    script = (
        "SET hive.lock.numretries=7; SET hivevar:x=1; SET hivevar:x; SET env:HIVESQL_TEST;"
        "RESET; SET hive.lock.numretries; SET hiveconf:hive.lock.numretries; SET x; SET nosuch;"
        "SET hive.lock.numretries=8; RESET hive.lock.numretries; SET hive.lock.numretries;"
        "SET system:zone=north; SET system:zone; SET '${system:zone}'='${hiveconf:given}';"
        "RESET -d hive.lock.numretries; SET ${hiveconf:hive.lock.numretries}"
    )
    flags = ["--hiveconf", "hive.lock.numretries=5", "--hiveconf", "given=once"]
    assert main(["--showHeader=false", *flags, "-e", script]) == 0
    out, told = capfd.readouterr()
    assert out.splitlines() == [
        "hivevar:x=1", "env:HIVESQL_TEST=here", "hive.lock.numretries=5",
        "hiveconf:hive.lock.numretries=5", "x=1", "nosuch is undefined",
        "hive.lock.numretries=5", "system:zone=north",
        "${hiveconf:hive.lock.numretries} is undefined",
    ]  # fmt: skip
    assert "Resetting hive.lock.numretries to default values" in told
    script = (
        "SET hive.nosuch=1; SET hivevar:hive.v=1; SET x.y=1; SET hive.lock.numretries=8;"
        "SET hiveconf:hive.exec.dynamic.partitions=true"
    )
    assert main(["--report=false", "--hiveconf", "hive.other=1", "-e", script]) == 0
    assert capfd.readouterr().err.splitlines() == [
        "hive.other is unknown here and has no effect",
        "hive.nosuch is unknown here and has no effect",
        "hive.exec.dynamic.partitions is unknown here and has no effect; "
        "did you mean hive.exec.dynamic.partition?",
    ]
    for wrong, why in [
        ("SET env:HOME=/nosuch", "env:* variables can not be set"),
        ("SET env:NOSUCH_X", "env:NOSUCH_X is undefined as an environmental variable"),
        ("SET system:nosuch", "nosuch is undefined as a system property"),
        ("SET hivevar:nosuch", "hivevar:nosuch is undefined as a hive variable"),
        ("SET hiveconf:nosuch", "hiveconf:nosuch is undefined as a hive configuration variable"),
        ("RESET -d nosuch", "nosuch not found"),
    ]:
        assert main(["-e", wrong]) == 2
        assert why in capfd.readouterr().err


def test_doctor_takes_a_warehouse_elsewhere_for_what_it_is(
    capfd: pytest.CaptureFixture[str],
) -> None:
    words = ["doctor", "--no-spark", "--warehouse", "s3a://bucket/x", "--master", "local[1]"]
    assert main([*words, "--hiveconf", "hive.txn.timeout=300s"]) in (0, 1)
    told = capfd.readouterr().out
    assert "s3a://bucket/x (not on this machine: not looked into)" in told
    assert not list(Path().glob("s3a*"))
    assert main([*words, "--hiveconf", "hive.txn.nosuch=1"]) == 1
    assert "unknown setting hive.txn.nosuch" in capfd.readouterr().out


TEXTS = {
    "mark": (b"\xef\xbb\xbfCREATE DATABASE a;", 0, ""),
    "line ends of Windows": (b"CREATE DATABASE b; -- x\r\nSHOW TABLES IN b\r\n;\r\n", 0, ""),
    "line ends of old Macs": (b"CREATE DATABASE c; -- x\rSHOW TABLES IN c", 0, ""),
    "comment without line end": (b"CREATE DATABASE d; -- x;", 0, ""),
    "open comment": (b"SHOW DATABASES;\n /* CREATE DATABASE e;\n", 2, ":2:2: the comment /*"),
    "open quote": (b"SHOW DATABASES;\nSELECT 'a;\n", 2, ":2:8: the quote ' is never closed"),
    "no UTF-8": (b"SHOW DATABASES;\n -- \xff;\n", 1, ":2:5: the byte 0xff is no UTF-8"),
    "zero": (b"SHOW \0DATABASES", 1, ":1:6: a byte of zero"),
    "UTF-16": ("SHOW DATABASES".encode("utf-16"), 1, ":1:1: this is UTF-16 text"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_texts_of_scripts(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    data, code, told = TEXTS[name]
    Path("a.hql").write_bytes(data)
    # By SOURCE and !run, every problem is that of a statement.
    inside = 2 if code else 0
    for words, expected in (
        (["-f", "a.hql"], code),
        (["-i", "a.hql", "-e", "SHOW DATABASES"], code),
        (["--dry-run", "-f", "a.hql"], code),
        (["-e", "SOURCE a.hql"], inside),
        (["-e", "!run a.hql"], inside),
    ):
        Path("metastore.db").unlink(missing_ok=True)
        assert main(words) == expected, words
        assert f"a.hql{told}" in capfd.readouterr().err or not told, words


def test_scripts_come_from_standard_input(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for data, code, told in (
        (b"\xef\xbb\xbfSHOW DATABASES;\r\n", 0, ""),
        (b"SHOW DATABASES; /* x", 2, "<stdin>:1:17: the comment /* is never closed"),
        (b"SHOW \xff", 1, "<stdin>:1:6: the byte 0xff is no UTF-8"),
    ):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
        assert main([]) == code
        assert told in capfd.readouterr().err


@pytest.mark.parametrize(
    ("flags", "first"),
    [
        ([], "with"),
        (["--hiveconf", "hive.cli.print.header=false"], "without"),
        (["--showHeader=false"], "without"),
    ],
)
def test_the_header_that_scripts_ask_for(
    flags: list[str], first: str, capfd: pytest.CaptureFixture[str]
) -> None:
    script = (
        "SHOW DATABASES; SET hive.cli.print.header=false; SHOW DATABASES;"
        "SET hive.cli.print.header=true; SHOW DATABASES; RESET hive.cli.print.header;"
        "SHOW DATABASES"
    )
    assert main(["-S", *flags, "-e", script]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert ("with" if lines[0] == "database_name" else "without") == first
    shown = "default", "database_name", "default"
    last = shown[1:] if "--hiveconf" not in flags else shown[:1]
    start = [lines[0]] if first == "with" else []
    assert lines == [*start, "default", *shown, *last]


def test_a_metastore_that_is_made_where_one_stands_is_told(
    capfd: pytest.CaptureFixture[str],
) -> None:
    told = f"made a new metastore, {Path.cwd()}/metastore.db, with no tables"
    assert not Path("metastore.db").exists()
    assert main(["-e", "SHOW TABLES"]) == 0
    assert told in capfd.readouterr().err
    assert main(["-e", "SHOW TABLES"]) == 0
    assert "metastore" not in capfd.readouterr().err
    Path("metastore.db").unlink()
    assert main(["-S", "-e", "SHOW TABLES"]) == 0
    assert "metastore" not in capfd.readouterr().err
    Path("metastore.db").unlink()
    # A name that is misspelt makes one too.
    assert main(["--metastore", f"sqlite:///{Path.cwd()}/metastore.db", "-e", "SHOW TABLES"]) == 0
    assert f"{told}\n" in capfd.readouterr().err
