"""The interactive loop: read statements, run them, print, again."""

from __future__ import annotations

import atexit
import os
import platform
import re
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import platformdirs
from prompt_toolkit import PromptSession
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.completion import FuzzyCompleter, ThreadedCompleter
from prompt_toolkit.document import Document
from prompt_toolkit.enums import EditingMode
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import HTML, AnyFormattedText, StyleAndTextTuples
from prompt_toolkit.history import FileHistory, ThreadedHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.key_binding.vi_state import InputMode
from prompt_toolkit.lexers import Lexer, PygmentsLexer, SimpleLexer
from prompt_toolkit.patch_stdout import patch_stdout
from prompt_toolkit.styles import BaseStyle, style_from_pygments_cls
from pygments.lexers.sql import SqlLexer

from hivesql import HiveSqlError, Session
from hivesql.script import is_complete
from hivesql.sessions.open_transaction import take_apart
from hivesql_planner.settings.file_system_keys import sets_secret
from hivesql_repl.configuration import ShellLook
from hivesql_repl.shell.aliases import command_of
from hivesql_repl.shell.commands import Quit
from hivesql_repl.shell.completion import SqlCompleter
from hivesql_repl.shell.running import Interrupted, Runner
from hivesql_repl.shell.servers import tells_password

_ENDS = re.compile(r"\\(g|G|gx)\Z")
"""psql's and mysql's ends of a statement: ``\\g`` is ``;``, the others ask for a value a line."""
MOST_COLOURED = 20_000
"""Characters; of longer texts colours would take a tenth of a second and more for each key."""


def run_shell(runner: Runner, look: ShellLook, *, show_database: bool = True) -> int:
    r"""Talk until Ctrl-D or !quit; the exit code.

    Enter ends the input when it ends with ``;``, ``\g`` or ``\G``, is a ``!`` command, or is
    empty; else it opens a new line. Ctrl-C clears the input or stops the running statement.
    """
    home = _home(runner)
    prompt = _prompt(runner, home, look.style)
    runner.commands.shell = False
    runner.commands.history = lambda: list(prompt.history.get_strings())
    runner.printer.tell(
        "Statements end with ;  Tab completes, Ctrl-R searches, !help, Ctrl-D leaves"
    )
    _quieten_java(home)
    _warm_up(runner.session)
    while True:
        try:
            with patch_stdout(raw=True):
                text = prompt.prompt(lambda: _ask(runner.session, look.prompt, show_database))
            _run(runner, text)
        except KeyboardInterrupt:
            pass
        except (EOFError, Quit):
            return 0
        if runner.ended_by:
            return 128 + runner.ended_by


def _home(runner: Runner) -> Path:
    """Return where history, statements and Spark's log are kept; for now, where none can be."""
    try:
        home = Path(platformdirs.user_state_dir("hivesql", ensure_exists=True))
        if os.access(home, os.W_OK):
            return home
        why = f"{home} cannot be written"
    except OSError as error:
        why = f"{error.filename}: {error.strerror}"
    runner.printer.tell(
        f"What is typed is forgotten at the end ({why}): XDG_STATE_HOME names another directory"
    )
    home = Path(tempfile.mkdtemp(prefix="hivesql-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    return home


def _prompt(runner: Runner, home: Path, style: str | None) -> PromptSession[str]:
    completer = SqlCompleter(runner.session, runner.commands.known)
    return PromptSession(
        history=SecretiveHistory(FileHistory(str(home / "history"))),
        auto_suggest=AutoSuggestFromHistory(),
        completer=ThreadedCompleter(FuzzyCompleter(completer)),
        complete_while_typing=True,
        enable_history_search=False,
        lexer=ShortTexts(),
        multiline=True,
        prompt_continuation=lambda width, number, wrapped: f"{'->':>{max(width - 1, 2)}} ",
        key_bindings=_keys(),
        enable_open_in_editor=True,
        vi_mode=wants_vi(),
        style=_style(style),
    )


def _style(name: str | None) -> BaseStyle | None:
    if name is None:
        return None
    # Imported late: few have a style of their own.
    from pygments.styles import get_all_styles, get_style_by_name
    from pygments.util import ClassNotFound

    try:
        return style_from_pygments_cls(get_style_by_name(name))
    except ClassNotFound:
        known = ", ".join(sorted(get_all_styles()))
        raise ValueError(f"style of [shell]: there is no {name!r} (known: {known})") from None


class SecretiveHistory(ThreadedHistory):
    """Forgets what sets a secret at once, in memory and in its file."""

    def append_string(self, string: str) -> None:
        """Remember what was typed, unless a secret is in it."""
        if not sets_secret(string.split(";")) and not tells_password(command_of(string) or "-"):
            super().append_string(string)


class ShortTexts(Lexer):
    """Colours what is typed, but not where it is long."""

    def __init__(self) -> None:
        self._coloured = PygmentsLexer(SqlLexer)
        self._plain = SimpleLexer()

    def lex_document(self, document: Document) -> Callable[[int], StyleAndTextTuples]:
        """Return the text of a line, by its number."""
        lexer = self._coloured if len(document.text) <= MOST_COLOURED else self._plain
        return lexer.lex_document(document)


def _keys() -> KeyBindings:
    keys = KeyBindings()

    @Condition
    def is_finished() -> bool:
        from prompt_toolkit.application import get_app

        return ends(get_app().current_buffer.text)

    @keys.add("enter", filter=is_finished)
    def accept(event: KeyPressEvent) -> Any:
        event.current_buffer.validate_and_handle()

    @keys.add("f4")
    def change_mode(event: KeyPressEvent) -> Any:
        app = event.app
        is_vi = app.editing_mode == EditingMode.VI
        app.editing_mode = EditingMode.EMACS if is_vi else EditingMode.VI
        # A search before has left vi's keys where they move, and do not type.
        app.vi_state.input_mode = InputMode.INSERT

    return keys


def wants_vi() -> bool:
    """Tell whether the user's other shells have vi's keys, by readline's own file."""
    place = Path(os.environ.get("INPUTRC") or "~/.inputrc").expanduser()
    try:
        text = place.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    modes = re.findall(r"^\s*set\s+editing-mode\s+(\w+)", text, re.MULTILINE)
    return modes[-1:] == ["vi"]


def ends(text: str) -> bool:
    """Tell whether Enter runs what was typed so far."""
    typed = text.strip()
    if not typed or command_of(typed) is not None:
        return True
    return _ENDS.search(typed) is not None or is_complete(typed)


def _ask(session: Session, prompt: str | None, show_database: bool) -> AnyFormattedText:
    # A star, as in psql: what is done now waits for COMMIT.
    star = "*" if session.open_transaction is not None else ""
    if prompt is None:
        name = session.database if show_database else "hivesql"
        return HTML("<ansigreen>{}</ansigreen>{}> ").format(name, star)
    text = prompt.format(
        database=session.database,
        user=session.runtime.user,
        host=platform.node(),
        star=star,
        time=time.strftime("%H:%M:%S"),
    )
    return [("ansigreen", text)]


def _quieten_java(home: Path) -> None:
    """Send what Java writes to standard error to a file: it would tear the prompt apart."""
    screen = os.dup(sys.stderr.fileno())
    with (home / "spark.log").open("ab") as log:
        os.dup2(log.fileno(), 2)
    sys.stderr = os.fdopen(screen, "w", buffering=1)


def _warm_up(session: Session) -> None:
    """Start Spark while the user types; whoever needs it first waits for the rest."""

    def start() -> None:
        # What the first statement imports; the JVM takes all processors for some seconds.
        import hivesql.binder.statement
        import hivesql.dialect.statements.statement  # noqa: F401

        with suppress(HiveSqlError):  # The user has left.
            session.start_spark(wait=False)

    threading.Thread(target=start, name="warm-up", daemon=True).start()


def _run(runner: Runner, text: str) -> None:
    typed = text.strip()
    try:
        if (command := command_of(typed)) is not None:
            runner.commands.run(command)
        elif end := _ENDS.search(typed):
            with runner.printer.formatted(runner.printer.format if end[1] == "g" else "vertical"):
                _run_all(runner, typed[: end.start()])
        else:
            _run_all(runner, text)
    except HiveSqlError as error:
        runner.printer.fail(error, text)
    except Interrupted:
        return
    except KeyboardInterrupt:
        print(file=sys.stderr)


def _run_all(runner: Runner, text: str) -> None:
    for statement in take_apart(runner.session, text, None):
        if not runner.run(statement, text):
            return
