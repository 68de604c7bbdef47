"""DATE and TIMESTAMP values that Hive has and Python has not: its years are 1 to 9999."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from hivesql_planner.errors import DataError

# What the conversions of Python, PySpark and pyarrow say.
_SAID = re.compile(
    r"year -?\d+ is out of range|ordinal must be >= 1|date value out of range|year is out of range"
    r"|days=-?\d+; must have magnitude"
)


def is_outside_years(error: Exception) -> bool:
    """Tell whether the error is that of a time whose year Python does not have."""
    return isinstance(error, (ValueError, OverflowError)) and bool(_SAID.search(str(error)))


def outside_years(columns: Sequence[str] = ()) -> DataError:
    """Make the error for the user; ``columns`` may hold the value, none where that is unknown."""
    where = f" in {' or '.join(columns)}" if columns else ""
    return DataError(
        f"a DATE or TIMESTAMP{where} is outside of the years 1 to 9999, and Python has no others: "
        "select it as CAST(… AS STRING), or leave such rows out by a condition"
    )


@contextmanager
def naming_times(columns: Sequence[tuple[str, str]]) -> Iterator[None]:
    """Tell which columns, of these names and Spark's types, hold what Python has not."""
    try:
        yield
    except (ValueError, OverflowError) as error:
        times = [name for name, kind in columns if "date" in kind or "timestamp" in kind]
        if not times or not is_outside_years(error):
            raise
        raise outside_years(times) from error
