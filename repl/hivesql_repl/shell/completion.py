"""Completion for the prompt, in a thread of its own so that typing never waits."""

from __future__ import annotations

from collections.abc import Iterable

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from hivesql import Session
from hivesql_repl.output.formats import FORMATS
from hivesql_repl.shell.suggestions import suggest


class SqlCompleter(Completer):
    """Names of the catalog and words of Hive; after ``!`` the shell's commands."""

    def __init__(self, session: Session, commands: Iterable[str]) -> None:
        self.session = session
        self.commands = sorted(commands)

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterable[Completion]:
        """Completions of the word before the cursor."""
        before = document.text_before_cursor
        if before.startswith("!"):
            yield from self._of_command(before)
            return
        session = self.session
        for suggestion in suggest(
            document.text,
            document.cursor_position,
            session.runtime.metastore,
            database=session.database,
        ):
            yield Completion(
                suggestion.text,
                -suggestion.length,
                display_meta=f"{suggestion.kind} {suggestion.about}".strip(),
            )

    def _of_command(self, before: str) -> Iterable[Completion]:
        name, space, argument = before[1:].partition(" ")
        commands = [] if space and name != "outputformat" else self.commands
        words, prefix = (sorted(FORMATS), argument) if space else (commands, name)
        if space and name != "outputformat":
            return
        yield from (Completion(word, -len(prefix)) for word in words if word.startswith(prefix))
