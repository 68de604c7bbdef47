"""Known defects, put back for as long as a context lasts: each must be found.

This is the only place where a function of the product is exchanged for another: what is proved here
is the simulation.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any
from unittest import mock

from sqlalchemy import Connection, delete, select

from hivesql_executor.compaction import aborts, cleaner
from hivesql_executor.metastore.database import commit, compactions, housekeeping
from hivesql_executor.metastore.database.calls import reading, writing
from hivesql_executor.metastore.database.metastore import (
    CompactionCalls,
    DatabaseMetastore,
    MoveCalls,
)
from hivesql_executor.metastore.database.schema import txn_components, txn_to_write_id, txns
from hivesql_executor.metastore.database.transaction_calls import TransactionCalls
from hivesql_executor.metastore.database.transactions import locks, moves, snapshots, transactions
from hivesql_executor.statements import definitions
from hivesql_executor.streaming import batch
from hivesql_planner.acid.layout import METADATA_FILE, base_name
from hivesql_planner.acid.write_ids import ListMode, ValidWriteIdList
from hivesql_planner.definitions.steps import EmptyTable
from hivesql_planner.errors import ExecutionError
from hivesql_planner.locks import rules
from hivesql_planner.locks.lock import Operation
from hivesql_planner.model.table import TableName, partition_name
from simulation.cases import Case, Fault, Script, Step

_ALL = 2**40
Patch = tuple[Any, str, Any]


@dataclass(frozen=True)
class Defect:
    """What was wrong, who does what to find it, what is told then, and how to put it back.

    One client meets ``fault``: what is counted, its kind, and between which points it comes.
    """

    name: str
    shows: str
    patches: Callable[[], list[Patch]]
    scripts: dict[str, tuple[Step, ...]]
    fault: tuple[str, str, str, int, int] | None = None
    optimistic: bool = False
    seconds: float = 0.0
    """How long the fault lasts."""
    stored: bool = False
    """Whether it shows in an object store."""

    @contextmanager
    def put_back(self) -> Iterator[None]:
        """The product with the defect."""
        with ExitStack() as stack:
            for where, name, value in self.patches():
                stack.enter_context(mock.patch.object(where, name, value))
            yield

    def cases(self, most: int) -> Iterator[Case]:
        """Cases in which it may show."""
        for seed in range(1, most + 1):
            chance = random.Random(f"{self.name} {seed}")
            faults = ()
            if self.fault is not None:
                client, counted, kind, low, high = self.fault
                faults = (Fault(client, counted, chance.randrange(low, high), kind, self.seconds),)
            yield Case(
                seed,
                chance.choice((2, 4, 8, 20)),
                tuple(Script(name, steps) for name, steps in self.scripts.items()),
                faults,
                self.optimistic,
                self.stored,
            )


def _cleaner_ignores_readers() -> list[Patch]:
    return [
        (compactions, "min_open_txn", lambda db: _ALL),
        (CompactionCalls, "min_open_txn", lambda self: _ALL),
    ]


def _cleaner_sees_too_much() -> list[Patch]:
    def visible(compaction: Any, written: ValidWriteIdList) -> ValidWriteIdList:
        return replace(written, mode=ListMode.CLEANER)

    return [
        (cleaner, "_visible", visible),
        (CompactionCalls, "min_open_txn", lambda self: _ALL),
    ]


def _no_conflict_check() -> list[Patch]:
    return [(commit, "_conflict", lambda db, txn_id: None)]


def _old_snapshot() -> list[Patch]:
    return [(TransactionCalls, "newer_writer", lambda self, txn_id, locks: None)]


def _abort_forgets() -> list[Patch]:
    abort = transactions.abort_txns

    def forgetful(db: Connection, txn_ids: Any, reason: str) -> tuple[int, ...]:
        gone = abort(db, txn_ids, reason)
        db.execute(delete(txn_components).where(txn_components.c.txn_id.in_(gone)))
        return gone

    inner = [(one, "abort_txns", forgetful) for one in (transactions, commit, housekeeping)]
    return [*inner, (TransactionCalls, "abort_txns", writing(forgetful))]


def _no_heartbeat() -> list[Patch]:
    return [(TransactionCalls, "heartbeat", lambda self, txn_id, lock_id=0: None)]


def _lost_answer_is_failure() -> list[Patch]:
    def again(self: Any, commit: Any, unknown: Exception) -> Any:
        raise ExecutionError("the commit failed") from unknown

    return [(TransactionCalls, "_commit_again", again)]


def forget_moves() -> list[Patch]:
    return [
        (MoveCalls, "note_moves", lambda self, txn_id, planned, key="": "none"),
        (moves, "require_going_on", lambda db, txn_id, key: None),
        (commit, "settle_txn", lambda db, txn_id: None),
    ]


def _compacts_open_writes() -> list[Patch]:
    def everything(db: Connection, table: TableName) -> ValidWriteIdList:
        now = snapshots.valid_write_ids(db, snapshots.valid_txns(db, 0), table)
        return replace(now, open=frozenset(), mode=ListMode.COMPACTOR)

    return [
        (compactions, "compactor_write_ids", everything),
        (CompactionCalls, "compactor_write_ids", reading(everything)),
    ]


def _cleaner_forgets_too_much() -> list[Patch]:
    def forget(db: Connection, row: Any, table: TableName, retained: Any) -> None:
        ended = select(txns.c.id).where(txns.c.state == "a")
        db.execute(delete(txn_components).where(txn_components.c.txn_id.in_(ended)))

    return [(compactions, "_forget_aborted", forget)]


def _write_ids_forgotten() -> list[Patch]:
    def forget(db: Connection) -> None:
        db.execute(delete(txn_to_write_id))

    return [(housekeeping, "_forget_write_ids", forget)]


def _locks_hold_nobody() -> list[Patch]:
    return [(module, "conflicts", lambda requested, existing: False) for module in (locks, rules)]


def _reaper_asks_nobody() -> list[Patch]:
    def reap(db: Connection, timeout: float) -> tuple[int, ...]:
        living = db.scalars(select(txns.c.id).where(txns.c.state == "o")).all()
        return transactions.abort_txns(db, living, "heartbeat time-out")

    return [(DatabaseMetastore, "reap", writing(reap))]


def _ids_one_by_one() -> list[Patch]:
    def allocate(self: Any, txn_ids: Any, table: TableName) -> tuple[int, ...]:
        return tuple(self.allocate_write_id(one, table) for one in txn_ids)

    return [
        (TransactionCalls, "allocate_write_ids", allocate),
        (batch, "_require_consecutive", lambda write_ids: None),
    ]


def _partitions_never_looked_for() -> list[Patch]:
    return [(aborts, "never_added", lambda unit, runtime: None)]


def _emptied_one_by_one() -> list[Patch]:
    def truncate(step: EmptyTable, txn: Any, runtime: Any) -> None:
        table = step.table
        for one in runtime.metastore.partitions(table.name):
            write_id = txn.write_ids[table.name]
            base = f"{one.location}/{base_name(write_id)}"
            runtime.files(base).make_directories(base)
            runtime.files(base).write(
                f"{base}/{METADATA_FILE}", b'{"thisFileVersion":"0","dataFormat":"truncated"}'
            )
            unit = partition_name(table.partition_names, one.values)
            runtime.metastore.add_dynamic_partitions(
                txn.id, write_id, table.name, [unit], Operation.UPDATE
            )

    return [(definitions, "empty_table", truncate)]


_ROWS: Step = ("insert", "t", 1, 1)
_UPDATE: Step = ("update", "t", None)
_TRUNCATE: Step = ("truncate", "p", None)
_SELECT: Step = ("select", "t")
_COMPACT: Step = ("compact", "t", None, "major")
_CHANGES = (_ROWS, _UPDATE, _UPDATE)


def after(seconds: float, *steps: Step) -> tuple[Step, ...]:
    return (("sleep", seconds), *steps)


def slowly(*steps: Step, end: str = "commit") -> Step:
    return ("transaction", end, steps)


DEFECTS = (
    Defect(
        "a stream takes its write ids one by one", "does not see", _ids_one_by_one,
        {
            "stream": (("stream", "t", 4, ((1, "commit"), (2, "commit"))),),
            "writer": (_ROWS, _ROWS, _ROWS),
        },
    ),
    Defect(
        "the cleaner ignores open readers", "does not see", _cleaner_ignores_readers,
        {
            "writer": (_ROWS, _ROWS, ("sleep", 20.0), _COMPACT),
            "reader": after(10.0, slowly(_SELECT, ("sleep", 200.0), _SELECT)),
            "worker": after(60.0, ("work",)),
            "cleaner": after(100.0, ("clean",)),
        },
    ),
    Defect(
        "the cleaner takes for obsolete what others read", "does not see", _cleaner_sees_too_much,
        {
            "writer": (
                _ROWS, _ROWS, ("sleep", 20.0), _COMPACT, ("sleep", 40.0), _ROWS, _ROWS,
                ("sleep", 60.0), _COMPACT,
            ),
            "reader": after(100.0, slowly(_SELECT, ("sleep", 200.0), _SELECT)),
            "worker": (*after(45.0, ("work",)), *after(145.0, ("work",))),
            "cleaner": after(250.0, ("clean",)),
        },
    ),
    Defect(
        "a commit looks for no conflicts", "lost update", _no_conflict_check,
        {
            "first": (_ROWS,),
            "one": after(10.0, slowly(_UPDATE, ("sleep", 30.0))),
            "two": after(10.0, slowly(_UPDATE, ("sleep", 40.0))),
        },
        optimistic=True,
    ),
    Defect(
        "a writer that waited keeps its snapshot", "lost update", _old_snapshot,
        {"first": (_ROWS,), "one": after(10.0, *_CHANGES), "two": after(10.0, *_CHANGES)},
    ),
    Defect(
        "an abort forgets what was written", "must not be there", _abort_forgets,
        {"first": (_ROWS,), "dies": (_ROWS, _ROWS)}, ("dies", "point", "crash", 1, 60),
    ),
    Defect(
        "heartbeats are ignored", "was taken for dead", _no_heartbeat,
        {"slow": (slowly(_ROWS, ("sleep", 900.0), _ROWS),), "reaper": after(600.0, ("reap",))},
    ),
    Defect(
        "a lost answer is told as a failure", "committed", _lost_answer_is_failure,
        {"writer": (_ROWS, _UPDATE)}, ("writer", "write", "lost", 1, 7),
    ),
    Defect(
        "directories move without a note", "does not see", forget_moves,
        {"writer": (("insert", "q", 4, 1), ("move", "q", 4, 5))},
        ("writer", "point", "crash", 30, 40),
    ),
    Defect(
        "compaction takes open writes in", "Not enough history", _compacts_open_writes,
        {
            "slow": (slowly(_ROWS, ("sleep", 100.0)),),
            "writer": after(5.0, _ROWS, _ROWS, _COMPACT),
            "worker": after(50.0, ("work",)),
        },
    ),
    Defect(
        "the cleaner forgets aborts with files", "must not be there", _cleaner_forgets_too_much,
        {
            "writer": (_ROWS, _ROWS, _COMPACT),
            "worker": after(20.0, ("work",)),
            "dies": after(60.0, _ROWS),
            "services": (
                *after(900.0, ("reap",)), *after(20.0, ("clean",)), *after(20.0, ("house",)),
            ),
        },
        ("dies", "point", "crash", 1, 30),
    ),
    Defect(
        "write ids of living transactions are forgotten", "must not be there",
        _write_ids_forgotten,
        {"slow": (slowly(_ROWS, ("sleep", 60.0), _ROWS),), "house": after(30.0, ("house",))},
    ),
    Defect(
        "locks hold nobody", "lost update", _locks_hold_nobody,
        {"first": (_ROWS,), "one": after(10.0, *_CHANGES), "two": after(10.0, *_CHANGES)},
    ),
    Defect(
        "the reaper ends who lives", "was taken for dead", _reaper_asks_nobody,
        {"slow": (slowly(_ROWS, ("sleep", 60.0), _ROWS),), "reaper": after(30.0, ("reap",))},
    ),
    Defect(
        "writes into partitions that never were are forgotten", "left over",
        _partitions_never_looked_for,
        {
            "dies": (("insert", "q", 5, 1),),
            "services": (
                *after(900.0, ("reap",)), *after(20.0, ("clean",)), *after(20.0, ("house",)),
            ),
            "next": after(1500.0, ("insert", "q", 5, 1)),
        },
        ("dies", "point", "crash", 1, 24),
    ),
    Defect(
        "a TRUNCATE tells of partitions one by one", "does not see", _emptied_one_by_one,
        {
            "first": (("insert", "p", 1, 1), ("insert", "p", 2, 1), ("insert", "p", 3, 1)),
            "dies": after(60.0, _TRUNCATE),
            "services": (
                *after(900.0, ("reap",)), *after(20.0, ("clean",)), *after(200.0, ("house",)),
            ),
            # The latest transaction is never forgotten.
            "next": after(1000.0, ("select", "p")),
        },
        ("dies", "point", "crash", 5, 20),
    ),
)  # fmt: skip
