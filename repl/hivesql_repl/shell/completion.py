"""Completion for the prompt, in a thread of its own so that typing never waits."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter
from prompt_toolkit.document import Document

from hivesql import Session
from hivesql_repl.output.formats import FORMATS
from hivesql_repl.shell.aliases import ALIASES, command_of
from hivesql_repl.shell.suggestions import suggest

_SOURCE = re.compile(r"(?:.*;)?\s*source\s+(\S*)\Z", re.IGNORECASE | re.DOTALL)
_OF_FILES = frozenset(("run", "script", "record", "output", "once"))
_OF_TABLES = frozenset(("describe", "formatted", "desc", "columns", "ddl", "tables", "views"))


class SqlCompleter(Completer):
    """Names of the catalog and words of Hive; commands of the shell, and what they take."""

    def __init__(self, session: Session, commands: Iterable[str]) -> None:
        self.session = session
        self.commands = sorted(commands)
        self._files = PathCompleter(expanduser=True)

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterable[Completion]:
        """Completions of the word before the cursor."""
        before = document.text_before_cursor
        if before[:1] in ("!", "\\", "."):
            yield from self._of_command(before, complete_event)
        elif source := _SOURCE.match(before):
            yield from self._files.get_completions(Document(source[1]), complete_event)
        else:
            yield from self._of_statement(document.text, document.cursor_position)

    def _of_statement(self, text: str, cursor: int) -> Iterator[Completion]:
        session = self.session
        names = session.runtime.metastore
        for suggestion in suggest(text, cursor, names, database=session.database):
            yield Completion(
                suggestion.text,
                -suggestion.length,
                display_meta=f"{suggestion.kind} {suggestion.about}".strip(),
            )

    def _of_command(self, before: str, event: CompleteEvent) -> Iterator[Completion]:
        name, space, argument = before[1:].partition(" ")
        if not space:
            others = () if before[0] == "!" else ALIASES
            for word in sorted({*self.commands, *others}):
                if word.startswith(name):
                    yield Completion(word, -len(name))
            return
        meant = (command_of(f"{before[0]}{name} x") or "").partition(" ")[0]
        if meant == "outputformat":
            for word in sorted(FORMATS):
                if word.startswith(argument):
                    yield Completion(word, -len(argument))
        elif meant in _OF_FILES:
            yield from self._files.get_completions(Document(argument), event)
        elif meant == "use" or meant in _OF_TABLES:
            text = f"USE {argument}" if meant == "use" else f"SELECT * FROM {argument}"
            yield from self._of_statement(text, len(text))
