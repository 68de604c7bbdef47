"""How rows are written: a table for people, plain lines for programs."""

from __future__ import annotations

import csv
import datetime
import decimal
import io
import itertools
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any

from hivesql_planner.model.hive_type import MOST_DIGITS, PLAIN_SCALE, HiveType, Kind
from hivesql_repl.output.java_digits import java_digits

Row = Sequence[Any]


class Single(float):
    """A FLOAT: fewer digits tell it apart from its neighbours than a DOUBLE needs."""


@dataclass(frozen=True, slots=True)
class Instant:
    """A TIMESTAMP WITH LOCAL TIME ZONE, as the wall clock of UTC; shown in a zone."""

    clock: datetime.datetime
    zone: str = ""
    """Empty for UTC."""


class Struct(dict[str, Any]):
    """The fields of a STRUCT by name, in their order."""


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


def hive_text(value: Any, *, nested: bool = False) -> str:
    """Return a value as Hive prints it: NULL, true, [1,2], {"a":1}."""
    if value is None:
        return "null" if nested else "NULL"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False) if nested else value
    if isinstance(value, float):
        return double_text(value)
    if isinstance(value, (bytes, bytearray)):
        return value.decode("utf-8", "replace")
    if isinstance(value, (Instant, datetime.date)):
        text = _time_text(value)
        return f'"{text}"' if nested else text
    if isinstance(value, datetime.timedelta):
        return _interval_text(value)
    if isinstance(value, decimal.Decimal):
        # Inside of arrays and their like Hive drops the last zeros.
        text = format(value, "f")
        return text.rstrip("0").rstrip(".") if nested and "." in text else text
    return _nested_text(value)


def _time_text(value: Instant | datetime.date) -> str:
    if isinstance(value, Instant):
        text = _time_text(_clock_in(value.clock, value.zone) if value.zone else value.clock)
        return f"{text}{'' if '.' in text else '.0'} {value.zone or 'UTC'}"
    if not isinstance(value, datetime.datetime):
        return value.isoformat()
    text = (value.replace(tzinfo=None) if value.tzinfo else value).isoformat(" ")
    return text.rstrip("0") if "." in text else text


def _clock_in(clock: datetime.datetime, zone: str) -> datetime.datetime:
    """Return the wall clock of a zone when it is ``clock`` in UTC."""
    from zoneinfo import ZoneInfo

    if zone[0] in "+-":
        there = datetime.datetime.fromisoformat(f"2000-01-01T00:00:00{zone}").tzinfo
    else:
        there = ZoneInfo(zone)
    return clock.replace(tzinfo=datetime.timezone.utc).astimezone(there).replace(tzinfo=None)


def double_text(value: float) -> str:
    """Return a DOUBLE or FLOAT as Java prints it: 1.5, 1.0E7, NaN, Infinity."""
    if not math.isfinite(value):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(float(value))]
    minus = "-" if math.copysign(1, value) < 0 else ""
    if not value:
        return f"{minus}0.0"
    if 1e-3 <= abs(value) < 1e7 and not isinstance(value, Single):
        return repr(value)  # Java and Python agree here, and this is quick
    digits, exponent = java_digits(abs(value), single=isinstance(value, Single))
    if -3 <= exponent < 7:
        padded = digits.ljust(exponent + 2, "0") if exponent >= 0 else "0" * -exponent + digits
        point = max(exponent, 0) + 1
        return f"{minus}{padded[:point]}.{padded[point:] or '0'}"
    return f"{minus}{digits[0]}.{digits[1:] or '0'}E{exponent}"


def _interval_text(value: datetime.timedelta) -> str:
    sign = "-" if value < datetime.timedelta(0) else ""
    value = abs(value)
    minutes, seconds = divmod(value.seconds, 60)
    hours, minutes = divmod(minutes, 60)
    nanos = value.microseconds * 1000
    return f"{sign}{value.days} {hours:02d}:{minutes:02d}:{seconds:02d}.{nanos:09d}"


def with_hive_types(types: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterable[Sequence[Any]]:
    """Return the rows with FLOAT values and instants marked as such, at any depth."""
    marks = {i: mark for i, kind in enumerate(types) if (mark := _mark_of(HiveType.parse(kind)))}
    if not marks:
        return rows
    return (
        [marks[i](value) if i in marks else value for i, value in enumerate(row)] for row in rows
    )


_Mark = Callable[[Any], Any]
_EXACT = decimal.Context(prec=2 * MOST_DIGITS)
"""Nothing is rounded."""


def _mark_of(type_: HiveType) -> _Mark | None:
    """Tell what marks the values of a type; None where they are printed as they are."""
    if type_.kind is Kind.FLOAT:
        return _unless_null(Single)
    if type_.kind is Kind.INSTANT:
        return _unless_null(lambda value: Instant(value, type_.zone))
    if type_.kind is Kind.DECIMAL:
        scale = type_.arguments[1]
        # Others may come to Python as `100E-12`.
        return _unless_null(lambda value: _scaled(value, scale)) if scale > PLAIN_SCALE else None
    marks_inside = [_mark_of(inner) for inner in type_.children]
    if not any(marks_inside):
        return None
    marks = [mark or _same for mark in marks_inside]
    if type_.kind is Kind.ARRAY:
        return _unless_null(lambda value: [marks[0](item) for item in value])
    if type_.kind is Kind.MAP:
        return _unless_null(
            lambda value: {marks[0](key): marks[1](item) for key, item in value.items()}
        )
    names = type_.names
    return _unless_null(
        lambda value: Struct(
            (field, mark(item)) for field, mark, item in zip(names, marks, value, strict=True)
        )
    )


def _scaled(value: Any, scale: int) -> Any:
    """Return a DECIMAL with its type's digits: PySpark adds zeros to those below a millionth."""
    if -value.as_tuple().exponent <= scale:
        return value
    return _EXACT.quantize(value, decimal.Decimal(1).scaleb(-scale))


def _same(value: Any) -> Any:
    return value


def _unless_null(mark: _Mark) -> _Mark:
    return lambda value: None if value is None else mark(value)


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
    """Boxes, laid out a batch at a time, so that a long result need not fit in memory."""
    from rich.table import Table
    from rich.text import Text

    from hivesql_repl.output.console import Screen

    console = Screen(
        file=out, width=style.max_width or None, no_color=not style.color, highlight=False
    )
    count = 0
    for batch in _batches(rows, style.batch):
        grid = Table(show_header=style.header)
        for column in columns:
            grid.add_column(
                Text(column),
                overflow="ellipsis" if style.truncate else "fold",
                no_wrap=style.truncate,
                max_width=style.max_column_width or None,
            )
        for row in batch:
            grid.add_row(*(Text(style.text(value)) for value in row))
        console.print(grid)
        count += len(batch)
    return count


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
