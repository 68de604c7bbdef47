"""Records of Arrow: checked against a table's columns, and made them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyarrow import types

from hivesql_executor.local.types import arrow_type
from hivesql_executor.streaming.records import Row
from hivesql_executor.streaming.texts import sized
from hivesql_planner.model.hive_type import BITS, TEXTS, HiveType, Kind
from hivesql_planner.model.table import Column, TableName
from hivesql_planner.streaming_errors import SerializationError

_STRINGS = (types.is_string, types.is_large_string, types.is_string_view)
_TESTS: dict[Kind, tuple[Callable[[pa.DataType], bool], ...]] = {
    **dict.fromkeys(TEXTS, _STRINGS),
    Kind.BOOLEAN: (types.is_boolean,),
    Kind.FLOAT: (types.is_float32,),
    Kind.DOUBLE: (types.is_float32, types.is_float64),
    Kind.BINARY: (
        types.is_binary, types.is_large_binary, types.is_fixed_size_binary, types.is_binary_view,
    ),
    Kind.DATE: (types.is_date32,),
    Kind.TIMESTAMP: (types.is_timestamp,),
    Kind.ARRAY: (types.is_list, types.is_large_list, types.is_fixed_size_list),
    Kind.MAP: (types.is_map,),
    Kind.STRUCT: (types.is_struct,),
}  # fmt: skip
"""What an Arrow type may be; numbers that are exact have rules of their own."""


class ArrowRecordWriter:
    """For connections that take Arrow alone: text is refused."""

    def rows(self, _data: str, _columns: Sequence[Column]) -> list[Row]:
        """SerializationError."""
        raise SerializationError(
            "this connection takes records of Arrow, by write_batch: text needs a record writer "
            "that understands it"
        )

    def column(self, values: Sequence[Any], hive_type: HiveType) -> pa.Array:
        """Convert values to a column."""
        return sized(pa.array(values, arrow_type(hive_type)), hive_type)


def iterate_tables(records: Any) -> Iterator[pa.Table]:
    """Give a batch or table of Arrow, or each of what an iterable or a stream of Arrow holds."""
    if isinstance(records, pa.RecordBatch):
        yield pa.Table.from_batches([records])
    elif isinstance(records, pa.Table):
        yield records
    elif hasattr(records, "__arrow_c_stream__"):
        for batch in pa.RecordBatchReader.from_stream(records):
            yield pa.Table.from_batches([batch])
    elif isinstance(records, str | bytes) or not hasattr(records, "__iter__"):
        raise SerializationError(
            "records of Arrow are a RecordBatch, a Table, or an iterable of these, not "
            f"{type(records).__name__}"
        )
    else:
        for part in records:
            yield from iterate_tables(part)


def fit_columns(records: pa.Table, columns: Sequence[Column], table: TableName) -> pa.Table:
    """Return the records by the table's columns; SerializationError for others than those.

    Columns are found by name, in any case. A type may be narrower than that of the table: each of
    its values must be one of the column.
    """
    names = [name.lower() for name in records.column_names]
    wanted = [column.name for column in columns]
    for name, field in zip(names, records.schema, strict=True):
        if name not in wanted:
            raise SerializationError(
                f"the records have a column {name} ({field.type}), and {table} takes none of that "
                f"name: its columns are {', '.join(wanted)}"
            )
        if names.count(name) > 1:
            raise SerializationError(f"the records have more than one column {name}")
    arrays = []
    for column in columns:
        if column.name not in names:
            raise SerializationError(
                f"the records have no column {column.name}, which is {column.type} in {table}"
            )
        arrays.append(_fit_column(records.column(names.index(column.name)), column, table))
    return pa.Table.from_arrays(arrays, names=wanted)


def _fit_column(values: pa.ChunkedArray, column: Column, table: TableName) -> pa.ChunkedArray:
    described = f"the column {column.name} is {values.type} in the records and {column.type} in"
    if not _fits(values.type, column.type):
        raise SerializationError(f"{described} {table}")
    try:
        cast = values.cast(arrow_type(column.type))
    except pa.ArrowException as error:
        raise SerializationError(f"{described} {table}: {error}") from error
    return sized(cast, column.type)


def _fits(arrow: pa.DataType, hive_type: HiveType) -> bool:
    """Tell whether values of an Arrow type are values of a Hive type."""
    if types.is_null(arrow):
        return True
    if types.is_dictionary(arrow):
        return _fits(arrow.value_type, hive_type)
    kind = hive_type.kind
    if kind in BITS:
        bits: int = arrow.bit_width if types.is_integer(arrow) else 0
        return 0 < bits <= BITS[kind] - int(types.is_unsigned_integer(arrow))
    if kind is Kind.DECIMAL:
        precision, scale = hive_type.arguments
        if not types.is_decimal(arrow):
            return False
        spare: int = precision - scale - (arrow.precision - arrow.scale)
        return spare >= 0 and scale - int(arrow.scale) >= 0
    if not any(test(arrow) for test in _TESTS.get(kind, ())):
        return False
    if kind is Kind.TIMESTAMP:
        return bool(arrow.tz is None)
    return not hive_type.is_nested or _fit_inside(arrow, hive_type)


def _fit_inside(arrow: pa.DataType, hive_type: HiveType) -> bool:
    inside = hive_type.children
    match hive_type.kind:
        case Kind.ARRAY:
            return _fits(arrow.value_type, inside[0])
        case Kind.MAP:
            return _fits(arrow.key_type, inside[0]) and _fits(arrow.item_type, inside[1])
    if [field.name for field in arrow] != [name for name, _ in hive_type.fields]:
        return False
    return all(_fits(field.type, child) for field, child in zip(arrow, inside, strict=True))
