"""Python values as Hive literals."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from typing import Any

import pytest

from hivesql.dbapi_literals import Parameters, interpolate, literal

LITERALS = {
    "null": (None, "NULL"),
    "true": (True, "TRUE"),
    "int": (-5, "-5"),
    "bigint": (3_000_000_000, "3000000000L"),
    "wider": (10**20, "100000000000000000000BD"),
    "float": (1.5, "1.5D"),
    "small float": (1e-300, "1e-300D"),
    "nan": (math.nan, "CAST('nan' AS DOUBLE)"),
    "decimal": (Decimal("1.50"), "1.50BD"),
    "decimal exponent": (Decimal("1E+3"), "1000BD"),
    "text": ("it's", "'it\\'s'"),
    "backslash": ("a\\n", "'a\\\\n'"),
    "line": ("a\nb", "'a\\nb'"),
    "bytes": (b"\x00\xff", "unhex('00ff')"),
    "date": (datetime.date(2024, 2, 29), "DATE '2024-02-29'"),
    "timestamp": (datetime.datetime(2024, 2, 29, 1, 2, 3, 40),
                  "TIMESTAMP '2024-02-29 01:02:03.000040'"),
    "list": ([1, "a"], "(1, 'a')"),
    "empty": ((), "(NULL)"),
}  # fmt: skip


@pytest.mark.parametrize(("value", "text"), LITERALS.values(), ids=LITERALS)
def test_literals(value: Any, text: str) -> None:
    assert literal(value) == text


@pytest.mark.parametrize(
    "value",
    [
        object(),
        Decimal("NaN"),
        datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc),
        {"a": 1},
        10**38,
        -(10**5000),
        Decimal("1E+38"),
        Decimal("-1E+99999999"),
        Decimal("1E-99999999"),
    ],
    ids=[
        "object",
        "nan",
        "aware",
        "map",
        "39 digits",
        "5001 digits",
        "39 digits of a decimal",
        "as many as fill memory",
        "as many behind the point",
    ],
)
def test_values_without_a_literal(value: Any) -> None:
    with pytest.raises(TypeError):
        literal(value)


TEXTS: dict[str, tuple[str, Parameters, str]] = {
    "named": ("a = %(x)s AND b = %(x)s", {"x": 1, "unused": 2}, "a = 1 AND b = 1"),
    "in order": ("a = %s AND b = %s", [1, "x"], "a = 1 AND b = 'x'"),
    "percent": ("a LIKE '5%%' AND b = %s", ["%s"], "a LIKE '5%' AND b = '%s'"),
}


@pytest.mark.parametrize(("text", "given", "bound"), TEXTS.values(), ids=TEXTS)
def test_interpolation(text: str, given: Parameters, bound: str) -> None:
    assert interpolate(text, given) == bound


@pytest.mark.parametrize(
    ("text", "given"),
    [("%s", []), ("%s", [1, 2]), ("%(x)s", {}), ("%(x)s", [1]), ("%s", {"x": 1}), ("5%", [1]),
     ("%d", [1])],
)  # fmt: skip
def test_bad_parameters(text: str, given: Parameters) -> None:
    with pytest.raises((ValueError, KeyError, IndexError)):
        interpolate(text, given)
