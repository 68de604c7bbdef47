"""Avro tables: container files as Spark frames, without Spark's own Avro module.

That module is no part of Spark's distribution, so it would have to be fetched when Spark starts.
Files are read whole, as bytes, and taken apart by fastavro on the workers. Written, they go
through Spark's writer of text, which ends each piece with the byte that ends Avro's sync marker.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pyspark import cloudpickle
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from hivesql_executor.bookkeeping.avro_schema import read_schema
from hivesql_executor.files.api import Files
from hivesql_executor.spark.file_paths import FILE_COLUMN
from hivesql_executor.spark.formats import avro_rows
from hivesql_executor.spark.formats.text_values import sized_text
from hivesql_executor.spark.lines import arrow_schema, struct_of
from hivesql_planner.errors import NotSupported
from hivesql_planner.model.avro_schema import (
    Schema,
    declared_literal,
    declared_url,
    parsed_schema,
    schema_of,
)
from hivesql_planner.model.hive_type import SIZED_TEXTS, Kind, quote_name
from hivesql_planner.model.table import Table

if TYPE_CHECKING:
    import pyarrow as pa

# Workers of a cluster need not have this package installed.
cloudpickle.register_pickle_by_value(avro_rows)  # type: ignore[no-untyped-call]


def decode_avro(
    binary_files: DataFrame, table: Table, files: Files, *, with_file: bool = False
) -> DataFrame:
    """Give the data columns of files read as ``binaryFile``, and their partition columns.

    ``with_file`` adds FILE_COLUMN.
    """
    names = table.column_names
    schema_text = declared_schema(table, files)
    fields_given = parsed_schema(schema_text)["fields"] if schema_text is not None else ()
    reader_fields = {field["name"].lower(): field for field in fields_given}
    fields = [f"{quote_name(column.name)} {column.type.spark}" for column in table.columns]
    others = [*table.partition_names, *((FILE_COLUMN,) if with_file else ())]
    schema = ", ".join([*fields, *(f"{quote_name(name)} string" for name in others)])
    arrow = arrow_schema(struct_of(schema))

    def decode(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return avro_rows.decode_files(batches, arrow, names, reader_fields)

    selected = binary_files.select("path", "content", *map(quote_name, others))
    return selected.mapInArrow(decode, schema)


def avro_values(table: Table) -> list[Column]:
    """Return the table's data columns as they are to be shown."""
    values = [(f.col(quote_name(column.name)), column) for column in table.columns]
    return [
        sized_text(value, column.type).alias(column.name)
        if column.type.kind in SIZED_TEXTS
        else value
        for value, column in values
    ]


def encode_avro(rows: DataFrame, table: Table, keys: Sequence[str], files: Files) -> DataFrame:
    """Pieces of container files in the column ``value``, to be written as lines of text."""
    schema = written_schema(table, files)
    columns, names = list(table.column_names), list(keys)
    missing = {field["name"].lower() for field in schema["fields"]} ^ set(columns)
    if missing:
        raise NotSupported(f"writing {table.name}: its Avro schema and columns differ in {missing}")

    def encode(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return avro_rows.encode_rows(batches, schema, columns, names)

    kinds = {field.name: field.dataType.simpleString() for field in rows.schema.fields}
    trimmed = [
        f.rtrim(f.col(quote_name(c.name))).alias(c.name)
        if c.type.kind is Kind.CHAR
        else f.col(quote_name(c.name))
        for c in table.columns
    ]
    # Hive has no blanks at the end of CHAR in Avro.
    plain = rows.select(*trimmed, *(quote_name(key) for key in keys))
    typed = ", ".join(
        ["value binary", "piece bigint", *(f"{quote_name(key)} {kinds[key]}" for key in keys)]
    )
    pieces = plain.mapInArrow(encode, typed)
    ordered = pieces.sortWithinPartitions(*(quote_name(key) for key in keys), "piece")
    return ordered.select(f.col("value").cast("string"), *(quote_name(key) for key in keys))


def written_schema(table: Table, files: Files) -> Schema:
    """Return the schema that new files get: the table's own, or one of its columns."""
    return schema_of(table, declared_schema(table, files))


def declared_schema(table: Table, files: Files) -> str | None:
    """Return the text of the schema that the table's properties give; None where they give none."""
    url = declared_url(table)
    return read_schema(url, files) if url is not None else declared_literal(table)
