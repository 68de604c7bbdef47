"""Bucket hashes against those that real Hive printed."""

from __future__ import annotations

import datetime
import decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from hivesql_executor.orc.bucket_hash import hash_array

REFERENCE = Path(__file__).with_name("bucket-hash-reference.txt")
_ARROW: dict[str, Any] = {
    "boolean": pa.bool_(),
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "string": pa.string(),
    "varchar": pa.string(),
    "char": pa.string(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "decimal": pa.decimal128(38, 10),
    "timestamp": pa.timestamp("us"),
}


def _value(kind: str, text: str) -> Any:
    if text == "NULL":
        return None
    if kind == "boolean":
        return text == "true"
    if kind in ("tinyint", "smallint", "int", "bigint"):
        return int(text)
    if kind in ("float", "double"):
        return float(text)
    if kind == "binary":
        return bytes.fromhex(text[2:-1])
    if kind == "date":
        return datetime.date.fromisoformat(text)
    if kind == "timestamp":
        return datetime.datetime.fromisoformat(text[:26])
    return decimal.Decimal(text) if kind == "decimal" else text


def _cases() -> list[Any]:
    cases = []
    for line in REFERENCE.read_text(encoding="utf-8").splitlines():
        parts = line.split("\t")
        kind = parts[0].partition("(")[0]
        if len(parts) < 8 or kind not in _ARROW:
            continue
        # Spark holds microseconds; Hive's nanoseconds cannot be represented.
        if kind == "timestamp" and len(parts[1].partition(".")[2].rstrip("0")) > 6:
            continue
        cases.append(
            pytest.param(kind, parts[1], int(parts[2]), int(parts[3]), id=f"{kind} {parts[1]}")
        )
    return cases


@pytest.mark.parametrize(("kind", "text", "first", "second"), _cases())
def test_hash_equals_hive(kind: str, text: str, first: int, second: int) -> None:
    digits = pa.decimal128(38, len(text.partition(".")[2])) if kind == "decimal" else None
    array = pa.array([_value(kind, text), None], digits or _ARROW[kind])
    if kind != "timestamp":  # version 1 depends on the time zone of Hive's JVM
        assert hash_array(array, kind, 1).tolist() == [first, 0]
    assert hash_array(array, kind, 2).tolist() == [second, 0]


def test_there_are_enough_cases() -> None:
    assert len(_cases()) > 60
