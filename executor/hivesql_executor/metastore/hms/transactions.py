"""Transactions and write ids of a Hive Metastore."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TypeVar

from hivesql_executor.failpoints import FailPoint, hit_failpoint
from hivesql_executor.metastore.api import (
    MAX_BATCH,
    MAX_OPEN,
    NO_ENTRIES,
    CommitEntries,
    Once,
    TxnRow,
    TxnType,
)
from hivesql_executor.metastore.hms.catalog import lower
from hivesql_executor.metastore.hms.client import idl
from hivesql_executor.metastore.hms.failures import UNREACHABLE
from hivesql_executor.metastore.hms.statistics import StatisticsCalls
from hivesql_planner.acid.write_ids import ListMode, ValidTxnList, ValidWriteIdList
from hivesql_planner.errors import (
    CommitUnknown,
    ExecutionError,
    HiveSqlError,
    NotSupported,
    TransactionLost,
    WriteConflict,
)
from hivesql_planner.locks.lock import Lock, Operation
from hivesql_planner.model.table import TableName
from hivesql_planner.write_history import LaterWrites

T = TypeVar("T")

# Hive's reason "rollback": the calls take a number, not a text.
KEYS = "idempotency keys with a Hive Metastore: it has no place for them beside a commit"
_ROLLBACK = 50005
_CHUNK = 500


class TransactionCalls(StatisticsCalls):
    """Calls of Metastore about transactions and write ids.

    What each transaction wrote to is remembered here, so that before it commits the statistics
    which Hive would answer queries from are no longer called accurate.
    """

    def __init__(self) -> None:
        super().__init__()
        self._write_ids: dict[int, dict[TableName, int]] = defaultdict(dict)
        self._written: dict[int, set[tuple[TableName, str | None]]] = defaultdict(set)

    def run_in_transaction(
        self, work: Callable[[], T], *, durable: bool = True, early: bool = False
    ) -> T:
        """Run ``work``; calls of a Hive Metastore are transactions each by itself.

        CommitUnknown where it is gone after some of them.
        """
        del durable, early
        with self._client.noticing_parts():
            return work()

    def open_txns(
        self, count: int, user: str, host: str, *, type: TxnType = TxnType.DEFAULT,
        max_open: int = MAX_OPEN, max_batch: int = MAX_BATCH,
    ) -> tuple[int, ...]:  # fmt: skip
        """Open transactions; the metastore's own limits hold.

        An answer that is lost is asked for anew: what was opened for nobody times out.
        """
        wire = idl()
        request = wire.OpenTxnRequest(
            num_txns=min(count, max_batch),
            user=user,
            hostname=host,
            agentInfo="hivesql",
            txn_type=wire.TxnType._NAMES_TO_VALUES[type.value],
        )
        return tuple(sorted(self._client.call("open_txns", request, again=True).txn_ids))

    def valid_txns(self, txn_id: int = 0) -> ValidTxnList:
        """Tell what the transaction sees; 0 asks for the current state."""
        wire = idl()
        if self._client.is_old:
            answer = self._client.call("get_open_txns", again=True)
        else:
            request = wire.GetOpenTxnsRequest(excludeTxnTypes=[wire.TxnType.READ_ONLY])
            answer = self._client.call("get_open_txns_req", request, again=True)
        highest = answer.txn_high_water_mark
        limit = highest + 1 if txn_id <= 0 else txn_id
        opened, aborted = _split(answer.open_txns, answer.abortedBits)
        return ValidTxnList(
            highest if txn_id <= 0 else min(txn_id, highest),
            frozenset(txn for txn in opened if txn < limit),
            frozenset(txn for txn in aborted if txn < limit),
        )

    def allocate_write_id(self, txn_id: int, table: TableName, *, again: bool = False) -> int:
        """Return the transaction's write id in the table; ``again`` replaces it by a larger one."""
        return self._allocate([txn_id], lower(table), again=again)[0]

    def allocate_write_ids(self, txn_ids: Sequence[int], table: TableName) -> tuple[int, ...]:
        """Give each transaction of a batch a write id in the table; in the transactions' order.

        They are consecutive unless a transaction had one already, which it keeps.
        """
        return self._allocate(txn_ids, lower(table), again=False)

    def owners_of_write_ids(self, table: TableName, low: int, high: int) -> Mapping[int, int]:
        """Return nothing: no call tells which transaction owns a write id."""
        return {}

    def _allocate(self, txn_ids: Sequence[int], name: TableName, *, again: bool) -> tuple[int, ...]:
        request = idl().AllocateTableWriteIdsRequest(
            dbName=name.database,
            tableName=name.name,
            txnIds=list(txn_ids),
            reallocate=True if again else None,
        )
        answer = self._client.call("allocate_table_write_ids", request, again=True)
        write_ids = {entry.txnId: int(entry.writeId) for entry in answer.txnToWriteIds}
        for txn_id in txn_ids:
            self._write_ids[txn_id][name] = write_ids[txn_id]
        return tuple(write_ids[txn_id] for txn_id in txn_ids)

    def take_write_ids(
        self, txn_id: int, written: Collection[TableName], txns: ValidTxnList,
        tables: Collection[TableName],
    ) -> tuple[Mapping[TableName, int], Mapping[TableName, ValidWriteIdList]]:  # fmt: skip
        """Return its write ids in what is ``written``, and what its list means in ``tables``."""
        names = sorted(written, key=str)
        write_ids = {name: self.allocate_write_id(txn_id, name) for name in names}
        return write_ids, self.valid_write_ids(txns, tables)

    def valid_write_ids(
        self, txns: ValidTxnList, tables: Collection[TableName]
    ) -> Mapping[TableName, ValidWriteIdList]:
        """Tell what the list of transactions means in each table."""
        if not tables:
            return {}
        request = idl().GetValidWriteIdsRequest(
            fullTableNames=[str(lower(table)) for table in tables],
            validTxnList=txns.format(runs=not self._client.is_old),
        )
        answer = self._client.call("get_valid_write_ids", request, again=True)
        valid = {}
        for listed in answer.tblValidWriteIds:
            opened, aborted = _split(listed.invalidWriteIds, listed.abortedBits)
            valid[listed.fullTableName] = ValidWriteIdList(
                listed.writeIdHighWaterMark, opened, aborted, listed.fullTableName
            )
        return {table: valid[str(lower(table))] for table in tables}

    def writes_after(self, table: TableName, moment: datetime) -> LaterWrites:
        """Refused: no call tells when a write was committed."""
        raise NotSupported("FOR SYSTEM_TIME AS OF with a Hive Metastore")

    def compactor_write_ids(self, table: TableName) -> ValidWriteIdList:
        """Tell what a compaction may merge now: all below the first open write."""
        name = lower(table)
        now = self.valid_write_ids(self.valid_txns(), [name])[name]
        highest = now.high_watermark
        if now.min_open is not None:
            highest = min(highest, now.min_open - 1)
        aborted = frozenset(write_id for write_id in now.aborted if write_id <= highest)
        return ValidWriteIdList(highest, frozenset(), aborted, str(name), ListMode.COMPACTOR)

    def seed_write_id(self, table: TableName, next_write_id: int) -> None:
        """Let write ids of a table that had none go on from there."""
        name = lower(table)
        now = self.valid_write_ids(self.valid_txns(), [name])[name]
        if now.high_watermark >= next_write_id - 1:
            return
        request = idl().SeedTableWriteIdsRequest(
            dbName=name.database, tableName=name.name, seedWriteId=next_write_id - 1
        )
        self._client.call("seed_write_id", request)

    def add_dynamic_partitions(
        self,
        txn_id: int,
        write_id: int,
        table: TableName,
        partitions: Collection[str],
        operation: Operation,
    ) -> None:
        """Record which partitions a write with dynamic partitions has really written."""
        wire, name = idl(), lower(table)
        request = wire.AddDynamicPartitions(
            txnid=txn_id,
            writeid=write_id,
            dbname=name.database,
            tablename=name.name,
            partitionnames=list(partitions),
            operationType=wire.DataOperationType._NAMES_TO_VALUES[operation.name],
        )
        # Rows that are there twice count once.
        self._client.call("add_dynamic_partitions", request, again=True)
        self._written[txn_id].update((name, partition) for partition in partitions)

    def newer_writer(self, txn_id: int, locks: Collection[Lock]) -> int | None:
        """Tell who changed, after our snapshot, what our write locks cover; None when nobody.

        Hive 3 cannot tell; there the second committer is always aborted.
        """
        replaces = any(lock.operation in (Operation.UPDATE, Operation.DELETE) for lock in locks)
        if self._client.is_old or not replaces:
            return None
        writer = self._client.call("get_latest_txnid_in_conflict", txn_id, again=True)
        return int(writer) if writer > 0 else None

    def commit_txn(
        self,
        txn_id: int,
        *,
        exclusive_write: bool = True,
        once: Once | None = None,
        entries: CommitEntries = NO_ENTRIES,
        for_reading: bool = False,
        settles: bool = False,
    ) -> None:
        """Commit; silent when it is committed already. NotSupported with ``once`` or a note.

        The metastore has no place for what was written.
        """
        if once is not None:
            raise NotSupported(KEYS)
        if entries.note is not None:
            raise NotSupported("a table that a commit changes, with a Hive Metastore")
        by_table: dict[TableName, list[str]] = defaultdict(list)
        for name, partition in self._written.get(txn_id, ()):
            by_table[name] += [partition] if partition else []
        try:
            self._count_all(txn_id, entries.changes, by_table, self._write_ids.get(txn_id, {}))
        except CommitUnknown as error:
            # Only of its statistics: the commit itself was not asked for yet.
            failure = ExecutionError(
                f"the connection to the metastore broke: {error.message.partition(';')[0]}. "
                "Nothing that the statement wrote is visible: run it again",
                code=UNREACHABLE,
            )
            failure.retryable = True
            raise failure from error
        request = idl().CommitTxnRequest(txnid=txn_id, exclWriteEnabled=exclusive_write)
        try:
            self._client.call("commit_txn", request)
            hit_failpoint(FailPoint.COMMIT_ANSWER_LOST)
        except CommitUnknown as unknown:
            # Committing twice is harmless, and the second answer tells what came of the first.
            try:
                self._client.call("commit_txn", request)
            except HiveSqlError as error:
                aborted = isinstance(error, TransactionLost) and error.code == TransactionLost.code
                if aborted or isinstance(error, WriteConflict):
                    raise
                raise unknown from error
        self._forget(txn_id)

    def abort_txns(self, txn_ids: Collection[int], reason: str) -> tuple[int, ...]:
        """Abort those that are open and return them; others are passed over."""
        still = sorted(set(txn_ids) & self._open_txns())
        if still:
            request = idl().AbortTxnsRequest(txn_ids=still, errorCode=_ROLLBACK)
            self._client.call("abort_txns", request, again=True)
        for txn_id in txn_ids:
            self._forget(txn_id)
        return tuple(still)

    def heartbeat(self, txn_id: int, lock_id: int = 0) -> None:
        """Keep a transaction or lock alive; TransactionLost when it is gone."""
        request = idl().HeartbeatRequest(lockid=lock_id, txnid=txn_id)
        self._client.call("heartbeat", request, again=True)

    def heartbeat_txns(self, txn_ids: Sequence[int]) -> None:
        """Keep the transactions of a batch alive; TransactionLost when one of them is gone."""
        for low, high in _ranges(txn_ids):
            request = idl().HeartbeatTxnRangeRequest(min=low, max=high)
            answer = self._client.call("heartbeat_txn_range", request, again=True)
            if gone := sorted({*answer.aborted, *answer.nosuch}):
                raise TransactionLost(
                    f"Transactions {', '.join(map(str, gone))} were aborted, or have timed out. "
                    "Run them again"
                )

    def transactions(self) -> tuple[TxnRow, ...]:
        """Open and aborted transactions, by id."""
        wire = idl()
        infos = self._client.call("get_open_txns_info", again=True).open_txns
        return tuple(
            TxnRow(
                txn_id=info.id,
                state="open" if info.state == wire.TxnState.OPEN else "aborted",
                started=info.startedTime or 0,
                last_heartbeat=info.lastHeartbeatTime or 0,
                user=info.user,
                host=info.hostname,
            )
            for info in sorted(infos, key=lambda info: info.id)
        )

    def min_open_txn(self) -> int:
        """No open transaction has anything below this id undecided in its snapshot."""
        answer = self._client.call("get_open_txns", again=True)
        opened = _split(answer.open_txns, answer.abortedBits)[0]
        return min(opened, default=int(answer.txn_high_water_mark) + 1)

    def _open_txns(self) -> frozenset[int]:
        answer = self._client.call("get_open_txns", again=True)
        return _split(answer.open_txns, answer.abortedBits)[0]

    def _note_written(self, txn_id: int, locks: Collection[Lock]) -> None:
        for lock in locks:
            writes = lock.operation in (Operation.INSERT, Operation.UPDATE, Operation.DELETE)
            if writes and lock.table is not None and not lock.dynamic_partition:
                name = TableName(lock.database, lock.table)
                self._written[txn_id].add((name, lock.partition))

    def _forget(self, txn_id: int) -> None:
        self._write_ids.pop(txn_id, None)
        self._written.pop(txn_id, None)
        self._created.pop(txn_id, None)


def _split(ids: list[int], aborted_bits: bytes) -> tuple[frozenset[int], frozenset[int]]:
    """Open and aborted ids; bit i of the second says that id i of the list is aborted."""
    aborted = {
        id_
        for i, id_ in enumerate(ids)
        if i // 8 < len(aborted_bits) and aborted_bits[i // 8] >> (i % 8) & 1
    }
    return frozenset(ids) - aborted, frozenset(aborted)


def _ranges(ids: Iterable[int]) -> list[tuple[int, int]]:
    """Ids without a gap between them, by the first and the last."""
    ranges: list[tuple[int, int]] = []
    for id_ in sorted(ids):
        if ranges and id_ == ranges[-1][1] + 1:
            ranges[-1] = (ranges[-1][0], id_)
        else:
            ranges.append((id_, id_))
    return ranges
