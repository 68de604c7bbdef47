"""Tests of partition values as SQL."""

from __future__ import annotations

from sqlalchemy import BigInteger, ColumnElement, and_, case, cast, collate, func, or_, true

from hivesql_planner.predicates.partitions import COMPARE, DATE_LENGTH, MOST_DIGITS, PartitionTest


def passes(value: ColumnElement[str], test: PartitionTest, dialect: str) -> ColumnElement[bool]:
    """Whether a value of PARTITION_KEY_VALS may be wanted."""
    compare = COMPARE[test.operator]
    if test.kind == "integer":
        # Only plain digits are compared here: casts of other texts fail, or are 0.
        number = cast(value, BigInteger)
        plain = and_(func.length(value) <= MOST_DIGITS, _has_digits_only(value, dialect))
        return case((plain, or_(*(compare(number, int(one)) for one in test.values))), else_=true())
    # Code points decide, not a language's order.
    text = collate(value, "C") if dialect == "postgresql" else value
    holds = or_(*(compare(text, one) for one in test.values))
    if test.kind == "date":
        return case((func.length(value) == DATE_LENGTH, holds), else_=true())
    return holds


def _has_digits_only(value: ColumnElement[str], dialect: str) -> ColumnElement[bool]:
    if dialect == "postgresql":
        return value.regexp_match("^[0-9]+$")
    return value.op("NOT GLOB", is_comparison=True)("*[^0-9]*")
