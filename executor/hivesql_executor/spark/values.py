"""Values as Hive stores them, and as the text it makes of them."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql import types as t

from hivesql_executor.spark.types import decimal_scale, spark_type, text_limit
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
    text = value_text(value, hive_type)
    if decimal_scale(hive_type):
        text = f.regexp_replace(text, r"\.?0*$", "")
    return f.coalesce(f.nullif(text, f.lit("")), f.lit(DEFAULT_PARTITION))


def partition_value(text: Column, hive_type: str) -> Column:
    """The value of a partition's text: NULL where it is none of the type."""
    return read_value(text, hive_type).cast(spark_type(hive_type))


def read_value(value: Column, hive_type: str) -> Column:
    """A stored value as it compares: CHAR without the blanks that pad it."""
    limit = text_limit(hive_type)
    return f.rtrim(value) if limit and limit[0] == "char" else value


def as_wall_clock(frame: DataFrame) -> DataFrame:
    """The same rows with Hive's timestamps as what they are: wall clock without a zone.

    Python would turn an instant into the wall clock of its own machine's zone.
    """
    shown = [
        retyped(field.dataType, t.TimestampType(), t.TimestampNTZType())
        for field in frame.schema.fields
    ]
    if shown == [field.dataType for field in frame.schema.fields]:
        return frame
    # Two columns may have one name.
    numbered = frame.toDF(*(f"c{i}" for i in range(len(shown))))
    names = zip(frame.columns, shown, strict=True)
    return numbered.select(
        *(f.col(f"c{i}").cast(kind).alias(name) for i, (name, kind) in enumerate(names))
    )


def retyped(kind: t.DataType, before: t.DataType, after: t.DataType) -> t.DataType:
    """The type with another in the place of one type, at any depth."""
    if kind == before:
        return after

    def inside(inner: t.DataType) -> t.DataType:
        return retyped(inner, before, after)

    match kind:
        case t.ArrayType(elementType=element):
            return t.ArrayType(inside(element), kind.containsNull)
        case t.MapType(keyType=key, valueType=value):
            return t.MapType(inside(key), inside(value), kind.valueContainsNull)
        case t.StructType(fields=fields):
            return t.StructType(
                [t.StructField(one.name, inside(one.dataType), one.nullable) for one in fields]
            )
    return kind


def value_text(value: Column, hive_type: str) -> Column:
    """Hive's text of a primitive value; NULL stays NULL."""
    scale = decimal_scale(hive_type)
    if scale is None:
        return stored_value(value, hive_type).cast("string")
    # Spark's cast would write small decimals with an exponent.
    plain = f.format_number(value.cast(spark_type(hive_type)), scale)
    return f.translate(plain, ",", "")
