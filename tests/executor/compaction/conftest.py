"""A warehouse made by hand, on each metastore."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hand_made import Warehouse


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def house(
    request: pytest.FixtureRequest, tmp_path: Path, prepared: Callable[..., str]
) -> Iterator[Warehouse]:
    """A table ``t`` whose directories the test makes."""
    house = Warehouse(tmp_path, url=prepared(request.param, tmp_path / "wh"))
    yield house
    house.close()
