"""Types of columns as the protocol has them, and as values travel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from hivesql.rendering.hive_text import Single, double_text, hive_text, mark_of
from hivesql.server.protocol import idl
from hivesql_executor.outcome import is_outside_years
from hivesql_planner.model.hive_type import PLAIN_SCALE, TEXTS, HiveType, Kind

_TYPE_IDS = {
    Kind.VOID: "NULL_TYPE",
    Kind.INSTANT: "TIMESTAMPLOCALTZ_TYPE",
    Kind.YEAR_MONTH: "INTERVAL_YEAR_MONTH_TYPE",
    Kind.DAY_TIME: "INTERVAL_DAY_TIME_TYPE",
    Kind.UNION: "UNION_TYPE",
    Kind.OTHER: "STRING_TYPE",
}
_WIRE: dict[Kind, pa.DataType] = {
    Kind.BOOLEAN: pa.bool_(),
    Kind.TINYINT: pa.int8(),
    Kind.SMALLINT: pa.int16(),
    Kind.INT: pa.int32(),
    Kind.BIGINT: pa.int64(),
    Kind.FLOAT: pa.float64(),
    Kind.DOUBLE: pa.float64(),
    Kind.BINARY: pa.binary(),
}
"""All others travel as texts."""


def type_id(type_: HiveType) -> int:
    """Return the protocol's number of a type."""
    name = _TYPE_IDS.get(type_.kind) or f"{type_.kind.name}_TYPE"
    number: int = getattr(idl().TTypeId, name)
    return number


def table_schema(columns: Sequence[tuple[str, HiveType]], comments: Sequence[str] = ()) -> Any:
    """Describe the columns of a result."""
    thrift = idl()
    return thrift.TTableSchema(
        columns=[
            thrift.TColumnDesc(
                columnName=name,
                typeDesc=_type_description(type_),
                position=position,
                comment=comments[position - 1] if comments else "",
            )
            for position, (name, type_) in enumerate(columns, 1)
        ]
    )


def _type_description(type_: HiveType) -> Any:
    # Hive has primitive entries of nested types too: their values are texts.
    thrift = idl()
    numbers = {}
    if type_.scale is not None:
        numbers = {"precision": type_.arguments[0], "scale": type_.arguments[1]}
    elif type_.length is not None:
        numbers = {"characterMaximumLength": type_.length}
    qualifiers = thrift.TTypeQualifiers(
        qualifiers={
            key: thrift.TTypeQualifierValue(i32Value=number) for key, number in numbers.items()
        }
    )
    entry = thrift.TPrimitiveTypeEntry(
        type=type_id(type_), typeQualifiers=qualifiers if numbers else None
    )
    return thrift.TTypeDesc(types=[thrift.TTypeEntry(primitiveEntry=entry)])


def wire_type(type_: HiveType) -> pa.DataType:
    """Return the Arrow type in which a column's values wait to be fetched."""
    return _WIRE.get(type_.kind, pa.string())


def wire_array(values: Sequence[Any], type_: HiveType) -> pa.Array:
    """Return Python's values of a column as they travel."""
    kind = wire_type(type_)
    if type_.kind is Kind.FLOAT:
        # As Hive: the shortest decimal that is this FLOAT, read as a DOUBLE.
        values = [None if v is None else float(_single_text(v)) for v in values]
    elif pa.types.is_string(kind):
        mark = mark_of(type_)
        marked = map(mark, values) if mark else values
        values = [_text(value) for value in marked]
    return pa.array(values, kind)


def _single_text(value: float) -> str:
    return double_text(Single(value)).replace("Infinity", "inf")


def _text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else hive_text(value)


def wire_column(column: pa.Array, type_: HiveType) -> pa.Array:
    """Return an Arrow column as it travels."""
    kind = wire_type(type_)
    same = column.type == kind and type_.kind is not Kind.FLOAT
    if same and (kind != pa.string() or type_.kind in TEXTS):
        return column
    if pa.types.is_null(column.type):
        return column.cast(kind)
    if type_.kind is Kind.DATE and pa.types.is_date32(column.type):
        return _time_texts(column)
    if type_.kind is Kind.DECIMAL and (type_.scale or 0) <= PLAIN_SCALE:
        return column.cast(kind)  # with more digits Arrow writes exponents
    is_nested = pa.types.is_nested(column.type)
    try:
        values = column.to_pylist(maps_as_pydicts="strict" if is_nested else None)
    except (ValueError, OverflowError) as error:
        if type_.kind is not Kind.TIMESTAMP or not is_outside_years(error):
            raise
        texts = _time_texts(column).to_pylist()
        values = [None if text is None else text.rstrip("0").rstrip(".") for text in texts]
    return wire_array(values, type_)


def _time_texts(column: pa.Array) -> pa.Array:
    """Return days and times as Hive prints them, in years that Python does not have either."""
    return pc.replace_substring_regex(column.cast(pa.string()), r"^(\d{5})", r"+\1")


def thrift_column(column: pa.Array) -> Any:
    """Return the values of a column, and which of them are NULL."""
    thrift = idl()
    kind = column.type
    nulls = _null_bits(column)
    if pa.types.is_string(kind):
        values = _filled(column.cast(pa.binary()), b"")
        return thrift.TColumn(stringVal=thrift.TStringColumn(values=values, nulls=nulls))
    if pa.types.is_binary(kind):
        values = _filled(column, b"")
        return thrift.TColumn(binaryVal=thrift.TBinaryColumn(values=values, nulls=nulls))
    field, struct = _FIELDS[kind]
    values = _filled(column, False if kind == pa.bool_() else 0)
    return thrift.TColumn(**{field: getattr(thrift, struct)(values=values, nulls=nulls)})


_FIELDS = {
    pa.bool_(): ("boolVal", "TBoolColumn"),
    pa.int8(): ("byteVal", "TByteColumn"),
    pa.int16(): ("i16Val", "TI16Column"),
    pa.int32(): ("i32Val", "TI32Column"),
    pa.int64(): ("i64Val", "TI64Column"),
    pa.float64(): ("doubleVal", "TDoubleColumn"),
}


def _filled(column: pa.Array, instead: Any) -> list[Any]:
    """Return the values of a column, and something else for NULL."""
    values: list[Any] = (column.fill_null(instead) if column.null_count else column).to_pylist()
    return values


def _null_bits(column: pa.Array) -> bytes:
    """Return one bit a value, the lowest first: 1 for NULL."""
    if not column.null_count:
        return b"\0"
    import numpy as np

    mask = column.is_null().to_numpy(zero_copy_only=False)
    return bytes(np.packbits(mask, bitorder="little").tobytes())


def thrift_rows(columns: Sequence[pa.Array]) -> list[Any]:
    """Return the values row by row, as clients before version 6 of the protocol want them."""
    thrift = idl()
    makers = [_value_maker(column.type) for column in columns]
    lists = [
        column.to_pylist()
        if not pa.types.is_binary(column.type)
        else [_latin(value) for value in column.to_pylist()]
        for column in columns
    ]
    return [
        thrift.TRow(colVals=[make(value) for make, value in zip(makers, row, strict=True)])
        for row in zip(*lists, strict=True)
    ]


def _latin(value: bytes | None) -> str | None:
    return None if value is None else value.decode("utf-8", "replace")


def _value_maker(kind: pa.DataType) -> Any:
    thrift = idl()
    field, struct = _FIELDS.get(kind, ("stringVal", "TStringColumn"))
    value_struct = getattr(thrift, struct.replace("Column", "Value"))
    return lambda value: thrift.TColumnValue(**{field: value_struct(value=value)})
