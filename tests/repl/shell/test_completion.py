"""What the shell's prompt completes, as typed in a session."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from prompt_toolkit.completion import CompleteEvent, FuzzyCompleter
from prompt_toolkit.document import Document

import hivesql
from hivesql_repl.shell.completion import SqlCompleter

CASES = {
    "\\dt st": ["stock"],
    "\\d db2.": ["old"],
    "\\d ": ["db2", "default", "stock"],
    ".schema sto": ["stock"],
    "!describe sto": ["stock"],
    "\\c db": ["db2"],
    "\\T csv": ["csv", "csv2"],
    "!outputformat vert": ["vertical"],
    "\\i script": ["script.hql"],
    ".read dir/": ["inner.hql"],
    "!run dir/in": ["inner.hql"],
    "source scr": ["script.hql"],
    "SHOW TABLES; source dir/": ["inner.hql"],
    "\\conninf": ["conninfo"],
    ".schem": ["schema"],
    "!conninf": [],
    "!outputform": ["outputformat"],
    "SHOW TABLES IN d": ["db2", "default"],
    "SET hive.exec.parallel=": [],
    "SET hive.stats.autogather=": ["false", "true"],
}


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[hivesql.Session]:
    place = tmp_path_factory.mktemp("completion")
    with hivesql.connect(f"sqlite:///{place}/m.db", place / "w") as session:
        session.sql("CREATE TABLE stock (id INT, item STRING)")
        session.sql("CREATE DATABASE db2")
        session.sql("CREATE TABLE db2.old (id INT)")
        yield session


@pytest.mark.parametrize(("typed", "wanted"), CASES.items(), ids=CASES)
def test_completions(
    typed: str,
    wanted: list[str],
    session: hivesql.Session,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("script.hql").touch()
    Path("dir").mkdir()
    Path("dir/inner.hql").touch()
    completer = FuzzyCompleter(SqlCompleter(session, ("outputformat", "describe", "run")))
    given = completer.get_completions(Document(typed), CompleteEvent())
    texts = {completion.display_text.rstrip("/") for completion in given}
    assert sorted(texts) == wanted
