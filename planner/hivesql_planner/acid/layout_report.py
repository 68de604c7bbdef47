"""What a reader makes of each directory of a partition root, and why, in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from hivesql_planner.acid.layout import AcidDirectory, DirectoryKind, parse_directory
from hivesql_planner.acid.snapshot import AcidState, FileStatus
from hivesql_planner.acid.write_ids import Range, ValidTxnList, ValidWriteIdList

ORIGINALS = "original files"


@dataclass(frozen=True, slots=True)
class Verdict:
    """A directory (or ORIGINALS), whether a reader takes it, and the reason."""

    name: str
    kind: str
    is_read: bool
    why: str


def judge(
    files: Iterable[FileStatus],
    state: AcidState,
    write_ids: ValidWriteIdList,
    txns: ValidTxnList,
    *,
    insert_only: bool = False,
) -> tuple[Verdict, ...]:
    """Judge every ACID directory in the listing, by name, then the originals.

    ``state`` is what ``snapshot.select`` made of the same listing.
    """
    verdicts = []
    has_originals = False
    fates = _fates(state)
    for name in sorted({file.path.partition("/")[0] for file in files if "/" in file.path}):
        directory = parse_directory(name)
        if directory is None:
            has_originals = True
            continue
        is_read, why = _of(name, directory, fates, state, write_ids, txns)
        kind = directory.kind.value.replace("_", " ")
        verdicts.append(Verdict(name, kind, is_read, why))
    if has_originals or any("/" not in file.path for file in files):
        verdicts.append(_of_originals(state, insert_only=insert_only))
    return tuple(verdicts)


def _of_originals(state: AcidState, *, insert_only: bool) -> Verdict:
    if insert_only:
        return Verdict(ORIGINALS, "original", False, "insert-only tables do not read them")
    if not state.originals:
        return Verdict(ORIGINALS, "original", False, f"covered by {_cover_name(state)}")
    return Verdict(ORIGINALS, "original", True, "no base holds their rows yet")


def _fates(state: AcidState) -> dict[str, str]:
    """Return the part of the state that names each directory; what is nowhere is not seen."""
    return {
        **dict.fromkeys(state.obsolete, "obsolete"),
        **dict.fromkeys(state.aborted, "aborted"),
        **{entry.name: "delta" for entry in state.deltas},
    }


def _of(
    name: str,
    directory: AcidDirectory,
    fates: Mapping[str, str],
    state: AcidState,
    write_ids: ValidWriteIdList,
    txns: ValidTxnList,
) -> tuple[bool, str]:
    if state.base is not None and state.base.name == name:
        return True, "the newest base that the snapshot sees"
    match fates.get(name):
        case "delta":
            return True, _why_read(directory, write_ids)
        case "aborted":
            return False, "rolled back: the cleaner will remove it"
        case "obsolete":
            return False, f"covered by {_cover(directory, state)}: the cleaner will remove it"
    return False, _why_unseen(directory, write_ids, txns)


def _why_read(directory: AcidDirectory, write_ids: ValidWriteIdList) -> str:
    low, high = directory.min_write_id, directory.max_write_id
    if low == high:
        return f"write {low} is committed"
    if write_ids.range_valid(low, high) is Range.SOME or write_ids.range_aborted(low, high) is (
        Range.SOME
    ):
        return f"some writes of {low} to {high} are visible: its rows are filtered"
    return f"writes {low} to {high} are committed"


def _cover(directory: AcidDirectory, state: AcidState) -> str:
    """Tell what covers a directory: a compaction makes deltas and delete deltas of one span."""
    base = state.base
    if base is not None and directory.max_write_id <= base.directory.max_write_id:
        return base.name
    cover = None
    for entry in state.deltas:
        other = entry.directory
        if other.min_write_id > directory.min_write_id:
            break
        if directory.max_write_id <= other.max_write_id:
            if other.kind is directory.kind:
                return entry.name
            cover = cover or entry.name
    return cover or _cover_name(state)


def _cover_name(state: AcidState) -> str:
    return state.base.name if state.base else "other directories"


def _why_unseen(directory: AcidDirectory, write_ids: ValidWriteIdList, txns: ValidTxnList) -> str:
    txn = directory.visibility_txn
    if txn and not txns.sees(txn):
        return f"its compaction (transaction {txn}) is not committed"
    low, high = directory.min_write_id, directory.max_write_id
    writes = f"write {high}" if low == high else f"writes {low} to {high}"
    if high > write_ids.high_watermark:
        return f"{writes}: above the snapshot's highest write {write_ids.high_watermark}"
    if directory.kind is DirectoryKind.BASE and write_ids.sees(high):
        return f"a compaction of writes that were open below write {high}"
    return f"{writes}: not committed"
