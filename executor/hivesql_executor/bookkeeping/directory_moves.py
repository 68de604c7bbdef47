"""Directories that move, or go, together with their catalog entries."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from hivesql_executor.beats import wait_for_answers
from hivesql_executor.failpoints import FailPoint, hit_failpoint
from hivesql_executor.files.locations import server_of
from hivesql_executor.files.refusals import PlaceTaken
from hivesql_executor.metastore.file_moves import BegunMoves, Move, decide_remedy
from hivesql_executor.runtime import Runtime
from hivesql_executor.transactions.file_changes import making_moves, missing_directories
from hivesql_executor.transactions.owned_places import owned_by
from hivesql_executor.transactions.reaper import HIDDEN, left_to_reaper, mend, release
from hivesql_planner.definitions.places import directories_above
from hivesql_planner.errors import CommitUnknown, HiveSqlError
from hivesql_planner.model.table import Database, Table
from hivesql_planner.older_python import add_note


@dataclass(slots=True)
class CatalogPlaces:
    """What a catalog has of the tables and partitions whose directories move."""

    named: set[str] = field(default_factory=set)
    """The directories that it has for them."""
    owned: set[tuple[int, str]] = field(default_factory=set)
    """Ids of the tables, each with ``""`` and with the name of each of the partitions."""


@contextmanager
def placing(
    moves: Sequence[Move],
    runtime: Runtime,
    txn_id: int,
    *,
    look: Callable[[], CatalogPlaces],
    around: str = "",
    doomed: Sequence[str] = (),
) -> Iterator[None]:
    """Move directories for the block, which changes the catalog; missing ones are left out.

    What is hidden because its table is dropped is deleted after the block, and so is the directory
    ``around`` them, a dropped database's, unless files are in it. Nor is anything moved of what
    partitions leave in a store: ``doomed`` are all files of that. When the block fails, or the
    process dies and `reap` finds it, the directories go where the catalog says; where it keeps no
    notes, ``look`` asks it.
    """
    present = [
        move
        for move in moves
        if move.source == move.target or runtime.files(move.source).exists(move.source)
    ]
    above = [around] if around and runtime.files(around).exists(around) else []
    if not present and not above:
        yield
        return
    store = runtime.metastore
    # Mended from the last to the first: what is in it goes before the directory around it.
    noted = [*making_moves(above), *present]
    key = store.note_moves(txn_id, noted)
    moved = []
    try:
        for move in present:
            if move.source != move.target:
                try:
                    runtime.files(move.source).rename(move.source, move.target)
                except PlaceTaken:
                    # What is there is another's, and no half of this move.
                    noted.remove(move)
                    store.forget_moves(key, move.target)
                    raise
            moved.append(move)
        _sync_moved(moved, runtime)
        hit_failpoint(FailPoint.DIRECTORIES_MOVED)
        with store.changing_for(txn_id, key):
            yield
    except BaseException as error:
        # The block may have failed after its change: a lost answer, Ctrl-C.
        if key:
            _put_right(key, error, runtime, moved)
        else:
            _put_right_by(look, noted, error, runtime)
        raise
    hit_failpoint(FailPoint.CATALOG_CHANGED)
    with left_to_reaper("what was dropped is not deleted yet", runtime):
        if _delete_dropped(key, present, doomed, runtime):
            for path in above:
                if not runtime.files(path).list(path):
                    runtime.files(path).delete(path)
            store.forget_moves(key)


def _sync_moved(moves: Sequence[Move], runtime: Runtime) -> None:
    """Bring new names down to the disk before the catalog says them."""
    places: dict[str, None] = {}
    for move in moves:
        if move.source == move.target:
            continue
        olds, news = directories_above(move.source), directories_above(move.target)
        places[olds[0]] = None
        # What is between the new place and a directory that holds both may be new, too.
        for path in news:
            places[path] = None
            if path in olds:
                break
    for directories in _by_server(places).values():
        files = runtime.files(directories[0])
        if files.syncs:
            files.sync([directory for directory in directories if files.exists(directory)])


@wait_for_answers()
def _delete_dropped(
    key: str, moves: Sequence[Move], doomed: Sequence[str], runtime: Runtime
) -> bool:
    """Delete what the catalog names no more; False where another has done so."""
    store = runtime.metastore
    stays = any(move.source == move.target and not _is_of_partition(move) for move in moves)
    if stays and key and store.noted_moves(key) is None:
        # Taken for dead meanwhile: another has deleted it, and a new table may be there.
        return False
    for move in moves:
        if move.table_id and not _is_of_partition(move):
            runtime.files(move.source).delete(move.target)
    for paths in _by_server(doomed).values():
        runtime.files(paths[0]).delete_each(paths)
    return True


def _is_of_partition(move: Move) -> bool:
    """Tell whether it is something in a dropped partition's directory, deleted where it lies.

    A write that comes later has other names there, by its write id.
    """
    return bool(move.partition) and move.source == move.target


def _by_server(paths: Iterable[str]) -> dict[str, list[str]]:
    """Return places by where they are asked for."""
    by_server: dict[str, list[str]] = {}
    for path in paths:
        by_server.setdefault(server_of(path), []).append(path)
    return by_server


def _put_right(key: str, error: BaseException, runtime: Runtime, moved: Sequence[Move]) -> None:
    """Do what the catalog says.

    A note that is gone was put right by whoever took us for dead. What we have ``moved`` later
    than that is put right here: what the catalog names by now is another's.
    """
    store = runtime.metastore
    with _noting_failure(error):
        begun = store.noted_moves(key)
        if begun is None and moved:
            begun = store.noted_moves(store.note_moves(0, moved))
        if begun is not None:
            mend(begun, runtime)


def _put_right_by(
    look: Callable[[], CatalogPlaces],
    moves: Sequence[Move],
    error: BaseException,
    runtime: Runtime,
) -> None:
    """Do what the catalog says, though it keeps no notes.

    Where its answer to the change is lost, or a part is done, we go on asking until it answers:
    it may have what was moved under the new name. Where it is gone before that, all goes back.
    """

    def put() -> None:
        mend(_decide(moves, look()), runtime)

    with _noting_failure(error):
        if isinstance(error, CommitUnknown):
            release(put, runtime)
            return
        try:
            now = look()
        except HiveSqlError:
            now = CatalogPlaces(owned={(move.table_id, move.partition) for move in moves})
        mend(_decide(moves, now), runtime)


def _decide(moves: Sequence[Move], now: CatalogPlaces) -> BegunMoves:
    remedies = tuple(
        (
            move,
            decide_remedy(
                move,
                named=move.target in now.named,
                owned=(move.table_id, move.partition) in now.owned,
                committed=False,
            ),
        )
        for move in moves
    )
    return BegunMoves(key="", moves=remedies)


@contextmanager
def _noting_failure(error: BaseException) -> Iterator[None]:
    """Note at an error that what it left could not be put right."""
    try:
        yield
    except Exception as second:  # noqa: BLE001 - the first error is the one to report
        add_note(error, f"directories are not put right yet: {second}")


@contextmanager
def making(directories: Sequence[str], runtime: Runtime, txn_id: int) -> Iterator[None]:
    """Make directories for the block, which tells the catalog of them.

    When the block fails, or the process dies, those go again that the catalog does not name, unless
    somebody has put something there.
    """
    missing, store = missing_directories(directories, runtime), runtime.metastore
    moves = making_moves(missing)
    key = store.note_moves(txn_id, moves) if moves else ""
    try:
        for path in directories:
            runtime.files(path).make_directories(path)
        hit_failpoint(FailPoint.DIRECTORIES_MADE)
        with store.changing_for(txn_id, key):
            yield
    except BaseException as error:
        if key:
            _put_right(key, error, runtime, moves)
        elif moves:
            # They are empty, so it does no harm where the catalog names them.
            _put_right_by(CatalogPlaces, moves, error, runtime)
        raise
    if moves:
        with left_to_reaper("the note of directories that were made is not forgotten yet", runtime):
            store.forget_moves(key)


def hiding(location: str, table_id: int, partition: str = "", *, stays: bool = False) -> Move:
    """Return the move that hides a directory until its table, or partition, is dropped.

    One that ``stays`` is not moved, and deleted then.
    """
    target = location if stays else _aside(location)
    return Move(source=location, target=target, table_id=table_id, partition=partition)


def leave_in_stores(
    table: Table, homes: Mapping[str, str], runtime: Runtime
) -> dict[str, tuple[list[Move], list[str]]]:
    """Return what is noted, and all files, of partitions that are dropped where a move copies.

    ``homes`` are their names by their directories; those are left out that have to move. It is
    noted what is in a directory, and not the directory: its writes are known by their write ids,
    so what a later partition of that name has there is never taken for them. A Hive Metastore
    keeps no notes: there all move, else they would be rows again after a crash.
    """
    if not table.is_transactional or not runtime.metastore.keeps_rows:
        return {}
    in_stores = (home for home in homes if not runtime.files(home).has_directories)
    left = {}
    for directories in _by_server(in_stores).values():
        contents = runtime.files(directories[0]).contents(table.location, directories)
        for home, paths in contents.items():
            names = dict.fromkeys(path.partition("/")[0] for path in paths)
            moves = [hiding(f"{home}/{name}", table.id, homes[home], stays=True) for name in names]
            left[home] = moves, [f"{home}/{path}" for path in paths]
    return left


def _aside(location: str) -> str:
    parent, _, name = location.rstrip("/").rpartition("/")
    # No longer than names of files may be.
    short_name = name.encode()[:200].decode(errors="ignore")
    return f"{parent}/{HIDDEN}{short_name}-{uuid.uuid4().hex[:8]}"


def may_delete(
    location: str, table: Table, runtime: Runtime, *, with_database: bool = False
) -> bool:
    """Tell whether a directory may go with what is dropped, or else tell the user that it stays.

    A catalog that other programs wrote may hold paths that lead out of their database, or that
    hold the whole of it: nobody who drops one table wants to lose those. Nor those of a table that
    lies there too. ``with_database`` tells that all of the database goes.
    """
    reason = None
    if not with_database:
        reason = _reason(location, _homes(table.name.database, runtime))
    if reason is None and (owner := owned_by(location, table, runtime)) is not None:
        reason = f"holds rows of {owner}"
    if reason is not None:
        runtime.notify(f"{location} {reason}: its files were left. Remove them by hand")
    return reason is None


def _homes(database: str, runtime: Runtime) -> Iterable[str]:
    store = runtime.metastore
    for home in (store.database("default"), store.database(database)):
        yield from _places(home)


def _places(database: Database) -> Iterable[str]:
    return filter(None, (database.location, database.managed_location))


def _reason(location: str, homes: Iterable[str]) -> str | None:
    parts = _parts(location)
    if ".." in parts:
        return "leads out of its directory by '..'"
    if any(_parts(home)[: len(parts)] == parts for home in homes):
        return "holds a whole database"
    return None


def _parts(location: str) -> tuple[str, ...]:
    """Return the parts of a path; that of a local file does not depend on how it is written."""
    return PurePosixPath(location.removeprefix("file://").removeprefix("file:")).parts
