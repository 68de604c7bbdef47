"""Constants of a statement as values."""

from __future__ import annotations

import math
import re
from decimal import Decimal

from hivesql.dialect.numbers import number
from hivesql.dialect.structure import place_of
from hivesql.python_sqlglot import exp
from hivesql_planner.model.hive_type import BITS, DOUBLE
from hivesql_planner.predicates.constants import day, wall_clock
from hivesql_planner.predicates.predicate import Constant

_DIGITS = re.compile(r"([\d.]+)([eE][+-]?\d+)?")
_TYPED = re.compile(r"(date|timestamp)\s*['\"]", re.IGNORECASE)


def constant_of(node: exp.Expr, sql: str) -> Constant | None:
    """Return the value of a constant; None for all else. ``sql`` is the statement's text."""
    node = node.unnest()
    match node:
        case exp.Null():
            return Constant(None)
        case exp.Boolean():
            return Constant(bool(node.this))
        case exp.Literal():
            return Constant(str(node.this)) if node.is_string else number_of(str(node.this))
        case exp.Neg():
            return _negative(constant_of(node.this, sql))
        case exp.Cast() if isinstance(node.this, exp.Literal) and not node.args.get("format"):
            start, end = place_of(node)
            return _cast(node.this, node.to, sql[start:end])
    return None


def _negative(inner: Constant | None) -> Constant | None:
    value = inner.value if inner is not None else None
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        return None
    # The least BIGINT has no opposite.
    return Constant(-(2**63) if value == 2**63 and isinstance(value, Decimal) else -value)


def number_of(text: str) -> Constant | None:
    """Return a number as Hive reads it, by its digits and its suffix; None where only Spark may."""
    kind, _ = number(text)
    match = _DIGITS.match(text)
    if kind is None or match is None:
        return None
    digits = match[1]
    if kind == DOUBLE:
        double = float(match[0])
        return Constant(double) if math.isfinite(double) else None
    if kind.kind in BITS:
        return Constant(int(digits))
    # Hive drops the last zeros.
    integral, _, fraction = digits.partition(".")
    fraction = fraction.rstrip("0")
    return Constant(Decimal(f"{integral}.{fraction}" if fraction else integral))


def time_of(word: str, text: str) -> Constant | None:
    """Return the value of ``DATE 'text'`` or ``TIMESTAMP 'text'``; None where only Spark may."""
    value = day(text) if word.lower() == "date" else wall_clock(text)
    return Constant(value) if value is not None else None


def _cast(literal: exp.Literal, to: exp.DataType, written: str) -> Constant | None:
    """Return the value of ``10L``, ``DATE '2024-01-01'`` and casts that change nothing."""
    if written[0].isdigit():
        return number_of(written)
    text = str(literal.this)
    if typed := _TYPED.match(written):
        return time_of(typed[1], text)
    if not literal.is_string:
        bits = next((bits for kind, bits in BITS.items() if to.is_type(kind.value)), 0)
        fits = bits and text.isdigit() and int(text) < 2 ** (bits - 1)
        return Constant(int(text)) if fits else None
    return time_of("date", text) if to.is_type("date") else None
