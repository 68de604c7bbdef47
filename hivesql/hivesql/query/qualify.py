"""QUALIFY, which Spark does not know: a filter around the query whose windows it is about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from hivesql.binding import Binding
from hivesql.dialect.edits import Edit, Span
from hivesql.dialect.structure import RANGE, place_of, span_of
from hivesql.dialect.tokens import Token, first_from
from hivesql.python_sqlglot import exp
from hivesql.query.ordering import knows_positions
from hivesql.query.scope import Output, Outputs, Scope
from hivesql_planner.errors import NotSupported
from hivesql_planner.model.hive_type import quote_name

_PASSES = "__qualified"
_AROUND = ("sort", "distribute", "cluster")


def names_in_qualify(aliases: frozenset[str], scope: Scope) -> frozenset[str]:
    """Tell which names of select items QUALIFY may mean: a column of that name comes first."""
    columns = {c.name for relation in scope.relations for c in relation.columns or ()}
    return aliases - columns


def qualify_edits(select: exp.Select, outputs: Outputs, binding: Binding) -> list[Edit]:
    """Put what QUALIFY asks beside the select items, and a query around that keeps those rows.

    ORDER BY and LIMIT are that query's; keys that are not selected go along with the items.
    NotSupported for SORT BY and its like there, and for columns that only Spark knows.
    """
    qualify = select.args.get("qualify")
    if qualify is None:
        return []
    for clause in _AROUND:
        if select.args.get(clause):
            _refuse(f"{clause.upper()} BY with QUALIFY", select.args[clause], binding)
    if outputs is None or isinstance(select.expressions[0], exp.QueryTransform):
        _refuse("QUALIFY of columns that only Spark knows", qualify, binding)
    inner = [f"`__c{i}`" for i in range(len(outputs))]
    selected = ", ".join(
        f"{name} AS {quote_name(output.name)}" for name, output in zip(inner, outputs, strict=True)
    )
    condition = place_of(qualify.this)
    added: list[str | Span] = [", CAST((", condition, ") AS BOOLEAN)"]
    edits: list[Edit] = []
    for key in _keys_beside_items(select, outputs, binding):
        if select.args.get("distinct"):
            _refuse("ORDER BY of what SELECT DISTINCT … QUALIFY does not select", key, binding)
        start, end = place_of(key)
        added += [", (", (start, end), ")"]
        name = f"`__k{len(edits)}`"
        # From the blank or bracket before it on: the key itself goes elsewhere, as it is.
        edits.append(Edit(start - 1, end, binding.text.text[start - 1] + name))
        inner.append(name)
    inner.insert(len(outputs), f"`{_PASSES}`")
    first = binding.tokens[first_word(select, binding.tokens)]
    last = max(item.meta[RANGE][1] for item in select.expressions)
    word = binding.tokens[first_from(binding.tokens, condition[0]) - 1]
    around = f") AS `__inner`({', '.join(inner)}) WHERE `{_PASSES}`"
    return [
        *edits,
        Edit(first.start, first.end, f"SELECT {selected} FROM ({first.text}"),
        Edit(last, last, "", tuple(added)),
        Edit(word.start, condition[1], around),
    ]


def _keys_beside_items(
    select: exp.Select, outputs: tuple[Output, ...], binding: Binding
) -> list[exp.Expr]:
    """Return the keys of ORDER BY that are neither names nor positions of select items."""
    order = select.args.get("order")
    names = {output.name for output in outputs}
    keys = []
    for ordered in order.expressions if order is not None else ():
        key = ordered.this
        is_name = isinstance(key, exp.Column) and len(key.parts) == 1 and key.name.lower() in names
        is_number = isinstance(key, exp.Literal) and not key.is_string
        if not is_name and not (is_number and knows_positions("orderby", binding.settings)):
            keys.append(key)
    return keys


def first_word(select: exp.Select, tokens: Sequence[Token]) -> int:
    """Find SELECT, or FROM where that stands first; its index."""
    start, word = min(item.meta[RANGE][0] for item in select.expressions), "select"
    from_ = select.args.get("from_")
    if from_ is not None and span_of(from_)[0] < start:
        start, word = span_of(from_)[0], "from"
    i = first_from(tokens, start) - 1
    while not tokens[i].is_(word):
        i -= 1
    return i


def _refuse(feature: str, node: exp.Expr, binding: Binding) -> NoReturn:
    binding.fail(NotSupported(feature), *span_of(node))
