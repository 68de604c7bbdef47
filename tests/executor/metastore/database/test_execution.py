"""Statements that go to the driver without SQLAlchemy: they mean the same, and fail alike."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from types import FrameType
from typing import Any

import pytest
from sqlalchemy import (
    Connection,
    Float,
    bindparam,
    delete,
    func,
    insert,
    literal,
    null,
    select,
    text,
    update,
)
from sqlalchemy.exc import DBAPIError

from hivesql_executor.metastore.api import LockOwner
from hivesql_executor.metastore.database.dialects import pipelined
from hivesql_executor.metastore.database.dialects.execution import (
    follow_commit,
    run,
    run_all,
    run_later,
    run_many,
)
from hivesql_executor.metastore.database.metastore import DatabaseMetastore
from hivesql_executor.metastore.database.schema import aux, next_write_id
from hivesql_planner.errors import ExecutionError, NoSuchObject
from hivesql_planner.locks.lock import Lock, LockType
from hivesql_planner.model.table import Column, Constraint, Table, TableName

_of = next_write_id.c
NEXT = (
    select(_of.next, _of.table).where(_of.database == bindparam("in_database")).order_by(_of.next)
)
ADD = insert(next_write_id).inline()
RAISE = update(next_write_id).where(_of.table == bindparam("in_table")).values(next=_of.next + 1)
DROP = delete(next_write_id).where(_of.database == bindparam("in_database"))
NAME = insert(aux).inline().values(value=1)
ODD = "it's 100% “odd” \\ :name $1 ?"


def row(table: str, number: int = 1) -> dict[str, Any]:
    return {"database": "d", "table": table, "next": number}


@pytest.fixture(name="rdbms")
def _rdbms(store: Any) -> Any:
    return store.rdbms


@pytest.fixture(name="prompt")
def _prompt(postgres_url: str) -> Iterator[DatabaseMetastore]:
    with closing(DatabaseMetastore.open(postgres_url, "/wh")) as opened:
        yield opened


def test_rows_have_the_keys_of_the_columns(rdbms: Any) -> None:
    def work(db: Connection) -> None:
        run_many(db, ADD, [row("t", 2), row(ODD, 1)])
        rows = run(db, NEXT, {"in_database": "d"})
        assert [(found.next, found.table) for found in rows] == [(1, ODD), (2, "t")]
        assert rows == [tuple(found) for found in db.execute(NEXT, {"in_database": "d"})]
        assert run(db, RAISE, {"in_table": "t"}).changed == 1
        assert run(db, RAISE, {"in_table": "other"}).changed == 0
        first, second = run_all(db, (NEXT, {"in_database": "d"}), (NEXT, {"in_database": "e"}))
        assert [found.next for found in first] == [1, 3]
        assert second == [] and second.scalar() is None and second.one_or_none() is None

    rdbms.write(work)


@pytest.mark.parametrize(
    "query",
    [
        select(null(), literal("100%"), literal(7), literal(True)),
        select(literal(0.5, Float()), func.count()),
        select(_of.next).where(_of.table.in_(["t", ODD])),
    ],
    ids=["constants", "a type that the driver's answer decides", "as many values as there are"],
)
def test_answers_are_those_of_sqlalchemy(rdbms: Any, query: Any) -> None:
    def work(db: Connection) -> None:
        run_many(db, ADD, [row("t", 2), row(ODD, 1)])
        assert sorted(run(db, query)) == sorted(tuple(found) for found in db.execute(query))

    rdbms.write(work)


def test_what_was_put_off_comes_before_what_follows(rdbms: Any) -> None:
    def work(db: Connection) -> None:
        run_later(db, ADD, row("t"))
        assert db.scalar(select(_of.next).where(_of.table == "t")) == 1
        run_later(db, RAISE, {"in_table": "t"})
        assert [found.next for found in run(db, NEXT, {"in_database": "d"})] == [2]
        run_later(db, RAISE, {"in_table": "t"})

    rdbms.write(work)
    assert [found.next for found in rdbms.read(lambda db: run(db, NEXT, {"in_database": "d"}))] == [
        3
    ]


def test_no_statements_have_no_answers(rdbms: Any) -> None:
    def work(db: Connection) -> None:
        run_later(db, ADD, row("t"))
        assert run_all(db) == []

    rdbms.write(work)
    assert len(rdbms.read(lambda db: run(db, NEXT, {"in_database": "d"}))) == 1


def test_what_was_put_off_is_rolled_back(rdbms: Any) -> None:
    def work(db: Connection) -> None:
        run_later(db, ADD, row("t"))
        raise ValueError

    with pytest.raises(ValueError):
        rdbms.write(work)
    assert rdbms.read(lambda db: run(db, NEXT, {"in_database": "d"})) == []


@pytest.mark.databases("postgres", "mariadb")
@pytest.mark.parametrize(
    "follow", [lambda db: run(db, NEXT, {"in_database": "d"}), lambda db: None]
)
def test_who_fails_though_put_off_is_run_again(
    rdbms: Any, follow: Callable[[Connection], Any]
) -> None:
    """A key that is there already, as for two that race to insert it."""
    tries: list[int] = []

    def work(db: Connection) -> None:
        tries.append(1)
        run_later(db, NAME, {"name": "first"})
        if len(tries) == 1:
            run_later(db, NAME, {"name": "first"})
        follow(db)

    rdbms.write(work)
    assert len(tries) == 2


@pytest.mark.postgres
def test_prepared_statements_may_be_forgotten(prompt: DatabaseMetastore) -> None:
    """By psycopg, which does so after a rollback, or by a pooler."""
    rdbms = prompt._rdbms
    for forget in ("DEALLOCATE ALL", "DISCARD ALL"):
        assert rdbms.read(lambda db: run(db, NEXT, {"in_database": "d"})) == []
        with rdbms._engine.connect() as db:
            db.execution_options(isolation_level="AUTOCOMMIT").execute(text(forget))
        assert rdbms.read(lambda db: run(db, NEXT, {"in_database": "d"})) == []


@pytest.mark.postgres
def test_an_interrupt_ends_what_the_server_does(prompt: DatabaseMetastore) -> None:
    sleep = select(func.pg_sleep(bindparam("seconds")))
    busy = text(
        "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep($%' "
        "AND state = 'active' AND pid <> pg_backend_pid()"
    )

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        with pytest.raises(KeyboardInterrupt):
            prompt._rdbms.write(lambda db: run(db, sleep, {"seconds": 60}))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    until = time.monotonic() + 10
    while prompt._rdbms.read(lambda db: db.scalar(busy)):
        assert time.monotonic() < until, "the server goes on"
    assert prompt.databases() == ("default",)


@pytest.mark.postgres
def test_few_answers_are_waited_for(
    prompt: DatabaseMetastore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table is described by one round trip; locks and write ids take one each."""
    name = TableName("default", "t")
    columns = (Column.of("a", "int"), Column.of("b", "string", "said"))
    told = Table(
        name=name, columns=columns, location="/t", partition_columns=(Column.of("p", "int"),),
        properties={"transactional": "true"}, serde_properties={"x": "y"},
        constraints=(Constraint(kind="not null", name="nn", columns=("a",)),),
        bucket_columns=("b",), bucket_count=2,
    )  # fmt: skip
    created = prompt.create_table(replace(told, bucket_columns=(), bucket_count=0))
    prompt.create_table(replace(told, name=TableName("default", "other"), location="/o"))
    lock = Lock(LockType.SHARED_READ, "default", "t")
    waits: list[int] = []
    receive = pipelined.PipelinedConnection._receive

    def count(self: Any, *parts: Any, **options: Any) -> list[Any]:
        waits.append(1)
        return receive(self, *parts, **options)

    monkeypatch.setattr(pipelined.PipelinedConnection, "_receive", count)
    assert prompt.table(name) == created
    assert len(waits) == 1
    with pytest.raises(NoSuchObject):
        prompt.table(TableName("default", "nosuch"))
    (txn_id,) = prompt.open_txns(1, "ann", "here")
    waits.clear()
    prompt.enqueue_locks(txn_id, [lock], LockOwner("ann", "here"))
    # The second one commits.
    assert len(waits) == 2
    txns, other = prompt.valid_txns(txn_id), TableName("default", "other")
    waits.clear()
    given, visible = prompt.take_write_ids(txn_id, [name, other], txns, [name, other])
    assert len(waits) == 1, "write ids come with what the snapshot means"
    assert given == {name: 1, other: 1}
    assert all(listed.high_watermark == 1 for listed in visible.values())
    assert prompt.table(other).bucket_columns == ("b",)


@pytest.mark.postgres
def test_a_request_is_on_the_disk_when_it_is_answered(prompt: DatabaseMetastore) -> None:
    """What follows its commit brings it there: the server's own writer comes later."""
    rdbms = prompt._rdbms
    setting = text(f'ALTER DATABASE "{rdbms._engine.url.database}" SET synchronous_commit = on')
    rdbms.write(lambda db: db.execute(setting))
    rdbms._engine.dispose()
    (txn_id,) = prompt.open_txns(1, "u", "h")
    flushed = text("SELECT pg_current_wal_flush_lsn() >= pg_current_wal_insert_lsn() - 64")
    for _ in range(20):
        answer = prompt.enqueue_locks(
            txn_id,
            [Lock(LockType.SHARED_READ, "default", os.urandom(4).hex())],
            LockOwner("u", "h"),
        )
        assert answer.lock_id
        assert rdbms.read(lambda db: db.scalar(flushed))


@pytest.mark.postgres
def test_a_broken_connection_is_given_up(prompt: DatabaseMetastore) -> None:
    rdbms = prompt._rdbms
    with rdbms._engine.connect() as db, db.begin():
        pid = run(db, select(func.pg_backend_pid())).scalar()
        with rdbms._engine.connect() as other, other.begin():
            other.execute(select(func.pg_terminate_backend(pid, 5000)))
        with pytest.raises(DBAPIError) as raised:
            run(db, NEXT, {"in_database": "d"})
        assert raised.value.connection_invalidated
        db.rollback()
    assert prompt.databases() == ("default",)


@pytest.mark.databases("postgres")
@pytest.mark.parametrize("put_off", [True, False])
def test_a_value_that_no_server_takes_leaves_nothing_behind(rdbms: Any, put_off: bool) -> None:
    def work(db: Connection) -> None:
        run_later(db, ADD, row("t"))
        (run_later if put_off else run)(db, ADD, row("a\0b"))

    with pytest.raises(ExecutionError, match="NUL"):
        rdbms.write(work)
    assert rdbms.read(lambda db: run(db, NEXT, {"in_database": "d"})) == []


@pytest.mark.databases("postgres")
def test_a_value_that_was_not_sent_takes_nothing_with_it(rdbms: Any) -> None:
    """Neither what was put off before, nor the transaction."""

    def work(db: Connection) -> None:
        run_later(db, ADD, row("t"))
        with pytest.raises(DBAPIError):
            run(db, ADD, row("a\0b"))

    rdbms.write(work)
    assert [one.table for one in rdbms.read(lambda db: run(db, NEXT, {"in_database": "d"}))] == [
        "t"
    ]


@pytest.mark.postgres
@pytest.mark.parametrize("follows", [True, False])
def test_what_failed_before_is_not_committed(prompt: DatabaseMetastore, follows: bool) -> None:
    """To the COMMIT of a transaction that has failed the server answers ROLLBACK, as a success."""

    def work(db: Connection) -> None:
        run(db, ADD, row("t"))
        with pytest.raises(DBAPIError):
            run(db, ADD, row("u", 2**70))
        if follows:
            follow_commit(db, "SELECT 1")

    with pytest.raises(ExecutionError, match="has failed before"):
        prompt._rdbms.write(work)
    assert prompt._rdbms.read(lambda db: run(db, NEXT, {"in_database": "d"})) == []


@pytest.mark.postgres
def test_interrupts_at_any_line_leave_no_answers_to_others(prompt: DatabaseMetastore) -> None:
    """Each transaction is there as a whole or not at all, and the next one reads its own rows."""
    rdbms = prompt._rdbms

    def work(db: Connection) -> None:
        run(db, RAISE, {"in_table": "a"})
        run_later(db, RAISE, {"in_table": "b"})
        run_all(db, (NEXT, {"in_database": "d"}), (NEXT, {"in_database": "d"}))
        run_later(db, RAISE, {"in_table": "c"})

    rdbms.write(lambda db: run_many(db, ADD, [row("a"), row("b"), row("c")]))
    line, interrupted = 0, True
    while interrupted:
        line += 1
        interrupted = False
        with suppress(KeyboardInterrupt), interrupting(pipelined.__file__, line):
            interrupted = True
            rdbms.write(work)
            interrupted = False
        rows = rdbms.read(lambda db: run(db, NEXT, {"in_database": "d"}))
        assert [one.table for one in rows] == ["a", "b", "c"]
        assert len({one.next for one in rows}) == 1
    assert line > 100


@contextmanager
def interrupting(file: str, line: int) -> Iterator[None]:
    """Raise KeyboardInterrupt before the so manyeth line that is run in a file."""
    before = sys.gettrace()
    left = line

    def trace(frame: FrameType, happening: str, _: Any) -> Any:
        nonlocal left
        if frame.f_code.co_filename != file:
            return None
        if happening == "line":
            left -= 1
            if left == 0:
                raise KeyboardInterrupt
        return trace

    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)


@pytest.mark.postgres
def test_clients_of_one_connection_of_the_server_share_no_names(
    prompt: DatabaseMetastore,
) -> None:
    """As behind a pooler that changes the connection between transactions."""
    names = text("SELECT name FROM pg_prepared_statements WHERE name LIKE 'hivesql%'")
    seen = []
    for _ in range(2):
        prompt._rdbms._engine.dispose()
        prompt._rdbms.read(lambda db: run(db, NEXT, {"in_database": "d"}))
        seen.append(set(prompt._rdbms.read(lambda db: db.scalars(names).all())))
    assert seen[0] and seen[1]
    assert not seen[0] & seen[1]


@pytest.mark.postgres
@pytest.mark.parametrize(
    ("runs", "change"), [(7, b"DEALLOCATE ALL"), (2, b"PREPARE _pg3_0 AS SELECT 1")]
)
def test_nothing_is_prepared_where_others_prepare(
    prompt: DatabaseMetastore, runs: int, change: bytes
) -> None:
    """What is missing, or there already, on each connection of the pool is learnt once."""
    rdbms = prompt._rdbms
    count = select(func.count()).select_from(next_write_id)
    with ExitStack() as opened:
        for _ in range(12):
            db = opened.enter_context(rdbms._engine.connect())
            for _ in range(runs):
                assert run(db, NEXT, {"in_database": "d"}) == []
                assert db.scalar(count) == 0
            db.commit()
            # Past psycopg, which would learn of it.
            driver: Any = db.connection.dbapi_connection
            driver.pgconn.exec_(change)
    tries: list[int] = []

    def work(db: Connection) -> int:
        tries.append(1)
        run_later(db, ADD, row(f"t{len(tries)}"))
        return max(int(db.scalar(count) or 0) for _ in range(7))

    assert rdbms.write(work) == 1
    assert len(tries) == 2
    prepared = text("SELECT count(*) FROM pg_prepared_statements")
    assert rdbms.read(lambda db: db.scalar(prepared)) == 0


@pytest.mark.postgres
@pytest.mark.parametrize("asks", ["by itself", "by SQLAlchemy"])
def test_columns_may_change_under_what_is_prepared(prompt: DatabaseMetastore, asks: str) -> None:
    """As when a newer version raises the schema: each connection of the pool is made anew."""
    rdbms = prompt._rdbms
    values = {"in_database": "d"}

    def ask(db: Connection) -> list[Any]:
        return list(run(db, NEXT, values) if asks == "by itself" else db.execute(NEXT, values))

    with ExitStack() as opened:
        for _ in range(12):
            db = opened.enter_context(rdbms._engine.connect())
            for _ in range(7):
                assert ask(db) == []
            db.commit()
    change = text('ALTER TABLE "NEXT_WRITE_ID" ALTER COLUMN "NWI_NEXT" TYPE NUMERIC')
    rdbms.write(lambda db: db.execute(change))
    assert rdbms.read(ask) == []
    assert rdbms.write(ask) == []


_FORK = """
import os, sys
from hivesql_executor.metastore.database.metastore import DatabaseMetastore

metastore = DatabaseMetastore.open(sys.argv[1], "/wh")

def use():
    for _ in range(20):
        assert metastore.databases() == ("default",)
        metastore.commit_txn(*metastore.open_txns(1, "u", "h"))

use()
child = os.fork()
if not child:
    try:
        use()
        os._exit(0)
    finally:
        os._exit(1)
try:
    use()
finally:
    _, status = os.waitpid(child, 0)
assert status == 0
metastore.close()
"""


@pytest.mark.databases("sqlite", "postgres", "mariadb")
def test_a_forked_process_has_connections_of_its_own(metastore_url: str) -> None:
    """Its parent's would answer to both."""
    forked = subprocess.run(
        [sys.executable, "-c", _FORK, metastore_url],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert forked.returncode == 0, forked.stderr
