"""A house for the cases of one file of tests."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from scratch import in_memory
from simulation.world import House


@pytest.fixture(scope="module")
def house() -> Iterator[House]:
    with tempfile.TemporaryDirectory(prefix="hivesql-simulation-", dir=in_memory()) as place:
        house = House(Path(place))
        yield house
        house.close()
