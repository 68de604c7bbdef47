"""Rows that stand in a statement, as values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hivesql.binding import Binding
from hivesql.dialect.nodes.constants import Default
from hivesql.dialect.plain_rows import constants_in
from hivesql.dialect.slices import Slice
from hivesql.dialect.structure import place_of
from hivesql.dialect.tokens import Kind, first_from, unescape
from hivesql.python_sqlglot import exp
from hivesql.query.meaning.constants import constant_of, number_of, time_of
from hivesql_planner.predicates.predicate import Constant, Value
from hivesql_planner.relations import Expr

Row = tuple[Value, ...]
_LITERALS: dict[str, Value] = {"null": None, "true": True, "false": False}


class _Unknown(Exception):
    """Some value is not a constant that is understood."""


def rows_of(part: Slice, binding: Binding, defaults: Mapping[int, Expr]) -> tuple[Row, ...] | None:
    """Return the rows of VALUES, or of a SELECT of constants or over VALUES; None for all else.

    ``defaults`` says what the word DEFAULT at an offset stands for.
    """
    try:
        return tuple(_Rows(part, binding, defaults).of(part.tree))
    except _Unknown:
        return None


class _Rows:
    def __init__(self, part: Slice, binding: Binding, defaults: Mapping[int, Expr]) -> None:
        self.part = part
        self.binding = binding
        self.defaults = defaults

    def of(self, node: exp.Expr) -> Iterator[Row]:
        match node:
            case exp.Values():
                yield from self._values(node)
            case exp.Select():
                yield from self._select(node)
            case _:
                raise _Unknown

    def _values(self, node: exp.Values) -> Iterator[Row]:
        for row in node.expressions:
            items = row.expressions if isinstance(row, exp.Tuple) else [row]
            yield tuple(map(self._constant, items))
        # Long rows are one token behind the first of them.
        tokens = self.binding.tokens
        bracket = first_from(tokens, place_of(items[-1])[1])
        after = tokens[min(bracket + 1, len(tokens) - 1)]
        if after.kind is Kind.ROWS:
            yield from _plain_rows(after.text, len(items))

    def _select(self, node: exp.Select) -> Iterator[Row]:
        clauses = {key for key, value in node.args.items() if value}
        if clauses == {"expressions"}:
            yield tuple(self._constant(item.unalias()) for item in node.expressions)
            return
        if clauses != {"expressions", "from_"}:
            raise _Unknown
        source = node.args["from_"].this
        alias = source.args.get("alias")
        names = [name.name.lower() for name in alias.columns] if alias else []
        inner = source.this if isinstance(source, exp.Subquery) else source
        is_plain = not any(source.args.get(key) for key in ("joins", "laterals", "sample"))
        if not is_plain or not names:
            raise _Unknown
        for row in self.of(inner):
            if len(row) != len(names):
                raise _Unknown
            yield tuple(self._chosen(node.expressions, dict(zip(names, row, strict=True))))

    def _chosen(self, items: Sequence[exp.Expr], row: Mapping[str, Value]) -> Iterator[Value]:
        for item in items:
            expression = item.unalias().unnest()
            if isinstance(expression, exp.Star):
                yield from row.values()
            elif isinstance(expression, exp.Column):
                if len(expression.parts) != 1 or expression.name.lower() not in row:
                    raise _Unknown
                yield row[expression.name.lower()]
            else:
                yield self._constant(expression)

    def _constant(self, node: exp.Expr) -> Value:
        if isinstance(node, Default):
            of = self.defaults.get(place_of(node)[0])
            constant = of.meaning if of is not None and isinstance(of.meaning, Constant) else None
        else:
            constant = constant_of(node, self.binding.text.text)
        if constant is None:
            raise _Unknown
        return constant.value


def _plain_rows(text: str, width: int) -> Iterator[Row]:
    """Yield rows that are nothing but constants, ``, (…), (…)``."""
    row: list[Value] = []
    for constant in constants_in(text):
        row.append(_plain(constant))
        if len(row) == width:
            yield tuple(row)
            row.clear()


def _plain(text: str) -> Value:
    first = text[0]
    if first in "'\"":
        return unescape(text)
    if first.isdigit() or first in "+-":
        constant = number_of(text.lstrip("+-"))
        if constant is None or isinstance(constant.value, (str, bool)):
            raise _Unknown
        value: Value = constant.value
        return -value if first == "-" else value  # type: ignore[operator]
    word = text.lower()
    if word in _LITERALS:
        return _LITERALS[word]
    quote = min(at for at in (text.find("'"), text.find('"')) if at > 0)
    constant = time_of(text[:quote].rstrip(), unescape(text[quote:]))
    if constant is None:
        raise _Unknown
    return constant.value
