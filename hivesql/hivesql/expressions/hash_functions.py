"""HASH and MURMUR_HASH: Hive's own, in 32 bits that wrap around; digests of other than texts."""

from __future__ import annotations

from hivesql.dialect.value_types import Type
from hivesql.expressions.calls import Call, Rule
from hivesql_planner.errors import NotSupported
from hivesql_planner.model.conversions import conversion
from hivesql_planner.model.hive_type import (
    BINARY,
    BOOLEAN,
    FLOATS,
    INTEGERS,
    SIZED_TEXTS,
    STRING,
    TEXTS,
    TIMESTAMP,
    TINYINT,
    VOID,
    Kind,
)

_SMALL = (Kind.TINYINT, Kind.SMALLINT, Kind.INT)
_BY_BYTES = TEXTS | FLOATS | {Kind.BINARY, Kind.DECIMAL, Kind.TIMESTAMP}
# Inside of others, Spark does not tell these apart.
_UNTOLD = (*SIZED_TEXTS, Kind.INSTANT, Kind.UNION)


def hash_template(call: Call) -> str:
    """Return the hash of the first argument, times 31, plus that of the next, and so on."""
    total = ""
    for i, kind in enumerate(call.types):
        argument_hash = _java(kind, f"@{i}") if call.name == "hash" else _murmur(kind, f"@{i}")
        total = f"(31 * {total} + {argument_hash})" if total else argument_hash
    return total or "0"


def _java(kind: Type, value: str) -> str:
    """By the hash codes of Java, which numbers and dates have without a look at their bytes."""
    plain = {
        Kind.VOID: "0",
        Kind.BOOLEAN: f"CAST({value} AS INT)",
        Kind.BIGINT: f"CAST(shiftrightunsigned({value}, 32) ^ {value} AS INT)",
        Kind.DATE: f"unix_date({value})",
        **dict.fromkeys(_SMALL, f"CAST({value} AS INT)"),
    }
    expression = (plain.get(kind.kind) if kind else None) or _by_bytes(1, kind, value)
    return f"coalesce({expression}, 0)"


def _murmur(kind: Type, value: str) -> str:
    if kind in (BOOLEAN, TINYINT):
        return f"coalesce(CAST({value} AS INT), 0)"
    if kind == VOID:
        return "0"
    return f"coalesce({_by_bytes(2, kind, value)}, 0)"


def _by_bytes(version: int, kind: Type, value: str) -> str:
    if kind is not None and kind.is_nested and not kind.holds(*_UNTOLD):
        return f"hive_hash_{version}_nested({value})"
    kinds = _BY_BYTES if version == 1 else _BY_BYTES | INTEGERS | {Kind.DATE}
    if kind is None or kind.kind not in kinds:
        what = kind or "an expression whose type only Spark knows"
        raise NotSupported(f"{'hash' if version == 1 else 'murmur_hash'} of {what}")
    argument = f"CAST({value} AS TIMESTAMP_NTZ)" if kind == TIMESTAMP else value
    return f"hive_hash_{version}_{kind.kind}({argument})"


def _digest(call: Call) -> str | None:
    """Take the bytes of a number's or a time's text; Spark takes texts and bytes alone."""
    kind = call.type(0)
    if kind is None or kind.is_text or kind in (BINARY, VOID):
        return None
    text = conversion(kind, STRING, call.zone) or "CAST(@0 AS STRING)"
    return f"{call.name}({text})"


HASHES: dict[str, Rule] = {
    "hash": hash_template,
    "murmur_hash": hash_template,
    **dict.fromkeys(("crc32", "md5", "sha", "sha1"), _digest),
}
