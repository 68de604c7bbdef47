"""The types of the fuzzer's columns: values, how SQL writes them, how each side shows them."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Context, Decimal
from random import Random
from typing import Any

Value = Any
"""None, bool, int, float, Decimal, str, bytes, date, datetime, list or dict."""


@dataclass(frozen=True, slots=True)
class Constant:
    """A value and the SQL that gives it."""

    value: Value
    sql: str

    @property
    def is_plain(self) -> bool:
        """Whether the SQL is a literal and no call of a function."""
        return "(" not in self.sql or self.sql.startswith(("'", '"'))


@dataclass(frozen=True, slots=True)
class Kind:
    """A Hive type with values whose meaning nobody disputes."""

    type: str
    constants: tuple[Constant, ...]
    ordered: bool = False
    """Whether conditions may compare it."""

    @property
    def base(self) -> str:
        """The type without what follows it in brackets."""
        return self.type.partition("(")[0].partition("<")[0]

    @property
    def width(self) -> int:
        """The length of CHAR and VARCHAR."""
        return int(self.type.partition("(")[2].rstrip(")"))

    @property
    def null(self) -> Constant:
        """NULL."""
        return Constant(None, "NULL")

    def pick(self, chance: Random, *, nulls: float = 0.15) -> Constant:
        """One of the constants, or NULL."""
        return self.null if chance.random() < nulls else chance.choice(self.constants)


def quoted(text: str) -> str:
    """A text as SQL writes it."""
    for char, escaped in (("\\", "\\\\"), ("'", "\\'"), ("\n", "\\n"), ("\t", "\\t")):
        text = text.replace(char, escaped)
    return f"'{text}'"


def _typed(type_: str, values: tuple[Value, ...], sql: Callable[[Value], str] = str, *,
           ordered: bool = True) -> Kind:  # fmt: skip
    return Kind(type_, tuple(Constant(one, sql(one)) for one in values), ordered)


def _decimal(type_: str, *texts: str) -> Kind:
    return _typed(type_, tuple(map(Decimal, texts)), lambda value: format(value, "f"))


def _day(text: str) -> Constant:
    return Constant(date.fromisoformat(text), f"DATE '{text}'")


def _time(text: str) -> Constant:
    return Constant(datetime.fromisoformat(text), f"TIMESTAMP '{text}'")


def _fraction(type_: str, *values: float) -> Kind:
    odd = tuple(
        Constant(float(text), f"CAST('{text}' AS {type_})")
        for text in ("NaN", "Infinity", "-Infinity", "-0.0")
    )
    plain = tuple(Constant(value, repr(value)) for value in values)
    return Kind(type_, plain + odd)


TEXTS = (
    "", "a", "A", "b", "abc", " lead", "trail ", "it's", 'qu"ote', "back\\slash", "tab\there",
    "line\nbreak", "%", "100%", "é", "é€𝄞", "日本語", "NULL", "\\N", "x=1/y:2", "null", "0", "-1",
    "2020-01-01", "x" * 300, "`tick`", "a;b", "-- no", "/* no */", "${hivevar:x}",
)  # fmt: skip
DAYS = ("2020-02-29", "1970-01-01", "1969-12-31", "1582-10-15", "1582-10-04", "1500-03-01",
        "0001-01-01", "9999-12-31", "2024-01-01")  # fmt: skip
TIMES = ("2020-02-29 23:59:59.123456", "1970-01-01 00:00:00", "1969-12-31 23:59:58",
         "1969-12-30 12:00:00.5", "1900-01-01 00:00:00.000001", "1883-11-18 12:03:57",
         "1582-10-15 00:00:00", "1582-10-04 12:00:00", "0001-01-01 00:00:00",
         "9999-12-31 23:59:59.999999", "2024-03-31 02:30:00", "2024-01-01 00:00:00.1")  # fmt: skip

BOOLEAN = _typed("boolean", (True, False), lambda value: str(value).lower(), ordered=False)
TINYINT = _typed("tinyint", (0, 1, -1, 7, 127, -128))
SMALLINT = _typed("smallint", (0, 1, -1, 7, 32767, -32768))
INT = _typed("int", (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, -1, 2147483647, -2147483648))
BIGINT = _typed("bigint", (0, 1, 2, 3, -1, 4294967296, 9223372036854775807, -9223372036854775807))
FLOAT = _fraction("float", 0.0, 1.5, -2.25, 0.1, 16777216.0, 1e10, 3.4028234663852886e38)
DOUBLE = _fraction("double", 0.0, 1.5, -2.25, 0.1, 9007199254740993.0, 1e300, 5e-324)
STRING = _typed("string", TEXTS, quoted)
VARCHAR = _typed("varchar(5)", ("", "a", "ab ", "é€𝄞", "abcde", "日本語"), quoted)
CHAR = _typed("char(4)", ("", "a", "ab", "é€𝄞", "abcd", " x"), quoted, ordered=False)
BINARY = Kind("binary", (
    Constant(b"", "''"), Constant(b"abc", "'abc'"), Constant("é".encode(), "'é'"),
    Constant(b"\x00\xff\x10", "unhex('00FF10')"), Constant(b"\x80", "unhex('80')"),
))  # fmt: skip
DATE = Kind("date", tuple(map(_day, DAYS)), ordered=True)
TIMESTAMP = Kind("timestamp", tuple(map(_time, TIMES)), ordered=True)
NARROW = _decimal("decimal(10,2)", "0.00", "1.50", "-1.50", "0.01", "99999999.99", "-99999999.99")
WIDE = _decimal(
    "decimal(38,18)", "0.000000000000000000", "1.500000000000000000", "-0.000000000000000001",
    "12345678901234567890.123456789012345678", "99999999999999999999.999999999999999999",
)  # fmt: skip
WHOLE = Kind("decimal(20,0)", (
    *_decimal("decimal(20,0)", "0", "7", "-7", "-1").constants,
    Constant(Decimal(10**20 - 1), "CAST('99999999999999999999' AS DECIMAL(20,0))"),
), ordered=True)  # fmt: skip

ARRAY = Kind("array<int>", (
    Constant([1, 2, 3], "array(1, 2, 3)"), Constant([7, None], "array(7, CAST(NULL AS INT))"),
))  # fmt: skip
MAP = Kind("map<string,int>", (
    Constant({"k": 1}, "map('k', 1)"), Constant({"a b": 2, "é": 3}, "map('a b', 2, 'é', 3)"),
    Constant({"n": None}, "map('n', CAST(NULL AS INT))"),
))  # fmt: skip
STRUCT = Kind("struct<x:int,y:string>", (
    Constant({"x": 1, "y": "a"}, "named_struct('x', 1, 'y', 'a')"),
    Constant({"x": None, "y": ""}, "named_struct('x', CAST(NULL AS INT), 'y', '')"),
))  # fmt: skip
DEEP = Kind("array<struct<p:bigint,q:array<string>>>", (
    Constant([{"p": 1, "q": ["a", "b"]}],
             "array(named_struct('p', CAST(1 AS BIGINT), 'q', array('a', 'b')))"),
    Constant([{"p": 2, "q": ["b"]}, {"p": -1, "q": ["é", "x"]}],
             "array(named_struct('p', CAST(2 AS BIGINT), 'q', array('b')), "
             "named_struct('p', CAST(-1 AS BIGINT), 'q', array('é', 'x')))"),
))  # fmt: skip

NESTED = (ARRAY, MAP, STRUCT, DEEP)
SCALAR = (BOOLEAN, TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE, STRING, VARCHAR, CHAR, BINARY,
          DATE, TIMESTAMP, NARROW, WIDE, WHOLE)  # fmt: skip


def shown(kind: Kind, value: Value) -> str | None:
    """The one text of a value; None of NULL. Values that differ at all have texts that differ."""
    if value is None:
        return None
    match kind.base:
        case "float":
            (value,) = struct.unpack("f", struct.pack("f", value))
            return repr(value)
        case "timestamp":
            return _without_zeros(value.isoformat(sep=" "))
        case "decimal":
            return format(value, "f")
        case "binary":
            return bytes(value).hex()
        case "array" | "map" | "struct":
            return json.dumps(_nested(value), sort_keys=True, ensure_ascii=False)
    return str(value)


def _nested(value: Any) -> Any:
    if hasattr(value, "asDict"):
        value = value.asDict()
    match value:
        case Mapping():
            return {str(key): _nested(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_nested(inner) for inner in value]
    return value


def _without_zeros(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


def stored(kind: Kind, value: Value) -> Value:
    """What a column keeps of a value that fits it: CHAR is padded, a decimal has its scale."""
    if value is None:
        return None
    match kind.base:
        case "char":
            return value[: kind.width].ljust(kind.width)
        case "varchar":
            return value[: kind.width]
        case "decimal":
            scale = int(kind.type.rpartition(",")[2].rstrip(")"))
            return value.quantize(Decimal(1).scaleb(-scale), context=Context(prec=60))
    return value


def hive_sql(kind: Kind, name: str) -> str:
    """An expression whose text in Hive tells the column's value, whatever stands in it."""
    return f"hex({name})" if kind.base in {"string", "varchar", "char", "binary"} else name


def hive_shown(kind: Kind, text: str) -> str | None:
    """What ``shown`` gives of the value that Hive printed for ``hive_sql``."""
    if text == "NULL":
        return None
    match kind.base:
        case "string" | "varchar":
            return bytes.fromhex(text).decode()
        case "char":
            return bytes.fromhex(text).decode().rstrip(" ").ljust(kind.width)
        case "binary":
            return text.lower()
        case "float" | "double":
            return shown(kind, float(text))
        case "boolean":
            return text.capitalize()
        case "timestamp":
            return _without_zeros(text)
        case "array" | "map" | "struct":
            return json.dumps(json.loads(text), sort_keys=True, ensure_ascii=False)
    return text


PARTITION_TEXTS = (
    "a", "A", "ab", "a b", " a", "a/b=c", "100%", "%25", "a:b", "é", "日本", "x{y}", "it's", 'a"b',
    "#^*?", "a\\b", "1", "01", "-5", "NULL", "null", "a,b", "a;b", "x" * 120, "k=v", ".", "..",
    "_a", ".a", "~", "a\tb",
)  # fmt: skip
PARTITIONS = (
    INT,
    BIGINT,
    SMALLINT,
    TINYINT,
    _typed("string", PARTITION_TEXTS, quoted),
    _typed("varchar(5)", ("a", "ab", "é", "x=1"), quoted),
    _typed("char(4)", ("abcd", "ABCD", "a=/%", "ab", " b", ""), quoted, ordered=False),
    BOOLEAN,
    DATE,
    Kind("timestamp", TIMESTAMP.constants[:5], ordered=True),
    _decimal("decimal(10,2)", "0.00", "1.50", "-1.50", "99999999.99", "7.00"),
    Kind("double", tuple(Constant(one, repr(one)) for one in (0.5, -2.25, 1.0))),
    Kind("float", tuple(Constant(one, repr(one)) for one in (0.5, -2.25, 1.0))),
)
