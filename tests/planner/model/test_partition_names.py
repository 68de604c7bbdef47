"""Names of partition directories, escaped as Hive escapes them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hivesql_planner.model.table import (
    DEFAULT_PARTITION,
    escape_path_part,
    parse_partition_name,
    partition_name,
)

VALUES = {
    "a/b=c": "a%2Fb%3Dc",
    "100%": "100%25",
    "x{y}": "x%7By}",
    "a b": "a b",
    "é": "é",
    "\t": "%09",
    "": DEFAULT_PARTITION,
    None: DEFAULT_PARTITION,
    "01": "01",
    "2020-01-01 00:00:00": "2020-01-01 00%3A00%3A00",
    "1.0": "1.0",
}
ESCAPED = "".join(map(chr, range(0x20))) + "\"#%'*/:=?\\\x7f{[]^"
PLAIN = " }|<>;,&+$!~@()`-_.éß日"


@pytest.mark.parametrize(("value", "directory"), VALUES.items())
def test_values(value: str | None, directory: str) -> None:
    assert partition_name(["P"], [value]) == f"p={directory}"
    assert parse_partition_name(f"p={directory}") == (value or None,)


def test_which_characters_are_escaped() -> None:
    assert [escape_path_part(one) for one in ESCAPED] == [f"%{ord(one):02X}" for one in ESCAPED]
    assert escape_path_part(PLAIN) == PLAIN


def test_what_is_no_escape_stays_as_it_is() -> None:
    assert parse_partition_name("a=%2f%zz%/b=%4") == ("/%zz%", "%4")


@given(st.lists(st.text(min_size=1).filter(lambda text: text != DEFAULT_PARTITION), min_size=1))
def test_reading_undoes_writing(values: list[str]) -> None:
    keys = [f"k{i}" for i in range(len(values))]
    assert parse_partition_name(partition_name(keys, values)) == tuple(values)
