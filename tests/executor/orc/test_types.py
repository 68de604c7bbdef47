"""Types that ORC stores under a plainer one's encoding."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hivesql_executor.local.types import arrow_type
from hivesql_executor.orc.types import hive_type, instants, stored_types
from hivesql_planner.errors import NotSupported
from hivesql_planner.model.hive_type import HiveType


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
    assert tuple(instants(map(HiveType.parse, types), 7)) == ids


def test_types_that_orc_stores_under_a_plainer_name() -> None:
    types = ["char(3)", "array<VARCHAR( 10 )>", "struct<a:string,b:timestamplocaltz,c:varchar(5)>"]
    found = stored_types(map(HiveType.parse, types), 7)
    assert {column: (one.name, one.length) for column, one in found.items()} == {
        7: ("char", 3),
        9: ("varchar", 10),
        12: ("timestamp with local time zone", None),
        13: ("varchar", 5),
    }


def test_hive_type_of_spark_columns() -> None:
    assert str(hive_type("struct<a:timestamp_ntz,b:void>")) == "struct<a:timestamp,b:string>"


@pytest.mark.parametrize(
    ("text", "arrow"),
    [
        ("char(3)", pa.string()),
        ("decimal", pa.decimal128(10, 0)),
        ("timestamp with local time zone", pa.timestamp("us")),
        ("map<string,array<tinyint>>", pa.map_(pa.string(), pa.list_(pa.int8()))),
        ("struct<A:int,`b c`:date>", pa.struct([("a", pa.int32()), ("b c", pa.date32())])),
    ],
)
def test_arrow_types(text: str, arrow: pa.DataType) -> None:
    assert arrow_type(HiveType.parse(text)) == arrow


@pytest.mark.parametrize("text", ["uniontype<int,string>", "void", "variant"])
def test_types_without_one_of_arrow(text: str) -> None:
    with pytest.raises(NotSupported, match="outside Spark"):
        arrow_type(HiveType.parse(text))
