"""The compaction worker: one queue entry, one transaction, new directories beside the old."""

from __future__ import annotations

from dataclasses import dataclass

from hivesql_executor.heartbeat import Heartbeat
from hivesql_executor.metastore.api import Compaction, LockState, TxnType
from hivesql_executor.runtime import Runtime
from hivesql_executor.snapshot import acid_state
from hivesql_executor.spark.compact import compact_major, compact_minor
from hivesql_executor.storage.files import Files
from hivesql_planner.acid.layout import AcidDirectory
from hivesql_planner.acid.snapshot import AcidState
from hivesql_planner.acid.write_ids import ValidWriteIdList
from hivesql_planner.compaction import decide, major_result, minor_results
from hivesql_planner.errors import CommitUnknown, ExecutionError, NoSuchObject
from hivesql_planner.plan import Lock, LockType, Operation
from hivesql_planner.table import Partition, Table, parse_partition_name


@dataclass(frozen=True, slots=True, kw_only=True)
class _Unit:
    """The table or partition being compacted."""

    compaction: Compaction
    table: Table
    partition: Partition | None

    @property
    def location(self) -> str:
        return self.partition.location if self.partition else self.table.location


def run_next(runtime: Runtime, *, id: int | None = None) -> str | None:
    """Take the next request (or the one with that id) and run it; its final state, or None.

    A failure is recorded in the queue, leaves no new directory, and raises.
    """
    store = runtime.metastore
    compaction = store.next_compaction(f"{runtime.host}-worker", id=id)
    if compaction is None:
        return None
    try:
        unit = _find(compaction, runtime)
    except NoSuchObject as error:
        store.mark_failed(compaction.id, f"{error}, assuming it was dropped", refused=True)
        return "refused"
    (txn_id,) = store.open_txns(1, runtime.user, runtime.host, type=TxnType.COMPACTION)
    interval = runtime.settings.seconds("hive.txn.timeout") / 2
    heartbeat = Heartbeat(runtime=runtime, txn_id=txn_id, interval=interval)
    heartbeat.start()
    try:
        state = _compact(unit, txn_id, runtime)
        heartbeat.stop()
        heartbeat.check()
        store.commit_txn(txn_id)
    except CommitUnknown:
        heartbeat.stop()
        raise
    except BaseException as error:
        heartbeat.stop()
        store.mark_failed(compaction.id, str(error))
        store.abort_txns([txn_id], "compaction failed")
        raise
    return state


def _find(compaction: Compaction, runtime: Runtime) -> _Unit:
    table = runtime.metastore.table(compaction.table)
    partition = None
    if compaction.partition is not None:
        values = parse_partition_name(compaction.partition)
        partition = runtime.metastore.partition(table.name, values)
        if partition is None:
            raise NoSuchObject(f"partition {compaction.partition} of {table.name} not found")
    return _Unit(compaction=compaction, table=table, partition=partition)


def _compact(unit: _Unit, txn_id: int, runtime: Runtime) -> str:
    store, table, compaction = runtime.metastore, unit.table, unit.compaction
    lock = Lock(
        LockType.SHARED_READ,
        table.name.database,
        table.name.name,
        compaction.partition,
        Operation.SELECT,
    )
    answer = store.enqueue_locks(txn_id, [lock], user=runtime.user, host=runtime.host)
    if answer.state is not LockState.ACQUIRED:
        raise ExecutionError(f"the compactor could not lock {table.name}: {answer.reason}")
    txns = store.valid_txns(txn_id)
    visible = store.compactor_write_ids(table.name)
    store.set_compaction_txn(compaction.id, txn_id, visible.high_watermark)
    files = runtime.files(unit.location)
    state = acid_state(files, unit.location, visible, txns)
    decision = decide(state, "major" if compaction.kind == "major" else "minor")
    if decision.action == "refuse":
        store.mark_failed(compaction.id, decision.reason, refused=True)
        return f"refused ({decision.reason})"
    if decision.action == "run":
        _write(unit, state, visible, txn_id, runtime, files)
    store.mark_compacted(compaction.id)
    return "ready for cleaning"


def _write(
    unit: _Unit,
    state: AcidState,
    visible: ValidWriteIdList,
    txn_id: int,
    runtime: Runtime,
    files: Files,
) -> None:
    results: tuple[AcidDirectory, ...]
    if unit.compaction.kind == "major":
        results = (major_result(state, txn_id),)
    else:
        results = minor_results(state, txn_id)
    try:
        if unit.compaction.kind == "major":
            compact_major(
                runtime.spark(), unit.table, unit.partition, unit.location, state,
                result=results[0], visible=visible, files=files,
            )  # fmt: skip
        else:
            compact_minor(
                runtime.spark(), unit.table, unit.location, state,
                results=results, visible=visible, files=files,
            )  # fmt: skip
    except BaseException:
        for result in results:
            path = f"{unit.location}/{result.name}"
            if files.exists(path):
                files.delete(path)
        raise
