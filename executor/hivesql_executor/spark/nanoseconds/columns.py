"""Timestamps finer than Spark's: Hive keeps nanoseconds, Spark microseconds.

Spark's ORC reader gives a timestamp as text with all of its digits when it is asked for a string.
So files that may hold nanoseconds are read that way: the value is made of the text, and the text
travels beside it to the writer, which puts it into the new file where the value has not changed.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f

from hivesql_executor.files.api import Files
from hivesql_executor.orc.footers import read_footers
from hivesql_executor.orc.tail import OrcTail
from hivesql_executor.spark.formats.listed_files import FileKind, read_grouped
from hivesql_executor.spark.formats.orc_columns import position_schema
from hivesql_planner.acid.files_to_read import DataFile
from hivesql_planner.acid.layout import NANOSECONDS
from hivesql_planner.errors import NotSupported
from hivesql_planner.model.hive_type import STRING, TIMESTAMPS, HiveType, Kind, quote_name
from hivesql_planner.model.table import Table

SPARK_VERSION = "org.apache.spark.version"
TEXTS = "__nanoseconds"
"""A struct of texts, by the names of the columns in whose place they are written."""
_FINER = r":[0-9]{2}\.[0-9]{7}"


def nanosecond_column(number: int) -> str:
    """Name the column of a column's timestamps as texts; NULL where the value says it all."""
    return f"{TEXTS}{number}"


def may_hold_nanoseconds(tail: OrcTail) -> bool:
    """Tell whether a file may hold nanoseconds: its writer says so, or is another than Spark."""
    mark = tail.metadata.get(NANOSECONDS)
    return SPARK_VERSION not in tail.metadata if mark is None else mark == b"true"


def nanosecond_columns(table: Table, tail: OrcTail) -> tuple[int, ...]:
    """Give the table's columns that hold timestamps in this file, if some of them may be finer."""
    if not may_hold_nanoseconds(tail):
        return ()
    # A column that had another type when the file was written has texts of another kind.
    return tuple(
        i
        for i, (column, kind) in enumerate(zip(table.columns, tail.row_types, strict=False))
        if (count := _count_times(column.type))
        and count == _count_times(kind)
        and not is_instant_inside(column.type)
    )


def _count_times(hive_type: HiveType) -> int:
    return sum(inner.kind in TIMESTAMPS for inner in hive_type.walk())


def is_instant_inside(hive_type: HiveType) -> bool:
    """Tell whether there is a TIMESTAMP WITH LOCAL TIME ZONE inside: its text would have a zone."""
    return hive_type.holds(Kind.INSTANT)


def as_text(hive_type: HiveType) -> HiveType:
    """Return the type with strings in the place of timestamps."""
    return hive_type.exchange(TIMESTAMPS, STRING)


def with_texts(table: Table, nanoseconds: Collection[int]) -> Table:
    """Return the table as files are read: timestamps of some columns as texts."""
    columns = (
        replace(column, type=as_text(column.type)) if i in nanoseconds else column
        for i, column in enumerate(table.columns)
    )
    return replace(table, columns=tuple(columns))


def with_values(
    rows: DataFrame, table: Table, nanoseconds: Collection[int], carried: Collection[int]
) -> DataFrame:
    """Give rows values for the texts of ``nanoseconds``, and texts of all wanted columns beside."""
    if not carried:
        return rows
    values = {}
    for i in carried:
        name, kind = table.columns[i].name, table.columns[i].type
        text = (
            f.col(quote_name(name)) if i in nanoseconds else f.lit(None).cast(as_text(kind).spark)
        )
        values[nanosecond_column(i)] = text
        if i in nanoseconds:
            if as_text(kind) == STRING:
                # Spark has no 1500-02-29, which the Julian calendar had; Hive takes the next day.
                is_valid = f.to_timestamp(text).isNotNull() | text.isNull()
                text = f.when(is_valid, text).otherwise(
                    f.regexp_replace(text, "-02-29 ", "-03-01 ")
                )
                values[nanosecond_column(i)] = text
            value = text.cast(kind.spark)
            lost = f.raise_error(f.lit(f"a time of {name} is in no calendar of Spark's"))
            gone = text.isNotNull() & value.isNull()
            values[name] = f.when(gone, lost.cast(kind.spark)).otherwise(value)
    return rows.withColumns(values)


def nanosecond_struct(table: Table, rows: DataFrame) -> Column | None:
    """Return the struct TEXTS of the rows' columns of nanoseconds; None without any."""
    texts = []
    for i, column in enumerate(table.columns):
        if nanosecond_column(i) not in rows.columns:
            continue
        text = f.col(f"`{nanosecond_column(i)}`")
        texts.append(text.cast(as_text(column.type).spark).alias(column.name))
    return f.struct(*texts) if texts else None


def refuse_nanoseconds(
    spark: SparkSession, table: Table, location: str, data: Sequence[DataFile], *, files: Files
) -> None:
    """NotSupported when a file of a table without row ids holds a timestamp that Spark would cut.

    Reads only timestamp columns, as text, and only of files that may hold such.
    """
    lengths = {f"{location}/{file.path}": file.length for file in data}
    tails = read_footers(files, [*lengths.items()])
    groups: dict[tuple[tuple[str, ...], tuple[int, ...]], list[tuple[str, int]]] = {}
    for path, tail in tails.items():
        nanoseconds = nanosecond_columns(table, tail)
        if tail.rows and nanoseconds:
            sized_files = groups.setdefault((tail.row_fields, nanoseconds), [])
            sized_files.append((path, lengths[path]))
    for (names, nanoseconds), sized_files in groups.items():
        column = _finer(spark, table, nanoseconds, names, sized_files)
        if column:
            raise NotSupported(
                f"compaction of {table.name}: {column} holds timestamps with nanoseconds, which "
                "would be cut to microseconds. Compact the table in Hive"
            )


def _finer(
    spark: SparkSession,
    table: Table,
    nanoseconds: Collection[int],
    names: tuple[str, ...],
    sized_files: Sequence[tuple[str, int]],
) -> str | None:
    """Return a path of those that hold nanoseconds."""
    texts = with_texts(table, nanoseconds)
    kind = FileKind("orc", position_schema(texts, names))
    rows = read_grouped(spark, kind, [((), sized_files)])
    finer = f.lit(False)
    for i in nanoseconds:
        text = f.col(quote_name(names[i])).cast("string")
        finer = finer | f.coalesce(text.rlike(_FINER), f.lit(False))
    row = rows.where(finer).select("_metadata.file_path").first()
    return str(row[0]) if row else None
