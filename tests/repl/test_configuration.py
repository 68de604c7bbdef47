"""The user's file: what the shell looks like."""

from __future__ import annotations

from pathlib import Path

import pytest

from hivesql_repl.configuration import ShellLook, read_look, read_profile

WRONG = {
    "another key": ("[shell]\ncolour = 'red'", "has the keys prompt and style"),
    "no text": ("[shell]\nprompt = 1", "prompt of .shell. must be a text"),
    "another name": ("[shell]\nprompt = '{warehouse}> '", "a prompt may tell {database}"),
    "an open brace": ("[shell]\nprompt = '{> '", "a prompt may tell {database}"),
    "no table": ("shell = 'bash'", "has the keys prompt and style"),
}


def test_shell_and_profiles_are_read_from_one_file(tmp_path: Path) -> None:
    place = tmp_path / "config.toml"
    place.write_text(
        "profile = 'a'\n[shell]\nprompt = '{user}@{database}{star}> '\nstyle = 'monokai'\n"
        "[profiles.a]\ndatabase = 'd'\n"
    )
    assert read_look(place) == ShellLook(prompt="{user}@{database}{star}> ", style="monokai")
    assert read_profile(place).database == "d"
    place.write_text("profile = 'a'\n[profiles.a]\n")
    assert read_look(place) == ShellLook()


@pytest.mark.parametrize(("text", "message"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_told(tmp_path: Path, text: str, message: str) -> None:
    place = tmp_path / "config.toml"
    place.write_text(text)
    with pytest.raises(ValueError, match=message):
        read_look(place)
