"""Values as Hive stores them, and as the text it makes of them."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as f

from hivesql_executor.spark.types import decimal_scale, is_nested, spark_type, text_limit
from hivesql_planner.errors import NotSupported
from hivesql_planner.table import DEFAULT_PARTITION, Table


def stored_value(value: Column, hive_type: str) -> Column:
    """A value as the table stores it: cast, VARCHAR cut, CHAR padded with blanks."""
    cast = value.cast(spark_type(hive_type))
    limit = text_limit(hive_type)
    if limit is None:
        return cast
    kind, size = limit
    return f.rpad(cast, size, " ") if kind == "char" else f.substring(cast, 1, size)


def stored_row(table: Table, row: str) -> Column:
    """A struct column of the table's data columns with stored values; NULL stays NULL."""
    if not any(text_limit(column.type) for column in table.columns):
        return f.col(row)
    values = (
        stored_value(f.col(row)[column.name], column.type).alias(column.name)
        for column in table.columns
    )
    return f.when(f.col(row).isNotNull(), f.struct(*values))


def partition_text(value: Column, hive_type: str) -> Column:
    """Hive's text of a partition value; NULL and '' give the default partition.

    Never NULL, so that Spark adds no sort of its own before it writes.
    """
    text = _text(value, hive_type)
    if decimal_scale(hive_type):
        text = f.regexp_replace(text, r"\.?0*$", "")
    elif hive_type.lower().startswith("char"):
        text = f.rtrim(text)
    return f.coalesce(f.nullif(text, f.lit("")), f.lit(DEFAULT_PARTITION))


def text_line(table: Table) -> Column:
    r"""One line of Hive's delimited text (LazySimpleSerDe): values by separator, NULL as \N."""
    separator = table.serde_properties.get("field.delim", "\x01")
    null = table.serde_properties.get("serialization.null.format", "\\N")
    for column in table.columns:
        if is_nested(column.type) or spark_type(column.type) == "binary":
            raise NotSupported(f"writing column {column.name} {column.type} of a text table")
    texts = [f.coalesce(_text(f.col(c.name), c.type), f.lit(null)) for c in table.columns]
    return f.concat_ws(separator, *texts)


def _text(value: Column, hive_type: str) -> Column:
    scale = decimal_scale(hive_type)
    if scale is None:
        return stored_value(value, hive_type).cast("string")
    # Spark's cast would write small decimals with an exponent.
    plain = f.format_number(value.cast(spark_type(hive_type)), scale)
    return f.translate(plain, ",", "")
