"""What Hive's functions give, as far as the types of arguments tell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from hivesql.dialect.value_types import (
    TIMES,
    Type,
    averaged,
    common,
    concatenated,
    element,
    is_decimal,
    is_float,
    is_integer,
    is_number,
    is_text,
    summed,
)
from hivesql.expressions.calls import Call
from hivesql_planner.model.hive_type import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DAY_TIME,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TINYINT,
    YEAR_MONTH,
    HiveType,
    Kind,
)

TypeRule = HiveType | Callable[[Call], Type]


def _named(kind: HiveType, names: str) -> dict[str, TypeRule]:
    return dict.fromkeys(names.split(), kind)


def _first(call: Call) -> Type:
    return call.type(0)


def _text(call: Call) -> Type:
    """CHAR and VARCHAR stay what they are."""
    return call.type(0) if is_text(call.type(0)) else STRING


def _plain_text(call: Call) -> Type:
    """CHAR and VARCHAR become STRING."""
    return STRING if is_text(call.type(0)) else call.type(0)


def _all(call: Call) -> Type:
    return common(call.types)


def _mixed(call: Call) -> Type:
    kinds = [kind for kind in call.types if kind]
    others = [kind for kind in kinds if not is_text(kind)]
    if any(map(is_number, others)) and (times := set(others) & set(TIMES)):
        return DOUBLE if TIMESTAMP in times else STRING
    if len(others) < len(kinds):
        if any(kind == BOOLEAN or is_number(kind) for kind in others):
            return DOUBLE
        if others and None not in call.types and (kind := common(others)) in TIMES:
            return kind
    return _all(call)


def _list(call: Call) -> Type:
    inner = common(call.types) if call.types else STRING
    return HiveType.array(inner) if inner else None


def _list_of_first(call: Call) -> Type:
    inner = call.type(0)
    return HiveType.array(inner) if inner else None


def _map(call: Call) -> Type:
    key, value = common(call.types[::2]), common(call.types[1::2])
    return HiveType.map(key, value) if key and value and call.types else None


def _struct(call: Call) -> Type:
    return _of_fields([f"col{i}" for i in range(1, len(call.types) + 1)], call.types)


def _named_struct(call: Call) -> Type:
    return _of_fields(call.literals[::2], call.types[1::2])


def _of_fields(names: Sequence[str | None], types: Sequence[Type]) -> Type:
    pairs = zip(names, types, strict=False)
    fields = [(name.lower(), type_) for name, type_ in pairs if name is not None and type_]
    is_known = len(fields) == len(names) == len(types)
    return HiveType.struct(*fields) if is_known and fields else None


def _rounded(call: Call) -> Type:
    kind = call.type(0)
    if is_decimal(kind):
        return None  # depends on the number of digits: Spark knows
    return DOUBLE if is_text(kind) else kind


def _floored(call: Call) -> Type:
    kind = call.type(0)
    return BIGINT if is_integer(kind) or is_float(kind) or is_text(kind) else None


def _absolute(call: Call) -> Type:
    kind = call.type(0)
    if is_text(kind) or kind == FLOAT:
        return DOUBLE
    return INT if kind in (TINYINT, SMALLINT) else kind


def _remainder(call: Call) -> Type:
    return None if is_decimal(call.type(0)) else common(call.types)


def _keys(call: Call) -> Type:
    return HiveType.array(kind.children[0]) if (kind := _map_of(call)) else None


def _values(call: Call) -> Type:
    return HiveType.array(kind.children[1]) if (kind := _map_of(call)) else None


def _map_of(call: Call) -> Type:
    kind = call.type(0)
    return kind if kind is not None and kind.kind is Kind.MAP else None


def _union(call: Call) -> Type:
    members = [kind for kind in call.types[1:] if kind]
    is_known = members and len(members) == len(call.types) - 1
    return HiveType(Kind.UNION, (), tuple(members)) if is_known else None


def _members_of_union(call: Call) -> Type:
    kind = call.type(0)
    if kind is None or len(call.types) == 1:
        return kind and _without_unions(kind)
    text = call.texts[1]
    is_known = kind.kind is Kind.UNION and text.isdecimal() and int(text) < len(kind.children)
    return kind.children[int(text)] if is_known else None


def _without_unions(kind: HiveType) -> HiveType:
    inside = tuple(map(_without_unions, kind.children))
    if kind.kind is Kind.UNION:
        return HiveType.struct(*((f"tag_{i}", child) for i, child in enumerate(inside)))
    return replace(kind, children=inside, spelling="") if inside != kind.children else kind


_N_GRAMS = HiveType.array(
    HiveType.struct(("ngram", HiveType.array(STRING)), ("estfrequency", DOUBLE))
)
TYPES: dict[str, TypeRule] = {
    **_named(STRING, """
        concat_ws trim ltrim rtrim lpad rpad repeat reverse space
        substr substring mid substring_index regexp_replace regexp_extract replace translate chr
        initcap hex bin conv soundex format_number printf quote base64 decode md5 sha sha1 sha2
        get_json_object deserialize
        parse_url elt last_day next_day add_months from_unixtime date_format typeof uuid
        current_database current_user current_catalog current_schema array_join java_method reflect
        xpath_string version buildversion logged_in_user"""),
    **_named(INT, """
        length char_length character_length octet_length ascii instr locate find_in_set field
        levenshtein year month day dayofmonth dayofweek quarter weekofyear hour minute second
        datediff size row_number rank dense_rank ntile width_bucket array_position xpath_int hash
        murmur_hash"""),
    **_named(BIGINT, """
        approx_distinct count to_epoch_milli unix_timestamp to_unix_timestamp crc32 factorial
        xpath_long regr_count grouping grouping_id surrogate_key"""),
    **_named(DOUBLE, """
        sqrt exp ln log log2 log10 pow power cbrt sin cos tan asin acos atan sinh cosh tanh degrees
        radians e pi rand stddev std stddev_pop stddev_samp variance var_pop var_samp corr covar_pop
        covar_samp percent_rank cume_dist months_between xpath_double percentile_cont
        percentile_disc double"""),
    **_named(BOOLEAN, """
        isnull isnotnull array_contains likeany likeall istrue isfalse isnottrue isnotfalse
        is_not_distinct_from xpath_boolean boolean"""),
    **_named(DATE, "to_date date_add date_sub current_date date"),
    **_named(TIMESTAMP, """
        current_timestamp from_utc_timestamp to_utc_timestamp timestamp floor_year floor_quarter
        floor_month floor_week floor_day floor_hour floor_minute floor_second"""),
    **_named(BINARY, "unhex unbase64 encode aes_encrypt aes_decrypt binary"),
    **_named(HiveType.array(STRING), "split xpath"),
    **_named(_N_GRAMS, "ngrams context_ngrams"),
    **{type_.kind.value: type_ for type_ in (TINYINT, SMALLINT, INT, BIGINT, FLOAT, STRING)},
    **dict.fromkeys(("upper", "lower", "ucase", "lcase"), _text),
    "concat": lambda call: concatenated(call.types),
    "coalesce": _all, "nvl": _all, "greatest": _mixed, "least": _mixed,
    "if": lambda call: common(call.types[1:]),
    **dict.fromkeys(
        ("mask", "mask_first_n", "mask_last_n", "mask_show_first_n", "mask_show_last_n",
         "mask_hash"),
        _plain_text,
    ),
    "create_union": _union, "extract_union": _members_of_union,
    "datetime_legacy_hybrid_calendar": _first,
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
    "str_to_map": HiveType.map(STRING, STRING),
    "interval_year_month": YEAR_MONTH, "interval_day_time": DAY_TIME,
    "json_read": lambda call: HiveType.parse(text) if (text := call.literal(1)) else None,
    "shiftleft": lambda call: BIGINT if call.type(0) == BIGINT else INT,
    "shiftright": lambda call: BIGINT if call.type(0) == BIGINT else INT,
    "sign": lambda call: INT if is_decimal(call.type(0)) else DOUBLE,
}  # fmt: skip


def type_of_call(call: Call) -> Type:
    """Return the Hive type of a call's result."""
    rule = TYPES.get(call.name)
    return rule(call) if callable(rule) else rule
