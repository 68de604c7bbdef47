"""The metastore's database is killed, and comes back, while sessions write."""

from __future__ import annotations

from pathlib import Path

import pytest

from killed_databases import walk_of

KINDS = [
    pytest.param("postgres", marks=pytest.mark.postgres),
    pytest.param("mariadb", marks=pytest.mark.mariadb),
]


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_lost_or_done_twice_when_the_database_is_killed(
    kind: str, tmp_path: Path
) -> None:
    """And clients go on, no error is a driver's, and no lock stays."""
    found, walk = walk_of(kind, tmp_path, seed=1, strikes=8)
    assert found == []
    assert len(walk.there) > 0
    assert walk.errors


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_lost_or_done_twice_where_the_wire_breaks(kind: str, tmp_path: Path) -> None:
    """In the middle of a message, between two, or only for a while."""
    found, walk = walk_of(kind, tmp_path, seed=1, strikes=8, by_wire=True)
    assert found == []
    assert len(walk.there) > 0
