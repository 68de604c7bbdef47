"""The columns that a file tells of itself: those of CREATE TABLE … LIKE FILE."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, BinaryIO

from hivesql_executor.files.api import Files, RangeFile
from hivesql_planner.errors import DataError, NotSupported
from hivesql_planner.model.avro_schema import columns_of as columns_of_schema
from hivesql_planner.model.avro_schema import parsed_schema
from hivesql_planner.model.hive_type import TIMESTAMP, HiveType, Kind
from hivesql_planner.model.table import Column, FileFormat

if TYPE_CHECKING:
    import pyarrow as pa

_PLAIN = {
    "bool": Kind.BOOLEAN, "int8": Kind.TINYINT, "int16": Kind.SMALLINT, "int32": Kind.INT,
    "int64": Kind.BIGINT, "float": Kind.FLOAT, "double": Kind.DOUBLE, "string": Kind.STRING,
    "large_string": Kind.STRING, "binary": Kind.BINARY, "large_binary": Kind.BINARY,
    "date32[day]": Kind.DATE, "uint8": Kind.SMALLINT, "uint16": Kind.INT, "uint32": Kind.BIGINT,
}  # fmt: skip


def columns_of_file(files: Files, path: str, format_: FileFormat) -> tuple[Column, ...]:
    """Read the columns of a file; DataError where it is of another format."""
    comment = f"Inferred from {format_.capitalize()} file."
    return tuple(replace(column, comment=comment) for column in _columns(files, path, format_))


def _columns(files: Files, path: str, format_: FileFormat) -> tuple[Column, ...]:
    if format_ == "orc":
        from hivesql_executor.orc.tail import read_tail

        tail = read_tail(files, path)
        pairs = zip(tail.row_fields, tail.row_types, strict=True)
        return tuple(Column(name.lower(), type_) for name, type_ in pairs)
    if format_ == "avro":
        return _of_avro(files, path)
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        schema = pq.read_schema(opened_file(files, path, files.size(path)))
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{path} is not a readable Parquet file ({error})") from error
    return tuple(Column(field.name.lower(), _of_arrow(field.type, path)) for field in schema)


def opened_file(files: Files, path: str, length: int) -> BinaryIO:
    """Open a file of this length for reading."""
    return io.BufferedReader(RangeFile(files, path, length))


def _of_avro(files: Files, path: str) -> tuple[Column, ...]:
    try:
        from fastavro import reader
    except ModuleNotFoundError as error:
        raise DataError("Avro files are read by the package fastavro: install it") from error
    try:
        schema = reader(opened_file(files, path, files.size(path))).writer_schema
    except (ValueError, EOFError, OSError) as error:
        raise DataError(f"{path} is not a readable Avro file ({error})") from error
    return columns_of_schema(parsed_schema(json.dumps(schema)))


def _of_arrow(kind: pa.DataType, path: str) -> HiveType:
    """Return Hive's type for one of Parquet, as Arrow reads it."""
    import pyarrow as pa

    text = str(kind)
    if text in _PLAIN:
        return HiveType(_PLAIN[text])
    if pa.types.is_timestamp(kind):
        return TIMESTAMP
    if pa.types.is_decimal(kind):
        return HiveType.decimal(kind.precision, kind.scale)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return HiveType.array(_of_arrow(kind.value_type, path))
    if pa.types.is_map(kind):
        return HiveType.map(_of_arrow(kind.key_type, path), _of_arrow(kind.item_type, path))
    if pa.types.is_struct(kind):
        fields = (kind.field(i) for i in range(kind.num_fields))
        inner = ((field.name.lower(), _of_arrow(field.type, path)) for field in fields)
        return HiveType.struct(*inner)
    raise NotSupported(f"the type {re.sub(r'[^ -~]', '?', text)} in {path}")
