"""What users of psql, pgcli, sqlite, duckdb and beeline type, and what comes of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import hivesql
from hivesql_repl.output.render import Printer
from hivesql_repl.shell.aliases import command_of
from hivesql_repl.shell.running import Runner
from hivesql_repl.shell.shell import wants_vi


@pytest.fixture
def runner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Runner]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    with hivesql.connect(f"sqlite:///{tmp_path}/m.db", str(tmp_path / "w")) as session:
        session.sql(
            "CREATE DATABASE sales; CREATE TABLE sales.parts (id INT) STORED AS ORC;"
            "CREATE TABLE stock (id INT, item STRING) STORED AS ORC;"
            "CREATE TABLE other (id INT) STORED AS ORC; CREATE VIEW seen AS SELECT * FROM stock"
        )
        with Runner(session, Printer(format="csv2"), shell=False) as opened:
            yield opened


TYPED = {
    "\\dt": ["other", "stock"],
    "\\dt st*": ["stock"],
    ".tables st%": ["stock"],
    "\\dt sales.*": ["parts"],
    "!tables oth*": ["other"],
    "\\l s*": ["sales"],
    "\\dn": ["default", "sales"],
    "\\dv": ["seen"],
    "\\df current_us*": ["current_user"],
    "\\d stock": ["item,string,"],
    "\\d+ stock": ["# Detailed Table Information"],
    ".schema stock": ["CREATE TABLE `stock`"],
    ".schema": ["CREATE TABLE `other`", "CREATE TABLE `stock`", "VIEW `seen`"],
    "\\conninfo": ["database     default", "transaction  none is open"],
    "!dbinfo": ["database     default"],
    "\\echo some  text": ["some  text"],
    "\\i missing.hql": [],
}


@pytest.mark.parametrize(("typed", "told"), TYPED.items(), ids=TYPED)
def test_what_is_printed(
    typed: str, told: list[str], runner: Runner, capsys: pytest.CaptureFixture[str]
) -> None:
    command = command_of(typed)
    assert command is not None
    assert runner.commands.run(command) is bool(told)
    out = capsys.readouterr().out
    assert [line for line in told if line not in out] == []
    # A pattern leaves the others out.
    if "*" in typed or "%" in typed:
        assert len(out.split()) == 1 + len(told)


def run(runner: Runner, *typed: str) -> bool:
    return all(runner.commands.run(command_of(line) or "") for line in typed)


def test_switches_take_on_and_off_and_never_guess(runner: Runner) -> None:
    printer = runner.printer
    for switch, value in {
        "timing": lambda: printer.report,
        "header": lambda: printer.style.header,
        "x": lambda: printer.format == "vertical",
        "pager": lambda: printer.paging,
    }.items():
        for word, wanted in (("on", True), ("on", True), ("off", False), ("off", False)):
            assert run(runner, f"\\{switch} {word}")
            assert value() is wanted, (switch, word)
        assert run(runner, f"\\{switch}")
        assert value(), switch
        if switch != "pager":  # pgcli's users name a program there
            assert not run(runner, f"\\{switch} maybe")
    assert run(runner, "\\x off")
    assert printer.format == "csv2"


def test_values_that_shells_are_given(
    runner: Runner, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run(runner, ".nullvalue '-'", ".mode list", ".separator ';'", "\\c sales")
    runner.commands.run_text("SELECT 1 a, NULL b", None)
    assert "1;-" in capsys.readouterr().out
    assert runner.session.database == "sales"
    assert not run(runner, ".separator ab")
    assert not run(runner, "\\c nosuch")
    assert run(runner, f"\\cd {tmp_path}/w")
    assert not run(runner, "\\cd /nosuch")


def test_statements_are_saved_and_filled(
    runner: Runner, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run(runner, "\\ns two SELECT $1 AS a, '$2' AS b", "\\n")
    assert "two           SELECT $1" in capsys.readouterr().out
    assert run(runner, "\\n two 7 x")
    assert "7,x" in capsys.readouterr().out
    for wrong, told in {
        "\\n two 7": "two wants a value for $2",
        "\\n three": "no statement is saved as three",
        "\\nd three": "no statement is saved as three",
        "\\ns two": "a name and a statement are wanted",
        "!save s SET fs.s3a.secret.key=x": "a statement with a secret is not saved",
    }.items():
        assert not run(runner, wrong)
        assert told in capsys.readouterr().err
    assert run(runner, "\\nd two", "\\n")
    assert capsys.readouterr().out == ""
    (saved,) = (tmp_path / "state").rglob("saved.json")
    for broken in ("[]", "{"):
        saved.write_text(broken)
        assert not run(runner, "\\n")
        assert str(saved) in capsys.readouterr().err


def test_scripts_call_programs_that_are_named_as_gestures(
    runner: Runner, capfd: pytest.CaptureFixture[str]
) -> None:
    runner.commands.shell = True
    assert runner.commands.run('echo "a  b"')
    assert capfd.readouterr().out == "a  b\n"
    assert runner.commands.run("tables")


def test_help_names_every_command_that_is_not_hidden(
    runner: Runner, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(runner, "\\?")
    names = re.findall(r"^!(\w+)", capsys.readouterr().out, re.MULTILINE)
    assert {"tables", "ddl", "expanded", "saved", "status"} <= set(names)


@pytest.mark.parametrize(
    ("text", "wanted"),
    {"set editing-mode vi\n": True, "# set editing-mode vi\n": False,
     "set editing-mode vi\nset editing-mode emacs\n": False, "": False}.items(),
)  # fmt: skip
def test_vi_keys_are_those_of_readline(
    text: str, wanted: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "inputrc").write_text(text)
    monkeypatch.setenv("INPUTRC", str(tmp_path / "inputrc"))
    assert wants_vi() is wanted


def test_results_go_to_a_file_until_they_are_shown_again(
    runner: Runner, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = "SELECT 'a,b' c"
    assert run(runner, "\\T csv", "\\o rows.csv", "!sh true", ".once other.csv")
    for _ in range(3):
        assert runner.commands.run_text(shown, None)
    assert run(runner, "\\o | wc -l")
    assert runner.commands.run_text(shown, None)
    assert run(runner, ".output")
    assert runner.commands.run_text(shown, None)
    assert (tmp_path / "other.csv").read_text() == 'c\n"a,b"\n'
    assert (tmp_path / "rows.csv").read_text() == 'c\n"a,b"\n' * 2
    assert capsys.readouterr().out == 'c\n"a,b"\n'
    assert not run(runner, "\\o nosuch/rows.csv")


def test_the_editor_gets_the_last_statement_and_no_command(
    runner: Runner, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    runner.commands.history = lambda: ["SELECT 1 x", "SELECT 2 y", "\\x off", "\\e"]
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", "sed -i s/2/3/")
    assert run(runner, "\\e")
    assert capsys.readouterr().out == "y\n3\n"
