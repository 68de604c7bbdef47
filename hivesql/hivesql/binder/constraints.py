"""Constraints: their expressions checked when they are made, and put into statements that write."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from hivesql.binding import Binding
from hivesql.dialect.edits import Edit, Span, apply_edits
from hivesql.dialect.slices import Slice
from hivesql.dialect.spark_differences import tokens_in
from hivesql.dialect.structure import place_of, read_expression
from hivesql.dialect.value_types import Type
from hivesql.expressions.calls import Call
from hivesql.expressions.casts import write_template
from hivesql.expressions.windows import AGGREGATES
from hivesql.python_sqlglot import exp
from hivesql.query.joins import of_source
from hivesql.query.meaning.constants import constant_of
from hivesql.query.meaning.learning import column_meant
from hivesql.query.meaning.predicates import all_of, predicate_of, value_of
from hivesql.query.scope import Output, Relation, Scope
from hivesql.query.walk import Walk
from hivesql.script import StatementText
from hivesql_planner.errors import HiveSqlError, NoSuchObject, NotSupported, SemanticError
from hivesql_planner.model.constraints import (
    check_reference,
    default_of,
    unknown_parent,
    with_constraints,
)
from hivesql_planner.model.conversions import check_assignment, instant_text
from hivesql_planner.model.hive_type import BOOLEAN, INSTANT, quote_name
from hivesql_planner.model.table import Column, Constraint, Table, TableName
from hivesql_planner.predicates.predicate import Constant, IsNull, Not, Predicate, UnlessFalse
from hivesql_planner.relations import Expr
from hivesql_planner.settings.session_zone import session_zone
from hivesql_planner.statements.surrogate_keys import for_row

ROW = "row"
"""The struct of data columns of which an enforced condition speaks."""
_LONGEST_TEXT = 255
_AHEAD = len("SELECT ")
"""An expression is read behind the word SELECT, which needs its room."""


def constrained(table: Table, new: Iterable[Constraint], start: int, binding: Binding) -> Table:
    """Return the table with constraints that Hive would accept."""
    resolved = [complete(constraint, binding) for constraint in new]
    try:
        after = with_constraints(table, resolved)
        check_new(after, resolved, binding)
    except HiveSqlError as error:
        binding.fail(error, start)
    return after


def complete(constraint: Constraint, binding: Binding) -> Constraint:
    """Give a constraint the database of its parent table, and a CHECK's columns Hive's quotes."""
    if constraint.kind == "check":
        return replace(constraint, text=_quoted_columns(constraint.text, binding))
    if constraint.parent is None or constraint.parent.database:
        return constraint
    return replace(constraint, parent=TableName(binding.database, constraint.parent.name))


def _quoted_columns(text: str, binding: Binding) -> str:
    part, own = _read(text, "constraint", binding)
    edits = [
        Edit(name.meta["start"], name.meta["end"] + 1, quote_name(name.name.lower()))
        for column in part.tree.find_all(exp.Column)
        for name in column.parts
        if isinstance(name, exp.Identifier)
    ]
    return apply_edits(own.text.text, part.spans, edits)


def check_new(table: Table, new: Iterable[Constraint], binding: Binding) -> None:
    """Refuse constraints of a table that mean nothing: texts, and keys of other tables."""
    for constraint in new:
        check_texts(table, [constraint], binding)
        if constraint.parent is not None:
            own = constraint.parent == table.name
            try:
                parent = table if own else binding.catalog.table(constraint.parent)
            except NoSuchObject as error:
                raise unknown_parent(constraint.parent) from error
            check_reference(constraint, table, parent)


def check_texts(table: Table, new: Iterable[Constraint], binding: Binding) -> None:
    """Refuse DEFAULT and CHECK expressions that mean nothing here, as error 10326."""
    for constraint in new:
        if constraint.kind not in ("default", "check"):
            continue
        binding = replace(binding, gives_write_id=constraint.kind == "default")
        visible = table if constraint.kind == "check" else replace(table, columns=())
        try:
            part, walk = _understood(constraint.text, visible, binding)
            walk.render(part)
        except SemanticError as error:
            raise SemanticError(
                f"Invalid Constraint syntax Invalid {constraint.kind.upper()} constraint "
                f"expression: {constraint.text}: {error.message}",
                code=10326,
            ) from error
        if constraint.kind == "default":
            _check_default(constraint, table, walk.translator.type_of(part.tree))
        else:
            _check_condition(constraint, part.tree, walk)


def _check_condition(constraint: Constraint, tree: exp.Expr, walk: Walk) -> None:
    """Refuse a CHECK that is no condition over the columns of one row."""
    what = f"Invalid Constraint syntax Invalid CHECK constraint expression: {constraint.text}"
    for node in tree.walk():
        name = str(node.this).lower() if isinstance(node, exp.Anonymous) else ""
        if name in AGGREGATES:
            raise SemanticError(f"{what}. Not yet supported place for UDAF '{name}'", code=10128)
        if isinstance(node, exp.Window):
            raise SemanticError(f"{what}. Window functions are not allowed", code=10326)
        if isinstance(node, exp.Select):
            raise SemanticError(f"{what}. Subqueries are not allowed", code=10326)
    if len(constraint.text) > _LONGEST_TEXT:
        raise SemanticError(
            f"Invalid Constraint syntax Constraint value: {constraint.text[:40]}… exceeded maximum "
            f"allowed length: {_LONGEST_TEXT}",
            code=10326,
        )
    kind = walk.translator.type_of(tree)
    if kind not in (None, BOOLEAN):
        raise SemanticError(
            f"{what}. Invalid Constraint syntax Only boolean type is supported for CHECK "
            f"constraint: {constraint.text}. Found: {kind}",
            code=10326,
        )


def _check_default(constraint: Constraint, table: Table, source: Type) -> None:
    """Refuse a default of another type than its column; what only Spark knows is left to it."""
    (type_,) = (column.type for column in table.columns if column.name in constraint.columns)
    if source is not None and source != type_:
        raise SemanticError(
            f"Invalid Constraint syntax Invalid type: {source} for default value: "
            f"{constraint.text}. "
            f"Please make sure that the type is compatible with column type: {type_}, "
            f"CAST({constraint.text} AS {type_}) for example",
            code=10326,
            about=constraint.columns[0],
        )
    if len(constraint.text) > _LONGEST_TEXT:
        raise SemanticError(
            f"Invalid Constraint syntax Invalid Default value:  {constraint.text[:40]}… .Maximum "
            f"character length allowed is {_LONGEST_TEXT} .",
            code=10326,
        )


def _condition(text: str, table: Table, binding: Binding) -> tuple[str, Predicate]:
    """Spark SQL of a CHECK's Hive text, columns as fields of ``row``, and what it means."""
    part, walk = _understood(text, table, binding)
    sql = walk.binding.text.text
    meaning = predicate_of(part.tree, lambda node: column_meant(node, walk.meanings), sql)
    return walk.render(part), meaning


def _read(text: str, origin: str, binding: Binding) -> tuple[Slice, Binding]:
    """Return a constraint's text as it was read, and the binding of its places."""
    inner = StatementText(" " * _AHEAD + text, origin)
    own = Binding(
        binding.catalog, binding.database, binding.settings, inner, user=binding.user,
        gives_write_id=binding.gives_write_id,
    )  # fmt: skip
    return read_expression(inner, own.tokens, (_AHEAD, _AHEAD + len(text))), own


def _understood(text: str, table: Table, binding: Binding) -> tuple[Slice, Walk]:
    """Return a constraint's text as it was read, and what became of it."""
    inside = replace(binding, database=table.name.database)
    part, own = _read(text, f"constraint of {table.name}", inside)
    walk = Walk(own)
    columns = tuple(Output(column.name, column.type) for column in table.columns)
    walk.expression(part.tree, Scope(relations=[Relation(ROW, columns)]), {})
    places = map(place_of, part.tree.find_all(exp.Column))
    # First, so that they are inside of what else becomes of a column.
    walk.edits[:0] = [Edit(*place, "", (f"{quote_name(ROW)}.", place)) for place in places]
    return part, walk


def _as_written(value: Expr, part: Slice, column: Column, walk: Walk) -> Expr:
    """Return a value as Hive converts it for a column of another type."""
    literal = part.tree.name if isinstance(part.tree, exp.Literal) else None
    source = walk.translator.type_of(part.tree)
    return converted(value, source, column, part.spans[0], walk.binding, literal=literal)


def converted(
    value: Expr,
    source: Type,
    column: Column,
    place: Span,
    binding: Binding,
    *,
    literal: str | None = None,
) -> Expr:
    """Return a value of some type, or a literal, as Hive converts it for a column.

    What it refuses to convert is an error at ``place`` in the statement's text.
    """
    strict = binding.settings.flag("hive.strict.timestamp.conversion")
    try:
        check_assignment(source, column.type, strict=strict)
    except SemanticError as error:
        binding.fail(error, *place)
    template = write_template(
        Call("", (source,), (literal,), settings=binding.settings), column.type
    )
    # A value may end in a comment.
    return Expr(template.replace("@0", f"({value}\n)")) if template else value


def enforced(table: Table, binding: Binding) -> Expr | None:
    """Tell what must hold for each written row, over the struct ``row``; None for nothing."""
    parts: list[str] = []
    meanings: list[Predicate] = []
    for constraint in table.constraints:
        if not constraint.enabled:
            continue
        if constraint.kind == "not null" and binding.settings.flag(
            "hive.constraint.notnull.enforce"
        ):
            parts.append(f"{quote_name(ROW)}.{quote_name(constraint.columns[0])} IS NOT NULL")
            meanings.append(Not(IsNull(constraint.columns[0])))
        elif constraint.kind == "check":
            sql, meaning = _condition(constraint.text, table, binding)
            parts.append(f"coalesce({sql}, true)")
            meanings.append(UnlessFalse(meaning))
    return Expr(" AND ".join(parts), all_of(meanings)) if parts else None


def default_value(table: Table, column: str, binding: Binding) -> Expr:
    """Return a column's default value; NULL without one."""
    text = default_of(table, column)
    if text is None:
        return Expr("NULL", Constant(None))
    if "surrogate_key" in text.lower() and not binding.gives_write_id:
        raise NotSupported(f"the default {text} of {table.name}.{column} in UPDATE and MERGE")
    (target,) = (candidate for candidate in table.all_columns if candidate.name == column)
    part, walk = _understood(text, replace(table, columns=()), binding)
    meaning = constant_of(part.tree, walk.binding.text.text)
    expression = _as_written(Expr(walk.render(part), meaning), part, target, walk)
    return replace(expression, sql=f"({expression})")


def inserted_default(table: Table, column: str, binding: Binding) -> Expr:
    """Return the same for a column of an INSERT's rows, which are still to be converted."""
    expression, zone = default_value(table, column, binding), session_zone(binding.settings)
    (target,) = (candidate for candidate in table.all_columns if candidate.name == column)
    if target.type != INSTANT or zone is None:
        return expression
    # A text tells its zone; Spark's timestamp would be taken for a wall clock.
    return replace(expression, sql=f"({instant_text(zone).replace('@0', str(expression))})")


def value(part: Slice, column: str, table: Table, walk: Walk, scope: Scope) -> Expr:
    """Tell what is assigned to a column, as Hive converts it; DEFAULT is the column's."""
    start, end = part.spans[0]
    if walk.binding.text.text[start:end].strip().lower() == "default":
        return default_value(table, column, walk.binding)
    (target,) = (candidate for candidate in table.all_columns if candidate.name == column)
    expression = walk.expr(part, scope)
    meaning = value_of(
        part.tree,
        lambda node: column_meant(node, walk.meanings, scope.relations[0]),
        walk.binding.text.text,
    )
    written = _as_written(replace(expression, meaning=meaning), part, target, walk)
    if written.meaning is not None or (alone := of_source(part.tree, walk, scope)) is None:
        return written
    is_converted = written.sql != expression.sql
    return replace(written, meaning=replace(alone, is_converted=is_converted))


def defaults_of_values(
    part: Slice, columns: Sequence[str], table: Table, binding: Binding
) -> dict[int, Expr]:
    """Each word DEFAULT in the rows of VALUES, by its offset, with what it stands for."""
    tokens = list(tokens_in(binding.tokens, part.spans))
    if not tokens or not tokens[0].is_("values"):
        return {}
    defaults: dict[int, Expr] = {}
    values: dict[str, Expr] = {}
    depth = index = row = 0
    for token in tokens[1:]:
        depth += token.is_("(") - token.is_(")")
        if token.is_("(") and depth == 1:
            index = 0
            row += 1
        elif token.is_(",") and depth == 1:
            index += 1
        elif token.is_("default") and depth == 1 and index < len(columns):
            column = columns[index]
            if column not in values:
                values[column] = inserted_default(table, column, binding)
            default = values[column]
            defaults[token.start] = replace(default, sql=for_row(default.sql, row - 1))
    return defaults
