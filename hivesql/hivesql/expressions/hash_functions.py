"""HASH and MURMUR_HASH: Hive's own hashes, in 32 bits that wrap around."""

from __future__ import annotations

import re

from hivesql.dialect.value_types import INTEGERS, Type, family
from hivesql.expressions.calls import Call, Rule
from hivesql_planner.errors import NotSupported

_SMALL = ("tinyint", "smallint", "int")
_BY_BYTES = ("string", "varchar", "char", "binary", "decimal", "float", "double", "timestamp")
# Inside of others, Spark does not tell these apart.
_UNTOLD = re.compile(r"\b(?:var)?char\b|timestamplocaltz|uniontype")


def hash_template(call: Call) -> str:
    """Return the hash of the first argument, times 31, plus that of the next, and so on."""
    total = ""
    for i, kind in enumerate(call.types):
        one = _java(kind, f"@{i}") if call.name == "hash" else _murmur(kind, f"@{i}")
        total = f"(31 * {total} + {one})" if total else one
    return total or "0"


def _java(kind: Type, value: str) -> str:
    """By the hash codes of Java, which numbers and dates have without a look at their bytes."""
    plain = {
        "void": "0",
        "boolean": f"CAST({value} AS INT)",
        "bigint": f"CAST(shiftrightunsigned({value}, 32) ^ {value} AS INT)",
        "date": f"unix_date({value})",
        **dict.fromkeys(_SMALL, f"CAST({value} AS INT)"),
    }
    found = plain.get(kind or "") or _by_bytes(1, kind, value)
    return f"coalesce({found}, 0)"


def _murmur(kind: Type, value: str) -> str:
    if kind in ("boolean", "tinyint"):
        return f"coalesce(CAST({value} AS INT), 0)"
    if kind == "void":
        return "0"
    return f"coalesce({_by_bytes(2, kind, value)}, 0)"


def _by_bytes(version: int, kind: Type, value: str) -> str:
    name = (kind or "").partition("(")[0]
    if family(kind) in ("array", "map", "struct") and not _UNTOLD.search(kind or ""):
        return f"hive_hash_{version}_nested({value})"
    known = _BY_BYTES if version == 1 else (*_BY_BYTES, *INTEGERS, "date")
    if name not in known:
        what = kind or "an expression whose type only Spark knows"
        raise NotSupported(f"{'hash' if version == 1 else 'murmur_hash'} of {what}")
    given = f"CAST({value} AS TIMESTAMP_NTZ)" if name == "timestamp" else value
    return f"hive_hash_{version}_{name}({given})"


HASHES: dict[str, Rule] = {"hash": hash_template, "murmur_hash": hash_template}
