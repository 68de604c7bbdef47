"""Lines of DESCRIBE, as the shell prints them and as HiveServer2 sends them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hivesql_executor.outcome import Outcome

_COLUMNS = ("col_name", "data_type", "comment")
_WIDTH = 20
"""Characters to which HiveServer2 fills what is neither a column nor a heading."""


@dataclass(frozen=True, slots=True)
class Line:
    """What is printed, in several rows where a cell has several lines; one row that is sent."""

    printed: tuple[tuple[str, str, str], ...]
    sent: tuple[str, str | None, str | None]
    """None where there is no cell."""


def heading(text: str) -> Line:
    """Make a line of one cell."""
    return Line(((text, "", ""),), (text, None, None))


def column(name: str, type_: str, comment: str) -> Line:
    """Make the line of a column, whose comment may have several lines."""
    return Line(_below_each_other(name, type_, comment), (name, type_, _in_one_line(comment)))


def detail(title: str, value: str, third: str | None = None) -> Line:
    """Make a line that says something of the table, or beside a ``third`` of a part of it."""
    return Line(
        _below_each_other(title, value, third or ""),
        (
            _filled(title) if title else "",
            _filled(value),
            None if third is None else _filled(_in_one_line(third)),
        ),
    )


def further(text: str) -> Line:
    """Make a further line of a text that stands beside a title."""
    return Line((("", text, ""),), ("", _filled(""), _filled(text)))


def unfilled(first: str, second: str, third: str | None = None) -> Line:
    """Make a line whose cells are as long as what they say."""
    return Line(((first, second, third or ""),), (first, second, third))


def outcome_of_lines(lines: Sequence[Line], *, header: bool = False) -> Outcome:
    """Return the rows of a DESCRIBE; the ``header`` before them is printed alone."""
    rows = [row for line in ((HEADER, *lines) if header else lines) for row in line.printed]
    return Outcome.of_table(_COLUMNS, rows, of_server=[line.sent for line in lines])


def _below_each_other(first: str, second: str, third: str) -> tuple[tuple[str, str, str], ...]:
    beginning, *more = third.split("\n")
    return ((first, second, beginning), *(("", "", line) for line in more))


def _in_one_line(text: str) -> str:
    return text.replace("\n", "\\n")


def _filled(text: str) -> str:
    return text.ljust(_WIDTH)


BLANK = heading("")
HEADER = column("# col_name", "data_type", "comment")
