"""What the conditions and values of a MERGE say of its source alone, and of both sides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from hivesql.dialect.slices import Slice
from hivesql.dialect.structure import place_of
from hivesql.python_sqlglot import exp
from hivesql.query.meaning.learning import QUERIES, column_meant
from hivesql.query.meaning.looks import look_of
from hivesql.query.meaning.predicates import conjuncts, predicate_of
from hivesql.query.meaning.rows import rows_of
from hivesql.query.scope import HIDDEN, Relation, Scope
from hivesql_planner.model.hive_type import UNKNOWN
from hivesql_planner.model.table import Column
from hivesql_planner.predicates.predicate import ALWAYS, Other, Predicate
from hivesql_planner.relations import Joining, OfSource, Query

if TYPE_CHECKING:
    from hivesql.query.walk import Walk

_SIDES = 2
_MEMBERS, _MEMBER = "members", "member"
"""Names of a subquery's rows and of their column."""


def of_source(node: exp.Expr, walk: Walk, scope: Scope) -> OfSource | None:
    """Return what a bound expression is of the source alone; None where it is of more.

    ``scope`` has the target and the source.
    """
    if len(scope.relations) != _SIDES:
        return None
    source = scope.relations[1]
    inside = list(node.walk(prune=lambda part: isinstance(part, QUERIES)))
    if any(isinstance(part, QUERIES) for part in inside):
        return None
    for part in inside:
        if not isinstance(part, exp.Column):
            continue
        meaning = walk.meanings.get(id(part))
        if meaning is None or meaning.relation is not source or meaning.column in HIDDEN:
            return None
    plain = node.unnest()
    column = column_meant(plain, walk.meanings) if isinstance(plain, exp.Column) else None
    return OfSource(column=column, type=walk.translator.type_of(node))


def joining_of(condition: exp.Expr, walk: Walk, scope: Scope) -> Joining | None:
    """Return what a bound condition asks of both sides; None where there is no source."""
    if len(scope.relations) != _SIDES:
        return None
    target = scope.relations[0]
    keys: list[tuple[str, OfSource]] = []
    of_target: list[Predicate] = []
    of_rows: list[OfSource] = []
    for part in conjuncts(condition):
        meaning = predicate_of(
            part, lambda node: column_meant(node, walk.meanings, target), walk.binding.text.text
        )
        if meaning == ALWAYS:
            continue
        if (alone := of_source(part, walk, scope)) is not None:
            of_rows.append(replace(alone, sql=_text_of(part, walk)))
        elif meaning == Other() and (key := _key(part, walk, scope)) is not None:
            keys.append(key)
        else:
            of_target.append(meaning)
    return Joining(tuple(keys), tuple(of_target), tuple(of_rows))


def _key(part: exp.Expr, walk: Walk, scope: Scope) -> tuple[str, OfSource] | None:
    """Return a column of the target and what of the source it equals."""
    if not isinstance(part, exp.EQ):
        return None
    target = scope.relations[0]
    for side, other in ((part.this, part.expression), (part.expression, part.this)):
        plain = side.unnest()
        if not isinstance(plain, exp.Column):
            continue
        column = column_meant(plain, walk.meanings, target)
        alone = of_source(other, walk, scope)
        if column is not None and alone is not None:
            return column, replace(alone, sql=_text_of(other, walk))
    return None


def _text_of(node: exp.Expr, walk: Walk) -> str:
    return walk.render(Slice((place_of(node),), node))


def with_meaning(query: Query, part: Slice, columns: tuple[Column, ...], walk: Walk) -> Query:
    """Return a MERGE's source with its columns, and with what it asks or says where it is simple.

    ``part`` is SELECT * from it.
    """
    source = part.tree.args["from_"].this
    inner = source
    if isinstance(source, exp.Subquery) and not (source.alias_column_names):
        inner = source.this
    if part.tree.args.get("with_") is not None:
        return replace(query, columns=columns)
    selected = part.tree if isinstance(inner, exp.Table) else inner
    looked = walk.looked.get(id(selected))
    rows_in = inner if isinstance(inner, exp.Select) else part.tree
    rows = rows_of(Slice(part.spans, rows_in, part.prefix), walk.binding, {})
    return replace(
        query,
        columns=columns,
        rows=rows,
        look=look_of(selected, looked) if looked is not None else None,
    )


def membership_of(
    part: exp.Expr, rest: Sequence[Predicate], walk: Walk, scope: Scope
) -> Joining | None:
    """Return ``column IN (SELECT …)`` as a join with the rows of the subquery, beside other parts.

    None for all else, and where the subquery speaks of the table around it.
    """
    query = part.args.get("query") if isinstance(part, exp.In) else None
    target, selected = scope.relations[0], part.this.unnest() if query is not None else None
    inner = query.this if isinstance(query, exp.Subquery) else query
    if not isinstance(selected, exp.Column) or not isinstance(inner, exp.Query):
        return None
    column = column_meant(selected, walk.meanings, target)
    if column is None or any(map(_of_target(walk, target), inner.find_all(exp.Column))):
        return None
    type_ = walk.translator.type_of(query) or walk.translator.type_of(inner)
    looked = walk.looked.get(id(inner))
    source = Query(
        sql=f"SELECT * FROM ({_text_of(inner, walk)}\n) AS `{_MEMBERS}` (`{_MEMBER}`)",
        sources=tuple(use.source(walk.binding) for use in walk.uses),
        columns=(Column(_MEMBER, type_ or UNKNOWN),),
        look=look_of(inner, looked) if looked is not None else None,
    )
    member = OfSource(f"`{_MEMBER}`", _MEMBER, type=type_)
    return Joining(((column, member),), tuple(rest), source=source)


def _of_target(walk: Walk, target: Relation) -> Callable[[exp.Column], bool]:
    """Tell of columns whether they are, or may be, the target's."""

    def is_of_target(column: exp.Column) -> bool:
        meaning = walk.meanings.get(id(column))
        return meaning is None or meaning.relation is target

    return is_of_target
