"""Constraints of columns and tables."""

from __future__ import annotations

from dataclasses import replace

from hivesql.dialect.statements.types import parse_type
from hivesql.dialect.structure import read_expression
from hivesql.dialect.tokens import Cursor, Kind, at
from hivesql.python_sqlglot import exp
from hivesql_planner.errors import SemanticError
from hivesql_planner.model.constraints import ENFORCED
from hivesql_planner.model.table import Column, Constraint, ConstraintKind

_OF_TABLE = ("primary", "unique", "foreign", "check", "constraint")
_OF_COLUMN = ("primary", "unique", "not", "default", "check", "constraint", "references")
_AFTER = ("comment", "enable", "enforced", "disable", "not", "validate", "novalidate", "rely",
          "norely", "first", "after")  # fmt: skip

Definitions = tuple[tuple[Column, ...], tuple[Constraint, ...]]


def parse_definitions(cursor: Cursor, *, of_partitions: bool = False) -> Definitions:
    """``(name type [constraint] [COMMENT 'c'], …, [table constraint], …)``.

    Partition columns have no table constraints and none that would be enforced.
    """
    cursor.expect("(")
    columns: list[Column] = []
    constraints: list[Constraint] = []
    while True:
        start = cursor.peek().start
        if not of_partitions and _at_table_constraint(cursor):
            constraints.append(parse_constraint(cursor))
        else:
            name = cursor.new_column().text
            type_ = parse_type(cursor)
            if (constraint := parse_column_constraint(cursor, name)) is not None:
                if of_partitions and constraint.enabled and constraint.kind in ENFORCED:
                    error = SemanticError(
                        "Invalid Constraint syntax NOT NULL,DEFAULT and CHECK Constraints are not "
                        "allowed with partition columns.",
                        code=10326,
                    )
                    raise at(error, cursor.text, start)
                constraints.append(constraint)
            comment = cursor.string() if cursor.take("comment") else None
            columns.append(Column(name, type_, comment))
        if not cursor.take(","):
            break
    cursor.expect(")")
    if not columns:
        what = "Either list of columns or a custom serializer should be specified"
        raise at(SemanticError(what, code=10043), cursor.text, cursor.last_end - 1)
    return tuple(columns), tuple(constraints)


def _at_table_constraint(cursor: Cursor) -> bool:
    token, after = cursor.peek(), cursor.peek(1)
    if token.kind is not Kind.WORD or token.value not in _OF_TABLE:
        return False
    return after.is_("key") or after.is_("(") or token.value == "constraint"


def parse_constraint(cursor: Cursor) -> Constraint:
    """Take a table constraint: PRIMARY KEY, UNIQUE, FOREIGN KEY or CHECK (…)."""
    name = _name(cursor)
    if cursor.take("check"):
        constraint = Constraint(kind="check", name=name, text=_condition(cursor))
    elif cursor.take("foreign", "key"):
        constraint = _references(cursor, name, _names(cursor))
    else:
        kind = _key(cursor)
        constraint = Constraint(kind=kind, name=name, columns=_names(cursor))
    return _with_options(cursor, constraint)


def parse_column_constraint(cursor: Cursor, column: str) -> Constraint | None:
    """Read the constraint that may stand after a column's type; None where none does."""
    token = cursor.peek()
    if token.kind is not Kind.WORD or token.value not in _OF_COLUMN:
        return None
    name = _name(cursor)
    if cursor.take("not", "null"):
        constraint = Constraint(kind="not null", name=name, columns=(column,))
    elif cursor.take("default"):
        constraint = Constraint(kind="default", name=name, columns=(column,), text=_default(cursor))
    elif cursor.take("check"):
        # Hive looks for the column by its name without outer blanks: then it is of none.
        columns = (column,) if column == column.strip() else ()
        constraint = Constraint(kind="check", name=name, columns=columns, text=_condition(cursor))
    elif cursor.at("references"):
        constraint = _references(cursor, name, (column,))
    else:
        constraint = Constraint(kind=_key(cursor), name=name, columns=(column,))
    return _with_options(cursor, constraint)


def _name(cursor: Cursor) -> str:
    return cursor.name("a constraint's name").text if cursor.take("constraint") else ""


def _key(cursor: Cursor) -> ConstraintKind:
    if cursor.take("primary", "key"):
        return "primary key"
    if not cursor.take("unique"):
        cursor.fail("expected a constraint")
    return "unique"


def _names(cursor: Cursor) -> tuple[str, ...]:
    return tuple(name.text for name in cursor.names())


def _references(cursor: Cursor, name: str, columns: tuple[str, ...]) -> Constraint:
    cursor.expect("references")
    table = cursor.table()
    parent = table.full("")
    return Constraint(
        kind="foreign key",
        name=name,
        columns=columns,
        parent=parent,
        parent_columns=_names(cursor),
    )


def _condition(cursor: Cursor) -> str:
    """Take ``(i > 5)``, or what Hive 3 takes too: ``i > 5``."""
    opened = cursor.peek()
    if opened.is_("("):
        cursor.skip_group()
        closed = cursor.tokens[cursor.position - 1]
        span = (opened.end, closed.start)
    else:
        span = (opened.start, max(opened.start, _end_of_condition(cursor)))
    read_expression(cursor.text, cursor.tokens, span)
    return cursor.text.text[slice(*span)].strip()


def _end_of_condition(cursor: Cursor) -> int:
    end = cursor.find(",", *_AFTER)
    while cursor.at("not") and not cursor.at("not", "enforced"):
        cursor.expect("not")
        end = cursor.find(",", *_AFTER)
    return end


def _default(cursor: Cursor) -> str:
    first = cursor.peek()
    start = first.start
    end = cursor.find(",", *_AFTER)
    value = read_expression(cursor.text, cursor.tokens, (start, max(start, end))).tree
    if first.is_("+") or isinstance(value, (exp.Unary, exp.Binary)):
        cursor.fail("expected a constant, a call or CAST(… AS …) as the default value", first)
    return cursor.text.text[start:end]


def _with_options(cursor: Cursor, constraint: Constraint) -> Constraint:
    """[ENABLE | DISABLE] [NOVALIDATE] [RELY | NORELY]; keys that say nothing are enabled."""
    enabled = True
    if cursor.take("disable") or cursor.take("not", "enforced"):
        enabled = False
    elif not cursor.take("enable"):
        cursor.take("enforced")
    if cursor.at("validate"):
        key = constraint.kind == "foreign key"
        error = SemanticError(
            f"Invalid {'Foreign Key' if key else 'Constraint'} syntax VALIDATE feature not "
            "supported yet. Please use NOVALIDATE instead.",
            code=10325 if key else 10326,
        )
        raise at(error, cursor.text, cursor.peek().start, cursor.peek().end)
    cursor.take("novalidate")
    rely = not cursor.take("norely") and (cursor.take("rely") or constraint.kind in ENFORCED)
    return replace(constraint, enabled=enabled, rely=rely)
