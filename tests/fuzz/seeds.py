"""Which walks the suite takes: others each time, unless ``HIVESQL_FUZZ_SEED`` says which."""

from __future__ import annotations

import os
import random

FIRST = os.environ.get("HIVESQL_FUZZ_SEED") or str(random.SystemRandom().randrange(10**9))
