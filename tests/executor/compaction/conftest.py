"""A warehouse made by hand, on each metastore."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hand_made import Warehouse


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def house(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Warehouse]:
    """A table ``t`` whose directories the test makes."""
    url = request.getfixturevalue("postgres_url") if request.param == "postgres" else None
    house = Warehouse(tmp_path, url=url)
    yield house
    house.close()
