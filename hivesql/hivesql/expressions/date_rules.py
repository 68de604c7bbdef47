"""Hive's functions of dates and times in Spark SQL: it reads texts and patterns differently."""

from __future__ import annotations

import re

from hivesql.dialect.value_types import Type, is_float, is_integer, is_number, is_text
from hivesql.expressions.calls import Call, Rule, rest, takes
from hivesql.expressions.intervals import part_of_interval
from hivesql_planner.errors import NotSupported, SemanticError
from hivesql_planner.model.conversions import (
    TEXT_TO_DATE,
    TEXT_TO_TIMESTAMP,
    WHOLE_TIME,
    conversion,
    moment_in,
    with_scale,
)
from hivesql_planner.model.date_patterns import formatted, is_lacked, pattern_literal, problem_of
from hivesql_planner.model.hive_type import DATE, INT, SMALLINT, TIMESTAMP, TINYINT, VOID, Kind

_FORMATTER_KEY = "hive.datetime.formatter"
# Letters of a pattern that tell a zone, in which Spark has UTC.
_ZONE_LETTERS = re.compile(r"[VzOXxZ]")
_PLAIN_PATTERN = "'yyyy-MM-dd HH:mm:ss'"
_CONSTANT = re.compile(
    r"[\s()]*(?:cast\s*\(\s*)?(?:null|(?:'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|\s)+)"
    r"(?:\s+as\s+\w+(?:\(\d+\))?)?[\s()]*",
    re.DOTALL | re.IGNORECASE,
)
"""What Hive knows to be a constant before it runs a query."""
_LITERAL_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_LITERAL_TIME = re.compile(r"\d{4}-\d{2}-\d{2}( ([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,6})?)?")


def as_date(call: Call, i: int) -> str:
    """Argument ``i`` as what Spark's date functions read the way Hive does."""
    literal = call.literal(i)
    if is_text(call.type(i)) and not (literal and _LITERAL_DATE.fullmatch(literal)):
        return TEXT_TO_DATE.replace("@0", f"@{i}")
    return f"@{i}"


def as_timestamp(call: Call, i: int) -> str:
    """Return the same for functions of times."""
    literal = call.literal(i)
    if is_text(call.type(i)) and not (literal and _LITERAL_TIME.fullmatch(literal)):
        return TEXT_TO_TIMESTAMP.replace("@0", f"@{i}")
    return f"@{i}"


def _of_dates(*dates: int) -> Rule:
    def rule(call: Call) -> str | None:
        part = part_of_interval(call.type(0), call.name.removesuffix("ofmonth"))
        if part is not None and len(dates) == 1:
            return part
        if not any(is_text(call.type(i)) for i in dates):
            return None
        arguments = (as_date(call, i) if i in dates else f"@{i}" for i in range(len(call.types)))
        return f"{call.name}({', '.join(arguments)})"

    return rule


def _of_times(call: Call) -> str | None:
    if (part := part_of_interval(call.type(0), call.name)) is not None:
        return part
    if not is_text(call.type(0)):
        return None
    return f"{call.name}({', '.join([as_timestamp(call, 0), *rest(call, 1)])})"


def extracted(unit: str, kind: Type) -> str | None:
    """Tell how Spark extracts a unit from a value of a type; None where it does so as Hive."""
    if (part := part_of_interval(kind, unit)) is not None:
        return part
    if unit == "second":
        return "second(@0)"
    if not is_text(kind):
        return None
    return f"extract({unit} FROM {as_timestamp(Call('', (kind,), (None,)), 0)})"


def _in_zone(call: Call) -> str | None:
    """Return from_utc_timestamp or to_utc_timestamp, to which a number is a TIMESTAMP too."""
    if not is_number(call.type(0)):
        return _of_times(call)
    moment = conversion(call.type(0), TIMESTAMP) or "CAST(@0 AS TIMESTAMP)"
    return f"{call.name}({', '.join([moment, *rest(call, 1)])})"


def _between(call: Call) -> str | None:
    if not (is_text(call.type(0)) or is_text(call.type(1))):
        return None
    arguments = [as_timestamp(call, 0), as_timestamp(call, 1), *rest(call, 2)]
    return f"months_between({', '.join(arguments)})"


def _texts_of_dates(*dates: int) -> Rule:
    """Functions that give text in Hive and a DATE in Spark."""
    inner = _of_dates(*dates)

    def rule(call: Call) -> str:
        assert callable(inner)
        return f"CAST({inner(call) or f'{call.name}(@*)'} AS STRING)"

    return rule


def _months_added(call: Call) -> str:
    takes(2, 3)(call)
    day = f"CAST({as_timestamp(call, 0)} AS DATE)"
    # The last day of a month stays one.
    added = f"if(last_day({day}) = {day}, last_day(add_months({day}, @1)), add_months({day}, @1))"
    if len(call.types) == 2:
        return f"CAST({added} AS STRING)"
    moment = f"CAST({as_timestamp(call, 0)} AS TIMESTAMP)"
    shifted = f"(CAST({added} AS TIMESTAMP) + ({moment} - CAST({day} AS TIMESTAMP)))"
    # Hive has SimpleDateFormat write it, in UTC and without the Julian calendar, in every session.
    return f"hive_zoned_proleptic_text(unix_micros({shifted}), @2, 'UTC')"


def _truncated(call: Call) -> str | None:
    if is_number(call.type(0)):
        return _truncated_number(call)
    takes(2, 2)(call)
    unit = call.literal(1)
    if unit is None:
        names: dict[str, list[str]] = {}
        for hive, name in _TRUNC_UNITS.items():
            names.setdefault(name, []).append(f"'{hive}'")
        day = as_date(call, 0)
        cases = " ".join(
            f"WHEN @1 IN ({', '.join(hive)}) THEN trunc({day}, '{name}')"
            for name, hive in names.items()
        )
        return f"CAST(CASE {cases} END AS STRING)"
    spark = _TRUNC_UNITS.get(unit)
    if spark is None:
        return "CAST(NULL AS STRING)"
    return f"CAST(trunc({as_date(call, 0)}, '{spark}') AS STRING)"


_TRUNC_UNITS = {
    "MONTH": "MONTH", "MON": "MONTH", "MM": "MONTH", "Q": "QUARTER", "QUARTER": "QUARTER",
    "YEAR": "YEAR", "YYYY": "YEAR", "YY": "YEAR",
}  # fmt: skip


def _truncated_number(call: Call) -> str:
    digits = "@1" if len(call.types) > 1 else "0"
    if len(call.types) > 1 and not re.fullmatch(r"-?\s*\d+", call.texts[1]):
        if not is_float(call.type(0)):
            raise NotSupported("trunc of a whole number or decimal with a scale that is no literal")
        # A NULL leaves the number as it is.
        moved = "(@0 * pow(10, @1))"
        cut = f"if(@0 < 0, ceil({moved}), floor({moved})) / pow(10, @1)"
        return f"if(@1 IS NULL, CAST(@0 AS DOUBLE), {cut})"
    kind = call.type(0)
    cut = f"if(@0 < 0, ceil(@0, {digits}), floor(@0, {digits}))"
    if kind is not None and kind.kind is Kind.DECIMAL:
        return with_scale(cut, kind, call.texts[1] if len(call.texts) > 1 else digits)
    return f"CAST({cut} AS {kind})" if kind is not None else cut


def _are_patterns_simple(call: Call) -> bool:
    """Tell whether patterns are those of Java's SimpleDateFormat, which Hive had before."""
    name = call.settings.text(_FORMATTER_KEY).upper() if call.settings else "DATETIME"
    if name not in ("DATETIME", "SIMPLE"):
        raise SemanticError(f"{_FORMATTER_KEY} is DATETIME or SIMPLE, not {name}")
    return name == "SIMPLE"


def _text_of(call: Call, clock: str, i: int) -> str:
    """Write a time of the session's zone by the pattern that argument ``i`` is."""
    moment = moment_in(clock, call.zone) if call.zone else clock
    micros = f"unix_micros(CAST({moment} AS TIMESTAMP))"
    if _are_patterns_simple(call):
        return f"hive_zoned_simple_text({micros}, @{i}, '{call.zone or 'UTC'}')"
    pattern = call.literal(i)
    if pattern is not None and problem_of(pattern):
        return "CAST(NULL AS STRING)"
    if _is_for_java(call, i):
        return f"hive_zoned_text({micros}, @{i}, '{call.zone or 'UTC'}')"
    return formatted(clock, call.literal(i)) or f"date_format({clock}, {_pattern(call, i)})"


def _is_for_java(call: Call, i: int) -> bool:
    """Tell whether Spark lacks a pattern's letters, or would show UTC for the session's zone."""
    pattern = call.literal(i)
    if pattern is not None and is_lacked(pattern):
        return True
    if call.zone is None or pattern is None:
        return call.zone is not None
    return _ZONE_LETTERS.search(re.sub(r"'[^']*'", "", pattern)) is not None


def _pattern(call: Call, i: int) -> str:
    """Return a pattern of Hive (java.time's) as Spark takes it."""
    text = call.literal(i)
    return pattern_literal(text) if text is not None and "u" in text else f"@{i}"


def _formatted_date(call: Call) -> str | None:
    takes(2, 2)(call)
    if is_text(call.type(1)) and not _CONSTANT.fullmatch(call.texts[1]):
        message = "date_format only takes constant as 2nd argument: write the pattern as a text"
        raise SemanticError(message, code=10016)
    return _text_of(call, as_timestamp(call, 0), 1)


def _from_seconds(call: Call) -> str | None:
    takes(1, 2)(call)
    kind = call.type(0)
    if kind is not None and not is_integer(kind) and kind != VOID:
        raise SemanticError(
            f"The function from_unixtime takes only int/long types, not {kind}", code=10014
        )
    zone, micros = call.zone or "UTC", "1000000 * CAST(@0 AS BIGINT)"
    if _are_patterns_simple(call):
        pattern = "@1" if len(call.types) > 1 else _PLAIN_PATTERN
        return f"hive_zoned_simple_text({micros}, {pattern}, '{zone}')"
    if len(call.types) == 1:
        return None
    written = call.literal(1)
    if written is not None and (problem := problem_of(written)):
        raise SemanticError(f"{problem} (from_unixtime's pattern is {written!r})")
    if _is_for_java(call, 1):
        return f"hive_zoned_strict_text({micros}, @1, '{zone}')"
    weeks = formatted("timestamp_seconds(@0)", call.literal(1))
    return weeks or f"from_unixtime(@0, {_pattern(call, 1)})"


def _to_seconds(call: Call) -> str | None:
    if is_number(call.type(0)):
        raise SemanticError(
            f"The function {call.name} takes only string/date/timestamp types", code=10014
        )
    if call.types and (_are_patterns_simple(call) or len(call.types) == 2):
        pattern = "@1" if len(call.types) > 1 else _PLAIN_PATTERN
        reader = "hive_zoned_simple" if _are_patterns_simple(call) else "hive_zoned"
        zone = call.zone or "UTC"
        read = f"{reader}_seconds(CAST(@0 AS STRING), {pattern}, '{zone}')"
        if is_text(call.type(0)):
            return read
        moment = moment_in("@0", call.zone) if call.zone else "@0"
        return f"if(typeof(@0) = 'string', {read}, unix_timestamp({moment}))"
    if len(call.types) == 1 and is_text(call.type(0)):
        return f"unix_timestamp({WHOLE_TIME})"
    return None


def _days_added(call: Call) -> str | None:
    takes(2, 2)(call)
    if call.type(1) is not None and call.type(1) not in (TINYINT, SMALLINT, INT, VOID):
        raise SemanticError(
            f"{call.name.upper()}() only takes TINYINT/SMALLINT/INT types as second argument, "
            f"got {call.type(1)}",
            code=10014,
        )
    inner = _of_dates(0)
    assert callable(inner)
    return inner(call)


def _floored(unit: str) -> Rule:
    def rule(call: Call) -> str:
        takes(1, 1)(call)
        if call.type(0) == DATE or is_text(call.type(0)):
            raise SemanticError(f"{call.name} takes a timestamp, not {call.type(0)}", code=10014)
        return f"date_trunc('{unit}', @0)"

    return rule


_FIRST_GREGORIAN = "DATE '1582-10-15'"
# Days since the first of March -4800, whose count begins anew with every leap day; then years of
# four, days of the year, and months from March on.
_JULIAN_DAY = (
    "transform(array(unix_date({0}) + 2472670), n -> transform(array((4 * n + 3) DIV 1461), y -> "
    "transform(array(n - (1461 * y) DIV 4), d -> transform(array((5 * d + 2) DIV 153), m -> "
    "make_date(CAST(y - 4800 + m DIV 10 AS INT), CAST(m + 3 - 12 * (m DIV 10) AS INT), "
    "CAST(d - (153 * m + 2) DIV 5 + 1 AS INT)))[0])[0])[0])[0]"
)


def _in_hybrid_calendar(call: Call) -> str:
    """Name the days before 1582-10-15 as the Julian calendar did."""
    takes(1, 1)(call)
    if call.type(0) not in (None, DATE, TIMESTAMP):
        message = f"{call.name} only allows date or timestamp types"
        raise SemanticError(message, code=10014)
    day = "CAST(@0 AS DATE)"
    named = _JULIAN_DAY.format(day)
    if call.type(0) == TIMESTAMP:
        named = f"timestampadd(DAY, datediff({named}, {day}), @0)"
    return f"if({day} < {_FIRST_GREGORIAN}, {named}, @0)"


DATE_RULES: dict[str, Rule] = {
    "add_months": _months_added,
    "date_add": _days_added,
    "date_format": _formatted_date,
    "date_sub": _days_added,
    "datediff": _of_dates(0, 1),
    "datetime_legacy_hybrid_calendar": _in_hybrid_calendar,
    "day": _of_dates(0),
    "dayofmonth": _of_dates(0),
    "dayofweek": _of_dates(0),
    "from_unixtime": _from_seconds,
    "from_utc_timestamp": _in_zone,
    "hour": _of_times,
    "last_day": _texts_of_dates(0),
    "minute": _of_times,
    "month": _of_dates(0),
    "months_between": _between,
    "next_day": _texts_of_dates(0),
    "quarter": _of_dates(0),
    "second": _of_times,
    "to_date": lambda call: f"CAST({as_date(call, 0)} AS DATE)",
    "to_unix_timestamp": _to_seconds,
    "to_utc_timestamp": _in_zone,
    "trunc": _truncated,
    "unix_timestamp": _to_seconds,
    "weekofyear": _of_dates(0),
    "year": _of_dates(0),
    **{f"floor_{unit}": _floored(unit)
       for unit in ("year", "quarter", "month", "week", "day", "hour", "minute", "second")},
}  # fmt: skip
