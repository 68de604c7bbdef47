"""Hive's types: read from texts, printed as Hive, Spark and ORC have them."""

from __future__ import annotations

import pytest

from hivesql_planner.errors import SemanticError
from hivesql_planner.model.hive_type import (
    BIGINT,
    INSTANT,
    INT,
    SIZED_TEXTS,
    STRING,
    TIMESTAMP,
    TIMESTAMPS,
    UNKNOWN,
    VOID,
    HiveType,
    Kind,
    check_length,
)

PRINTED = {
    **{kind.value: HiveType(kind) for kind in Kind
       if kind not in (Kind.OTHER, Kind.DECIMAL, *SIZED_TEXTS)
       and kind not in (Kind.ARRAY, Kind.MAP, Kind.STRUCT, Kind.UNION)},
    "char(5)": HiveType(Kind.CHAR, (5,)),
    "varchar(65535)": HiveType(Kind.VARCHAR, (65535,)),
    "decimal(10,2)": HiveType.decimal(10, 2),
    "decimal(38,0)": HiveType.decimal(38, 0),
    "array<int>": HiveType.array(INT),
    "map<string,array<bigint>>": HiveType.map(STRING, HiveType.array(BIGINT)),
    "struct<a:int,b:struct<c:char(3),d:decimal(5,1)>>": HiveType.struct(
        ("a", INT),
        ("b", HiveType.struct(("c", HiveType(Kind.CHAR, (3,))), ("d", HiveType.decimal(5, 1)))),
    ),
    "uniontype<int,array<timestamp with local time zone>>": HiveType(
        Kind.UNION, (), (INT, HiveType.array(INSTANT))
    ),
    "struct<Upper:int,a b:int,größe:int,decimal:int,timestamp:timestamp,1:int>": HiveType.struct(
        ("Upper", INT), ("a b", INT), ("größe", INT), ("decimal", INT), ("timestamp", TIMESTAMP),
        ("1", INT),
    ),
    "struct<`a:b`:int,`c,d<e>`:int,`f``g`:int>": HiveType.struct(
        ("a:b", INT), ("c,d<e>", INT), ("f`g", INT)
    ),
}  # fmt: skip


@pytest.mark.parametrize("text", PRINTED)
def test_what_hive_prints_is_read_and_printed_again(text: str) -> None:
    assert HiveType.parse(text) == PRINTED[text]
    assert str(PRINTED[text]) == text
    assert HiveType.as_stored(text).spelling == ""


SPELLED = {
    "INT": "int",
    " integer ": "int",
    "DOUBLE  PRECISION": "double",
    "real": "float",
    "decimal": "decimal(10,0)",
    "DEC ( 5 )": "decimal(5,0)",
    "numeric(10, 2)": "decimal(10,2)",
    "VARCHAR( 10 )": "varchar(10)",
    "TimestampLocalTZ": "timestamp with local time zone",
    "timestamp  with\tlocal time zone": "timestamp with local time zone",
    "timestamp_ntz": "timestamp",
    "Map < string , Array< DEC > >": "map<string,array<decimal(10,0)>>",
    "struct< a : int , `b` :char( 2 )>": "struct<a:int,b:char(2)>",
    "struct<integer:integer>": "struct<integer:int>",
}


@pytest.mark.parametrize("text", SPELLED)
def test_other_spellings(text: str) -> None:
    assert str(HiveType.parse(text)) == SPELLED[text]


@pytest.mark.parametrize("text", SPELLED)
def test_a_catalogs_spelling_is_printed_and_compares_as_the_type(text: str) -> None:
    stored = HiveType.as_stored(text)
    assert str(stored) == text
    assert stored == HiveType.parse(SPELLED[text])
    assert hash(stored) == hash(HiveType.parse(SPELLED[text]))


OTHERS = [
    "variant", "time(6)", "interval day to second", "char", "varchar(a)", "array", "array<int",
    "array<int>>", "array<int,int>", "map<int>", "struct<int>", "struct<>", "int(5)", "list<int>",
    "decimal(10,2", "a,b",
]  # fmt: skip


@pytest.mark.parametrize("text", OTHERS)
def test_what_hive_does_not_know_keeps_its_text(text: str) -> None:
    type_ = HiveType.parse(text)
    assert (type_.kind, str(type_)) == (Kind.OTHER, text)
    assert type_ != HiveType.parse("geometry")
    assert type_.is_known
    assert type_.spark == text


def test_foreign_types_inside() -> None:
    type_ = HiveType.parse("array<interval day to second>")
    assert type_ == HiveType.array(HiveType(Kind.OTHER, other="interval day to second"))
    assert type_.spark == "array<interval day to second>"


def test_an_unknown_type() -> None:
    assert HiveType.parse("") == UNKNOWN
    assert (str(UNKNOWN), UNKNOWN.is_known) == ("", False)


@pytest.mark.parametrize(
    ("text", "ddl", "schema"),
    [
        ("int", "int", "int"),
        ("decimal", "decimal(10,0)", "decimal(10,0)"),
        ("char(5)", "string", "char(5)"),
        ("timestamp", "timestamp", "timestamp"),
        ("timestamplocaltz", "timestamp", "timestamp with local time zone"),
        ("array<varchar(3)>", "array<string>", "array<varchar(3)>"),
        (
            "map<string,timestamp with local time zone>",
            "map<string,timestamp>",
            "map<string,timestamp with local time zone>",
        ),
        (
            "struct<Integer:integer,a:array<char(2)>>",
            "struct<integer:int,a:array<string>>",
            "struct<integer:int,a:array<char(2)>>",
        ),
        ("struct<a b:int>", "struct<`a b`:int>", "struct<`a b`:int>"),
    ],
)
def test_types_of_spark_and_orc(text: str, ddl: str, schema: str) -> None:
    type_ = HiveType.parse(text)
    assert (type_.spark, type_.orc) == (ddl, schema)


def test_a_union_is_a_struct_in_spark() -> None:
    union = HiveType.parse("array<uniontype<int,map<string,char(2)>>>")
    assert union.orc == str(union)
    assert union.spark == "array<struct<uniontype:tinyint,_0:int,_1:map<string,string>>>"
    assert str(HiveType.parse(union.spark)) == "array<uniontype<int,map<string,string>>>"
    assert HiveType.parse("struct<uniontype:tinyint,a:int>").kind is Kind.STRUCT


@pytest.mark.parametrize(
    ("text", "length", "scale", "digits"),
    [
        ("char(5)", 5, None, None),
        ("varchar(9)", 9, None, None),
        ("string", None, None, None),
        ("decimal(5,2)", None, 2, (5, 2)),
        ("decimal(5)", None, 0, (5, 0)),
        ("tinyint", None, None, (3, 0)),
        ("bigint", None, None, (19, 0)),
        ("double", None, None, None),
    ],
)
def test_sizes(
    text: str, length: int | None, scale: int | None, digits: tuple[int, int] | None
) -> None:
    type_ = HiveType.parse(text)
    assert (type_.length, type_.scale, type_.digits) == (length, scale, digits)


def test_types_inside() -> None:
    type_ = HiveType.parse("struct<A:array<char(2)>,b:map<int,timestamp>>")
    assert [name for name, _ in type_.fields] == ["a", "b"]
    assert list(map(str, type_.walk())) == [
        str(type_), "array<char(2)>", "char(2)", "map<int,timestamp>", "int", "timestamp",
    ]  # fmt: skip
    assert type_.holds(Kind.CHAR)
    assert not type_.holds(Kind.STRING, Kind.INSTANT)
    assert str(type_.exchange(TIMESTAMPS, STRING)) == "struct<A:array<char(2)>,b:map<int,string>>"
    assert type_.exchange((Kind.VOID,), STRING) is type_
    assert VOID.exchange((Kind.VOID,), STRING) == STRING


@pytest.mark.parametrize(("kind", "length"), [(Kind.CHAR, 256), (Kind.VARCHAR, 0)])
def test_lengths(kind: Kind, length: int) -> None:
    with pytest.raises(SemanticError, match="out of allowed range"):
        check_length(kind, length)


def test_ten_thousand_fields_are_read_in_one_pass() -> None:
    text = f"struct<{','.join(f'c{i}:array<decimal({i % 38 + 1},0)>' for i in range(10_000))}>"
    assert str(HiveType.parse(text)) == text
