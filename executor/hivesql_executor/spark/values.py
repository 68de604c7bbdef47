"""Values as Hive stores them, and as the text it makes of them."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql import types as t
from pyspark.sql.types import StructType

from hivesql_executor.jvm import spark_line
from hivesql_executor.outcome import HIVE_TYPE, OutsideTime
from hivesql_executor.spark.charsets import cleaned
from hivesql_executor.spark.lines import arrow_schema
from hivesql_executor.spark.shapes import Shaped, change_each, columns_named, numbered, select
from hivesql_planner.errors import NotSupported
from hivesql_planner.model.conversions import conversion
from hivesql_planner.model.hive_type import SIZED_TEXTS, HiveType, Kind, quote_name
from hivesql_planner.model.partition_values import FALSE
from hivesql_planner.model.table import DEFAULT_PARTITION, Table
from hivesql_planner.model.table import Column as TableColumn

if TYPE_CHECKING:
    import pyarrow as pa

_INSTANTS_SINCE = (4, 2)


_UNICODE = ("parquet", "avro")


def stored_value(value: Column, hive_type: HiveType) -> Column:
    """Return a value as the table stores it: cast, VARCHAR cut, CHAR padded with blanks."""
    return _each_sized(value.cast(hive_type.spark), hive_type, _stored_text)


def converted(name: str, source: HiveType, hive_type: HiveType, zone: str | None = None) -> Column:
    """Convert a column of the type ``source`` as Hive does for a column of another type.

    ``zone`` is the session's; None is UTC.
    """
    template = conversion(source, hive_type, zone)
    return f.expr(template.replace("@0", quote_name(name))) if template else f.col(name)


def written_value(value: Column, hive_type: HiveType, file_format: str) -> Column:
    """Return the same for a file of this format: Parquet has CHAR without blanks at its end.

    Some formats hold no text but UTF-8.
    """
    stored = stored_value(value, hive_type)
    if file_format == "parquet":
        stored = _each_sized(stored, hive_type, _stripped_text)
    is_plain = hive_type.kind is Kind.STRING
    return cleaned(stored) if is_plain and file_format in _UNICODE else stored


def _stored_text(text: Column, hive_type: HiveType, size: int) -> Column:
    text = cleaned(text)
    is_char = hive_type.kind is Kind.CHAR
    return f.rpad(text, size, " ") if is_char else f.substring(text, 1, size)


def _stripped_text(text: Column, hive_type: HiveType, size: int) -> Column:
    return f.rtrim(text) if hive_type.kind is Kind.CHAR else text


def _each_sized(
    value: Column, hive_type: HiveType, change: Callable[[Column, HiveType, int], Column]
) -> Column:
    """Return the value with each CHAR and VARCHAR in it changed, at any depth."""
    if hive_type.length is not None:
        return change(value, hive_type, hive_type.length)
    if not hive_type.holds(*SIZED_TEXTS):
        return value
    inside = hive_type.children
    match hive_type.kind:
        case Kind.ARRAY:
            return f.transform(value, lambda item: _each_sized(item, inside[0], change))
        case Kind.MAP:

            def entry(pair: Column) -> Column:
                return f.struct(
                    _each_sized(pair["key"], inside[0], change).alias("key"),
                    _each_sized(pair["value"], inside[1], change).alias("value"),
                )

            return f.map_from_entries(f.transform(f.map_entries(value), entry))
    fields = (_each_sized(value[name], kind, change).alias(name) for name, kind in hive_type.fields)
    return f.when(value.isNotNull(), f.struct(*fields))


def as_shown(frame: DataFrame, columns: Sequence[TableColumn]) -> DataFrame:
    """Pad the CHAR values of a query's rows; ``columns`` are known ones of its own."""
    if not any(column.type.holds(*SIZED_TEXTS) for column in columns):
        return frame

    def padded(text: Column, hive_type: HiveType, size: int) -> Column:
        return f.rpad(text, size, " ") if hive_type.kind is Kind.CHAR else text

    values = columns_named(frame.columns, (f"c{i}" for i in range(len(columns))))
    kinds = (column.type for column in columns)
    shown = change_each(values, kinds, lambda value, kind: _each_sized(value, kind, padded))
    return select(numbered(frame), shown)


def stored_row(table: Table, row: str) -> Column:
    """Return a struct column of the table's data columns with stored values; NULL stays NULL."""
    if not any(column.type.holds(*SIZED_TEXTS) for column in table.columns):
        return f.col(row)
    values = (
        stored_value(f.col(row)[column.name], column.type).alias(column.name)
        for column in table.columns
    )
    return f.when(f.col(row).isNotNull(), f.struct(*values))


def partition_text(value: Column, hive_type: HiveType, default: str = DEFAULT_PARTITION) -> Column:
    """Hive's text of a partition value; NULL and '' give the default partition.

    Never NULL, so that Spark adds no sort of its own before it writes.
    """
    text = value_text(value, hive_type)
    if hive_type.scale:
        text = f.regexp_replace(text, r"\.?0*$", "")
    return f.coalesce(f.nullif(text, f.lit("")), f.lit(default))


def partition_value(text: Column, hive_type: HiveType) -> Column:
    """Return the value of a partition's text: NULL where it is none of the type."""
    if hive_type.kind is Kind.BOOLEAN:
        # Hive's, of texts that another program may have written.
        return ~f.lower(text).isin(*FALSE)
    return read_value(text, hive_type).cast(hive_type.spark)


def read_value(value: Column, hive_type: HiveType) -> Column:
    """Give a stored value as it compares: cut to its size, CHAR without the blanks that pad it."""
    return _each_sized(value, hive_type, _read_text)


def _read_text(text: Column, hive_type: HiveType, size: int) -> Column:
    # Longer texts are from before the column was made shorter.
    cut = f.substring(text, 1, size)
    return f.rtrim(cut) if hive_type.kind is Kind.CHAR else cut


def as_wall_clock(frame: DataFrame) -> DataFrame:
    """Return the same rows with Hive's timestamps as what they are: wall clock without a zone.

    Python would turn an instant into the wall clock of its own machine's zone.
    """
    types = [
        retyped(field.dataType, t.TimestampType(), t.TimestampNTZType())
        for field in frame.schema.fields
    ]
    if types == [field.dataType for field in frame.schema.fields]:
        return frame
    # Two columns may have one name.
    values = columns_named(frame.columns, (f"c{i}" for i in range(len(types))))
    kinds = (
        kind if kind != field.dataType else None
        for kind, field in zip(types, frame.schema.fields, strict=True)
    )
    cast = change_each(values, kinds, lambda value, kind: value.cast(kind) if kind else value)
    return select(numbered(frame), cast)


def check_instants(table: Table) -> None:
    """Refuse instants in ORC files that this line of Spark cannot read."""
    if table.format != "orc" or spark_line() >= _INSTANTS_SINCE:
        return
    for column in table.columns:
        if column.type.holds(Kind.INSTANT):
            own, since = (".".join(map(str, line)) for line in (spark_line(), _INSTANTS_SINCE))
            raise NotSupported(
                f"reading the column {column.name} of {table.name} by Spark {own}: ORC files with "
                f"the type {column.type} need Spark {since}"
            )


def zone_of_files(spark: SparkSession, table: Table) -> str:
    """Return the time zone of Spark's JVM where Spark reads and writes the table's times by it.

    Empty where that is UTC, or nothing to a table's files. ORC's times are its wall clock, those of
    Parquet before 1900 alone.
    """
    if table.is_full_acid or table.format not in ("orc", "parquet"):
        return ""
    if not any(column.type.holds(Kind.TIMESTAMP, Kind.INSTANT) for column in table.columns):
        return ""
    jvm: Any = spark._jvm  # no public way to ask for the zone
    zone = jvm.java.util.TimeZone.getDefault()
    is_utc = zone.hasSameRules(jvm.java.util.TimeZone.getTimeZone("UTC"))
    return "" if is_utc else str(zone.getID())


def of_any_zone(values: Sequence[Shaped], table: Table, zone: str) -> list[Shaped]:
    """Let no time pass that Parquet has otherwise by a JVM of ``zone``; an error when it is met.

    ``values`` are the table's data columns. NotSupported for times inside of other types.
    """
    if not zone or table.format != "parquet":
        return list(values)
    return change_each(
        values, table.columns, lambda value, column: _of_any_zone(value, column, table, zone)
    )


def _of_any_zone(value: Column, column: TableColumn, table: Table, zone: str) -> Column:
    if not column.type.holds(Kind.TIMESTAMP, Kind.INSTANT):
        return value
    advice = (
        f"in Parquet, by a Spark whose JVM runs in time zone {zone}. Start Spark with "
        "spark.driver.extraJavaOptions and spark.executor.extraJavaOptions = "
        "-Duser.timezone=UTC, or keep such rows in ORC"
    )
    name = f"the column {column.name} of {table.name}"
    if column.type.is_nested:
        raise NotSupported(f"{name}, {column.type} {advice}")
    # A day more than what no zone changes, since the value may have been changed.
    early = value < f.lit("1900-01-02").cast("timestamp")
    problem = f.raise_error(f.lit(f"{name}: times before 1900 {advice}"))
    return f.when(early, problem.cast(column.type.spark)).otherwise(value)


def with_instants_marked(
    frame: DataFrame, columns: Sequence[TableColumn], zone: str | None = None
) -> DataFrame:
    """Mark columns with instants in their metadata, since all is wall clock of UTC.

    They are to be shown in ``zone``, that of the session; None is UTC.
    """
    instant = HiveType(Kind.INSTANT, zone=zone or "")
    marks = {
        i: str(column.type.exchange((Kind.INSTANT,), instant))
        for i, column in enumerate(columns)
        if column.type.holds(Kind.INSTANT)
    }
    if not marks:
        return frame
    # Two columns may have one name.
    return numbered(frame).select(
        *(
            f.col(f"c{i}").alias(name, metadata={HIVE_TYPE: marks[i]} if i in marks else {})
            for i, name in enumerate(frame.columns)
        )
    )


def retyped(kind: t.DataType, before: t.DataType, after: t.DataType) -> t.DataType:
    """Return the type with another in the place of one type, at any depth."""
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
                [
                    t.StructField(field.name, inside(field.dataType), field.nullable)
                    for field in fields
                ]
            )
    return kind


def value_text(value: Column, hive_type: HiveType) -> Column:
    """Hive's text of a primitive value; NULL stays NULL."""
    scale = hive_type.scale
    if scale is None:
        return stored_value(value, hive_type).cast("string")
    # Spark's cast would write small decimals with an exponent.
    plain = f.format_number(value.cast(hive_type.spark), scale)
    return f.translate(plain, ",", "")


def arrow_of(rows: Sequence[Any], schema: StructType) -> pa.Table:
    """Return the rows with the types that Spark gave them."""
    import pyarrow as pa

    target = arrow_schema(schema)
    columns = [
        pa.array([_arrow_value(row[i], field.dataType) for row in rows], kind)
        for i, (field, kind) in enumerate(zip(schema.fields, target.types, strict=True))
    ]
    return pa.Table.from_arrays(columns, schema=target)


def _arrow_value(value: Any, kind: t.DataType) -> Any:
    """Return a value of a row of Spark's as Arrow takes it: structs and maps as pairs."""
    if value is None:
        return None
    if isinstance(value, OutsideTime):
        return _number_of(value, "D" if isinstance(kind, t.DateType) else "us")
    match kind:
        case t.StructType(fields=fields):
            pairs = zip(fields, value, strict=True)
            return [(field.name, _arrow_value(item, field.dataType)) for field, item in pairs]
        case t.MapType(keyType=keys, valueType=values):
            return [(_arrow_value(k, keys), _arrow_value(v, values)) for k, v in value.items()]
        case t.ArrayType(elementType=element):
            return [_arrow_value(item, element) for item in value]
        case t.BinaryType():
            return bytes(value)
        case t.TimestampType():
            return value.astimezone(datetime.timezone.utc)
    return value


def _number_of(time: OutsideTime, unit: Literal["D", "us"]) -> int:
    """Return how many days or microseconds the time is from 1970, as Arrow counts."""
    import numpy as np

    return int(np.datetime64(time.lstrip("+").replace(" ", "T"), unit).astype(np.int64))
