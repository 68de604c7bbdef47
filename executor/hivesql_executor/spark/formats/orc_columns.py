"""Columns of plain ORC files, which are found by position, as in Hive."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column
from pyspark.sql import functions as f

from hivesql_executor.spark.values import read_value
from hivesql_planner.model.table import Table


def position_schema(table: Table, names: Sequence[str]) -> str:
    """Return the Spark schema of a plain ORC file whose columns have these names."""
    types = [column.type.spark for column in table.columns]
    # Spark refuses generated names (_col0, …) unless it is told of all of them.
    types += ["string"] * (len(names) - len(types))
    return ", ".join(f"`{name}` {kind}" for name, kind in zip(names, types, strict=False))


def by_position(table: Table, names: Sequence[str]) -> list[Column]:
    """Return the table's data columns from columns of these names; missing ones are NULL."""
    return [
        read_value(f.col(f"`{names[i]}`"), column.type).alias(column.name)
        if i < len(names)
        else f.lit(None).cast(column.type.spark).alias(column.name)
        for i, column in enumerate(table.columns)
    ]
