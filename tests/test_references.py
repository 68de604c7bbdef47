"""The references that are made from the code: each entry says all that a reader looks for."""

from __future__ import annotations

import argparse
import inspect
import pickle
import re
from pathlib import Path
from typing import Any, NoReturn

import pytest

import hivesql
from hivesql_docs.command_line import command_line_page
from hivesql_docs.error_codes import error_codes
from hivesql_docs.errors import error_classes
from hivesql_docs.python_names import INTERNAL, python_page
from hivesql_docs.settings import settings_page
from hivesql_planner import errors
from hivesql_planner.error_help import HELP, OBVIOUS, OF_CLASSES
from hivesql_planner.settings.setting import FIRST_RELEASE
from hivesql_planner.settings.settings import KEYS
from hivesql_repl.arguments import COMMANDS
from hivesql_repl.cli import main

GUIDES = Path(__file__).parents[1] / "docs" / "guides"
PICTURES = sorted(GUIDES.glob("*.svg"))
FIRST_SETTINGS = Path(__file__).parent / "planner" / "settings" / "first_release.txt"
"""The names that the first release knows: a later one says of a name of its own since when."""


def test_each_code_has_a_cause_and_a_remedy() -> None:
    """Both ways: what nothing raises any more has no line."""
    assert sorted(error_codes().keys() ^ HELP.keys()) == []
    assert [code for code, texts in HELP.items() if not all(texts)] == []
    assert list(HELP) == sorted(HELP)
    assert OBVIOUS <= HELP.keys()


def test_each_class_has_a_remedy_or_a_code_that_has() -> None:
    without = [kind for kind in error_classes() if not kind.code and not kind.__subclasses__()]
    assert [kind.__name__ for kind in without if kind.__name__ not in OF_CLASSES] == []
    assert OF_CLASSES.keys() <= vars(errors).keys()


@pytest.mark.parametrize("code", HELP)
def test_an_error_says_what_helps_in_its_message_or_in_a_note(code: int) -> None:
    error = errors.SemanticError("Invalid", code=code)
    notes = getattr(error, "__notes__", [])
    assert notes == ([] if code in OBVIOUS else [HELP[code].remedy.replace("`", "")])
    assert error.remedy == next(iter(notes), None)
    assert getattr(pickle.loads(pickle.dumps(error)), "__notes__", []) == notes


def test_each_setting_has_a_default_a_unit_and_a_meaning() -> None:
    """A number is one of something; a duration's default tells the unit of one without."""
    for key in KEYS.values():
        is_counted = key.kind in ("int", "float", "duration")
        assert (key.usual_unit not in ("", "none")) == is_counted, key
        assert key.meaning.strip().endswith("."), key
        assert not is_counted or re.match(r"-?[\d.]+", key.default), key


def test_each_setting_says_since_which_release() -> None:
    first = FIRST_SETTINGS.read_text(encoding="utf-8").split()
    assert sorted(key.name for key in KEYS.values() if key.since == FIRST_RELEASE) == first

    def number(version: str) -> tuple[int, ...]:
        return tuple(map(int, version.split(".")))

    for key in KEYS.values():
        assert number(FIRST_RELEASE) <= number(key.since) <= number(hivesql.__version__), key


def test_the_page_of_settings_has_each_of_them() -> None:
    page = settings_page()
    assert [name for name in KEYS if page.count(f"\n| `{name}` | ") != 1] == []


def parser_of(command: list[str], monkeypatch: pytest.MonkeyPatch) -> argparse.ArgumentParser:
    """The parser that a command reads its flags by."""
    parsers: list[argparse.ArgumentParser] = []

    def stop(parser: argparse.ArgumentParser, *words: Any) -> NoReturn:
        parsers.append(parser)
        raise SystemExit(0)

    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", stop)
    main(command)
    monkeypatch.undo()
    return parsers[0]


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS)], ids=str)
def test_the_page_of_the_command_line_has_each_option_and_what_it_does(
    command: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    title = " ".join(["## hivesql", *command])
    part = command_line_page().partition(f"{title}\n")[2].partition("\n## ")[0]
    assert part
    for action in parser_of(command, monkeypatch)._actions:
        if action.help == argparse.SUPPRESS:
            continue
        for option in action.option_strings or [str(action.metavar or action.dest)]:
            assert re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", part), option
        assert action.help, action


def test_the_page_of_python_has_each_public_name_with_what_it_is() -> None:
    page = python_page()
    kinds = {kind.__name__ for kind in error_classes()}
    for name in set(hivesql.__all__) - kinds:
        value = getattr(hivesql, name)
        heading = f"### {'' if inspect.isclass(value) else 'hivesql.'}{name}\n"
        assert page.count(heading) == 1, name
        assert inspect.getdoc(value), name
    # Members that a class of ours has for programs: each is there, and says what it is for.
    for kind in (hivesql.Session, hivesql.Result, hivesql.Progress):
        for member, code in vars(kind).items():
            qualified = f"{kind.__name__}.{member}"
            is_code = isinstance(code, (property, classmethod)) or inspect.isfunction(code)
            if member.startswith("_") or not is_code or qualified in INTERNAL:
                continue
            assert inspect.getdoc(code), qualified
            assert page.count(f"#### {qualified}\n") == 1, qualified
    entries = re.split(r"\n(?=###+ )", page)[1:]
    assert [entry for entry in entries if len(entry.strip().splitlines()) < 2] == []


@pytest.mark.parametrize("picture", PICTURES, ids=lambda path: path.name)
def test_pictures_of_the_shell_are_small_and_load_nothing(picture: Path) -> None:
    text = picture.read_text(encoding="utf-8")
    assert len(text.encode()) < 150_000
    assert re.findall(r"url\(.?https?:|href=.?https?:", text) == []
    assert f"({picture.name})" in (GUIDES / "shell.md").read_text(encoding="utf-8")
