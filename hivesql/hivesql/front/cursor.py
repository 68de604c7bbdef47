"""A place in a statement's tokens, and what may be read from it."""

from __future__ import annotations

from typing import NoReturn

from hivesql.front.lexer import Token, place_error, tokenize, unquote
from hivesql_planner.errors import HiveSqlError, ParseError

_OPEN, _CLOSE = frozenset("([{"), frozenset(")]}")


class Cursor:
    """Reads tokens one after the other; every refusal names the token and its place."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = tokenize(text)
        self.at = 0

    # -- looking
    def peek(self, ahead: int = 0) -> Token | None:
        """A token further on, or None at the end."""
        index = self.at + ahead
        return self.tokens[index] if index < len(self.tokens) else None

    def sees(self, *words: str) -> bool:
        """True when these words (or symbols) come next."""
        for ahead, word in enumerate(words):
            token = self.peek(ahead)
            if token is None or (token.upper or token.text) != word:
                return False
        return True

    @property
    def ended(self) -> bool:
        """True when no token is left."""
        return self.at >= len(self.tokens)

    # -- taking
    def take(self, *words: str) -> bool:
        """Pass over these words if they come next."""
        if not self.sees(*words):
            return False
        self.at += len(words)
        return True

    def expect(self, *words: str) -> None:
        """Pass over these words, or refuse."""
        if not self.take(*words):
            self.refuse(f"expected {' '.join(words)}")

    def name(self, what: str = "a name") -> str:
        """An identifier, lower case."""
        token = self.peek()
        if token is None or token.kind not in ("word", "name"):
            self.refuse(f"expected {what}")
        self.at += 1
        text = token.text[1:-1].replace("``", "`") if token.kind == "name" else token.text
        return text.lower()

    def string(self, what: str = "a string") -> str:
        """A string literal's value."""
        token = self.peek()
        if token is None or token.kind != "string":
            self.refuse(f"expected {what}")
        self.at += 1
        return unquote(token.text)

    def number(self, what: str = "a number") -> int:
        """A whole number."""
        token = self.peek()
        if token is None or token.kind != "number" or not token.text.isdigit():
            self.refuse(f"expected {what}")
        self.at += 1
        return int(token.text)

    def list_of(self) -> bool:
        """True while a list goes on: passes over a comma."""
        return self.take(",")

    def end(self) -> None:
        """Refuse anything that is left."""
        if not self.ended:
            self.refuse("unexpected")

    # -- slices
    def until(self, *stops: str, commas: bool = False) -> str:
        """Text up to a stop word (or comma) outside all brackets, or to the end; not empty.

        CASE … END counts as a bracket, for MERGE's WHEN and THEN.
        """
        first = self.peek()
        depth, begin = 0, self.at
        while (token := self.peek()) is not None:
            word = token.upper or token.text
            if depth == 0 and (word in stops or (commas and word == ",") or word in _CLOSE):
                break
            if word in _OPEN or word == "CASE":
                depth += 1
            elif word in _CLOSE or (word == "END" and depth):
                depth -= 1
            self.at += 1
        if first is None or self.at == begin:
            self.refuse("expected an expression")
        return self.text[first.start : self.tokens[self.at - 1].end]

    def offset(self) -> int:
        """Where in the text the next token begins."""
        token = self.peek()
        return token.start if token else len(self.text)

    def rest(self) -> str:
        """Everything from here on."""
        text = self.text[self.offset() :]
        self.at = len(self.tokens)
        return text

    # -- errors
    def refuse(self, why: str) -> NoReturn:
        """Raise ParseError at the next token."""
        token = self.peek()
        found = f"{why}: {token.text!r}" if why == "unexpected" and token else why
        if token and why != "unexpected":
            found = f"{why}, found {token.text!r}"
        elif token is None:
            found = f"{why}, found the end of the statement"
        raise place_error(ParseError(found), self.text, self.offset())

    def fail(self, error: HiveSqlError, offset: int) -> NoReturn:
        """Raise an error about the token at an offset."""
        from hivesql.front.lexer import line_and_column

        line, column = line_and_column(self.text, offset)
        raise error.at(None, line, column)
