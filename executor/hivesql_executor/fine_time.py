"""A timestamp with nanoseconds, as Hive's are."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

_FINER = re.compile(r":\d\d\.\d{6}(\d{1,3})$")


class FineTime(datetime):
    """A datetime that knows and shows what comes after its microseconds.

    It compares, and counts, as the datetime that it is: by microseconds.
    """

    nanosecond: int = 0
    """Billionths of a second after the microsecond: 0 to 999."""

    @classmethod
    def of(cls, time: datetime, nanosecond: int) -> FineTime:
        """The time, and so many nanoseconds."""
        made = cls(*time.timetuple()[:6], time.microsecond)
        made.nanosecond = nanosecond
        return made

    def isoformat(self, sep: str = "T", timespec: str = "auto") -> str:
        """As of every datetime, with nine digits where no other number is asked for."""
        if timespec != "auto":
            return super().isoformat(sep, timespec)
        return f"{super().isoformat(sep, 'microseconds')}{self.nanosecond:03d}"

    def __repr__(self) -> str:
        return f"FineTime({self.isoformat(' ')!r})"

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        plain = datetime(*self.timetuple()[:6], self.microsecond)
        return FineTime.of, (plain, self.nanosecond)


def with_text(time: datetime | None, text: str | None) -> datetime | None:
    """The time, with what its text says of nanoseconds."""
    found = _FINER.search(text) if text else None
    if found is None or time is None:
        return time
    nanosecond = int(found[1].ljust(3, "0"))
    return FineTime.of(time, nanosecond) if nanosecond else time
