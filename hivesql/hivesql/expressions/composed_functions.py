"""Functions of Hive that Spark lacks, built from expressions that it has."""

from __future__ import annotations

import re

from hivesql.dialect.value_types import field_of
from hivesql.expressions.calls import Call, Rule, rest, takes
from hivesql_planner.errors import NotSupported, SemanticError
from hivesql_planner.model.conversions import with_scale
from hivesql_planner.model.hive_type import (
    DATE,
    INT,
    INTEGERS,
    MOST_DIGITS,
    STRING,
    UNION_TAG,
    VOID,
    HiveType,
    Kind,
    member_name,
    quote_name,
)
from hivesql_planner.statements.functions import CLASS_PREFIX
from hivesql_planner.statements.surrogate_keys import counted_key

_PARTS = ("HOST", "PATH", "QUERY", "REF", "PROTOCOL", "AUTHORITY", "FILE", "USERINFO")
_BEFORE_POINT = re.compile(r"-\s*(\d+)")


def _url_parts(call: Call) -> str:
    """Give one row with a column for each part that is asked for."""
    takes(2, 10_000)(call)
    columns = []
    for i in range(1, len(call.types)):
        part_text = call.literal(i)
        if part_text is None:
            raise NotSupported("parse_url_tuple with parts that are no constants")
        part, colon, key = part_text.partition(":")
        if part not in _PARTS or (colon and part != "QUERY"):
            expression = "CAST(NULL AS STRING)"
        elif colon:
            quoted = key.replace("\\", "\\\\").replace("'", "\\'")
            expression = f"parse_url(@0, 'QUERY', '{quoted}')"
        else:
            expression = f"parse_url(@0, '{part}')"
        columns.append(f"'c{i - 1}', {expression}")
    return f"inline(array(named_struct({', '.join(columns)})))"


def _sorted_by_fields(call: Call) -> str:
    """Structs in the order of some of their fields; NULLs are the smallest."""
    takes(2, 10_000)(call)
    names = [call.literal(i) for i in range(1, len(call.types))]
    if any(name is None for name in names):
        raise NotSupported("sort_array_by with fields that are no constants")
    fields = [str(name).lower() for name in names]
    order = fields.pop() if fields[-1] in ("asc", "desc") and len(fields) > 1 else "asc"
    kind = call.type(0)
    member = kind.children[0] if kind is not None and kind.kind is Kind.ARRAY else None
    for field in fields:
        if member is not None and field_of(member, field) is None:
            raise SemanticError(f"{field} is not in the struct field names of sort_array_by",
                                code=10016)  # fmt: skip
    less, more = ("-1", "1") if order == "asc" else ("1", "-1")
    tests = " ".join(
        f"WHEN NOT (a.{name} <=> b.{name}) THEN CASE WHEN a.{name} IS NULL OR "
        f"a.{name} < b.{name} THEN {less} ELSE {more} END"
        for name in map(quote_name, fields)
    )
    return f"array_sort(@0, (a, b) -> CASE {tests} ELSE 0 END)"


def discrete_percentile(share: str, value: str, *, descending: bool = False) -> str:
    """Return the value at a share of the sorted ones; between two of them the later, as in Hive."""
    place = f"CAST(ceil({share} * (count({value}) - 1)) AS INT)"
    order = "false" if descending else "true"
    return f"CAST(sort_array(collect_list({value}), {order})[{place}] AS DOUBLE)"


def _percentile_disc(call: Call) -> str | None:
    takes(1, 2)(call)  # one before WITHIN GROUP
    return discrete_percentile("@1", "@0") if len(call.types) == 2 else None


_PARTS_OF_DATE = ((6, "1", range(1, 32)), (7, "0", range(12)), (8, "0", None))
"""Day, month and year in a call: their places, what stands for them, and what they can be."""
_USUAL_MASKS = ("'X'", "'x'", "'n'", "NULL")
"""What stands for capitals, small letters, digits and all others."""
_MASKED = ("mask", "mask_first_n", "mask_last_n", "mask_show_first_n", "mask_show_last_n")


def _masked(call: Call) -> str | None:
    """Mask letters and digits of texts, the digits of whole numbers, and parts of dates."""
    kind = call.type(0)
    if kind is not None and kind.kind in INTEGERS:
        return _masked_number(call, kind)
    if kind == DATE:
        return _masked_date(call)
    if kind is not None and not _is_hidden_as_text(kind):
        return f"CAST(NULL AS {kind.spark})"
    text = with_blanks(call)
    # Blanks of a CHAR are masked with the rest; those that are left mean nothing.
    return _masked_text(call, text) if text == "@0" else f"rtrim({_masked_text(call, text)})"


def _is_hidden_as_text(kind: HiveType) -> bool:
    return kind.is_text or kind == VOID


def _masked_text(call: Call, text: str) -> str:
    if call.name == "mask":
        # Spark keeps letters for NULL, and knows nothing of the digit and the parts of a date.
        others = (
            "NULL" if _is_unmasked(call, i) else _masking(call, i)
            for i in range(1, len(call.types[:5]))
        )
        return f"mask({', '.join([text, *others])})"
    if len(call.types) > 2:
        return f"{CLASS_PREFIX}{call.name}({', '.join([text, *rest(call, 1)])})"
    return _with_parts(call, text, "mask({})")


def _masking(call: Call, i: int) -> str:
    """Return what letters are masked by: the first of a text; of an empty one what is usual."""
    literal = call.literal(i)
    if literal == "" or call.type(i) == VOID:
        return _USUAL_MASKS[i - 1]
    # Spark takes constants of one letter alone.
    is_one = literal is None or len(literal) == 1 or not literal[0].isalnum()
    return f"@{i}" if is_one or literal is None else f"'{literal[0]}'"


def with_blanks(call: Call) -> str:
    """Give a text its blanks where it is CHAR: some functions of Hive see them."""
    kind = call.type(0)
    return f"rpad(@0, {kind.length}, ' ')" if kind and kind.kind is Kind.CHAR else "@0"


def _is_unmasked(call: Call, i: int) -> bool:
    return (call.literal(i) or call.texts[i]) == "-1"


def _with_parts(call: Call, text: str, mask: str) -> str:
    """Mask the part of a text that a function's name tells; ``mask`` says how."""
    n = _characters(call)
    cut = f"greatest(length({text}) - {n}, 0)"
    first, after = f"substring({text}, 1, {n})", f"substring({text}, {n} + 1)"
    before, last = f"substring({text}, 1, {cut})", f"substring({text}, {cut} + 1)"
    return {
        "mask": mask.format(text),
        "mask_first_n": f"concat({mask.format(first)}, {after})",
        "mask_last_n": f"concat({before}, {mask.format(last)})",
        "mask_show_first_n": f"concat({first}, {mask.format(after)})",
        "mask_show_last_n": f"concat({mask.format(before)}, {last})",
    }[call.name]


def _characters(call: Call) -> str:
    """Return how many are masked or shown: less than none is none."""
    if call.name == "mask" or len(call.types) < 2:
        return "4"
    if call.literal(1) is not None:
        _number(call, 1)
    return "greatest(CAST(@1 AS INT), 0)"


def _masked_number(call: Call, kind: HiveType) -> str:
    """Put a digit in the place of others; what does not fit the type then loses its first bits."""
    place = 5 if call.name == "mask" else 6
    is_given = place < len(call.types) and call.literal(place) != ""
    digits_text = _number(call, place) if is_given else "1"
    digit = digits_text if len(digits_text) == 1 else "1"
    digits = "CAST(abs(CAST(@0 AS DECIMAL(20,0))) AS STRING)"
    masked = _with_parts(call, digits, f"repeat('{digit}', length({{}}))")
    number = f"CAST(CAST(concat(if(@0 < 0, '-', ''), {masked}) AS DECIMAL(38,0)) AS BIGINT)"
    return f"CAST({number} AS {kind})"


def _masked_date(call: Call) -> str:
    """Put other parts in the place of a date's: by default the first day of the year 0."""
    if call.name != "mask":
        return "if(@0 IS NULL, NULL, DATE '0000-01-01')"
    day, month, year = (
        _part_of_date(call, i, default, allowed) for i, default, allowed in _PARTS_OF_DATE
    )
    parts = (
        "year(@0)" if year == "-1" else year,
        "month(@0)" if month == "-1" else f"{month} + 1",
        "day(@0)" if day == "-1" else day,
    )
    return f"if(@0 IS NULL, NULL, make_date({', '.join(parts)}))"


def _part_of_date(call: Call, i: int, default: str, allowed: range | None) -> str:
    """Return what is given for a part, -1 for the date's own; what it cannot be counts for none."""
    part = _number(call, i) if i < len(call.types) else default
    return part if part == "-1" or allowed is None or int(part) in allowed else default


def _number(call: Call, i: int) -> str:
    """Return a whole number that may be written as a text, as Hive takes those of masks."""
    number = call.literal(i) or call.texts[i]
    if not re.fullmatch("-?[0-9]+", number):
        raise SemanticError(f"{call.name} takes a whole number here, not {number}")
    return number


def _masked_hash(call: Call) -> str:
    takes(1, 1)(call)
    kind = call.type(0)
    if kind is not None and not _is_hidden_as_text(kind):
        return f"CAST(NULL AS {kind.spark})"
    algorithm = call.settings.text("hive.masking.algo") if call.settings else ""
    bits = 512 if algorithm.strip().lower() == "sha512" else 256
    return f"sha2({with_blanks(call)}, {bits})"


def _json(call: Call) -> str:
    """Read JSON level by level: unlike Spark, Hive finds fields without regard to their case."""
    takes(2, 2)(call)
    kind_text = call.literal(1)
    if kind_text is None:
        return "from_json(@0, @1)"
    # In a list Spark also reads what is no object; Hive fails on what is no JSON, too.
    value = "get(from_json(concat('[', @0, ']'), 'array<string>', map('mode', 'FAILFAST')), 0)"
    return f"transform(array({value}), x -> {_of_json('x', HiveType.parse(kind_text))})[0]"


def _of_json(text: str, kind: HiveType, depth: int = 0) -> str:
    """Return the value of a type that a text of JSON holds, by Jackson's conversions."""
    inside, item, entry = kind.children, f"x{depth}", f"e{depth}"
    entries = f"map_entries(from_json({text}, 'map<string,string>'))"
    match kind.kind:
        case Kind.ARRAY:
            value = _of_json(item, inside[0], depth + 1)
            return f"transform(from_json({text}, 'array<string>'), {item} -> {value})"
        case Kind.MAP:
            pair = ", ".join(
                _of_json(f"{entry}.{part}", child, depth + 1)
                for part, child in zip(("key", "value"), inside, strict=True)
            )
            return f"map_from_entries(transform({entries}, {entry} -> struct({pair})))"
        case Kind.STRUCT:
            lowered = f"transform({entries}, {entry} -> struct(lower({entry}.key), {entry}.value))"
            fields = ", ".join(
                f"{name}, {_of_json(f'{item}[{name}]', child, depth + 1)}"
                for name, child in ((_quoted(name), child) for name, child in kind.fields)
            )
            fields_text = f"if({item} IS NULL, NULL, named_struct({fields}))"
            return f"transform(array(map_from_entries({lowered})), {item} -> {fields_text})[0]"
        case Kind.VARCHAR | Kind.CHAR:
            return f"substring({text}, 1, {kind.length})"
        case Kind.BINARY:
            return f"unbase64({text})"
        case Kind.BOOLEAN:
            return f"(NOT trim({text}) IN ('false', '0'))"
    if kind.kind in INTEGERS:
        whole = f"if({text} RLIKE '^ *[+-]?[0-9]+ *$', CAST({text} AS BIGINT), NULL)"
        other = f"CAST(CAST({text} AS DOUBLE) AS BIGINT), if({text} = 'true', 1, 0)"
        return f"if({text} IS NULL, NULL, CAST(coalesce({whole}, {other}) AS {kind.spark}))"
    return text if kind.is_text else f"CAST({text} AS {kind.spark})"


def _quoted(name: str) -> str:
    escaped = name.lower().replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _surrogate_key(call: Call) -> str:
    """Join write id, task and row of the task in 64 bits; the first two have 24 and 16 or so."""
    takes(0, 2)(call)
    if len(call.texts) == 1:
        raise SemanticError("The function SURROGATE_KEY takes 0 or 2 integer arguments (write id "
                            "bits, taks id bits), but found 1", code=10015)  # fmt: skip
    if not all(text.isdigit() for text in call.texts):
        raise SemanticError("The function SURROGATE_KEY takes only integer constants", code=10016)
    of_write, of_task = map(int, call.texts or ("24", "16"))
    for called, bits in (("Write ID", of_write), ("Task ID", of_task)):
        if not 1 <= bits <= 62:
            what = f"{called} bits must be between 1 and 62 (value: {bits})"
            raise SemanticError(what, code=40000)
    of_row = 64 - of_write - of_task
    if of_row < 2:
        what = "Write ID bits + Task ID bits must be less than 63"
        raise SemanticError(f"{what} (value: {of_write + of_task})", code=40000)
    return counted_key(of_write, of_task)


def refuse_distinct(call: Call) -> None:
    """Refuse DISTINCT inside of an aggregate that Hive does not run with it either."""
    if call.texts and call.texts[0].lower().startswith("distinct"):
        # Hive fails too, in words about its own classes.
        message = f"{call.name} takes no DISTINCT: select the distinct values in a subquery"
        raise SemanticError(message, code=40000)


def _n_grams(call: Call) -> str:
    """Call Hive's own class once what it checks of types has been checked."""
    refuse_distinct(call)
    if len(call.types) not in (3, 4):
        message = "Please specify either three or four arguments."
        raise SemanticError(f"{call.name}: {message}", code=40000)
    words = call.type(0)
    if words is not None and words.kind is not Kind.ARRAY:
        raise _unfit("list type arguments", words, 1)
    if words is not None and STRING not in (words.children[0], *words.children[0].children):
        message = "Only array<string> or array<array<string>> is allowed, but"
        raise SemanticError(f"{message} {words} was passed as parameter 1.", code=40000)
    context = call.name == "context_ngrams"
    if context and (kind := call.type(1)) is not None and kind.kind is not Kind.ARRAY:
        raise _unfit("arrays of strings", kind, 2)
    for i in range(2 if context else 1, len(call.types)):
        if (kind := call.type(i)) is not None and kind.kind not in INTEGERS:
            raise _unfit("integers", kind, i + 1)
    # Nothing but NULLs: Hive's class wants texts.
    arguments = ["@0", "CAST(@1 AS ARRAY<STRING>)" if context else "@1", *rest(call, 2)]
    return f"{CLASS_PREFIX}{call.name}({', '.join(arguments)})"


def _unfit(what: str, kind: HiveType, place: int) -> SemanticError:
    message = f"Only {what} are accepted but {kind} was passed as parameter {place}."
    return SemanticError(message, code=40000)


def _estimated_count(call: Call) -> str:
    """Count distinct values by a sketch, exactly up to some hundreds; it takes no empty text."""
    refuse_distinct(call)
    if len(call.types) != 1:
        raise SemanticError("Function only takes 1 parameter", code=40000)
    kind = call.type(0)
    if kind is not None and kind.kind in (Kind.ARRAY, Kind.MAP):
        message = f"Only primitive/struct rows are accepted but {kind} was passed."
        raise SemanticError(message, code=40000)
    return "hll_sketch_estimate(hll_sketch_agg(concat('=', CAST(@0 AS STRING))))"


def _union(call: Call) -> str:
    """Make a union of a tag and its members: a struct in which only the tag's member is set."""
    if len(call.types) < 2:
        raise SemanticError("create_union takes a tag and at least one value", code=40000)
    if call.type(0) not in (INT, None):
        raise SemanticError(f"The tag of create_union is an int, not {call.type(0)}", code=40000)
    last = len(call.types) - 2
    wrong = f"raise_error(concat('create_union: the tag is ', @0, ', and not 0 to {last}'))"
    tag = f"CAST(if(@0 BETWEEN 0 AND {last}, @0, {wrong}) AS TINYINT)"
    members = (f"'{member_name(i)}', if(@0 = {i}, @{i + 1}, NULL)" for i in range(last + 1))
    return f"named_struct('{UNION_TAG}', {tag}, {', '.join(members)})"


def _member_of_union(call: Call) -> str:
    """Give the member with a tag, or structs in the place of all unions in a value."""
    takes(1, 2)(call)
    kind = call.type(0)
    if kind is None:
        raise NotSupported("extract_union of a value whose type is not known here")
    if len(call.types) == 2:
        if kind.kind is not Kind.UNION or not call.texts[1].isdecimal():
            types = ", ".join(map(str, call.types))
            message = "Expected a type containing a union or a union and an int constant"
            raise SemanticError(f"Unsupported arguments. {message}, got: [{types}]", code=10014)
        if (tag := int(call.texts[1])) >= len(kind.children):
            expected = f"Expected 0-{len(kind.children) - 1} got: {tag}"
            message = f"int constant must be a valid union tag for {kind}. {expected}"
            raise SemanticError(message, code=10014)
        return f"(@0).`{member_name(tag)}`"
    if not kind.holds(Kind.UNION):
        raise SemanticError(f"No unions found in {kind}", code=40000)
    return without_unions(kind, "@0")


def without_unions(kind: HiveType, value: str, depth: int = 0) -> str:
    """Write a value whose unions are structs of their members, named by their tags."""
    if not kind.holds(Kind.UNION):
        return value
    item, deeper = f"`_union{depth}`", depth + 1
    match kind.kind:
        case Kind.ARRAY:
            inside = without_unions(kind.children[0], item, deeper)
            return f"transform({value}, {item} -> {inside})"
        case Kind.MAP:
            pair = (
                without_unions(child, f"{item}.{part}", deeper)
                for part, child in zip(("key", "value"), kind.children, strict=True)
            )
            entries = f"transform(map_entries({value}), {item} -> struct({', '.join(pair)}))"
            return f"map_from_entries({entries})"
    if kind.kind is Kind.UNION:
        names = [(f"tag_{i}", member_name(i)) for i in range(len(kind.children))]
    else:
        names = [(name, name) for name, _ in kind.fields]
    fields = (
        f"{_quoted(name)}, {without_unions(child, f'({value}).{quote_name(field)}', deeper)}"
        for (name, field), child in zip(names, kind.children, strict=True)
    )
    return f"if({value} IS NULL, NULL, named_struct({', '.join(fields)}))"


def _exact_percentile(call: Call) -> str | None:
    """Weigh two neighbours as Hive's class does, not by their distance, which ends in other digits.

    An empty list for an empty list of shares, unless there is no value.
    """
    if call.texts and re.match(r"distinct\b", call.texts[0], re.IGNORECASE):
        # One argument to the parser. Spark's own class knows how to leave values out.
        return None
    takes(2, 2)(call)
    if re.fullmatch(r"array\s*\(\s*\)", call.texts[1], re.IGNORECASE):
        return "CASE WHEN count(@0) > 0 THEN CAST(array() AS ARRAY<DOUBLE>) END"
    share = call.type(1)
    if share is None or share.kind is Kind.VOID:
        return None
    kind = "ARRAY<DOUBLE>" if share.kind is Kind.ARRAY else "DOUBLE"
    return f"{CLASS_PREFIX}percentile(CAST(@0 AS BIGINT), CAST(@1 AS {kind}))"


def _grouping_bits(call: Call) -> str:
    """Put the bits of the columns together: Spark's grouping_id wants all that is grouped."""
    last = len(call.types) - 1
    bits = (
        f"shiftleft(CAST(grouping(@{i}) AS BIGINT), {last - i})" for i in range(len(call.types))
    )
    return f"({' + '.join(bits)})" if last else "CAST(grouping(@0) AS BIGINT)"


def _rounded(call: Call) -> str | None:
    """Round a DECIMAL to the digits that Hive's has then.

    NULL for one of 38 digits that is rounded to one more, where Spark fails.
    """
    kind = call.type(0)
    if kind is None or kind.kind is not Kind.DECIMAL or len(call.texts) != 2:
        return None
    plain = f"{call.name}(@*)"
    rounded = with_scale(plain, kind, call.texts[1])
    if rounded != plain:
        return rounded
    digits = _BEFORE_POINT.fullmatch(call.texts[1])
    if kind != HiveType.decimal(MOST_DIGITS, 0) or digits is None:
        return None
    dropped = int(digits[1])
    if not 0 < dropped <= MOST_DIGITS:
        return None
    least = 10**MOST_DIGITS - 5 * 10 ** (dropped - 1)
    # What is as near to nothing is even.
    least += call.name == "bround" and dropped == MOST_DIGITS
    ends = " OR ".join(
        f"@0 {beyond}= CAST('{sign}{least}' AS DECIMAL(38,0))"
        for beyond, sign in ((">", ""), ("<", "-"))
    )
    return f"if({ends}, NULL, {plain})"


BUILT: dict[str, Rule] = {
    "grouping": _grouping_bits,
    "xpath": "array_compact(xpath(@*))",  # an element has no text of its own
    "create_union": _union,
    "extract_union": _member_of_union,
    "approx_distinct": _estimated_count,
    **dict.fromkeys(("ngrams", "context_ngrams"), _n_grams),
    "surrogate_key": _surrogate_key,
    "json_read": _json,
    **dict.fromkeys(_MASKED, _masked),
    "mask_hash": _masked_hash,
    "parse_url_tuple": _url_parts,
    "percentile": _exact_percentile,
    "percentile_disc": _percentile_disc,
    **dict.fromkeys(("round", "bround"), _rounded),
    "sort_array_by": _sorted_by_fields,
    "histogram_numeric": "histogram_numeric(CAST(@0 AS DOUBLE), @1)",
}
