"""Typing mistakes, and commands as other shells call them."""

from __future__ import annotations

from pathlib import Path

import pytest

import hivesql
from hivesql.hints.meant import hint
from hivesql_repl.arguments import arguments
from hivesql_repl.shell.aliases import command_of

MEANT = {
    "selct 1": "SELECT",
    "show\n tabels": "TABLES",
    "describe default.stok": "default.stock",
    "select * from stok": "stock",
    "select * from defalt.stock": "default",
    "use defalt": "default",
    "select * from zzz": None,
    "select nosuch from stock": None,
}
COMMANDS = {
    "!tables": "tables",
    "!describe t;": "describe t",
    "\\d": "tables",
    "\\d t": "describe t",
    "\\dt": "tables",
    "\\timing": "timing",
    "\\!ls": "sh ls",
    ".mode csv2": "outputformat csv2",
    ".tables": "tables",
    "SHOW COMPACTIONS --watch": "watch SHOW COMPACTIONS",
    "show locks t --watch 0.5;": "watch 0.5 show locks t",
    "SHOW TABLES; --watch": "watch SHOW TABLES;",
    "SHOW TABLES; -- watch": None,
    "SELECT 1 --watch": None,
    "SHOW LOCKS \\watch 2": "watch 2 SHOW LOCKS",
    "select 1; \\watch": "watch select 1",
    "\\d+ t": "formatted t",
    "\\d+": "tables",
    "\\dt st*": "tables st*",
    "\\c sales": "use sales",
    "\\x on": "expanded on",
    "\\t on": "header off",
    "\\T csv2": "outputformat csv2",
    "\\pset format aligned": "outputformat table",
    "\\pset null '-'": "null -",
    "\\pset tuples_only off": "header on",
    "\\pset nosuch 1": "pset nosuch 1",
    "\\q;": "q",
    "\\n big 3": "saved big 3",
    "\\f big 3": "saved big 3",
    ".schema t": "ddl t",
    ".headers off": "header off",
    ".mode line": "outputformat vertical",
    ".mode box": "outputformat table",
    ".timer off": "timing off",
    "!mode line": "mode line",
    "nopager": "pager off",
    "help;": "help",
    "EXIT": "quit",
    "?": "help",
    "show tables": None,
    "": None,
}
WORDS = {
    ("--outputfromat=csv2",): "did you mean --outputformat=csv2?",
    ("--sielnt",): "did you mean --silent?",
    ("doctr",): "did you mean hivesql doctor?",
    ("a.hql",): "to run a script: hivesql -f a.hql",
    ("show", "tables"): "to run a statement: hivesql -e 'show tables'",
    ("--outputformat", "csv3"): "invalid choice: 'csv3'",
}


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> hivesql.Session:
    home = tmp_path_factory.mktemp("hints")
    session = hivesql.connect(f"sqlite:///{home}/m.db", str(home / "warehouse"))
    session.sql("CREATE TABLE stock (id INT) STORED AS ORC")
    return session


@pytest.mark.parametrize(("text", "meant"), MEANT.items(), ids=MEANT)
def test_hint(text: str, meant: str | None, session: hivesql.Session) -> None:
    with pytest.raises(hivesql.HiveSqlError) as caught:
        session.sql(text)
    assert hint(caught.value, text, session) == meant


@pytest.mark.parametrize(("typed", "command"), COMMANDS.items(), ids=COMMANDS)
def test_command(typed: str, command: str | None) -> None:
    assert command_of(typed) == command


@pytest.mark.parametrize(("words", "told"), WORDS.items(), ids=map(" ".join, WORDS))
def test_wrong_words(
    words: tuple[str, ...],
    told: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.hql").touch()
    with pytest.raises(SystemExit):
        arguments().parse_args(words)
    assert told in capsys.readouterr().err
