"""Sessions that change definitions at once, over a real Hive Metastore.

Its transformer makes external tables of those that are not transactional.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

import hivesql
from definition_races import EXTERNAL_RACES, RACES, Race, check_race
from interop import hive

pytestmark = [pytest.mark.hive, pytest.mark.slow]
# Roles and privileges are refused there.
OVER_THRIFT = {
    name: race for name, race in (RACES | EXTERNAL_RACES).items() if "ROLE" not in race.before
}


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real metastore."""
    with hive.metastore(tmp_path_factory.mktemp("hms")) as url:
        yield url


@pytest.fixture
def connect(address: str) -> Iterator[Callable[[], hivesql.Session]]:
    """Opens sessions; what they leave is removed."""
    with ExitStack() as sessions:
        yield lambda: sessions.enter_context(hivesql.connect(address, user="ann"))
    with hivesql.connect(address, user="ann") as session:
        for (name,) in session.sql("SHOW DATABASES").rows:
            if name != "default":
                session.sql(f"DROP DATABASE {name} CASCADE")
        for row in session.sql("SHOW VIEWS").rows:
            session.sql(f"DROP VIEW {row[0]}")
        for row in session.sql("SHOW TABLES").rows:
            session.sql(f"ALTER TABLE {row[0]} SET TBLPROPERTIES ('external.table.purge'='true')")
            session.sql(f"DROP TABLE {row[0]}")
        session.sql("DROP FUNCTION IF EXISTS f")


@pytest.mark.parametrize("race", OVER_THRIFT.values(), ids=OVER_THRIFT)
def test_another_session_is_first(race: Race, connect: Callable[[], hivesql.Session]) -> None:
    first, second = connect(), connect()
    place = first.runtime.metastore.database("default").location
    check_race(race, first, second, Path(place.removeprefix("file:")))
