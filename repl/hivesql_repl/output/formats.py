"""How rows are written: a table for people, plain lines for programs."""

from __future__ import annotations

import csv
import io
import itertools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from numbers import Number
from typing import IO, Any

from hivesql.rendering.hive_text import Single, double_text, hive_text

Row = Sequence[Any]
WHOLE_LINES = 10_000
"""The width of what no terminal shows."""
_ROOM_OF_COLUMN = len("│ x ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """What beeline's flags say about the look of rows; widths of 0 mean no limit."""

    header: bool = True
    null: str = "NULL"
    delimiter: str = "|"
    escape_breaks: bool = False
    truncate: bool = False
    max_width: int = 0
    max_column_width: int = 0
    batch: int = 1000
    color: bool = False

    def text(self, value: Any) -> str:
        """Return a value as it is printed."""
        text = self.null if value is None else hive_text(value)
        if self.escape_breaks:
            text = text.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
        return text


Writer = Callable[[IO[str], Sequence[str], Iterable[Row], Style], int]


def _delimited(separator: str | None, quote: str = "") -> Writer:
    """Lines of values; without ``separator`` the style's. ``quote`` goes around every value."""

    def write(out: IO[str], columns: Sequence[str], rows: Iterable[Row], style: Style) -> int:
        writer = csv.writer(
            out,
            delimiter=separator or style.delimiter,
            lineterminator="\n",
            quotechar=quote or '"',
            quoting=csv.QUOTE_ALL if quote else csv.QUOTE_MINIMAL,
        )
        if style.header and columns:
            writer.writerow(columns)
        count = 0
        for count, row in enumerate(rows, 1):  # noqa: B007 - the last number is the count
            writer.writerow([style.text(value) for value in row])
        return count

    return write


def _json_lines(out: IO[str], columns: Sequence[str], rows: Iterable[Row], style: Style) -> int:
    count = 0
    for count, row in enumerate(rows, 1):  # noqa: B007 - the last number is the count
        out.write(_json_object(columns, row) + "\n")
    return count


def _json(out: IO[str], columns: Sequence[str], rows: Iterable[Row], style: Style) -> int:
    """Write one document, as beeline's json: {"resultset":[…]}."""
    out.write('{"resultset":[')
    count = 0
    for count, row in enumerate(rows, 1):
        out.write(("," if count > 1 else "") + _json_object(columns, row))
    out.write("]}\n")
    return count


def _json_object(columns: Sequence[str], row: Row) -> str:
    return json.dumps(dict(zip(columns, map(_plain, row), strict=True)), ensure_ascii=False)


def _plain(value: Any) -> Any:
    if hasattr(value, "asDict"):
        return {key: _plain(item) for key, item in value.asDict().items()}
    if isinstance(value, dict):
        return {hive_text(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, Single):
        return float(double_text(value))
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return hive_text(value)


def _vertical(out: IO[str], columns: Sequence[str], rows: Iterable[Row], style: Style) -> int:
    width = max((len(column) for column in columns), default=0)
    count = 0
    for count, row in enumerate(rows, 1):  # noqa: B007 - the last number is the count
        for column, value in zip(columns, row, strict=True):
            out.write(f"{column:<{width}}  {style.text(value)}\n")
        out.write("\n")
    return count


def _xml_attributes(out: IO[str], columns: Sequence[str], rows: Iterable[Row], style: Style) -> int:
    """Write one element a row, as beeline's xmlattr."""

    def line(row: Row) -> str:
        values = zip(_xml_names(columns), row, strict=True)
        parts = (f' {name}="{_xml_text(value, style)}"' for name, value in values)
        return f"  <result{''.join(parts)}/>\n"

    return _xml(out, rows, line)


def _xml_elements(out: IO[str], columns: Sequence[str], rows: Iterable[Row], style: Style) -> int:
    """Write one element a value, as beeline's xmlelements."""

    def lines(row: Row) -> str:
        values = zip(_xml_names(columns), row, strict=True)
        parts = (f"    <{name}>{_xml_text(value, style)}</{name}>\n" for name, value in values)
        return f"  <result>\n{''.join(parts)}  </result>\n"

    return _xml(out, rows, lines)


def _xml(out: IO[str], rows: Iterable[Row], text_of: Callable[[Row], str]) -> int:
    out.write("<resultset>\n")
    count = 0
    for count, row in enumerate(rows, 1):  # noqa: B007 - the last number is the count
        out.write(text_of(row))
    out.write("</resultset>\n")
    return count


def _xml_names(columns: Sequence[str]) -> list[str]:
    """Beeline writes names that are none of XML as they are, which no reader takes."""
    names = (re.sub(r"[^\w.-]", "_", column) for column in columns)
    return [name if name[:1].isalpha() or name[:1] == "_" else f"_{name}" for name in names]


def _xml_text(value: Any, style: Style) -> str:
    from html import escape

    return escape(style.text(value))


def _markdown(out: IO[str], columns: Sequence[str], rows: Iterable[Row], style: Style) -> int:
    def line(cells: Iterable[str]) -> str:
        escaped = (cell.replace("|", "\\|").replace("\n", "<br>") for cell in cells)
        return f"| {' | '.join(escaped)} |\n"

    out.write(line(columns) + line("---" for _ in columns))
    count = 0
    for count, row in enumerate(rows, 1):  # noqa: B007 - the last number is the count
        out.write(line(map(style.text, row)))
    return count


def _table(out: IO[str], columns: Sequence[str], rows: Iterable[Row], style: Style) -> int:
    """Boxes, laid out a batch at a time, so that a long result need not fit in memory.

    Lines are folded for a person, and left whole for a program. No width is too small for a letter
    of each column: what rich has no room for it leaves out.
    """
    from rich.table import Table
    from rich.text import Text

    from hivesql_repl.output.console import Screen

    width = style.max_width or (None if out.isatty() else WHOLE_LINES)
    console = Screen(file=out, width=width, no_color=not style.color, highlight=False)
    console.width = max(console.width, _ROOM_OF_COLUMN * len(columns) + 1)
    count = 0
    for batch in _batches(rows, style.batch):
        grid = Table(show_header=style.header)
        for position, column in enumerate(columns):
            grid.add_column(
                Text(column),
                justify="right" if _are_numbers(row[position] for row in batch) else "left",
                overflow="ellipsis" if style.truncate else "fold",
                no_wrap=style.truncate,
                max_width=style.max_column_width or None,
            )
        for row in batch:
            grid.add_row(*(Text(style.text(value)) for value in row))
        console.print(grid)
        count += len(batch)
    return count


def _are_numbers(values: Iterable[Any]) -> bool:
    """Tell whether all values but NULLs are numbers, whose last digits belong below each other."""
    present = [value for value in values if value is not None]
    return bool(present) and all(
        isinstance(value, Number) and not isinstance(value, bool) for value in present
    )


def _batches(rows: Iterable[Row], size: int) -> Iterator[list[Row]]:
    """Cut rows into lists of at most ``size``; one empty list when there are no rows."""
    iterator = iter(rows)
    first = list(itertools.islice(iterator, size))
    yield first
    while batch := list(itertools.islice(iterator, size)):
        yield batch


FORMATS: dict[str, Writer] = {
    "csv": _delimited(",", "'"),
    "csv2": _delimited(","),
    "dsv": _delimited(None),
    "json": _json,
    "jsonfile": _json_lines,
    "markdown": _markdown,
    "table": _table,
    "tsv": _delimited("\t", "'"),
    "tsv2": _delimited("\t"),
    "vertical": _vertical,
    "xmlattr": _xml_attributes,
    "xmlelements": _xml_elements,
}


def format_of(name: str | None, out: IO[str]) -> str:
    """Name the format: a table for people and tsv2 for programs, unless one is asked for."""
    return name or ("table" if out.isatty() else "tsv2")


def to_text(name: str, columns: Sequence[str], rows: Iterable[Row], style: Style = Style()) -> str:
    """Rows in a format, as one text."""
    out = io.StringIO()
    FORMATS[name](out, columns, rows, style)
    return out.getvalue()
