"""Errors outside of any statement."""

from __future__ import annotations

import sys

from hivesql import HiveSqlError


def print_error(error: HiveSqlError) -> None:
    """Print an error with what helps, where that is not in its message."""
    for line in (f"ERROR: {error}", *(f"  {note}" for note in getattr(error, "__notes__", ()))):
        print(line, file=sys.stderr)
