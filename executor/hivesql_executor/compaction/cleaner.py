"""The cleaner: deletes what no reader can need any more, and nothing else."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from hivesql_executor.compaction.owners import acting_as_owner
from hivesql_executor.compaction.unit import Place, each, find_place, list_roots, made_by_writes
from hivesql_executor.failpoints import FailPoint, hit_failpoint
from hivesql_executor.files.api import Files
from hivesql_executor.files.staging import abandoned
from hivesql_executor.metastore.api import Compaction
from hivesql_executor.orc.hidden_deltas import require_none_hidden
from hivesql_executor.runtime import Runtime
from hivesql_executor.snapshot.listing import acid_state
from hivesql_executor.statement_log import note, working
from hivesql_executor.transactions.file_changes import FileChanges
from hivesql_executor.translate_errors import translate_error
from hivesql_planner.acid.layout import (
    DirectoryKind,
    is_marker,
    is_side_file,
    parse_directory,
)
from hivesql_planner.acid.snapshot import AcidState, FileStatus
from hivesql_planner.acid.write_ids import ListMode, Range, ValidTxnList, ValidWriteIdList
from hivesql_planner.compaction.initiator import NO_CLEANUP, flag_property
from hivesql_planner.errors import ExecutionError, HiveSqlError, NoSuchObject
from hivesql_planner.settings.retention import RETENTION, Retention, retention_of


def clean(runtime: Runtime) -> int:
    """Clean every queue entry that is ready and that no open transaction holds back; how many.

    An entry that cannot be cleaned is tried again later, and told of; the others go on.
    """
    settings, store = runtime.settings, runtime.metastore
    for compaction in store.retained_compactions():
        _end_retention(compaction, runtime)
    delayed = settings.flag("hive.compactor.delayed.cleanup.enabled")
    ready = store.ready_to_clean(
        delay=settings.seconds("hive.compactor.cleaner.retention.time.seconds") if delayed else 0,
        limit=settings.integer("metastore.compactor.fetch.size"),
    )
    # A table's own directory has as many entries as it has partitions, whichever was compacted.
    looked_through: set[str] = set()
    return each(
        lambda request: _clean_named(request, runtime, looked_through),
        ready,
        settings.integer("hive.compactor.cleaner.threads.num"),
    )


def _clean_named(compaction: Compaction, runtime: Runtime, looked_through: set[str]) -> bool:
    with working():
        note(compaction=compaction.id)
        return _try_cleaning(compaction, runtime, looked_through)


def _try_cleaning(compaction: Compaction, runtime: Runtime, looked_through: set[str]) -> bool:
    settings = runtime.settings
    if runtime.cancelled.is_set():
        return False  # A service that is to end: the next one goes on.
    try:
        return _clean_one(compaction, runtime, looked_through)
    except Exception as error:  # noqa: BLE001 - one directory must not stop all others
        reason = str(translate_error(error))
        runtime.metastore.retry_cleaning(
            compaction.id,
            reason,
            base=settings.seconds("hive.compactor.cleaner.retry.retention.time"),
            attempts=settings.integer("hive.compactor.cleaner.retry.maxattempts"),
        )
        runtime.notify(f"cleaning after compaction {compaction.id} failed: {reason}")
        return False


def uncompacted(state: AcidState, aborted: Iterable[int]) -> frozenset[int]:
    """Aborted write ids whose rows lie in a delta among those of others: a streaming batch.

    A compacted delta has no rows of theirs any more.
    """
    spans = [
        (entry.directory.min_write_id, entry.directory.max_write_id)
        for entry in state.deltas
        if entry.directory.visibility_txn == 0
    ]
    return frozenset(
        write_id for write_id in aborted if any(low <= write_id <= high for low, high in spans)
    )


def _clean_one(compaction: Compaction, runtime: Runtime, looked_through: set[str]) -> bool:
    """Clean after one compaction; False where that has to wait, or is not to be.

    ``looked_through`` are directories of tables that this round needs no more.
    """
    store = runtime.metastore
    try:
        place = find_place(compaction.unit, runtime)
    except NoSuchObject:
        store.mark_cleaned(compaction.id)
        return True
    if flag_property(place.table.properties, NO_CLEANUP):
        reason = f"Cleaning of {place.table.name} is switched off by its property {NO_CLEANUP}"
        store.mark_failed(compaction.id, reason, refused=True)
        return False
    if _is_retained(compaction, place, runtime):
        return False
    runtime = acting_as_owner(place, runtime)
    now = store.valid_txns()
    if compaction.next_txn_id is None and compaction.txn_id in now.aborted:
        # The worker died between its last note and its commit: there is no result.
        store.mark_failed(compaction.id, "the compaction's transaction was aborted")
        return False
    # Only what every present and future reader agrees on: transactions below the oldest open
    # one, write ids up to the compaction's own.
    below = store.min_open_txn() - 1
    txns = ValidTxnList(below, frozenset(), frozenset(txn for txn in now.aborted if txn <= below))
    written = store.valid_write_ids(txns, [compaction.table])[compaction.table]
    visible = _visible(compaction, written)
    retained: frozenset[int] = frozenset()
    roots, names = list_roots(place, runtime), {}
    for location in roots:
        files = runtime.files(location)
        # A later compaction may have made a base already: this one has only to go behind its own.
        listing = files.list(location)
        state = acid_state(files, location, visible, txns, is_earlier=True, listing=listing)
        require_none_hidden(files, location, state)
        delete_writes(place, location, _removable(state, place), runtime, listing)
        listing, names[location] = files.survey(location)
        state = acid_state(files, location, visible, txns, is_earlier=True, listing=listing)
        if remaining := _removable(state, place):
            raise ExecutionError(f"{location} still holds {', '.join(sorted(remaining))}")
        remaining = empty_directories(names[location], listing, state, visible, txns)
        delete_writes(place, location, remaining, runtime)
        retained |= uncompacted(state, visible.aborted)
    # Of workers, and of writers, who work in their table's: they are forgotten from now on. Those
    # that this compaction lets forget had ended before it began, so one look of a round sees all.
    done = looked_through if compaction.highest_write_id is not None else ()
    delete_abandoned(place, names, now.aborted, runtime, done=done)
    abort_uploads(place, roots, written, txns, runtime, done=done)
    looked_through.add(place.table.location)
    hit_failpoint(FailPoint.DIRECTORY_CLEANED)
    store.mark_cleaned(compaction.id, retained=retained)
    return True


def _end_retention(compaction: Compaction, runtime: Runtime) -> None:
    """Let the cleaner come to what waits for a number of versions, or longer than the table says.

    What cannot be told by now, of a table that was dropped or by a value that is none, waits on.
    """
    with suppress(HiveSqlError):
        if not _is_retained(compaction, find_place(compaction.unit, runtime), runtime):
            runtime.metastore.end_retention(compaction.id)


def _is_retained(compaction: Compaction, place: Place, runtime: Runtime) -> bool:
    """Tell whether the table keeps versions that the compaction has replaced."""
    store, default = runtime.metastore, runtime.settings.text(RETENTION)
    retention = retention_of(place.table.properties, default)
    if retention == Retention() or compaction.highest_write_id is None:
        return False
    visible = store.valid_write_ids(store.valid_txns(), [compaction.table])[compaction.table]
    age = (store.now() - (compaction.committed or 0)) / 1000
    return retention.keeps(compaction.highest_write_id, visible.high_watermark, age)


def _visible(compaction: Compaction, written: ValidWriteIdList) -> ValidWriteIdList:
    highest = compaction.highest_write_id
    if highest is None:
        return written
    limit = min(written.high_watermark, highest)
    return replace(written, high_watermark=limit, mode=ListMode.CLEANER)


def _removable(state: AcidState, place: Place) -> tuple[str, ...]:
    """Choose what to delete: only what was rolled back, if the partitions are not known."""
    return state.aborted if place.is_whole_partitioned_table else (*state.obsolete, *state.aborted)


def empty_directories(
    names: Iterable[str],
    listing: Sequence[FileStatus],
    state: AcidState,
    visible: ValidWriteIdList,
    txns: ValidTxnList,
) -> tuple[str, ...]:
    """Find what a write that died had only begun, and what a cleaner that died has half deleted.

    ``names`` are all directories there, and ``listing`` the files that ``state`` was told of. No
    reader of ours looks at directories without files. Those of writes that are open are left alone.
    In object stores Hadoop's S3A may have left a marker, which others take for a directory.
    """
    paths: dict[str, list[str]] = defaultdict(list)
    for status in listing:
        paths[status.path.partition("/")[0]].append(status.path)
    empty = []
    for name in names:
        directory = parse_directory(name)
        if directory is None:
            continue
        _, low, high, _, made_by = directory
        inside = paths.get(name, ())
        has_ended = visible.min_open is None or high < visible.min_open
        if directory.may_grow and has_ended and visible.range_aborted(low, high) is Range.SOME:
            # Of a stream that died when it had committed elsewhere, and had begun a file here.
            if all(is_marker(path) or is_side_file(path) for path in inside):
                empty.append(name)
            continue
        if inside:
            continue
        covered = any(
            high <= other.max_write_id
            and (
                other.kind is DirectoryKind.BASE
                or (other.visibility_txn > 0 and low >= other.min_write_id)
            )
            for other in (entry.directory for entry in state.directories)
        )
        is_aborted = (
            txns.is_aborted(made_by) if made_by else visible.range_aborted(low, high) is Range.ALL
        )
        if is_aborted or (covered and has_ended and txns.sees(made_by)):
            empty.append(name)
    return tuple(empty)


def delete_writes(
    place: Place,
    location: str,
    names: Sequence[str],
    runtime: Runtime,
    listing: Sequence[FileStatus] | None = None,
) -> None:
    """Delete directories of writes, and of the partition that they made and nobody knows.

    ``listing`` is what is in the location, where that is known and is looked at once more.
    """
    if names:
        with FileChanges(runtime, 0).emptying(made_by_writes(place, location, runtime)):
            _delete(runtime.files(location), location, names, listing)
        runtime.on_work("cleaned_directories", len(names))


def delete_abandoned(
    place: Place,
    names: Mapping[str, Iterable[str]],
    txns: Collection[int],
    runtime: Runtime,
    *,
    done: Collection[str] = (),
) -> None:
    """Delete the working directories of aborted transactions, in the table's and in others.

    ``names`` are those of all directories in the latter. The table's may be ``done``.
    """
    home = place.table.location
    if home not in names and home not in done:
        names = {home: runtime.files(home).all_directories(home), **names}
    for location, inside in names.items():
        delete_writes(place, location, tuple(abandoned(inside, txns)), runtime)


def abort_uploads(
    place: Place,
    roots: Iterable[str],
    visible: ValidWriteIdList,
    txns: ValidTxnList,
    runtime: Runtime,
    *,
    done: Collection[str] = (),
) -> None:
    """Give up what tasks of writes and compactions that have ended left uploading.

    The table's may be ``done``.
    """
    home = place.table.location
    elsewhere = (root for root in roots if not f"{root}/".startswith(f"{home}/"))
    for location in (*((home,) if home not in done else ()), *elsewhere):
        uploads = runtime.files(location).left_uploads(location)
        waiting = uploads.waiting(location) if uploads is not None else []
        ended = [
            (path, upload)
            for path, upload in waiting
            if _has_ended(path.rsplit("/", 2)[-2], visible, txns)
        ]
        if uploads is not None and ended:
            uploads.abort(ended)


def _has_ended(name: str, visible: ValidWriteIdList, txns: ValidTxnList) -> bool:
    """Tell whether nobody writes in the directory of that name any more."""
    directory = parse_directory(name)
    if directory is None:
        return False
    _, _, high, _, made_by = directory
    if made_by:
        return txns.sees(made_by) or txns.is_aborted(made_by)
    return visible.is_valid_base(high)


def _delete(
    files: Files, location: str, names: Sequence[str], listing: Sequence[FileStatus] | None
) -> None:
    """Remove directories, or original files, of a table or partition."""
    if not files.has_directories:
        files.delete_below(location, names, listing)
        hit_failpoint(FailPoint.ENTRY_DELETED)
        return
    for name in names:
        files.delete(f"{location}/{name}")
        hit_failpoint(FailPoint.ENTRY_DELETED)
