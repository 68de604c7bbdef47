"""Durations as settings and properties have them."""

from __future__ import annotations

_UNITS = {
    "ns": 1e-9, "nsec": 1e-9,
    "us": 1e-6, "usec": 1e-6,
    "ms": 1e-3, "msec": 1e-3,
    "s": 1.0, "sec": 1.0,
    "m": 60.0, "min": 60.0,
    "h": 3600.0, "hour": 3600.0,
    "d": 86400.0, "day": 86400.0,
}  # fmt: skip


def read_duration(text: str, usual: str = "") -> float | None:
    """Return the seconds of ``300s``, ``100ms``, ``5m`` or ``7 days``; None for anything else.

    A number alone has the ``usual`` unit.
    """
    text = text.strip().lower()
    digits = text.rstrip("abcdefghijklmnopqrstuvwxyz ")
    unit = text[len(digits) :].strip() or usual
    size = _UNITS.get(unit) or (_UNITS.get(unit.removesuffix("s")) if len(unit) > 2 else None)
    try:
        return None if size is None else float(digits) * size
    except ValueError:
        return None
