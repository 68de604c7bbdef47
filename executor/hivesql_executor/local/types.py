"""Hive types as Arrow types, as files hold them."""

from __future__ import annotations

import pyarrow as pa

from hivesql_planner.errors import NotSupported
from hivesql_planner.local.values import base_type, decimal_size
from hivesql_planner.model.table import Table
from hivesql_planner.model.types import parts_of

_PRIMITIVE: dict[str, pa.DataType] = {
    "boolean": pa.bool_(),
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "integer": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "string": pa.string(),
    "char": pa.string(),
    "varchar": pa.string(),
    "binary": pa.binary(),
    "date": pa.date32(),
    # Microseconds reach from year 1 to 9999, nanoseconds do not.
    "timestamp": pa.timestamp("us"),
    "timestamp with local time zone": pa.timestamp("us"),
    "timestamplocaltz": pa.timestamp("us"),
}


def arrow_type(hive_type: str) -> pa.DataType:
    """Return the Arrow type of a Hive type; CHAR and VARCHAR are text. NotSupported for unions."""
    text = " ".join(hive_type.lower().split())
    kind, bracket, _ = text.partition("<")
    kind = kind.strip()
    if not bracket:
        name, numbers = base_type(text)
        if name == "decimal":
            return pa.decimal128(*decimal_size(numbers))
        if name in _PRIMITIVE:
            return _PRIMITIVE[name]
        raise NotSupported(f"the type {hive_type} outside Spark")
    parts = parts_of(text)
    if kind == "array":
        return pa.list_(arrow_type(parts[0][1]))
    if kind == "map":
        return pa.map_(arrow_type(parts[0][1]), arrow_type(parts[1][1]))
    if kind == "struct":
        return pa.struct([(name.strip("`"), arrow_type(one)) for name, one in parts])
    raise NotSupported(f"the type {hive_type} outside Spark")


def row_type(table: Table) -> pa.StructType:
    """Return the struct of a table's data columns."""
    return pa.struct([(column.name, arrow_type(column.type)) for column in table.columns])
