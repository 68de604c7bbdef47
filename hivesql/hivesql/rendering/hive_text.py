"""Values as Hive prints them: NULL, true, [1,2], {"a":1}."""

from __future__ import annotations

import datetime
import decimal
import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from hivesql.rendering.java_digits import java_digits
from hivesql_planner.model.hive_type import MOST_DIGITS, PLAIN_SCALE, HiveType, Kind


class Single(float):
    """A FLOAT: fewer digits tell it apart from its neighbours than a DOUBLE needs."""


@dataclass(frozen=True, slots=True)
class Instant:
    """A TIMESTAMP WITH LOCAL TIME ZONE, as the wall clock of UTC; shown in a zone."""

    clock: datetime.datetime
    zone: str = ""
    """Empty for UTC."""


class Struct(dict[str, Any]):
    """The fields of a STRUCT by name, in their order; two may have one name."""

    def __init__(self, pairs: Iterable[tuple[str, Any]]) -> None:
        self.pairs: tuple[tuple[str, Any], ...] = tuple(pairs)
        super().__init__(self.pairs)


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
    marks = {i: mark for i, kind in enumerate(types) if (mark := mark_of(HiveType.parse(kind)))}
    if not marks:
        return rows
    return (
        [marks[i](value) if i in marks else value for i, value in enumerate(row)] for row in rows
    )


_Mark = Callable[[Any], Any]
_EXACT = decimal.Context(prec=2 * MOST_DIGITS)
"""Nothing is rounded."""


def mark_of(type_: HiveType) -> _Mark | None:
    """Tell what marks the values of a type; None where they are printed as they are."""
    if type_.kind is Kind.FLOAT:
        return _unless_null(Single)
    if type_.kind is Kind.INSTANT:
        return _unless_null(lambda value: Instant(value, type_.zone))
    if type_.kind is Kind.DECIMAL:
        scale = type_.arguments[1]
        # Others may come to Python as `100E-12`.
        return _unless_null(lambda value: _scaled(value, scale)) if scale > PLAIN_SCALE else None
    if type_.kind is Kind.UNION:
        return _unless_null(_mark_of_union(type_))
    marks_inside = [mark_of(inner) for inner in type_.children]
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
            (field, mark(item))
            for field, mark, item in zip(names, marks, _fields(value), strict=True)
        )
    )


def _mark_of_union(type_: HiveType) -> _Mark:
    marks = [mark_of(member) or _same for member in type_.children]

    def member_by_tag(value: Any) -> Any:
        tag, *members = _fields(value)
        return {tag: marks[tag](members[tag])}

    return member_by_tag


def _fields(struct: Any) -> Iterable[Any]:
    """Return the values of a struct, which is a row of Spark's or a dictionary of Arrow's."""
    return struct.values() if isinstance(struct, dict) else struct


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
    if hasattr(value, "__fields__"):
        value = Struct(zip(value.__fields__, value, strict=True))
    if isinstance(value, dict):
        pairs = (
            f"{hive_text(key, nested=True)}:{hive_text(item, nested=True)}"
            for key, item in (value.pairs if isinstance(value, Struct) else value.items())
        )
        return "{" + ",".join(pairs) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(hive_text(item, nested=True) for item in value) + "]"
    return str(value)
