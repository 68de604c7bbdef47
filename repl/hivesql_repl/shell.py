"""The interactive loop: read a statement, run it, print, again."""

from __future__ import annotations

from pathlib import Path

import platformdirs
from prompt_toolkit import PromptSession
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.history import FileHistory
from prompt_toolkit.lexers import PygmentsLexer
from pygments.lexers.sql import SqlLexer

from hivesql import HiveSqlError, Session
from hivesql.script import split
from hivesql_repl.cli import run_one
from hivesql_repl.render import Printer


def run_shell(session: Session, printer: Printer) -> int:
    """Talk until Ctrl-D or quit; statements end with ``;`` and may span lines."""
    home = Path(platformdirs.user_state_dir("hivesql", ensure_exists=True))
    prompt: PromptSession[str] = PromptSession(
        history=FileHistory(str(home / "history")),
        auto_suggest=AutoSuggestFromHistory(),
        lexer=PygmentsLexer(SqlLexer),
    )
    printer.tell("hivesql: statements end with ';', Ctrl-D leaves")
    pending: list[str] = []
    while True:
        try:
            ask = "      -> " if pending else f"{session.database}> "
            line = prompt.prompt(ask)
        except KeyboardInterrupt:
            pending.clear()
            continue
        except EOFError:
            return 0
        if not pending and line.strip().rstrip(";").lower() in ("quit", "exit", "!quit"):
            return 0
        pending.append(line)
        if line.rstrip().endswith(";"):
            _run(session, printer, "\n".join(pending))
            pending.clear()


def _run(session: Session, printer: Printer, text: str) -> None:
    try:
        for statement in split(text, None, session.variables):
            if not run_one(session, printer, statement, text):
                return
    except HiveSqlError as error:
        printer.fail(error, text)
    except KeyboardInterrupt:
        printer.tell("interrupted: the running statement was rolled back")
