"""Predicates over a table's columns, as far as they mean here what they mean in Spark."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from hivesql_planner.local.values import Unclear, compared
from hivesql_planner.model.hive_type import INTEGERS, HiveType, Kind
from hivesql_planner.model.table import Table
from hivesql_planner.predicates.predicate import (
    ALWAYS,
    AllOf,
    AnyOf,
    Compare,
    IsNull,
    IsTrue,
    Not,
    OneOf,
    Predicate,
    Remainder,
    UnlessFalse,
    columns_of,
)

_PARTITIONED = INTEGERS | {Kind.STRING, Kind.DATE}
"""Types of partition columns whose texts are read here."""


def check_partitions(names: Collection[str], table: Table) -> None:
    """Unclear where one of the columns is a partition column whose texts only Spark reads."""
    partitioned = {column.name: column.type.kind for column in table.partition_columns}
    if any(partitioned.get(name, Kind.STRING) not in _PARTITIONED for name in names):
        raise Unclear


def table_condition(predicate: Predicate, table: Table) -> Predicate | None:
    """Give a condition over all columns of a table; None where it always holds, as ``1 = 1``."""
    if predicate == ALWAYS:
        return None
    types = {column.name: column.type for column in table.all_columns}
    check_partitions(set(columns_of(predicate)), table)
    return of_own_types(predicate, types)


def of_own_types(predicate: Predicate, types: Mapping[str, HiveType]) -> Predicate:
    """Return the predicate with constants of its columns' own types, by which files are read."""
    match predicate:
        case Compare(column=name, operator=sign, value=value) if sign != "<=>":
            return Compare(name, sign, compared(value, types[name]))
        case OneOf(column=name, values=values, has_null=has_null):
            constants: set[Any] = {compared(constant, types[name]) for constant in values}
            return OneOf(name, tuple(sorted(constants)), has_null)
        case Remainder(column=name) if types[name].kind in INTEGERS:
            return predicate
        case IsNull():
            return predicate
        case IsTrue(column=name) if types[name].kind is Kind.BOOLEAN:
            return predicate
        case Not(part=part):
            return Not(of_own_types(part, types))
        case UnlessFalse(part=part):
            return UnlessFalse(of_own_types(part, types))
        case AllOf(parts=parts) if parts:
            return AllOf(tuple(of_own_types(part, types) for part in parts))
        case AnyOf(parts=parts):
            return AnyOf(tuple(of_own_types(part, types) for part in parts))
    raise Unclear
