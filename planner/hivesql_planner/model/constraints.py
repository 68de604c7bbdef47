"""Constraints of a table: what Hive allows, how they are named, what is enforced."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import count

from hivesql_planner.errors import ConstraintViolation, SemanticError
from hivesql_planner.model.hive_type import HiveType
from hivesql_planner.model.table import Constraint, ConstraintKind, Table, TableName

_PREFIXES: dict[ConstraintKind, str] = {
    "primary key": "pk",
    "foreign key": "fk",
    "unique": "uk",
    "not null": "nn",
    "default": "dc",
    "check": "dc",
}
VIOLATED = "Either CHECK or NOT NULL constraint violated!"
ENFORCED: tuple[ConstraintKind, ...] = ("not null", "default", "check")


def with_constraints(table: Table, new: Iterable[Constraint]) -> Table:
    """Return the table with more constraints, each of them named; SemanticError 10326, 10332."""
    constraints = list(table.constraints)
    for constraint in new:
        _check(table, constraint, constraints)
        names = {other.name for other in constraints}
        constraints.append(
            constraint
            if constraint.name
            else replace(constraint, name=_free_name(table, constraint, names))
        )
    return replace(table, constraints=tuple(constraints))


def unknown_parent(name: TableName) -> SemanticError:
    """Return a foreign key speaks of a table that is not there."""
    return SemanticError(f"Parent table not found: {name}", code=40000)


def check_reference(new: Constraint, table: Table, parent: Table) -> None:
    """Refuse a foreign key whose columns are no key of its parent, with Hive's codes."""
    if len(new.columns) != len(new.parent_columns):
        raise SemanticError(
            "Invalid Foreign Key syntax The number of foreign key columns should be same as number "
            "of parent key columns",
            code=10325,
        )
    types = {column.name: column.type for column in table.columns}
    theirs = {column.name: column.type for column in parent.columns}
    for name in new.parent_columns:
        if name not in theirs:
            raise SemanticError(f"Parent column not found: {name}", code=40000, about=name)
    keys = [
        tuple((name, theirs[name]) for name in key.columns)
        for key in parent.constraints
        if key.kind in ("primary key", "unique")
    ]
    if not keys:
        raise SemanticError(
            "Trying to define foreign key but there are no primary keys or unique keys for "
            f"referenced table {parent.name}",
            code=40000,
        )
    own = tuple((name, types[name]) for name in new.columns)
    if parent.name == table.name and own in keys:
        raise SemanticError(
            f"Cannot be both foreign key and primary/unique key on same table: {_listed(own)}",
            code=40000,
        )
    referenced = tuple(
        (name, kind) for name, (_, kind) in zip(new.parent_columns, own, strict=True)
    )
    if referenced not in keys:
        raise SemanticError(
            f"Foreign key references {_listed(referenced)} but no corresponding primary key or "
            f"unique key exists. Possible keys: [{', '.join(map(_listed, keys))}]",
            code=40000,
        )


def _listed(columns: tuple[tuple[str, HiveType], ...]) -> str:
    return "".join(f"{name}:{kind};" for name, kind in columns)


def without_constraint(table: Table, name: str) -> Table:
    """Return the table without the constraint of that name."""
    remaining = tuple(constraint for constraint in table.constraints if constraint.name != name)
    if len(remaining) == len(table.constraints):
        raise SemanticError(
            f"The constraint: {name} does not exist for the associated table: {table.name}",
            code=40000,
        )
    return replace(table, constraints=remaining)


def violation() -> ConstraintViolation:
    """Return a row that is to be written breaks a constraint."""
    return ConstraintViolation(f"{VIOLATED} Nothing was changed")


def default_of(table: Table, column: str) -> str | None:
    """Return the Hive text of a column's default value, or None."""
    for constraint in table.constraints:
        if constraint.kind == "default" and constraint.enabled and constraint.columns == (column,):
            return constraint.text
    return None


def _check(table: Table, new: Constraint, others: list[Constraint]) -> None:
    if new.kind not in ENFORCED and new.enabled:
        if new.kind == "foreign key":
            raise SemanticError(
                "Invalid Foreign Key syntax ENABLE feature not supported yet. Please use DISABLE "
                "instead.",
                code=10325,
            )
        raise _invalid(
            "ENABLE/ENFORCED feature not supported yet. Please use DISABLE/NOT ENFORCED instead."
        )
    if table.type == "EXTERNAL_TABLE" and (new.enabled or new.kind in ("default", "check")):
        raise _invalid("Constraints are disallowed with External tables. Only RELY is allowed.")
    for name in new.columns:
        if name not in (*table.column_names, *table.partition_names):
            whose = "Child" if new.kind == "foreign key" else "Parent"
            raise SemanticError(f"{whose} column not found: {name}", code=40000, about=name)
    if new.name and any(new.name == other.name for other in others):
        name = f"{table.name}.{new.name}"
        raise SemanticError(f"Constraint name already exists: {name}", code=40000)
    same = [other for other in others if other.kind == new.kind]
    if new.kind == "primary key" and any(constraint in table.constraints for constraint in same):
        raise SemanticError(f"Primary key already exists for: {table.name}", code=40000)
    if new.kind == "primary key" and same:
        raise SemanticError(
            "Invalid constraint definition Cannot exist more than one primary key definition for "
            "the same table",
            code=10332,
        )
    if new.kind in ("default", "not null") and any(
        new.columns == constraint.columns for constraint in same
    ):
        raise _invalid(f"{new.columns[0]} has a {new.kind.upper()} constraint already")


def _invalid(text: str) -> SemanticError:
    return SemanticError(f"Invalid Constraint syntax {text}", code=10326)


def _free_name(table: Table, new: Constraint, names: set[str]) -> str:
    """Make up a name as Hive's ObjectStore does, which lists constraints in the order of names.

    Hive has the time between the hash and the number. Here it is 0: a script gets the same names
    whenever it runs.
    """
    prefix = _PREFIXES[new.kind]
    parts = [table.name.database, table.name.name]
    if new.parent is not None:
        parts += [new.parent.database, new.parent.name, *new.parent_columns[:1]]
    column = new.columns[0] if new.columns else "<null>"
    hashed = _java_hash(f"{{{','.join([*parts, column, prefix])}}}") & 0xFFFFFFF
    return next(name for n in count() if (name := f"{prefix}_{hashed}_0_{n}") not in names)


def _java_hash(text: str) -> int:
    """Return the hash of Java's String, of 32 bits without a sign."""
    total = 0
    units = text.encode("utf-16-be")
    for high, low in zip(units[::2], units[1::2], strict=True):
        total = (31 * total + 256 * high + low) & 0xFFFFFFFF
    return total
