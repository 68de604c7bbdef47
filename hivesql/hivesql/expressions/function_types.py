"""What Hive's functions give, as far as the types of arguments tell."""

from __future__ import annotations

from collections.abc import Callable

from hivesql.dialect.value_types import (
    DAY_TIME,
    FLOATS,
    INTEGERS,
    TIMES,
    YEAR_MONTH,
    Type,
    averaged,
    common,
    decimal_of,
    element,
    family,
    inside,
    is_number,
    is_text,
    summed,
)
from hivesql.expressions.calls import Call

TypeRule = str | Callable[[Call], Type]


def _named(kind: str, names: str) -> dict[str, TypeRule]:
    return dict.fromkeys(names.split(), kind)


def _first(call: Call) -> Type:
    return call.type(0)


def _text(call: Call) -> Type:
    """CHAR and VARCHAR stay what they are."""
    return call.type(0) if is_text(call.type(0)) else "string"


def _all(call: Call) -> Type:
    return common(call.types)


def _mixed(call: Call) -> Type:
    kinds = [kind for kind in call.types if kind]
    others = [kind for kind in kinds if not is_text(kind)]
    if any(map(is_number, others)) and (times := set(others) & set(TIMES)):
        return "double" if "timestamp" in times else "string"
    if len(others) < len(kinds):
        if any(kind == "boolean" or is_number(kind) for kind in others):
            return "double"
        if others and None not in call.types and (kind := common(others)) in TIMES:
            return kind
    return _all(call)


def _list(call: Call) -> Type:
    inner = common(call.types) if call.types else "string"
    return f"array<{inner}>" if inner else None


def _list_of_first(call: Call) -> Type:
    return f"array<{call.type(0)}>" if call.type(0) else None


def _map(call: Call) -> Type:
    key, value = common(call.types[::2]), common(call.types[1::2])
    return f"map<{key},{value}>" if key and value and call.types else None


def _struct(call: Call) -> Type:
    if any(kind is None for kind in call.types):
        return None
    fields = (f"col{i}:{kind}" for i, kind in enumerate(call.types, 1))
    return f"struct<{','.join(fields)}>"


def _named_struct(call: Call) -> Type:
    names, kinds = call.literals[::2], call.types[1::2]
    if any(name is None for name in names) or any(kind is None for kind in kinds):
        return None
    fields = (f"{name}:{kind}" for name, kind in zip(names, kinds, strict=False))
    return f"struct<{','.join(fields)}>".lower()


def _rounded(call: Call) -> Type:
    kind = call.type(0)
    if family(kind) == "decimal":
        return None  # depends on the number of digits: Spark knows
    return "double" if is_text(kind) else kind


def _floored(call: Call) -> Type:
    kind = call.type(0)
    return "bigint" if kind in (*INTEGERS, *FLOATS) or is_text(kind) else None


def _absolute(call: Call) -> Type:
    kind = call.type(0)
    if is_text(kind):
        return "double"
    return "int" if kind in ("tinyint", "smallint") else kind


def _remainder(call: Call) -> Type:
    size = decimal_of(call.type(0))
    return None if size and family(call.type(0)) == "decimal" else common(call.types)


def _keys(call: Call) -> Type:
    found = inside(call.type(0))
    return f"array<{found[0][1]}>" if len(found) == 2 else None


def _values(call: Call) -> Type:
    found = inside(call.type(0))
    return f"array<{found[1][1]}>" if len(found) == 2 else None


TYPES: dict[str, TypeRule] = {
    **_named("string", """
        concat concat_ws trim ltrim rtrim lpad rpad repeat reverse space
        substr substring mid substring_index regexp_replace regexp_extract replace translate chr
        initcap hex bin conv soundex format_number printf quote base64 decode md5 sha sha1 sha2 mask
        mask_first_n mask_last_n mask_show_first_n mask_show_last_n mask_hash get_json_object
        parse_url elt last_day next_day add_months from_unixtime date_format typeof uuid
        current_database current_user current_catalog current_schema array_join java_method reflect
        xpath_string version"""),
    **_named("int", """
        length char_length character_length octet_length ascii instr locate find_in_set field
        levenshtein year month day dayofmonth dayofweek quarter weekofyear hour minute second
        datediff size row_number rank dense_rank ntile width_bucket array_position xpath_int hash
        murmur_hash"""),
    **_named("bigint", """
        count to_epoch_milli unix_timestamp to_unix_timestamp crc32 factorial xpath_long regr_count
        grouping_id"""),
    **_named("double", """
        sqrt exp ln log log2 log10 pow power cbrt sin cos tan asin acos atan sinh cosh tanh degrees
        radians e pi rand stddev std stddev_pop stddev_samp variance var_pop var_samp corr covar_pop
        covar_samp percent_rank cume_dist months_between xpath_double percentile_cont
        percentile_disc double"""),
    **_named("boolean", """
        isnull isnotnull array_contains likeany likeall istrue isfalse isnottrue isnotfalse
        is_not_distinct_from xpath_boolean boolean"""),
    **_named("date", "to_date date_add date_sub current_date date"),
    **_named("timestamp", """
        current_timestamp from_utc_timestamp to_utc_timestamp timestamp floor_year floor_quarter
        floor_month floor_week floor_day floor_hour floor_minute floor_second"""),
    **_named("binary", "unhex unbase64 encode aes_encrypt aes_decrypt binary"),
    **_named("array<string>", "split xpath"),
    **{name: name for name in ("tinyint", "smallint", "int", "bigint", "float", "string")},
    **dict.fromkeys(("upper", "lower", "ucase", "lcase"), _text),
    "coalesce": _all, "nvl": _all, "greatest": _mixed, "least": _mixed,
    "if": lambda call: common(call.types[1:]),
    "nullif": _first, "max": _first, "min": _first, "first_value": _first, "last_value": _first,
    "lag": _first, "lead": _first, "negative": _first, "positive": _first, "sort_array": _first,
    "array_distinct": _first, "array_remove": _first, "array_slice": _first, "array_except": _first,
    "array_compact": _first, "array_append": _first, "array_union": _first,
    "array_intersect": _first, "sort_array_by": _first,
    "abs": _absolute, "pmod": _remainder,
    "sum": lambda call: summed(call.type(0)), "avg": lambda call: averaged(call.type(0)),
    "round": _rounded, "bround": _rounded, "floor": _floored, "ceil": _floored, "ceiling": _floored,
    "array": _list, "collect_list": _list_of_first, "collect_set": _list_of_first,
    "map": _map, "struct": _struct, "named_struct": _named_struct,
    "map_keys": _keys, "map_values": _values,
    "array_min": lambda call: element(call.type(0)),
    "array_max": lambda call: element(call.type(0)),
    "index": lambda call: element(call.type(0)),
    "str_to_map": "map<string,string>",
    "interval_year_month": YEAR_MONTH, "interval_day_time": DAY_TIME,
    "json_read": lambda call: call.literal(1),
    "shiftleft": lambda call: "bigint" if call.type(0) == "bigint" else "int",
    "shiftright": lambda call: "bigint" if call.type(0) == "bigint" else "int",
    "sign": lambda call: "int" if family(call.type(0)) == "decimal" else "double",
}  # fmt: skip


def type_of_call(call: Call) -> Type:
    """Return the Hive type of a call's result."""
    rule = TYPES.get(call.name)
    return rule if rule is None or isinstance(rule, str) else rule(call)
