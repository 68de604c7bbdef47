"""Rows as machines read them."""

from __future__ import annotations

import datetime
import decimal
from typing import Any

import pytest

from hivesql_repl.formats import FORMATS, hive_text, to_text

VALUES = {
    "null": (None, "NULL"),
    "true": (True, "true"),
    "text": ("a b", "a b"),
    "decimal": (decimal.Decimal("1.50"), "1.50"),
    "small decimal": (decimal.Decimal("0E-10"), "0.0000000000"),
    "date": (datetime.date(2020, 2, 29), "2020-02-29"),
    "timestamp": (datetime.datetime(2020, 1, 1, 10, 20, 30, 120000), "2020-01-01 10:20:30.12"),
    "array": ([1, None, "x"], '[1,null,"x"]'),
    "map": ({"k": 7}, '{"k":7}'),
    "binary": (b"ab", "ab"),
}


@pytest.mark.parametrize(("value", "text"), VALUES.values(), ids=VALUES)
def test_hive_text(value: Any, text: str) -> None:
    assert hive_text(value) == text


def test_formats() -> None:
    columns, rows = ["id", "v"], [(1, "a,b"), (2, None)]
    assert to_text(FORMATS["csv2"], columns, rows) == 'id,v\n1,"a,b"\n2,NULL\n'
    assert to_text(FORMATS["tsv2"], columns, rows) == "id\tv\n1\ta,b\n2\tNULL\n"
    assert to_text(FORMATS["jsonfile"], columns, rows) == (
        '{"id": 1, "v": "a,b"}\n{"id": 2, "v": null}\n'
    )
    assert to_text(FORMATS["vertical"], columns, rows[:1]) == "id  1\nv   a,b\n\n"
    assert "│ 2" in to_text(FORMATS["table"], columns, rows)
