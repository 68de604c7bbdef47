"""CAST (… AS … FORMAT '…'): patterns of SQL:2016 as Hive reads them, in Spark SQL."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from hivesql_planner.errors import NotSupported, SemanticError

_SEPARATORS = "-./,';: "
_YEARS = {"rrrr": 4, "rr": 2, "yyyy": 4, "yyy": 3, "yy": 2, "y": 1}
_NUMBERS = {
    "mm": 2, "dd": 2, "ddd": 3, "hh": 2, "hh12": 2, "hh24": 2, "mi": 2, "ss": 2, "sssss": 5,
    "d": 1, "q": 1, "ww": 2, "w": 1, "iyyy": 4, "iyy": 3, "iy": 2, "i": 1, "iw": 2, "id": 2,
}  # fmt: skip
_FRACTIONS = {"ff": 9, **{f"ff{n}": n for n in range(1, 10)}}
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
    **dict.fromkeys(("iyyy", "iyy", "iy", "i"), "extract(YEAROFWEEK FROM {0})"),
    "iw": "weekofyear({0})", "id": "(weekday({0}) + 1)",
}  # fmt: skip
_MONTHS = "janfebmaraprmayjunjulaugsepoctnovdec"
_MONTH_NAMES = ("january|february|march|april|may|june|july|august|september|october|november|"
                "december")  # fmt: skip
# Words that say the same of a time, of which a text can be read by one alone.
_SAME = (
    tuple(_YEARS), ("mm", "month", "mon"), ("dd",), ("ddd",), ("hh", "hh12"), ("hh24",), ("mi",),
    ("ss",), ("sssss",), tuple(_FRACTIONS), _MERIDIEMS,
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
    zone = next((one for one in pieces if one.word in _ZONES), None)
    if zone is not None:
        raise _bad(pattern, f"{zone.word.upper()} not a valid format for timestamp or date")
    written = [_written(one, time) for one in pieces if one.word != "fx"]
    # A time that is not known has no text, whatever the pattern is.
    return f"if({time} IS NULL, NULL, concat({', '.join(written)}))"


def parse_template(pattern: str, target: str) -> str:
    """Tell how a text, ``@0``, is read as a DATE or TIMESTAMP; NULL where it is no such text."""
    pieces = _pieces(pattern)
    _check_readable(pieces, pattern)
    regex = "(?i)^"
    groups: dict[str, int] = {}
    for one in pieces:
        found, is_group = _read(one)
        regex += found
        if is_group:
            groups[one.word] = len(groups) + 1
    quoted = _literal(regex + "$")

    def part(word: str) -> str:
        return f"regexp_extract(@0, {quoted}, {groups[word]})"

    value = _moment(groups, part)
    known = f"if(@0 RLIKE {quoted}, {value}, NULL)"
    return f"CAST({known} AS {target.upper()})"


def _pieces(pattern: str) -> list[_Piece]:
    """Cut a pattern into its words; SemanticError where it is none."""
    if len(pattern) > _LONGEST:
        raise _bad(pattern, f"It may have {_LONGEST} characters at most")
    found: list[_Piece] = []
    at, fill = 0, False
    while at < len(pattern):
        lower = pattern[at:].lower()
        word = next((one for one in _PATTERNS if lower.startswith(one)), "")
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
        found += [piece] if not fill else []
        at += len(word)
    return found


def _bad(pattern: str, why: str) -> SemanticError:
    return SemanticError(f"Bad date/time conversion pattern: {pattern}. {why}")


def _literal(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("@", "\\u0040") + "'"


# -- writing
def _written(one: _Piece, time: str) -> str:
    if one.word in ("separator", "text"):
        return _literal(one.written)
    if one.word in ("t", "z"):
        return _literal(one.word.upper())
    if one.word in _MERIDIEMS:
        texts = ["am", "pm"] if len(one.word) == 2 else ["a.m.", "p.m."]
        if one.written[0].isupper():
            texts = [text.upper() for text in texts]
        morning = f"hour({time}) < 12"
        return f"CASE WHEN {morning} THEN '{texts[0]}' WHEN NOT {morning} THEN '{texts[1]}' END"
    if one.word in _FRACTIONS:
        digits = f"left(concat(date_format({time}, 'SSSSSS'), '000'), {_FRACTIONS[one.word]})"
        short = f"regexp_replace({digits}, '(?<=.)0+$', '')"
        return short if one.word == "ff" else digits
    if one.word in _NAMES:
        return _name(one, time)
    width = {**_YEARS, **_NUMBERS}[one.word]
    value = _VALUES[one.word].format(time)
    digits = f"right(lpad(CAST({value} AS STRING), 9, '0'), {width})"
    return f"regexp_replace({digits}, '^0+(?=.)', '')" if one.fill else digits


def _name(one: _Piece, time: str) -> str:
    letters = "MMMM" if one.word.startswith("mon") else "EEEE"
    width = _NAMES[one.word]
    name = f"left(date_format({time}, '{letters}'), {width})"
    if not one.fill:
        name = f"rpad({name}, {width}, ' ')"
    if one.written[0].islower():
        return f"lower({name})"
    return f"upper({name})" if one.written[1].isupper() else name


# -- reading
def _check_readable(pieces: Sequence[_Piece], pattern: str) -> None:
    words = [one.word for one in pieces]
    later = next((one for one in words if one in ("fx", "iyyy", "iyy", "iy", "i", "iw", "id")), "")
    if later:
        raise NotSupported(f"{later.upper()} in the FORMAT by which a text is read")
    never = next((one for one in words if one in ("q", "d", "w", "ww", "day", "dy")), "")
    if never:
        raise _bad(pattern, f"Illegal field: {never}")
    kinds = [next((i for i, same in enumerate(_SAME) if one in same), -1) for one in words]
    known = [kind for kind in kinds if kind >= 0]
    if len(set(known)) < len(known):
        raise _bad(pattern, "Invalid duplication of format element")
    year, month, day, year_day, half, hour, minute, second, in_day, _, meridiem = (
        kind in known for kind in range(len(_SAME))
    )
    wrong = {
        "Missing year token.": not year,
        "Missing day of year or (month of year + day of month) tokens.":
            not (year_day or (month and day)),
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


def _read(one: _Piece) -> tuple[str, bool]:
    """Return the regular expression of a word, and whether it is a group of it."""
    if one.word == "separator":
        return f"[{_SEPARATORS}]+", False
    if one.word == "text":
        return re.sub(r"(\W)", r"\\\1", one.written), False
    if one.word in ("t", "z"):
        return one.word, False
    if one.word in _MERIDIEMS:
        return r"([ap])\.?m\.?", True
    if one.word == "month":
        return f"({_MONTH_NAMES})", True
    if one.word == "mon":
        return f"({'|'.join(re.findall('...', _MONTHS))})", True
    if one.word in _ZONES:
        return (r"[+-]?(?:0?\d|1[0-5])" if one.word == "tzh" else r"[0-5]?\d"), False
    # As many digits as there are, up to its width: none is given back.
    width = {**_YEARS, **_NUMBERS, **_FRACTIONS}[one.word]
    return rf"(\d{{1,{width}}}+)", True


def _moment(groups: Mapping[str, int], part: Callable[[str], str]) -> str:
    def number(*patterns: str) -> str:
        found = next((one for one in patterns if one in groups), None)
        return f"CAST({part(found)} AS INT)" if found else "0"

    word = next(one for one in _YEARS if one in groups)
    year = _year(part(word), rounded=word.startswith("r"))
    hour, minute, second = number("hh24"), number("mi"), number("ss")
    if twelve := next((one for one in ("hh", "hh12") if one in groups), None):
        given = part(twelve)
        hour = f"CASE WHEN {given} = '12' THEN 0 WHEN {given} <> '0' AND CAST({given} AS INT) < 12 "
        hour += f"THEN CAST({given} AS INT) END"
        meridiem = next((one for one in _MERIDIEMS if one in groups), None)
        if meridiem:
            hour = f"({hour} + if(lower({part(meridiem)}) = 'p', 12, 0))"
    if "sssss" in groups:
        whole = number("sssss")
        hour, minute, second = f"{whole} div 3600", f"{whole} div 60 % 60", f"{whole} % 60"
    fraction = next((one for one in _FRACTIONS if one in groups), None)
    # Spark would take a sixtieth second for the next minute.
    second = f"if({second} < 60, {second}, NULL)"
    if fraction:
        digits = f"left(rpad({part(fraction)}, 6, '0'), 6)"
        second = f"CAST({second} AS DECIMAL(8,6)) + CAST(concat('0.', {digits}) AS DECIMAL(8,6))"
    if "ddd" in groups:
        days = number("ddd")
        date = f"date_add(make_date({year}, 1, 1), {days} - 1)"
        date = f"if(dayofyear({date}) = {days}, {date}, NULL)"
        month, day = f"month({date})", f"day({date})"
    else:
        month, day = number("mm"), number("dd")
        if name := next((one for one in ("month", "mon") if one in groups), None):
            month = f"((locate(lower(left({part(name)}, 3)), '{_MONTHS}') + 2) div 3)"
    return f"make_timestamp({year}, {month}, {day}, {hour}, {minute}, {second})"


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
