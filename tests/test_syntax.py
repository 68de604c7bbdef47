"""The syntax that the reference of statements describes is that of the parser, both ways.

Each example of the reference derives from the rules, and for each part of each rule there is a
statement that the parser takes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from derivation import Grammar
from hivesql.dialect.statements.statement import parse
from hivesql.script import split
from hivesql_docs.diagrams import draw, with_diagrams
from hivesql_docs.grammar import TERMINALS, names_in, rules_of, rules_of_page

PAGE = (Path(__file__).parents[1] / "docs" / "sql.md").read_text(encoding="utf-8")
RULES = rules_of_page(PAGE)
GRAMMAR = Grammar(RULES)


def examples() -> Iterator[str]:
    for fence in re.finditer(r"^```sql(?:| .*)\n((?s:.*?))^```$", PAGE, re.MULTILINE):
        for statement in split(fence[1], None, {"hivevar:item": "nut"}):
            yield statement.text


@pytest.mark.parametrize("statement", list(examples()))
def test_an_example_derives_from_the_rules(statement: str) -> None:
    assert GRAMMAR.derives(statement)


@pytest.mark.parametrize("rule", list(RULES))
def test_each_part_of_a_rule_is_taken_by_the_parser(rule: str) -> None:
    texts = list(GRAMMAR.examples(rule))
    for text in texts:
        (statement,) = split(text, None, {})
        parse(statement)
        assert GRAMMAR.derives(text), text
    assert texts


def test_rules_know_what_they_refer_to() -> None:
    """Nothing is referred to that is not there, and all is needed by some statement."""
    referred = {name for rule in RULES.values() for name in names_in(rule.node)}
    assert referred == (RULES.keys() | TERMINALS.keys()) - {"statement"}
    # What no rule describes the page says in words.
    assert [name for name in TERMINALS if f"`{name}`" not in PAGE] == []


def test_what_is_no_statement_does_not_derive() -> None:
    for text in (
        "SELECT",
        "DROP TABLE",
        "USE a b",
        "INSERT OVERWRITE t VALUES (1)",
        "SELECT 1 FROM",
    ):
        assert not GRAMMAR.derives(text)


@pytest.mark.parametrize(
    "text", ["a = [B", "a = B]", "a = ", "a = …", "B", "a = B\na = C\n", "name = B\n"]
)
def test_a_rule_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"a: |no rule|twice"):
        rules_of_page(f"```ebnf\n{text}\n```\n")


class Drawn(HTMLParser):
    """What a page shows of diagrams: their texts, links, labels and the places of figures."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.values: dict[str, list[str]] = {}
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the attributes."""
        for name, value in attrs:
            self.values.setdefault(name, []).append(value or "")

    def handle_data(self, data: str) -> None:
        """Note the texts."""
        self.texts.append(data)


def test_a_diagram_is_above_its_rule_and_leads_to_others() -> None:
    page = with_diagrams(PAGE, RULES)
    shown = Drawn(page)
    places = [f"syntax-{name}" for name in RULES]
    assert shown.values["id"] == places
    assert {link.removeprefix("#") for link in shown.values["xlink:href"]} <= set(places)
    assert len(shown.values["aria-label"]) == len(RULES)
    for rule in RULES.values():
        assert f"</figure>\n\n```text\n{rule.text}\n```" in page
    # Colours are those of the page, dark or light.
    assert "style" not in shown.values and "fill" not in shown.values


def test_a_diagram_shows_all_that_is_typed() -> None:
    (rule,) = rules_of("a = IS LIKE {'minor' | \"|\"} [( name, … )]\n  <> b …")
    texts = [text for text in Drawn(draw(rule)).texts if text.strip()]
    assert texts == ["IS LIKE", "'minor'", "|", "(", "name", ",", ")", "<>", "b"]
