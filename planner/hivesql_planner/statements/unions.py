"""What is not written: columns of UNIONTYPE and tables of Thrift, which are read alone."""

from __future__ import annotations

from collections.abc import Iterable

from hivesql_planner.errors import NotSupported, SemanticError
from hivesql_planner.model.hive_type import Kind
from hivesql_planner.model.table import Column, Table
from hivesql_planner.statements.bound import (
    CreateTable,
    DeleteRows,
    InsertRows,
    MergeRows,
    Statement,
    UpdateRows,
    WriteDirectory,
)
from hivesql_planner.statements.export import ExportTable


def refuse_written_unions(statement: Statement) -> None:
    """Refuse a statement that writes rows of which a part is a union (NotSupported), or Thrift."""
    for table in _tables(statement):
        if table.format == "thrift":
            raise SemanticError(
                f"{table.name}: ThriftDeserializer reads alone, so that no row can be written. "
                "LOAD DATA brings files that another program has written"
            )
    check_written(_written(statement))


def check_written(columns: Iterable[Column]) -> None:
    """Refuse to write columns of which one is, or holds, a union (NotSupported)."""
    for column in columns:
        if column.type.holds(Kind.UNION):
            raise NotSupported(
                f"writing the column {column.name} of {column.type}: unions are read alone. "
                "Let Hive write it, or leave the column out of the table"
            )


def _tables(statement: Statement) -> Iterable[Table]:
    return (
        (target.table for target in statement.targets) if isinstance(statement, InsertRows) else ()
    )


def _written(statement: Statement) -> Iterable[Column]:
    match statement:
        case InsertRows(targets=targets):
            return (column for target in targets for column in target.table.columns)
        case UpdateRows(target=scan) | DeleteRows(target=scan) | MergeRows(target=scan):
            return scan.table.columns
        case ExportTable(table=table) if table.is_full_acid:
            return table.columns
        case CreateTable(rows=query) | WriteDirectory(query=query) if query is not None:
            return query.columns
    return ()
