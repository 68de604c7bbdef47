"""Tokens of Hive's language with exact places; comments and white space are passed over."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from hivesql_planner.errors import ParseError

TokenKind = Literal["word", "name", "string", "number", "symbol"]

_TOKEN = re.compile(
    r"""
    (?P<space>\s+|--[^\n]*|/\*(?:.|\n)*?\*/)
  | (?P<string>'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*")
  | (?P<name>`(?:[^`]|``)+`)
  | (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?:BD|[LSYDF](?![A-Za-z0-9_]))?(?![A-Za-z_]))
  | (?P<word>[A-Za-z_0-9$\u0080-\uffff]+)
  | (?P<symbol><=>|<>|!=|<=|>=|==|\|\||->|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "b": "\b", "Z": "\x1a"}


@dataclass(frozen=True, slots=True)
class Token:
    """A token and its place: ``text[start:end]``."""

    kind: TokenKind
    text: str
    start: int
    end: int

    @property
    def upper(self) -> str:
        """The text of a bare word in upper case; '' for anything that is not a bare word."""
        return self.text.upper() if self.kind == "word" else ""


def tokenize(text: str) -> list[Token]:
    """All tokens; ParseError for a quote or comment that does not end."""
    tokens: list[Token] = []
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup
        if kind == "space":
            continue
        if kind == "symbol" and match[0] in "'\"`":
            raise place_error(ParseError("this quote is never closed"), text, match.start())
        if kind == "symbol" and text.startswith("/*", match.start()):
            raise place_error(ParseError("this comment is never closed"), text, match.start())
        tokens.append(Token(kind, match[0], match.start(), match.end()))  # type: ignore[arg-type]
    return tokens


def place_error(error: ParseError, text: str, offset: int) -> ParseError:
    """Note where in ``text`` an error lies (the script adds where the text lies)."""
    line, column = line_and_column(text, offset)
    error.at(None, line, column)
    return error


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    """1-based line and column of an offset."""
    before = text[:offset]
    return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1


def unquote(token_text: str) -> str:
    """The value of a string literal, Hive's escapes resolved."""
    quote, body = token_text[0], token_text[1:-1].replace(token_text[0] * 2, token_text[0])
    out, at = [], 0
    while at < len(body):
        char = body[at]
        if char != "\\" or at + 1 >= len(body):
            out.append(char)
            at += 1
            continue
        following = body[at + 1]
        digits = body[at + 1 : at + 4]
        unicode = body[at + 2 : at + 6]
        if following == "u" and re.fullmatch("[0-9a-fA-F]{4}", unicode):
            out.append(chr(int(unicode, 16)))
            at += 6
        elif re.fullmatch("[01][0-7]{2}", digits):
            out.append(chr(int(digits, 8)))
            at += 4
        else:
            # LIKE patterns keep these two escaped.
            out.append(
                f"\\{following}" if following in "%_" else _ESCAPES.get(following, following)
            )
            at += 2
    assert quote in "'\""
    return "".join(out)
