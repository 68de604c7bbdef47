"""What may become of a table's types and of its being transactional."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import zip_longest
from typing import Final

from hivesql_planner.errors import SemanticError
from hivesql_planner.model.hive_type import BITS, MOST_DIGITS, HiveType, Kind
from hivesql_planner.model.table import Table

_EXTERNAL = "EXTERNAL"
TRANSACTIONAL, KIND = "transactional", "transactional_properties"
_NUMBERS: Final = (
    Kind.TINYINT, Kind.SMALLINT, Kind.INT, Kind.BIGINT, Kind.DECIMAL, Kind.FLOAT, Kind.DOUBLE,
)  # fmt: skip
"""From the narrowest to the widest."""


def check_compatible(old: HiveType, new: HiveType) -> bool:
    """Tell whether the metastore lets a column's type change so.

    TypeInfoUtils.implicitConvertible: a number to a wider one, everything plain to text, text to
    double and decimal; hive.metastore.disallow.incompatible.col.type.changes is on by default.
    """
    if old == new:
        return True
    before, after = old.kind, new.kind
    if old.is_nested or new.is_nested:
        return before is after and before is not Kind.UNION
    if new.is_text:
        return before is not Kind.BINARY
    if before is Kind.VOID:
        return True
    if old.is_text:
        return after in (Kind.DOUBLE, Kind.DECIMAL)
    if before in _NUMBERS and after in _NUMBERS:
        return _NUMBERS.index(before) <= _NUMBERS.index(after)
    return before is Kind.DATE and after is Kind.TIMESTAMP


def widen(own: HiveType, other: HiveType) -> HiveType:
    """Return the type that a column has to get for values of another type, or ``own``.

    Integers become wider ones, FLOAT becomes DOUBLE, DECIMAL gets digits on both sides of its
    point, and structs get fields behind those that they have. All else stays as it is.
    """
    if own.kind in BITS and other.kind in BITS:
        return max(own, other, key=lambda kind: BITS[kind.kind])
    if (own.kind, other.kind) == (Kind.FLOAT, Kind.DOUBLE):
        return other
    if own.kind is other.kind is Kind.DECIMAL:
        return _wider_decimal(own, other)
    if own.kind is other.kind and own.kind in (Kind.STRUCT, Kind.ARRAY, Kind.MAP):
        # Whole values are taken as they are: each part must be what the source has.
        return other if _is_wider(own, other) else own
    return own


def _wider_decimal(own: HiveType, other: HiveType) -> HiveType:
    scale = max(own.arguments[1], other.arguments[1])
    whole = max(own.arguments[0] - own.arguments[1], other.arguments[0] - other.arguments[1])
    return own if whole + scale > MOST_DIGITS else HiveType.decimal(whole + scale, scale)


def _is_wider(own: HiveType, other: HiveType) -> bool:
    if own.kind is not other.kind or own.kind not in (Kind.STRUCT, Kind.ARRAY, Kind.MAP):
        return own == other or widen(own, other) == other
    if own.kind is Kind.MAP and own.children[0] != other.children[0]:
        return False
    names, others = ([name.lower() for name in kind.names] for kind in (own, other))
    if len(other.children) < len(own.children) or others[: len(names)] != names:
        return False
    pairs = zip_longest(own.children, other.children)
    return all(mine is None or _is_wider(mine, theirs) for mine, theirs in pairs)


def altered_properties(
    table: Table, changes: Mapping[str, str], unset: tuple[str, ...], *, if_exists: bool
) -> dict[str, str]:
    """Give the properties after SET or UNSET, with the checks of a change of ``transactional``."""
    missing = [key for key in unset if key not in table.properties]
    if missing and not if_exists:
        raise SemanticError(
            "Please use the following syntax if not sure whether the property existed or not:\n"
            "ALTER TABLE tableName UNSET TBLPROPERTIES IF EXISTS (key1, key2, ...)\n"
            f"The following property {missing[0]} does not exist in {table.name.name}",
            code=10215,
        )
    altered = {key: value for key, value in table.properties.items() if key not in unset}
    altered.update(changes)
    if table.type == "EXTERNAL_TABLE":
        # Its type says so.
        altered.pop(_EXTERNAL, None)
    _check_both_set(table, changes)
    return _transactional(table, altered)


def _check_both_set(table: Table, changes: Mapping[str, str]) -> None:
    """Hive wants to know which kind a table becomes that does not stay as it is."""
    value = changes.get(TRANSACTIONAL, "true" if table.is_transactional else "").strip().lower()
    if TRANSACTIONAL in changes and KIND not in changes and value != "true":
        raise SemanticError(
            f"Cannot change '{TRANSACTIONAL}' without '{KIND}': {table.name}", code=40000
        )
    if changes.get(KIND, "").strip().lower() == "insert_only" and not value:
        raise SemanticError(
            f"Cannot set '{KIND}' to 'insert_only' without setting '{TRANSACTIONAL}' to 'true': "
            f"{table.name}",
            code=40000,
        )


def with_type(table: Table, properties: Mapping[str, str]) -> Table:
    """Return the table as managed or external, as its new properties say; files stay."""
    says = {properties.get(key, "").strip().lower() == "true" for key in (_EXTERNAL, "external")}
    if True in says and any(constraint.enabled for constraint in table.constraints):
        raise SemanticError(
            f"Invalid Constraint syntax Table: {table.name} has constraints enabled. Please remove "
            "those constraints to change this property.",
            code=10326,
        )
    if _EXTERNAL not in properties or table.is_view or table.is_materialized_view:
        return table
    external = properties[_EXTERNAL].strip().lower() == "true"
    if external and table.is_transactional:
        raise SemanticError(
            f"{table.name} cannot be converted to external table as it is transactional table.",
            code=40013,
        )
    return replace(table, type="EXTERNAL_TABLE" if external else "MANAGED_TABLE")


def _transactional(table: Table, properties: dict[str, str]) -> dict[str, str]:
    # Of insert-only tables Hive finds out before it asks the metastore.
    code = 40000 if table.is_insert_only else 40013
    value = properties.get(TRANSACTIONAL, "").strip().lower()
    if value not in ("", "true", "false"):
        raise SemanticError(
            f"'transactional' property of TBLPROPERTIES may only have value 'true': {table.name}",
            code=code,
        )
    if table.is_transactional and value != "true":
        if table.is_insert_only:
            raise SemanticError(
                f"Cannot convert an ACID table to non-ACID: {table.name}", code=code
            )
        raise SemanticError(
            f"TBLPROPERTIES with 'transactional'='true' cannot be unset: {table.name}", code=code
        )
    if value != "true":
        properties.pop(TRANSACTIONAL, None)
        return properties
    kind = properties.get(KIND, "default").strip().lower()
    if kind not in ("default", "insert_only"):
        raise SemanticError(
            f"Unknown value for transactional_properties {kind!r} of {table.name}: "
            "it may be 'default' or 'insert_only'",
            code=code,
        )
    if table.is_full_acid and kind == "insert_only":
        raise SemanticError(
            "TBLPROPERTIES with 'transactional_properties' cannot be altered after the table "
            "is created",
            code=code,
        )
    properties[TRANSACTIONAL], properties[KIND] = "true", kind
    if not table.is_transactional:
        check_convertible(table, insert_only=kind == "insert_only", code=code)
    elif table.is_insert_only and kind == "default":
        # Files without row ids in the directories of writes get theirs from their places.
        check_convertible(table, insert_only=False, code=code)
    return properties


def check_convertible(table: Table, *, insert_only: bool, code: int = 40013) -> None:
    """Tell whether a table's description allows it to be transactional."""
    if table.type == "EXTERNAL_TABLE":
        raise SemanticError(
            f"{table.name} cannot be declared transactional because it's an external table",
            code=code,
        )
    if insert_only:
        return
    if table.format != "orc":
        raise SemanticError(
            f"The table must be stored using an ACID compliant format (such as ORC): {table.name}",
            code=code,
        )
    if table.sort_columns:
        raise SemanticError(
            f"Table {table.name} cannot support full ACID functionality since it is sorted.",
            code=code,
        )
