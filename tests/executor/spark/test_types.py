"""Hive's type texts as Spark's."""

from __future__ import annotations

import pytest

from hivesql_executor.orc.types import (
    decimal_scale,
    hive_type,
    instants,
    is_nested,
    spark_type,
    stored_types,
)
from hivesql_planner.errors import NotSupported
from hivesql_planner.model.types import text_limit


@pytest.mark.parametrize(
    ("hive", "expected"),
    [
        ("INT", "int"),
        ("integer", "int"),
        ("double  precision", "double"),
        ("numeric(10, 2)", "decimal(10, 2)"),
        ("dec", "decimal"),
        ("char(5)", "string"),
        ("VARCHAR( 10 )", "string"),
        ("timestamp", "timestamp"),
        ("timestamp with local time zone", "timestamp"),
        ("TIMESTAMPLOCALTZ", "timestamp"),
        ("array<varchar(3)>", "array<string>"),
        ("map<string,timestamp with local time zone>", "map<string,timestamp>"),
        ("struct<integer:integer,a:array<char(2)>>", "struct<integer:int,a:array<string>>"),
    ],
)
def test_spark_type(hive: str, expected: str) -> None:
    assert spark_type(hive) == expected


def test_unions_are_refused() -> None:
    with pytest.raises(NotSupported, match="uniontype"):
        spark_type("array<uniontype<int,string>>")


@pytest.mark.parametrize(
    ("hive", "limit"),
    [("char(5)", ("char", 5)), ("VARCHAR( 10 )", ("varchar", 10)), ("string", None)],
)
def test_text_limit(hive: str, limit: tuple[str, int] | None) -> None:
    assert text_limit(hive) == limit


@pytest.mark.parametrize(
    ("hive", "scale"),
    [
        ("decimal", 0),
        ("decimal(5)", 0),
        ("numeric(5, 2)", 2),
        ("DECIMAL(38,10)", 10),
        ("int", None),
    ],
)
def test_decimal_scale(hive: str, scale: int | None) -> None:
    assert decimal_scale(hive) == scale


@pytest.mark.parametrize(
    ("types", "ids"),
    [
        (["int", "timestamp"], ()),
        (["int", "TIMESTAMP WITH LOCAL TIME ZONE", "timestamp", "timestamplocaltz"], (8, 10)),
        (["array<timestamp with local time zone>", "int"], (8,)),
        (
            ["map<decimal(10,2),struct<timestamplocaltz:int,b:array<timestamplocaltz>,"
             "c:timestamplocaltz>>", "struct<a:int,b:timestamp with local time zone>"],
            (12, 13, 16),
        ),
    ],
)  # fmt: skip
def test_ids_of_instants(types: list[str], ids: tuple[int, ...]) -> None:
    assert tuple(instants(types, 7)) == ids


def test_types_that_orc_stores_under_a_plainer_name() -> None:
    types = ["char(3)", "array<VARCHAR( 10 )>", "struct<a:string,b:timestamplocaltz,c:varchar(5)>"]
    found = {column: (one.name, one.length) for column, one in stored_types(types, 7).items()}
    assert found == {
        7: ("char", 3),
        9: ("varchar", 10),
        12: ("timestamp with local time zone", None),
        13: ("varchar", 5),
    }


def test_is_nested() -> None:
    assert [is_nested(kind) for kind in ("array<int>", "map<int,int>", "struct<a:int>", "int")] == [
        True, True, True, False,
    ]  # fmt: skip


def test_hive_type_of_spark_columns() -> None:
    assert hive_type("struct<a:timestamp_ntz,b:void>") == "struct<a:timestamp,b:string>"
