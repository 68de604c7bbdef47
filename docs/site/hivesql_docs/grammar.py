"""The syntax of statements, as the ``ebnf`` fences of the reference have it.

A rule is ``name = what it stands for``, its name at the beginning of a line; further lines are
indented, and are rows of its diagram. Capitals are keywords, other words are rules or terminals.
``[…]`` may be left out, ``{… | …}`` chooses, ``x …`` repeats, ``x, …`` repeats with commas. What
stands in double quotes, and every other sign, is typed as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

FENCE = re.compile(r"^```ebnf\n((?s:.*?))^```$", re.MULTILINE)
_RULE = re.compile(r"^([a-z_]+) = ", re.MULTILINE)
_TOKEN = re.compile(r"[ \t]*(\n|[A-Z][A-Z_]*\b|[a-z_]+\b|\"[^\"]+\"|'[^']*'|…|<=>|<>|[<>!=]=|\S)")


@dataclass(frozen=True, slots=True)
class Typed:
    """What is typed as it stands here, such as a keyword."""

    text: str


@dataclass(frozen=True, slots=True)
class Named:
    """A rule or a terminal."""

    name: str


@dataclass(frozen=True, slots=True)
class Row:
    """One after the other."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Rows:
    """One after the other; each stands in a row of its own."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Chosen:
    """One of these."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Optional:
    """What may be left out."""

    item: Node


@dataclass(frozen=True, slots=True)
class Repeated:
    """What may come again, with a comma or nothing between."""

    item: Node
    comma: bool


Node: TypeAlias = Typed | Named | Row | Rows | Chosen | Optional | Repeated


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule as it is written, and what it stands for."""

    name: str
    text: str
    node: Node


@dataclass(frozen=True, slots=True)
class Terminal:
    """What no rule describes: its characters, an example, and what it is."""

    pattern: str
    example: str
    meaning: str


_WORD = r"(?:`[^`]+`|[A-Za-z_]\w*|\d+[A-Za-z_]\w*)"
_TEXT = r"(?:'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")"
TERMINALS: Mapping[str, Terminal] = {
    "name": Terminal(_WORD, "a", "letters, digits and `_`, or anything within back quotes"),
    "column": Terminal(_WORD, "c", "the name of a column"),
    "text": Terminal(_TEXT, "'t'", "characters within `'` or `\"`"),
    "key": Terminal(_TEXT, "'k'", "the name of a property or a setting, as a text"),
    "path": Terminal(_TEXT, "'/tmp/p'", "a place in a file system, as a text"),
    "class": Terminal(
        _TEXT, "'org.apache.hadoop.hive.ql.io.orc.OrcSerde'", "the name of a Java class, as a text"
    ),
    "digits": Terminal(r"'[+-]?\d+'", "'1'", "a number, as a text"),
    "number": Terminal(r"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?[LSYDlsyd]?(?:BD)?", "1", "digits"),
    "setting": Terminal(r"[\w.:-]+", "hive.txn.timeout", "the name of a setting or a variable"),
    "rest": Terminal(r"[^;]*[^;\s]", "a.txt", "all up to the `;`, as it is"),
}


def rules_of(text: str) -> Iterator[Rule]:
    """Read the rules of a fence's text."""
    parts = _RULE.split(text)
    if parts[0].strip():
        raise ValueError(f"no rule: {parts[0].strip()!r}")
    for name, body in zip(parts[1::2], parts[2::2], strict=True):
        reader = _Reader(name, _TOKEN.findall(body.strip()))
        yield Rule(name, f"{name} = {body.strip()}", reader.read())


def rules_of_page(markdown: str) -> dict[str, Rule]:
    """Read all rules of a page; a name stands for one."""
    rules: dict[str, Rule] = {}
    for fence in FENCE.finditer(markdown):
        for rule in rules_of(fence[1]):
            if rule.name in rules or rule.name in TERMINALS:
                raise ValueError(f"{rule.name} is described twice")
            rules[rule.name] = rule
    return rules


def names_in(node: Node) -> Iterator[str]:
    """Tell the rules and terminals that something is made of."""
    match node:
        case Named(name):
            yield name
        case Row(items) | Rows(items) | Chosen(items):
            for item in items:
                yield from names_in(item)
        case Optional(item) | Repeated(item):
            yield from names_in(item)


class _Reader:
    def __init__(self, name: str, tokens: list[str]) -> None:
        self._name = name
        self._tokens = tokens
        self._at = 0

    def read(self) -> Node:
        """Take all of a rule; alternatives of a rule need no braces."""
        node = self._choice(("",))
        if self._at != len(self._tokens):
            raise ValueError(f"{self._name}: unexpected {self._peek()}")
        return node

    def _peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _choice(self, ends: tuple[str, ...]) -> Node:
        items = [self._rows((*ends, "|"))]
        while self._peek() == "|":
            self._at += 1
            items.append(self._rows((*ends, "|")))
        return items[0] if len(items) == 1 else Chosen(tuple(items))

    def _rows(self, ends: tuple[str, ...]) -> Node:
        rows: list[list[Node]] = [[]]
        while self._peek() not in ends:
            if self._peek() == "\n":
                self._at += 1
                # Lines within brackets and before alternatives are broken for the reader alone.
                if ends[0] == "" and rows[-1] and self._peek() != "|":
                    rows.append([])
                continue
            rows[-1].append(self._item())
        if not rows[0]:
            raise ValueError(f"{self._name}: nothing stands before {self._peek()!r}")
        made = [row[0] if len(row) == 1 else Row(tuple(row)) for row in rows]
        return made[0] if len(made) == 1 else Rows(tuple(made))

    def _item(self) -> Node:
        token = self._peek()
        self._at += 1
        if token in ("[", "{"):
            end = "]" if token == "[" else "}"
            inside = self._choice((end,))
            self._at += 1
            node: Node = Optional(inside) if token == "[" else inside
        elif token in ("]", "}", "…", ""):
            raise ValueError(f"{self._name}: unexpected {token!r}")
        elif re.fullmatch(r"[a-z_]+", token):
            node = Named(token)
        else:
            node = Typed(token.strip('"'))
        after = self._tokens[self._at : self._at + 2]
        if after[:1] == ["…"]:
            self._at += 1
            return Repeated(node, comma=False)
        if after == [",", "…"]:
            self._at += 2
            return Repeated(node, comma=True)
        return node
