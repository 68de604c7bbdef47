"""Long VALUES and IN lists of nothing but constants: one pattern checks them, no parser.

The first row is read like any other text. The rows after it, if they are as wide, become one
token: no parser looks into them, and Spark gets them as they are written. So do the values of IN
after its first one, where all are whole numbers or all are texts.
"""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Iterator
from itertools import groupby

from hivesql.dialect.edits import Edit
from hivesql.dialect.numbers import number

_TEXT = r"(?:'[^'\\]*+(?:\\.[^'\\]*+)*+'|\"[^\"\\]*+(?:\\.[^\"\\]*+)*+\")"
_NUMBER = r"\d{1,18}(?:\.\d{1,18})?(?![\w.])"
_TIME = rf"(?:date|timestamp)\s++{_TEXT}"
_CONSTANT = rf"(?:[-+]?{_NUMBER}|{_TIME}|{_TEXT}|(?:null|true|false)\b)"
_FLAGS = re.IGNORECASE | re.DOTALL


def _compiled(pattern: str) -> re.Pattern[str]:
    if sys.version_info < (3, 11):
        # Possessive repetitions save steps back that lead nowhere; Python 3.10 takes those steps.
        pattern = re.sub(r"([*+])\+", r"\1", pattern)
    return re.compile(pattern, _FLAGS)


_FIRST = _compiled(rf"\s*\(\s*{_CONSTANT}(?:\s*,\s*{_CONSTANT})*+\s*\)")
_MORE = _compiled(r"\s*,")
_ONE = _compiled(_CONSTANT)
_MEMBER = r"-?(?:0|[1-9]\d{0,17})(?![\w.])", r"(?:'[^'\\]*+'|\"[^\"\\]*+\")"
_MEMBERS = tuple(
    _compiled(rf"\s*+{member}\s*+,(?P<rest>\s*+{member}(?:\s*+,\s*+{member})++)\s*+\)")
    for member in _MEMBER
)
_TEXT_MEMBER = _compiled(_MEMBER[1])
_SHORT = 100
"""Up to so many values of IN are read one by one: not longer is what people write by hand."""
_FRACTION = _compiled(rf"{_TEXT}|(?P<number>\d+\.\d+)")


def plain_tail(sql: str, position: int) -> tuple[int, int] | None:
    """Tell where the rows after the first one begin and end; None where VALUES has more."""
    first = _FIRST.match(sql, position)
    if first is None:
        return None
    if _MORE.match(sql, first.end()) is None:
        return None
    kinds = tuple(_kind(match[0]) for match in _ONE.finditer(sql, position, first.end()))
    tail = _rows(kinds).match(sql, first.end())
    return tail.span("rows") if tail else None


def members_tail(sql: str, position: int) -> tuple[int, int] | None:
    """Tell where the values after the first one of a long IN begin and end, behind its bracket.

    None where some are no plain constants, or of another kind than others.
    """
    for pattern in _MEMBERS:
        if (match := pattern.match(sql, position)) is not None:
            start, end = match.span("rest")
            return (start, end) if sql.count(",", start, end) >= _SHORT else None
    return None


def values_of_members(members: str) -> list[int] | list[str]:
    """Return the values of such a row, which is one kind of Python's."""
    if members[0] not in "'\"":
        return [*map(int, members.split(","))]
    return [match[0][1:-1] for match in _TEXT_MEMBER.finditer(members)]


def places_of_members(members: str) -> Iterator[tuple[int, int]]:
    """Yield where each value of such a row begins and ends in it."""
    return (match.span() for match in _ONE.finditer(members))


def _kind(constant: str) -> str:
    """Return the pattern of constants that may stand below this one."""
    word = constant.lower()
    if word == "null":
        return _CONSTANT
    if word in ("true", "false"):
        return r"(?:true|false|null)\b"
    if word[0] in "'\"":
        return rf"(?:{_TEXT}|null\b)"
    kind = _TIME if word[0] in "dt" else rf"[-+]?{_NUMBER}"
    return rf"(?:{kind}|null\b)"


@functools.lru_cache(maxsize=64)
def _rows(kinds: tuple[str, ...]) -> re.Pattern[str]:
    """Rows as wide as the first one, each value of its column's kind or NULL."""
    # Columns of one kind side by side are one repetition: the pattern of a wide row stays short.
    runs = ((kind, len([*same])) for kind, same in groupby(kinds))
    row = r"\(\s*" + r"\s*,\s*".join(_repeated(kind, count) for kind, count in runs) + r"\s*\)"
    return _compiled(rf"(?P<rows>(?:\s*,\s*{row})++)\s*\Z")


def _repeated(kind: str, count: int) -> str:
    return kind if count == 1 else rf"{kind}(?:\s*,\s*{kind}){{{count - 1}}}"


def constants_in(rows: str) -> Iterator[str]:
    """Yield the texts of all constants of such rows, one after the other."""
    return (match[0] for match in _ONE.finditer(rows))


def number_edits(rows: str, start: int) -> Iterator[Edit]:
    """Numbers with a fraction as Hive understands them: without zeros at the end."""
    for match in _FRACTION.finditer(rows):
        digits = match["number"]
        if digits and (digits[-1] == "0" or digits[0] == "0"):
            _, spark_text = number(digits)
            if spark_text:
                yield Edit(start + match.start(), start + match.end(), spark_text)
