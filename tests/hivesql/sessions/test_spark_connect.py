"""Sessions of Spark Connect, whose server runs nothing of ours."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import hivesql
from hivesql_planner.errors import NotSupported


@pytest.fixture
def connected() -> Iterator[Any]:
    """A session of a server that need not be there: nothing is asked of it."""
    from pyspark.sql.connect.session import SparkSession

    session = SparkSession.builder.remote("sc://localhost:9").create()
    yield session
    session.client.close()


def test_they_are_refused_before_anything_is_made(connected: Any, tmp_path: Path) -> None:
    place = {"metastore": f"sqlite:///{tmp_path}/m.db", "warehouse": f"{tmp_path}/warehouse"}
    with pytest.raises(
        NotSupported, match=r"a session of Spark Connect: .* Give a session of this"
    ):
        hivesql.connect(**place, spark=connected)
    with pytest.raises(NotSupported, match="a session of Spark Connect"):
        hivesql.register_catalog(connected, **place)
    assert list(tmp_path.iterdir()) == []
