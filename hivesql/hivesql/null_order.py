"""Where NULLs go: last when ascending, first when descending (hive.default.nulls.last)."""

from __future__ import annotations

from sqlglot import exp

from hivesql.binder.context import Binding
from hivesql.parser.tokens import first_from
from hivesql.query.dialect import place_of
from hivesql.query.edits import Edit, insert


def null_order(tree: exp.Expr, binding: Binding) -> list[Edit]:
    """What gives every ORDER BY, SORT BY and CLUSTER BY of a query Hive's order of NULLs."""
    edits = []
    for item in tree.find_all(exp.Ordered):
        if type(item.parent) in (exp.Order, exp.Sort) and not _says(item, binding):
            order = " NULLS FIRST" if item.args.get("desc") else " NULLS LAST"
            edits.append(insert(place_of(item)[1], order))
    return edits + [_sorted_too(one, binding) for one in tree.find_all(exp.Cluster)]


def _says(item: exp.Ordered, binding: Binding) -> bool:
    """Whether it says NULLS FIRST or NULLS LAST itself."""
    start, end = place_of(item)
    return binding.text.text[start:end].lower().split()[-2:-1] == ["nulls"]


def _sorted_too(cluster: exp.Cluster, binding: Binding) -> Edit:
    """CLUSTER BY in its two halves: Spark knows no order of NULLs for it."""
    spans = [place_of(one) for one in cluster.expressions]
    word = binding.tokens[first_from(binding.tokens, spans[0][0]) - 2]
    parts: list[str | tuple[int, int]] = ["DISTRIBUTE BY "]
    for i, span in enumerate(spans):
        parts += [", " if i else "", span]
    parts.append(" SORT BY ")
    for i, span in enumerate(spans):
        parts += [", " if i else "", span, " NULLS LAST"]
    return Edit(word.start, spans[-1][1], "", tuple(parts))
