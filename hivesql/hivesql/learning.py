"""What a condition tells of one table."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from hivesql.prune import simplify
from hivesql.scope import ROW_ID, Meaning, Relation

QUERIES = (exp.Select, exp.SetOperation, exp.Subquery, exp.Values)


def learn(part: exp.Expr, relation: Relation, meanings: Mapping[int, Meaning]) -> None:
    """Give a table a condition, if it speaks of nothing but that table.

    ``meanings`` are those of the condition's columns, by their ids.
    """
    inside = list(part.walk(prune=lambda node: isinstance(node, QUERIES)))
    found = [meanings.get(id(node)) for node in inside if isinstance(node, exp.Column)]
    has_query = any(isinstance(node, QUERIES) for node in inside)
    if not found or has_query or relation.use is None:
        return
    if any(one is None or one.relation is not relation for one in found):
        return

    def column_of(node: exp.Column) -> str | None:
        meaning = meanings[id(node)]
        whole = meaning.column is not None and meaning.used == len(node.parts)
        return meaning.column if whole and meaning.column != ROW_ID else None

    relation.use.predicates.append(simplify(part, column_of))
