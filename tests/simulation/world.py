"""One metastore and warehouse for a case, used again for the next one; and what is true there."""

from __future__ import annotations

import gc
import os
import shutil
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn, TypeVar, cast
from unittest import mock
from weakref import WeakKeyDictionary

import pyarrow as pa
from pyarrow import orc
from sqlalchemy import Connection

from hivesql.session import Session
from hivesql.sessions.spark_start import LazySpark
from hivesql_executor.checks import events_by_spark
from hivesql_executor.compaction import rewriting, worker
from hivesql_executor.files.local import LocalFiles
from hivesql_executor.metastore.api import Metastore
from hivesql_executor.metastore.cache.metastore import CachingMetastore
from hivesql_executor.metastore.database.metastore import DatabaseMetastore
from hivesql_executor.metastore.database.transactions import transactions
from hivesql_executor.runtime import Clock, Runtime
from hivesql_executor.statements import insert_by_spark
from hivesql_executor.streaming.batch import Batch
from hivesql_planner.acid.write_ids import ValidTxnList
from hivesql_planner.errors import HiveSqlError, NotSupported
from hivesql_planner.settings.settings import Settings
from simulation.cases import COMING, MINE, NAMES, PARTITIONS, TIMEOUT, WHOLE, Case
from simulation.database import SimulatedRdbms, Sqlite, Truth, database_on
from simulation.file_systems.local import watching
from simulation.file_systems.object_store import SimulatedStore
from simulation.merging import merge
from simulation.model import PLAIN, Intent, Model, Row, Txn, Wrong
from simulation.reading import count_rows, read_table
from simulation.scheduler import Client, Latch, Scheduler
from simulation.writing import shape, stage_simulated

T = TypeVar("T")
ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
_SETTINGS = {
    "hive.txn.timeout": f"{int(TIMEOUT)}s",
    "hivesql.compactor.inline": "false",
    "hive.compactor.cleaner.threads.num": "1",
    "hive.compactor.request.queue": "1",
    "hive.compactor.delta.num.threshold": "3",
    "hive.compactor.worker.timeout": "0s",
    "hive.compactor.cleaner.retention.time.seconds": "5s",
    "hive.compactor.gather.stats": "false",
    "hive.compactor.abortedtxn.threshold": "0",
    "hive.compactor.aborted.txn.time.threshold": "0s",
    "metastore.compactor.clean.aborts.using.cleaner": "true",
}
_PARTITIONS = """
SELECT p."PART_ID", t."TBL_NAME", p."PART_NAME", s."LOCATION" FROM "PARTITIONS" p
JOIN "TBLS" t ON t."TBL_ID" = p."TBL_ID" JOIN "SDS" s ON s."SD_ID" = p."SD_ID" ORDER BY 1
"""
_TABLES = 'SELECT "TBL_ID", "TBL_NAME" FROM "TBLS"'
_LOCKED = """
SELECT DISTINCT "HL_TABLE" FROM "HIVE_LOCKS" WHERE "HL_LOCK_TYPE" = 'e' AND "HL_LOCK_STATE" = 'a'
"""
_MOVES = 'SELECT "MOVE_KEY" FROM "HIVESQL_MOVES"'
_WRITES = 'SELECT "T2W_TABLE", "T2W_WRITEID" FROM "TXN_TO_WRITE_ID" WHERE "T2W_TXNID" = {}'


class NeedsSpark(NotSupported):
    """A statement of a case that is none of the small ones."""


class NoSpark(LazySpark):
    """Spark, which nobody may start here."""

    def __call__(self) -> NoReturn:
        raise NeedsSpark("Spark")


class ObservedMetastore(DatabaseMetastore):
    """The metastore, which tells what it is about, and when a transaction takes a snapshot."""

    def __init__(self, rdbms: SimulatedRdbms) -> None:
        super().__init__(rdbms)
        self.simulated = rdbms
        self.looked: Callable[[int], None] = lambda txn_id: None

    def valid_txns(self, txn_id: int = 0) -> ValidTxnList:
        """As in production."""
        found = super().valid_txns(txn_id)
        self.looked(txn_id)
        return found

    def requests_before(self, lock_id: int) -> int | None:
        """As in production, but whoever waits looks once in each of its pauses."""
        found = super().requests_before(lock_id)
        return None if found else found

    def _read(self, work: Callable[[Connection], T]) -> T:
        self.simulated.doing = work.__qualname__
        return super()._read(work)

    def _write(
        self, work: Callable[[Connection], T], *, durable: bool = True, early: bool = False
    ) -> T:
        self.simulated.doing = work.__qualname__
        return super()._write(work, durable=durable, early=early)


class House:
    """A metastore's database and a directory, which one case after the other begins anew."""

    def __init__(self, place: Path, server: str | None = None) -> None:
        self.warehouse = place / "warehouse"
        self._databases = database_on(server) if server else Sqlite(place)
        self.url = self._databases.url
        DatabaseMetastore.open(self.url, str(self.warehouse)).close()
        self.rdbms = SimulatedRdbms(self.url)
        self.store = ObservedMetastore(self.rdbms)
        _make_tables(self.store)
        self.rdbms.engine.dispose()
        self._databases.keep()
        shutil.copytree(self.warehouse, place / "fresh")
        self._fresh = place / "fresh"

    @contextmanager
    def world(self, case: Case) -> Iterator[World]:
        """A world for one case, with the tables that cases use."""
        self.rdbms.engine.dispose()
        self._databases.begin_anew()
        shutil.rmtree(self.warehouse)
        shutil.copytree(self._fresh, self.warehouse)
        with ExitStack() as stack:
            scheduler = Scheduler(case)
            truth = Truth(self.url, self.rdbms.engine)
            stack.callback(truth.close)
            # The case before had the same ids, and this process would take none of them again.
            stack.enter_context(mock.patch.object(transactions, "_starts", WeakKeyDictionary()))
            chance = scheduler.chance("names")
            stack.enter_context(mock.patch.object(os, "urandom", chance.randbytes))
            # What these do with rows is a matter for Spark.
            stack.enter_context(mock.patch.object(rewriting, "merge", merge))
            stack.enter_context(mock.patch.object(events_by_spark, "findings_by_spark", count_rows))
            stack.enter_context(mock.patch.object(worker, "_claims", Latch(scheduler)))
            stack.enter_context(mock.patch.object(Batch, "_beat", _beat_unless_ending))
            stack.enter_context(mock.patch.object(insert_by_spark, "shaped", shape))
            stack.enter_context(mock.patch.object(insert_by_spark, "stage_query", stage_simulated))
            world = World(self, scheduler, truth)
            self.rdbms.scheduler, self.rdbms.written = scheduler, world.look
            self.store.looked = world.model.looked
            stack.enter_context(watching(scheduler, self.warehouse))
            stack.callback(scheduler.close)
            try:
                world.look()
                yield world
            finally:
                self.rdbms.scheduler, self.rdbms.written = None, lambda: None

    def close(self) -> None:
        """Let go of the database, and of what clients that died had open."""
        self.rdbms.close()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            gc.collect()


_beat = Batch._beat


def _beat_unless_ending(batch: Batch) -> None:
    """As in production, but nobody waits: whoever holds the lock waits for its turn."""
    if not batch._ending.locked():
        _beat(batch)


def _make_tables(store: DatabaseMetastore) -> None:
    session = Session(_runtime(store, Clock()), NoSpark())
    for name in ("t", "c"):
        session.sql(f"CREATE TABLE {name} (id int, k int, v int) {ACID}")
    for name in ("p", "q"):
        session.sql(f"CREATE TABLE {name} (id int, v int) PARTITIONED BY (k int) {ACID}")
    for name in PLAIN:
        session.sql(
            f"CREATE TABLE {name} (id int, v int) PARTITIONED BY (k int) STORED AS ORC "
            "TBLPROPERTIES ('transactional'='false')"
        )
    for key in PARTITIONS:
        session.sql(f"ALTER TABLE p ADD PARTITION (k={key})")
    session.sql(f"ALTER TABLE q ADD PARTITION (k={MINE[0]})")


def _runtime(
    store: DatabaseMetastore, clock: Clock, objects: SimulatedStore | None = None
) -> Runtime:
    """``objects`` is the store in which the warehouse lies; None for this machine's disk."""
    files = LocalFiles()
    return Runtime(
        metastore=store,
        spark=NoSpark(),
        files=lambda place: objects or files,
        settings=Settings.of(_SETTINGS),
        user="simulated",
        host="here",
        clock=clock,
    )


class World:
    """What a case works on; keeps the model beside what the database says."""

    def __init__(self, house: House, scheduler: Scheduler, truth: Truth) -> None:
        self.scheduler, self.truth, self.warehouse = scheduler, truth, house.warehouse
        self.tables = scheduler.case.tables
        self.model = Model()
        self.meant: dict[str, list[Intent]] = {}
        """What the client is about, by its name: whatever transaction it opens is for that."""
        self.opened: dict[str, list[Txn]] = {}
        """The transactions that a client has opened."""
        self.checks = 0
        self._states: dict[int, str] = {}
        self._tables: dict[int, str] = {}
        self._partitions: dict[int, tuple[str, int]] = {}
        self._locations: dict[int, str] = {}
        self.left: dict[str, frozenset[str]] = {}
        """Locations that a partition had before, and the files of users that are in them."""
        self.sources = house.warehouse.parent / "sources"
        """Where files wait for LOAD DATA."""
        self.waiting: dict[str, Intent] = {}
        """The files that LOAD DATA moves, and what that means."""
        self.has_loaded = False
        """Whether tables may hold files that only Spark reads."""
        shutil.rmtree(self.sources, ignore_errors=True)
        self.sources.mkdir()
        clock = Clock(
            monotonic=lambda: scheduler.now, sleep=scheduler.sleep, repeat=scheduler.repeat
        )
        self.objects = None
        if scheduler.case.stored:
            self.objects = SimulatedStore(scheduler, house.warehouse)
        self.runtime = _runtime(house.store, clock, self.objects)
        if scheduler.case.optimistic:
            settings = self.runtime.settings.with_value("hive.txn.xlock.write", "false")
            self.runtime = self.runtime.with_settings(settings)

    def session(self, *, cached: bool = False) -> Session:
        """A new session; ``cached`` keeps copies of tables."""
        runtime = self.runtime
        if cached:
            runtime = replace(
                runtime, metastore=cast(Metastore, CachingMetastore(runtime.metastore))
            )
        return Session(runtime, NoSpark())

    # -- what has become true
    def look(self) -> None:
        """See what the last transaction of the database has changed, and follow it."""
        try:
            self._look()
        except Wrong as error:
            # The client may make another error of it.
            self.scheduler.fail(error)
            raise

    def _look(self) -> None:
        client = self.scheduler.current
        committed: list[Txn] = []
        rows = self.truth.ask('SELECT "TXN_ID", "TXN_STATE", "TXN_TYPE" FROM "TXNS" ORDER BY 1')
        for txn_id, state, kind in rows:
            known = self._states.get(txn_id)
            if known == state:
                continue
            self._states[txn_id] = state
            if known is None:
                self._note_opening(int(txn_id), int(kind or 0), client)
            if state == "a":
                self.model.aborted(txn_id)
            if state == "c":
                committed.append(self.model.committed(txn_id, self._write_ids(txn_id)))
        if COMING & {*self.tables}:
            self._follow_tables()
            self._follow_partitions()
        touched = {intent[1] for txn in committed for intent in txn.intents if _writes(intent)}
        if touched:
            self.scheduler.trace.append(("", f"check {sorted(touched)}"))
            self.scheduler._between(lambda: self.check(sorted(touched)))

    def _note_opening(self, txn_id: int, kind: int, client: Client | None) -> None:
        name = client.name if client else ""
        intents = self.meant.get(name, [])
        self.model.opened(txn_id, name, intents, kind)
        self.opened.setdefault(name, []).append(self.model.txns[txn_id])

    def _write_ids(self, txn_id: int) -> dict[str, int]:
        return {table: int(number) for table, number in self.truth.ask(_WRITES.format(txn_id))}

    def _follow_tables(self) -> None:
        found = {int(id_): name for id_, name in self.truth.ask(_TABLES)}
        for id_, name in self._tables.items():
            if id_ not in found:
                self.model.dropped(name)
            elif found[id_] != name:
                self.model.renamed(name, found[id_])
        self._tables = found

    def _follow_partitions(self) -> None:
        rows = self.truth.ask(_PARTITIONS)
        found = {int(id_): (table, int(name.partition("=")[2])) for id_, table, name, _ in rows}
        locations = {int(id_): location for id_, _, _, location in rows}
        new = {found[id_] for id_ in found.keys() - self._partitions.keys()}
        for id_, (table, key) in self._partitions.items():
            if id_ in found:
                if found[id_] == (table, key) and locations[id_] != self._locations[id_]:
                    self._leave(table, key, self._locations[id_])
                if found[id_] != (table, key):
                    self.model.moved(table, key, found[id_][1])
                continue
            other = PLAIN[table == PLAIN[0]]
            if table in PLAIN and (other, key) in new:
                # In one transaction: exchanged.
                self.model.renamed(table, other, key)
            else:
                self.model.dropped(table, key)
        self._partitions, self._locations = found, locations

    def _leave(self, table: str, key: int, location: str) -> None:
        """A partition begins anew in another place; what is in the old one stays there."""
        self.model.dropped(table, key)
        files = (one for one in Path(location).rglob("*") if one.is_file())
        self.left[location] = frozenset(map(str, files)) if table in PLAIN else frozenset()

    def make_source(self, table: str, row: Row) -> str:
        """A file with one row, for LOAD DATA."""
        self.has_loaded = True
        id_, key, value = row
        columns = {"id": id_, "k": key, "v": value} if table in WHOLE else {"id": id_, "v": value}
        place = self.sources / f"{id_}.orc"
        rows = pa.table({name: pa.array([one], pa.int32()) for name, one in columns.items()})
        orc.write_table(rows, str(place))
        return str(place)

    def exists(self, table: str) -> bool:
        """Whether there is such a table."""
        return table not in NAMES or table in {name for _, name in self.truth.ask(_TABLES)}

    # -- what has to be true
    def check(self, tables: Sequence[str] = ()) -> None:
        """Compare what a fresh reader sees with the model; Wrong when it is something else.

        Without ``tables``, in all that the case is about.
        """
        locked = {name for (name,) in self.truth.ask(_LOCKED)}
        if self.truth.ask(_MOVES):
            # Readers that take no locks may see how the files of such tables come and go.
            locked |= {*PLAIN}
        for table in tables or self.tables:
            # Whoever holds such a lock moves directories about.
            if table in locked or not self.exists(table):
                continue
            self.checks += 1
            try:
                found = read_table(table, self.runtime)
            except (HiveSqlError, OSError) as error:
                raise Wrong(f"{table} cannot be read: {error}") from error
            compare(f"a fresh reader of {table}", found, self.model.rows(table))


def _writes(intent: Intent) -> bool:
    return intent[0] != "select"


def compare(what: str, found: Any, expected: Any) -> None:
    """Wrong when rows are missing or too many."""
    missing, more = expected - found, found - expected
    if missing or more:
        told = []
        if missing:
            told.append(f"does not see {sorted(missing.elements())}")
        if more:
            told.append(f"sees {sorted(more.elements())}, which must not be there")
        raise Wrong(f"{what} {' and '.join(told)}")
