"""Hive's classes for each file format, as SDS and SERDES name them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from hivesql_planner.errors import DataError
from hivesql_planner.model.table import FileFormat, TableName

_QL = "org.apache.hadoop.hive.ql.io"
_SERDE = "org.apache.hadoop.hive.serde2"
_TEXT_INPUT = "org.apache.hadoop.mapred.TextInputFormat"
_TEXT_OUTPUT = f"{_QL}.HiveIgnoreKeyTextOutputFormat"
_LAZY = f"{_SERDE}.lazy.LazySimpleSerDe"


@dataclass(frozen=True, slots=True)
class Storage:
    """The classes with which Hive reads and writes a format."""

    input_format: str
    output_format: str
    serde: str


STORAGE: Final[dict[FileFormat, Storage]] = {
    "orc": Storage(
        f"{_QL}.orc.OrcInputFormat", f"{_QL}.orc.OrcOutputFormat", f"{_QL}.orc.OrcSerde"
    ),
    "parquet": Storage(
        f"{_QL}.parquet.MapredParquetInputFormat",
        f"{_QL}.parquet.MapredParquetOutputFormat",
        f"{_QL}.parquet.serde.ParquetHiveSerDe",
    ),
    "textfile": Storage(_TEXT_INPUT, _TEXT_OUTPUT, _LAZY),
    "json": Storage(_TEXT_INPUT, _TEXT_OUTPUT, f"{_SERDE}.JsonSerDe"),
    "regex": Storage(_TEXT_INPUT, _TEXT_OUTPUT, f"{_SERDE}.RegexSerDe"),
    "csv": Storage(_TEXT_INPUT, _TEXT_OUTPUT, f"{_SERDE}.OpenCSVSerde"),
    "avro": Storage(
        f"{_QL}.avro.AvroContainerInputFormat",
        f"{_QL}.avro.AvroContainerOutputFormat",
        f"{_SERDE}.avro.AvroSerDe",
    ),
    "sequencefile": Storage(
        "org.apache.hadoop.mapred.SequenceFileInputFormat",
        f"{_QL}.HiveSequenceFileOutputFormat",
        _LAZY,
    ),
    "rcfile": Storage(
        f"{_QL}.RCFileInputFormat",
        f"{_QL}.RCFileOutputFormat",
        f"{_SERDE}.columnar.LazyBinaryColumnarSerDe",
    ),
    "rctext": Storage(
        f"{_QL}.RCFileInputFormat",
        f"{_QL}.RCFileOutputFormat",
        f"{_SERDE}.columnar.ColumnarSerDe",
    ),
    "lazybinary": Storage(_TEXT_INPUT, _TEXT_OUTPUT, f"{_SERDE}.lazybinary.LazyBinarySerDe"),
    "sequencebinary": Storage(
        "org.apache.hadoop.mapred.SequenceFileInputFormat",
        f"{_QL}.HiveSequenceFileOutputFormat",
        f"{_SERDE}.lazybinary.LazyBinarySerDe",
    ),
    "thrift": Storage(
        "org.apache.hadoop.mapred.SequenceFileInputFormat",
        f"{_QL}.HiveSequenceFileOutputFormat",
        f"{_SERDE}.thrift.ThriftDeserializer",
    ),
}


def format_of(input_format: str | None, serde: str | None, table: TableName) -> FileFormat:
    """Return the format with these classes; DataError when it is none of ours."""
    for name, storage in STORAGE.items():
        if storage.input_format == input_format and storage.serde == serde:
            return name
    raise DataError(
        f"{table} is stored in a format that is not known here: input format {input_format}, "
        f"serde {serde}"
    )
