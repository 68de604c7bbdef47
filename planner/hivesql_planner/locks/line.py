"""When somebody who waits for a lock looks again whether it is free."""

from __future__ import annotations

# How often whoever is next looks at first, and at most where those before it were quick.
_LOOK, _QUICK_LOOK = 0.005, 0.002
# The others look at most so seldom, and never later than after this part of what they expect.
_LONGEST_LOOK, _EARLY = 0.25, 0.5
# Who is next looks so often in the time that a request takes to go.
_LOOKS = 8
# After long waits they look more seldom: a look late by so small a part is not felt.
_PART, _SELDOM_LOOK = 50, 0.05
_OTHERS_PART = 8


class Line:
    """What somebody who waits in line for a lock has seen of those before it.

    How long they take is told by looks, so it contains how late these were. Who slept for all of it
    would be late again, and so would everybody behind: all look early, and believe what is quick.
    """

    def __init__(self) -> None:
        self._before: int | None = None
        self._each = 0.0
        self._waited = 0.0

    def pause(self, before: int) -> float:
        """Tell for how long to sleep with so many, at least one, still before one."""
        if self._before is not None and before < self._before:
            each = self._waited / (self._before - before)
            # Of one that was slow nobody knows whether the next ones are.
            self._each = min(each, (self._each + each) / 2) if self._each else each
            self._waited = 0.0
        self._before = before
        if before > 1:
            expected = (before - 1) * self._each * _EARLY
            pause = max(expected, _LOOK * before, self._waited / _OTHERS_PART)
            pause = min(pause, _LONGEST_LOOK)
        else:
            least = _QUICK_LOOK if self._each else _LOOK
            pause = max(self._each / _LOOKS, self._waited / _PART, least)
            pause = min(pause, _SELDOM_LOOK)
        self._waited += pause
        return pause
