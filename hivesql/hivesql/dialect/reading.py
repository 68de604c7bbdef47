"""How statements are read: the words between what sqlglot's own productions read.

Statements are read strictly, token by token; a query or an expression in one is a part that ends
before a word, which sqlglot's productions read by themselves, and wholly.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from hivesql.dialect.nodes.parts import OPERATOR
from hivesql.dialect.slices import RANGE
from hivesql.dialect.structure import QueryParser
from hivesql.dialect.tokens import Cursor, Kind, Token
from hivesql.python_sqlglot import exp
from hivesql.script import StatementText

COMPARISONS: dict[str, type[exp.Binary]] = {
    "=": exp.EQ, "<>": exp.NEQ, "!=": exp.NEQ, "<": exp.LT, "<=": exp.LTE, ">": exp.GT,
    ">=": exp.GTE,
}  # fmt: skip
Node = TypeVar("Node", bound=exp.Expr)


class StatementReader(QueryParser, Cursor):
    """sqlglot's parser at the words of a statement."""

    def begin(self, cursor: Cursor) -> None:
        """Begin to read a statement where a cursor is."""
        self.text: StatementText = cursor.text
        self.statement: StatementText = cursor.text
        self.tokens: tuple[Token, ...] = cursor.tokens
        self.position: int = cursor.position

    def listed(self, read: Callable[[], Node]) -> list[Node]:
        """Take what stands between commas."""
        nodes = [read()]
        while self.take(","):
            nodes.append(read())
        return nodes

    # -- names
    def identifier(self, what: str = "a name") -> exp.Identifier:
        """Take a name."""
        token = self.peek()
        self.name(what)
        return _identifier(token)

    def identifiers(self, what: str = "a column name") -> list[exp.Identifier]:
        """Take ``(a, b, …)``."""
        first = self.position + 1
        self.names(what)
        return [_identifier(token) for token in self.tokens[first : self.position : 2]]

    def table_name(self, *, of_spark: bool = False) -> exp.Table:
        """Take ``t`` or ``db.t``; ``of_spark`` takes ``catalog.db.t`` too, which it alone reads."""
        first = self.position
        self.table(of_spark=of_spark)
        names = [_identifier(token) for token in self.tokens[first : self.position : 2]]
        parts = dict(zip(("this", "db", "catalog"), reversed(names), strict=False))
        return self.mark_range(exp.Table(**parts), self.tokens[first].start)

    def place(self) -> exp.Literal:
        """Take the text of a location, which must not be empty."""
        return exp.Literal.string(self.location())

    def mark_range(self, node: Node, start: int) -> Node:
        """Give a node its place: from ``start`` to the token that was taken last."""
        node.meta[RANGE] = (start, self.last_end)
        return node

    # -- what sqlglot's productions read
    def piece(self, *stops: str) -> exp.Expr:
        """Take an expression that ends before a word, at a comma or bracket, or at the end."""
        start = self.peek().start
        end = self.find(",", *stops)
        return self.read_expression((start, max(start, end)))

    def value(self, *stops: str) -> exp.Expr:
        """Take an expression that is assigned to a column: DEFAULT is one."""
        token = self.peek()
        expression = self.piece(*stops)
        if token.is_("default") and token.end == self.last_end:
            expression = self.mark_range(exp.var("DEFAULT"), token.start)
        return expression

    def rest_as_query(self) -> exp.Expr:
        """Take everything up to the end as one query."""
        start = self.peek().start
        if self.at_end:
            self.fail("expected a query")
        self.position = len(self.tokens) - 1
        return self.read_query(((start, self.last_end),))

    # -- clauses
    def partition(self, *, dynamic: bool = True) -> exp.Partition:
        """``PARTITION (k='v', k2)``; without ``dynamic`` every key needs a value."""
        start = self.expect("partition", "(").start
        items = self.listed(lambda: self._partition_item(dynamic=dynamic))
        self.expect(")")
        return self.mark_range(exp.Partition(expressions=items), start)

    def _partition_item(self, *, dynamic: bool) -> exp.Expr:
        start = self.peek()
        key = exp.Column(this=self.identifier("a partition column"))
        if self.take("="):
            key = self.mark_range(key, start.start)
            value = self.constant()
            return self.mark_range(exp.EQ(this=key, expression=value), start.start)
        if not dynamic:
            self.fail(f"expected a value for the partition column {start.value}")
        return self.mark_range(key, start.start)

    def constant(self) -> exp.Expr:
        """Take a constant: string, number, TRUE, FALSE, DATE, TIMESTAMP or NULL."""
        start = self.peek().start
        return self.mark_range(self._constant(), start)

    def _constant(self) -> exp.Expr:
        if self.take("null"):
            return exp.Null()
        for word in ("true", "false"):
            if self.take(word):
                return exp.Boolean(this=word == "true")
        for word, kind in (("date", exp.DType.DATE), ("timestamp", exp.DType.TIMESTAMP)):
            if self.at(word) and self.peek(1).kind is Kind.STRING:
                self.next()
                return exp.Cast(this=exp.Literal.string(self.string()), to=exp.DataType(this=kind))
        if self.peek().kind is Kind.STRING:
            return exp.Literal.string(self.string())
        negative = self.take("-")
        if self.peek().kind is not Kind.NUMBER:
            self.fail("expected a constant")
        number = exp.Literal.number(self.next().text)
        return exp.Neg(this=number) if negative else number

    def filters(self) -> exp.Partition:
        """``PARTITION (k op v, …)``."""
        start = self.expect("partition").start
        return self.mark_range(exp.Partition(expressions=self.comparisons()), start)

    def comparisons(self) -> list[exp.Expr]:
        """``(k op v, …)``."""
        self.expect("(")
        comparisons = self.listed(self._filter)
        self.expect(")")
        return comparisons

    def _filter(self) -> exp.Expr:
        start = self.peek().start
        key = exp.Column(this=self.identifier("a partition column"))
        operator = "=" if self.at("=") else self.peek().text.lower()
        comparison = exp.Like if operator == "like" else COMPARISONS.get(operator)
        if comparison is None:
            self.fail("expected a comparison")
        self.next()
        node = self.mark_range(comparison(this=key, expression=self.constant()), start)
        node.meta[OPERATOR] = operator
        return node

    def properties(self, *, keys_alone: bool = False) -> exp.Properties:
        """``('k'='v', …)``; with ``keys_alone`` also ``('k', …)``, whose values are empty."""
        self.expect("(")
        has_values = not keys_alone or self.peek(1).is_("=")
        properties = self.listed(lambda: self._property(has_value=has_values))
        self.expect(")")
        return exp.Properties(expressions=properties)

    def _property(self, *, has_value: bool) -> exp.Property:
        key = exp.Literal.string(self.string("a property key"))
        if has_value:
            self.expect("=")
        value = self.string("a property value") if has_value else ""
        return exp.Property(this=key, value=exp.Literal.string(value))


def _identifier(token: Token) -> exp.Identifier:
    quoted = token.kind is Kind.QUOTED
    name = token.text[1:-1].replace("``", "`") if quoted else token.text
    identifier = exp.Identifier(this=name, quoted=quoted)
    identifier.meta.update({"start": token.start, "end": token.end - 1})
    return identifier
