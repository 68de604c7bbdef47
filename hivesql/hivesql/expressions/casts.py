"""Casts, and to what values of several types are brought."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from hivesql.dialect.edits import Edit, filled
from hivesql.dialect.nodes.constants import Members
from hivesql.dialect.structure import RANGE, place_of
from hivesql.dialect.value_types import (
    TIMES,
    Type,
    is_decimal,
    is_integer,
    is_number,
    is_text,
    kind_of,
)
from hivesql.expressions.calls import Call
from hivesql.expressions.checks.operands import becomes_nothing
from hivesql.expressions.comparisons import without_maps
from hivesql.expressions.date_rules import as_date, as_timestamp
from hivesql.expressions.function_rules import text_of
from hivesql.python_sqlglot import exp
from hivesql_planner.errors import NotSupported
from hivesql_planner.model.conversions import (
    WHOLE_NUMBERS,
    conversion,
    conversion_of_any,
    moment_of,
    nested_text,
)
from hivesql_planner.model.hive_type import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INSTANT,
    STRING,
    TIMESTAMP,
    VOID,
    HiveType,
    Kind,
    check_decimal,
    check_length,
)

_BESIDE_INSTANTS = {Kind.STRING, Kind.DATE, Kind.TIMESTAMP, Kind.INSTANT}
_BELOW_MICROSECOND = re.compile(r"\.\d{6}\d{0,2}[1-9]0{0,2}(?!\d)")
_NEVER = "CAST('+290000-01-01 00:00:00' AS TIMESTAMP)"
"""Later than all that Hive holds."""
_NEXT = "(@0 + INTERVAL '0.000001' SECOND)"


def cast_template(call: Call, target: HiveType) -> str | None:
    """Tell how Spark must cast the one argument of a call; None where both agree."""
    (source,) = call.types
    if source is not None and source.holds(Kind.UNION):
        raise NotSupported(f"CAST of {source}")
    text = text_of(source, "@0", call.zone)
    if source is not None and source.is_nested and target == STRING:
        return nested_text(source, "@0")
    if target.is_nested and source is not None and becomes_nothing(source, target):
        return f"CAST(NULL AS {target.spark})"
    if target.kind is Kind.DECIMAL:
        check_decimal(*target.arguments)
    if target.length is not None:
        check_length(target.kind, target.length)
        # Spark keeps such a cast as a plain string, Hive cuts it to length.
        cut = f"substring(CAST({text} AS STRING), 1, {target.length})"
        return f"rtrim({cut})" if target.kind is Kind.CHAR else cut
    if target == STRING and text != "@0":
        return text
    if target == TIMESTAMP and kind_of(source) in WHOLE_NUMBERS and _counts_seconds(call):
        return moment_of("seconds")
    template = write_template(call, target) if source is not None else None
    return "CAST(@0 AS TIMESTAMP_LTZ)" if template is None and target == INSTANT else template


def _counts_seconds(call: Call) -> bool:
    flag = "hive.int.timestamp.conversion.in.seconds"
    return call.settings is not None and call.settings.flag(flag)


def write_template(call: Call, target: HiveType) -> str | None:
    """Tell how Spark must see the one argument of a call that is written into a column.

    None where it is written as it stands.
    """
    (source,) = call.types
    if source is None:
        return conversion_of_any(target, call.zone)
    if is_text(source) and target in TIMES:
        template = as_date(call, 0) if target == DATE else as_timestamp(call, 0)
        return None if template == "@0" else template
    return conversion(source, target, call.zone)


def comparison(kinds: Sequence[Type]) -> Type:
    """Return the type to bring all to; None when they can be compared as they are."""
    typed = [kind for kind in kinds if kind not in (None, VOID)]
    # Texts of all sizes are one kind here.
    families = {Kind.STRING if is_text(kind) else kind_of(kind) for kind in typed}
    if len(families) < 2:
        return None
    numbers, times = any(map(is_number, typed)), any(kind in TIMES for kind in typed)
    if numbers and times:
        return DOUBLE if TIMESTAMP in typed else STRING
    if Kind.STRING in families and (numbers or BOOLEAN in typed):
        return DOUBLE
    if numbers and BOOLEAN in typed:
        return DOUBLE
    if INSTANT in typed and len(families) == len(families & _BESIDE_INSTANTS):
        return INSTANT
    if Kind.STRING in families and times:
        return TIMESTAMP if TIMESTAMP in typed else DATE
    if Kind.FLOAT in families and Kind.DECIMAL in families and Kind.DOUBLE not in families:
        return FLOAT
    return None


def compared_template(call: Call, target: Type) -> str:
    """Tell how Spark must see the one argument of a call that is compared as ``target``."""
    (kind,) = call.types
    if target == DATE and is_text(kind):
        return as_date(call, 0)
    if target == TIMESTAMP and is_text(kind):
        return as_timestamp(call, 0)
    if target == INSTANT and kind != target:
        return cast_template(call, INSTANT) or "@0"
    if target is not None and target in (DOUBLE, FLOAT, STRING) and kind != target:
        return f"CAST(@0 AS {target.kind.upper()})"
    return without_maps(kind, "@0") if kind is not None else "@0"


def membership_edit(
    node: exp.In, kinds: Sequence[Type], call_of: Callable[[str, Type, None], Call]
) -> Edit | None:
    """Tell what to write instead of IN whose values are compared in several types.

    Hive makes an IN of the values of each type, and joins these by OR. None where one type is
    enough, or where only Spark knows a type.
    """
    first, *others = kinds
    if None in kinds or Kind.CHAR in map(kind_of, kinds):
        return None
    values: dict[Type, list[int]] = {}
    for i, kind in enumerate(others, 1):
        if kind != VOID:
            values.setdefault(comparison((first, kind)), []).append(i)
    if len(values) < 2 or VOID == first:
        return None
    next(iter(values.values())).extend(i for i, kind in enumerate(others, 1) if kind == VOID)
    lists = []
    for target, places in values.items():
        seen, *members = (
            compared_template(call_of("", kinds[i], None), target).replace("@0", f"@{i}")
            for i in (0, *places)
        )
        lists.append(f"{seen} IN ({', '.join(members)})")
    return _written_instead(node, " OR ".join(lists), (node.this, *node.expressions))


def expand_members(
    node: exp.In, type_of: Callable[[exp.Expr], Type], leave: Callable[[exp.Expr], None]
) -> None:
    """Make nodes of the values of a long IN that are not compared as they are written."""
    parts = [node.this, *node.expressions]
    members = [part for part in parts if isinstance(part, Members)]
    kinds = [type_of(part) for part in parts]
    if not members or None in kinds:
        return
    if comparison(kinds) is None and not compares_as_char(node, parts, kinds):
        return
    values = members[0].expand()
    for value in values:
        if isinstance(value, exp.Neg):
            leave(value.this)
        leave(value)
    members[0].replace(values)


def rows_membership_edit(node: exp.In) -> Edit:
    """Tell what to write instead of ``(a, b) IN ((1, 2), …)``.

    It is unknown where a NULL could make a row equal, as in Hive; Spark compares structs, of which
    a NULL is a value.
    """
    width = len(node.this.expressions)
    rows = (
        " AND ".join(f"@{i} = @{first + i}" for i in range(width))
        for first in range(width, width * (len(node.expressions) + 1), width)
    )
    parts = [part for row in (node.this, *node.expressions) for part in row.expressions]
    return _written_instead(node, " OR ".join(f"({row})" for row in rows), parts)


def _written_instead(node: exp.In, template: str, arguments: Sequence[exp.Expr]) -> Edit:
    # NOT IN is written as one: only the whole has a place.
    whole = node if RANGE in node.meta or node.parent is None else node.parent
    negation = "" if whole is node else "NOT "
    parts = list(map(place_of, arguments))
    return Edit(*place_of(whole), "", tuple(filled(f"{negation}({template})", parts)))


def compares_as_char(node: exp.Expr, parts: Sequence[exp.Expr], kinds: Sequence[Type]) -> bool:
    """Tell whether Hive makes CHAR of the literals of a comparison.

    It does beside a column, and an aggregate of one, not beside other expressions.
    """
    if isinstance(node, (exp.Between, exp.NullSafeEQ)):
        return False
    columns = (
        kind
        for part, kind in zip(parts, kinds, strict=True)
        if isinstance(part, exp.Column)
        or (isinstance(part, exp.Anonymous) and part.name.lower() in ("min", "max"))
    )
    return Kind.CHAR in map(kind_of, columns)


def without_blanks(literal: str) -> str:
    """Return a literal as it compares with CHAR; ``@0`` for one without blanks at its end."""
    if not literal.rstrip("'\"").endswith(" "):
        return "@0"
    plain = literal[-1] in "'\"" and "@" not in literal
    return literal[:-1].rstrip(" ") + literal[-1] if plain else "rtrim(@0)"


def unsafe(left: Type, right: Type) -> bool:
    """Refuse what hive.strict.checks.type.safety does: large numbers beside texts or doubles."""
    for kind, other in ((left, right), (right, left)):
        if is_text(other) and (kind == BIGINT or is_decimal(kind)):
            return True
        if kind == BIGINT and other == DOUBLE:
            return True
    return False


def times_between(
    node: exp.Expr,
    parts: Sequence[exp.Expr],
    kinds: Sequence[Type],
    written: Callable[[exp.Expr], str],
) -> Iterator[tuple[exp.Expr, str]]:
    """Yield the constants of a comparison that must be others, and the templates of these.

    Spark cuts a constant to its microsecond: nothing is equal to it, and what is not before it
    begins with the next microsecond.
    """
    if TIMESTAMP not in kinds or not all(_becomes_time(kind) for kind in kinds):
        return
    for i, part in enumerate(parts):
        template = _next_or_never(node, i)
        if template is not None and _is_constant(part) and _BELOW_MICROSECOND.search(written(part)):
            yield part, template


def _next_or_never(node: exp.Expr, place: int) -> str | None:
    match node:
        case exp.LT() | exp.GTE():
            return _NEXT if place == 1 else None
        case exp.GT() | exp.LTE():
            return _NEXT if place == 0 else None
        case exp.Between():
            return _NEXT if place == 1 else None
    return _NEVER


def _becomes_time(kind: Type) -> bool:
    return kind in (TIMESTAMP, VOID) or is_text(kind)


def _is_constant(node: exp.Expr) -> bool:
    """Tell whether it is a text, TIMESTAMP '…' or the CAST of a text."""
    inside = node.this if isinstance(node, exp.Cast) else node
    return isinstance(inside, exp.Literal) and inside.is_string


def with_digits(parts: tuple[exp.Expr, ...], kinds: tuple[Type, Type]) -> tuple[Type, Type]:
    """Beside a decimal, a whole number in the text is a decimal of just its digits."""
    if not any(map(is_decimal, kinds)):
        return kinds
    left, right = (
        HiveType.decimal(len(part.name), 0)
        if isinstance(part, exp.Literal) and is_integer(kind)
        else kind
        for part, kind in zip(parts, kinds, strict=True)
    )
    return left, right
