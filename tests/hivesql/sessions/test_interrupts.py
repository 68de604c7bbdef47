"""Ctrl-C at any instant of a statement: nothing stays open, and the session can go on."""

from __future__ import annotations

import random
import signal
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import hivesql
from hivesql import streaming
from hivesql_executor.transactions.interrupts import NotingInterrupts, heeding_interrupts
from interrupted_world import ACID

HOUSE = ("hivesql/", "hivesql_executor/", "hivesql_planner/")
OPENING_AND_ENDING = (
    "transactions/transaction.py", "transactions/heartbeat.py", "hivesql_executor/beats.py",
    "database/connection.py", "sessions/open_transaction.py", "streaming/batch.py",
)  # fmt: skip
"""Where something is open that others do not know of yet, or no longer."""
INSTANTS = 30, 10
"""So many lines of these files, and of all others, are chosen for each case."""
SCRIPTS = {
    "a query": "SELECT * FROM t WHERE a > 0 ORDER BY a",
    "an INSERT": "INSERT INTO t VALUES (7, 'n')",
    "an UPDATE": "UPDATE t SET b = 'u' WHERE a < 3",
    "a definition": "ALTER TABLE t SET TBLPROPERTIES ('x' = 'y')",
    "a transaction": "START TRANSACTION; INSERT INTO t VALUES (5, 't'); COMMIT",
    "a rollback": "START TRANSACTION; INSERT INTO t VALUES (5, 't'); ROLLBACK",
}

Instant = tuple[str, int, int]
"""A file, a line in it, and how often that is run before."""


class Signalling:
    """Sends SIGINT before a line of ours is run, or notes all of them."""

    def __init__(self, at: Instant | None = None) -> None:
        self.at = at
        self.times: dict[tuple[str, int], int] = defaultdict(int)
        self.is_sent = False

    def look(self, frame: FrameType, event: str, argument: object) -> Any:
        path = frame.f_code.co_filename
        if not any(f"/{part}" in path for part in HOUSE) or "/tests/" in path:
            return None
        if event == "line":
            place = (path, frame.f_lineno)
            number = self.times[place]
            self.times[place] += 1
            if (*place, number) == self.at:
                self.is_sent = True
                signal.raise_signal(signal.SIGINT)
        return self.look

    @contextmanager
    def looking(self) -> Iterator[None]:
        before = sys.gettrace()
        sys.settrace(self.look)
        try:
            yield
        finally:
            sys.settrace(before)

    @property
    def instants(self) -> list[Instant]:
        """The first and the last time of each line that was run."""
        return [(*place, number) for place, count in self.times.items()
                for number in {0, count - 1}]  # fmt: skip


def run_script(name: str) -> Callable[[hivesql.Session], None]:
    def run(session: hivesql.Session) -> None:
        session.sql(SCRIPTS[name])

    return run


def stream(session: hivesql.Session) -> None:
    connection = (
        streaming.HiveStreamingConnection.builder()
        .with_session(session)
        .with_table("t")
        .with_transaction_batch_size(2)
        .with_record_writer(streaming.StrictDelimitedInputWriter(field_delimiter=","))
        .connect()
    )
    try:
        connection.begin_transaction()
        connection.write("5,g\n")
        connection.commit_transaction()
    finally:
        connection.close()


CASES = {name: run_script(name) for name in SCRIPTS} | {"a stream": stream}


@pytest.fixture
def beats_before() -> set[threading.Thread]:
    """List the heartbeats of tests that let a transaction open on purpose."""
    return heartbeats()


@pytest.fixture
def session(tmp_path: Path) -> Iterator[hivesql.Session]:
    settings = {"hive.lock.numretries": 1}
    url = f"sqlite:///{tmp_path}/metastore.db"
    with hivesql.connect(url, str(tmp_path / "warehouse"), settings=settings) as session:
        session.sql(f"CREATE TABLE t (a INT, b STRING) {ACID}; INSERT INTO t VALUES (1, 'x')")
        yield session


def heartbeats() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if "heartbeat-" in thread.name}


def left(session: hivesql.Session, beats_before: set[threading.Thread]) -> list[object]:
    """What a statement has left behind that holds up others."""
    store = session.runtime.metastore
    beats = [thread.name for thread in heartbeats() - beats_before]
    return [*(one for one in store.transactions() if one.state == "open"), *store.locks(), *beats]


@pytest.mark.parametrize("name", CASES)
def test_nothing_stays_open(
    name: str, beats_before: set[threading.Thread], session: hivesql.Session
) -> None:
    case, chance = CASES[name], random.Random(name)
    case(session)
    every = Signalling()
    with every.looking():
        case(session)
    kinds: tuple[list[Instant], list[Instant]] = ([], [])
    for instant in every.instants:
        kinds[not instant[0].endswith(OPENING_AND_ENDING)].append(instant)
    chosen = [
        instant
        for several, most in zip(kinds, INSTANTS, strict=True)
        for instant in chance.sample(several, min(most, len(several)))
    ]
    for instant in chosen:
        signalling = Signalling(instant)
        with suppress(KeyboardInterrupt, hivesql.HiveSqlError), signalling.looking():
            case(session)
        if session.in_transaction:
            # It came between two statements.
            session.sql("ROLLBACK")
        assert left(session, beats_before) == [], instant
    session.sql("UPDATE t SET b = 'last'")
    assert {row.b for row in session.sql("SELECT b FROM t").rows} == {"last"}


@pytest.mark.parametrize("name", ["a query", "an INSERT"])
def test_the_program_is_told(name: str, session: hivesql.Session) -> None:
    before = signal.getsignal(signal.SIGINT)
    every = Signalling()
    with every.looking():
        CASES[name](session)
    inside = [one for one in every.instants if one[0].endswith("transactions/transaction.py")]
    signalling = Signalling(inside[len(inside) // 2])
    with pytest.raises(KeyboardInterrupt), signalling.looking():
        CASES[name](session)
    assert signalling.is_sent
    assert signal.getsignal(signal.SIGINT) is before


def test_a_transaction_is_rolled_back_whose_statement_was_done(session: hivesql.Session) -> None:
    every = Signalling()
    session.sql("START TRANSACTION")
    with every.looking():
        session.sql("INSERT INTO t VALUES (2, 'y')")
    last = [one for one in every.instants if one[0].endswith("/running_statement.py")][-1]
    session.sql("ROLLBACK; START TRANSACTION")
    with pytest.raises(KeyboardInterrupt), Signalling(last).looking():
        session.sql("INSERT INTO t VALUES (2, 'y')")
    assert not session.in_transaction
    assert [tuple(row) for row in session.sql("SELECT * FROM t").rows] == [(1, "x")]


def test_a_wait_for_locks_ends(
    beats_before: set[threading.Thread], session: hivesql.Session, tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path}/metastore.db"
    with hivesql.connect(url, str(tmp_path / "warehouse")) as other:
        other.sql("START TRANSACTION; UPDATE t SET b = 'other'")

        def signal_waiting(line: str) -> None:
            if line.startswith("waiting for locks"):
                signal.raise_signal(signal.SIGINT)

        settings = {"hive.lock.numretries": 1000}
        with (
            hivesql.connect(
                url, str(tmp_path / "warehouse"), settings=settings, notify=signal_waiting
            ) as waiting,
            pytest.raises(KeyboardInterrupt),
        ):
            waiting.sql("UPDATE t SET b = 'mine'")
        other.sql("COMMIT")
        assert left(session, beats_before) == []
    assert [row.b for row in session.sql("SELECT b FROM t").rows] == ["other"]


def test_the_second_one_ends_whatever_goes_on() -> None:
    taken = []
    with pytest.raises(KeyboardInterrupt), NotingInterrupts():
        signal.raise_signal(signal.SIGINT)
        taken.append("first")
        signal.raise_signal(signal.SIGINT)
        taken.append("second")
    assert taken == ["first"]


def test_a_function_of_the_users_is_ended_at_once() -> None:
    taken = []

    def wait() -> None:
        taken.append("begun")
        signal.raise_signal(signal.SIGINT)
        taken.append("not reached")

    with pytest.raises(KeyboardInterrupt), NotingInterrupts() as noting:
        heeding_interrupts(wait)()
    assert taken == ["begun"]
    assert not noting.is_noted


def test_a_handler_of_the_programs_own_stays() -> None:
    heard = []
    before = signal.signal(signal.SIGINT, lambda *_: heard.append("own"))
    try:
        with NotingInterrupts() as noting:
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)
    assert heard == ["own"]
    assert not noting.is_noted
