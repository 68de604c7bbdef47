"""Columns of plain ORC files, which are found by position, as in Hive."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import functions as f

from hivesql_executor.spark.shapes import Shaped, change_each, columns_named
from hivesql_executor.spark.values import read_value
from hivesql_planner.model.hive_type import quote_name
from hivesql_planner.model.table import Table


def position_schema(table: Table, names: Sequence[str]) -> str:
    """Return the Spark schema of a plain ORC file whose columns have these names."""
    types = [column.type.spark for column in table.columns]
    # Spark refuses generated names (_col0, …) unless it is told of all of them.
    types += ["string"] * (len(names) - len(types))
    return ", ".join(f"{quote_name(name)} {kind}" for name, kind in zip(names, types, strict=False))


def by_position(table: Table, names: Sequence[str]) -> list[Shaped]:
    """Return the table's data columns from columns of these names; missing ones are NULL."""
    types = [column.type for column in table.columns]
    stored = columns_named(table.column_names[: len(names)], names[: len(types)])
    nothing = f.lit(None)
    missing = [Shaped(name, nothing) for name in table.column_names[len(names) :]]
    return [
        *change_each(stored, types[: len(names)], read_value),
        *change_each(missing, types[len(names) :], lambda value, kind: value.cast(kind.spark)),
    ]
