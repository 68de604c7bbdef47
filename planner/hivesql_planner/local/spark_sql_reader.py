"""A strict reader of a small part of Spark SQL.

Its trees are plain tuples of what was written. ``Unclear`` means nothing bad: only that the text
holds more than is understood here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

Found = TypeVar("Found")

_TOKEN = re.compile(
    r"""\s+
    |(?P<number>\d+\.\d*(?:[eE][+-]?\d+)?(?:[dD]|[bB][dD])?|\d+[eE][+-]?\d+[dD]?|\d+(?:[bB][dD]|[lLsSyYdD])?)
    |(?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
    |(?P<quoted>`[^`]+`)
    |(?P<word>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<sign><=>|<>|!=|<=|>=|==|[-+*(),.=<>])
    """,
    re.VERBOSE | re.DOTALL,
)
_BLANKS = " \t\r\n"
_ESCAPES = {"\\": "\\", "'": "'", '"': '"', "n": "\n", "t": "\t", "r": "\r"}
_OPERATORS = {"=": "=", "==": "=", "<>": "<>", "!=": "<>", "<": "<", "<=": "<=",
              ">": ">", ">=": ">="}  # fmt: skip


class Unclear(Exception):
    """The text says something that is not understood here."""


@dataclass(frozen=True, slots=True)
class Literal:
    """A literal: its kind (null, boolean, int, decimal, double, text, date, timestamp), its text.

    The text of a number has its sign, and no suffix.
    """

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Name:
    """A column's name, in lower case and in its parts."""

    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Operation:
    """``kind`` over operands: a comparison's sign, and, or, not, is null, in, unless false."""

    kind: str
    operands: tuple[Node, ...]


Node = Literal | Name | Operation


class Reader:
    """Reads one text from left to right."""

    def __init__(self, text: str) -> None:
        self._tokens = _tokens(text)
        self._at = 0

    def rows(self) -> tuple[tuple[Node, ...], ...]:
        """``VALUES (…), (…)``."""
        self._take("values")
        return self._listed(self._row)

    def query(self) -> tuple[tuple[Node, ...], ...]:
        """VALUES, or a SELECT list without FROM or over nothing but VALUES: the rows it gives."""
        return self._whole(self._query)

    def _query(self) -> tuple[tuple[Node, ...], ...]:
        if not self._word("select"):
            return self.rows()
        self._at += 1
        if self._word("*"):
            self._at += 1
            self._take("from")
            rows = self.rows()
            self._named()
            return rows
        chosen = self._listed(self._item)
        if not self._word("from"):
            return (chosen,)
        self._at += 1
        self._take("(")
        rows = self._query()
        self._take(")")
        names = self._named()
        return tuple(_chosen(chosen, dict(zip(names, row, strict=True))) for row in rows)

    def _named(self) -> tuple[str, ...]:
        """``AS name(column, …)``: the columns."""
        self._take("as")
        self._name()
        self._take("(")
        names = self._listed(self._name)
        self._take(")")
        return names

    def expression(self) -> Node:
        """Read one expression, to the end of the text."""
        return self._whole(self._or)

    def value(self) -> Node:
        """Return an expression, or one sum, difference or product of two."""
        return self._whole(self._computed)

    def _computed(self) -> Node:
        left = self._or()
        _, sign = self._peek()
        if sign not in ("+", "-", "*"):
            return left
        self._at += 1
        return Operation(sign, (left, self._operand()))

    def _whole(self, read: Callable[[], Found]) -> Found:
        found = read()
        self._end()
        return found

    def _item(self) -> Node:
        found = self._or()
        if self._word("as"):
            self._at += 1
            self._name()
        return found

    def _row(self) -> tuple[Node, ...]:
        self._take("(")
        row = self._listed(self._operand)
        self._take(")")
        return row

    def _listed(self, read: Callable[[], Found]) -> tuple[Found, ...]:
        found = [read()]
        while self._word(","):
            self._at += 1
            found.append(read())
        return tuple(found)

    def _or(self) -> Node:
        return self._joined("or", lambda: self._joined("and", self._not))

    def _joined(self, word: str, read: Callable[[], Node]) -> Node:
        parts = [read()]
        while self._word(word):
            self._at += 1
            parts.append(read())
        return parts[0] if len(parts) == 1 else Operation(word, tuple(parts))

    def _not(self) -> Node:
        if self._word("not"):
            self._at += 1
            return Operation("not", (self._not(),))
        return self._compared()

    def _compared(self) -> Node:
        left = self._operand()
        _, text = self._peek()
        if text in _OPERATORS:
            self._at += 1
            return Operation(_OPERATORS[text], (left, self._operand()))
        if text == "is":
            self._at += 1
            opposite = self._opposite()
            self._take("null")
            return _unless(Operation("is null", (left,)), opposite)
        opposite = self._opposite()
        if self._word("in"):
            self._at += 1
            self._take("(")
            items = self._listed(self._operand)
            self._take(")")
            return _unless(Operation("in", (left, *items)), opposite)
        if self._word("between"):
            self._at += 1
            low = self._operand()
            self._take("and")
            both = (Operation(">=", (left, low)), Operation("<=", (left, self._operand())))
            return _unless(Operation("and", both), opposite)
        if opposite:
            raise Unclear
        return left

    def _opposite(self) -> bool:
        found = self._word("not")
        self._at += found
        return found

    def _operand(self) -> Node:
        kind, text = self._next()
        if kind == "number":
            return _number(text, "")
        if kind == "text":
            return Literal("text", _unescaped(text))
        if text == "-":
            kind, text = self._next()
            if kind != "number":
                raise Unclear
            return _number(text, "-")
        if text == "(":
            inner = self._or()
            self._take(")")
            return inner
        if kind == "word" and text in ("null", "true", "false"):
            return Literal("null" if text == "null" else "boolean", text)
        after = self._peek()
        if kind == "word" and text in ("date", "timestamp") and after[0] == "text":
            self._at += 1
            return Literal(text, _unescaped(after[1]))
        if text == "coalesce" and after[1] == "(":
            return self._unless_false()
        if kind not in ("word", "quoted") or after[1] == "(" or after[0] == "text":
            raise Unclear
        self._at -= 1
        return self._path()

    def _unless_false(self) -> Node:
        self._take("(")
        inner = self._or()
        for text in (",", "true", ")"):
            self._take(text)
        return Operation("unless false", (inner,))

    def _path(self) -> Name:
        parts = [self._name()]
        while self._word("."):
            self._at += 1
            parts.append(self._name())
        return Name(tuple(parts))

    def _name(self) -> str:
        kind, text = self._next()
        if kind not in ("word", "quoted"):
            raise Unclear
        return text.strip("`").lower()

    def _peek(self, ahead: int = 0) -> tuple[str, str]:
        at = self._at + ahead
        return self._tokens[at] if at < len(self._tokens) else ("", "")

    def _next(self) -> tuple[str, str]:
        found = self._peek()
        self._at += 1
        return found

    def _word(self, text: str) -> bool:
        kind, found = self._peek()
        return found == text and kind in ("word", "sign")

    def _take(self, text: str) -> None:
        if not self._word(text):
            raise Unclear
        self._at += 1

    def _end(self) -> None:
        if self._at != len(self._tokens):
            raise Unclear


def _tokens(text: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    at = 0
    for match in _TOKEN.finditer(text):
        if match.start() != at:
            raise Unclear
        # ``1a`` is no number beside a name.
        joined = bool(found) and found[-1][0] == "number" and text[at - 1] not in _BLANKS
        if joined and match.lastgroup in ("word", "number"):
            raise Unclear
        at = match.end()
        if match.lastgroup:
            token = match[0]
            found.append((match.lastgroup, token.lower() if match.lastgroup == "word" else token))
    if at != len(text):
        raise Unclear
    return found


def _chosen(items: tuple[Node, ...], row: dict[str, Node]) -> tuple[Node, ...]:
    return tuple(_of_row(item, row) for item in items)


def _of_row(item: Node, row: dict[str, Node]) -> Node:
    if isinstance(item, Name):
        if len(item.parts) > 1 or item.parts[0] not in row:
            raise Unclear
        return row[item.parts[0]]
    return item


def _unless(node: Operation, opposite: bool) -> Node:
    return Operation("not", (node,)) if opposite else node


def _number(text: str, sign: str) -> Literal:
    lower = text.lower()
    digits = lower.rstrip("lsybd")
    suffix = lower[len(digits) :]
    if suffix == "bd" or (not suffix and "." in digits and "e" not in digits):
        if "e" in digits:
            raise Unclear
        return Literal("decimal", sign + digits)
    if suffix == "d" or "e" in digits:
        return Literal("double", sign + digits)
    return Literal("int", sign + digits)


def _unescaped(text: str) -> str:
    inside = text[1:-1]
    if "\\" not in inside:
        return inside

    def replaced(match: re.Match[str]) -> str:
        if match[1] not in _ESCAPES:
            raise Unclear
        return _ESCAPES[match[1]]

    return re.sub(r"\\(.)", replaced, inside, flags=re.DOTALL)
