"""Values for the ``?`` of statements: literals where these stand, but not in texts or comments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from hivesql.dbapi_literals import literal
from hivesql.script import StatementText
from hivesql_planner.errors import SemanticError

# What may hold a question mark that is none of ours.
_PART = re.compile(
    r"--[^\r\n]*|/\*.*?\*/|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`(?:[^`]|``)*`|(?P<mark>\?)",
    re.DOTALL,
)


def has_marks(text: str) -> bool:
    """Tell whether a question mark in it stands for a value."""
    return any(match["mark"] is not None for match in _PART.finditer(text))


class Positional:
    """Values that the statements of a text take one after the other."""

    def __init__(self, text: str, values: Sequence[Any]) -> None:
        if isinstance(values, (str, bytes)) or not isinstance(values, Sequence):
            raise SemanticError(
                f"parameters are a list or tuple of values, not {type(values).__name__}"
            )
        marks = sum(match["mark"] is not None for match in _PART.finditer(text))
        # Before any statement has run.
        if marks != len(values):
            raise SemanticError(f"{len(values)} parameters for {marks} question marks")
        self._values = values
        self._used = 0

    def put_into(self, statement: StatementText) -> StatementText:
        """Put literals into the statement; errors keep the places of the text that was written."""
        texts: list[str] = []
        origins: list[int] = []
        written = statement.origins or range(len(statement.text))
        for part, start in self._parts(statement):
            texts.append(part)
            is_verbatim = statement.text.startswith(part, start)
            origins += (
                written[start : start + len(part)] if is_verbatim else [written[start]] * len(part)
            )
        source = statement.text if statement.source is None else statement.source
        return replace(statement, text="".join(texts), source=source, origins=tuple(origins))

    def _parts(self, statement: StatementText) -> Iterator[tuple[str, int]]:
        """Pieces of the statement, with literals instead of the marks, and where they start."""
        text, reached = statement.text, 0
        for match in _PART.finditer(text):
            if match["mark"] is None:
                continue
            if reached < match.start():
                yield text[reached : match.start()], reached
            yield self._next(statement, match.start()), match.start()
            reached = match.end()
        if reached < len(text):
            yield text[reached:], reached

    def _next(self, statement: StatementText, offset: int) -> str:
        if self._used >= len(self._values):
            error = SemanticError("a variable or a file has one more ? than there are parameters")
            raise error.at(statement.file, *statement.place(offset))
        self._used += 1
        try:
            return literal(self._values[self._used - 1])
        except TypeError as wrong:
            error = SemanticError(f"parameter {self._used}: {wrong}")
            raise error.at(statement.file, *statement.place(offset)) from None
