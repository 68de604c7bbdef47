"""Commands as other shells call them, and which of ours they mean."""

from __future__ import annotations

import re

# psql, pgcli and mycli begin them with a backslash, duckdb, sqlite and litecli with a dot.
_MEANINGS = {
    "?": "help", "h": "help", "d": "describe", "d+": "formatted", "dt": "tables", "dt+": "tables",
    "l": "databases", "l+": "databases", "list": "databases", "dn": "databases",
    "dn+": "databases", "dv": "views", "dv+": "views", "dm": "materialized", "df": "functions",
    "df+": "functions", "di": "indexes", "du": "roles", "dg": "roles", "c": "use",
    "connect": "use", "u": "use", "schema": "ddl", "sv": "ddl", "x": "expanded", "i": "run",
    "ir": "run", "read": "run", "source": "run", "o": "output",
    "tee": "record", "notee": "record", "mode": "outputformat",
    "T": "outputformat", "timer": "timing", "headers": "header", "t": "header",
    "nullvalue": "null", "separator": "delimiter", "qecho": "echo", "print": "echo",
    "conninfo": "status", "show": "status", "n": "saved", "ns": "save", "nd": "forget",
    "f": "saved", "fs": "save", "fd": "forget", "refresh": "rehash", "#": "rehash", "e": "edit",
    "s": "history", "!": "sh", "shell": "sh", "system": "sh", "nopager": "pager off",
    "copy": "import", "dump": "export",
}  # fmt: skip
ALIASES = tuple(_MEANINGS)
_FORMATS = {
    "aligned": "table", "ascii": "table", "box": "table", "column": "table", "csv": "csv2",
    "duckbox": "table",
    "expanded": "vertical", "fancy_grid": "table", "grid": "table", "jsonlines": "jsonfile",
    "line": "vertical", "lines": "vertical", "list": "dsv", "psql": "table", "tabs": "tsv2",
    "tsv": "tsv2", "unaligned": "dsv",
}  # fmt: skip
# psql sets all that by one command.
_PSET = {
    "expanded": "expanded", "fieldsep": "delimiter", "format": "outputformat",
    "null": "null", "pager": "pager", "tuples_only": "header", "x": "expanded",
}  # fmt: skip
_SWITCHED = {"on": "off", "off": "on"}
_BARE = {
    "help": "help", "?": "help", "quit": "quit", "exit": "quit", "history": "history",
    "status": "status", "nopager": "pager off", "clear": "sh clear",
}  # fmt: skip

_WATCHED = re.compile(
    r"((?:show|describe|desc)\b.*?)\s--watch(?:[\s=]+([\d.]+))?\s*;?", re.IGNORECASE
)
# psql's, which is no comment of SQL and so may stand behind any query.
_PSQL_WATCHED = re.compile(
    r"((?:show|describe|desc|select|with)\b.*?)[\s;]*\\watch(?:\s+([\d.]+))?\s*;?",
    re.IGNORECASE | re.DOTALL,
)


def command_of(typed: str) -> str | None:
    r"""Tell what was typed as one of our commands without its ``!``; None for a statement.

    Ours begin with ``!``. Those with ``\`` or ``.`` have our names or those of other shells.
    ``SHOW LOCKS --watch 2`` is one too: SQL would take its end for a comment.
    """
    line = typed.strip()
    if watched := _WATCHED.fullmatch(line) or _PSQL_WATCHED.fullmatch(line):
        return f"watch {watched[2]} {watched[1]}" if watched[2] else f"watch {watched[1]}"
    if bare := _BARE.get(line.rstrip(";").strip().lower()):
        return bare
    if line[:1] not in ("!", "\\", "."):
        return None
    name, _, argument = line[1:].strip().partition(" ")
    argument = argument.strip().rstrip(";").rstrip()
    if line[0] != "!":
        name, argument = _translated(name.rstrip(";"), argument)
    return f"{name} {argument}".rstrip()


def _translated(name: str, argument: str) -> tuple[str, str]:
    if name.startswith("!"):
        name, argument = "!", f"{name[1:]} {argument}".strip()
    if name.lower() == "pset":
        option, _, argument = argument.partition(" ")
        meaning = _PSET.get(option.lower(), f"pset {option}".rstrip())
        argument = argument.strip().strip("'")
        is_reversed = option.lower() == "tuples_only"
    else:
        meaning = _MEANINGS.get(name) or _MEANINGS.get(name.lower(), name)
        is_reversed = name == "t"
    if is_reversed:
        argument = _SWITCHED.get(argument.lower(), argument)
    if meaning == "outputformat":
        argument = _FORMATS.get(argument.lower(), argument)
    if meaning in ("describe", "formatted") and not argument:
        meaning = "tables"
    return meaning, argument
