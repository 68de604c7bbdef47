"""The bucket property of a row id: Hive's BucketCodec."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hivesql_planner.acid.row_id import (
    MAX_BUCKET,
    MAX_STATEMENT,
    Bucket,
    decode_bucket,
    encode_bucket,
)
from hivesql_planner.errors import DataError, SemanticError

CODES = [
    # bucket, statement id, value
    (0, 0, 536870912),
    (1, 0, 536936448),
    (0, 1, 536870913),
    (0, 2, 536870914),
    (1, 2, 536936450),
    (1, 1, 536936449),
    (2, 0, 537001984),
    (0, 3, 536870915),
    (4095, 0, 805240832),
    (4095, 4095, 805244927),
]


@pytest.mark.parametrize(("bucket", "statement_id", "value"), CODES)
def test_codes(bucket: int, statement_id: int, value: int) -> None:
    assert encode_bucket(bucket, statement_id) == value
    assert decode_bucket(value) == Bucket(1, bucket, statement_id)


def test_no_statement_id_counts_as_zero() -> None:
    assert encode_bucket(3, -1) == encode_bucket(3, 0) == encode_bucket(3)


@pytest.mark.parametrize("value", [0, 1, 7, 4095])
def test_version_zero_is_the_bucket(value: int) -> None:
    assert decode_bucket(value) == Bucket(0, value, 0)


@pytest.mark.parametrize("value", [-1, -(2**31), 2 << 29, 3 << 29, 1 << 32])
def test_other_versions_are_errors(value: int) -> None:
    with pytest.raises(DataError, match=str(value)):
        decode_bucket(value)


@pytest.mark.parametrize(("bucket", "statement_id"), [(-1, 0), (4096, 0), (0, -2), (0, 4096)])
def test_what_does_not_fit_is_an_error(bucket: int, statement_id: int) -> None:
    with pytest.raises(SemanticError, match="out of range"):
        encode_bucket(bucket, statement_id)


@given(st.integers(0, MAX_BUCKET), st.integers(0, MAX_STATEMENT))
def test_decoding_undoes_encoding(bucket: int, statement_id: int) -> None:
    value = encode_bucket(bucket, statement_id)
    assert decode_bucket(value) == Bucket(1, bucket, statement_id)
    assert 0 < value < 2**31
