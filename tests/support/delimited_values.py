"""Delimited text and the values that real Hive 4.1 made of it: for all that read such text."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any

NAN, INF = "NaN", "Infinity"

VALUES: dict[str, dict[str, Any]] = {
    "tinyint": {"1": 1, " 1": None, "1.9": 1, "128": None, "": None, "+1": 1, "1 ": None},
    "int": {"3": 3, "1e1": None, "1.": 1, ".5": 0, ".": None, "2147483648": None, "0x1": None},
    "bigint": {"9223372036854775808": None, "-5": -5, "1L": None},
    "float": {" 1.5": 1.5, "1.5f": 1.5, "1e400": INF, "nan": None, "Inf": None, "+": None},
    "double": {"2.5d ": 2.5, NAN: NAN, "-NaN": NAN, INF: INF, "inf": None, "1_0": None, "1e5": 1e5},
    "boolean": {"TRUE": True, " true": None, "False": False, "1": None, "t": None, "yes": None},
    "string": {" x ": " x ", "NULL": "NULL", "\\N": None, "": ""},
    "char(5)": {"abcdefgh": "abcde", " ab ": " ab", "日本語日本語": "日本語日本"},
    "varchar(5)": {"abcdefgh": "abcde", " abc  ": " abc "},
    "decimal(10,2)": {
        " 3.14": Decimal("3.14"), "3.146": Decimal("3.15"), "1e2": 100, ".5": Decimal("0.50"),
        "12345678.905": Decimal("12345678.91"), "12345678905": None, "1,000": None, "x": None,
    },
    "date": {
        "2020-01-02 03:04": date(2020, 1, 2), "2020-1-2": date(2020, 1, 2), "2020-13-45": None,
        "2020-01-02x": date(2020, 1, 2), "12020-01-01": None, "20-01-02": date(20, 1, 2),
        "2021-02-29": None, "2020-01": None, "1582-10-10": date(1582, 10, 10), "2020-01-023": None,
    },
    "timestamp": {
        "2020-01-02 03:04:05.123": datetime(2020, 1, 2, 3, 4, 5, 123000),
        " 2020-1-2 3:4:5 ": datetime(2020, 1, 2, 3, 4, 5),
        "2020-01-02T03:04:05": datetime(2020, 1, 2, 3, 4, 5),
        "2020-01-02": None, "2020-01-02 25:04:05": None, "2020-01-02 03:04:05 UTC": None,
        "2020-01-02 03:04:05.": None, "2020-1-2T3:4:5": None,
        "1582-10-10 00:00:00": datetime(1582, 10, 10),
    },
    "binary": {
        "aGVsbG8=": b"hello", "aGVsbG8": b"hello", "hello": b"hello", "YQ==YQ": b"YQ==YQ",
        "====": b"====", "": b"", "x y": b"x y",
    },
}  # fmt: skip
"""Of each type: texts and their values; CHAR without the blanks that pad it."""

LINES: dict[str, tuple[str, dict[str, tuple[Any, ...]]]] = {
    "\x01\x02\x03": (
        "a array<string>, "
        "s struct<a:struct<b:int,c:array<string>>,d:map<int,struct<x:int,y:string>>>",
        {
            "p\x02q\x017\x03u\x04v\x028\x041\x05w\x039\x042\x05z": (
                ["p", "q"],
                {"a": {"b": 7, "c": ["u", "v"]}, "d": {8: (1, "w"), 9: (2, "z")}},
            )
        },
    ),
    "|:=": (
        "a array<string>, m map<string,int>, st struct<x:int,y:string>, z string",
        {
            "a:b:c|k=1:l=2|1:x|z": (["a", "b", "c"], {"k": 1, "l": 2}, {"x": 1, "y": "x"}, "z"),
            "|||": ([], {}, {"x": None, "y": None}, ""),
            "\\N|\\N|\\N|\\N": (None,) * 4,
            ":|:|:|z": (["", ""], {"": None}, {"x": None, "y": ""}, "z"),
            "a:\\N:|k:=:=3:k=9|\\N:y:more|z": (
                ["a", None, ""],
                {"k": None, "": None},
                {"x": None, "y": "y"},
                "z",
            ),
            "a|\\N=3:k=1=2:l|x:y": (["a"], {"k": None, "l": None}, {"x": None, "y": "y"}, None),
        },
    ),
}
"""By the separators of fields, items and keys: columns, and the rows of lines."""
