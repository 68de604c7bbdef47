"""Constraints of a table: what Hive allows, how they are named, what is enforced."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from hivesql_planner.errors import ConstraintViolation, SemanticError
from hivesql_planner.table import Constraint, ConstraintKind, Table

_PREFIXES: dict[ConstraintKind, str] = {
    "primary key": "pk",
    "foreign key": "fk",
    "unique": "uk",
    "not null": "nn",
    "default": "dc",
    "check": "cc",
}
VIOLATED = "Either CHECK or NOT NULL constraint violated!"
ENFORCED: tuple[ConstraintKind, ...] = ("not null", "default", "check")


def with_constraints(table: Table, new: Iterable[Constraint]) -> Table:
    """The table with more constraints, each of them named; SemanticError 10326, 10332."""
    found = list(table.constraints)
    for one in new:
        _check(table, one, found)
        names = {other.name for other in found}
        found.append(one if one.name else replace(one, name=_free_name(table, one, names)))
    return replace(table, constraints=tuple(found))


def without_constraint(table: Table, name: str) -> Table:
    """The table without the constraint of that name."""
    kept = tuple(one for one in table.constraints if one.name != name)
    if len(kept) == len(table.constraints):
        raise SemanticError(
            f"The constraint: {name} does not exist for the associated table: {table.name}"
        )
    return replace(table, constraints=kept)


def violation() -> ConstraintViolation:
    """A row that is to be written breaks a constraint."""
    return ConstraintViolation(f"{VIOLATED} Nothing was changed")


def default_of(table: Table, column: str) -> str | None:
    """The Hive text of a column's default value, or None."""
    for one in table.constraints:
        if one.kind == "default" and one.enabled and one.columns == (column,):
            return one.text
    return None


def _check(table: Table, new: Constraint, others: list[Constraint]) -> None:
    if new.kind not in ENFORCED and new.enabled:
        raise _invalid(
            "ENABLE/ENFORCED feature not supported yet. Please use DISABLE/NOT ENFORCED instead."
        )
    if table.type == "EXTERNAL_TABLE" and new.enabled:
        raise _invalid("Constraints are disallowed with External tables. Only RELY is allowed.")
    for name in new.columns:
        if name not in table.column_names:
            raise SemanticError(f"Invalid column reference {name} in a constraint", code=10002)
    if new.name and any(new.name == other.name for other in others):
        raise SemanticError(f"Constraint name already exists: {new.name}")
    same = [other for other in others if other.kind == new.kind]
    if new.kind == "primary key" and same:
        raise SemanticError(
            "Invalid constraint definition Cannot exist more than one primary key definition for "
            "the same table",
            code=10332,
        )
    if new.kind in ("default", "not null") and any(new.columns == one.columns for one in same):
        raise _invalid(f"{new.columns[0]} has a {new.kind.upper()} constraint already")


def _invalid(text: str) -> SemanticError:
    return SemanticError(f"Invalid Constraint syntax {text}", code=10326)


def _free_name(table: Table, one: Constraint, taken: set[str]) -> str:
    base = "_".join([_PREFIXES[one.kind], table.name.name, *one.columns])
    name, number = base, 1
    while name in taken:
        name, number = f"{base}_{number}", number + 1
    return name
