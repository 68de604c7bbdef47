"""Earlier states of a table: what was visible after a write, or at a time, if it is still there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from hivesql_planner.acid.layout import AcidDirectory, DirectoryKind, parse_directory
from hivesql_planner.acid.snapshot import AcidState, FileStatus, is_compacted
from hivesql_planner.acid.write_ids import ValidTxnList, ValidWriteIdList
from hivesql_planner.errors import DataError, SemanticError


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


def require_events(state: AcidState, low: int, *, insert_only: bool, location: str) -> None:
    """Raise DataError 10327 when a compaction has merged events from write ``low`` on.

    Rows of insert-only tables tell no write of their own, so that of those no delta may begin
    below it either.
    """
    base = state.base
    merged = [base] if base is not None and base.directory.max_write_id >= low else []
    if insert_only:
        merged += [
            entry
            for entry in state.deltas
            if entry.directory.min_write_id < low <= entry.directory.max_write_id
        ]
    if merged:
        highest = merged[-1].directory.max_write_id
        raise DataError(
            f"{location}: the changes up to write {highest} were compacted into {merged[-1].name}. "
            f"Ask for changes from write {highest + 1} on. hivesql.retention, set before a major "
            "compaction, leaves them to readers for a time",
            code=10327,
        )


def overwrites(
    files: Iterable[FileStatus],
    formats: Mapping[str, str],
    *,
    low: int,
    then: ValidWriteIdList,
) -> tuple[int, ...]:
    """Return the writes from ``low`` on that put other rows for all that was in a directory.

    ``formats`` are those of its ``_metadata_acid`` files, by directory.
    """
    names = {file.path.partition("/")[0] for file in files if "/" in file.path}
    return tuple(
        sorted(
            directory.max_write_id
            for name in names
            if (directory := parse_directory(name))
            and directory.kind is DirectoryKind.BASE
            and not is_compacted(directory, formats.get(name))
            and directory.max_write_id >= low
            and then.sees(directory.max_write_id)
        )
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
    cleaned_up_to: int | None,
    location: str,
) -> None:
    """Raise DataError 10327 when files that an earlier state needs may have been removed.

    ``state`` was selected for ``then``, which refuses later compactions by itself. A later
    overwrite makes what lies below it obsolete too, and a cleaner that ran since, up to the write
    ``cleaned_up_to`` (0: as far as one knows none; None: none at all), has removed it.
    """
    if state.base is not None or cleaned_up_to is None:
        return
    overwrite = replaced_by(files, then)
    if overwrite is None:
        return
    # Nothing at all below an overwrite is what a cleaner leaves, or a table that was empty.
    is_bare = not state.deltas and not state.originals and then.high_watermark > 0
    if is_bare or cleaned_up_to >= overwrite.max_write_id:
        raise DataError(
            f"{location} cannot be read as of that time: {overwrite.name} has replaced what was "
            "there, and its files may have been cleaned. Oldest state that is kept: write "
            f"{overwrite.max_write_id}",
            code=10327,
        )


def replaced_by(files: Iterable[FileStatus], then: ValidWriteIdList) -> AcidDirectory | None:
    """Return the first base of a later state; None where there is none."""
    names = {file.path.partition("/")[0] for file in files if "/" in file.path}
    bases = [directory for name in names if (directory := parse_directory(name)) and (
        directory.kind is DirectoryKind.BASE and not then.sees(directory.max_write_id)
    )]  # fmt: skip
    return min(bases, key=lambda directory: directory.max_write_id, default=None)
