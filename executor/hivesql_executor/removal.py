"""Directories that move, or go, together with their catalog entries."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from hivesql_executor.failpoints import FailPoint, reach
from hivesql_executor.metastore.api import BegunMoves, Move, Remedy
from hivesql_executor.reaping import mend
from hivesql_executor.runtime import Runtime
from hivesql_executor.storage.files import Files


@contextmanager
def placing(moves: Sequence[Move], runtime: Runtime, txn_id: int) -> Iterator[None]:
    """Move directories for the block, which changes the catalog; missing ones are left out.

    What is hidden because its table is dropped is deleted after the block. When the block fails,
    or the process dies and `reap` finds it, the directories go where the catalog says.
    """
    present = [one for one in moves if runtime.files(one.source).exists(one.source)]
    if not present:
        yield
        return
    store = runtime.metastore
    key = store.note_moves(txn_id, present)
    try:
        for one in present:
            runtime.files(one.source).rename(one.source, one.target)
        reach(FailPoint.DIRECTORIES_MOVED)
        yield
    except BaseException:
        # The block may have failed after its change: a lost answer, Ctrl-C.
        mend(store.noted_moves(key) or _all_back(key, present), runtime)
        raise
    reach(FailPoint.CATALOG_CHANGED)
    for one in present:
        if one.table_id:
            runtime.files(one.source).delete(one.target)
    store.forget_moves(key)


def _all_back(key: str, moves: Sequence[Move]) -> BegunMoves:
    return BegunMoves(key=key, moves=tuple((one, Remedy.TAKE_BACK) for one in moves))


def hiding(location: str, table_id: int, partition: str = "") -> Move:
    """The move that hides a directory until its table, or partition, is dropped."""
    return Move(source=location, target=_aside(location), table_id=table_id, partition=partition)


@contextmanager
def removing(files: Files, locations: Iterable[str]) -> Iterator[None]:
    """Remove files once the block is done; hidden before, and put back when the block fails."""
    hidden = [(location, _aside(location)) for location in locations]
    with moving(files, hidden):
        yield
    for _, aside in hidden:
        files.delete(aside)


def _aside(location: str) -> str:
    parent, _, name = location.rstrip("/").rpartition("/")
    return f"{parent}/.hivesql-dropped-{name}-{uuid.uuid4().hex[:8]}"


@contextmanager
def moving(files: Files, moves: Iterable[tuple[str, str]]) -> Iterator[None]:
    """Move directories for as long as the block succeeds; missing ones are left out."""
    moved: list[tuple[str, str]] = []
    try:
        for source, target in moves:
            if files.exists(source):
                files.rename(source, target)
                moved.append((source, target))
        yield
    except BaseException:
        for source, target in reversed(moved):
            files.rename(target, source)
        raise
