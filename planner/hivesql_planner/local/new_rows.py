"""New rows of small changes: old values, constants and what is computed of both."""

from __future__ import annotations

from collections.abc import Mapping

from hivesql_planner.local.conditions import of_own_types
from hivesql_planner.local.values import Unclear, operand, stored
from hivesql_planner.model.hive_type import HiveType, Kind
from hivesql_planner.model.table import Column, Table
from hivesql_planner.predicates.predicate import Computed, Constant, Meaning, OldValue, Predicate
from hivesql_planner.relations import Expr, Joining, OfSource


def is_carried(column: Column) -> bool:
    """Tell whether old values go over into new files as they are."""
    nested_time = column.type.is_nested and column.type.holds(Kind.TIMESTAMP)
    return not nested_time and not column.type.holds(Kind.INSTANT, Kind.UNION)


def new_value(
    meaning: Meaning | OfSource | Joining | None, column: Column, types: Mapping[str, HiveType]
) -> OldValue | Constant | Computed:
    """Return a new value of a column; Unclear where it is more than a constant or an old one."""
    match meaning:
        case Constant(value=value):
            return Constant(stored(value, column.type))
        case OldValue(column=name) | Computed(column=name) if types.get(name) == column.type:
            if isinstance(meaning, OldValue):
                return meaning
            number = operand(meaning.number, meaning.operator, types[name])
            return Computed(name, meaning.operator, number)
    raise Unclear


def constraint(check: Expr | None, table: Table) -> Predicate | None:
    """Return what must hold of new rows, None of any; Unclear where only Spark understands it."""
    if check is None:
        return None
    return of_own_types(
        meant_condition(check), {column.name: column.type for column in table.columns}
    )


def meant_condition(of: Expr) -> Predicate:
    """Return what a condition over one table means; Unclear where that is not known."""
    if of.meaning is None or isinstance(
        of.meaning, (Constant, OldValue, Computed, OfSource, Joining)
    ):
        raise Unclear
    return of.meaning
