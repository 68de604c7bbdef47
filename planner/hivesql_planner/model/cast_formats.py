"""CAST (… AS … FORMAT '…'): patterns of SQL:2016 as Hive reads them, in Spark SQL."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from hivesql_planner.errors import SemanticError

_SEPARATORS = "-./,';: "
_YEARS = {"rrrr": 4, "rr": 2, "yyyy": 4, "yyy": 3, "yy": 2, "y": 1}
_ISO_YEARS = {"iyyy": 4, "iyy": 3, "iy": 2, "i": 1}
_OF_ISO_WEEKS = {**_ISO_YEARS, "iw": 2, "id": 2}
_NUMBERS = {
    "mm": 2, "dd": 2, "ddd": 3, "hh": 2, "hh12": 2, "hh24": 2, "mi": 2, "ss": 2, "sssss": 5,
    "d": 1, "q": 1, "ww": 2, "w": 1, **_OF_ISO_WEEKS,
}  # fmt: skip
_FRACTIONS = {"ff": 9, **{f"ff{n}": n for n in range(1, 10)}}
_DAYS = "montuewedthufrisatsun"
_DAY_NAMES = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_NAMES = {"month": 9, "mon": 3, "day": 9, "dy": 3}
_MERIDIEMS = ("am", "pm", "a.m.", "p.m.")
_ZONES = ("tzh", "tzm")
_MODIFIERS = ("fm", "fx")
_PATTERNS = sorted(
    (*_YEARS, *_NUMBERS, *_FRACTIONS, *_NAMES, *_MERIDIEMS, *_ZONES, *_MODIFIERS, "t", "z"),
    key=len, reverse=True,
)  # fmt: skip
_LONGEST = 100
_SECOND_OF_DAY = "(hour({0}) * 3600 + minute({0}) * 60 + second({0}))"
_VALUES = {
    **dict.fromkeys(_YEARS, "year({0})"),
    "mm": "month({0})", "dd": "day({0})", "ddd": "dayofyear({0})", "hh24": "hour({0})",
    **dict.fromkeys(("hh", "hh12"), "((hour({0}) + 11) % 12 + 1)"), "mi": "minute({0})",
    "ss": "second({0})", "sssss": _SECOND_OF_DAY, "d": "dayofweek({0})", "q": "quarter({0})",
    "ww": "((dayofyear({0}) + 6) div 7)", "w": "((day({0}) + 6) div 7)",
    **dict.fromkeys(_ISO_YEARS, "extract(YEAROFWEEK FROM {0})"),
    "iw": "weekofyear({0})", "id": "(weekday({0}) + 1)",
}  # fmt: skip
_MONTHS = "janfebmaraprmayjunjulaugsepoctnovdec"
_MONTH_NAMES = ("january|february|march|april|may|june|july|august|september|october|november|"
                "december")  # fmt: skip
_READ_NAMES = {
    "month": _MONTH_NAMES, "mon": "|".join(re.findall("...", _MONTHS)),
    "day": _DAY_NAMES, "dy": "|".join(re.findall("...", _DAYS)),
}  # fmt: skip
# Words that say the same of a time, of which a text can be read by one alone.
_SAME = (
    tuple(_YEARS), ("mm", "month", "mon"), ("dd",), ("ddd",), ("hh", "hh12"), ("hh24",), ("mi",),
    ("ss",), ("sssss",), tuple(_FRACTIONS), _MERIDIEMS, tuple(_ISO_YEARS), ("iw",),
    ("id", "day", "dy"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Piece:
    """A word of a pattern in lower case, as it is written, and whether FM stands before it.

    The words of separators and of texts in quotes are ``separator`` and ``text``.
    """

    word: str
    written: str
    fill: bool = False


def format_template(pattern: str) -> str:
    """Tell how a time, ``@0``, is written by a pattern."""
    time = "CAST(@0 AS TIMESTAMP)"
    pieces = _pieces(pattern)
    zone = next((piece for piece in pieces if piece.word in _ZONES), None)
    if zone is not None:
        raise _bad(pattern, f"{zone.word.upper()} not a valid format for timestamp or date")
    written = [_written(piece, time) for piece in pieces if piece.word != "fx"]
    # A time that is not known has no text, whatever the pattern is.
    return f"if({time} IS NULL, NULL, concat({', '.join(written)}))"


def parse_template(pattern: str, target: str) -> str:
    """Tell how a text, ``@0``, is read as a DATE or TIMESTAMP; NULL where it is no such text."""
    pieces = _pieces(pattern)
    # FX, wherever it stands, is about all of the pattern.
    is_exact = any(piece.word == "fx" for piece in pieces)
    pieces = [piece for piece in pieces if piece.word != "fx"]
    _check_readable(pieces, pattern)
    regex = "(?i)^"
    groups: dict[str, int] = {}
    for piece in pieces:
        expression, is_group = _read(piece, is_exact=is_exact)
        regex += expression
        if is_group:
            groups[piece.word] = len(groups) + 1
    quoted = _literal(regex + "$")

    def part(word: str) -> str:
        return f"regexp_extract(@0, {quoted}, {groups[word]})"

    value = _moment(groups, part)
    checked = f"if(@0 RLIKE {quoted}, {value}, NULL)"
    return f"CAST({checked} AS {target.upper()})"


def _pieces(pattern: str) -> list[_Piece]:
    """Cut a pattern into its words; SemanticError where it is none."""
    if len(pattern) > _LONGEST:
        raise _bad(pattern, f"It may have {_LONGEST} characters at most")
    pieces: list[_Piece] = []
    at, fill = 0, False
    while at < len(pattern):
        lower = pattern[at:].lower()
        word = next((candidate for candidate in _PATTERNS if lower.startswith(candidate)), "")
        if pattern[at] in _SEPARATORS:
            word = re.match(f"[{_SEPARATORS}]+", lower)[0]  # type: ignore[index]
            piece = _Piece("separator", word)
        elif pattern[at] == '"':
            text = re.match(r'"((?:\\.|[^"\\])*)"', pattern[at:], re.DOTALL)
            if text is None:
                raise _bad(pattern, f'Missing closing double quote (") opened at index {at}')
            word = text[0]
            piece = _Piece("text", re.sub(r"\\(.)", r"\1", text[1]))
        elif not word:
            raise _bad(pattern, f"Error at index {at}")
        else:
            piece = _Piece(word, pattern[at : at + len(word)], fill)
        is_temporal = piece.word in _VALUES or piece.word in (*_FRACTIONS, *_NAMES, *_MERIDIEMS)
        if fill and not is_temporal:
            problem = "Fill mode modifier (FM) must be followed by a temporal token"
            raise _bad(pattern, f"Error at index {at}: {problem}")
        fill = piece.word == "fm"
        pieces += [piece] if not fill else []
        at += len(word)
    return pieces


def _bad(pattern: str, why: str) -> SemanticError:
    return SemanticError(f"Bad date/time conversion pattern: {pattern}. {why}")


def _literal(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("@", "\\u0040") + "'"


# -- writing
def _written(piece: _Piece, time: str) -> str:
    if piece.word in ("separator", "text"):
        return _literal(piece.written)
    if piece.word in ("t", "z"):
        return _literal(piece.word.upper())
    if piece.word in _MERIDIEMS:
        texts = ["am", "pm"] if len(piece.word) == 2 else ["a.m.", "p.m."]
        if piece.written[0].isupper():
            texts = [text.upper() for text in texts]
        morning = f"hour({time}) < 12"
        return f"CASE WHEN {morning} THEN '{texts[0]}' WHEN NOT {morning} THEN '{texts[1]}' END"
    if piece.word in _FRACTIONS:
        digits = f"left(concat(date_format({time}, 'SSSSSS'), '000'), {_FRACTIONS[piece.word]})"
        short = f"regexp_replace({digits}, '(?<=.)0+$', '')"
        return short if piece.word == "ff" else digits
    if piece.word in _NAMES:
        return _name(piece, time)
    width = {**_YEARS, **_NUMBERS}[piece.word]
    value = _VALUES[piece.word].format(time)
    digits = f"right(lpad(CAST({value} AS STRING), 9, '0'), {width})"
    return f"regexp_replace({digits}, '^0+(?=.)', '')" if piece.fill else digits


def _name(piece: _Piece, time: str) -> str:
    letters = "MMMM" if piece.word.startswith("mon") else "EEEE"
    width = _NAMES[piece.word]
    name = f"left(date_format({time}, '{letters}'), {width})"
    if not piece.fill:
        name = f"rpad({name}, {width}, ' ')"
    if piece.written[0].islower():
        return f"lower({name})"
    return f"upper({name})" if piece.written[1].isupper() else name


# -- reading
def _check_readable(pieces: Sequence[_Piece], pattern: str) -> None:
    words = [piece.word for piece in pieces]
    by_weeks = any(word in _OF_ISO_WEEKS for word in words)
    illegal = ("q", "d", "w", "ww") if by_weeks else ("q", "d", "w", "ww", "day", "dy")
    never = next((word for word in words if word in illegal), "")
    if never:
        raise _bad(pattern, f"Illegal field: {never}")
    kinds = [next((i for i, same in enumerate(_SAME) if word in same), -1) for word in words]
    groups = [kind for kind in kinds if kind >= 0]
    if len(set(groups)) < len(groups):
        raise _bad(pattern, "Invalid duplication of format element")
    (
        year, month, day, year_day, half, hour, minute, second, in_day, _, meridiem, week_year,
        week, week_day,
    ) = (kind in groups for kind in range(len(_SAME)))  # fmt: skip
    wrong = {
        "Pattern cannot contain both ISO and Gregorian tokens":
            by_weeks and (year or month or day or year_day),
        "Missing year token.": not (year or week_year),
        "Missing week of year (iw) or day of week (id) tokens.":
            by_weeks and not (week and week_day),
        "Missing day of year or (month of year + day of month) tokens.":
            not by_weeks and not (year_day or (month and day)),
        "Day of year provided with day or month token.": year_day and (month or day),
        "AM/PM provided but missing hour token.": meridiem and not (half or hour),
        "Conflict between median indicator and hour token.": meridiem and hour,
        "Conflict between hour of day and hour of am/pm token.": half and hour,
        "Second of day token conflicts with other token(s).":
            in_day and (half or hour or minute or second),
        "Time zone minute token provided without time zone hour token.":
            "tzm" in words and "tzh" not in words,
    }  # fmt: skip
    problem = next((why for why, is_wrong in wrong.items() if is_wrong), None)
    if problem:
        raise _bad(pattern, problem)


def _read(piece: _Piece, *, is_exact: bool) -> tuple[str, bool]:
    """Return the regular expression of a word, and whether it is a group of it.

    ``is_exact``: separators and halves of days are as they are written, numbers as wide as they are
    without FM.
    """
    word = piece.word
    if word in ("separator", "text", "t", "z"):
        return _read_constant(piece, is_exact=is_exact), False
    if word in _READ_NAMES:
        return f"({_READ_NAMES[word]})", True
    if word in _MERIDIEMS:
        dot = r"\.?" if not is_exact else "" if len(word) == 2 else r"\."
        return f"([ap]){dot}m{dot}", True
    if word in _ZONES:
        return (r"[+-]?(?:0?\d|1[0-5])" if word == "tzh" else r"[0-5]?\d"), False
    width = {**_YEARS, **_NUMBERS, **_FRACTIONS}[word]
    if is_exact and not piece.fill and word not in _FRACTIONS:
        return rf"(\d{{{width}}})", True
    # As many digits as there are, up to its width: none is given back.
    return rf"(\d{{1,{width}}}+)", True


def _read_constant(piece: _Piece, *, is_exact: bool) -> str:
    if piece.word in ("t", "z"):
        return piece.word
    if piece.word == "separator" and not is_exact:
        return f"[{_SEPARATORS}]+"
    return re.sub(r"(\W)", r"\\\1", piece.written)


def _moment(groups: Mapping[str, int], part: Callable[[str], str]) -> str:
    def number(*patterns: str) -> str:
        pattern = next((candidate for candidate in patterns if candidate in groups), None)
        return f"CAST({part(pattern)} AS INT)" if pattern else "0"

    def numbered_name(patterns: tuple[str, str], names: str) -> str | None:
        name = next((candidate for candidate in patterns if candidate in groups), None)
        if name is None:
            return None
        return f"CAST((locate(lower(left({part(name)}, 3)), '{names}') + 2) div 3 AS INT)"

    word = next(year_word for year_word in (*_YEARS, *_ISO_YEARS) if year_word in groups)
    year = _year(part(word), rounded=word.startswith("r"))
    hour, minute, second = number("hh24"), number("mi"), number("ss")
    if twelve := next((hour_word for hour_word in ("hh", "hh12") if hour_word in groups), None):
        hours = part(twelve)
        hour = f"CASE WHEN {hours} = '12' THEN 0 WHEN {hours} <> '0' AND CAST({hours} AS INT) < 12 "
        hour += f"THEN CAST({hours} AS INT) END"
        meridiem = next((candidate for candidate in _MERIDIEMS if candidate in groups), None)
        if meridiem:
            hour = f"({hour} + if(lower({part(meridiem)}) = 'p', 12, 0))"
    if "sssss" in groups:
        seconds = number("sssss")
        hour, minute, second = f"{seconds} div 3600", f"{seconds} div 60 % 60", f"{seconds} % 60"
    fraction = next((candidate for candidate in _FRACTIONS if candidate in groups), None)
    # Spark would take a sixtieth second for the next minute.
    second = f"if({second} < 60, {second}, NULL)"
    if fraction:
        digits = f"left(rpad({part(fraction)}, 6, '0'), 6)"
        second = f"CAST({second} AS DECIMAL(8,6)) + CAST(concat('0.', {digits}) AS DECIMAL(8,6))"
    if "iw" in groups:
        weekday = numbered_name(("day", "dy"), _DAYS) or number("id")
        date = _day_of_week(year, number("iw"), weekday)
        year, month, day = f"year({date})", f"month({date})", f"day({date})"
    elif "ddd" in groups:
        days = number("ddd")
        date = f"date_add(make_date({year}, 1, 1), {days} - 1)"
        date = f"if(dayofyear({date}) = {days}, {date}, NULL)"
        month, day = f"month({date})", f"day({date})"
    else:
        month, day = numbered_name(("month", "mon"), _MONTHS) or number("mm"), number("dd")
    return f"make_timestamp({year}, {month}, {day}, {hour}, {minute}, {second})"


def _day_of_week(year: str, week: str, weekday: str) -> str:
    """Tell the day of a week of ISO 8601, whose first one has the fourth of January."""
    fourth = f"make_date({year}, 1, 4)"
    date = f"date_add({fourth}, 7 * ({week} - 1) + {weekday} - 1 - weekday({fourth}))"
    return f"if({weekday} BETWEEN 1 AND 7 AND weekofyear({date}) = {week}, {date}, NULL)"


def _year(digits: str, *, rounded: bool) -> str:
    """Tell the year of up to four digits: what is missing is taken from today's."""
    now = "CAST(year(current_date()) AS STRING)"
    filled = f"CAST(concat(left({now}, 4 - length({digits})), {digits}) AS INT)"
    if not rounded:
        return filled
    two, this = f"CAST({digits} AS INT)", "year(current_date())"
    century = (
        f"({this} div 100 + CASE WHEN {two} < 50 AND {this} % 100 >= 50 THEN 1 "
        f"WHEN {two} >= 50 AND {this} % 100 < 50 THEN -1 ELSE 0 END)"
    )
    return f"if(length({digits}) = 2, {century} * 100 + {two}, {filled})"
