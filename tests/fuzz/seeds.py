"""Which walks the tests take: others each day, or those that ``HIVESQL_FUZZ_SEED`` says."""

from __future__ import annotations

import os
import time

import pytest

CHOSEN = os.environ.get("HIVESQL_FUZZ_SEED", "")
# New each day, and the same all day: what fails in one run can be looked into in the next.
FIRST = CHOSEN or f"day{int(time.time()) // 86_400}"
AGAIN = f"HIVESQL_FUZZ_SEED={FIRST}"
"""What brings the same walks again."""

when_chosen = pytest.mark.skipif(not CHOSEN, reason="HIVESQL_FUZZ_SEED says which walks to take")
