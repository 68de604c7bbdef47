"""Earlier states of a table: what was visible after a write, or at a time, if it is still there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from hivesql_planner.acid.layout import AcidDirectory, DirectoryKind, parse_directory
from hivesql_planner.acid.snapshot import AcidState, FileStatus
from hivesql_planner.acid.write_ids import ValidTxnList, ValidWriteIdList
from hivesql_planner.errors import DataError, NotSupported, SemanticError


def after_write(now: ValidWriteIdList, write_id: int) -> ValidWriteIdList:
    """Tell what was visible once this write and all before it were committed.

    SemanticError for a write that the table has not had yet.
    """
    if not 0 <= write_id <= now.high_watermark:
        raise SemanticError(
            f"{now.table or 'the table'} has no write {write_id}: its writes go from 1 to "
            f"{now.high_watermark}"
        )
    return replace(now, high_watermark=write_id)


def without_writes(now: ValidWriteIdList, later: Iterable[int]) -> ValidWriteIdList:
    """Tell what was visible when these writes were still to be committed."""
    return replace(now, open=now.open | frozenset(later))


def require_events(state: AcidState, low: int, *, location: str) -> None:
    """Raise when the events from write ``low`` on are not all in the deltas.

    DataError 10327 when a compaction merged them, NotSupported when an overwrite or TRUNCATE did
    away with rows without an event for each.
    """
    base = state.base
    if base is None or base.directory.max_write_id < low:
        return
    highest = base.directory.max_write_id
    if base.directory.visibility_txn:
        raise DataError(
            f"{location}: the changes up to write {highest} were compacted into {base.name}. Ask "
            f"for changes from write {highest + 1} on. hivesql.retention, set before a compaction, "
            "leaves them to readers for a time",
            code=10327,
        )
    raise NotSupported(
        f"changes across an overwrite ({location}/{base.name}): ask for changes from write "
        f"{highest + 1} on"
    )


def merging_bases(
    files: Iterable[FileStatus], low: int, txns: ValidTxnList
) -> frozenset[AcidDirectory]:
    """Return the compacted bases that have merged events of write ``low`` or later ones."""
    names = {file.path.partition("/")[0] for file in files}
    return frozenset(
        directory
        for directory in filter(None, map(parse_directory, names))
        if directory.kind is DirectoryKind.BASE
        and directory.visibility_txn > 0
        and directory.max_write_id >= low
        and txns.sees(directory.visibility_txn)
    )


def check_history(
    files: Iterable[FileStatus],
    state: AcidState,
    then: ValidWriteIdList,
    *,
    cleaned_up_to: int,
    location: str,
) -> None:
    """Raise DataError 10327 when files that an earlier state needs may have been removed.

    ``state`` was selected for ``then``, which refuses later compactions by itself. A later
    overwrite makes what lies below it obsolete too, and a cleaner that ran since, up to the write
    ``cleaned_up_to`` (0: none), has removed it.
    """
    if state.base is not None:
        return
    names = {file.path.partition("/")[0] for file in files if "/" in file.path}
    bases = [directory for name in names if (directory := parse_directory(name)) and (
        directory.kind is DirectoryKind.BASE and not then.sees(directory.max_write_id)
    )]  # fmt: skip
    if not bases:
        return
    overwrite = min(bases, key=lambda directory: directory.max_write_id)
    # Nothing at all below an overwrite is what a cleaner leaves, or a table that was empty.
    is_bare = not state.deltas and not state.originals and then.high_watermark > 0
    if is_bare or cleaned_up_to >= overwrite.max_write_id:
        raise DataError(
            f"{location} cannot be read as of that time: {overwrite.name} has replaced what was "
            "there, and its files may have been cleaned. Oldest state that is kept: write "
            f"{overwrite.max_write_id}",
            code=10327,
        )
