"""Diagrams of the syntax, which take their colours from the page that they stand in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from io import StringIO

import railroad

from hivesql_docs.grammar import (
    FENCE,
    TERMINALS,
    Chosen,
    Named,
    Node,
    Optional,
    Repeated,
    Row,
    Rows,
    Rule,
    Typed,
    rules_of,
)

# The library writes the text of a link twice, one above the other.
_TWICE = re.compile(r"(<text [^>]*>[^<]*</text>)\s*\1")


def draw(rule: Rule) -> str:
    """Draw a rule as SVG; names of rules are links to them."""
    diagram = railroad.Diagram(_drawn(rule.node), type="complex")
    written = StringIO()
    diagram.writeSvg(written.write)
    label = escape(f"Diagram of {rule.name}; the lines below say the same", quote=True)
    svg = written.getvalue().replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)
    # Markdown would end the block at a blank line, and take indented ones for code.
    return _TWICE.sub(r"\1", "".join(line.strip() for line in svg.splitlines()))


def with_diagrams(markdown: str, rules: Mapping[str, Rule]) -> str:
    """Put the diagram of each rule of a page above its lines, which a screen reader reads."""
    unknown = {name for rule in rules.values() for name in _links(rule.node)} - rules.keys()
    if unknown:
        raise ValueError(f"no rule describes {', '.join(sorted(unknown))}")
    return FENCE.sub(
        lambda fence: "\n".join(
            f'<figure class="syntax" id="syntax-{rule.name}">{draw(rule)}</figure>\n\n'
            f"```text\n{rule.text}\n```\n"
            for rule in rules_of(fence[1])
        ),
        markdown,
    )


def _links(node: Node) -> set[str]:
    match node:
        case Named(name):
            return {name} - TERMINALS.keys()
        case Row(items) | Rows(items) | Chosen(items):
            return set().union(*map(_links, items))
        case Optional(item) | Repeated(item):
            return _links(item)
    return set()


def _drawn(node: Node) -> railroad.DiagramItem:
    match node:
        case Typed(text):
            return railroad.Terminal(text)
        case Named(name):
            link = None if name in TERMINALS else f"#syntax-{name}"
            return railroad.NonTerminal(name, href=link)
        case Row(items):
            return railroad.Sequence(*map(_drawn, _joined(items)))
        case Rows(items):
            return railroad.Stack(*map(_drawn, items))
        case Chosen(items):
            return railroad.Choice(0, *map(_drawn, items))
        case Optional(item):
            return railroad.Optional(_drawn(item))
        case Repeated(item, comma):
            return railroad.OneOrMore(_drawn(item), railroad.Terminal(",") if comma else None)


def _joined(items: Iterable[Node]) -> Iterator[Node]:
    """Make keywords that follow each other one box."""
    words: list[str] = []
    for item in (*items, None):
        if isinstance(item, Typed) and item.text.isupper():
            words.append(item.text)
            continue
        if words:
            yield Typed(" ".join(words))
            words = []
        if item is not None:
            yield item
