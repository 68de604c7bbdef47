"""Columns of few shapes, made in one call of the JVM and one analysis.

A table of two thousand columns has a few types, and Python makes one expression for each of them,
with a hole in it: ``ShapedColumns.java`` fills the hole for each column. An expression of its own
for each would take dozens of calls.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from hivesql_executor.jvm import gateway, java_list

_Kind = TypeVar("_Kind", bound=Hashable)

HOLE = "hole:"
"""Stands in a shape for what fills it. No column of Hive has a colon in its name."""


@dataclass(frozen=True, slots=True, eq=False)
class Shaped:
    """A column by its name: an expression with a hole, and the column or number that fills it."""

    name: str
    shape: Column
    filling: str | int | None = None


Item = Shaped | Column | str
"""What is selected; texts are Spark's SQL."""


def columns_named(names: Iterable[str], sources: Iterable[str]) -> list[Shaped]:
    """Return columns of a frame, ``sources`` without quotes, under these names."""
    hole = f.col(HOLE)
    return [Shaped(name, hole, source) for name, source in zip(names, sources, strict=True)]


def change_each(
    columns: Sequence[Shaped],
    kinds: Iterable[_Kind],
    change: Callable[[Column, _Kind], Column],
) -> list[Shaped]:
    """Change columns by their kinds; those of one shape and one kind are so afterwards too."""
    shapes: dict[tuple[int, _Kind], Column] = {}
    changed = []
    for column, kind in zip(columns, kinds, strict=True):
        key = id(column.shape), kind
        if key not in shapes:
            shapes[key] = change(column.shape, kind)
        changed.append(replace(column, shape=shapes[key]))
    return changed


def select(rows: DataFrame, *layers: Sequence[Item]) -> DataFrame:
    """Select columns, and of them those of the next layer, and so on."""
    shapes: dict[int, tuple[int, Column]] = {}

    def number(shape: Column) -> int:
        return shapes.setdefault(id(shape), (len(shapes), shape))[0]

    items = [
        [
            item if isinstance(item, str)
            else [number(item.shape), item.filling, item.name] if isinstance(item, Shaped)
            else number(item)
            for item in layer
        ]
        for layer in layers
    ]  # fmt: skip
    spark = rows.sparkSession
    untyped: list[Any] = [shape for _, shape in shapes.values()]
    in_java = java_list(spark, [shape._jc for shape in untyped])
    shaped = gateway(spark).shaped(rows._jdf, in_java, json.dumps(items))
    return DataFrame(shaped, spark)


def numbered(rows: DataFrame) -> DataFrame:
    """Return the same rows with columns c0, c1 and so on: two columns may have one name."""
    spark = rows.sparkSession
    return DataFrame(gateway(spark).numbered(rows._jdf), spark)
