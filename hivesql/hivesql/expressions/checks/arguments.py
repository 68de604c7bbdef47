"""Which arguments Hive's functions take: Spark converts more, and gives rows where Hive refuses.

A function of Hive's older kind has a method for each type that it takes: whole numbers grow wider,
numbers and times become texts, and nothing else changes. Younger ones look at what they are given.
"""

from __future__ import annotations

import re

from hivesql.dialect.value_types import Type, element, is_text, kind_of
from hivesql.expressions.calls import Call
from hivesql_planner.errors import SemanticError
from hivesql_planner.model.hive_type import INTEGERS, NUMBERS, TEXTS, VOID, Kind

_SMALL = INTEGERS - {Kind.BIGINT}
_TIMES = frozenset({Kind.DATE, Kind.TIMESTAMP})
_BYTES = frozenset({Kind.BINARY})
_READ_AS_NUMBER = NUMBERS | TEXTS
_READ_AS_TIME = TEXTS | _TIMES
_READ_AS_TEXT = NUMBERS | TEXTS | _TIMES
_PRIMITIVE = _READ_AS_TEXT | {Kind.BOOLEAN, Kind.BINARY}
_MOST_VALUES = 100
"""Of the patterns of LIKE ANY and ALL, and of what PRINTF writes, so many are looked at."""
_CHECKED = _PRIMITIVE | {Kind.ARRAY, Kind.MAP, Kind.STRUCT}
"""What is checked; all else is left to Spark."""

_Places = tuple[frozenset[Kind] | None, ...]
"""The kinds that each argument may have; None where any may stand."""


def _alike(names: str, *places: frozenset[Kind] | None) -> dict[str, _Places]:
    return dict.fromkeys(names.split(), places)


_BY_METHOD: dict[str, _Places] = {
    **_alike("ascii reverse unbase64 unhex", _READ_AS_TEXT),
    **_alike("crc32 hex md5 sha sha1", _READ_AS_TEXT | _BYTES),
    **_alike(
        "abs acos asin atan chr cos degrees exp ln log10 log2 radians sign sin sqrt tan",
        _READ_AS_NUMBER,
    ),
    **_alike("base64", _BYTES),
    **_alike("bin from_unixtime", INTEGERS),
    **_alike("bitwiseand bitwisenot bitwiseor bitwisexor", INTEGERS, INTEGERS),
    **_alike("concat greatest least", *[_PRIMITIVE] * _MOST_VALUES),
    **_alike("conv", _READ_AS_TEXT, _SMALL, _SMALL),
    **_alike("date_add date_sub to_date unix_timestamp weekofyear", _READ_AS_TIME),
    **_alike("find_in_set get_json_object like parse_url", _READ_AS_TEXT, _READ_AS_TEXT),
    **_alike("log pmod", _READ_AS_NUMBER, _READ_AS_NUMBER),
    **_alike("regexp_extract", _READ_AS_TEXT, _READ_AS_TEXT, _SMALL),
    **_alike("regexp_replace", _READ_AS_TEXT, _READ_AS_TEXT),
    **_alike("replace", _READ_AS_TEXT, _READ_AS_TEXT, _READ_AS_TEXT),
    **_alike("length lower upper", _PRIMITIVE),
    **_alike("ltrim rtrim trim", TEXTS, TEXTS),
    **_alike("octet_length", TEXTS | _BYTES),
    **_alike("percentile", INTEGERS),
    **_alike("repeat", _READ_AS_TEXT, _SMALL),
    **_alike("shiftleft shiftright shiftrightunsigned", INTEGERS, _SMALL),
    **_alike("space", _SMALL),
    **_alike("str_to_map", TEXTS),
    **_alike("substr substring mid", _READ_AS_TEXT | _BYTES, INTEGERS, INTEGERS),
}
"""Functions that have methods by types: Hive's error 10014."""

_BY_ITSELF: dict[str, _Places] = {
    **_alike("aes_encrypt", TEXTS | _BYTES),
    **_alike("add_months", _READ_AS_TIME, _SMALL),
    **_alike("bround round", _READ_AS_NUMBER, INTEGERS),
    **_alike("cbrt", NUMBERS),
    **_alike("concat_ws", TEXTS),
    **_alike("ceil ceiling floor negative positive", _READ_AS_NUMBER),
    **_alike("date_format next_day", _READ_AS_TIME, TEXTS),
    **_alike("datediff months_between", _READ_AS_TIME, _READ_AS_TIME),
    **_alike("decode", _BYTES),
    **_alike("encode initcap soundex", TEXTS),
    **_alike("factorial", _SMALL),
    **_alike("format_number", NUMBERS, _SMALL | TEXTS),
    **_alike("from_unixtime", None, TEXTS),
    **_alike("hour last_day minute quarter second year", _READ_AS_TIME),
    **_alike("levenshtein regexplike", TEXTS, TEXTS),
    **_alike("likeall likeany", *[TEXTS] * _MOST_VALUES),
    **_alike("lpad rpad", None, _SMALL),
    **_alike("pow power", _READ_AS_NUMBER, _READ_AS_NUMBER),
    **_alike("printf", TEXTS, *[_PRIMITIVE] * _MOST_VALUES),
    **_alike("sha2", TEXTS | _BYTES, _SMALL),
    **_alike("substring_index", TEXTS, TEXTS, _SMALL),
    **_alike("translate", TEXTS, TEXTS, TEXTS),
    **_alike("width_bucket", NUMBERS, NUMBERS, NUMBERS, NUMBERS),
}
"""Functions that look at their arguments by themselves: Hive's error 10016."""

_WITHOUT_ARGUMENTS: dict[str, int] = {
    **dict.fromkeys(("e", "pi", "uuid", "version"), 10014),
    **dict.fromkeys(("current_date", "current_timestamp", "current_user", "logged_in_user"), 10015),
}
"""Functions that take nothing, with the error of Hive where something is in their brackets."""

_Counts = tuple[int, int, int]
_ANY = 10_000


def _count(names: str, least: int, most: int, code: int) -> dict[str, _Counts]:
    return dict.fromkeys(names.split(), (least, most, code))


_COUNTS: dict[str, _Counts] = {
    **_count("buildversion", 0, 0, 10014),
    **_count("acos ascii asin atan bin ceil ceiling chr cos cosh crc32 degrees exp", 1, 1, 10014),
    **_count("dayofweek hex ln log10 log2 md5 negative positive quote radians", 1, 1, 10014),
    **_count("reverse sha sha1 sign sin sinh space sqrt tan tanh unbase64 unhex", 1, 1, 10014),
    **_count("base64 weekofyear", 1, 1, 10014),
    **_count("extract_union log ltrim rtrim trunc", 1, 2, 10014),
    **_count("array_contains find_in_set get_json_object mod pmod pow power", 2, 2, 10014),
    **_count("repeat shiftleft shiftright shiftrightunsigned xpath", 2, 2, 10014),
    **_count("xpath_boolean xpath_double xpath_float xpath_int xpath_long", 2, 2, 10014),
    **_count("xpath_number xpath_short xpath_string", 2, 2, 10014),
    **_count("mid parse_url regexp_extract substr substring", 2, 3, 10014),
    **_count("field", 2, _ANY, 10014),
    **_count("conv lpad regexp_replace replace rpad", 3, 3, 10014),
    **_count("assert_true hour minute second soundex to_date to_epoch_milli", 1, 1, 10015),
    **_count("initcap last_day octet_length quarter year", 1, 1, 10015),
    **_count("bround from_unixtime", 1, 2, 10015),
    **_count("greatest least", 2, _ANY, 10015),
    **_count("date_add date_format date_sub next_day", 2, 2, 10015),
    **_count("java_method reflect", 2, _ANY, 10015),
    **_count("array_position datediff decode in_file levenshtein sha2", 2, 2, 10015),
    **_count("add_months months_between", 2, 3, 10015),
    **_count("if translate", 3, 3, 10015),
}
"""How many arguments functions take at least and at most, and Hive's error for other numbers.

Those of Hive's older kind look for a method with so many arguments, and find none.
"""

_NullPlaces = tuple[int | None, tuple[int, ...]]
"""An error of Hive, and the arguments in whose place it is raised for a NULL without a type."""


def _no_null(names: str, code: int | None, *places: int) -> dict[str, _NullPlaces]:
    return dict.fromkeys(names.split(), (code, places))


_NULL_PLACES: dict[str, _NullPlaces] = {
    **_no_null("abs from_unixtime octet_length unix_timestamp", 10014, 0),
    **_no_null("date_add date_sub to_unix_timestamp trunc", 10014, 0, 1),
    **_no_null("xpath_boolean xpath_double xpath_float xpath_int", 10014, 0, 1),
    **_no_null("xpath_long xpath_number xpath_short", 10014, 0, 1),
    **_no_null("regexp_extract", 10014, 2),
    **_no_null("str_to_map", 10014, 0, 1, 2),
    **_no_null("array_compact array_distinct array_join array_max array_min", 10016, 0),
    **_no_null("initcap map_keys map_values sort_array to_epoch_milli", 10016, 0),
    **_no_null("aes_decrypt aes_encrypt date_format datediff encode", 10016, 0, 1),
    **_no_null("months_between sha2", 10016, 0, 1),
    **_no_null("array_append array_position array_remove decode lpad rpad", 10016, 1),
    **_no_null("array_slice substring_index", 10016, 0, 1, 2),
    **_no_null("avg histogram_numeric parse_url_tuple percentile_approx sum", None, 0),
    **_no_null("std stddev stddev_pop stddev_samp var_pop var_samp variance", None, 0),
    **_no_null("corr covar_pop covar_samp regr_avgx regr_avgy regr_count", None, 0, 1),
    **_no_null("regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy", None, 0, 1),
}
"""Where Hive's functions take no NULL without a type, and its error; most others give NULL."""

_WHOLE = re.compile(r"-?\s*\d+")
_QUICK = re.compile(r"[^*+?{|]*")
_BELOW_ZERO = re.compile(r"-\s*\d+")


def check_arguments(call: Call) -> None:
    """Refuse what a function of Hive does not take (SemanticError 10014, 10015, 10016)."""
    if call.types and (code := _WITHOUT_ARGUMENTS.get(call.name)) is not None:
        raise SemanticError(
            f"Arguments length mismatch: the function {call.name.upper()} does not take any "
            f"arguments, but found {len(call.types)}",
            code=code,
        )
    _check_count(call)
    if any(map(_is_refused, call.types, _BY_METHOD.get(call.name, ()))):
        listed = ", ".join(str(kind or "unknown") for kind in call.types)
        raise SemanticError(f"No matching method for {call.name} with ({listed})", code=10014)
    for i, kinds in enumerate(zip(call.types, _BY_ITSELF.get(call.name, ()), strict=False), 1):
        if _is_refused(*kinds):
            message = f"Argument type mismatch: {call.name} takes no {kinds[0]} as argument {i}"
            raise SemanticError(message, code=10016)
    _check_nulls(call)
    if call.name == "trunc":
        _check_truncated(call)
    if call.name == "array_contains":
        _check_member(element(call.type(0)), call.type(1))
    if call.name == "regexp_extract":
        _check_group(call)
    if call.name == "format_number" and _BELOW_ZERO.fullmatch("".join(call.texts[1:2])):
        what = f'Argument 2 of function FORMAT_NUMBER must be >= 0, but "{call.texts[1]}" was found'
        raise SemanticError(what, code=10014)


def _check_count(call: Call) -> None:
    least, most, code = _COUNTS.get(call.name, (0, _ANY, 0))
    count = len(call.types)
    if least <= count <= most:
        return
    what = "Wrong arguments" if code == 10014 else "Arguments length mismatch"
    words = str(least) if least == most else f"{least} to {most}"
    words = f"at least {least}" if most == _ANY else words
    noun = "argument" if words == "1" else "arguments"
    raise SemanticError(f"{what}: {call.name} takes {words} {noun}, got {count}", code=code)


def _check_nulls(call: Call) -> None:
    code, places = _NULL_PLACES.get(call.name, (None, ()))
    for i in places:
        if call.type(i) == VOID:
            what = "Wrong arguments" if code == 10014 else "Argument type mismatch"
            raise SemanticError(
                f"{what}: {call.name} takes no void as argument {i + 1}: write CAST(NULL AS …)",
                code=code,
            )


def _check_truncated(call: Call) -> None:
    """Refuse a number of places of times and texts, and a unit of numbers."""
    value, unit = call.type(0), call.type(1)
    if value is None or unit is None:
        return
    takes = NUMBERS if value.kind in NUMBERS else TEXTS
    if value.kind in _READ_AS_TEXT and unit.kind in _READ_AS_TEXT - takes:
        what = f"Got wrong argument types: first {value}, second {unit}"
        raise SemanticError(f"{what} of trunc", code=10014)


def _check_member(member: Type, value: Type) -> None:
    """Refuse to look for a value of another type than an array's; lengths do not count."""
    for kind in (member, value):
        if kind is None or kind.kind not in _CHECKED or kind.is_nested:
            return
    if kind_of(member) != kind_of(value) and not (is_text(member) and is_text(value)):
        message = f'"{member}" expected at function ARRAY_CONTAINS, but "{value}" is found'
        raise SemanticError(message, code=10016)


def _check_group(call: Call) -> None:
    """Refuse a group that the pattern has not, where all is constant: Hive computes it at once."""
    text, pattern, number = call.literal(0), call.literal(1), "".join(call.texts[2:]) or "1"
    if text is None or pattern is None or not _WHOLE.fullmatch(number):
        return
    if not _QUICK.fullmatch(pattern):
        return  # A pattern that repeats or chooses can take for ever: Spark tells of it as it runs.
    try:
        match = re.search(pattern, text)
    except re.error:
        return  # What is a pattern to Java only is Spark's to say.
    group = int(number.replace(" ", ""))
    if match is not None and not 0 <= group <= match.re.groups:
        raise SemanticError(f"regexp_extract: No group {group} in '{pattern}'", code=10014)


def _is_refused(kind: Type, taken: frozenset[Kind] | None) -> bool:
    if kind is None or taken is None:
        return False
    return kind.kind in _CHECKED and kind.kind not in taken
