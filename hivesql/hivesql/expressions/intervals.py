"""Intervals: Hive's functions and texts of them."""

from __future__ import annotations

from hivesql.dialect.value_types import Type, is_interval, is_number, is_text
from hivesql.expressions.calls import Call, Rule, takes
from hivesql.python_sqlglot import exp
from hivesql_planner.errors import NotSupported, SemanticError
from hivesql_planner.model.hive_type import (
    DATE,
    DAY_TIME,
    INSTANT,
    INT,
    STRING,
    TIMESTAMP,
    VOID,
    YEAR_MONTH,
    HiveType,
)

_MONTHS = "CAST(CAST(@0 AS INTERVAL YEAR TO MONTH) AS STRING)"
_SECONDS = "CAST(CAST(@0 AS INTERVAL DAY TO SECOND) AS STRING)"
TEXTS = {
    YEAR_MONTH: f"regexp_extract({_MONTHS}, '(-?[0-9]+-[0-9]+)', 1)",
    DAY_TIME: (
        f"concat(regexp_extract({_SECONDS}, '(-?[0-9]+ [0-9]+:[0-9]+:[0-9]+)', 1), '.', "
        f"rpad(regexp_extract({_SECONDS}, '[.]([0-9]+)', 1), 9, '0'))"
    ),
}
"""Hive's texts of the two kinds."""
_OF_UNITS = {
    "year": "make_ym_interval(@0)",
    "month": "make_ym_interval(0, @0)",
    "day": "make_dt_interval(@0)",
    "hour": "make_dt_interval(0, @0)",
    "minute": "make_dt_interval(0, 0, @0)",
    "second": "make_dt_interval(0, 0, 0, @0)",
    "year to month": "CAST(@0 AS INTERVAL YEAR TO MONTH)",
    "day to second": "CAST(@0 AS INTERVAL DAY TO SECOND)",
}
_MOMENTS = (TIMESTAMP, INSTANT)
UNITS_OF_MONTHS = ("year", "month", "years", "months")


def interval_type(node: exp.Interval) -> Type:
    """Return the type of an interval in the text; None where its unit is not told."""
    unit = node.args.get("unit")
    word = unit.this.name if isinstance(unit, exp.IntervalSpan) else unit.name if unit else ""
    if not word and isinstance(node.this, exp.Literal):
        # Behind an interval and + sqlglot takes any constant for another interval.
        return INT if node.name.isdigit() else STRING
    if not word:
        return None
    return YEAR_MONTH if word.lower() in UNITS_OF_MONTHS else DAY_TIME


def interval_of(unit: str) -> str:
    """Tell how Spark makes an interval of an expression, by the words of its unit."""
    words = " ".join(unit.lower().split())
    template = _OF_UNITS.get(words.removesuffix("s"))
    if template is None:
        raise NotSupported(f"an interval of an expression in {words}")
    return template


def check_terms(operator: str, kinds: tuple[Type, Type]) -> None:
    """Refuse what Hive does not calculate of intervals and times, by both operands' types.

    Raises SemanticError 10014. Types that are not known are left to Spark.
    """
    left, right = kinds
    if None in kinds:
        return
    if DATE in kinds and operator not in "+-":
        raise SemanticError(f"No matching method for {operator} with ({left}, {right})", code=10014)
    if not any(is_interval(kind) or kind in _MOMENTS for kind in kinds):
        return
    both = is_interval(left) and is_interval(right)
    takes_operator = operator in "+-" and not any(is_number(kind) or kind == VOID for kind in kinds)
    if takes_operator and (left == right or not both):
        return
    raise SemanticError(f"No matching method for {operator} with ({left}, {right})", code=10014)


def _of_text(kind: HiveType) -> Rule:
    target = "YEAR TO MONTH" if kind == YEAR_MONTH else "DAY TO SECOND"

    def rule(call: Call) -> str:
        takes(1, 1)(call)
        source = call.type(0)
        if source is not None and source not in (kind, VOID) and not is_text(source):
            raise SemanticError(f"{call.name} takes texts, not {source}", code=10016)
        # Spark takes an interval that is none for an error, Hive for NULL.
        return "@0" if source == kind else f"try_cast(@0 AS INTERVAL {target})"

    return rule


def part_of_interval(kind: Type, unit: str) -> str | None:
    """Tell how Spark takes a part of an interval; None when it is of something else."""
    if not is_interval(kind):
        return None
    part = f"extract({unit.upper()} FROM @0)"
    return f"CAST({part} AS INT)"


INTERVALS: dict[str, Rule] = {
    "interval_year_month": _of_text(YEAR_MONTH),
    "interval_day_time": _of_text(DAY_TIME),
}
