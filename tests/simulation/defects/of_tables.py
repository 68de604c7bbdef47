"""Known defects about tables, partitions and files that come and go, to be put back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from hivesql_executor.files.local import LocalFiles
from hivesql_executor.files.top import Top
from hivesql_executor.metastore.cache.metastore import CachingMetastore
from hivesql_executor.metastore.database import commit
from hivesql_executor.metastore.database import history_cleanup as cleanup
from hivesql_executor.metastore.database.transactions import moves
from hivesql_executor.orc import publish
from hivesql_executor.statements import definitions, load
from hivesql_executor.streaming import deltas
from hivesql_executor.transactions import file_changes, transaction
from hivesql_executor.transactions.reaper import mend
from hivesql_planner.acid.layout import delta_name
from hivesql_planner.locks import alterations
from hivesql_planner.locks.lock import Lock
from hivesql_planner.statements.ddl import RepairTable
from simulation.cases import Step
from simulation.defects.of_transactions import Defect, Patch, after, forget_moves


def _tables_never_looked_for() -> list[Patch]:
    return [(transaction, "check_tables", lambda plan, store: None)]


def _looks_once() -> list[Patch]:
    top = LocalFiles.top

    def of_before(self: LocalFiles, location: str, before: Top | None = None) -> Top | None:
        return before or top(self, location)

    return [(LocalFiles, "top", of_before)]


def _undone_by_heart() -> list[Patch]:
    def undo(self: Any, error: BaseException) -> None:
        mend(self._begun(committed=False), self.runtime)

    return [(file_changes.FileChanges, "undo", undo)]


def _arrived_by_the_name() -> list[Patch]:
    bring = file_changes.FileChanges.bring

    def brought(self: Any, pairs: Any) -> Any:
        left = bring(self, pairs)
        for move in self.arrived:
            self.arrived[move] = self.runtime.files(move.target).modified(move.target)
        return left

    return [(file_changes.FileChanges, "bring", brought)]


def _commits_settle_again() -> list[Patch]:
    once = commit.commit_txn

    def commit_txn(db: Any, txn_id: int, *, settles: bool = False, **more: Any) -> Any:
        conflict = once(db, txn_id, settles=settles, **more)
        if settles and conflict is None:
            moves.settle_txn(db, txn_id)
        return conflict

    return [(commit, "commit_txn", commit_txn)]


def _nothing_removed(self: Any, location: str) -> Any:
    return nullcontext(file_changes.BegunWrite())


def _the_dead_publish() -> list[Patch]:
    return [
        (file_changes.FileChanges, "require_alive", lambda self: None),
        (file_changes.FileChanges, "removing_on_failure", _nothing_removed),
    ]


def _all_there_is_removed() -> list[Patch]:
    @contextmanager
    def removing(self: Any, location: str) -> Iterator[Any]:
        begun = file_changes.BegunWrite()
        try:
            yield begun
        except BaseException:
            for directory in begun.directories:
                self.runtime.files(location).delete(directory)
            raise

    return [(file_changes.FileChanges, "removing_on_failure", removing)]


def _homes_stay() -> list[Patch]:
    return [(file_changes.FileChanges, "remove_unnamed", lambda self, location, removed=(): None)]


def _the_dead_go_on() -> list[Patch]:
    return [(moves, "require_going_on", lambda db, txn_id, key: None)]


def _streams_look_for_nothing() -> list[Patch]:
    return [
        (deltas.Deltas, "begin", lambda self, write_id: None),
        (deltas.Deltas, "_check_place", lambda self, name, file: None),
    ]


def _dropped_without_files() -> list[Patch]:
    return [(definitions, "placing", lambda *arguments, **more: nullcontext())]


def _write_ids_stay_behind() -> list[Patch]:
    return [(cleanup, "rename_table", lambda db, name, to: None)]


def _loads_without_notes() -> list[Patch]:
    def bring(self: Any, pairs: Any) -> list[Any]:
        for source, target in pairs:
            self.runtime.files(target).rename(source, target)
        return []

    return [(file_changes.FileChanges, "bring", bring)]


def _loads_take_partitions_back() -> list[Patch]:
    into = load._into_directory

    def into_directory(statement: Any, sources: Any, location: str, txn: Any, runtime: Any) -> None:
        load._add_partition(statement, location, runtime)
        try:
            into(statement, sources, location, txn, runtime)
        except BaseException:
            runtime.metastore.drop_partitions(statement.table.name, [statement.values])
            raise

    return [(load, "_into_directory", into_directory)]


def _msck_takes_no_lock() -> list[Patch]:
    wanted = alterations.locks_of_alteration

    def without_repair(statement: Any, rules: Any) -> Iterator[Lock]:
        if not isinstance(statement, RepairTable):
            yield from wanted(statement, rules)

    return [(alterations, "locks_of_alteration", without_repair)]


def _drops_are_not_settled() -> list[Patch]:
    return [(moves, "settle_moved", lambda db, key: None)]


def _copies_are_never_refreshed() -> list[Patch]:
    return [(CachingMetastore, "follow", lambda self: None)]


def _overwrites_are_inserts() -> list[Patch]:
    return [(publish, "base_name", lambda write_id: delta_name(write_id, 0))]


_ROW: Step = ("insert", "c", 1, 1)
_PLAIN_ROW: Step = ("insert", "y", 5, 1)

DEFECTS_OF_TABLES = (
    Defect(
        "a table that went is written all the same", "does not name", _tables_never_looked_for,
        {
            "writer": (_ROW,) * 4,
            "renames": (("rename", "c", "d"), ("rename", "d", "c"), ("rename", "c", "d")),
        },
    ),
    Defect(
        "who was taken for dead puts files back once more", "does not see", _undone_by_heart,
        {"slow": (_PLAIN_ROW,), "next": after(400.0, _PLAIN_ROW)},
        ("slow", "point", "hang", 20, 30), seconds=500.0,
    ),
    Defect(
        "who was taken for dead deletes what got the name of its file", "does not see",
        _arrived_by_the_name,
        {"slow": (("insert", "x", 4, 2),), "next": after(320.0, ("spread", "x", (4, 5)))},
        ("slow", "point", "hang", 20, 30), seconds=360.0,
    ),
    Defect(
        "a commit that is asked for again takes itself for dead", "does not see",
        _commits_settle_again,
        {"writer": (_PLAIN_ROW,), "reaper": after(0.01, ("reap",)) * 60},
        ("writer", "write", "lost", 7, 8),
    ),
    Defect(
        "who was taken for dead leaves a base when its write is forgotten", "does not see",
        _the_dead_publish,
        {
            "first": (("insert", "p", 3, 1),),
            "slow": after(20.0, ("overwrite", "p", 3, 1)),
            "services": (
                *after(500.0, ("reap",), ("clean",)), *after(20.0, ("house",)),
                ("insert", "p", 2, 1), ("house",),
            ),
        },
        ("slow", "point", "hang", 7, 14), seconds=900.0,
    ),
    Defect(
        "who was taken for dead removes another's write of the same name", "does not see",
        _all_there_is_removed,
        {"slow": (_ROW,), "next": after(320.0, ("rename", "c", "d"), ("create_as", "c", 1))},
        ("slow", "point", "hang", 4, 14), seconds=360.0,
    ),
    Defect(
        "who was taken for dead makes a table's directory again", "does not name", _homes_stay,
        {"slow": (("overwrite", "c", 2, 1),), "next": after(320.0, ("drop_table", "c"))},
        ("slow", "point", "hang", 4, 14), seconds=360.0,
    ),
    Defect(
        "who was taken for dead moves files", "does not see", _the_dead_go_on,
        {"slow": (_PLAIN_ROW,), "next": after(400.0, _PLAIN_ROW)},
        ("slow", "point", "hang", 14, 24), seconds=500.0,
    ),
    Defect(
        "who was taken for dead changes the catalog", "does not name", _the_dead_go_on,
        {"slow": (("drop_table", "c"),), "next": after(400.0, ("insert", "c", 1, 1))},
        ("slow", "point", "hang", 8, 16), seconds=500.0,
    ),
    Defect(
        "what is dropped comes back with another of its name", "must not be there",
        _drops_are_not_settled,
        {"drops": (("spread", "q", (6, 5)), ("drop", "q", 6), ("insert", "q", 6, 1))},
        ("drops", "file", "broken", 28, 36),
    ),
    Defect(
        "a stream writes into a partition that was dropped", "does not see",
        _streams_look_for_nothing,
        {"stream": (("stream", "q", 4, ((4, "commit"),) * 4),), "drops": (("drop", "q", 4),)},
    ),
    Defect(
        "a dropped table leaves its files", "does not name", _dropped_without_files,
        {"drops": (_ROW, ("drop_table", "c"))},
    ),
    Defect(
        "a renamed table leaves its write ids behind", "does not see", _write_ids_stay_behind,
        {"writer": (_ROW, ("rename", "c", "d"), ("insert", "d", 1, 1))},
    ),
    Defect(
        "LOAD DATA forgets where files were", "must not be there", _loads_without_notes,
        {"dies": (("load", "x", 4, "into", ""),)}, ("dies", "point", "crash", 10, 22),
    ),
    Defect(
        "a failed LOAD DATA drops a partition that others fill", "has no such partition",
        _loads_take_partitions_back,
        dict.fromkeys(("fails", "fills"), (("load", "q", 5, "into", "local"),)),
        ("fails", "file", "full", 4, 10),
    ),
    Defect(
        "an exchange moves without a note", "does not", forget_moves,
        {"first": (("insert", "x", 4, 1),), "dies": after(60.0, ("exchange", "x", 4, "y"))},
        ("dies", "point", "crash", 6, 16),
    ),
    Defect(
        "MSCK takes no lock", "must not be there", _msck_takes_no_lock,
        {
            "first": (("insert", "q", 4, 1),),
            "moves": after(9.0, ("move", "q", 4, 5)),
            "repairs": after(20.0, ("msck", "q")),
        },
        ("moves", "point", "hang", 8, 16), seconds=30.0,
    ),
    Defect(
        "copies of tables are never refreshed", "does not name", _copies_are_never_refreshed,
        {
            "cached": (_ROW, *after(60.0, _ROW)),
            "renames": after(30.0, ("rename", "c", "d")),
        },
    ),
    Defect(
        "what is new in a table is not looked for", "remembered wrongly", _looks_once,
        {"writer": (_ROW,) * 3},
    ),
    Defect(
        "INSERT OVERWRITE hides nothing", "must not be there", _overwrites_are_inserts,
        {"writer": (_ROW, ("overwrite", "c", 1, 1))},
    ),
)  # fmt: skip
