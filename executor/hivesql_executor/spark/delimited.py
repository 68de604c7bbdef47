"""Lines of text tables as Hive's LazySimpleSerDe reads them."""

from __future__ import annotations

import re

from pyspark.sql import Column
from pyspark.sql import functions as f

from hivesql_executor.spark.types import is_nested, spark_type
from hivesql_planner.errors import NotSupported
from hivesql_planner.table import Column as TableColumn
from hivesql_planner.table import Table

_REFUSED = ("escape.delim", "quote.delim", "serialization.encoding")


def split_lines(table: Table, line: str) -> list[Column]:
    """The table's data columns from a column of lines; missing and unreadable values are NULL.

    NotSupported where the table's properties ask for more than a delimiter and a text for NULL.
    """
    serde = table.serde_properties
    for key in _REFUSED:
        if serde.get(key):
            raise NotSupported(f"reading {table.name}: text with {key}")
    for key in ("skip.header.line.count", "skip.footer.line.count"):
        if table.properties.get(key, "0").strip() not in ("", "0"):
            raise NotSupported(f"reading {table.name}: text with {key}")
    ends = serde.get("line.delim", "\n")
    if ends not in ("\n", "10"):
        raise NotSupported(f"reading {table.name}: lines that end in {ends!r}")
    separator = serde.get("field.delim", serde.get("serialization.format", "\x01"))
    null = serde.get("serialization.null.format", "\\N")
    fields = f.split(f.col(line), re.escape(_character(separator)), -1)
    return [
        _typed(f.get(fields, i), null, column, table).alias(column.name)
        for i, column in enumerate(table.columns)
    ]


def _character(text: str) -> str:
    """A delimiter as Hive reads it: one character, or its number."""
    if re.fullmatch(r"-?\d{1,3}", text):
        return chr(int(text) & 0xFF)
    return text[:1] or "\x01"


def _typed(text: Column, null: str, column: TableColumn, table: Table) -> Column:
    if is_nested(column.type):
        raise NotSupported(f"column {column.name} {column.type} of the text table {table.name}")
    value = f.when(text != f.lit(null), text)
    kind = spark_type(column.type)
    if kind == "boolean":
        # Spark also takes yes, t and 1 for true.
        lowered = f.lower(value)
        return f.when(lowered == "true", f.lit(True)).when(lowered == "false", f.lit(False))
    if kind == "binary":
        # Hive writes Base64, and reads as it stands what is none.
        encoded = value.rlike(r"^[A-Za-z0-9+/=\s]*$")
        return f.when(encoded, f.unbase64(value)).otherwise(value.cast("binary"))
    return value.cast(kind)
