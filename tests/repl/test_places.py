"""What is said of places and has no effect is told, or refused: nobody runs on an empty catalog."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import hivesql
from hivesql_repl.cli import main

HERE = "sqlite:///metastore.db"
SHOW = ["-e", "SHOW TABLES"]
REFUSED = {
    "a directory that is not there": (
        ["--metastore", "sqlite:///mispelt/metastore.db", *SHOW],
        "mispelt is not there: correct the address, or make it: mkdir -p",
    ),
    "a database in memory": (
        ["--metastore", "sqlite:///file:m?mode=memory&uri=true", *SHOW], "cannot live in sqlite",
    ),
    "a metastore to watch that is not there": (
        ["--metastore", "sqlite:///mispelt.db", "--watch", "2", *SHOW], "there is no metastore at",
    ),
    "an address that is empty": (["--metastore", "", *SHOW], "the metastore's address is empty"),
    "a warehouse that is empty": (["--warehouse", "", *SHOW], "a location must not be empty"),
    "a parameter that SQLite does not know": (
        ["--metastore", f"{HERE}?mode=ro", *SHOW], "SQLite knows no mode",
    ),
    "the name of a file": (
        ["--metastore", "metastore.db", *SHOW], "did you mean sqlite:///metastore.db?",
    ),
    "two slashes": (
        ["--metastore", "sqlite://metastore.db", *SHOW], "did you mean sqlite:///metastore.db?",
    ),
    "JDBC's address of a database": (
        ["--metastore", "jdbc:postgresql://h/db", *SHOW], "did you mean postgresql://h/db?",
    ),
    "another name of PostgreSQL": (
        ["--metastore", "postgres://u:p@h/db", *SHOW], "did you mean postgresql://u:***@h/db?",
    ),
    "two metastores of flags": (
        ["-u", "sqlite:///x.db", "--metastore", HERE, *SHOW], "two metastores",
    ),
    "a flag and a setting": (
        ["--metastore", HERE, "--hiveconf", "hive.metastore.uris=thrift://h:9083", *SHOW],
        "two metastores",
    ),
    "a flag and a setting of a command": (
        ["doctor", "--metastore", HERE, "--hiveconf", "hive.metastore.uris=thrift://h:9083"],
        "two metastores",
    ),
    "a file of profiles without a choice": (
        ["--config", "config.toml", *SHOW], "no profile is chosen: --profile NAME",
    ),
    "a profile with two metastores": (
        ["--config", "config.toml", "--profile", "two", *SHOW], "two metastores",
    ),
    "fewer workers than none": (["services", "--once", "--workers", "-1"], "--workers is 0 or"),
    "a time to end before": (["services", "--once", "--drain", "-5"], "--drain is 0 or more"),
    "no delimiter": (["--delimiterForDSV", "", *SHOW], "one character expected, not ''"),
    "two delimiters": (["--delimiterForDSV", "||", *SHOW], "one character expected, not '||'"),
    "a negative width": (["--maxWidth", "-4", *SHOW], "a number from 0 on expected, not '-4'"),
    "a profile that is a text": (
        ["--config", "texts.toml", "--profile", "prod", *SHOW], "is no table",
    ),
    "settings that are tables": (
        ["--config", "config.toml", "--profile", "nested", *SHOW], 'write "a.b" = 1',
    ),
}  # fmt: skip
TOLD = {
    "another warehouse": (
        ["--warehouse", "other"], "other has no effect: tables of this metastore",
    ),
    "Hive's setting of the warehouse": (
        ["--hiveconf", "hive.metastore.warehouse.dir=/x"],
        "--warehouse, or warehouse= of connect",
    ),
    "Hive's setting of the database": (
        ["--hiveconf", "javax.jdo.option.ConnectionURL=jdbc:mysql://h/d"],
        "--metastore, or metastore= of connect",
    ),
    "a user": (["-n", "ann"], "-n ann has no effect: the session is "),
}  # fmt: skip
SILENT = {
    "the same warehouse": ["--warehouse", "warehouse"],
    "the same by a link": ["--warehouse", "link"],
    "the same as a URI": ["--warehouse", "file:{here}/warehouse"],
    "none": [],
}
CONFIG = """
[profiles.two]
metastore = "sqlite:///metastore.db"
[profiles.two.settings]
"hive.metastore.uris" = "thrift://h:9083"
[profiles.nested.settings]
spark.executor.memory = "1g"
[profiles.elsewhere.settings]
"hive.metastore.uris" = "thrift://h:9083"
"""


@pytest.fixture(autouse=True)
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HIVE_CONF_DIR", raising=False)
    hivesql.connect(HERE, "warehouse").close()
    Path("config.toml").write_text(CONFIG)
    Path("texts.toml").write_text('[profiles]\nprod = "sqlite:///metastore.db"\n')
    Path("warehouse").mkdir(exist_ok=True)
    Path("link").symlink_to("warehouse")


@pytest.mark.parametrize(("words", "message"), REFUSED.values(), ids=REFUSED)
def test_a_place_that_cannot_be_meant_is_refused(
    words: list[str], message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    before = sorted(Path().rglob("*"))
    assert main(words) in (1, 2)
    assert message in capfd.readouterr().err
    assert sorted(Path().rglob("*")) == before


@pytest.mark.parametrize(("words", "notice"), TOLD.values(), ids=TOLD)
def test_what_has_no_effect_is_told(
    words: list[str], notice: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main([*words, *SHOW]) == 0
    assert notice in capfd.readouterr().err
    assert not Path("other").exists()


@pytest.mark.parametrize("words", SILENT.values(), ids=SILENT)
def test_what_has_its_effect_is_not(words: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    assert main([word.format(here=Path.cwd()) for word in words] + SHOW) == 0
    assert "effect" not in capfd.readouterr().err


def test_commands_tell_what_is_not_there_and_what_has_no_effect(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert main(["check", "t", "--metastore", "sqlite:///misspelt.db"]) == 2
    assert "there is no metastore at " in capfd.readouterr().err
    assert main(["doctor", "--no-spark", "--metastore", HERE, "--warehouse", "other"]) in (0, 1)
    assert "warning  metastore     the warehouse" in capfd.readouterr().out
    assert main(["doctor", "hdfs:/x", "--no-spark"]) in (0, 1)
    assert "hdfs:/x (not on this machine: not looked into)" in capfd.readouterr().out


def test_a_dry_run_makes_no_metastore(capfd: pytest.CaptureFixture[str]) -> None:
    before = sorted(Path().rglob("*"))
    script = "CREATE DATABASE d; CREATE TABLE d.t (a INT) STORED AS ORC; INSERT INTO d.t VALUES (1)"
    assert main(["--dry-run", "--metastore", "sqlite:///mispelt.db", "-e", script]) == 0
    out, err = capfd.readouterr()
    assert f"directory {Path.cwd()}/warehouse/d.db/t" in out
    assert err == f"there is no metastore at {Path.cwd()}/mispelt.db: planned as in a new one\n"
    assert sorted(Path().rglob("*")) == before


def test_what_cannot_be_written_as_the_output_is_encoded_is_told(tmp_path: Path) -> None:
    create = "CREATE TABLE t (a INT COMMENT '日本') STORED AS ORC"
    words = [sys.executable, "-m", "hivesql_repl", "--metastore", HERE]
    latin = {**os.environ, "PYTHONIOENCODING": "latin-1", "PYTHONPATH": os.pathsep.join(sys.path)}
    for text, wanted in ((create, 0), ("DESCRIBE t", 2)):
        done = subprocess.run(
            [*words, "-e", text], env=latin, cwd=tmp_path, capture_output=True, check=False
        )
        assert done.returncode == wanted
    assert b"standard output takes latin-1, in which '\\u65e5\\u672c' cannot" in done.stderr
    assert b"set PYTHONIOENCODING=utf-8" in done.stderr


def test_a_flag_wins_over_what_the_profile_says_of_the_metastore() -> None:
    profile = ["--config", "config.toml", "--profile", "elsewhere"]
    assert main([*profile, "--metastore", HERE, *SHOW]) == 0
    assert main(["top", "--once", *profile, "--metastore", HERE]) == 0


def test_a_site_without_its_file_is_told(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HIVE_CONF_DIR", "/nowhere")
    assert main(SHOW) == 0
    assert "HIVE_CONF_DIR=/nowhere has no effect: there is no hive-site.xml" in (
        capfd.readouterr().err
    )


def test_a_program_is_told_of_two_metastores() -> None:
    notices: list[str] = []
    settings = {"hive.metastore.uris": "thrift://h:9083"}
    hivesql.connect(HERE, settings=settings, notify=notices.append).close()
    assert [line for line in notices if "hive.metastore.uris=thrift://h:9083 has no effect" in line]


@pytest.mark.parametrize("name", ["a b", "a#b", "a%20b", "100%", "ü", "a'b", "+x"])
def test_a_path_is_taken_as_it_is(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    place = Path(name).absolute()
    place.mkdir()
    words = ["--metastore", f"sqlite:///{place}/metastore.db", "--warehouse", f"{place}/warehouse"]
    create = "CREATE TRANSACTIONAL TABLE t (a INT) STORED AS ORC; INSERT INTO t VALUES (1)"
    for text in (create, "INSERT INTO t VALUES (2)", "SELECT a FROM t"):
        assert main([*words, "-e", text]) == 0
    assert capfd.readouterr().out == "a\n1\n2\n"
    assert main(["check", "t", *words]) == 0
    assert sorted(path.name for path in place.iterdir()) == ["metastore.db", "warehouse"]


@pytest.mark.parametrize("flags", [["--dry-run"], ["--force"], ["--checkpoint", "state"]])
def test_flags_of_scripts_count_for_standard_input(
    flags: list[str], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    script = Path("script.hql")
    script.write_text("SHOW TABLES LIKE 'a'; SHOW TABLES IN nowhere; SHOW DATABASES;")
    with script.open() as file:
        monkeypatch.setattr("sys.stdin", file)
        assert main(flags) == 2
    shown = capfd.readouterr().out
    assert ("-- <stdin>:1:1" in shown) == (flags == ["--dry-run"])
    assert (shown.endswith("default\n")) == (flags == ["--force"])
    assert Path("state").exists() == (flags[0] == "--checkpoint")


def test_databases_lie_beside_the_others_whatever_a_client_names(tmp_path: Path) -> None:
    url, first = f"sqlite:///{tmp_path}/another.db", tmp_path / "first"
    hivesql.connect(url, first).close()
    with hivesql.connect(url, tmp_path / "other") as session:
        session.sql("CREATE DATABASE d; CREATE TABLE d.t (a INT); INSERT INTO d.t VALUES (1)")
        assert session.sql("DESCRIBE DATABASE d").rows[0][2].endswith(f"{first}/d.db")
    assert not (tmp_path / "other").exists()
