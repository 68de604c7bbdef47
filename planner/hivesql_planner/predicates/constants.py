"""Texts of constants that are read as they stand: all others are left to Spark."""

from __future__ import annotations

import re
from datetime import date, datetime

NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_TIMESTAMP = re.compile(r"\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}(?:\.\d{1,6})?")


def day(text: str) -> date | None:
    """Return the day of ``2020-01-31``; None for all else."""
    if not DATE.fullmatch(text):
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def wall_clock(text: str) -> datetime | None:
    """Return the time of ``2020-01-31 23:59:59.123456``; None for all else."""
    if not _TIMESTAMP.fullmatch(text):
        return None
    seconds, _, fraction = text.partition(".")
    try:
        value = datetime.fromisoformat(seconds)
    except ValueError:
        return None
    return value.replace(microsecond=int(fraction.ljust(6, "0")) if fraction else 0)
