"""Transactions of one statement or many: open, heartbeat, commit or abort."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from hivesql_executor.failpoints import FailPoint, hit_failpoint
from hivesql_executor.metastore.api import CommitEntries, LockState, TxnType
from hivesql_executor.statement_log import note
from hivesql_executor.tracing import span
from hivesql_executor.transactions.bound_tables import check_listings, check_tables
from hivesql_executor.transactions.file_changes import FileChanges
from hivesql_executor.transactions.heartbeat import Heartbeat
from hivesql_executor.transactions.history import writes_of
from hivesql_executor.transactions.lock_wait import await_locks, request_locks
from hivesql_executor.transactions.reaper import abort, mend, release
from hivesql_executor.transactions.replaced_servers import with_known_server
from hivesql_planner.definitions.steps import Definition
from hivesql_planner.errors import CommitUnknown, ExecutionError, StaleSnapshot, WriteConflict
from hivesql_planner.multi_statement import continued, next_statement_id, replaced_tables
from hivesql_planner.older_python import add_note
from hivesql_planner.plan import Command, Select

if TYPE_CHECKING:
    from hivesql_executor.metastore.api import LockAnswer, Metastore, NewColumns, TableNote
    from hivesql_executor.metastore.file_moves import BegunMoves
    from hivesql_executor.runtime import Runtime
    from hivesql_planner.acid.write_ids import ValidTxnList, ValidWriteIdList
    from hivesql_planner.locks.lock import Operation
    from hivesql_planner.model.statistics import StatisticsChange
    from hivesql_planner.model.table import TableName
    from hivesql_planner.plan import Plan
    from hivesql_planner.write_history import RowCounts, TableWrite


_DATABASE_FAILED = 10280


@dataclass(frozen=True, kw_only=True)
class Transaction:
    """What one statement sees and writes. ``id`` is 0 when there is no transaction."""

    id: int
    txns: ValidTxnList
    write_ids: Mapping[TableName, int]
    visible: Mapping[TableName, ValidWriteIdList]
    changes: FileChanges
    """What the statement does to files outside of ACID directories."""
    heartbeat: Heartbeat | None = None
    counted: list[StatisticsChange] = field(default_factory=list)
    """What its statements have written so far; the commit makes it statistics."""
    notes: list[TableNote | NewColumns] = field(default_factory=list)
    """What of a table the commit changes beside its rows; at most one."""
    touched: dict[tuple[TableName, Operation], set[str]] = field(default_factory=dict)
    """Partitions that the statement has written and not yet told the metastore."""
    done: dict[TableName, RowCounts] = field(default_factory=dict)
    """What the statement did to each table, as far as it was counted."""


@dataclass(kw_only=True)
class OpenTransaction:
    """A transaction between its opening and its end; ``txns`` is the snapshot of its opening."""

    id: int
    txns: ValidTxnList
    heartbeat: Heartbeat
    changes: FileChanges
    read_only: bool = False
    next_statement_id: int = 0
    replaced: set[TableName] = field(default_factory=set)
    counted: list[StatisticsChange] = field(default_factory=list)
    notes: list[TableNote | NewColumns] = field(default_factory=list)
    writes: list[TableWrite] = field(default_factory=list)
    """What its statements did, which becomes the history of their tables."""
    process: int = field(default_factory=os.getpid)
    """Whose it is: a process that is forked from it has a copy, and must not end it."""


def open_transaction(runtime: Runtime, *, read_only: bool = False) -> OpenTransaction:
    """Open a transaction and keep it alive."""
    store, settings = runtime.metastore, runtime.settings

    def begin() -> tuple[int, ValidTxnList]:
        (txn_id,) = store.open_txns(
            1,
            runtime.user,
            runtime.host,
            type=TxnType.READ_ONLY if read_only else TxnType.DEFAULT,
            max_open=settings.integer("hive.max.open.txns"),
            max_batch=settings.integer("hive.txn.max.open.batch"),
        )
        try:
            return txn_id, store.valid_txns(txn_id)
        except BaseException as error:
            # In a Hive Metastore it stays open otherwise.
            _abort(runtime, txn_id, error)
            raise

    began = runtime.clock.monotonic()
    # Nobody knows of a transaction before it has a write id, locks, or has ended.
    with span("snapshot"):
        opening = partial(store.run_in_transaction, begin, durable=False)
        txn_id, txns = with_known_server(opening, runtime)
    note(transaction=txn_id)
    runtime.on_open(txn_id)
    hit_failpoint(FailPoint.TXN_OPENED)
    interval = settings.seconds("hive.txn.timeout") / 2
    heartbeat = Heartbeat(runtime=runtime, txn_id=txn_id, interval=interval)
    try:
        heartbeat.start()
    except BaseException as error:
        _abort(runtime, txn_id, error)
        raise
    return OpenTransaction(
        id=txn_id,
        txns=txns,
        heartbeat=heartbeat,
        changes=FileChanges(runtime, txn_id, renewed=began),
        read_only=read_only,
    )


def commit(
    opened: OpenTransaction, runtime: Runtime, *, exclusive_write: bool, for_reading: bool = False
) -> None:
    """Commit, or abort and raise; ``for_reading`` tells that nothing was written.

    After CommitUnknown nothing is aborted: that could destroy committed data.
    """
    try:
        opened.heartbeat.stop()
        opened.heartbeat.check()
        hit_failpoint(FailPoint.BEFORE_COMMIT)
        with span("commit"):
            runtime.metastore.commit_txn(
                opened.id,
                exclusive_write=exclusive_write,
                once=runtime.once,
                entries=CommitEntries(
                    note=opened.notes[0] if opened.notes else None,
                    changes=opened.counted,
                    writes=opened.writes,
                ),
                for_reading=for_reading and runtime.once is None,
                settles=bool(opened.changes),
            )
        hit_failpoint(FailPoint.AFTER_COMMIT)
    except CommitUnknown as error:
        if for_reading and runtime.once is None:
            raise _answer_lost(error) from error
        raise
    except BaseException as error:
        has_moved = bool(opened.changes)
        opened.changes.undo(error)
        _abort(runtime, opened.id, error, may_have_moved=has_moved, left=opened.changes.left)
        raise
    opened.changes.finish()


def _answer_lost(error: CommitUnknown) -> ExecutionError:
    """Tell what a lost answer means that was none to the statement's own commit."""
    failure = ExecutionError(
        f"the connection to the metastore broke: {error.message.partition(';')[0]}. Nothing that "
        "the statement wrote is visible: run it again",
        code=_DATABASE_FAILED,
    )
    failure.retryable = True
    return failure


@contextmanager
def _before_commit(plan: Plan) -> Iterator[None]:
    """Let nobody take a lost answer for that to the commit: DDL alone has changed something."""
    try:
        yield
    except CommitUnknown as error:
        if isinstance(plan.body, Definition | Command):
            raise
        raise _answer_lost(error) from error


def roll_back(
    opened: OpenTransaction,
    runtime: Runtime,
    error: BaseException | None,
    *,
    may_have_moved: bool = False,
) -> None:
    """Abort; what was written is invisible from now on. ``error`` is why, None for ROLLBACK.

    Files are put back before the locks are free; ``may_have_moved`` tells that some are noted
    beside those of its ``changes``.
    """
    opened.heartbeat.stop()
    may_have_moved = may_have_moved or bool(opened.changes)
    opened.changes.undo(error)
    left = opened.changes.left
    if error is None:
        _free(opened.id, "rollback", runtime, may_have_moved=may_have_moved, left=left)
    else:
        _abort(runtime, opened.id, error, may_have_moved=may_have_moved, left=left)


@contextmanager
def transaction(
    plan: Plan, runtime: Runtime, inside: OpenTransaction | None = None
) -> Iterator[Transaction]:
    """Provide the transaction of one statement, or its part of one that is open.

    Its own transaction is committed on leaving and aborted on any error. The order is Hive's: the
    snapshot is that of the opening, write ids come before locks, and the snapshot is checked
    again once the locks are held (StaleSnapshot: plan again and retry). A commit that fails, or
    whose outcome is unknown, raises. An open transaction's end is its opener's affair.
    """
    if inside is not None:
        inside.heartbeat.check()
        began = runtime.clock.monotonic()
        with _before_commit(plan):
            txn = _prepare_inside(plan, runtime, inside)
            yield txn
        inside.heartbeat.check()
        inside.writes += writes_of(plan, txn.write_ids, txn.done, runtime, began)
        inside.replaced |= replaced_tables(plan.body)
        inside.next_statement_id = next_statement_id(plan.body, inside.next_statement_id)
        return
    store = runtime.metastore
    if not plan.opens_txn:
        txns = store.valid_txns()
        visible = store.valid_write_ids(txns, plan.reads)
        changes = FileChanges(runtime, 0)
        none = Transaction(
            id=0,
            txns=txns,
            write_ids={},
            visible=visible,
            changes=changes,
            counted=changes.counted,
        )
        with changes.deciding():
            yield none
        return
    began = runtime.clock.monotonic()
    try:
        opened = open_transaction(runtime, read_only=plan.read_only)
    except CommitUnknown as error:
        raise _answer_lost(error) from error
    try:
        with _before_commit(plan):
            txn = _prepare(plan, runtime, opened)
            yield txn
        if not isinstance(plan.body, Definition | Command):
            # The catalog has what those change: who cancels them now is too late.
            runtime.check_cancelled()
        opened.writes += writes_of(plan, txn.write_ids, txn.done, runtime, began)
    except BaseException as error:
        moves = isinstance(plan.body, Definition | Command)
        roll_back(opened, runtime, error, may_have_moved=moves)
        raise
    commit(
        opened,
        runtime,
        exclusive_write=runtime.settings.flag("hive.txn.xlock.write"),
        for_reading=isinstance(plan.body, Select),
    )


def continuing(plan: Plan, inside: OpenTransaction) -> Plan:
    """Return the plan with the statement ids that are next in an open transaction."""
    return replace(plan, body=continued(plan.body, inside.next_statement_id))


@dataclass(frozen=True, slots=True)
class _Acquired:
    """Write ids and locks; ``visible`` is left out where a ``newer`` transaction has written.

    ``txns`` is a younger snapshot than the opening's, taken under the locks, if there is one.
    """

    write_ids: Mapping[TableName, int]
    newer: int | None = None
    visible: Mapping[TableName, ValidWriteIdList] | None = None
    txns: ValidTxnList | None = None


@dataclass(slots=True)
class _Request:
    """A plan's request for its write ids and locks.

    A statement that ``is_alone`` in its transaction was planned before that was opened.
    """

    plan: Plan
    runtime: Runtime
    opened: OpenTransaction
    is_alone: bool

    def ask(self) -> tuple[_Acquired, LockAnswer | None]:
        """Take write ids, and ask for the locks; the answer where it is not that they are ours."""
        store, txn_id = self.runtime.metastore, self.opened.id
        names = [target.table for target in self.plan.targets]
        # Whose writes the snapshot sees is settled. So it is asked before others wait for us.
        write_ids, visible = store.take_write_ids(
            txn_id, names, self.opened.txns, _tables(self.plan, names)
        )
        hit_failpoint(FailPoint.WRITE_IDS_ALLOCATED)
        acquired = _Acquired(write_ids, visible=visible)
        answer = request_locks(txn_id, self.plan, self.runtime)
        if answer is not None and answer.state is not LockState.ACQUIRED:
            return acquired, answer
        return self._look(acquired), None

    def ask_again(
        self, lock_id: int, so_far: _Acquired, *, is_next: bool
    ) -> tuple[_Acquired, LockAnswer]:
        """Ask for the locks, and take with them what those who had them before make necessary."""
        store, txn_id, write_ids = self.runtime.metastore, self.opened.id, so_far.write_ids
        newer = self._newer() if self.is_alone and is_next else None
        is_stale = newer is not None and newer < txn_id
        if is_stale:
            # Write ids come before the queue, as in ask, else two could wait for each other.
            write_ids = _take_write_ids_again(write_ids, txn_id, store)
            so_far = replace(so_far, write_ids=write_ids)
        answer = store.check_lock(lock_id)
        if answer.state is not LockState.ACQUIRED:
            return so_far, answer
        acquired = self._look(so_far)
        if is_stale and acquired.newer is not None and acquired.newer < txn_id:
            acquired = _look_anew(self.plan, txn_id, write_ids, store)
        return acquired, answer

    def _look(self, acquired: _Acquired) -> _Acquired:
        """See who changed, since the snapshot, what the locks cover that are ours now."""
        store = self.runtime.metastore
        check_tables(self.plan, store)
        check_listings(self.plan, store)
        newer = self._newer()
        return acquired if newer is None else _Acquired(acquired.write_ids, newer)

    def _newer(self) -> int | None:
        return self.runtime.metastore.newer_writer(self.opened.id, self.plan.locks)


def _acquire(
    plan: Plan, runtime: Runtime, opened: OpenTransaction, *, is_alone: bool = False
) -> _Acquired:
    """Take the plan's write ids and locks, and see who changed since what these cover."""
    store, request = runtime.metastore, _Request(plan, runtime, opened, is_alone)
    # A reader leaves nothing behind that power loss could harm.
    in_transaction = partial(
        store.run_in_transaction, durable=not isinstance(plan.body, Select), early=True
    )
    with span("locks"):
        acquired, refused = in_transaction(request.ask)
        if refused is not None:

            def check(lock_id: int, /, *, is_next: bool) -> LockAnswer:
                nonlocal acquired
                acquired, answer = in_transaction(
                    partial(request.ask_again, lock_id, acquired, is_next=is_next)
                )
                return answer

            await_locks(opened.id, refused, runtime, check)
    hit_failpoint(FailPoint.LOCKS_ACQUIRED)
    return acquired


def _take_write_ids_again(
    write_ids: Mapping[TableName, int], txn_id: int, store: Metastore
) -> dict[TableName, int]:
    """Take write ids that are greater than those of the rows that we are going to delete."""
    return {table: store.allocate_write_id(txn_id, table, again=True) for table in write_ids}


def _look_anew(
    plan: Plan, txn_id: int, write_ids: Mapping[TableName, int], store: Metastore
) -> _Acquired:
    """Take the snapshot again: we hold the locks now, so this one stays good."""
    txns = store.valid_txns(txn_id)
    visible = store.valid_write_ids(txns, _tables(plan, write_ids))
    return _Acquired(write_ids, visible=visible, txns=txns)


def _prepare(plan: Plan, runtime: Runtime, opened: OpenTransaction) -> Transaction:
    store, txn_id = runtime.metastore, opened.id
    acquired = _acquire(plan, runtime, opened, is_alone=True)
    if acquired.newer is not None and acquired.newer > txn_id:
        # Our snapshot can never see a later transaction: only a new transaction can.
        raise StaleSnapshot(
            f"transaction {acquired.newer} changed the data while transaction {txn_id} waited for "
            "its locks, and this happened again and again. Run the statement again"
        )
    if acquired.visible is None:
        write_ids = _take_write_ids_again(acquired.write_ids, txn_id, store)
        acquired = _look_anew(plan, txn_id, write_ids, store)
    return _seen(opened, acquired)


def _prepare_inside(plan: Plan, runtime: Runtime, opened: OpenTransaction) -> Transaction:
    acquired = _acquire(plan, runtime, opened)
    if acquired.visible is None:
        # The snapshot is that of START TRANSACTION, so nothing can be planned again.
        raise WriteConflict(
            f"transaction {acquired.newer} changed the data that transaction {opened.id} wants to "
            f"change, and committed first. Transaction {opened.id} was rolled back: run it again"
        )
    return _seen(opened, acquired)


def _tables(plan: Plan, written: Iterable[TableName]) -> tuple[TableName, ...]:
    return tuple(dict.fromkeys((*plan.reads, *written)))


def _seen(opened: OpenTransaction, acquired: _Acquired) -> Transaction:
    assert acquired.visible is not None
    return Transaction(
        id=opened.id,
        txns=acquired.txns or opened.txns,
        write_ids=acquired.write_ids,
        visible=acquired.visible,
        changes=opened.changes,
        heartbeat=opened.heartbeat,
        counted=opened.counted,
        notes=opened.notes,
    )


def _free(
    txn_id: int,
    reason: str,
    runtime: Runtime,
    *,
    may_have_moved: bool,
    left: BegunMoves | None = None,
) -> None:
    """Put back what is left to do so, then abort: its locks keep others out until then."""
    end = partial(abort, runtime=runtime) if may_have_moved else runtime.metastore.abort_txns

    def free() -> None:
        if left is not None:
            # Without its locks others may have filled what would go.
            runtime.metastore.heartbeat(txn_id)
            mend(left, runtime)
        end([txn_id], reason)

    release(free, runtime)


def _abort(
    runtime: Runtime,
    txn_id: int,
    error: BaseException,
    *,
    may_have_moved: bool = False,
    left: BegunMoves | None = None,
) -> None:
    try:
        reason = f"{type(error).__name__}"[:128]
        _free(txn_id, reason, runtime, may_have_moved=may_have_moved, left=left)
    except Exception as second:  # noqa: BLE001 - the first error is the one to report
        add_note(
            error,
            f"transaction {txn_id} could not be aborted either ({second}); "
            "this process goes on trying, and what lives no longer than hive.txn.timeout then is "
            "aborted by the reaper",
        )


@contextmanager
def changing(txn: Transaction | None, runtime: Runtime) -> Iterator[FileChanges]:
    """Provide the changes of a transaction, or of a block that has none."""
    if txn is not None:
        yield txn.changes
        return
    changes = FileChanges(runtime, 0)
    with changes.deciding():
        yield changes
