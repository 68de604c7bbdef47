"""Columns of Parquet files that were decimals when they were written, and are other numbers now."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import Column
from pyspark.sql import functions as f

from hivesql_executor.bookkeeping.file_columns import opened_file
from hivesql_executor.files.api import Files
from hivesql_executor.files.at_once import each_at_once
from hivesql_executor.snapshot.partition_files import PlainFile
from hivesql_executor.spark.shapes import Shaped, change_each
from hivesql_planner.errors import DataError
from hivesql_planner.model.hive_type import BITS, FLOATS, INTEGERS, HiveType
from hivesql_planner.model.table import Table

Decimals = tuple[tuple[int, HiveType], ...]
"""Columns by their numbers, and the type that they have in a file."""
_Columns = tuple[tuple[str, HiveType], ...]

_MISREAD = INTEGERS | FLOATS
"""As what Spark reads a decimal's digits without its point, where they are an integer."""


def decimals_in(files: Files, table: Table, listed: Sequence[PlainFile]) -> Mapping[str, Decimals]:
    """Return which columns of files are decimals there alone; files with any."""
    places = {
        column.name: number
        for number, column in enumerate(table.columns)
        if column.type.kind in _MISREAD
    }
    if not places:
        return {}
    stored = each_at_once(files, lambda file: _stored_decimals(files, file), listed)
    decimals = {
        file.path: tuple((places[name], type_) for name, type_ in columns if name in places)
        for file, columns in zip(listed, stored, strict=True)
    }
    return {path: columns for path, columns in decimals.items() if columns}


def _stored_decimals(files: Files, file: PlainFile) -> _Columns:
    # Without a time nobody knows whether it is the file that was read before.
    read = _read_decimals if file.modified else _read_decimals.__wrapped__
    try:
        return read(files, file)
    except (pa.ArrowException, OSError, DataError):
        # Spark shall say what is wrong with it.
        return ()


@functools.lru_cache(maxsize=100_000)
def _read_decimals(files: Files, file: PlainFile) -> _Columns:
    schema = pq.read_schema(opened_file(files, file.path, file.length))
    return tuple(
        (field.name.lower(), HiveType.decimal(field.type.precision, field.type.scale))
        for field in schema
        if pa.types.is_decimal(field.type)
    )


def with_decimals(table: Table, decimals: Decimals) -> Table:
    """Return the table with the columns that a file has."""
    if not decimals:
        return table
    columns = list(table.columns)
    for number, kind in decimals:
        columns[number] = replace(columns[number], type=kind)
    return replace(table, columns=tuple(columns))


def as_numbers(values: Sequence[Shaped], stored: Table, table: Table) -> list[Shaped]:
    """Make decimals of ``stored`` the numbers of the table, as Hive does.

    An integer is NULL where there are digits behind the point, or it cannot hold the number.
    """
    pairs = [
        (own.type, wanted.type) for own, wanted in zip(stored.columns, table.columns, strict=True)
    ]
    return change_each(values, pairs, _as_number)


def _as_number(value: Column, pair: tuple[HiveType, HiveType]) -> Column:
    own, wanted = pair
    if own == wanted:
        return value
    if wanted.kind in FLOATS:
        return value.cast(wanted.spark)
    half = 1 << (BITS[wanted.kind] - 1)
    limits = [f.lit(str(limit)).cast("decimal(38,0)") for limit in (-half, half - 1)]
    fits = (value == f.floor(value)) & value.between(*limits)
    return f.when(fits, value.cast(wanted.spark))
