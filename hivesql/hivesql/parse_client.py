"""What Hive's command processors take: words with blanks between them, no SQL."""

from __future__ import annotations

import shlex
from typing import Literal, cast

from hivesql.parser.tokens import at
from hivesql.script import StatementText
from hivesql.syntax.commands import ClientBody
from hivesql_planner.errors import ParseError
from hivesql_planner.statements.bound import FileSystemShell, SessionFiles

KINDS: dict[str, Literal["jar", "file", "archive"]] = {
    "jar": "jar", "jars": "jar", "file": "file", "files": "file",
    "archive": "archive", "archives": "archive",
}  # fmt: skip


def parse_files(text: StatementText) -> ClientBody:
    """ADD, LIST and DELETE of JARs, files and archives."""
    action, kind, *paths = text.text.split()
    if action.lower() == "add" and not paths:
        raise at(ParseError(f"expected a path after {action.upper()} {kind.upper()}"), text, 0)
    done = cast(Literal["add", "list", "delete"], action.lower())
    return ClientBody(SessionFiles(action=done, kind=KINDS[kind.lower()], paths=tuple(paths)))


def parse_dfs(text: StatementText) -> ClientBody:
    """DFS: quotes hold blanks together, as in a shell."""
    try:
        words = shlex.split(text.text)[1:]
    except ValueError as error:
        raise at(ParseError(f"DFS: {str(error).lower()}"), text, 0, len(text.text)) from error
    if not words:
        raise at(ParseError("expected a command after DFS, such as -ls"), text, 0)
    return ClientBody(FileSystemShell(words=tuple(words)))
