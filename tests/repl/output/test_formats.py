"""Rows as machines read them."""

from __future__ import annotations

import datetime
import decimal
import json
import re
from typing import Any
from xml.etree import ElementTree

import pytest

from hivesql.rendering.hive_text import Instant, Single
from hivesql_repl.formats import hive_text, with_singles
from hivesql_repl.output.formats import FORMATS, Style, to_text

VALUES = {
    "null": (None, "NULL"),
    "true": (True, "true"),
    "text": ("a b", "a b"),
    "decimal": (decimal.Decimal("1.50"), "1.50"),
    "small decimal": (decimal.Decimal("0E-10"), "0.0000000000"),
    "date": (datetime.date(2020, 2, 29), "2020-02-29"),
    "timestamp": (datetime.datetime(2020, 1, 1, 10, 20, 30, 120000), "2020-01-01 10:20:30.12"),
    "instant in a zone": (
        Instant(datetime.datetime(2016, 1, 3, 20, 26, 34), "US/Pacific"),
        "2016-01-03 12:26:34.0 US/Pacific",
    ),
    "instant at an offset": (
        Instant(datetime.datetime(2016, 1, 3, 20, 26, 34), "+05:30"),
        "2016-01-04 01:56:34.0 +05:30",
    ),
    "array": ([1, None, "x"], '[1,null,"x"]'),
    "map": ({"k": 7}, '{"k":7}'),
    "binary": (b"ab", "ab"),
    "double": (1.5, "1.5"),
    "whole double": (100.0, "100.0"),
    "negative zero": (-0.0, "-0.0"),
    "large double": (1e7, "1.0E7"),
    "small double": (0.00123, "0.00123"),
    "very small double": (-1.5e-4, "-1.5E-4"),
    "not a number": (float("nan"), "NaN"),
    "infinity": (float("-inf"), "-Infinity"),
    "float": (Single(1.100000023841858), "1.1"),
    "large float": (Single(12345679.0), "1.2345679E7"),
    "float of sixteen bits": (Single(65536.0), "65536.0"),
    "float of a power of two": (Single(2147483648.0), "2.14748365E9"),
    "float without short text": (Single(33554432.0), "3.3554432E7"),
    "least float": (Single(1.401298464324817e-45), "1.4E-45"),
    "double with a neighbour half as far": (2e23, "1.9999999999999998E23"),
    "double at a tie": (1e23, "9.999999999999999E22"),
    "double of more digits than needed": (8.41e21, "8.409999999999999E21"),
    "least double": (5e-324, "4.9E-324"),
    "double without a normal fraction": (2e-322, "2.0E-322"),
    "large whole double": (9007199254740993.0, "9.007199254740992E15"),
    "instant": (Instant(datetime.datetime(2016, 1, 3, 20, 26, 34)), "2016-01-03 20:26:34.0 UTC"),
    "instant with a fraction": (Instant(datetime.datetime(2016, 1, 3, 20, 26, 34, 120000)),
                                "2016-01-03 20:26:34.12 UTC"),
    "decimal in an array": ([decimal.Decimal("1.500")], "[1.5]"),
    "interval": (datetime.timedelta(days=1, seconds=7384, microseconds=5),
                 "1 02:03:04.000005000"),
    "negative interval": (datetime.timedelta(hours=-1), "-0 01:00:00.000000000"),
}  # fmt: skip


@pytest.mark.parametrize(("value", "text"), VALUES.values(), ids=VALUES)
def test_hive_text(value: Any, text: str) -> None:
    assert hive_text(value) == text


TYPED = {
    "decimal(38,10)": (decimal.Decimal("-1.00E-10"), "-0.0000000001"),
    "decimal(38,38)": (decimal.Decimal("1.2345678901234567890123456789012E-7"),
                       "0.00000012345678901234567890123456789012"),
    "decimal(10,8)": (decimal.Decimal("1.5"), "1.5"),
    "array<decimal(10,8)>": ([decimal.Decimal("1.0E-8"), None], "[0.00000001,null]"),
    "float": (1.100000023841858, "1.1"),
    "array<float>": ([1.100000023841858, None], "[1.1,null]"),
    "struct<f:float,d:double>": ((1.100000023841858, 1.5), '{"f":1.1,"d":1.5}'),
    "map<float,int>": ({1.5: 1}, "{1.5:1}"),
    "map<string,array<struct<a:float>>>": ({"k": [(2.200000047683716,)]}, '{"k":[{"a":2.2}]}'),
    "timestamp with local time zone": (datetime.datetime(2016, 1, 3), "2016-01-03 00:00:00.0 UTC"),
    "array<timestamp with local time zone>": ([datetime.datetime(2016, 1, 3)],
                                              '["2016-01-03 00:00:00.0 UTC"]'),
    "array<timestamp>": ([datetime.datetime(2016, 1, 3)], '["2016-01-03 00:00:00"]'),
}  # fmt: skip


@pytest.mark.parametrize("kind", TYPED)
def test_values_of_types_that_python_does_not_have(kind: str) -> None:
    value, text = TYPED[kind]
    ((shown, nothing),) = with_singles([kind, kind], [(value, None)])
    assert (hive_text(shown), nothing) == (text, None)


COLUMNS, ROWS = ["id", "v"], [(1, "a,b"), (2, None)]
TEXTS = {
    "csv2": 'id,v\n1,"a,b"\n2,NULL\n',
    "tsv2": "id\tv\n1\ta,b\n2\tNULL\n",
    "dsv": "id|v\n1|a,b\n2|NULL\n",
    "csv": "'id','v'\n'1','a,b'\n'2','NULL'\n",
    "tsv": "'id'\t'v'\n'1'\t'a,b'\n'2'\t'NULL'\n",
    "jsonfile": '{"id": 1, "v": "a,b"}\n{"id": 2, "v": null}\n',
    "json": '{"resultset":[{"id": 1, "v": "a,b"},{"id": 2, "v": null}]}\n',
    "markdown": "| id | v |\n| --- | --- |\n| 1 | a,b |\n| 2 | NULL |\n",
    "xmlattr": '<resultset>\n  <result id="1" v="a,b"/>\n'
    '  <result id="2" v="NULL"/>\n</resultset>\n',
    "xmlelements": "<resultset>\n  <result>\n    <id>1</id>\n    <v>a,b</v>\n  </result>\n"
    "  <result>\n    <id>2</id>\n    <v>NULL</v>\n  </result>\n</resultset>\n",
    "vertical": "id  1\nv   a,b\n\nid  2\nv   NULL\n\n",
}


@pytest.mark.parametrize("name", TEXTS)
def test_formats(name: str) -> None:
    assert to_text(name, COLUMNS, ROWS) == TEXTS[name]
    assert set(TEXTS) | {"table"} == set(FORMATS)


def test_xml_is_well_formed_whatever_the_names() -> None:
    columns, rows = ["count(1)", "2b"], [('<a> & "b"', 1)]
    for name in ("xmlattr", "xmlelements"):
        (result,) = ElementTree.fromstring(to_text(name, columns, rows))
        found = result.attrib if name == "xmlattr" else {one.tag: one.text for one in result}
        assert found == {"count_1_": '<a> & "b"', "_2b": "1"}


def test_table_in_batches() -> None:
    text = to_text("table", COLUMNS, ROWS, Style(batch=1))
    assert "│  1" in text
    assert "│  2" in text
    assert text.count("┃ id") == 2
    assert to_text("table", COLUMNS, []).count("┃ id") == 1


def test_style() -> None:
    rows = [(None, "a\nb\tc|d")]
    assert to_text("dsv", COLUMNS, rows, Style(null="", header=False)) == '|"a\nb\tc|d"\n'
    assert to_text("dsv", COLUMNS, rows, Style(delimiter=";", escape_breaks=True)) == (
        "id;v\nNULL;a\\nb\\tc|d\n"
    )
    assert to_text("markdown", COLUMNS, rows).endswith("| NULL | a<br>b\tc\\|d |\n")
    cut = to_text("table", COLUMNS, [(1, "x" * 50)], Style(truncate=True, max_column_width=8))
    assert "xxxxxxx…" in cut
    assert json.loads(to_text("json", COLUMNS, []))["resultset"] == []


def test_numbers_stand_on_the_right() -> None:
    rows = [(1, True, "a", None, decimal.Decimal("0.5")), (-200, None, "b", None, None)]
    text = to_text("table", ["n", "yes", "text", "nothing", "price"], rows)
    lines = [line for line in text.splitlines() if line.startswith("│")]
    assert [line.split("│")[1] for line in lines] == ["    1 ", " -200 "]
    assert [line.split("│")[2] for line in lines] == [" true ", " NULL "]
    assert [line.split("│")[4] for line in lines] == [" NULL    "] * 2
    assert [line.split("│")[5] for line in lines] == ["   0.5 ", "  NULL "]


@pytest.mark.parametrize("width", [0, 5, 20, 80])
@pytest.mark.parametrize("count", [1, 9, 60])
def test_a_table_shows_each_value_however_narrow_it_is(count: int, width: int) -> None:
    columns = [f"c{number}" for number in range(count)]
    row = [f"v{number}" for number in range(count)]
    drawn = to_text("table", columns, [row], Style(max_width=width))
    shown = re.sub(r"[^a-z0-9]", "", drawn)
    # Narrow ones are folded: every letter is there, in some order.
    assert sorted(shown) == sorted("".join(columns + row))
    if not width:
        assert all(text in drawn for text in columns + row)
