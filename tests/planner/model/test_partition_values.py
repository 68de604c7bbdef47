"""Constants of partition columns, as Hive 4.1 keeps them in directories and in its catalog."""

from __future__ import annotations

import pytest

from hivesql_planner.model.hive_type import HiveType
from hivesql_planner.model.partition_values import normal_value


@pytest.mark.parametrize(
    ("type_", "text", "kept"),
    [
        *(("boolean", text, "false") for text in ("no", "NO", "0", "off", "false", "FALSE", "")),
        *(("boolean", text, "true") for text in ("1", "on", "TRUE", "abc", "f", "yes")),
        ("int", "01", "1"),
        ("int", "+2", "2"),
        ("int", "-0", "0"),
        ("int", "007", "7"),
        ("int", "1.5", "1"),
        ("int", "x", None),
        ("int", " 5", None),
        ("int", "9999999999", None),
        ("bigint", "9999999999", "9999999999"),
        ("bigint", "99999999999999999999", None),
        ("tinyint", "300", "44"),
        ("tinyint", "0300", "44"),
        ("smallint", "-40000", "25536"),
        ("float", "1", "1.0"),
        ("float", "1.50", "1.5"),
        ("float", "1e3", "1000.0"),
        ("float", "3.10", "3.1"),
        ("float", "0.1", "0.1"),
        ("float", "16777217", "1.6777216E7"),
        ("float", "x", None),
        ("double", "01.50", "1.5"),
        ("double", "NaN", "NaN"),
        ("double", "4", "4.0"),
        ("double", "12345678", "1.2345678E7"),
        ("double", "0.0001", "1.0E-4"),
        ("double", "-0.001", "-0.001"),
        ("double", "0", "0.0"),
        ("decimal(5,2)", "1", "1"),
        ("decimal(5,2)", "01.5", "1.5"),
        ("decimal(5,2)", "2.345", "2.35"),
        ("decimal(5,2)", "4.000", "4"),
        ("decimal(5,2)", "100", "100"),
        ("decimal(5,2)", "99999", None),
        ("decimal(5,2)", "-0.00", "0"),
        ("decimal(38,0)", "1e37", "1" + "0" * 37),
        ("date", "2020-1-2", "2020-01-02"),
        ("date", "2020-01-03 10:00:00", "2020-01-03"),
        ("date", "20200106", None),
        ("date", "2020-02-30", None),
        ("timestamp", "2020-01-02", "2020-01-02 00:00:00"),
        ("timestamp", "2020-01-02 03:04:05.100", "2020-01-02 03:04:05.1"),
        ("timestamp", "2020-01-06 1:2:3", "2020-01-06 01:02:03"),
        ("timestamp", "x", None),
        ("varchar(2)", "abc", "ab"),
        ("varchar(2)", "b ", "b "),
        ("string", "01", "01"),
    ],
)
def test_normal_value(type_: str, text: str, kept: str | None) -> None:
    assert normal_value(text, HiveType.parse(type_)) == kept
    if kept is not None:
        assert normal_value(kept, HiveType.parse(type_)) == kept
