"""Where plain Spark finds a row again that it changes: its id, and its partition's own texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hivesql.script import StatementText
from hivesql_planner.model.hive_type import HiveType, quote_name
from hivesql_planner.model.table import Table
from hivesql_planner.statements.bound import MergeRows, SelectRows, Statement

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_ROW_ID, _PARTITION = "row__id", "row__partition"
_IS_UPDATE = "row__is__updated"
_MARK = "'hivesql row__partition'"
"""What stands in a SELECT for the texts of a row's partition, for which Hive has no name."""
_TEXTS = HiveType.parse("array<string>")
_UPDATE, _INSERT = 2, 3
"""Spark's numbers of what is done with a row; the others delete it."""


def place_of_partition(table: Table, columns: Sequence[str]) -> int | None:
    """Tell which of the columns that Spark wants are the texts of a row's partition.

    None where it wants none of them.
    """
    is_own = _PARTITION in (*table.column_names, *table.partition_names)
    return columns.index(_PARTITION) if _PARTITION in columns and not is_own else None


def selected(table: Table, name: str) -> str:
    """Return what a SELECT asks for one of the columns that Spark wants."""
    is_own = name in (*table.column_names, *table.partition_names)
    return _MARK if name == _PARTITION and not is_own else quote_name(name)


def with_partition_texts(statement: Statement, place: int | None) -> Statement:
    """Let a SELECT of one table give, in that place, the texts of each row's partition."""
    if place is None:
        return statement
    assert isinstance(statement, SelectRows)
    query = statement.query
    (source,) = query.sources
    names = (f"`__text{i}`" for i in range(len(source.scan.table.partition_columns)))
    texts = f"CAST(array({', '.join(names)}) AS array<string>)"
    columns = [
        replace(column, type=_TEXTS) if place == number else column
        for number, column in enumerate(query.columns)
    ]
    scan = replace(source.scan, with_partition_texts=True)
    return replace(
        statement,
        query=replace(
            query,
            sql=query.sql.replace(_MARK, texts),
            sources=(replace(source, scan=scan),),
            columns=tuple(columns),
            look=None,
        ),
    )


def change_text(table: Table, command: str, source: str) -> StatementText:
    """Return the MERGE that writes the rows of ``changed_rows``; an update sets every column."""
    fixed = {*table.partition_names, *table.bucket_columns}
    names = [quote_name(column.name) for column in table.all_columns]
    sets = ", ".join(f"{name} = source.{name}" for name in names if name.strip("`") not in fixed)
    values = ", ".join(f"source.{name}" for name in names)
    clauses = {
        "delete": f"WHEN MATCHED AND NOT source.{_IS_UPDATE} THEN DELETE",
        "update": f"WHEN MATCHED AND source.{_IS_UPDATE} THEN UPDATE SET {sets}",
        "insert": f"WHEN NOT MATCHED THEN INSERT ({', '.join(names)}) VALUES ({values})",
    }
    if not sets:
        del clauses["update"]
    wanted = clauses.values() if command == "merge" else [clauses[command]]
    text = (
        f"MERGE INTO {table.name.quoted} AS target USING {source} AS source "
        f"ON target.ROW__ID.rowid = source.{_ROW_ID}.rowid {' '.join(wanted)}"
    )
    return StatementText(text, f"{command} of {table.name}")


def change_by_row_id(statement: Statement) -> Statement:
    """Let that MERGE take its source's word for which rows it changes."""
    assert isinstance(statement, MergeRows)
    return replace(statement, by_row_id=True)


def changed_rows(frame: DataFrame, table: Table, question: Mapping[str, Any]) -> DataFrame:
    """Return rows of Spark's change by names: the place of the old row, and the new row.

    The frame's columns have numbers, by which the question tells what they are.
    """
    row_id, partition = question["row id"]
    columns = table.all_columns
    values: Sequence[str] = [f"c{number}" for number in question["row"]] or [
        f"CAST(NULL AS {column.type.spark})" for column in columns
    ]
    return frame.selectExpr(
        f"c0 = {_UPDATE} AS {_IS_UPDATE}",
        f"IF(c0 = {_INSERT}, NULL, c{row_id}) AS {_ROW_ID}",
        f"c{partition} AS {_PARTITION}",
        *(
            f"{text} AS {quote_name(column.name)}"
            for text, column in zip(values, columns, strict=True)
        ),
    )
