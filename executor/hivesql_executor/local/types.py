"""Hive types as Arrow types, as files hold them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import pyarrow as pa

from hivesql_planner.errors import NotSupported
from hivesql_planner.model.hive_type import HiveType, Kind
from hivesql_planner.model.table import Table

_PRIMITIVE: dict[Kind, pa.DataType] = {
    Kind.BOOLEAN: pa.bool_(),
    Kind.TINYINT: pa.int8(),
    Kind.SMALLINT: pa.int16(),
    Kind.INT: pa.int32(),
    Kind.BIGINT: pa.int64(),
    Kind.FLOAT: pa.float32(),
    Kind.DOUBLE: pa.float64(),
    Kind.STRING: pa.string(),
    Kind.CHAR: pa.string(),
    Kind.VARCHAR: pa.string(),
    Kind.BINARY: pa.binary(),
    Kind.DATE: pa.date32(),
    # Microseconds reach from year 1 to 9999, nanoseconds do not.
    Kind.TIMESTAMP: pa.timestamp("us"),
    Kind.INSTANT: pa.timestamp("us"),
}


@lru_cache(maxsize=4096)
def arrow_type(hive_type: HiveType) -> pa.DataType:
    """Return the Arrow type of a Hive type; CHAR and VARCHAR are text. NotSupported for unions."""
    match hive_type.kind:
        case Kind.DECIMAL:
            return pa.decimal128(*hive_type.arguments)
        case Kind.ARRAY:
            return pa.list_(arrow_type(hive_type.children[0]))
        case Kind.MAP:
            return pa.map_(*map(arrow_type, hive_type.children))
        case Kind.STRUCT:
            return pa.struct([(name, arrow_type(inner)) for name, inner in hive_type.fields])
        case kind if kind in _PRIMITIVE:
            return _PRIMITIVE[kind]
    raise NotSupported(f"the type {hive_type} outside Spark")


def row_type(table: Table) -> pa.StructType:
    """Return the struct of a table's data columns."""
    return pa.struct([(column.name, arrow_type(column.type)) for column in table.columns])


def arrow_table(table: Table, rows: Sequence[Sequence[Any]]) -> pa.Table:
    """Return rows of Python's values in the columns of a table."""
    columns = list(zip(*rows, strict=True)) or [()] * len(table.columns)
    arrays = [
        pa.array(values, arrow_type(column.type))
        for column, values in zip(table.columns, columns, strict=True)
    ]
    return pa.Table.from_arrays(arrays, names=list(table.column_names))
