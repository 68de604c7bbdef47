"""Rows of DESCRIBE and SHOW as HiveServer2 has them: without headings, padded, NULL for no cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hivesql_planner.model.statistics import ACCURATE
from hivesql_planner.statements.bound import Describe, Show, Statement

Row = tuple[Any, ...]

_WIDTH = 20
_EMPTY = ("", "", "")
_HEADED = ("extended tables", "materialized views")
_OF_PARTITIONS = "# Partition Information"
_OF_SOURCES = "# Materialized View Source table information"
_OF_VIEWS = ("# View Information", "# Materialized View Information")
_TITLES = ("Table Parameters:", "Partition Parameters:", "Storage Desc Params:")


def rows_of_server(statement: Statement | None, rows: Sequence[Any]) -> Sequence[Any]:
    """Return the rows that a client gets of what the shell prints."""
    match statement:
        case Show(kind=kind) if kind in _HEADED:
            return rows[1:] if rows and str(rows[0][0]).startswith("# ") else rows
        case Show(kind="tblproperties", key=str(key)):
            return [row if row[0] == key or len(row) < 2 else (row[0], None) for row in rows]
        case Show(kind="locks"):
            return [(row[0], None) if len(row) == 2 and not row[1] else row for row in rows]
        case Describe(table=table) if table is not None and rows and len(rows[0]) > 1:
            if statement.column is not None:
                return [_of_column(tuple(row)) for row in rows]
            lines = [tuple(row) for row in rows]
            return _formatted(lines[1:]) if statement.style == "formatted" else _plain(lines)
    return rows


def _of_column(row: Row) -> Row:
    """Return a line about one column."""
    if row[0] != ACCURATE:
        return row
    return (row[0], _padded(row[1])) if len(row) == 2 else (row[0], row[1], None)


def _plain(rows: Sequence[Row]) -> list[Row]:
    """Return the lines of DESCRIBE and DESCRIBE EXTENDED."""
    lines = _with_whole_comments(rows)
    is_column = True
    cells: list[Row] = []
    for first, second, third in lines:
        if (first, second, third) == _EMPTY or first == _OF_PARTITIONS:
            is_column = bool(first)
            cells.append((first, None, None))
        elif is_column or first.startswith("Detailed "):
            cells.append((first, second, third))
        else:
            cells.append((first, second or None, third or None))
    return cells


def _formatted(rows: Sequence[Row]) -> list[Row]:
    """Return the lines of DESCRIBE FORMATTED, whose first one, a heading, is left out."""
    lines = _with_whole_comments(rows)
    part = "columns"
    cells: list[Row] = []
    for position, (first, second, third) in enumerate(lines):
        following = lines[position + 1][0] if position + 1 < len(lines) else ""
        is_text = part in _OF_VIEWS and not first and following != _OF_SOURCES
        if first == _OF_PARTITIONS:
            part = "columns"
            cells.append((first, None, None))
        elif part == "columns" and (first or second or third):
            cells.append((first, second, third))
        elif is_text:
            cells.append((first, _padded(""), _padded(second)))
        elif first.startswith("# ") or first in _TITLES or (first, second, third) == _EMPTY:
            part = first or "details"
            cells.append((first, None, None))
        elif part == _OF_SOURCES:
            cells.append((first, second, None))
        elif not first:
            cells.append(("", _padded(second), _padded(third)))
        else:
            cells.append((_padded(first), _padded(second), _padded(third) if third else None))
    return cells


def _with_whole_comments(rows: Sequence[Row]) -> list[Row]:
    """Return the lines without those that go on with a text: it has its line's ends in one."""
    lines: list[Row] = []
    for row in rows:
        if lines and row[:2] == ("", "") and row[2]:
            lines[-1] = (*lines[-1][:2], f"{lines[-1][2]}\\n{row[2]}")
        else:
            lines.append(row)
    return lines


def _padded(text: str) -> str:
    return text.ljust(_WIDTH)
