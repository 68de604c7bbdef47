"""Hive's own constants, which sqlglot's productions read as something else.

A word or call of the same length stands in their place while a query is read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from hivesql.dialect.edits import Edit
from hivesql.dialect.slices import RANGE
from hivesql.dialect.tokens import unescape
from hivesql.python_sqlglot import exp
from hivesql_planner.model.hive_type import BIGINT, INT, STRING, HiveType

_INTERVAL = re.compile(
    r"""(\(.*\)|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s'"(]+)\s*(.*)""", re.DOTALL
)


class Default(exp.Null):
    """DEFAULT in a row of VALUES, which is read as NULL."""


class BareInterval(exp.Interval):
    """``1 DAY``, ``'1-2' YEAR TO MONTH`` or ``(1) DAY``, which is read as a call."""


class Members(exp.Expression, exp.Condition):
    """The values of a long IN after its first one: whole numbers, or texts, as they are written."""

    @property
    def values(self) -> list[int] | list[str]:
        """The values, in their order."""
        # Imported late: few statements have them.
        from hivesql.dialect.plain_rows import values_of_members

        return values_of_members(str(self.this))

    @property
    def kind(self) -> HiveType:
        """The type of all of them: where one is a BIGINT, the others are compared as that."""
        values = self.values
        if isinstance(values[0], str):
            return STRING
        return BIGINT if any(abs(int(value)) >= 2**31 for value in values) else INT

    def expand(self) -> list[exp.Expr]:
        """Return the values as the nodes that a parser makes of them."""
        from hivesql.dialect.plain_rows import places_of_members

        text, (offset, _) = str(self.this), self.meta[RANGE]
        nodes: list[exp.Expr] = []
        for value, (start, end) in zip(self.values, places_of_members(text), strict=True):
            place = (offset + start, offset + end)
            if isinstance(value, str):
                node = _with_place(exp.Literal.string(value), place)
            elif text[start] == "-":
                digits = _with_place(
                    exp.Literal.number(text[start + 1 : end]), (place[0] + 1, place[1])
                )
                node = _with_place(exp.Neg(this=digits), place)
            else:
                node = _with_place(exp.Literal.number(text[start:end]), place)
            nodes.append(node)
        return nodes


def _with_place(node: exp.Expr, place: tuple[int, int]) -> exp.Expr:
    node.meta[RANGE] = place
    return node


def put_constants(tree: exp.Expr, text: str, edits: Sequence[Edit]) -> None:
    """Put Hive's constants where a query was read with ``edits`` in their places."""
    written = {edit.start: text[edit.start : edit.end] for edit in edits}
    constants = list(tree.find_all(exp.Null, exp.Anonymous, exp.Cast)) if written else []
    for node in constants:
        place = node.meta.get(RANGE, (-1, -1))
        word = written.get(place[0])
        if word is None:
            continue
        if isinstance(node, exp.Cast):
            node.set("to", exp.DataType(this=exp.DType.TIMESTAMPLTZ))
            continue
        new = Default() if isinstance(node, exp.Null) else _interval(word)
        new.meta.update(node.meta)
        node.replace(new)
    for start, word in written.items():
        if word[:6].lower() == "format":
            _put_format(tree, text, (start, start + len(word)))


def _interval(word: str) -> BareInterval:
    match = _INTERVAL.fullmatch(word)
    assert match is not None
    unit = " ".join(match[2].upper().split())
    return BareInterval(this=exp.Literal.string(match[1]), unit=exp.var(unit))


def _put_format(tree: exp.Expr, text: str, place: tuple[int, int]) -> None:
    """Put FORMAT '…' into the CAST that ends behind it."""
    for cast in tree.find_all(exp.Cast):
        last = cast.meta.get(RANGE, (0, 0))[1]
        if text[place[1] : last].strip() == ")":
            pattern = exp.Literal.string(unescape(text[place[0] + 6 : place[1]].strip()))
            pattern.meta[RANGE] = place
            cast.set("format", pattern)
