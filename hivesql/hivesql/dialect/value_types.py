"""Types of expressions by Hive's rules.

``None`` is a type that is not known here; Spark then decides.
"""

from __future__ import annotations

from collections.abc import Sequence

from hivesql_planner.model.hive_type import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    FLOATS,
    INSTANT,
    INTEGERS,
    INTERVALS,
    LONGEST,
    MOST_DIGITS,
    STRING,
    TIMESTAMP,
    VOID,
    HiveType,
    Kind,
)

Type = HiveType | None

TIMES = (DATE, TIMESTAMP)
_MINIMUM_ADJUSTED_SCALE = 6
"""Digits behind the point that a decimal of more than 38 digits keeps."""
_WIDTHS = (Kind.TINYINT, Kind.SMALLINT, Kind.INT, Kind.BIGINT)


def kind_of(type_: Type) -> Kind | None:
    """Return what a type is apart from its sizes; None where it is not known."""
    return None if type_ is None else type_.kind


def is_text(type_: Type) -> bool:
    """Tell whether it is STRING, VARCHAR or CHAR."""
    return type_ is not None and type_.is_text


def is_number(type_: Type) -> bool:
    """Integers, FLOAT, DOUBLE, DECIMAL."""
    return type_ is not None and type_.is_number


def is_integer(type_: Type) -> bool:
    """TINYINT, SMALLINT, INT, BIGINT."""
    return kind_of(type_) in INTEGERS


def is_float(type_: Type) -> bool:
    """FLOAT and DOUBLE."""
    return kind_of(type_) in FLOATS


def is_decimal(type_: Type) -> bool:
    """Tell whether it is DECIMAL."""
    return kind_of(type_) is Kind.DECIMAL


def is_interval(type_: Type) -> bool:
    """Either of the two kinds of intervals."""
    return kind_of(type_) in INTERVALS


def _fitted(precision: int, scale: int) -> HiveType:
    """Hive's cut of decimals above 38 digits: six digits after the point are kept."""
    if precision > MOST_DIGITS:
        integral_digits = precision - scale
        scale = max(MOST_DIGITS - integral_digits, min(scale, _MINIMUM_ADJUSTED_SCALE))
        precision = MOST_DIGITS
    return HiveType.decimal(precision, scale)


def arithmetic(operator: str, left: Type, right: Type) -> Type:
    """Return the type of ``left operator right`` for numbers and texts."""
    if left is None or right is None:
        return None
    if left.is_text or right.is_text or DOUBLE in (left, right):
        return DOUBLE
    if not (left.is_number and right.is_number):
        return None
    has_decimal = is_decimal(left) or is_decimal(right)
    if operator == "/" and not has_decimal:
        return DOUBLE
    if FLOAT in (left, right):
        return DOUBLE if operator == "/" else FLOAT
    if not has_decimal:
        return _wider(left, right)
    a, b = left.digits, right.digits
    return _decimal_result(operator, a, b) if a and b else None


def _wider(left: HiveType, right: HiveType) -> HiveType:
    """Return the longer of two integers."""
    return max(left, right, key=lambda integer: _WIDTHS.index(integer.kind))


def _decimal_result(operator: str, left: tuple[int, int], right: tuple[int, int]) -> HiveType:
    (p1, s1), (p2, s2) = left, right
    if operator in "+-":
        scale = max(s1, s2)
        return _fitted(max(p1 - s1, p2 - s2) + scale + 1, scale)
    if operator == "*":
        return _fitted(p1 + p2 + 1, s1 + s2)
    if operator == "/":
        scale = max(6, s1 + p2 + 1)
        return _fitted(p1 - s1 + s2 + scale, scale)
    scale = max(s1, s2)
    return _fitted(min(p1 - s1, p2 - s2) + scale, scale)


def common(types: Sequence[Type]) -> Type:
    """Return the type that COALESCE, CASE, IF, arrays and UNION give to values of these types."""
    common_type: Type = VOID
    for type_ in types:
        common_type = _common_of_two(common_type, type_)
    return common_type


def _common_of_two(left: Type, right: Type) -> Type:
    if right in (left, VOID):
        return left
    if left == VOID:
        return right
    if left is None or right is None:
        return None
    if left.is_number and right.is_number:
        return _common_number(left, right)
    if left.kind is right.kind and left.length and right.length:
        return max(left, right, key=lambda text: text.length or 0)
    if left.is_text or right.is_text:
        other = right if left.is_text else left
        simple = other.is_text or other.is_number or other in (BOOLEAN, INSTANT, *TIMES)
        return STRING if simple else None
    if {left, right} == {DATE, TIMESTAMP}:
        return TIMESTAMP
    if INSTANT in (left, right) and {left, right} <= {INSTANT, *TIMES}:
        return INSTANT
    return None


def _common_number(left: HiveType, right: HiveType) -> Type:
    for type_ in (DOUBLE, FLOAT):
        if type_ in (left, right):
            return type_
    if not (is_decimal(left) or is_decimal(right)):
        return _wider(left, right)
    a, b = left.digits, right.digits
    if a is None or b is None:
        return None
    scale = max(a[1], b[1])
    return _fitted(max(a[0] - a[1], b[0] - b[1]) + scale, scale)


def concatenated(types: Sequence[Type]) -> Type:
    """Return the type of CONCAT: CHAR and VARCHAR add their lengths, with anything else STRING."""
    lengths = [type_.length if type_ is not None else None for type_ in types]
    if None in lengths or not types:
        return STRING
    kind = Kind.CHAR if all(kind_of(type_) is Kind.CHAR for type_ in types) else Kind.VARCHAR
    length = sum(length or 0 for length in lengths)
    return HiveType(kind, (length,)) if length <= LONGEST[kind] else STRING


def summed(type_: Type) -> Type:
    """Return the type of SUM."""
    if type_ is None:
        return None
    if is_integer(type_):
        return BIGINT
    if type_.digits:
        precision, scale = type_.digits
        return HiveType.decimal(min(MOST_DIGITS, precision + 10), scale)
    return DOUBLE if type_.is_text or is_float(type_) else None


def averaged(type_: Type) -> Type:
    """Return the type of AVG."""
    if type_ is not None and is_decimal(type_):
        precision, scale = type_.arguments
        return HiveType.decimal(min(MOST_DIGITS, precision + 4), min(MOST_DIGITS, scale + 4))
    return DOUBLE if is_number(type_) or is_text(type_) else None


def element(type_: Type) -> Type:
    """Return the type of ``value[…]``: an array's element or a map's value."""
    if type_ is None or type_.kind not in (Kind.ARRAY, Kind.MAP):
        return None
    return type_.children[-1]


def field_of(type_: Type, name: str) -> Type:
    """Return the type of ``value.name``; of an array of structs, an array."""
    if type_ is None:
        return None
    if type_.kind is Kind.ARRAY:
        inner = field_of(type_.children[0], name)
        return HiveType.array(inner) if inner else None
    return dict(type_.fields).get(name)


def group_of(kind: Type) -> str | None:
    """Tell what values of VALUES must have in common; None where only Spark knows."""
    if is_text(kind):
        return "text"
    if is_number(kind):
        return "number"
    if kind in TIMES:
        return "time"
    return kind.kind if kind is not None and kind in (BOOLEAN, VOID) else None
