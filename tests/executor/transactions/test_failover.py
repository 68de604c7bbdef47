"""A standby of PostgreSQL takes over, with all commits or without the last ones."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import hivesql
from failing_postgres import Postgres, either_url, running_postgres, running_standby
from hivesql.services import run_services
from hivesql.streaming import HiveStreamingConnection, StrictDelimitedInputWriter
from hivesql_planner.errors import ExecutionError, TransactionLost

pytestmark = pytest.mark.postgres

CREATE = """
    CREATE TRANSACTIONAL TABLE t (id INT) PARTITIONED BY (p INT) STORED AS ORC;
    CREATE TRANSACTIONAL TABLE u (id INT) STORED AS ORC;
"""
BY_ID = "SELECT id, p FROM t ORDER BY id"


@pytest.fixture
def pair() -> Iterator[tuple[Postgres, Postgres]]:
    """A server with the database ``m``, and its standby."""
    with running_postgres() as primary:
        primary.do("CREATE DATABASE m")
        with running_standby(primary) as standby:
            yield primary, standby


@pytest.fixture
def connect(
    pair: tuple[Postgres, Postgres], tmp_path: Path
) -> Iterator[Callable[..., hivesql.Session]]:
    """Opens sessions whose statements go to whichever server may be written."""
    opened: list[hivesql.Session] = []

    def open_one(**options: str) -> hivesql.Session:
        url = either_url(*pair, "m")
        opened.append(
            hivesql.connect(url, str(tmp_path / "w"), settings=options, notify=told.append)
        )
        return opened[-1]

    told: list[str] = []
    yield open_one
    for session in opened:
        session.close()


def rows(session: hivesql.Session, query: str) -> list[tuple[object, ...]]:
    return [tuple(row) for row in session.sql(query).rows]


def test_a_standby_that_has_all_goes_on(
    pair: tuple[Postgres, Postgres], connect: Callable[..., hivesql.Session]
) -> None:
    primary, standby = pair
    primary.do("ALTER SYSTEM SET synchronous_standby_names = '*'")
    primary.do("SELECT pg_reload_conf()")
    writer, other = connect(), connect()
    writer.sql(CREATE)
    writer.sql("INSERT INTO t PARTITION (p = 1) VALUES (1), (2)")
    other.sql("START TRANSACTION")
    other.sql("INSERT INTO u VALUES (7)")
    primary.kill()
    standby.control("promote")
    assert rows(writer, BY_ID) == [(1, 1), (2, 1)]
    writer.sql("INSERT INTO t PARTITION (p = 2) VALUES (3)")
    with pytest.raises(TransactionLost):
        other.sql("COMMIT")
    writer.sql("UPDATE u SET id = 8; INSERT INTO u VALUES (9); DELETE FROM t WHERE id = 1")
    assert rows(other, BY_ID) == [(2, 1), (3, 2)]
    assert rows(other, "SELECT id FROM u") == [(9,)]
    assert writer.check("t") == writer.check("u") == ()
    assert rows(writer, "SHOW LOCKS") == []


def test_a_standby_that_was_behind_gives_no_id_again(
    pair: tuple[Postgres, Postgres], connect: Callable[..., hivesql.Session], tmp_path: Path
) -> None:
    """Rows that it has forgotten are not seen, and nothing is mixed with their files."""
    primary, standby = pair
    session, reader = connect(), connect(**{"hivesql.compactor.inline": "false"})
    session.sql(CREATE)
    session.sql(
        "INSERT INTO t PARTITION (p) VALUES (1, 1); INSERT INTO t PARTITION (p) VALUES (2, 2)"
    )
    reader.sql("ALTER TABLE t PARTITION (p = 2) COMPACT 'minor'")
    have_all(primary, standby)
    standby.stop_following()
    session.sql("INSERT INTO t PARTITION (p = 2) VALUES (3); DELETE FROM t WHERE id = 1")
    primary.kill()
    standby.control("promote")
    lost = tmp_path / "w" / "t" / "p=2" / "delta_0000003_0000003_0000"
    for statement in (
        BY_ID,
        "INSERT INTO t PARTITION (p = 1) VALUES (4)",
        "INSERT INTO u VALUES (1)",
        "UPDATE t SET id = 5 WHERE id = 2",
        "START TRANSACTION",
    ):
        with pytest.raises(ExecutionError, match="moved away") as raised:
            session.sql(statement)
        assert str(lost) in str(raised.value)
        assert raised.value.code == 10280
    with pytest.raises(ExecutionError, match="moved away"):
        stream(session)
    assert not run_services(reader, threading.Event(), once=True)
    lost.rename(tmp_path / "lost")
    shutil.rmtree(tmp_path / "w" / "t" / "p=1" / "delete_delta_0000004_0000004_0000")
    assert rows(reader, BY_ID) == [(1, 1), (2, 2)]
    session.sql("INSERT INTO t PARTITION (p = 1) VALUES (4); UPDATE t SET id = 5 WHERE id = 2")
    stream(reader)
    assert rows(reader, BY_ID) == [(1, 1), (4, 1), (5, 2), (6, 1)]
    assert session.check("t") == ()
    assert rows(session, "SHOW LOCKS") == []


def have_all(primary: Postgres, standby: Postgres) -> None:
    """Wait until the standby has everything that was committed."""
    place = primary.do("SELECT pg_current_wal_flush_lsn()").strip()
    while standby.do(f"SELECT pg_last_wal_replay_lsn() >= '{place}'").strip() != "t":
        pass


def stream(session: hivesql.Session) -> None:
    """Write one row by streaming ingest."""
    builder = HiveStreamingConnection.builder().with_session(session).with_table("t")
    writer = StrictDelimitedInputWriter(field_delimiter=",")
    with builder.with_static_partition_values(["1"]).with_record_writer(writer).connect() as into:
        into.begin_transaction()
        into.write("6")
        into.commit_transaction()
