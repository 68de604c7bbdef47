"""Query text as sqlglot trees whose nodes know their offsets in the statement.

sqlglot is used to see the structure of a query, never to write SQL: Spark gets the user's own
text. So function calls stay as they are (no builder rewrites them), and whatever lies outside the
slice that is read is blanked out, which keeps offsets those of the whole statement.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import sqlglot.parser
from sqlglot import exp
from sqlglot.dialects.hive import Hive
from sqlglot.errors import ParseError as SqlglotParseError
from sqlglot.errors import SqlglotError
from sqlglot.parsers.hive import HiveParser

from hivesql.hive_only import check_slice
from hivesql.script import StatementText
from hivesql.strict import check_tree
from hivesql.tokens import Token, at
from hivesql.trees import Slice
from hivesql_planner.errors import ParseError

if not (sqlglot.parser.__file__ or "").endswith(".py"):
    # Its compiled classes refuse every subclass written in Python.
    raise ImportError("hivesql extends sqlglot's parser, which its compiled build forbids: "
                      "uninstall sqlglotc")  # fmt: skip

RANGE = "range"
"""Metadata key: start and end offset of a select-list item or an ORDER BY item."""
_GRAMMAR_FUNCTIONS = ("CAST", "EXTRACT", "POSITION", "SUBSTRING", "TRIM", "FLOOR", "CEIL")
_QUERY = (exp.Select, exp.SetOperation, exp.Subquery, exp.Values)


class _StructureParser(HiveParser):
    # Without builders every call is exp.Anonymous: same name, same arguments.
    FUNCTIONS: ClassVar[dict[str, Callable[..., Any]]] = {}
    FUNCTION_PARSERS: ClassVar[dict[str, Callable[..., Any]]] = {
        name: parse
        for name, parse in HiveParser.FUNCTION_PARSERS.items()
        if name in _GRAMMAR_FUNCTIONS
    }

    # Hive's two clauses of time travel, and nobody else's.
    VERSION_PHRASES: ClassVar[dict[tuple[str, ...], str]] = {
        ("FOR", "SYSTEM_TIME"): "TIMESTAMP",
        ("FOR", "SYSTEM_VERSION"): "VERSION",
    }

    def _parse_expression(self) -> exp.Expr | None:
        start = self._curr.start if self._curr else 0
        return self._ranged(super()._parse_expression(), start)

    def _parse_ordered(
        self, parse_method: Callable[..., exp.Expr | None] | None = None
    ) -> exp.Ordered | None:
        start = self._curr.start if self._curr else 0
        node = super()._parse_ordered(parse_method)
        self._ranged(node, start)
        return node

    def _ranged(self, node: exp.Expr | None, start: int) -> exp.Expr | None:
        if node is not None:
            node.meta[RANGE] = (start, self._prev.end + 1)
        return node


class HiveStructure(Hive):
    """Hive's dialect of sqlglot, made to tell places instead of rewriting functions."""

    Parser = _StructureParser


def read_query(
    text: StatementText, tokens: tuple[Token, ...], spans: tuple[tuple[int, int], ...],
    prefix: str = "",
) -> Slice:  # fmt: skip
    """Read the spans, taken together, as one query."""
    tree = _read(text, tokens, spans, prefix)
    if not isinstance(tree, _QUERY):
        raise at(ParseError("expected a query"), text, spans[0][0])
    return Slice(spans, tree, prefix)


def read_expression(text: StatementText, tokens: tuple[Token, ...], span: tuple[int, int]) -> Slice:
    """Read one expression."""
    if span[0] >= span[1]:
        raise at(ParseError("expected an expression"), text, span[0])
    tree = _read(text, tokens, (span,), "SELECT ")
    only_item = (
        isinstance(tree, exp.Select)
        and len(tree.expressions) == 1
        and not any(value for key, value in tree.args.items() if key not in ("expressions", "kind"))
    )
    item = tree.expressions[0] if only_item else None
    if item is None or isinstance(item, (exp.Alias, exp.Aliases, exp.Star)) or item.is_star:
        raise at(ParseError("this is not one expression"), text, span[0])
    return Slice((span,), item)


def _read(
    text: StatementText, tokens: tuple[Token, ...], spans: tuple[tuple[int, int], ...], prefix: str
) -> exp.Expr:
    masked = check_slice(text, tokens, spans)
    if prefix:
        start = spans[0][0]
        masked = masked[: start - len(prefix)] + prefix + masked[start:]
    try:
        trees = HiveStructure().parse(masked)
    except SqlglotParseError as error:
        raise _placed(error, text, masked) from error
    except SqlglotError as error:
        raise at(ParseError(f"the query cannot be read: {error}"), text, spans[0][0]) from error
    except RecursionError:
        raise at(ParseError("the query is nested too deeply"), text, spans[0][0]) from None
    if len(trees) != 1 or trees[0] is None:
        raise at(ParseError("expected one query"), text, spans[0][0])
    _refuse_empty_lists(trees[0], text, spans[0][0])
    check_tree(trees[0], text, spans[0][0])
    return trees[0]


def _refuse_empty_lists(tree: exp.Expr, text: StatementText, start: int) -> None:
    for select in tree.find_all(exp.Select):
        if not select.expressions:
            raise at(ParseError("SELECT without anything to select"), text, start)
    for command in tree.find_all(exp.Command, exp.Placeholder, exp.Parameter, exp.Lambda):
        raise at(ParseError(f"unexpected {command.sql()!r}"), text, start)


def _placed(error: SqlglotParseError, text: StatementText, masked: str) -> Exception:
    first = error.errors[0]
    highlight, line, column = first["highlight"] or "", first["line"] or 1, first["col"] or 1
    line_start = 0
    for _ in range(line - 1):
        line_start = masked.find("\n", line_start) + 1
    # sqlglot counts the column of a token's last character.
    offset = max(line_start + column - max(len(highlight), 1), 0)
    description = first["description"] or "syntax error"
    if description.startswith("Required keyword"):
        description = "an operand is missing"
    message = f"{description} at {highlight!r}"
    return at(ParseError(message.replace(" / ", ": ")), text, offset)
