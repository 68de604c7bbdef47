"""The first words of other shells' commands, and which of ours they mean."""

from __future__ import annotations

import re

# psql and mycli begin them with a backslash, duckdb and sqlite with a dot.
_MEANINGS = {
    "?": "help", "h": "help", "d": "describe", "dt": "tables", "l": "databases", "i": "run",
    "read": "run", "o": "record", "output": "record", "mode": "outputformat", "f": "outputformat",
    "timer": "timing", "e": "edit", "s": "history", "!": "sh", "shell": "sh", "system": "sh",
}  # fmt: skip
_BARE = {"help": "help", "?": "help", "quit": "quit", "exit": "quit", "history": "history"}

_WATCHED = re.compile(
    r"((?:show|describe|desc)\b.*?)\s--watch(?:[\s=]+([\d.]+))?\s*;?", re.IGNORECASE
)


def command_of(typed: str) -> str | None:
    r"""Tell what was typed as one of our commands without its ``!``; None for a statement.

    Ours begin with ``!``. Those with ``\`` or ``.`` have our names or those of other shells.
    ``SHOW LOCKS --watch 2`` is one too: SQL would take its end for a comment.
    """
    line = typed.strip()
    if watched := _WATCHED.fullmatch(line):
        return f"watch {watched[2]} {watched[1]}" if watched[2] else f"watch {watched[1]}"
    if bare := _BARE.get(line.rstrip(";").strip().lower()):
        return bare
    if line[:1] not in ("!", "\\", "."):
        return None
    name, _, argument = line[1:].strip().partition(" ")
    argument = argument.strip().rstrip(";").rstrip()
    if line[0] != "!":
        if name.startswith("!"):
            name, argument = "!", f"{name[1:]} {argument}".strip()
        name = _MEANINGS.get(name.lower(), name)
        if name == "describe" and not argument:
            name = "tables"
    return f"{name} {argument}".rstrip()
