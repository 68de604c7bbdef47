"""Constants as values of columns."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pytest

from hivesql_planner.local.values import Unclear, stored
from hivesql_planner.model.hive_type import HiveType
from hivesql_planner.predicates.predicate import Value

DAY, NOON = datetime.date(2020, 1, 1), datetime.datetime(2020, 1, 1, 12)
STORED: tuple[tuple[Value, str, Value], ...] = (
    (127, "tinyint", 127),
    ("12", "int", 12),
    (-(2**63), "bigint", -(2**63)),
    (Decimal("1.005"), "decimal(5,2)", Decimal("1.01")),
    (Decimal("-1.005"), "decimal(5,2)", Decimal("-1.01")),
    ("-0", "decimal", Decimal(0)),
    (Decimal("1.5"), "double", 1.5),
    (1e3, "float", 1000.0),
    (16777217, "double", 16777217.0),
    (Decimal("0.1"), "float", 0.10000000149011612),
    (12, "string", "12"),
    (DAY, "varchar(4)", "2020"),
    ("é", "char(3)", "é  "),
    ("é", "binary", "é".encode()),
    (DAY, "timestamp", datetime.datetime(2020, 1, 1)),
    (True, "boolean", True),
    ("OFF", "boolean", False),
    ("", "boolean", False),
    ("1e3", "boolean", True),
    (" no", "boolean", True),
    (None, "array<int>", None),
)
NOT_STORED: tuple[tuple[Value, str], ...] = (
    (128, "tinyint"),
    (True, "int"),
    (Decimal("1.5"), "int"),
    ("1.5", "int"),
    (" 1", "int"),
    (1000, "decimal(5,2)"),
    (9007199254740993, "double"),
    (16777217, "float"),
    (1e39, "float"),
    (Decimal("1.5"), "string"),
    (True, "string"),
    (NOON, "string"),
    (1, "boolean"),
    (1, "date"),
    (NOON, "date"),
    ("1582-10-14", "date"),
    (datetime.date(1582, 10, 14), "timestamp"),
    ("2020-01-01", "timestamp"),
    ("1969-12-31 23:59:58.5", "timestamp"),
    (NOON, "timestamp with local time zone"),
    (1, "array<int>"),
)


@pytest.mark.parametrize(("value", "kind", "expected"), STORED)
def test_constants_are_stored_as_spark_casts_them(value: Value, kind: str, expected: Value) -> None:
    found = stored(value, HiveType.parse(kind))
    assert found == expected and type(found) is type(expected)


@pytest.mark.parametrize(("value", "kind"), NOT_STORED)
def test_casts_that_take_thought_are_left_to_spark(value: Value, kind: str) -> None:
    with pytest.raises(Unclear):
        stored(value, HiveType.parse(kind))
