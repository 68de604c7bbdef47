"""Which walks the tests take: none, unless ``HIVESQL_FUZZ_SEED`` says which."""

from __future__ import annotations

import os

import pytest

FIRST = os.environ.get("HIVESQL_FUZZ_SEED", "")

# A walk that finds a defect is for whoever looks for one, not for whoever changes something else.
when_chosen = pytest.mark.skipif(not FIRST, reason="HIVESQL_FUZZ_SEED says which walks to take")
