"""One statement, one transaction: open, heartbeat, commit or abort."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from hivesql_executor.lock_wait import acquire_locks
from hivesql_executor.metastore.api import TxnType
from hivesql_executor.runtime import Runtime
from hivesql_planner.acid.write_ids import ValidTxnList, ValidWriteIdList
from hivesql_planner.errors import CommitUnknown, HiveSqlError, StaleSnapshot, TransactionLost
from hivesql_planner.plan import Plan
from hivesql_planner.table import TableName


@dataclass(kw_only=True)
class Heartbeat:
    """Keeps a transaction alive from a thread of its own; remembers when it was lost."""

    runtime: Runtime
    txn_id: int
    interval: float
    lost: HiveSqlError | None = None
    _stop: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to beat."""
        self._thread = threading.Thread(
            target=self._beat, name=f"heartbeat-{self.txn_id}", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Stop before commit or abort, so that no beat races them."""
        self._stop.set()
        if self._thread:
            self._thread.join()

    def check(self) -> None:
        """Raise when the transaction is gone."""
        if self.lost:
            raise self.lost

    def _beat(self) -> None:
        while not self._stop.wait(self.interval):
            try:
                self.runtime.metastore.heartbeat(self.txn_id)
            except TransactionLost as error:
                self.lost = error
                return
            except Exception as error:  # noqa: BLE001 - a missed beat is not yet a lost transaction
                self.runtime.notify(f"heartbeat of transaction {self.txn_id} failed: {error}")


@dataclass(frozen=True, kw_only=True)
class Transaction:
    """An open transaction with its locks and its snapshot. ``id`` is 0 when there is none."""

    id: int
    txns: ValidTxnList
    write_ids: Mapping[TableName, int]
    visible: Mapping[TableName, ValidWriteIdList]
    heartbeat: Heartbeat | None = None


@contextmanager
def transaction(plan: Plan, runtime: Runtime) -> Iterator[Transaction]:
    """Open, allocate write ids, lock, take the snapshot; commit on leaving, abort on any error.

    The order is Hive's: the snapshot is that of the opening, write ids come before locks, and the
    snapshot is checked again once the locks are held (StaleSnapshot: plan again and retry).
    A commit that fails, or whose outcome is unknown, raises.
    """
    store = runtime.metastore
    if not plan.opens_txn:
        txns = store.valid_txns()
        visible = store.valid_write_ids(txns, plan.reads)
        yield Transaction(id=0, txns=txns, write_ids={}, visible=visible)
        return
    (txn_id,) = store.open_txns(1, runtime.user, runtime.host, type=TxnType.DEFAULT)
    timeout = runtime.settings.seconds("hive.txn.timeout")
    heartbeat = Heartbeat(runtime=runtime, txn_id=txn_id, interval=timeout / 2)
    try:
        heartbeat.start()
        yield _prepare(plan, runtime, txn_id, heartbeat)
        heartbeat.stop()
        heartbeat.check()
        exclusive = runtime.settings.flag("hive.txn.xlock.write")
        store.commit_txn(txn_id, exclusive_write=exclusive)
    except CommitUnknown:
        # It may have been committed: aborting or cleaning now could destroy committed data.
        heartbeat.stop()
        raise
    except BaseException as error:
        heartbeat.stop()
        _abort(runtime, txn_id, error)
        raise


def _prepare(plan: Plan, runtime: Runtime, txn_id: int, heartbeat: Heartbeat) -> Transaction:
    store = runtime.metastore
    txns = store.valid_txns(txn_id)
    write_ids = {
        target.table: store.allocate_write_id(txn_id, target.table) for target in plan.targets
    }
    acquire_locks(txn_id, plan.locks, runtime, check_alive=heartbeat.check)
    newer = store.newer_writer(txn_id, plan.locks)
    if newer is not None and newer > txn_id:
        # Our snapshot can never see a later transaction: only a new transaction can.
        raise StaleSnapshot(
            f"transaction {newer} changed the data while transaction {txn_id} waited for its "
            "locks, and this happened again and again. Run the statement again"
        )
    if newer is not None:
        # We hold the locks now, so a snapshot taken here stays good. The new write ids must be
        # greater than those of the rows that we are going to delete.
        txns = store.valid_txns(txn_id)
        write_ids = {
            table: store.allocate_write_id(txn_id, table, again=True) for table in write_ids
        }
    tables = dict.fromkeys((*plan.reads, *write_ids))
    visible = store.valid_write_ids(txns, tuple(tables))
    return Transaction(
        id=txn_id, txns=txns, write_ids=write_ids, visible=visible, heartbeat=heartbeat
    )


def _abort(runtime: Runtime, txn_id: int, error: BaseException) -> None:
    try:
        runtime.metastore.abort_txns([txn_id], f"{type(error).__name__}"[:128])
    except Exception as second:  # noqa: BLE001 - the first error is the one to report
        error.add_note(
            f"transaction {txn_id} could not be aborted either ({second}); "
            "it will time out and be aborted by the reaper"
        )
