"""Lists of write ids as the state of a copy: compared, and moved on by ends of transactions."""

from __future__ import annotations

from dataclasses import replace

from hivesql_planner.acid.write_ids import ValidWriteIdList

WIDEST_GAP = 10_000
"""So many unknown write ids at once are not written down: the copy is given up instead."""


def compare(a: ValidWriteIdList, b: ValidWriteIdList) -> int:
    """0 when both have the same committed writes, 1 when ``a`` is newer, -1 when ``b`` is.

    Whether a write is open or aborted makes no difference (Hive's TxnIdUtils.compare). Lists of
    different tables are never equal.
    """
    if a.table.lower() != b.table.lower():
        return 1 if a.table.lower() > b.table.lower() else -1
    ours, theirs = sorted(a.exceptions), sorted(b.exceptions)
    for mine, other in zip(ours, theirs, strict=False):
        if mine != other:
            return 1 if mine > other else -1
    if len(ours) == len(theirs):
        return _sign(a.high_watermark - b.high_watermark)
    if len(ours) < len(theirs):
        return _against_longer(a, theirs[len(ours) :], b.high_watermark)
    return -_against_longer(b, ours[len(theirs) :], a.high_watermark)


def _against_longer(shorter: ValidWriteIdList, rest: list[int], high_watermark: int) -> int:
    """Return the shorter list against one whose further exceptions are ``rest``."""
    before = rest[0] - 1
    if shorter.high_watermark != before:
        return _sign(shorter.high_watermark - before)
    return 0 if rest == list(range(rest[0], high_watermark + 1)) else -1


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)


def mark_committed(visible: ValidWriteIdList, write_id: int) -> ValidWriteIdList | None:
    """Return the list once a write has committed; None when too much between is unknown."""
    return _mark_ended(visible, write_id, committed=True)


def mark_aborted(visible: ValidWriteIdList, write_id: int) -> ValidWriteIdList | None:
    """Return the list once a write has been aborted; None when too much between is unknown."""
    return _mark_ended(visible, write_id, committed=False)


def _mark_ended(
    visible: ValidWriteIdList, write_id: int, *, committed: bool
) -> ValidWriteIdList | None:
    highest = visible.high_watermark
    if write_id - highest > WIDEST_GAP:
        return None
    # Their own ends of transactions will say what became of the ids in between.
    between = frozenset(range(highest + 1, write_id))
    itself = frozenset({write_id})
    return replace(
        visible,
        high_watermark=max(highest, write_id),
        open=(visible.open | between) - itself,
        aborted=visible.aborted - itself if committed else visible.aborted | itself,
    )
