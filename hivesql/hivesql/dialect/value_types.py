"""Types of expressions by Hive's rules: Hive type texts in, Hive type texts out.

``None`` is a type that is not known here; Spark then decides.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from hivesql_planner.model.types import parts_of

Type = str | None

TEXTS = ("string", "varchar", "char")
INTEGERS = ("tinyint", "smallint", "int", "bigint")
FLOATS = ("float", "double")
TIMES = ("date", "timestamp")
DAY_TIME = "interval_day_time"
YEAR_MONTH = "interval_year_month"
_SYNONYMS = {
    "integer": "int", "numeric": "decimal", "double precision": "double", "real": "double",
    "timestamp with local time zone": "timestamplocaltz",
}  # fmt: skip
_DIGITS = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 19}
_NESTED = re.compile(r"(?:array|map|struct|uniontype)<.*>", re.DOTALL)
_DECIMAL = re.compile(r"decimal(?:\((\d+)(?:,(\d+))?\))?")


def normal(text: str) -> str:
    """Return a type as Hive prints it: ``DECIMAL ( 10 , 2 )`` is ``decimal(10,2)``."""
    text = " ".join(text.lower().split())
    text = _SYNONYMS.get(text, text)
    text = re.sub(r" ?([(),<>:]) ?", r"\1", text)
    name, bracket, rest = text.partition("(")
    text = _SYNONYMS.get(name, name) + bracket + rest
    return "decimal(10,0)" if text == "decimal" else re.sub(r"^decimal\((\d+)\)$",
                                                            r"decimal(\1,0)", text)  # fmt: skip


def family(kind: Type) -> str:
    """Return the name without sizes: ``decimal``, ``varchar``, ``array``; empty when unknown."""
    return re.split(r"[(<]", kind, maxsplit=1)[0] if kind else ""


def is_text(kind: Type) -> bool:
    """Tell whether it is STRING, VARCHAR or CHAR."""
    return family(kind) in TEXTS


def is_number(kind: Type) -> bool:
    """Integers, FLOAT, DOUBLE, DECIMAL."""
    return family(kind) in (*INTEGERS, *FLOATS, "decimal")


def is_interval(kind: Type) -> bool:
    """Either of the two kinds of intervals."""
    return kind in (DAY_TIME, YEAR_MONTH)


def decimal_of(kind: Type) -> tuple[int, int] | None:
    """Precision and scale of a decimal, or of the decimal that an integer becomes."""
    if kind in _DIGITS:
        return _DIGITS[kind], 0
    match = _DECIMAL.fullmatch(kind or "")
    return (int(match[1] or 10), int(match[2] or 0)) if match else None


def _fitted(precision: int, scale: int) -> str:
    """Hive's cut of decimals above 38 digits: six digits after the point are kept."""
    if precision > 38:
        whole = precision - scale
        scale = max(38 - whole, min(scale, 6))
        precision = 38
    return f"decimal({precision},{scale})"


def arithmetic(operator: str, left: Type, right: Type) -> Type:
    """Return the type of ``left operator right`` for numbers and texts."""
    if left is None or right is None:
        return None
    if is_text(left) or is_text(right) or "double" in (left, right):
        return "double"
    if not (is_number(left) and is_number(right)):
        return None
    if operator == "/" and "decimal" not in (family(left), family(right)):
        return "double"
    if "float" in (left, right):
        return "double" if operator == "/" else "float"
    if "decimal" not in (family(left), family(right)):
        return max(left, right, key=INTEGERS.index)
    a, b = decimal_of(left), decimal_of(right)
    return _decimal_result(operator, a, b) if a and b else None


def _decimal_result(operator: str, left: tuple[int, int], right: tuple[int, int]) -> str:
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


def common(kinds: Sequence[Type]) -> Type:
    """Return the type that COALESCE, CASE, IF, arrays and UNION give to values of these types."""
    found: Type = "void"
    for kind in kinds:
        found = _common_of_two(found, kind)
    return found


def _common_of_two(left: Type, right: Type) -> Type:
    if right in (left, "void"):
        return left
    if left == "void":
        return right
    if left is None or right is None:
        return None
    if is_number(left) and is_number(right):
        return _common_number(left, right)
    if is_text(left) or is_text(right):
        other = right if is_text(left) else left
        simple = is_text(other) or is_number(other) or other in ("boolean", *TIMES)
        return "string" if simple else None
    if {left, right} == {"date", "timestamp"}:
        return "timestamp"
    return None


def _common_number(left: str, right: str) -> Type:
    for kind in ("double", "float"):
        if kind in (left, right):
            return kind
    if "decimal" not in (family(left), family(right)):
        return max(left, right, key=INTEGERS.index)
    a, b = decimal_of(left), decimal_of(right)
    if a is None or b is None:
        return None
    scale = max(a[1], b[1])
    return _fitted(max(a[0] - a[1], b[0] - b[1]) + scale, scale)


def summed(kind: Type) -> Type:
    """Return the type of SUM."""
    if kind in INTEGERS:
        return "bigint"
    size = decimal_of(kind)
    if size:
        return f"decimal({min(38, size[0] + 10)},{size[1]})"
    return "double" if is_text(kind) or kind in FLOATS else None


def averaged(kind: Type) -> Type:
    """Return the type of AVG."""
    size = decimal_of(kind)
    if family(kind) == "decimal" and size:
        return f"decimal({min(38, size[0] + 4)},{min(38, size[1] + 4)})"
    return "double" if is_number(kind) or is_text(kind) else None


def inside(kind: Type) -> list[tuple[str, str]]:
    """Names and types in the angle brackets: ``array<int>`` has one without a name."""
    if kind is None or not _NESTED.fullmatch(kind):
        return []
    return [(name.strip("`").lower(), one) for name, one in parts_of(kind)]


def element(kind: Type) -> Type:
    """Return the type of ``kind[…]``: an array's element or a map's value."""
    found = inside(kind)
    return found[-1][1] if found and family(kind) in ("array", "map") else None


def field_of(kind: Type, name: str) -> Type:
    """Return the type of ``kind.name``; of an array of structs, an array."""
    if family(kind) == "array":
        inner = field_of(element(kind), name)
        return f"array<{inner}>" if inner else None
    return dict(inside(kind)).get(name) if family(kind) == "struct" else None
