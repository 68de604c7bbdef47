"""What is tried again, and what a lost answer means."""

from __future__ import annotations

import os
import time
from pathlib import Path
from threading import Thread
from typing import Any

import pymysql
import pytest
from sqlalchemy import create_engine, event, func, make_url, select, text

import hivesql
import mariadb
from hivesql_executor.metastore.api import LockOwner, Once
from hivesql_executor.metastore.database.catalog import tables as catalog
from hivesql_executor.metastore.database.connection import Rdbms, TryAgain, now
from hivesql_executor.metastore.database.dialects.mysql import MySqlTerms
from hivesql_executor.metastore.database.dialects.registry import terms_named
from hivesql_executor.metastore.database.dialects.terms import LOGIN_ADVICE
from hivesql_executor.metastore.database.metastore import DatabaseMetastore
from hivesql_executor.metastore.database.schema import txns
from hivesql_executor.metastore.file_moves import Move, MoveKind, Remedy
from hivesql_planner.errors import CommitUnknown, ExecutionError, SemanticError, TransactionLost
from hivesql_planner.locks.lock import Lock, LockType
from hivesql_planner.model.table import Partition, TableName
from hivesql_planner.predicates.partitions import PartitionTest
from hostile_servers import drips, greets, listening, pours, says_nothing
from interruption import lose_answer
from programs import free_port

T = TableName("default", "t")


def engine_of(store: Any) -> Any:
    return store.calls._rdbms._engine


def test_the_clock_is_in_milliseconds(store: Any) -> None:
    there = store.rdbms.read(now)
    assert abs(there - time.time() * 1000) < 5000


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("sqlite://", ""),
        ("sqlite:///:memory:", ""),
        ("oracle://h/d", ""),
        ("metastore.db", ""),
        ("mysql://h", "names no database"),
        ("mysql+mysqldb://h/d", "PyMySQL is known alone"),
        ("mariadb://me:secret@h/d?sslmode=require", "PyMySQL takes no sslmode"),
    ],
)
def test_where_a_metastore_cannot_live(url: str, why: str) -> None:
    with pytest.raises(SemanticError, match="cannot live in") as raised:
        Rdbms(url)
    assert why in str(raised.value)
    assert "secret" not in str(raised.value)


def test_addresses_of_mariadb_mean_one_driver() -> None:
    addresses = (
        "mysql://h/d", "mariadb://h/d?ssl_ca=/ca.pem&ssl_check_hostname=false",
        "mysql+pymysql://h/d", "mariadb+pymysql://h/d?connect_timeout=5",
    )  # fmt: skip
    for address in addresses:
        rdbms = Rdbms(address)
        assert rdbms._engine.dialect.driver == "pymysql"
        assert rdbms._engine.dialect.name == "mysql"
        rdbms.close()


def test_how_long_a_postgresql_is_waited_for() -> None:
    for given, seconds in (("", "20"), ("?connect_timeout=3", "3")):
        engine = terms_named("postgresql").create_engine(make_url(f"postgresql://h/d{given}"))
        assert engine.url.query["connect_timeout"] == seconds


_HUGE = b"\xff\xff\xff"
_FOREIGN = {
    "nothing": (says_nothing, "timeout expired", "did not greet within 1 seconds"),
    "drips": (drips(b"\x00\x00\x01\x00"), "", "did not greet within 1 seconds"),
    "pours": (
        pours(_HUGE + b"\0", b"x" * (1 << 20)), "", "greeting has more than 1048576 bytes"
    ),
    "HTTP": (
        greets(b"HTTP/1.1 400 Bad Request\r\n\r\n"), "", "does not speak MySQL's protocol"
    ),
    "a greeting of nothing": (greets(b"\0\0\0\0"), "", "does not speak MySQL's protocol"),
    "a refusal": (
        greets(b"\x17\0\0\0\xff\x10\x04Too many connections"), "", "Too many connections"
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", _FOREIGN)
def test_what_is_no_database_is_not_waited_for_long(kind: str) -> None:
    talk, of_postgresql, of_mysql = _FOREIGN[kind]
    with listening() as start:
        for scheme, why in (("postgresql", of_postgresql), ("mysql", of_mysql)):
            rdbms = Rdbms(f"{scheme}://hive:x@127.0.0.1:{start(talk)}/m?connect_timeout=1")
            with pytest.raises(ExecutionError, match=why or "the metastore.s database failed"):
                rdbms.read(now)
            rdbms.close()


def test_a_mariadb_that_begins_no_tls_is_not_waited_for_long() -> None:
    body = (
        b"\x0a10.11\0" + b"\1\0\0\0" + b"s" * 8 + b"\0" + b"\xff\xff" + b"\x21" + b"\2\0"
        + b"\xff\xff" + b"\x15" + bytes(10) + b"s" * 12 + b"\0" + b"mysql_native_password\0"
    )  # fmt: skip
    with listening() as start:
        port = start(greets(bytes([len(body), 0, 0, 0]) + body))
        options = "connect_timeout=1&ssl_verify_cert=true"
        rdbms = Rdbms(f"mysql://hive:x@127.0.0.1:{port}/m?{options}")
        with pytest.raises(ExecutionError, match="timed out"):
            rdbms.read(now)
        rdbms.close()


def test_a_server_that_is_not_there_is_told() -> None:
    rdbms = Rdbms(f"mysql://me:secret@127.0.0.1:{free_port()}/d")
    with pytest.raises(
        ExecutionError, match=r"Can't connect.*Check that it is reachable"
    ) as raised:
        rdbms.read(now)
    assert "secret" not in str(raised.value)
    rdbms.close()


@pytest.mark.postgres
def test_texts_are_texts_whatever_the_database_is_encoded_in(postgres_server: str) -> None:
    """As SQL_ASCII, which initdb chooses where the locale is C."""
    admin = create_engine(
        f"{postgres_server}/postgres?client_encoding=utf8", isolation_level="AUTOCOMMIT"
    )
    with admin.connect() as db:
        db.execute(text("CREATE DATABASE plain TEMPLATE template0 ENCODING 'SQL_ASCII'"))
    store = DatabaseMetastore.open(f"{postgres_server}/plain", "/wh/größe")
    assert store.database("default").location == "/wh/größe"
    store.close()
    with admin.connect() as db:
        db.execute(text("DROP DATABASE plain WITH (FORCE)"))
    admin.dispose()


@pytest.mark.databases("postgres", "mariadb")
def test_connections_that_the_server_has_ended_are_made_anew(store: Any) -> None:
    """As it ends those that were silent for too long."""
    store.begin()
    end_connections(store.url)
    assert store.begin() == 2
    runs: list[int] = []

    def work(db: Any) -> int:
        runs.append(int(db.scalar(select(txns.c.id).where(txns.c.id == 2)) or 0))
        if len(runs) == 1:
            end_connections(store.url)
        return int(db.scalar(select(txns.c.id).where(txns.c.id == 1)) or 0)

    assert store.rdbms.write(work) == 1
    assert runs == [2, 2]


def end_connections(url: str) -> None:
    """End them by the server, from another connection."""
    server, _, name = url.rpartition("/")
    if server.startswith("mysql"):
        mariadb.end_connections(server, name)
        return
    admin = create_engine(f"{server}/postgres", isolation_level="AUTOCOMMIT")
    with admin.connect() as db:
        db.exec_driver_sql(
            f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
        )
    admin.dispose()


@pytest.mark.databases("postgres", "mariadb")
def test_a_server_that_dies_while_it_commits(store: Any) -> None:
    """Nobody knows what came of it; the transaction is open, and commits when it is asked again."""
    txn_id = store.begin()
    lost: list[int] = []

    @event.listens_for(engine_of(store), "commit")
    def end(db: Any) -> None:
        if not lost:
            lost.append(txn_id)
            end_connections(store.url)

    store.calls.commit_txn(txn_id)
    assert lost == [txn_id]
    assert store.rows(txns, "id", "state")[-1] == (txn_id, "c")


@pytest.mark.databases("postgres", "mariadb")
def test_writers_of_two_tables_do_not_wait_for_each_other(store: Any, make_table: Any) -> None:
    """Though both tables are of one database, whose row each looks at."""
    make_table("t")
    make_table("u")
    passed: list[int] = []

    def hold(db: Any) -> None:
        catalog.table_id(db, TableName("default", "t"), lock=True)
        other = Thread(target=store.rdbms.write, args=(take,))
        other.start()
        other.join(30)
        assert len(passed) == 1

    def take(db: Any) -> None:
        passed.append(catalog.table_id(db, TableName("default", "u"), lock=True))

    store.calls._rdbms.write(hold)


def test_texts_differ_where_a_byte_differs(store: Any, make_table: Any) -> None:
    make_table("t", ["k"], properties={"transactional": "true", "long": "é" * 100_000})
    values = ["a", "A", "a ", "á", "😀", "😁", "ß", "ss", "\\'"]
    store.calls.add_partitions(T, [Partition(values=(one,), location="") for one in values])
    assert {one.values[0] for one in store.calls.partitions(T)} == set(values)
    for one in values:
        test = PartitionTest(position=0, operator="=", values=(one,), kind="string")
        assert [part.values for part in store.calls.partitions(T, [test])] == [(one,)]
        found = store.calls.partition(T, (one,))
        assert found is not None
        assert found.values == (one,)
    assert store.calls.table(T).properties["long"] == "é" * 100_000
    once = [Once(key=key) for key in ("k", "K", "k ", "😀")]
    for key in once:
        store.calls.commit_txn(store.begin(), once=key)
    assert len({store.calls.done(key).txn_id for key in once}) == len(once)


def test_work_that_was_overtaken_runs_again(store: Any) -> None:
    runs: list[int] = []

    def work(db: Any) -> int:
        runs.append(len(runs))
        if len(runs) < 3:
            raise TryAgain("overtaken")
        return int(db.scalar(select(txns.c.id)))

    assert store.rdbms.write(work) == 0
    assert len(runs) == 3


def test_a_broken_database_is_an_error_of_ours(store: Any) -> None:
    with pytest.raises(ExecutionError, match=r"the metastore's database .*failed") as error:
        store.rdbms.write(lambda db: db.execute(text("SELECT nothing FROM nowhere")))
    assert error.value.code == 10280


def test_nothing_remains_of_work_that_fails(store: Any) -> None:
    def work(db: Any) -> None:
        db.execute(txns.insert().values(state="o", started=1, last_heartbeat=1, user="", host=""))
        raise SemanticError("no")

    with pytest.raises(SemanticError, match="no"):
        store.rdbms.write(work)
    assert store.rows(txns, "id") == [(0,)]


def test_calls_together_are_one_transaction(store: Any) -> None:
    calls, runs = store.calls, []

    def work() -> tuple[int, int]:
        runs.append(calls.open_txns(2, "u", "h"))
        last = runs[-1][-1]
        assert last - 1 in calls.valid_txns(last).open
        if len(runs) < 3:
            raise TryAgain("overtaken")
        return runs[-1][0], calls.allocate_write_id(last, TableName("default", "t"))

    # One inside another is a part of it.
    assert calls.run_in_transaction(lambda: calls.run_in_transaction(work)) == (runs[-1][0], 1)
    assert len(runs) == 3
    # What was overtaken has left nothing.
    assert store.rows(txns, "id") == [(0,), *((one,) for one in runs[-1])]
    # They are over, and the next call is one by itself.
    calls.abort_txns(runs[-1], "the end")
    assert {state for _, state in store.rows(txns, "id", "state")[1:]} == {"a"}


def test_nothing_remains_of_calls_together_that_fail(store: Any) -> None:
    def work() -> None:
        store.calls.open_txns(1, "u", "h")
        raise SemanticError("no")

    with pytest.raises(SemanticError, match="no"):
        store.calls.run_in_transaction(work, durable=False)
    assert store.rows(txns, "id") == [(0,)]
    lose_answer(engine_of(store), after=False)
    with pytest.raises(CommitUnknown, match="answer to a commit was lost"):
        store.calls.run_in_transaction(lambda: store.calls.open_txns(1, "u", "h"))


def test_a_lost_answer_raises(store: Any) -> None:
    lose_answer(engine_of(store), after=False)
    with pytest.raises(CommitUnknown, match="answer to a commit was lost"):
        store.calls.open_txns(1, "u", "h")


@pytest.mark.parametrize("after", [True, False], ids=["committed", "rolled back"])
def test_a_lost_answer_to_a_commit_is_asked_for_again(store: Any, after: bool) -> None:
    txn_id = store.begin()
    lose_answer(engine_of(store), after=after)
    store.calls.commit_txn(txn_id)
    assert store.rows(txns, "id", "state")[-1] == (txn_id, "c")


def test_a_commit_whose_files_were_finished_before_it_is_asked_for_again(store: Any) -> None:
    """Nothing is left to settle then, which is no sign that somebody has undone it."""
    txn_id = store.begin()
    store.calls.note_moves(txn_id, [Move(source="/wh/new", target="/wh/t", kind=MoveKind.BROUGHT)])
    other = DatabaseMetastore.open(store.url, "/wh")

    def finish() -> None:
        for begun in other.lost_moves(300.0):
            assert [remedy for _, remedy in begun.moves] == [Remedy.KEEP]
            other.forget_moves(begun.key)

    lose_answer(engine_of(store), after=True, then=finish)
    store.calls.commit_txn(txn_id, settles=True)
    assert store.rows(txns, "id", "state")[-1] == (txn_id, "c")
    other.close()


def test_a_commit_whose_answer_never_comes(store: Any) -> None:
    txn_id = store.begin()
    lose_answer(engine_of(store), after=True, times=2)
    with pytest.raises(CommitUnknown):
        store.calls.commit_txn(txn_id)


def test_a_commit_that_was_overtaken_by_an_abort(store: Any) -> None:
    txn_id = store.begin()
    other = DatabaseMetastore.open(store.url, "/wh")
    lose_answer(engine_of(store), after=False, then=lambda: other.abort_txns([txn_id], "timed out"))
    with pytest.raises(TransactionLost, match="already aborted"):
        store.calls.commit_txn(txn_id)
    other.close()


def test_what_reaches_the_disk_before_rows_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite's FULL waits for the disk, and brings what was committed with NORMAL there too.

    Others need not wait while the log is synced after the commit.
    """
    normal, full = 1, 2
    with hivesql.connect(f"sqlite:///{tmp_path}/m.db", str(tmp_path / "w")) as session:
        session.sql("CREATE TRANSACTIONAL TABLE t (a INT) STORED AS ORC")
        steps: list[Any] = []
        sync = os.fsync

        def note_sync(place: int) -> None:
            sync(place)
            synced = os.fstat(place)
            if os.path.samestat(synced, (tmp_path / "m.db-wal").stat()):
                steps.append("synced")

        monkeypatch.setattr(os, "fsync", note_sync)

        @event.listens_for(session.runtime.metastore._rdbms._engine, "commit")  # type: ignore[attr-defined]
        def look(db: Any) -> None:
            if not db.get_execution_options().get("hivesql_reads"):
                steps.append(db.exec_driver_sql("PRAGMA synchronous").scalar_one())

        session.sql("INSERT INTO t VALUES (1)")
        assert steps == [normal, normal, "synced", full], "open, write id and locks, commit"
        steps.clear()
        session.sql("CREATE TABLE u (a INT)")
        assert steps[:3] == [normal, normal, "synced"] and set(steps[3:]) == {full}


@pytest.mark.postgres
def test_who_waits_for_a_lock_does_not_wait_for_the_disk(postgres_url: str) -> None:
    """PostgreSQL commits a request at once, and syncs it before it is answered."""
    store = DatabaseMetastore.open(postgres_url, "/wh")
    engine = store._rdbms._engine
    # The tests' server does not wait for its disk.
    setting = text(f'ALTER DATABASE "{engine.url.database}" SET synchronous_commit = on')
    store._write(lambda db: db.execute(setting))
    engine.dispose()
    owner, lock = LockOwner("u", "h"), Lock(LockType.EXCL_WRITE, "default", "t")
    steps: list[str] = []
    interfering: list[Any] = []

    @event.listens_for(engine, "commit")
    def look(db: Any) -> None:
        if not db.get_execution_options().get("hivesql_reads"):
            steps.append(db.exec_driver_sql("SHOW synchronous_commit").scalar_one())

    @event.listens_for(engine, "before_cursor_execute")
    def note(db: Any, cursor: Any, statement: str, *_: Any) -> None:
        if "pg_logical_emit_message" in statement:
            steps.append("synced")
            if interfering:
                interfering.pop()(db.connection.driver_connection.info.backend_pid)

    (txn_id,) = store.open_txns(1, "u", "h")
    steps.clear()
    asked = store.enqueue_locks(txn_id, [lock], owner)
    assert steps == ["off", "synced"]

    def kill(pid: int) -> None:
        store._read(lambda db: db.execute(select(func.pg_terminate_backend(pid, 5000))))

    interfering.append(kill)
    with pytest.raises(CommitUnknown, match="answer to a commit was lost"):
        store.check_lock(asked.lock_id)
    store.abort_txns([txn_id], "the end")
    # A follower of a log must not hear of what may be forgotten.
    store.keep_log()
    (txn_id,) = store.open_txns(1, "u", "h")
    steps.clear()

    def ask() -> None:
        store.allocate_write_id(txn_id, T)
        store.enqueue_locks(txn_id, [lock], owner)

    store.run_in_transaction(ask, early=True)
    assert steps == ["on"]
    store.close()


def test_sessions_of_a_process_share_connections_until_the_last_ends(tmp_path: Path) -> None:
    file = tmp_path / "m.db"
    file.touch()
    url = f"sqlite:///{file}"
    one, other = Rdbms(url), Rdbms(url)
    assert one._engine.pool is other._engine.pool and one._turn is other._turn
    other.write(lambda db: db.execute(text("CREATE TABLE t (i INT)")))
    other.close()
    other.close()
    assert one.read(lambda db: db.scalar(text("SELECT count(*) FROM t"))) == 0
    assert one._engine.pool.checkedin() == 1  # type: ignore[attr-defined]
    # Another file in its place is another database.
    file.rename(tmp_path / "moved.db")
    file.touch()
    new = Rdbms(url)
    assert new.read(lambda db: db.scalar(text("SELECT count(*) FROM sqlite_master"))) == 0
    new.close()
    one.close()
    assert Rdbms(url)._engine.pool is not one._engine.pool


@pytest.mark.postgres
def test_of_several_hosts_the_one_is_taken_that_may_be_written(
    postgres_url: str, tmp_path: Path
) -> None:
    """As the guide names them for a failover: the first one is down, or only reads."""
    url = make_url(postgres_url)
    hosts = (f"{url.host}:{free_port()}", f"{url.host}:{url.port}")
    either = url.set(
        host=None, port=None, query={"host": hosts, "target_session_attrs": "read-write"}
    )
    with hivesql.connect(either.render_as_string(hide_password=False), tmp_path) as session:
        session.sql("CREATE TRANSACTIONAL TABLE t (a INT) STORED AS ORC; INSERT INTO t VALUES (1)")
        assert [tuple(row) for row in session.sql("SELECT a FROM t").rows] == [(1,)]
        # The server becomes one that only reads, as a primary that has been replaced.
        admin = create_engine(url, isolation_level="AUTOCOMMIT")
        with admin.connect() as connection:
            connection.execute(
                text(f"ALTER DATABASE {url.database} SET default_transaction_read_only = on")
            )
        admin.dispose()
    with pytest.raises(ExecutionError, match="session is read-only"):
        hivesql.connect(either.render_as_string(hide_password=False), tmp_path)


@pytest.mark.postgres
def test_a_login_that_is_refused(postgres_url: str, tmp_path: Path) -> None:
    """Passwords change while sessions live; that the server can be reached is no question then."""
    stranger = make_url(postgres_url).set(username="nobody_of_that_name")
    with pytest.raises(ExecutionError, match=r"Check the user and the password\. A session goes"):
        hivesql.connect(stranger.render_as_string(hide_password=False), tmp_path)
    denied = pymysql.err.OperationalError(1045, "Access denied for user 'h'@'127.0.0.1'")
    assert MySqlTerms().advice(denied) == LOGIN_ADVICE
