"""Tables whose files are lines of text: delimited, CSV, JSON, and those that Hive wraps."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as f

from hivesql_executor.spark.file_paths import FILE_COLUMN
from hivesql_executor.spark.formats.containers import (
    CONTAINERS,
    contained_fields,
    joined_contained,
    split_contained,
)
from hivesql_executor.spark.formats.csv_lines import joined_csv, split_csv
from hivesql_executor.spark.formats.delimited import (
    joined_line,
    line_fields,
    split_lines,
    time_texts,
)
from hivesql_executor.spark.formats.json_lines import joined_json, split_json
from hivesql_executor.spark.formats.listed_files import FileGroup, FileKind, read_grouped
from hivesql_executor.spark.shapes import Item, select
from hivesql_planner.errors import SemanticError
from hivesql_planner.model.hive_type import quote_name
from hivesql_planner.model.table import Table

LINE = "__line"
"""The column that holds a line while it is read."""

_WRITERS: dict[str, Callable[[Table], Column]] = {
    "textfile": joined_line,
    "csv": joined_csv,
    "json": joined_json,
}
_WRITERS.update(dict.fromkeys(CONTAINERS, joined_contained))
_SKIPPED = ("skip.header.line.count", "skip.footer.line.count")
_ALONE = str(2**60)
_OWN_TASK = "spark.sql.files.openCostInBytes"


def is_of_lines(table: Table) -> bool:
    """Tell whether each row is one line of text."""
    return table.format in _WRITERS


def read_line(lines: DataFrame, table: Table) -> tuple[DataFrame, Sequence[Item]]:
    """Return the lines with what their values are read from, and the table's data columns."""
    match table.format:
        case "csv":
            return lines, split_csv(table, LINE)
        case "json":
            return lines, split_json(table, LINE)
        case "textfile":
            return select(lines, ["*", *line_fields(table, LINE)]), split_lines(table)
    return select(lines, ["*", *contained_fields(table, LINE)]), split_contained(table)


def read_finer_times(table: Table, columns: Collection[int]) -> list[Column]:
    """Return texts of times in TIMESTAMP columns of a delimited table; NULL for microseconds."""
    return time_texts(table, LINE, columns)


def write_line(table: Table, times: Mapping[str, Column] | None = None) -> Column:
    """Return a line from the table's data columns.

    ``times`` are texts of TIMESTAMP columns of a delimited table, or NULL, to be written as they
    are.
    """
    return joined_line(table, times) if times else _WRITERS[table.format](table)


def skipped_lines(table: Table) -> tuple[int, int]:
    """Tell how many lines of each file are header and footer; SemanticError for no number."""
    counts = []
    for key in _SKIPPED:
        text = table.properties.get(key, "").strip() or "0"
        if not text.isdigit():
            raise SemanticError(f"{table.name}: {key}={text!r} is no number of lines")
        counts.append(int(text))
    return counts[0], counts[1]


def read_numbered(
    spark: SparkSession, kind: FileKind, groups: Sequence[FileGroup], table: Table
) -> DataFrame:
    """Lines of text files without each file's header and footer, and FILE_COLUMN.

    Rows are numbered by their task, so each split of a file gets a task of its own. Spark decides
    on splits when it builds the job, from its session's settings: a session made for that keeps
    them away from other queries.
    """
    header, footer = skipped_lines(table)
    session: Any = spark._jsparkSession
    single = session.cloneSession()
    single.conf().set(_OWN_TASK, _ALONE)
    rows = read_grouped(spark, kind, groups, table.partition_names, single)
    columns = [f.col(quote_name(name)) for name in rows.columns]
    file, start = f.col("_metadata.file_path"), f.col("_metadata.file_block_start")
    number = f.monotonically_increasing_id().bitwiseAND(f.lit(2**33 - 1))
    placed = rows.select(
        *columns, file.alias(FILE_COLUMN), start.alias("__start"), number.alias("__number")
    )
    built = placed._jdf.queryExecution().toRdd()
    built.getNumPartitions()
    fixed = DataFrame(
        session.internalCreateDataFrame(built, placed._jdf.schema(), False), spark
    ).where((f.col("__start") > 0) | (f.col("__number") >= header))
    if footer:
        last = Window.partitionBy(FILE_COLUMN).orderBy(f.desc("__start"), f.desc("__number"))
        fixed = fixed.withColumn("__left", f.row_number().over(last)).where(
            f.col("__left") > footer
        )
    return fixed.select(*columns, FILE_COLUMN)
