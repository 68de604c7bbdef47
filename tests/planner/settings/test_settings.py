"""Keys are honoured, or have no effect; values are checked when they are set."""

from __future__ import annotations

import pytest

from hivesql_planner.errors import SemanticError
from hivesql_planner.locks.lock import LockType
from hivesql_planner.model.table import Column, Table, TableName
from hivesql_planner.planning import plan
from hivesql_planner.relations import Query
from hivesql_planner.settings.settings import KEYS, Settings
from hivesql_planner.statements.bound import CreateTable, InsertRows, InsertTarget, SelectRows

T = Table(
    name=TableName("d", "t"),
    columns=(Column.of("id", "int"),),
    location="/w/t",
    properties={"transactional": "true"},
)
SELECT = SelectRows(query=Query(sql="SELECT 1"))
INSERT = InsertRows(targets=(InsertTarget(table=T, query=SELECT.query),))

GIVEN = {
    # name: (key, value, error or None)
    "a time in another unit": ("hive.timedout.txn.reaper.interval", "3m", None),
    "a key without effect": ("hive.txn.heartbeat.threadpool.size", "6", None),
    "another lock manager": ("hive.lock.manager", "x.y.Z", None),
    "not a number, of a key without effect": (
        "hive.txn.heartbeat.threadpool.size",
        "x",
        SemanticError,
    ),
    "not a number": ("hive.lock.numretries", "many", SemanticError),
    "not a truth": ("hive.txn.xlock.iow", "yes", SemanticError),
    "not a duration": ("hive.txn.timeout", "5 years", SemanticError),
    "an unknown key of transactions": ("hive.txn.xlock.wirte", "true", SemanticError),
    "an unknown key of locks": ("hive.lock.nosuch", "1", SemanticError),
    "a key of another matter": ("hive.exec.nosuch", "1", None),
    "a good value": ("hive.lock.sleep.between.retries", "250ms", None),
}


@pytest.mark.parametrize(("key", "value", "error"), GIVEN.values(), ids=GIVEN)
def test_values(key: str, value: str, error: type[Exception] | None) -> None:
    if error is None:
        assert Settings.of({key: value}).text(key) == value
        return
    with pytest.raises(error, match=key):
        Settings.of({key: value})


def test_every_key_of_transactions_and_locks_is_known() -> None:
    """Those of Hive's configuration page, section Transactions and section Locking."""
    page = """
        hive.txn.manager hive.txn.strict.locking.mode hive.txn.timeout hive.txn.max.open.batch
        hive.txn.heartbeat.threadpool.size hive.timedout.txn.reaper.start
        hive.timedout.txn.reaper.interval hive.max.open.txns hive.count.open.txns.interval
        hive.txn.retryable.sqlex.regex hive.support.concurrency hive.lock.manager
        hive.lock.mapred.only.operation hive.lock.query.string.max.length hive.lock.numretries
        hive.unlock.numretries hive.lock.sleep.between.retries hive.lock.file.move.protect
        hive.txn.xlock.iow hive.txn.xlock.write hive.txn.xlock.mergeinsert hive.txn.xlock.ctas
        hive.txn.read.locks hive.txn.nonacid.read.locks hive.txn.ext.locking.enabled
        hive.txn.readonly.enabled hive.txn.retrysnapshot.max.count hive.locks.max.partitions
        hive.query.exclusive.lock hive.repl.txn.timeout
        hive.txn.manager.dump.lock.state.on.acquire.timeout
    """
    assert [key for key in page.split() if key not in KEYS] == []
    assert all(KEYS[key].meaning and KEYS[key].kind for key in page.split())


TIMES = {
    # name: (key, value, seconds); the units are those of real Hive 4.1's TimeValidators
    "milliseconds": ("hive.compactor.cleaner.run.interval", "5000", 5),
    "seconds": ("hive.txn.timeout", "77", 77),
    "hours": ("hive.compactor.aborted.txn.time.threshold", "2", 7200),
    "days": ("metastore.compactor.initiator.failed.retry.time", "2", 172_800),
    "an older name": ("hive.compactor.worker.pool.timeout", "1", 3600),
    "a metastore's name": ("metastore.txn.timeout", "9", 9),
    "a unit": ("hive.compactor.worker.sleep.time", "2 min", 120),
}


@pytest.mark.parametrize(("key", "value", "seconds"), TIMES.values(), ids=TIMES)
def test_times_without_a_unit_have_the_usual_one(key: str, value: str, seconds: float) -> None:
    assert Settings.of({key: value}).seconds(key) == seconds


PLANS = {
    # name: (settings, read-only, zero-wait reads)
    "defaults": ({}, False, False),
    "first committer wins": ({"hive.txn.xlock.write": "false"}, False, True),
    "overwrites beside readers": ({"hive.txn.xlock.iow": "false"}, False, True),
    "read-only queries": ({"hive.txn.readonly.enabled": "true"}, True, False),
}


@pytest.mark.parametrize(("given", "read_only", "zero_wait"), PLANS.values(), ids=PLANS)
def test_how_a_query_opens_and_waits(
    given: dict[str, str], read_only: bool, zero_wait: bool
) -> None:
    decided = plan(SELECT, Settings.of(given))
    assert (decided.read_only, decided.zero_wait_reads) == (read_only, zero_wait)
    assert not plan(INSERT, Settings.of(given)).read_only


def test_create_table_as_select_is_exclusive() -> None:
    create = CreateTable(table=T, rows=SELECT.query)
    assert plan(create).exclusive_create
    assert not plan(create, Settings.of({"hive.txn.xlock.ctas": "false"})).exclusive_create
    assert not plan(CreateTable(table=T)).exclusive_create


def test_locks_by_name() -> None:
    settings = Settings.of({"hive.query.exclusive.lock": "b, A,"})
    named = [lock for lock in plan(INSERT, settings).locks if lock.type is LockType.EXCLUSIVE]
    assert [(lock.database, lock.table) for lock in named] == [
        ("__global_locks", "b"),
        ("__global_locks", "a"),
    ]


def test_statements_without_a_job_may_take_no_locks() -> None:
    settings = Settings.of({"hive.lock.mapred.only.operation": "true"})
    assert plan(CreateTable(table=T), settings).locks == ()
    assert plan(CreateTable(table=T)).locks != ()
    assert plan(INSERT, settings).locks == plan(INSERT).locks
