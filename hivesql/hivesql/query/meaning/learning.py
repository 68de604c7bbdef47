"""What a condition tells of one table."""

from __future__ import annotations

from collections.abc import Mapping

from hivesql.python_sqlglot import exp
from hivesql.query.meaning.predicates import predicate_of
from hivesql.query.scope import HIDDEN, Meaning, Relation, Scope
from hivesql_planner.predicates.predicate import Predicate

QUERIES = (exp.Select, exp.SetOperation, exp.Subquery, exp.Values)


def learn(
    part: exp.Expr,
    scope: Scope,
    meanings: Mapping[int, Meaning],
    sql: str,
    *,
    only: Relation | None = None,
) -> Predicate | None:
    """Give a condition to the table of the scope that it speaks of, if it speaks of no other.

    ``meanings`` are those of the condition's columns, by their ids, ``sql`` is the statement's
    text. None of ``only``: any table whose columns are not all NULL in rows that an outer join
    adds. Return what the condition means; None where nothing was learnt.
    """
    inside = list(part.walk(prune=lambda node: isinstance(node, QUERIES)))
    if any(isinstance(node, QUERIES) for node in inside):
        return None
    column_meanings = [meanings.get(id(node)) for node in inside if isinstance(node, exp.Column)]
    if not column_meanings:
        return predicate_of(part, lambda column: None, sql)
    first = column_meanings[0]
    if first is None or first.scope is not scope or first.relation.use is None:
        return None
    relation = first.relation
    if relation.nullable or (only is not None and relation is not only):
        return None
    if any(meaning is None or meaning.relation is not relation for meaning in column_meanings):
        return None
    predicate = predicate_of(part, lambda column: column_meant(column, meanings), sql)
    first.relation.use.predicates.append(predicate)
    return predicate


def column_meant(
    node: exp.Column, meanings: Mapping[int, Meaning], only: Relation | None = None
) -> str | None:
    """Return the column that is meant; None for a field of one, and for what no table stores.

    With ``only``, columns of all others are None too.
    """
    meaning = meanings.get(id(node))
    if meaning is None or meaning.used != len(node.parts) or meaning.column in HIDDEN:
        return None
    return meaning.column if only is None or meaning.relation is only else None
