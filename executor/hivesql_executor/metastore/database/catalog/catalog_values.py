"""Rows of the catalog as values, whoever has read them.

A row is anything with attributes that are named as the columns' keys in ``schema``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, get_args

from hivesql_executor.metastore.database.catalog.storage_formats import format_of
from hivesql_planner.errors import DataError
from hivesql_planner.model.materialized import MATERIALIZED, Materialized
from hivesql_planner.model.names import halves, split_names
from hivesql_planner.model.skew import SKEWED, Skew
from hivesql_planner.model.statistics import ACCURATE, BASICS
from hivesql_planner.model.table import (
    DEFAULT_PARTITION,
    Column,
    Constraint,
    ConstraintKind,
    Database,
    Partition,
    Table,
    TableName,
    TableType,
)

if TYPE_CHECKING:
    pass

ESCAPE = "/"
"""Stands before what would be a wildcard in a pattern."""
_WILD = re.compile("[%_/]")
_MANY_TXNS = 100
"""Fewer ended transactions cost nobody anything."""
ASCENDING, DESCENDING = 1, 0
"""SORT_COLS.ORDER."""
# Hive keeps these among the table's parameters; Table has fields for them.
COMMENT, EXTERNAL = "comment", "EXTERNAL"
BASE_WRITE = "hivesql.statistics.base"
"""A parameter that is no property: the write that last replaced all rows."""
STATISTICS = (*BASICS, ACCURATE, BASE_WRITE)
"""Parameters that every write changes, and that are therefore no properties of a Table."""
STATISTICS_FIELDS = (
    "name", "type", "nulls", "distinct", "low", "high", "average_length", "longest", "trues",
    "falses",
)  # fmt: skip
"""What TAB_COL_STATS and PART_COL_STATS tell of a column."""
STORAGE_MARK = "hivesql.partitions"
"""A parameter of a table's storage: some partitions may be stored otherwise than the table."""
CONSTRAINT_KINDS: tuple[ConstraintKind, ...] = (
    "primary key", "foreign key", "unique", "not null", "default", "check",
)  # fmt: skip
"""Hive numbers them so."""
ENABLED, RELY = 4, 1
"""Bits of ENABLE_VALIDATE_RELY."""


def due_since(moment: int, timeout: float, time_to_live: float) -> dict[str, object]:
    """Give what decides at a moment, in milliseconds, whether housekeeping is due."""
    return {
        "oldest": moment - int(timeout * 1000),
        "logged": moment // 1000 - int(time_to_live),
        "many": _MANY_TXNS,
    }


def database_of(row: Any, properties: dict[str, str]) -> Database:
    """Return the database of a row of DBS."""
    return Database(
        name=row.name,
        location=row.location,
        comment=row.comment,
        owner=row.owner or "",
        owner_type=row.owner_type or "USER",
        managed_location=row.managed_location,
        properties=properties,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TableDetails:
    """What a table and its storage own: rows that name them."""

    parameters: Mapping[str, str]
    serde_properties: dict[str, str]
    columns: tuple[Column, ...]
    partition_columns: tuple[Column, ...]
    bucket_columns: tuple[str, ...]
    sorting: Mapping[str, int]
    """The columns that each bucket is sorted by, with ASCENDING or DESCENDING."""
    constraints: tuple[Constraint, ...]


def table_of(name: TableName, row: Any, storage: Any, details: TableDetails) -> Table:
    """Return the table of a row of TBLS and one of SDS with its SERDES, and of what they own."""
    properties = {key: text for key, text in details.parameters.items() if key not in STATISTICS}
    comment = properties.pop(COMMENT, None)
    made_from = properties.pop(MATERIALIZED, None)
    skewed = properties.pop(SKEWED, None)
    kind = _table_type(row.type, name)
    if kind == "EXTERNAL_TABLE":
        properties.pop(EXTERNAL, None)
    return Table(
        name=name,
        id=row.id,
        columns=details.columns,
        partition_columns=details.partition_columns,
        location=storage.location or "",
        type=kind,
        format=format_of(storage.input_format, storage.library, name),
        properties=properties,
        serde_properties=details.serde_properties,
        bucket_columns=details.bucket_columns,
        bucket_count=max(storage.bucket_count, 0),
        sort_columns=tuple(details.sorting),
        sort_descending=tuple(
            column for column, order in details.sorting.items() if order == DESCENDING
        ),
        skew=Skew.read(skewed) if skewed else None,
        view_text=row.view_text,
        view_original=row.view_original,
        materialized=(
            Materialized.read(made_from, rewrite=bool(row.rewrite_enabled)) if made_from else None
        ),
        owner=row.owner or "",
        owner_type=row.owner_type or "USER",
        created_at=row.created_at,
        comment=comment,
        constraints=details.constraints,
    )


def parameters_of(pairs: Iterable[Sequence[Any]]) -> dict[str, str]:
    """Pairs of key and value, sorted by key."""
    return {key: value or "" for key, value in sorted(map(tuple, pairs))}


def constraint_of(row: Any) -> Constraint:
    """Return the constraint of a row of KEY_CONSTRAINTS."""
    return Constraint(
        kind=CONSTRAINT_KINDS[row.type],
        name=row.name,
        columns=split_names(row.columns),
        text=row.text or "",
        parent=TableName(*row.parent.split(".", 1)) if row.parent else None,
        parent_columns=split_names(row.parent_columns),
        enabled=bool(row.options & ENABLED),
        rely=bool(row.options & RELY),
    )


def partitions_of(rows: Iterable[Any]) -> Iterator[Partition]:
    """Partitions by name, from rows of one value each, in any order."""
    # Sorted here, because databases differ in how they compare texts.
    ordered = sorted(rows, key=lambda row: (row.name, row.position))
    for _, group in groupby(ordered, key=lambda row: row.name):
        members = list(group)
        yield Partition(
            values=tuple(None if row.value == DEFAULT_PARTITION else row.value for row in members),
            location=members[0].location or "",
        )


def _table_type(text: str, name: TableName) -> TableType:
    for table_type in get_args(TableType):
        if table_type == text:
            return table_type  # type: ignore[no-any-return]
    raise DataError(f"{name} has the unknown table type {text}")


def name_patterns(near: str) -> dict[str, str]:
    """Return the patterns of names that begin or end as the half of a name does."""
    begin, end = (_WILD.sub(ESCAPE + r"\g<0>", half) for half in halves(near.lower()))
    return {"begin": f"{begin}%", "end": f"%{end}"}
