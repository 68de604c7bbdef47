"""Streams and INSERTs at once, one call of the metastore at a time: no committed row is lost."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hivesql
from hivesql import streaming
from hivesql_executor.metastore.api import Metastore
from hivesql_executor.snapshot.listing import acid_state
from hivesql_planner.model.table import TableName

STREAMS = 2
COMMAS = streaming.StrictDelimitedInputWriter(field_delimiter=",")
_tables = itertools.count()


class Interrupted:
    """A metastore before each of whose calls somebody else may do something."""

    def __init__(self, metastore: Metastore, meanwhile: Callable[[], None]) -> None:
        self._metastore, self._meanwhile = metastore, meanwhile

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._metastore, name)

        def interrupted(*arguments: Any, **named: Any) -> Any:
            self._meanwhile()
            return call(*arguments, **named)

        return interrupted


class World:
    """Clients of one table, and the rows that were committed."""

    def __init__(self, sessions: Sequence[hivesql.Session], turns: list[int]) -> None:
        self.table = TableName("default", f"t{next(_tables)}")
        self.turns, self.numbers = turns, itertools.count()
        self.committed: set[int] = set()
        self.inserter, *streaming_sessions = sessions
        self.inserter.sql(f"CREATE TRANSACTIONAL TABLE {self.table} (a int) STORED AS ORC")
        self.streams = [self._stream(one) for one in streaming_sessions]

    def _stream(self, session: hivesql.Session) -> streaming.HiveStreamingConnection:
        builder = streaming.HiveStreamingConnection.builder().with_session(session)
        builder = builder.with_table(self.table.name).with_transaction_batch_size(4)
        connection = builder.with_record_writer(COMMAS).connect()
        stream = connection._stream
        store = cast(Metastore, Interrupted(stream.runtime.metastore, self.meanwhile))
        runtime = replace(stream.runtime, metastore=store)
        connection._stream = replace(stream, runtime=runtime)
        return connection

    def meanwhile(self) -> None:
        """The next turn of those that do something in between: INSERT, or nothing."""
        if self.turns and self.turns.pop():
            number = next(self.numbers)
            self.inserter.sql(f"INSERT INTO {self.table} VALUES ({number})")
            self.committed.add(number)

    def transaction(self, number: int, commits: bool) -> None:
        connection, value = self.streams[number], next(self.numbers)
        connection.begin_transaction()
        connection.write(str(value))
        if commits:
            connection.commit_transaction()
            self.committed.add(value)
        else:
            connection.abort_transaction()

    def hidden(self) -> tuple[str, ...]:
        """Directories that no reader takes."""
        store = self.inserter.runtime.metastore
        home = store.table(self.table).location
        txns = store.valid_txns()
        visible = store.valid_write_ids(txns, [self.table])[self.table]
        return acid_state(self.inserter.runtime.files(home), home, visible, txns).obsolete

    def rows(self) -> set[int]:
        return {row[0] for row in self.inserter.sql(f"SELECT a FROM {self.table}").rows}


steps = st.lists(st.tuples(st.integers(0, STREAMS - 1), st.booleans()), min_size=1, max_size=6)


@pytest.fixture(
    params=[
        "sqlite",
        pytest.param("postgres", marks=pytest.mark.postgres),
        pytest.param("thrift", marks=pytest.mark.hive),
    ]
)
def sessions(
    request: pytest.FixtureRequest, tmp_path: Path, prepared: Callable[..., str]
) -> Iterator[Sequence[hivesql.Session]]:
    """One that inserts, and as many as stream."""
    if request.param == "thrift":
        url = request.getfixturevalue("hive_metastore")[0]
    else:
        url = prepared(request.param, tmp_path / "w")
    with ExitStack() as stack:
        yield [
            stack.enter_context(hivesql.connect(url, str(tmp_path / "w")))
            for _ in range(1 + STREAMS)
        ]


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=steps, turns=st.lists(st.integers(0, 1), max_size=15))
def test_no_interleaving_loses_a_row(
    sessions: Sequence[hivesql.Session], steps: list[tuple[int, bool]], turns: list[int]
) -> None:
    world = World(sessions, turns)
    for number, commits in steps:
        world.transaction(number, commits)
    for connection in world.streams:
        connection.close()
    assert world.hidden() == ()
    assert world.rows() == world.committed
