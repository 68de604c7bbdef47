"""Sessions that change definitions at once, in metastores of our own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

import hivesql
from definition_races import EXTERNAL_RACES, RACES, Race, check_race

KINDS = ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres),
         pytest.param("mariadb", marks=pytest.mark.mariadb)]  # fmt: skip


@pytest.fixture
def connect(
    tmp_path: Path, prepared: Callable[..., str]
) -> Iterator[Callable[..., hivesql.Session]]:
    """Opens sessions of a user who may make roles."""
    with ExitStack() as sessions:
        urls: dict[str, str] = {}

        def open_one(kind: str) -> hivesql.Session:
            url = urls.get(kind) or urls.setdefault(kind, prepared(kind, tmp_path / "w"))
            settings = {"hive.users.in.admin.role": "ann"}
            session = hivesql.connect(url, str(tmp_path / "w"), settings=settings, user="ann")
            return sessions.enter_context(session)

        yield open_one


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("race", RACES.values(), ids=RACES)
def test_another_session_is_first(
    kind: str, race: Race, connect: Callable[[str], hivesql.Session], tmp_path: Path
) -> None:
    check_race(race, connect(kind), connect(kind), tmp_path / "w")


@pytest.mark.parametrize("race", EXTERNAL_RACES.values(), ids=EXTERNAL_RACES)
def test_another_session_is_first_at_a_table_without_locks(
    race: Race, connect: Callable[[str], hivesql.Session], tmp_path: Path
) -> None:
    check_race(race, connect("sqlite"), connect("sqlite"), tmp_path / "w")
