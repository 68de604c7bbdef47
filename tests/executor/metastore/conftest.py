"""One suite for every database that the metastore can live in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Table as SqlTable
from sqlalchemy import select, update

from executor.metastore.cache.cache_world import World
from hivesql_executor.metastore.api import LockAnswer, LockOwner, Metastore, TxnType
from hivesql_executor.metastore.database.connection import Rdbms
from hivesql_executor.metastore.database.schema import hive_locks, txns
from hivesql_executor.metastore.opening import THRIFT as URI
from hivesql_executor.metastore.opening import open_metastore
from hivesql_planner.locks.lock import Lock
from hivesql_planner.model.table import Column, Table, TableName

T = TableName("default", "t")


class Store:
    """A metastore with shorthands, and a look at the rows behind it."""

    def __init__(self, url: str, metastore: Metastore) -> None:
        self.url = url
        self.calls = metastore

    @cached_property
    def rdbms(self) -> Rdbms:
        """The database, for tests that look at its rows."""
        return Rdbms(self.url)

    def begin(self, count: int = 1, type: TxnType = TxnType.DEFAULT) -> int:
        """Open transactions; the last one's id."""
        return self.calls.open_txns(count, "ann", "here", type=type)[-1]

    def ask(self, txn_id: int, *locks: Lock, **flags: Any) -> LockAnswer:
        return self.calls.enqueue_locks(txn_id, locks, LockOwner("ann", "here"), **flags)

    def written(self, table: TableName = T) -> int:
        """A committed transaction with a write id in the table."""
        txn_id = self.begin()
        self.calls.allocate_write_id(txn_id, table)
        self.calls.commit_txn(txn_id)
        return txn_id

    def rows(self, table: SqlTable, *keys: str) -> list[tuple[Any, ...]]:
        columns = [table.c[key] for key in keys]
        query = select(*columns).order_by(*columns)
        return self.rdbms.read(lambda db: [tuple(row) for row in db.execute(query)])

    def age(self, seconds: float) -> None:
        """Let all transactions and locks be older, as if that time had passed."""
        past = int(seconds * 1000)
        older = update(txns).where(txns.c.id > 0)
        locks = update(hive_locks).where(hive_locks.c.last_heartbeat > 0)

        def shift(db: Any) -> None:
            db.execute(
                older.values(
                    started=txns.c.started - past, last_heartbeat=txns.c.last_heartbeat - past
                )
            )
            db.execute(locks.values(last_heartbeat=hive_locks.c.last_heartbeat - past))

        self.rdbms.write(shift)


# On a third database runs what it does in its own way: texts, ids, commits, lost connections. Not
# what Python decides about the rows that it gives.
ALSO_ON_MARIADB = {
    "test_connection", "test_database", "test_revisions", "test_stored_rows", "test_partitions",
    "test_batches", "test_cleanup", "test_commit", "test_compactions", "test_deadlocks",
    "test_housekeeping", "test_idempotence", "test_object_locks", "test_snapshots",
    "test_transactions",
    "test_write_history", "test_relocation",
}  # fmt: skip
DATABASES = [
    "sqlite",
    pytest.param("postgres", marks=pytest.mark.postgres),
    pytest.param("mariadb", marks=pytest.mark.mariadb),
]
THRIFT = [pytest.param(name, marks=pytest.mark.hive) for name in ("thrift", "thrift3")]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Tests that neither look at rows nor count ids from 1 are marked to run over Thrift too.

    Those of what Hive 3 does not do, or otherwise (test_hive3), are marked ``hive3=False``, those
    that need a notification log ``hive4=False``: no listener is published for that one. Those that
    run over some of the databases alone are marked with their names.
    """
    if "backend" in metafunc.fixturenames:
        also = metafunc.definition.get_closest_marker("thrift")
        kinds = ("hive4", "hive3")
        over_thrift = [
            one
            for one, kind in zip(THRIFT, kinds, strict=True)
            if also and also.kwargs.get(kind, True)
        ]
        alone = metafunc.definition.get_closest_marker("databases")
        wanted = alone.args if alone else _databases_for(metafunc.definition.path)
        databases = [one for one in DATABASES if _name(one) in wanted]
        metafunc.parametrize("backend", [*databases, *over_thrift])


def _databases_for(file: Path) -> Sequence[str]:
    return ("sqlite", "postgres", *(["mariadb"] if file.stem in ALSO_ON_MARIADB else []))


def _name(parameter: Any) -> str:
    return parameter if isinstance(parameter, str) else parameter.values[0]


@pytest.fixture
def metastore_url(request: pytest.FixtureRequest, backend: str, tmp_path: Path) -> str:
    match backend:
        case "sqlite":
            return f"sqlite:///{tmp_path}/metastore.db"
        case "postgres" | "mariadb":
            return str(request.getfixturevalue(f"{backend}_url"))
        case "thrift3":
            return str(request.getfixturevalue("hive3_metastore"))
    return str(request.getfixturevalue("hive_metastore")[0])


@pytest.fixture
def store(
    request: pytest.FixtureRequest, backend: str, prepared: Callable[..., str]
) -> Iterator[Store]:
    """What was opened before: an SQLite file that is there is opened otherwise (`QuickStart`)."""
    ours = backend in ("sqlite", "postgres", "mariadb")
    url = prepared(backend) if ours else request.getfixturevalue("metastore_url")
    metastore = open_metastore(url, "/wh", timeout=60)
    store = Store(url, metastore)
    yield store
    if not ours:
        empty(metastore)
    else:
        store.rdbms.close()
    metastore.close()


def empty(metastore: Metastore) -> None:
    """Leave nothing behind in a metastore that other tests use too."""
    open_txns = [row.txn_id for row in metastore.transactions()]
    metastore.abort_txns(open_txns, "the test has ended")
    for lock in metastore.locks():
        metastore.unlock(lock.lock_id)
    for name in metastore.databases():
        for table in metastore.tables(name):
            metastore.drop_table(table)
        if name != "default":
            metastore.drop_database(name)


@pytest.fixture
def metastore(store: Store) -> Metastore:
    return store.calls


@pytest.fixture
def make_table(metastore: Metastore) -> Callable[..., Table]:
    def make(name: str = "t", partitioned_by: Sequence[str] = (), **fields: Any) -> Table:
        return metastore.create_table(_transactional(name, partitioned_by, **fields))

    return make


def _transactional(name: str, partitioned_by: Sequence[str], **fields: Any) -> Table:
    fields = {
        "columns": (Column.of("a", "int"),),
        "properties": {"transactional": "true"},
        "partition_columns": tuple(Column.of(key, "string") for key in partitioned_by),
    } | fields
    return Table(name=TableName("default", name), location="", **fields)


@pytest.fixture
def world(
    request: pytest.FixtureRequest, backend: str, prepared: Callable[..., str]
) -> Iterator[World]:
    if backend in ("postgres", "mariadb"):
        made = World(prepared(backend))
    else:
        made = World(request.getfixturevalue("metastore_url"))
    yield made
    if made.url.startswith(URI):
        empty(made.now)
    made.close()
