"""How each of Hive's functions that Spark understands differently is said in Spark SQL."""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import pairwise

from hivesql.dialect.value_types import (
    TIMES,
    Type,
    element,
    group_of,
    is_decimal,
    is_float,
    is_number,
    is_text,
    kind_of,
)
from hivesql.expressions.calls import CONSTANTS, Call, Rule, rest, takes, unknown_if_any_null
from hivesql.expressions.comparisons import hold_maps, nulls_last, without_maps
from hivesql.expressions.composed_functions import BUILT, refuse_distinct, with_blanks
from hivesql.expressions.date_rules import DATE_RULES
from hivesql.expressions.function_types import type_of_call
from hivesql.expressions.hash_functions import HASHES
from hivesql.expressions.intervals import INTERVALS, TEXTS
from hivesql_planner.errors import SemanticError
from hivesql_planner.model.conversions import conversion
from hivesql_planner.model.hive_type import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DAY_TIME,
    DOUBLE,
    INSTANT,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TINYINT,
    VOID,
    YEAR_MONTH,
    HiveType,
    Kind,
    quote_name,
)
from hivesql_planner.statements.functions import CLASS_PREFIX

_NUMBER = re.compile(r"-?\s*(?:\d+\.?\d*|\.\d+)")
_NEGATED_EXACTLY = 34
"""Digits of a DECIMAL that Spark negates without rounding."""
_PACKINGS = ("gzip", "gzip(json-2.0)", "json-0.2")
"""How messages of the metastore's notification log may be packed."""

_OF_DELIMITER = (
    "concat(if(@2 < 0 AND length(substring_index(@0, @1, @2)) < length(@0), substr(@1, 2), ''), "
    "substring_index(@0, @1, @2))"
)
_NOTHING_IN_NOTHING = "if(concat(@0, '|', @1) = '|', 0, instr(@*))"


def _extreme(call: Call) -> str | None:
    if hold_maps(call.types):
        message = "Cannot support comparison of map<> type or complex type containing map<>."
        raise SemanticError(f"{message} That is what {call.name} would do")
    kind = call.type(0)
    is_distinct = "".join(call.texts[:1]).lower().startswith("distinct")
    if call.name == "max" or kind is None or not kind.children or is_distinct:
        return None  # to MAX, as to Spark, a NULL inside is the smallest
    return f"min_by(@0, {nulls_last(kind, '@0')})"


def _null_if_any_null(call: Call) -> str:
    """GREATEST and LEAST: NULL as soon as one argument is, but for texts that begin them."""
    takes(2, 10_000)(call)
    has_times = any(kind in TIMES for kind in call.types)
    is_mixed = any(map(is_text, call.types)) or (has_times and any(map(is_number, call.types)))
    target = type_of_call(call) if is_mixed else None
    arguments = originals = rest(call, 0)
    pairs = zip(call.types, originals, strict=True)
    if target == DOUBLE:
        arguments = [f"CAST({arg} AS DOUBLE)" for arg in originals]
    elif target == STRING:
        arguments = [f"CAST({text_of(kind, arg, call.zone)} AS STRING)" for kind, arg in pairs]
    elif target is not None and target in TIMES:
        arguments = [_converted(kind, arg, target, call.zone) for kind, arg in pairs]
    nulls = [f"{arg} IS NULL" for arg in originals]
    nulls += [f"({a} IS NOT NULL AND {b} IS NULL)" for a, b in pairwise(arguments) if is_mixed]
    return f"CASE WHEN {' OR '.join(nulls)} THEN NULL ELSE {call.name}({', '.join(arguments)}) END"


def text_of(kind: Type, argument: str, zone: str | None = None) -> str:
    """Tell how Hive writes a value into text: booleans in capitals, instants with their zone."""
    return argument if is_text(kind) else _converted(kind, argument, STRING, zone)


def _converted(kind: Type, argument: str, target: HiveType, zone: str | None) -> str:
    template = TEXTS.get(kind) if kind is not None and target == STRING else None
    template = template or conversion(kind, target, zone)
    return template.replace("@0", argument) if template else argument


def _as_texts(call: Call, start: int = 0) -> list[str]:
    """Return the arguments from a place on; beside a text, booleans and decimals become one."""
    mixed = any(map(is_text, call.types[start:]))
    return [
        text_of(kind, arg) if mixed and kind_of(kind) in (Kind.BOOLEAN, Kind.DECIMAL) else arg
        for kind, arg in zip(call.types[start:], rest(call, start), strict=True)
    ]


def _first_known(call: Call) -> str | None:
    arguments = _as_texts(call)
    is_whole = arguments == rest(call, 0) and (call.name == "coalesce" or len(arguments) == 2)
    return f"coalesce({', '.join(arguments)})" if arguments and not is_whole else None


def _concatenated(call: Call) -> str | None:
    places = rest(call, 0)
    pairs = zip(call.types, places, strict=True)
    arguments = [text_of(kind, arg, call.zone) for kind, arg in pairs]
    return f"concat({', '.join(arguments)})" if arguments != places else None


def _joined(call: Call) -> str | None:
    takes(2, 10_000)(call)
    for i, kind in enumerate(call.types[1:], 2):
        inside = element(kind) if kind_of(kind) is Kind.ARRAY else kind
        if is_number(inside) or inside in (BOOLEAN, BINARY, *TIMES):
            raise SemanticError(
                f'Argument {i} of function CONCAT_WS must be "string or array<string>", '
                f'but "{kind}" was found.',
                code=10016,
            )
    arrays = [i for i, kind in enumerate(call.types) if kind_of(kind) is Kind.ARRAY]
    if not arrays:
        return None
    # A NULL inside an array is written as it is; a NULL argument is left out, an empty array not.
    arguments = (
        f"array_join({arg}, @0, 'null')" if i in arrays else arg
        for i, arg in enumerate(rest(call, 0))
    )
    return f"concat_ws({', '.join(arguments)})"


def _first_byte(call: Call) -> str:
    """Hive gives the first byte of the text's UTF-8, with its sign; Spark the first character."""
    takes(1, 1)(call)
    byte = "CAST(conv(left(hex(CAST(@0 AS STRING)), 2), 16, 10) AS INT)"
    return f"if(ascii(@0) < 128, ascii(@0), {byte} - 256)"


def _replaced(call: Call) -> str | None:
    """Find an empty text before each character and at the end, as Java does."""
    takes(3, 3)(call)
    if call.literal(1):
        return None
    text, by = "CAST(@0 AS STRING)", "CAST(@2 AS STRING)"
    between = f"concat({by}, array_join(split({text}, ''), {by}), {by})"
    return f"if(@1 = '', if({text} = '', {by}, {between}), replace(@*))"


def _text_only(call: Call, others: Collection[Type]) -> None:
    if is_number(call.type(0)) or call.type(0) in others:
        raise SemanticError(
            f"{call.name} takes only STRING/CHAR/VARCHAR types. Found {call.type(0)}", code=10014
        )


def _length(call: Call) -> None:
    takes(1, 1)(call)
    _text_only(call, (BOOLEAN, VOID, *TIMES))


def _trimmed(call: Call) -> str | None:
    takes(1, 2)(call)
    _text_only(call, (BOOLEAN, *TIMES))
    sides = {"trim": "BOTH", "ltrim": "LEADING", "rtrim": "TRAILING"}
    return f"trim({sides[call.name]} @1 FROM @0)" if len(call.types) == 2 else None


def _quoted(call: Call) -> str:
    """Spark's own function came with 4.1."""
    text = text_of(call.type(0), "@0", call.zone)
    return f"concat(chr(39), replace({text}, chr(39), concat(chr(92), chr(39))), chr(39))"


def _padded(call: Call) -> str:
    takes(3, 3)(call)
    return f"{call.name}({text_of(call.type(0), '@0', call.zone)}, @1, nullif(@2, ''))"


def _part(call: Call) -> str | None:
    """Hive gives nothing where a negative start lies before the text, Spark what is left."""
    takes(2, 3)(call)
    if BIGINT in call.types[1:]:
        return _part_of_long(call)
    if call.texts[1].isdigit():
        return "substring(@*)" if call.name == "mid" else None
    return f"if(@1 < -length(@0), {_nothing(call)}, substring(@*))"


def _nothing(call: Call) -> str:
    """Write the empty value of the type that is cut."""
    return "X''" if call.type(0) == BINARY else "''"


def _part_of_long(call: Call) -> str:
    """Return a place that is no INT is NULL to Hive; Spark takes its lowest bits."""
    start, *others = (
        f"if({arg} BETWEEN {-(2**31)} AND {2**31 - 1}, CAST({arg} AS INT), NULL)"
        if kind == BIGINT
        else arg
        for arg, kind in zip(rest(call, 1), call.types[1:], strict=True)
    )
    cut = f"substring({', '.join(['@0', start, *others])})"
    return f"if({start} < -length(@0), {_nothing(call)}, {cut})"


def _position_in_list(call: Call) -> str:
    takes(2, 10_000)(call)
    # Values of other types are never the same in Hive.
    kinds = [kind_of(kind) for kind in call.types]
    tests = " ".join(
        f"WHEN @0 = @{i} THEN {i}"
        for i, kind in enumerate(kinds)
        if i and (kind == kinds[0] or {kind, kinds[0]} & {None, Kind.VOID})
    )
    return f"CASE {tests} ELSE 0 END" if tests else "0"


def _printed(call: Call) -> str | None:
    for i, kind in enumerate(call.types[1:], 2):
        if kind_of(kind) in (Kind.ARRAY, Kind.MAP, Kind.STRUCT):
            raise SemanticError(
                f'Argument {i} of function PRINTF must be "PRIMITIVE", but "{kind}" was found.',
                code=10016,
            )
    places = rest(call, 0)
    arguments = [
        _printable(kind, arg, call.zone) for kind, arg in zip(call.types, places, strict=True)
    ]
    return f"printf({', '.join(arguments)})" if arguments != places else None


def _printable(kind: Type, argument: str, zone: str | None) -> str:
    if is_decimal(kind):
        return f"CAST({argument} AS DOUBLE)"
    if kind in TIMES:
        return f"CAST({argument} AS STRING)"
    return text_of(kind, argument, zone) if kind == INSTANT else argument


def _joined_array(call: Call) -> str:
    takes(2, 3)(call)
    items, kind = "@0", element(call.type(0))
    if kind is not None and kind.kind in (Kind.ARRAY, Kind.MAP, Kind.STRUCT, Kind.CHAR):
        items = f"transform(@0, x -> if(x IS NULL, NULL, {_java_text(kind, 'x')}))"
    if is_decimal(kind):
        # Hive leaves out zeros behind the last digit here.
        items = "transform(@0, x -> regexp_replace(regexp_replace(CAST(x AS STRING), "
        items += "'([.][0-9]*?)0+$', '$1'), '[.]$', ''))"
    return f"if(size(@0) = 0, NULL, array_join({', '.join([items, *rest(call, 1)])}))"


def _java_text(kind: HiveType, value: str, depth: int = 0) -> str:
    """Write a value as Java writes Hive's lists, maps and structs, with all that is inside."""
    item = f"x{depth}"
    match kind.kind:
        case Kind.ARRAY:
            texts = f"transform({value}, {item} -> {_java_text(kind.children[0], item, depth + 1)})"
            return f"concat('[', array_join({texts}, ', ', 'null'), ']')"
        case Kind.STRUCT:
            parts = (
                _java_text(child, f"{value}.{quote_name(name)}", depth)
                for name, child in kind.fields
            )
            texts = ", ".join(f"coalesce({part}, 'null')" for part in parts)
            return f"concat('[', concat_ws(', ', {texts}), ']')"
        case Kind.MAP:
            sides = zip(("key", "value"), kind.children, strict=True)
            pair = (
                f"coalesce({_java_text(child, f'{item}.{side}', depth + 1)}, 'null')"
                for side, child in sides
            )
            pairs = f"transform(map_entries({value}), {item} -> concat_ws('=', {', '.join(pair)}))"
            return f"concat('{{', array_join({pairs}, ', '), '}}')"
        case Kind.CHAR:
            return f"rpad({value}, {kind.length}, ' ')"
        case Kind.BINARY:
            return f"regexp_replace(lower(hex({value})), '(..)(?=.)', '$1 ')"
    return f"CAST({value} AS STRING)"


def _not_nan(call: Call) -> str:
    return f"nanvl({call.name}(@*), CAST(NULL AS DOUBLE))"


def _logarithm(call: Call) -> str | None:
    if len(call.types) != 2:
        return None
    return "if(@0 <= 1, NULL, log(@0, @1))"


def _sign(call: Call) -> str | None:
    if is_float(call.type(0)):
        return "(sign(@0) + 0.0D)"  # of -0.0 it is 0.0
    return "CAST(sign(@0) AS INT)" if is_decimal(call.type(0)) else None


def _type_name(call: Call) -> str | None:
    """Name what Spark has another type for: it knows no CHAR, VARCHAR and unions."""
    kind, others = call.type(0), (INSTANT, DAY_TIME, YEAR_MONTH)
    is_other = kind and (kind.is_text or kind in others or kind.holds(Kind.UNION))
    return f"'{kind}'" if is_other else None


def _hex(call: Call) -> str | None:
    kind = call.type(0)
    return "hex(CAST(@0 AS STRING))" if is_decimal(kind) or is_float(kind) else None


def _split(call: Call) -> str | None:
    takes(2, 2)(call)
    characters = "if(@0 = '', array(''), concat(split(@0, ''), array('')))"
    return characters if call.literal(1) == "" else None


def _slice(call: Call) -> str:
    takes(3, 3)(call)
    # Hive gives nothing when the part is not wholly inside.
    return "if(@1 + @2 > size(@0), slice(@0, 1, 0), slice(@0, @1 + 1, @2))"


def _any_like(call: Call) -> str:
    word = "ANY" if call.name == "likeany" else "ALL"
    patterns = [f"@{i}" for i in range(1, len(call.types)) if call.literal(i) is None]
    return f"({unknown_if_any_null(f'@0 LIKE {word} (@1*)', patterns)})"


def _condition(call: Call) -> str | None:
    takes(3, 3)(call)
    kind = call.type(0)
    if kind not in (None, BOOLEAN, VOID):
        raise SemanticError(
            f'The first argument of function IF should be "boolean", but "{kind}" is found',
            code=10016,
        )
    arguments = _as_texts(call, 1)
    return f"if(@0, {', '.join(arguments)})" if arguments != rest(call, 1) else None


def _by_class(call: Call) -> str:
    """Call Hive's own class."""
    return f"{CLASS_PREFIX}{call.name}(@*)"


def _deserialized(call: Call) -> str:
    """Read a message of the metastore's notification log: plain, or packed and in base 64."""
    if len(call.types) != 2:
        raise SemanticError("The function deserialize accepts 2 arguments.", code=10014)
    for kind in call.types:
        if kind is not None and not is_text(kind):
            raise SemanticError("The arguments to deserialize must be a string/varchar", code=10016)
    packing = call.literal(1)
    if packing is not None and packing not in _PACKINGS:
        raise SemanticError(f"compressionFormat: {packing} is not supported.", code=10014)
    return _by_class(call)


def _random(call: Call) -> str | None:
    """With a seed, each task counts through the numbers of Java's generator, as in Hive."""
    return _by_class(call) if call.types else None


def _json_part(call: Call) -> str:
    takes(2, 2)(call)
    return _by_class(call)


def _map_of_text(call: Call) -> str:
    """CHAR has its blanks here, as in Hive; of NULL there is a map without entries."""
    takes(1, 3)(call)
    between = [f"coalesce(@{i}, '{usual}')" for i, usual in ((1, ","), (2, ":"))]
    arguments = [with_blanks(call), *between[: len(call.types) - 1]]
    return f"if(@0 IS NULL, CAST(map() AS MAP<STRING,STRING>), str_to_map({', '.join(arguments)}))"


def _of_map(call: Call) -> str:
    """There are none in NULL, where Spark gives NULL."""
    takes(1, 1)(call)
    return f"coalesce({call.name}(@0), array())"


def _with_key(call: Call) -> str:
    """Encryption by a key that is none is NULL."""
    takes(2, 2)(call)
    # What a key does not fit is NULL too.
    function = "try_aes_decrypt" if call.name == "aes_decrypt" else call.name
    return f"if(octet_length(@1) IN (16, 24, 32), {function}(@0, @1, 'ECB'), NULL)"


def _check_shares(call: Call) -> None:
    """Refuse shares in the text that are none, as Hive does before it reads a row."""
    listed = re.fullmatch(r"(?:array\s*\()?([-\s\d.,]+)\)?", call.texts[1], re.IGNORECASE)
    for share in map(str.strip, listed[1].split(",") if listed else ()):
        if not _NUMBER.fullmatch(share):
            return
        if not 0 < float(share.replace(" ", "")) < 1:
            message = f"{call.name} takes shares strictly between 0 and 1, not {share}"
            raise SemanticError(message, code=40000)


def _approximated(call: Call) -> str:
    """By the histogram of Hive's class, which is exact for as many values as it has bins."""
    refuse_distinct(call)
    takes(2, 3)(call)
    kind, shares = call.type(0), call.type(1)
    if kind not in (None, TIMESTAMP, VOID) and not is_number(kind):
        message = f"Only numeric type arguments are accepted but {kind} was passed as parameter 1."
        raise SemanticError(message, code=40000)
    is_list = shares is not None and shares.kind is Kind.ARRAY
    share = shares.children[0] if is_list and shares is not None else shares
    if share is not None and share.kind not in (Kind.FLOAT, Kind.DOUBLE, Kind.DECIMAL):
        message = (
            "Only a floating point or decimal, or floating point or decimal array argument is "
            f"accepted as parameter 2, but {str(share).upper()} was passed instead."
        )
        raise SemanticError(message, code=40000)
    _check_shares(call)
    if len(call.texts) > 2 and re.fullmatch(r"0+|-\s*[0-9]+", call.texts[2]):
        message = f"{call.name} takes one bin or more, not {call.texts[2]}"
        raise SemanticError(message, code=40000)
    arguments = [
        "CAST(@0 AS DOUBLE)",
        f"CAST(@1 AS {'ARRAY<DOUBLE>' if is_list else 'DOUBLE'})",
        *rest(call, 2),
    ]
    return f"{CLASS_PREFIX}{call.name}({', '.join(arguments)})"


def _ascending(call: Call) -> str | None:
    takes(1, 1)(call)
    return None


def _structure(call: Call) -> str:
    """Hive names the fields of STRUCT by number, Spark after columns."""
    fields = (f"'col{i}', {arg}" for i, arg in enumerate(rest(call, 0), 1))
    return f"named_struct({', '.join(fields)})"


def _same_category(call: Call) -> str | None:
    takes(2, 2)(call)
    left, right = call.types
    if left == VOID:
        raise SemanticError(
            "NULLIF may not accept types belonging to VOID_GROUP as first argument", code=10016
        )
    groups = {"bytes" if kind == BINARY else group_of(kind) for kind in (left, right)}
    if len(groups - {"void", None}) > 1:
        what = "The expressions after NULLIF should belong to the same category"
        raise SemanticError(f'{what}: "{left}" and "{right}"', code=10016)
    if kind_of(left) is Kind.MAP and kind_of(right) not in (Kind.MAP, None):
        raise SemanticError(
            f'The expressions after NULLIF should all have the same type: "{left}" is expected '
            f'but "{right}" is found',
            code=10016,
        )
    if left is None or right is None or not hold_maps((left, right)):
        return None
    entries = (without_maps(kind, f"@{i}") for i, kind in enumerate((left, right)))
    return f"if({' = '.join(entries)}, NULL, @0)"


def negated(kind: Type) -> str | None:
    """Return how a DECIMAL of more than 34 digits is negated; None for what Spark does exactly.

    Spark rounds it to 34 digits, so the sign is changed in its text.
    """
    if kind is None or not _is_rounded(kind):
        return None
    text = "CAST(@0 AS STRING)"
    turned = f"if(@0 < 0, substring({text}, 2), concat('-', {text}))"
    return f"CAST({turned} AS {kind.spark.upper()})"


def _map(call: Call) -> str | None:
    """Let a NULL in the text that is a key fail where it is evaluated, and no earlier."""
    # Tools ask by ``map(NULL, NULL)`` with ``WHERE false`` which type a column has.
    if not call.types:
        return "CAST(map() AS MAP<STRING,STRING>)"
    nested = [kind for kind in call.types[::2] if kind is not None and kind.is_nested]
    if nested:
        raise SemanticError(f'Primitive Type is expected but "{nested[0]}" is found', code=10016)
    if VOID in call.types[::2]:
        return "CAST(raise_error('Cannot use NULL as a key of a map') AS MAP<STRING,STRING>)"
    return None


def _absolute(call: Call) -> str | None:
    kind = call.type(0)
    if kind is not None and _is_rounded(kind):
        positive = f"CAST(substring(CAST(@0 AS STRING), 2) AS {kind.spark.upper()})"
        return f"if(@0 < 0, {positive}, @0)"
    wider = "DOUBLE" if is_float(kind) else "INT" if kind in (TINYINT, SMALLINT) else None
    return f"abs(CAST(@0 AS {wider}))" if wider else None


def _is_rounded(kind: HiveType) -> bool:
    return kind.kind is Kind.DECIMAL and kind.arguments[0] > _NEGATED_EXACTLY


RULES: dict[str, Rule] = {
    **DATE_RULES,
    **BUILT,
    **HASHES,
    **INTERVALS,
    **{name: f"'{text}'" for name, text in CONSTANTS.items()},
    "aes_encrypt": _with_key,
    "aes_decrypt": _with_key,
    "abs": _absolute,
    "negative": lambda call: negated(call.type(0)),
    "acos": _not_nan,
    "array": lambda call: None if call.types else "CAST(array() AS ARRAY<STRING>)",
    "map": _map,
    "positive": "@0",
    "array_contains": "coalesce(array_contains(@0, @1), false)",
    "array_join": _joined_array,
    "array_position": "CAST(array_position(@0, @1) AS INT)",
    "array_slice": _slice,
    "ascii": _first_byte,
    "asin": _not_nan,
    "char_length": _length,
    "character_length": _length,
    "concat": _concatenated,
    "concat_ws": _joined,
    # What does not begin with a digit is 0 to Hive; Spark leaves out blanks before it.
    "conv": lambda call: (
        "conv(regexp_replace(@0, '^ ', '.'), @1, @2)" if is_text(call.type(0)) else None
    ),
    "decode": takes(2, 2),
    "deserialize": _deserialized,
    "field": _position_in_list,
    "get_json_object": _json_part,
    "greatest": _null_if_any_null,
    "hex": _hex,
    "if": _condition,
    "index": "@0[@1]",
    "instr": lambda call: None if call.literal(1) else _NOTHING_IN_NOTHING,
    "is_not_distinct_from": "(@0 <=> @1)",
    "isfalse": "(@0 IS FALSE)",
    "isnotfalse": "(@0 IS NOT FALSE)",
    "isnottrue": "(@0 IS NOT TRUE)",
    "istrue": "(@0 IS TRUE)",
    "least": _null_if_any_null,
    "length": _length,
    "likeall": _any_like,
    "likeany": _any_like,
    "log": _logarithm,
    # Whom a server has let in, whose sessions know it: Hive's command line knows nobody.
    "logged_in_user": "CAST(NULL AS STRING)",
    "lpad": _padded,
    "ltrim": _trimmed,
    **dict.fromkeys(("in_file", "reflect2"), _by_class),
    **{name: f"{CLASS_PREFIX}{name}(@0, @1*)" for name in ("java_method", "reflect")},
    **dict.fromkeys(("map_keys", "map_values"), _of_map),
    **dict.fromkeys(("max", "min"), _extreme),
    "mid": _part,
    "nullif": _same_category,
    **dict.fromkeys(("coalesce", "nvl"), _first_known),
    "pmod": "(((@0) % (@1) + (@1)) % (@1))",
    "percentile_approx": _approximated,
    # With two arguments, and not before WITHIN GROUP.
    "percentile_cont": lambda call: "percentile(@0, @1)" if len(call.types) == 2 else None,
    "printf": _printed,
    "quote": _quoted,
    "replace": _replaced,
    "rpad": _padded,
    "rtrim": _trimmed,
    "sha2": lambda call: "if(@1 = 1, sha(@0), sha2(@0, @1))",
    "rand": _random,
    "sign": _sign,
    "sort_array": _ascending,
    "soundex": _by_class,
    "split": _split,
    "sqrt": _not_nan,
    "std": "stddev_pop(@*)",
    "stddev": "stddev_pop(@*)",
    "str_to_map": _map_of_text,
    "struct": _structure,
    "substr": _part,
    "substring": _part,
    # From the right, Hive leaves out one character of the delimiter alone.
    "substring_index": lambda call: None if len(call.literal(1) or "") == 1 else _OF_DELIMITER,
    "to_epoch_milli": "unix_millis(@0)",
    "trim": _trimmed,
    "typeof": _type_name,
    "variance": "var_pop(@*)",
    "width_bucket": "CAST(width_bucket(@*) AS INT)",
}  # fmt: skip
