"""Machine formats, written plain: one row a line."""

from __future__ import annotations

import csv
import datetime
import decimal
import io
import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TextIO

Writer = Callable[[TextIO, Sequence[str], Iterable[Sequence[Any]], bool], int]


def hive_text(value: Any, *, nested: bool = False) -> str:
    """A value as Hive prints it: NULL, true, [1,2], {"a":1}."""
    if value is None:
        return "null" if nested else "NULL"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False) if nested else value
    if isinstance(value, (bytes, bytearray)):
        return value.decode("utf-8", "replace")
    if isinstance(value, datetime.datetime):
        text = value.replace(microsecond=0, tzinfo=None).isoformat(" ")
        fraction = f".{value.microsecond:06d}".rstrip("0") if value.microsecond else ""
        return f'"{text}{fraction}"' if nested else text + fraction
    if isinstance(value, datetime.date):
        return f'"{value.isoformat()}"' if nested else value.isoformat()
    if isinstance(value, decimal.Decimal):
        return format(value, "f")
    return _nested_text(value)


def _nested_text(value: Any) -> str:
    if hasattr(value, "asDict"):
        value = value.asDict()
    if isinstance(value, dict):
        pairs = (
            f"{hive_text(key, nested=True)}:{hive_text(item, nested=True)}"
            for key, item in value.items()
        )
        return "{" + ",".join(pairs) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(hive_text(item, nested=True) for item in value) + "]"
    return str(value)


def _delimited(separator: str) -> Writer:
    def write(
        out: TextIO, columns: Sequence[str], rows: Iterable[Sequence[Any]], header: bool
    ) -> int:
        writer = csv.writer(out, delimiter=separator, lineterminator="\n")
        if header and columns:
            writer.writerow(columns)
        count = 0
        for row in rows:
            writer.writerow([hive_text(value) for value in row])
            count += 1
        return count

    return write


def _json_lines(
    out: TextIO, columns: Sequence[str], rows: Iterable[Sequence[Any]], header: bool
) -> int:
    count = 0
    for row in rows:
        plain = dict(zip(columns, map(_plain, row), strict=True))
        out.write(json.dumps(plain, ensure_ascii=False) + "\n")
        count += 1
    return count


def _plain(value: Any) -> Any:
    if hasattr(value, "asDict"):
        return {key: _plain(item) for key, item in value.asDict().items()}
    if isinstance(value, dict):
        return {hive_text(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return hive_text(value)


def _vertical(
    out: TextIO, columns: Sequence[str], rows: Iterable[Sequence[Any]], header: bool
) -> int:
    width = max((len(column) for column in columns), default=0)
    count = 0
    for row in rows:
        for column, value in zip(columns, row, strict=True):
            out.write(f"{column:<{width}}  {hive_text(value)}\n")
        out.write("\n")
        count += 1
    return count


def _table(out: TextIO, columns: Sequence[str], rows: Iterable[Sequence[Any]], header: bool) -> int:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    grid = Table(show_header=header)
    for column in columns:
        grid.add_column(Text(column), overflow="fold")
    count = 0
    for row in rows:
        grid.add_row(*(Text(hive_text(value)) for value in row))
        count += 1
    Console(file=out, soft_wrap=False).print(grid)
    return count


FORMATS: dict[str, Writer] = {
    "csv2": _delimited(","),
    "jsonfile": _json_lines,
    "table": _table,
    "tsv2": _delimited("\t"),
    "vertical": _vertical,
}


def format_of(name: str | None, out: TextIO) -> Writer:
    """The writer of a format; without a name, a table for people and tsv2 for programs."""
    return FORMATS[name or ("table" if out.isatty() else "tsv2")]


def to_text(writer: Writer, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Rows in a format, as one text."""
    out = io.StringIO()
    writer(out, columns, rows, True)
    return out.getvalue()
