"""Formats that Hive's own classes read and write, as lines: SequenceFile, RCFile, other SerDes."""

from __future__ import annotations

from dataclasses import replace

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as f

from hivesql_executor.jvm import call_static, java_strings
from hivesql_executor.metastore.database.catalog.storage_formats import STORAGE
from hivesql_executor.spark.formats.delimited import joined_line, line_fields, split_lines
from hivesql_executor.spark.shapes import Shaped, change_each
from hivesql_planner.errors import NotSupported, SemanticError
from hivesql_planner.model.hive_type import HiveType, Kind, quote_name
from hivesql_planner.model.table import LINES_IN_PLACE, Table
from hivesql_planner.model.table import Column as TableColumn
from hivesql_planner.settings.compression import Compression

_TIMES = (Kind.DATE, Kind.TIMESTAMP)
_FIRST_DAY = "1582-10-15"
_WITHOUT_TIMES = ("sequencefile", "regex")
CONTAINERS = ("sequencefile", "rcfile", "rctext", "regex", "lazybinary", "sequencebinary")
_CALLED = {"lazybinary": "LazyBinarySerDe", "sequencebinary": "LazyBinarySerDe"}
"""What messages say of those that are no RCFile."""
READER = "hivesql.HiveContainers"
"""Our class in Spark: a data source of one column of lines, and of their places in text files."""


def container_options(table: Table, compression: Compression | None = None) -> dict[str, str]:
    """Tell READER how the table's rows are kept; NotSupported for types that it would change."""
    options = _layout_options(table)
    if compression is None:
        return options
    return {**options, "codec": compression.codec, "unit": compression.unit}


def _layout_options(table: Table) -> dict[str, str]:
    if table.format in LINES_IN_PLACE:
        return {"container": "text"}
    if table.format == "sequencefile":
        return {"container": "sequencefile"}
    if table.format == "regex":
        return {"container": "text", **_serde_options(table)}
    if table.format == "thrift":
        return {"container": "sequencefile", "gives": "values", **_serde_options(table)}
    called = _CALLED.get(table.format, "RCFile")
    for column in table.columns:
        if column.type.holds(Kind.INSTANT):
            raise NotSupported(f"{table.name}: TIMESTAMP WITH LOCAL TIME ZONE in {called}")
        if column.type.is_nested and column.type.holds(*_TIMES):
            raise NotSupported(f"{table.name}: times inside of {column.type} in {called}")
    container = {"lazybinary": "text", "sequencebinary": "sequencefile"}.get(table.format, "rcfile")
    return {"container": container, **_serde_options(table)}


def _serde_options(table: Table) -> dict[str, str]:
    properties = {f"property:{key}": text for key, text in table.serde_properties.items()}
    types = ":".join(str(column.type) for column in table.columns)
    return {"serde": STORAGE[table.format].serde, "types": types, **properties}


def thrift_columns(spark: SparkSession, table: Table) -> tuple[TableColumn, ...]:
    """Return the columns that a table's class of Thrift has; SemanticError 40000 without one."""
    properties = table.serde_properties
    try:
        row_type = call_static(
            spark, "HiveContainers", "rowType", spark._jsparkSession, STORAGE[table.format].serde,
            java_strings(spark, [*properties]), java_strings(spark, [*properties.values()]),
        )  # fmt: skip
    except (Py4JJavaError, PySparkException) as error:
        raise SemanticError(
            f"{table.name}: {STORAGE[table.format].serde} finds no columns by serialization.class="
            f"{properties.get('serialization.class', '')} and serialization.format="
            f"{properties.get('serialization.format', '')}. Name a class of a jar that ADD JAR "
            "has added, and its protocol, in WITH SERDEPROPERTIES",
            code=40000,
        ) from error
    return tuple(TableColumn(name, type_) for name, type_ in HiveType.parse(row_type).fields)


def contained_fields(table: Table, line: str) -> list[Column]:
    """Return what ``split_contained`` needs of a column of READER's lines."""
    return line_fields(_of_lines(table), line)


def split_contained(table: Table) -> list[Shaped]:
    """Read the table's data columns from ``contained_fields``."""

    def checked(value: Column, kind: HiveType) -> Column:
        is_time = kind.kind in _TIMES
        return f.when(f.isnull(_too_early(table, value, kind)), value) if is_time else value

    values = split_lines(_of_lines(table))
    return change_each(values, (column.type for column in table.columns), checked)


def joined_contained(table: Table) -> Column:
    """Join the table's data columns into a line for READER."""
    if table.format == "regex":
        raise SemanticError(f"{table.name}: Regex SerDe doesn't support the serialize() method")
    times = (column for column in table.columns if column.type.kind in _TIMES)
    early = (_too_early(table, f.col(quote_name(column.name)), column.type) for column in times)
    return f.concat(
        joined_line(_of_lines(table)), *(f.coalesce(problem, f.lit("")) for problem in early)
    )


def _of_lines(table: Table) -> Table:
    """Describe the text table whose lines READER takes and gives."""
    if table.format == "sequencefile":
        return table
    return replace(table, serde_properties={"escape.delim": "\\"})


def _too_early(table: Table, value: Column, kind: HiveType) -> Column:
    """NULL, unless the file has another day for the value than Hive would: then the job fails."""
    if table.format in _WITHOUT_TIMES:
        return f.lit(None).cast("string")
    called = _CALLED.get(table.format, "RCFile")
    problem = (
        f"{table.name}: times before {_FIRST_DAY} in {called}, whose days are another calendar's"
    )
    first = f.lit(_FIRST_DAY).cast(kind.spark)
    return f.when(value < first, f.raise_error(f.lit(problem)).cast("string"))
