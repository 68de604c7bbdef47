"""Row ids: write id, bucket property, row number; and the bits of the bucket property."""

from __future__ import annotations

from dataclasses import dataclass

from hivesql_planner.errors import DataError, SemanticError

MAX_BUCKET = 4095
MAX_STATEMENT = 4095
_VERSION_SHIFT, BUCKET_SHIFT = 29, 16
BUCKET_MASK = 0xFFF
"""Both the bucket and the statement id have twelve bits (BucketCodec.V1)."""


@dataclass(frozen=True, slots=True)
class Bucket:
    """A decoded bucket property."""

    version: int
    bucket: int
    statement_id: int


def encode_bucket(bucket: int, statement_id: int = 0) -> int:
    """Pack bucket (or writer number) and statement id; -1, no statement id, counts as 0."""
    if not 0 <= bucket <= MAX_BUCKET:
        raise SemanticError(f"bucket {bucket} is out of range 0..{MAX_BUCKET}")
    if not -1 <= statement_id <= MAX_STATEMENT:
        raise SemanticError(f"statement id {statement_id} is out of range 0..{MAX_STATEMENT}")
    return 1 << _VERSION_SHIFT | bucket << BUCKET_SHIFT | max(0, statement_id)


def decode_bucket(value: int) -> Bucket:
    """Unpack a bucket property; version 0 values are the bucket itself."""
    version = value >> _VERSION_SHIFT
    if version == 0:
        return Bucket(0, value, 0)
    if version == 1:
        return Bucket(1, value >> BUCKET_SHIFT & BUCKET_MASK, value & BUCKET_MASK)
    raise DataError(f"{value} is not a bucket property: its codec version is neither 0 nor 1")
