"""A metastore in an SQLite file that this process may not write: a copy of its own to read from.

Readers write too: their transactions, and SQLite's files beside the database. So they do it in a
copy, which is removed when the session ends. What concerns anybody else is refused.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection

from hivesql_executor.metastore.api import LockAnswer, LockState, ObjectLockRow
from hivesql_executor.metastore.database.connection import Rdbms
from hivesql_executor.metastore.database.dialects.forks import CALLS
from hivesql_executor.metastore.database.metastore import DatabaseMetastore
from hivesql_executor.metastore.database.sqlite_terms import BUSY_SECONDS
from hivesql_executor.metastore.file_moves import BegunMoves, Move
from hivesql_planner.acid.write_ids import ValidTxnList, ValidWriteIdList
from hivesql_planner.errors import ExecutionError
from hivesql_planner.locks.lock import ObjectLock
from hivesql_planner.model.table import TableName

T = TypeVar("T")

_FAILED = 10280
_TRIES = 5


class ReadOnlyCopy(DatabaseMetastore):
    """The metastore as it was when it was opened; nobody else knows of its readers, nor waits."""

    def __init__(self, rdbms: Rdbms, warehouse: str = "") -> None:
        super().__init__(rdbms, warehouse)
        self._of = Path()
        self._home = Path()
        self._mine: set[int] = set()

    @classmethod
    def of(cls, path: Path, warehouse: str) -> ReadOnlyCopy:
        """Copy the file and open the copy."""
        home = Path(tempfile.mkdtemp(prefix="hivesql-metastore-"))
        try:
            copy = home / "metastore.db"
            _copy(path, copy)
            store = cls.open(f"sqlite:///{copy}", warehouse)
        except BaseException:
            shutil.rmtree(home, ignore_errors=True)
            raise
        assert isinstance(store, ReadOnlyCopy)
        store._of, store._home = path, home
        return store

    @property
    def notice(self) -> str:
        """Tell the user what such a metastore is good for."""
        return (
            f"the metastore {self._of} cannot be written: this session reads its tables as they "
            "are now, changes nothing, and takes no locks. A file that others delete meanwhile is "
            "missing then"
        )

    def close(self) -> None:
        """Let go of the copy, and remove it."""
        super().close()
        shutil.rmtree(self._home, ignore_errors=True)

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise ExecutionError(
            f"the metastore's database {self._of} cannot be written, so nothing can be changed. "
            "Give yourself the right to write its file and directory, or copy the file to where "
            "it may be written and connect to the copy",
            code=_FAILED,
        )

    def _change(self, work: Callable[[Connection], T]) -> T:
        return self._refuse()  # type: ignore[no-any-return]

    def needs_housekeeping(self, timeout: float, time_to_live: float) -> bool:
        """Nothing: whoever may write the metastore does it."""
        return False

    def reap(self, timeout: float) -> tuple[int, ...]:
        """End nobody's transaction."""
        return ()

    def lost_moves(self, timeout: float, of: Collection[int] = ()) -> tuple[BegunMoves, ...]:
        """Mend nothing of what others have left."""
        return ()

    def open_txns(self, *arguments: Any, **named: Any) -> tuple[int, ...]:
        """Open transactions that read, in the copy."""
        opened = super().open_txns(*arguments, **named)
        self._mine.update(opened)
        return opened

    def abort_txns(self, txn_ids: Collection[int], reason: str) -> tuple[int, ...]:
        """Abort transactions of this session."""
        if not self._mine.issuperset(txn_ids):
            self._refuse()
        return super().abort_txns(txn_ids, reason)

    def enqueue_locks(self, txn_id: int, *_: Any, **__: Any) -> LockAnswer:
        """Wait for nobody, whose locks in the copy would never end."""
        return LockAnswer(lock_id=0, state=LockState.ACQUIRED)

    def take_object_locks(
        self, locks: Sequence[ObjectLock], row: ObjectLockRow
    ) -> ObjectLockRow | None:
        """Let statements read, and nobody keep a lock."""
        if row.explicit:
            self._refuse()
        return None

    def note_moves(self, txn_id: int, planned: Sequence[Move], key: str = "") -> str:
        """Refuse to change files."""
        return str(self._refuse())

    def allocate_write_id(self, txn_id: int, table: TableName, *, again: bool = False) -> int:
        """Refuse to write."""
        return int(self._refuse())

    def take_write_ids(
        self, txn_id: int, written: Collection[TableName], txns: ValidTxnList,
        tables: Collection[TableName],
    ) -> tuple[Mapping[TableName, int], Mapping[TableName, ValidWriteIdList]]:  # fmt: skip
        """Refuse to write; what is only read is told."""
        if written:
            self._refuse()
        return {}, self.valid_write_ids(txns, tables)

    require_writing = _refuse
    allocate_write_ids = _refuse
    seed_write_id = _refuse
    add_dynamic_partitions = _refuse
    enqueue_compaction = _refuse
    next_compaction = _refuse
    release_compactions = _refuse
    abort_compactions = _refuse
    purge_compactions = _refuse
    forget_aborted = _refuse
    forget_key = _refuse
    unlock_object = _refuse


def _copy(path: Path, target: Path) -> None:
    """Copy a database as it is at one moment, with what stands in its log."""
    try:
        _copy_by_sqlite(path, target)
    except sqlite3.OperationalError:
        # Nobody has the files beside it open, and we may not make them.
        target.unlink(missing_ok=True)
        _copy_files(path, target)


def _copy_by_sqlite(path: Path, target: Path) -> None:
    with (
        CALLS,
        closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=BUSY_SECONDS)) as db,
        closing(sqlite3.connect(target)) as copy,
    ):
        db.backup(copy)


def _copy_files(path: Path, target: Path) -> None:
    log = path.with_name(path.name + "-wal")
    for _ in range(_TRIES):
        before = _stamps(path, log)
        shutil.copyfile(path, target)
        if log.exists():
            shutil.copyfile(log, target.with_name(target.name + "-wal"))
        if before == _stamps(path, log):
            return
    raise ExecutionError(
        f"the metastore's database {path} may not be written by this process, and somebody else "
        "writes it all the time: it cannot be read meanwhile. Try again",
        code=_FAILED,
    )


def _stamps(*paths: Path) -> list[tuple[int, int] | None]:
    stats = (path.stat() if path.exists() else None for path in paths)
    return [stat and (stat.st_size, stat.st_mtime_ns) for stat in stats]
