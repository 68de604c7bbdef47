"""The end of those that died: their transactions, and directories that they had half moved."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from hivesql_executor.beats import wait_for_answers
from hivesql_executor.metastore.file_moves import BegunMoves, Move, MoveKind, Remedy
from hivesql_executor.runtime import Runtime
from hivesql_planner.errors import (
    ExecutionError,
    HiveSqlError,
    NoSuchObject,
    SessionClosed,
    TransactionLost,
)
from hivesql_planner.model.table import TableName

if TYPE_CHECKING:
    from hivesql_executor.files.api import Files


_HALF_DONE = "a statement died between files and catalog, not mended yet"
_TRIES = 60
"""How often what was not freed is tried again within hive.txn.timeout."""
_PIECE = 8 * 1024 * 1024
"""Bytes of two files that are compared at a time."""
HIDDEN = ".hivesql-dropped-"
"""How names begin of what is hidden until it is deleted, or put back."""


def reap(runtime: Runtime) -> None:
    """Put directories where the catalog says, then abort whoever is silent.

    In this order: as long as the dead transaction has its locks, nobody misses the files. Whose
    files cannot be put back yet keeps its locks.
    """
    timeout = runtime.settings.seconds("hive.txn.timeout")
    for begun in runtime.metastore.lost_moves(timeout):
        if runtime.cancelled.is_set():
            return  # A service that is to end: whoever reaps next goes on.
        with left_to_reaper(_HALF_DONE, runtime):
            mend(begun, runtime)
    runtime.on_work("reaped_transactions", len(runtime.metastore.reap(timeout)))


def abort(txn_ids: Collection[int], reason: str, runtime: Runtime) -> tuple[int, ...]:
    """Put directories where the catalog says, then abort transactions; which of them were open.

    In the order of ``reap``: whoever is aborted may have left directories half moved. Raises
    ExecutionError, when all others are aborted, for those whose directories cannot be put back.
    """
    timeout = runtime.settings.seconds("hive.txn.timeout")
    failures: dict[int, str] = {}
    for begun in runtime.metastore.lost_moves(timeout, txn_ids):
        try:
            mend(begun, runtime)
        except Exception as error:  # noqa: BLE001 - whatever it is
            if begun.txn_id in txn_ids:
                failures[begun.txn_id] = str(runtime.explain(error))
            else:
                runtime.notify(f"{_HALF_DONE}: {runtime.explain(error)}")
    aborted = runtime.metastore.abort_txns([*{*txn_ids} - {*failures}], reason)
    if failures:
        txn_id, failure = min(failures.items())
        raise ExecutionError(
            f"transaction {txn_id} is not aborted: files that it has moved cannot be put back "
            f"({failure}). Its tables stay locked until they can: remove what is in the way, then "
            "abort it again, or let a reaper do so"
        )
    return aborted


@contextmanager
def left_to_reaper(problem: str, runtime: Runtime) -> Iterator[None]:
    """Tell of a failure of the block and go on: whoever reaps next tries again.

    For what comes after a decision: a statement that has succeeded must not fail any more.
    """
    try:
        yield
    except Exception as error:  # noqa: BLE001 - whatever it is
        runtime.notify(f"{problem}: {runtime.explain(error)}")


def release(free: Callable[[], object], runtime: Runtime) -> None:
    """Free what others wait for; raise where the metastore fails, and go on trying beside the rest.

    What may be done twice. A metastore that answers again soon would let everybody wait for
    hive.txn.timeout, after which whoever reaps does it.
    """
    try:
        free()
    except (SessionClosed, TransactionLost):
        raise
    except BaseException:
        # Whoever is interrupted in it waits for it no longer, and others still do.
        _release_later(free, runtime)
        raise


def _release_later(free: Callable[[], object], runtime: Runtime) -> None:
    timeout = runtime.settings.seconds("hive.txn.timeout")
    end = runtime.clock.monotonic() + timeout

    def tries_again() -> bool:
        try:
            free()
        except (SessionClosed, TransactionLost):
            return False
        except Exception:  # noqa: BLE001 - what failed was told when it failed first
            return runtime.clock.monotonic() < end
        return False

    runtime.clock.repeat(timeout / _TRIES, tries_again, "hivesql-release")


@wait_for_answers()
def mend(begun: BegunMoves, runtime: Runtime, *, is_done: bool = False) -> None:
    """Do what is left to do with noted files, the last first, and forget the note.

    Unless its statement ``is_done``, tasks may have left uploads to where it worked.
    """
    store = runtime.metastore
    births = [move for move, remedy in begun.moves if remedy is Remedy.UNDO_BIRTH]
    for birth in births:
        _undo_birth(birth, runtime)
    if births:
        # Now the catalog does not name their directories any more.
        noted = store.noted_moves(begun.key, is_taken=True) if begun.key else begun
        if noted is None:
            return
        begun = noted
    for move, remedy in reversed(begun.moves):
        files = runtime.files(move.target)
        _mend_one(move, remedy, files)
        if move.kind is MoveKind.ASIDE and not files.has_directories and not is_done:
            # What nobody completes is no file; that it can be listed is another right.
            with suppress(HiveSqlError):
                _give_up(move.target, files)
    store.forget_moves(begun.key)


def _give_up(location: str, files: Files) -> None:
    left = files.left_uploads(location)
    if left is not None and (waiting := left.waiting(location)):
        left.abort(waiting)


def _mend_one(move: Move, remedy: Remedy, files: Files) -> None:
    match remedy:
        case Remedy.DELETE:
            files.delete(move.target)
        case Remedy.TAKE_BACK:
            _take_back(move, files)
        case Remedy.REMOVE_EMPTY:
            files.remove_if_empty(move.target)
        case Remedy.CLEAR:
            for name in entries(files, move.target):
                files.delete(f"{move.target}/{name}")
        case Remedy.PUT_BACK:
            _put_all_back(move, files)
        case Remedy.KEEP | Remedy.UNDO_BIRTH:
            return


def _put_all_back(move: Move, files: Files) -> None:
    # Hidden ones too, where a store tells of them.
    listed = files.contents(move.target, [move.target]).get(move.target)
    for path in [status.path for status in files.list(move.target)] if listed is None else listed:
        _put_back(f"{move.target}/{path}", f"{move.source}/{path}", files)
    files.delete(move.target)


def entries(files: Files, directory: str) -> list[str]:
    """Return the names of files and directories in it, hidden ones too, in their order."""
    listed = {status.path.partition("/")[0] for status in files.list(directory)}
    return sorted(listed | set(files.all_directories(directory)))


def _take_back(move: Move, files: Files) -> None:
    """Move it back, unless it was not moved yet: then ``target`` is perhaps somebody else's."""
    if not files.exists(move.target):
        return
    is_whole = files.has_directories and not move.target.rpartition("/")[2].startswith(HIDDEN)
    if not is_whole and files.exists(move.source) and not files.is_file(move.source):
        # Died between two files of a directory, which a store moves one by one; or somebody has
        # written there since we hid late what was in it.
        _put_all_back(move, files)
    elif not files.is_file(move.source):
        files.rename(move.target, move.source)
    elif is_same(files, move.source, move.target):
        # Died between the two halves of a move: the file has both names.
        files.delete(move.target)


def _put_back(hidden: str, visible: str, files: Files) -> None:
    if files.is_file(visible) and is_same(files, hidden, visible):
        # Died between the two halves of a move: the file has both names.
        files.delete(hidden)
    else:
        files.rename(hidden, visible)


def is_same(files: Files, path: str, other: str) -> bool:
    """Tell whether two names seem to be of one file, whose move has come half-way.

    A store may know a copy of what was uploaded in parts by another number: there contents say it.
    """
    length = files.size(path)
    if length != files.size(other):
        return False
    if files.modified(path) == files.modified(other):
        return True
    return not files.has_directories and all(
        files.read(path, start, min(_PIECE, length - start))
        == files.read(other, start, min(_PIECE, length - start))
        for start in range(0, length, _PIECE)
    )


def _undo_birth(move: Move, runtime: Runtime) -> None:
    database, _, name = move.source.partition(".")
    with suppress(NoSuchObject):
        table = runtime.metastore.table(TableName(database, name))
        if table.id == move.table_id:
            runtime.metastore.drop_table(table.name)


def is_alive(process: str) -> bool:
    """Tell whether the process of that number runs; True where the text is no number."""
    if not process.isdigit():
        return True
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
