"""The metastore against a model that a page of Python can hold, by random walks."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import hypothesis.strategies as st
from hypothesis import HealthCheck, settings
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, multiple, rule

from hivesql_executor.metastore.api import LockOwner, LockState
from hivesql_executor.metastore.database.metastore import DatabaseMetastore
from hivesql_planner.acid.write_ids import ValidTxnList
from hivesql_planner.errors import TransactionLost, WriteConflict
from hivesql_planner.locks.lock import Lock, LockType, Operation
from hivesql_planner.locks.rules import conflicts
from hivesql_planner.model.table import TableName
from scratch import in_memory

TABLES = [TableName("default", name) for name in ("t", "u")]
OF_KIND = {
    LockType.SHARED_READ: Operation.INSERT,
    LockType.SHARED_WRITE: Operation.UPDATE,
    LockType.EXCL_WRITE: Operation.DELETE,
    LockType.EXCLUSIVE: Operation.UPDATE,
}
REPLACING = (Operation.UPDATE, Operation.DELETE)


@dataclass
class Txn:
    """What the model knows of a transaction."""

    id: int
    snapshot: ValidTxnList
    state: str = "open"
    write_ids: dict[TableName, int] = field(default_factory=dict)
    locks: list[tuple[int, Lock]] = field(default_factory=list)
    """Granted ones, with the number of their request."""
    commit_id: int = 0
    forgotten: bool = False
    """It had ended when the metastore was tidied, which may have removed its row."""

    def left_nothing_in(self, table: TableName) -> bool:
        """Its write id may be forgotten, and counts as seen: no row ever had it without a lock."""
        asked = any(lock.table == table.name for _, lock in self.locks)
        return self.state == "aborted" and self.forgotten and not asked

    @property
    def replaces(self) -> set[str | None]:
        """Tables whose rows it changes."""
        return {lock.table for _, lock in self.locks if lock.operation in REPLACING}


class Metastore(RuleBasedStateMachine):
    """One lock per request, given up at once when it would have to wait."""

    transactions = Bundle("transactions")

    def __init__(self) -> None:
        super().__init__()
        self.directory = tempfile.mkdtemp(prefix="hivesql-model-", dir=in_memory())
        shutil.copy(_empty_metastore(), f"{self.directory}/m.db")
        self.store = DatabaseMetastore.open(f"sqlite:///{self.directory}/m.db", "/wh")
        self.all: list[Txn] = []
        self.next_write_id = dict.fromkeys(TABLES, 1)

    def teardown(self) -> None:
        self.store.close()
        shutil.rmtree(self.directory)

    @rule(target=transactions, count=st.integers(1, 3))
    def open(self, count: int) -> object:
        opened = []
        for _ in range(count):
            (txn_id,) = self.store.open_txns(1, "ann", "here")
            assert txn_id == len(self.all) + 1
            txn = Txn(txn_id, self.store.valid_txns(txn_id))
            self.all.append(txn)
            opened.append(txn)
        return multiple(*opened)

    @rule(txn=transactions, table=st.sampled_from(TABLES))
    def allocate(self, txn: Txn, table: TableName) -> None:
        if txn.state != "open":
            return self._gone(lambda: self.store.allocate_write_id(txn.id, table))
        if table not in txn.write_ids:
            txn.write_ids[table] = self.next_write_id[table]
            self.next_write_id[table] += 1
        given, seen = self.store.take_write_ids(txn.id, [table], txn.snapshot, TABLES)
        assert given == {table: txn.write_ids[table]}
        assert seen == self.store.valid_write_ids(txn.snapshot, TABLES)
        assert self.store.allocate_write_id(txn.id, table) == txn.write_ids[table]
        return None

    @rule(txn=transactions, table=st.sampled_from(TABLES), kind=st.sampled_from(list(OF_KIND)))
    def lock(self, txn: Txn, table: TableName, kind: LockType) -> None:
        wanted = Lock(kind, table.database, table.name, None, OF_KIND[kind])
        if txn.state != "open":
            return self._gone(lambda: self._ask(txn, wanted))
        others = [
            lock
            for other in self.all
            if other.state == "open" and other is not txn
            for _, lock in other.locks
        ]
        free = not any(conflicts(wanted, lock) for lock in others)
        assert self._ask(txn, wanted) == free
        if free:
            txn.locks.append((0, wanted))
        else:
            # The metastore has recorded what the request would have written.
            txn.locks.append((0, Lock(LockType.SHARED_READ, "", table.name, None, OF_KIND[kind])))
        return None

    @rule(txn=transactions)
    def commit(self, txn: Txn) -> None:
        if txn.forgotten:
            return
        if txn.state == "committed":
            self.store.commit_txn(txn.id, exclusive_write=False)
            return
        if txn.state == "aborted":
            self._gone(lambda: self.store.commit_txn(txn.id, exclusive_write=False))
            return
        late = any(
            other.state == "committed" and txn.id <= other.commit_id
            for other in self.all
            if other.replaces & txn.replaces
        )
        if late:
            txn.state = "aborted"
            try:
                self.store.commit_txn(txn.id, exclusive_write=False)
            except WriteConflict:
                return
            raise AssertionError("a lost update was committed")
        txn.state, txn.commit_id = "committed", len(self.all)
        self.store.commit_txn(txn.id, exclusive_write=False)

    @rule(txn=transactions)
    def abort(self, txn: Txn) -> None:
        aborted = self.store.abort_txns([txn.id], "walk")
        assert aborted == ((txn.id,) if txn.state == "open" else ())
        if txn.state == "open":
            txn.state = "aborted"

    @rule()
    def tidy(self) -> None:
        self.store.clean_txns()
        for txn in self.all:
            txn.forgotten = txn.state != "open"

    @rule(txn=transactions)
    def snapshots_stay(self, txn: Txn) -> None:
        """Whatever was committed since: an open transaction sees what it saw, and itself."""
        if txn.state != "open":
            return
        for table, seen in self.store.valid_write_ids(txn.snapshot, TABLES).items():
            for other in self.all:
                write_id = other.write_ids.get(table)
                if write_id is not None and not other.left_nothing_in(table):
                    visible = other is txn or txn.snapshot.sees(other.id)
                    assert seen.sees(write_id) == visible, (txn, other, table)

    @invariant()
    def the_present_is_what_was_committed(self) -> None:
        now = self.store.valid_txns()
        open_ones = {txn.id for txn in self.all if txn.state == "open"}
        assert now.open == open_ones
        assert now.high_watermark == len(self.all)
        shown = {row.txn_id for row in self.store.locks()}
        assert shown <= open_ones
        for table, seen in self.store.valid_write_ids(now, TABLES).items():
            for txn in self.all:
                write_id = txn.write_ids.get(table)
                if write_id is not None and txn.state != "aborted":
                    assert seen.sees(write_id) == (txn.state == "committed")

    def _ask(self, txn: Txn, wanted: Lock) -> bool:
        answer = self.store.enqueue_locks(txn.id, [wanted], LockOwner("ann", "here"))
        if answer.state is LockState.WAITING:
            self.store.unlock(answer.lock_id)
        return answer.state is LockState.ACQUIRED

    def _gone(self, call: object) -> None:
        assert callable(call)
        try:
            call()
        except TransactionLost:
            return
        raise AssertionError("a transaction that has ended went on")


_template: list[str] = []


def _empty_metastore() -> str:
    if not _template:
        path = Path(tempfile.mkdtemp(prefix="hivesql-model-"), "empty.db")
        DatabaseMetastore.open(f"sqlite:///{path}", "/wh").close()
        _template.append(str(path))
    return _template[0]


TestMetastore = Metastore.TestCase
TestMetastore.settings = settings(
    max_examples=60,
    stateful_step_count=30,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
