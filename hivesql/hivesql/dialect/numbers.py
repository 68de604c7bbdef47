"""Numbers as they are written."""

from __future__ import annotations

import re

from hivesql.dialect.value_types import Type
from hivesql_planner.errors import ParseError
from hivesql_planner.model.hive_type import BIGINT, DOUBLE, INT, SMALLINT, TINYINT, HiveType

_NUMBER = re.compile(r"([\d.]+)([eE][+-]?\d+)?(BD|[LSYDlsyd])?")
LEAST_NUMBERS = {
    str(2**31): "(CAST(-@0 AS BIGINT))",
    str(2**63): "(CAST(-@0 AS DECIMAL(19, 0)))",
}
"""How Spark must see a number negated: Hive types the digits first, Spark the sign with them."""
_SUFFIX_TYPES = {"L": BIGINT, "S": SMALLINT, "Y": TINYINT, "D": DOUBLE}


def number(text: str) -> tuple[Type, str | None]:
    """Return the type of a number, and how Spark must see it written where that is another way.

    Hive drops the last zeros of a number: 1.50 is a decimal(2,1). ParseError for ``.5``.
    """
    if text.startswith("."):
        raise ParseError(f"a number begins with a digit: 0{text}")
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None, None
    digits, exponent, suffix = match[1], match[2], (match[3] or "").upper()
    if suffix in _SUFFIX_TYPES:
        return _SUFFIX_TYPES[suffix], None
    if exponent:
        return (None if suffix else DOUBLE), None
    if "." not in digits and not suffix and int(digits) < 2**63:
        return (INT if int(digits) < 2**31 else BIGINT), None
    integral, _, fraction = digits.partition(".")
    integral, fraction = integral.lstrip("0"), fraction.rstrip("0")
    spark_text = f"{integral or '0'}.{fraction}" if fraction else f"{integral or '0'}BD"
    kind = HiveType.decimal(len(integral) + len(fraction) or 1, len(fraction))
    return kind, spark_text if "." in digits and not suffix and spark_text != digits else None


def number_text(text: str) -> str:
    """Return a number without zeros that say nothing, as it is kept in a column of text."""
    if text.isdigit():
        return str(int(text))
    integral, point, rest = text.partition(".")
    if not point or not (integral + rest).isdigit():
        return text
    rest = rest.rstrip("0")
    return f"{int(integral or 0)}.{rest}" if rest else str(int(integral or 0))
