"""How Hive makes a value of one type one of another: by CAST, and where a column takes it.

A template is Spark SQL in which ``@0`` stands for the value.
"""

from __future__ import annotations

import re
from typing import Literal

from hivesql_planner.errors import SemanticError
from hivesql_planner.model.hive_type import (
    FLOATS,
    INTEGERS,
    MOST_DIGITS,
    NUMBERS,
    PLAIN_SCALE,
    TEXTS,
    TIMESTAMPS,
    HiveType,
    Kind,
    quote_name,
)

_TIMES = TIMESTAMPS | {Kind.DATE}
_RANGES = {Kind.TINYINT: 2**7 - 1, Kind.SMALLINT: 2**15 - 1, Kind.INT: 2**31 - 1}
WHOLE_NUMBERS = INTEGERS | {Kind.BOOLEAN}
"""Types that a TIMESTAMP takes for milliseconds since 1970."""
_NOT_OF_TIMES = WHOLE_NUMBERS | FLOATS
_SIMPLE = TEXTS | NUMBERS | _TIMES | {Kind.BOOLEAN}
_POSSIBLE = {
    Kind.BINARY: TEXTS | {Kind.BINARY},
    Kind.DATE: TEXTS | _TIMES,
    Kind.TIMESTAMP: _SIMPLE,
    Kind.INSTANT: TEXTS | _TIMES,
    **dict.fromkeys((*NUMBERS, Kind.BOOLEAN), _SIMPLE),
    Kind.DECIMAL: _SIMPLE - {Kind.DATE},
}
"""From what Hive makes values of a type."""
_DAY = "[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}"
_TIME = "([01]?[0-9]|2[0-3]):[0-5]?[0-9]:[0-5]?[0-9]([.][0-9]{1,9})?"
_REGION = "[A-Z][A-Za-z_]+(/[A-Za-z0-9_+-]+)+"
_ZONE = f"( *| ?(Z|(UTC|GMT)?[+-][0-9]{{1,2}}:?[0-9]{{2}}|UTC|GMT|{_REGION}))"
_ZONE_OF_INSTANT = f"Z|(UTC|GMT)?[+-][0-9]{{1,2}}:[0-9]{{2}}|UTC|GMT|{_REGION}"

_ISO_TIME = "[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,9})?)?"
WHOLE_TIME = (
    f"CAST(upper(regexp_extract(@0, '^ *({_DAY} {_TIME}|{_ISO_TIME}) *$', 1)) AS TIMESTAMP)"
)
"""Text to a TIMESTAMP where it is one of a day and a time, also as ISO 8601 writes them."""
# Hive reads a date from the beginning of a text, whatever follows, and a time only when whole.
TEXT_TO_DATE = f"CAST(regexp_extract(@0, '^ *({_DAY})([^0-9]|$)', 1) AS DATE)"
TEXT_TO_TIMESTAMP = (
    f"CAST(regexp_extract(@0, '^ *({_DAY}( {_TIME}(?={_ZONE}$)|T{_TIME}(?= *$))?|{_TIME}(?= *$))"
    "([^0-9]|$)', 1) AS TIMESTAMP)"
)
TEXT_TO_BOOLEAN = "(NOT lower(@0) IN ('', '0', 'false', 'no', 'off'))"
_INSTANT = (
    "[0-9]{4}-[0-9]{2}-[0-9]{2}( [0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,10})?)?"
    f"( ?({_ZONE_OF_INSTANT}))?"
)
_OF_TEXT = {
    Kind.BOOLEAN: TEXT_TO_BOOLEAN,
    Kind.DATE: TEXT_TO_DATE,
    Kind.TIMESTAMP: TEXT_TO_TIMESTAMP,
}


def in_zone(moment: str, zone: str) -> str:
    """Return the wall clock of a zone at a moment."""
    return f"from_utc_timestamp({moment}, '{zone}')"


def moment_in(clock: str, zone: str) -> str:
    """Return the moment at which a zone has a wall clock."""
    return f"to_utc_timestamp({clock}, '{zone}')"


def text_to_instant(zone: str | None = None) -> str:
    """Read an instant; a text without a zone is the wall clock of ``zone``, or of UTC."""
    # Spark reads no zone right behind a day.
    text = (
        f"regexp_replace(regexp_extract(@0, '^ *({_INSTANT}) *$', 1), "
        "'^(.{10}) ?([A-Z+-])', '$1 00:00:00 $2')"
    )
    moment = f"CAST({text} AS TIMESTAMP_LTZ)"
    if zone is None:
        return moment
    bare = "'^ *[0-9-]{10}( [0-9:.]+)? *$'"
    return f"if(@0 RLIKE {bare}, {moment_in(moment, zone)}, {moment})"


def instant_text(zone: str | None = None) -> str:
    """Write an instant: at least one digit behind the seconds, and the zone."""
    clock = in_zone("@0", zone) if zone else "@0"
    digits = f"regexp_replace(CAST({clock} AS STRING), ':[0-9][0-9]$', '$0.0')"
    return f"concat({digits}, ' {zone or 'UTC'}')"


def _of_instants(source: Kind, target: Kind, zone: str | None) -> str | None:
    """Convert to or from an instant; other times are the zone's wall clock."""
    if source in TEXTS:
        return text_to_instant(zone)
    if target in TEXTS:
        return instant_text(zone)
    if zone is None:
        return None
    if source is Kind.INSTANT and target is Kind.TIMESTAMP:
        return in_zone("@0", zone)
    if source is Kind.INSTANT and target is Kind.DATE:
        return f"CAST({in_zone('@0', zone)} AS DATE)"
    if target is Kind.INSTANT and source in (Kind.TIMESTAMP, Kind.DATE):
        return moment_in("CAST(@0 AS TIMESTAMP)", zone)
    return None


def moment_of(unit: Literal["millis", "seconds"]) -> str:
    """Make a TIMESTAMP of a whole number since 1970; NULL where it cannot hold it."""
    number = "CAST(@0 AS BIGINT)"
    most = 2**63 // (1_000 if unit == "millis" else 1_000_000)
    return f"if(abs({number}) <= {most}, timestamp_{unit}({number}), NULL)"


def conversion(source: HiveType | None, target: HiveType, zone: str | None = None) -> str | None:
    """Tell how Spark must convert; None where its CAST does as Hive, or nothing is known.

    ``zone`` is the session's; None is UTC.
    """
    if source is None:
        return None
    source_kind, target_kind = source.kind, target.kind
    if Kind.INSTANT in (source_kind, target_kind):
        return _of_instants(source_kind, target_kind, zone)
    if source_kind in TEXTS:
        padded = (
            f"CAST(rpad(@0, {source.length}, ' ') AS BINARY)" if source_kind is Kind.CHAR else None
        )
        return padded if target_kind is Kind.BINARY else _OF_TEXT.get(target_kind)
    if source_kind is Kind.BOOLEAN and target_kind in TEXTS:
        return "upper(CAST(@0 AS STRING))"
    if source_kind is Kind.DECIMAL and target_kind in TEXTS:
        return _digits(source)
    if target_kind is Kind.TIMESTAMP and source_kind in WHOLE_NUMBERS:
        return moment_of("millis")
    if source_kind is Kind.FLOAT and target_kind is Kind.DECIMAL:
        # The digits of the FLOAT's text, not those of the DOUBLE that it is.
        return f"CAST(CAST(@0 AS STRING) AS {target.spark.upper()})"
    if source_kind is Kind.TIMESTAMP and target_kind in _RANGES:
        return _fitting("CAST(@0 AS BIGINT)", target_kind)
    if source_kind is Kind.DECIMAL and target_kind in INTEGERS:
        return _whole_part(source, target_kind)
    return None


def _digits(source: HiveType) -> str | None:
    """Return a decimal's digits, of which Spark makes `0E-10` where many are after the point."""
    scale = source.arguments[1]
    if scale <= PLAIN_SCALE:
        return None
    # Spark's abs rounds to 34 digits.
    is_small = "@0 > -0.000001BD AND @0 < 0.000001BD"
    return f"if({is_small}, format_number(@0, {scale}), CAST(@0 AS STRING))"


def _fitting(seconds: str, target: Kind) -> str:
    """Seconds as a smaller number; NULL where it cannot hold them."""
    most = _RANGES[target]
    return (
        f"if({seconds} BETWEEN {-most - 1} AND {most}, CAST({seconds} AS {target.upper()}), NULL)"
    )


def _whole_part(source: HiveType, target_kind: Kind) -> str | None:
    """Return a decimal's digits before the point; NULL where the type cannot hold them."""
    precision, scale = source.arguments
    most = _RANGES.get(target_kind, 2**63 - 1)
    if precision - scale < len(str(most)):
        return None
    inside = f"@0 > {-most - 2}BD AND @0 < {most + 1}BD"
    return f"if({inside}, CAST(@0 AS {target_kind.upper()}), NULL)"


def nested_text(kind: HiveType, value: str, depth: int = 0) -> str | None:
    """Write a value as Hive writes it inside of others; None for types whose text is Spark's."""
    item = f"`_json{depth}`"
    match kind.kind:
        case Kind.ARRAY:
            inner = nested_text(kind.children[0], item, depth + 1)
            texts = f"array_join(transform({value}, {item} -> {inner}), ',', 'null')"
            return f"concat('[', {texts}, ']')" if inner else None
        case Kind.MAP:
            sides = zip(("key", "value"), kind.children, strict=True)
            pair = [nested_text(child, f"{item}.{side}", depth + 1) for side, child in sides]
            parts = ", ".join(f"coalesce({part}, 'null')" for part in pair)
            each = f"{item} -> concat_ws(':', {parts})"
            joined = f"array_join(transform(map_entries({value}), {each}), ',')"
            return f"concat('{{', {joined}, '}}')" if all(pair) else None
        case Kind.STRUCT:
            fields = [
                (name, nested_text(child, f"{value}.{quote_name(name)}", depth + 1))
                for name, child in kind.fields
            ]
            if not all(text for _, text in fields):
                return None
            texts = ", ',', ".join(
                f"'\"{name}\":', coalesce({text}, 'null')" for name, text in fields
            )
            return f"if({value} IS NULL, NULL, concat('{{', {texts}, '}}'))"
        case Kind.STRING | Kind.VARCHAR:
            quoted = f"to_json(named_struct('v', {value}))"
            return f"if({value} IS NULL, NULL, substring({quoted}, 6, length({quoted}) - 6))"
        case Kind.DECIMAL:
            # Without zeros behind the last digit.
            text = f"CAST({value} AS STRING)"
            return f"regexp_replace(regexp_replace({text}, '([.][0-9]*?)0+$', '$1'), '[.]$', '')"
        case Kind.DATE | Kind.TIMESTAMP:
            return f"concat('\"', CAST({value} AS STRING), '\"')"
        case Kind.BOOLEAN | Kind.FLOAT | Kind.DOUBLE | Kind.VOID:
            return f"CAST({value} AS STRING)"
    return f"CAST({value} AS STRING)" if kind.kind in WHOLE_NUMBERS else None


def conversion_of_any(target: HiveType, zone: str | None = None) -> str | None:
    """Return the same for a value whose type only Spark knows; None where that does not matter."""
    of_text = text_to_instant(zone) if target.kind is Kind.INSTANT else _OF_TEXT.get(target.kind)
    if of_text:
        other = f"CAST(@0 AS {target.spark.upper()})"
        if zone is not None and target.kind is Kind.INSTANT:
            other = moment_in(other, zone)
        converted = of_text.replace("@0", "CAST(@0 AS STRING)")
        return f"if(typeof(@0) = 'string', {converted}, {other})"
    if target.is_text:
        return "if(typeof(@0) = 'boolean', upper(CAST(@0 AS STRING)), CAST(@0 AS STRING))"
    return None


def check_conversion(source: HiveType | None, target: HiveType, *, strict: bool) -> None:
    """Refuse what Hive does not convert (SemanticError 10014, to dates and times 10016).

    ``strict`` is hive.strict.timestamp.conversion: times and numbers are not made of each other.
    """
    if source is None or not (source.kind in _SIMPLE or source.kind is Kind.BINARY):
        return
    source_kind, target_kind = source.kind, target.kind
    if strict and target_kind is Kind.TIMESTAMP and source_kind in NUMBERS:
        problem = "Casting NUMERIC types to TIMESTAMP is prohibited"
    elif strict and source_kind in _TIMES and target_kind in _NOT_OF_TIMES:
        problem = "Casting DATE/TIMESTAMP types to NUMERIC is prohibited"
    elif source_kind not in _POSSIBLE.get(target_kind, (source_kind,)):
        code = 10016 if target_kind in _TIMES else 10014
        raise SemanticError(f"Hive does not convert {source} to {target}", code=code)
    else:
        return
    raise SemanticError(f"{problem} (hive.strict.timestamp.conversion)", code=10014)


def is_readable_as(own: HiveType, wanted: HiveType) -> bool:
    """Tell whether Hive reads a partition's values as of the type that the table has now.

    ObjectInspectorConverters: less than CAST takes, as no number is made of a date.
    """
    if own.is_nested or wanted.is_nested:
        return own.kind is wanted.kind or wanted.is_text
    if own.kind is Kind.DATE and wanted.kind in _NOT_OF_TIMES:
        return False
    if own.kind in (Kind.VOID, Kind.INSTANT) or wanted.kind is Kind.INSTANT or wanted.is_text:
        return True
    return own.kind in _POSSIBLE.get(wanted.kind, (own.kind,))


def check_assignment(source: HiveType | None, target: HiveType, *, strict: bool) -> None:
    """Refuse what Hive refuses of a value that a column takes: see ``check_conversion``.

    Structs must have the column's fields, too.
    """
    check_conversion(source, target, strict=strict)
    _check_fields(source, target)


def _check_fields(source: HiveType | None, target: HiveType) -> None:
    """Refuse structs whose fields are not the target's, at any depth (Hive's 10044).

    By their places values would come into fields of other names.
    """
    if source is None or source.kind is not target.kind:
        return
    names = [[name.lower() for name in kind.names] for kind in (source, target)]
    if names[0] != names[1]:
        raise SemanticError(
            "Cannot insert into target table because column number/types are different: Cannot "
            f"convert {source} to {target}. Name the fields as the column has them "
            "(named_struct)",
            code=10044,
        )
    for inner, wanted in zip(source.children, target.children, strict=False):
        _check_fields(inner, wanted)


def with_scale(rounded: str, kind: HiveType, digits: str) -> str:
    """Give a rounded DECIMAL as many digits after its point as it is rounded to, as Hive does.

    Spark leaves a DECIMAL of fewer as it is. ``digits`` is the text of how many; where that is no
    whole number, it is not known here, and ``rounded`` stays as it is.
    """
    precision, scale = kind.arguments
    wanted = int(digits.replace(" ", "")) if re.fullmatch(r"-?\s*\d+", digits) else 0
    if wanted <= scale:
        return rounded
    wanted = min(wanted, MOST_DIGITS)
    whole = HiveType.decimal(min(precision - scale + wanted, MOST_DIGITS), wanted)
    return f"CAST({rounded} AS {whole})"
