"""Constraints of a table as the Thrift interface describes them, one entry per column."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

from hivesql_executor.metastore.hms.client import CATALOG, Client, idl
from hivesql_planner.model.table import Constraint, ConstraintKind, TableName

# Kind, field of SQLAllTableConstraints, struct, field of the name, add call and its request.
_KINDS: tuple[tuple[ConstraintKind, str, str, str, str], ...] = (
    ("primary key", "primaryKeys", "SQLPrimaryKey", "pk_name", "primary_key"),
    ("foreign key", "foreignKeys", "SQLForeignKey", "fk_name", "foreign_key"),
    ("unique", "uniqueConstraints", "SQLUniqueConstraint", "uk_name", "unique_constraint"),
    ("not null", "notNullConstraints", "SQLNotNullConstraint", "nn_name", "not_null_constraint"),
    ("default", "defaultConstraints", "SQLDefaultConstraint", "dc_name", "default_constraint"),
    ("check", "checkConstraints", "SQLCheckConstraint", "dc_name", "check_constraint"),
)
ALL_KINDS: tuple[ConstraintKind, ...] = tuple(kind for kind, *_ in _KINDS)
_TEXTS = {"default": "default_value", "check": "check_expression"}


def fetch_constraints(
    client: Client, name: TableName, kinds: Collection[ConstraintKind] = ALL_KINDS
) -> tuple[Constraint, ...]:
    """Return the constraints of a table that are of these kinds, by kind and then by name."""
    answers = _fetch_each(client, name, kinds) if client.is_old else _fetch_all(client, name)
    constraints: list[Constraint] = []
    for kind, field, _, name_field, _ in _KINDS:
        if kind not in kinds:
            continue
        rows = sorted(
            getattr(answers, field) or (), key=lambda row: getattr(row, "key_seq", 0) or 0
        )
        by_name: dict[str, list[Any]] = {}
        for row in rows:
            by_name.setdefault(getattr(row, name_field), []).append(row)
        constraints += [
            _read(kind, constraint, members) for constraint, members in sorted(by_name.items())
        ]
    return tuple(constraints)


def in_order(constraints: Iterable[Constraint]) -> tuple[Constraint, ...]:
    """Constraints as ``fetch_constraints`` orders them; those of one kind are in order already."""
    return tuple(sorted(constraints, key=lambda constraint: ALL_KINDS.index(constraint.kind)))


def constraint_lists(name: TableName, constraints: Iterable[Constraint]) -> dict[str, list[Any]]:
    """Entries by field of a CreateTableRequest; empty lists are left out."""
    lists: dict[str, list[Any]] = {}
    for constraint in constraints:
        field = next(field for kind, field, *_ in _KINDS if kind == constraint.kind)
        lists.setdefault(field, []).extend(_write(name, constraint))
    return lists


def change_constraints(
    client: Client, name: TableName, old: Iterable[Constraint], new: Iterable[Constraint]
) -> None:
    """Drop what is no longer there and add what is new; each is a call of its own."""
    wire, before, after = idl(), set(old), set(new)
    for constraint in sorted(before - after, key=lambda constraint: constraint.name):
        client.call(
            "drop_constraint",
            wire.DropConstraintRequest(
                dbname=name.database, tablename=name.name, constraintname=constraint.name
            ),
        )
    for constraint in sorted(after - before, key=lambda constraint: constraint.name):
        call = next(call for kind, *_, call in _KINDS if kind == constraint.kind)
        words = "".join(word.capitalize() for word in call.split("_"))
        request = getattr(wire, f"Add{words}Request")
        first = call.split("_")[0]
        field = "".join((first, *(word.capitalize() for word in call.split("_")[1:]), "Cols"))
        client.call(f"add_{call}", request(**{field: _write(name, constraint)}))


def _fetch_all(client: Client, name: TableName) -> Any:
    wire = idl()
    request = wire.AllTableConstraintsRequest(
        dbName=name.database, tblName=name.name, catName=CATALOG
    )
    return client.call("get_all_table_constraints", request, again=True).allTableConstraints


def _fetch_each(client: Client, name: TableName, kinds: Collection[ConstraintKind]) -> Any:
    """Tell what Hive 3 tells kind by kind."""
    wire = idl()
    place = {"db_name": name.database, "tbl_name": name.name, "catName": CATALOG}
    child = {"foreign_db_name": name.database, "foreign_tbl_name": name.name}
    requests: tuple[tuple[str, Callable[..., Any], dict[str, str]], ...] = (
        ("primary_keys", wire.PrimaryKeysRequest, place),
        ("foreign_keys", wire.ForeignKeysRequest, child | {"catName": CATALOG}),
        ("unique_constraints", wire.UniqueConstraintsRequest, place),
        ("not_null_constraints", wire.NotNullConstraintsRequest, place),
        ("default_constraints", wire.DefaultConstraintsRequest, place),
        ("check_constraints", wire.CheckConstraintsRequest, place),
    )
    answers = wire.SQLAllTableConstraints()
    for (call, request, arguments), (kind, field, *_) in zip(requests, _KINDS, strict=True):
        if kind not in kinds:
            continue
        answer = client.call(f"get_{call}", request(**arguments), again=True)
        setattr(answers, field, getattr(answer, field))
    return answers


def _read(kind: ConstraintKind, name: str, rows: list[Any]) -> Constraint:
    first = rows[0]
    foreign = kind == "foreign key"
    column = "fkcolumn_name" if foreign else "column_name"
    return Constraint(
        kind=kind,
        name=name,
        columns=tuple(getattr(row, column) for row in rows if getattr(row, column)),
        text=getattr(first, _TEXTS[kind]) if kind in _TEXTS else "",
        parent=TableName(first.pktable_db, first.pktable_name) if foreign else None,
        parent_columns=tuple(row.pkcolumn_name for row in rows) if foreign else (),
        enabled=bool(first.enable_cstr),
        rely=bool(first.rely_cstr),
    )


def _write(name: TableName, constraint: Constraint) -> list[Any]:
    wire = idl()
    _, _, struct, name_field, _ = next(row for row in _KINDS if row[0] == constraint.kind)
    flags = {
        "enable_cstr": constraint.enabled,
        "validate_cstr": False,
        "rely_cstr": constraint.rely,
    }
    entries = []
    for number, column in enumerate(constraint.columns or (None,)):
        values: dict[str, Any] = {name_field: constraint.name or None, "catName": CATALOG, **flags}
        if constraint.kind == "foreign key":
            assert constraint.parent is not None
            values |= {
                "pktable_db": constraint.parent.database,
                "pktable_name": constraint.parent.name,
                "pkcolumn_name": constraint.parent_columns[number],
                "fktable_db": name.database,
                "fktable_name": name.name,
                "fkcolumn_name": column,
                "update_rule": 0,
                "delete_rule": 0,
            }
        else:
            values |= {
                "table_db": name.database, "table_name": name.name, "column_name": column
            }  # fmt: skip
        if constraint.kind in _TEXTS:
            values[_TEXTS[constraint.kind]] = constraint.text
        if constraint.kind in ("primary key", "foreign key", "unique"):
            values["key_seq"] = number + 1
        entries.append(getattr(wire, struct)(**values))
    return entries
