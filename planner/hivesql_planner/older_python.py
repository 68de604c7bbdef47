"""What Python has from 3.11 on, for 3.10 too."""

from __future__ import annotations

import datetime
import enum
import re
import sys
from typing import Any, NoReturn

if sys.version_info >= (3, 11):
    from enum import StrEnum as StrEnum
    from typing import assert_never as assert_never
else:

    def assert_never(value: NoReturn) -> NoReturn:
        """Fail; type checkers complain where a value can come here."""
        raise AssertionError(f"nobody has thought of {value!r}")

    class StrEnum(str, enum.Enum):
        """Members that are texts, and are written as such."""

        def __str__(self) -> str:
            return str.__str__(self)

        def __format__(self, spec: str) -> str:
            return str.__format__(self, spec)


_FRACTION = re.compile(r"[.,](\d+)")


def add_note(error: BaseException, note: str) -> None:
    """Add a note to an error; Python 3.10 keeps it and does not show it."""
    if sys.version_info >= (3, 11):
        error.add_note(note)
        return
    noted: Any = error
    noted.__notes__ = [*getattr(error, "__notes__", ()), note]


def read_datetime(text: str) -> datetime.datetime:
    """Read a time as ISO 8601 writes it; ValueError where it is none."""
    if sys.version_info < (3, 11):
        # It knows fractions of three and of six digits alone, and no Z.
        text = _FRACTION.sub(lambda match: f".{match[1][:6]:0<6}", text)
        text = re.sub("Z$", "+00:00", text)
    return datetime.datetime.fromisoformat(text)
