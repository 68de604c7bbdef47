"""What a condition tells of one table."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from hivesql.query.filters.pruning import simplify
from hivesql.query.scope import HIDDEN, Meaning, Relation, Scope

QUERIES = (exp.Select, exp.SetOperation, exp.Subquery, exp.Values)


def learn(
    part: exp.Expr,
    scope: Scope,
    meanings: Mapping[int, Meaning],
    *,
    only: Relation | None = None,
) -> None:
    """Give a condition to the table of the scope that it speaks of, if it speaks of no other.

    ``meanings`` are those of the condition's columns, by their ids. None of ``only``: any table
    whose columns are not all NULL in rows that an outer join adds.
    """
    inside = list(part.walk(prune=lambda node: isinstance(node, QUERIES)))
    found = [meanings.get(id(node)) for node in inside if isinstance(node, exp.Column)]
    first = found[0] if found else None
    if first is None or first.scope is not scope or first.relation.use is None:
        return
    relation = first.relation
    if relation.nullable or (only is not None and relation is not only):
        return
    if any(isinstance(node, QUERIES) for node in inside):
        return
    if any(one is None or one.relation is not relation for one in found):
        return

    def column_of(node: exp.Column) -> str | None:
        meaning = meanings[id(node)]
        whole = meaning.column is not None and meaning.used == len(node.parts)
        return meaning.column if whole and meaning.column not in HIDDEN else None

    first.relation.use.predicates.append(simplify(part, column_of))
