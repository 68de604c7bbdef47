"""Which walks the tests take: always the same, or those that ``HIVESQL_FUZZ_SEED`` says."""

from __future__ import annotations

import os

import pytest

CHOSEN = os.environ.get("HIVESQL_FUZZ_SEED", "")
# A new walk that finds a defect is for whoever looks for one, not for whoever changes something
# else: ``make fuzz`` takes those.
FIRST = CHOSEN or "third"
AGAIN = f"HIVESQL_FUZZ_SEED={FIRST}"
"""What brings the same walks again."""

when_chosen = pytest.mark.skipif(not CHOSEN, reason="HIVESQL_FUZZ_SEED says which walks to take")
