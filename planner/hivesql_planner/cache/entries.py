"""A copy of one table: whether it may answer a reader, and what may be put in its place."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from hivesql_planner.acid.write_ids import ValidWriteIdList
from hivesql_planner.cache.events import Write
from hivesql_planner.cache.lists import compare
from hivesql_planner.errors import SemanticError
from hivesql_planner.model.table import Partition, Table, TableName
from hivesql_planner.predicates.partitions import PartitionTest, may_pass

Tests = tuple[PartitionTest, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A table as it was when ``visible`` told its committed writes.

    ``pending`` are writes that have changed the table and are not known to have ended. A listing
    without tests is that of all partitions.
    """

    table: Table
    visible: ValidWriteIdList | None = None
    """None for tables that are not transactional."""
    pending: frozenset[Write] = frozenset()
    listings: Mapping[Tests, tuple[Partition, ...]] = field(default_factory=dict, hash=False)

    @property
    def is_available(self) -> bool:
        """Tell whether it is the state after some commits, and not one in the middle of a write."""
        return not self.pending and (self.visible is not None or not self.table.is_transactional)

    @property
    def weight(self) -> int:
        """Tell how many partitions it holds."""
        return sum(map(len, self.listings.values()))


def is_wanted(name: TableName, allowed: str, denied: str) -> bool:
    """Tell whether a table may be copied, as far as two lists of patterns (``patterns``) say."""

    def fits(texts: str) -> bool:
        return any(pattern.fullmatch(str(name)) for pattern in patterns(texts))

    return fits(allowed) and not fits(denied)


def patterns(text: str) -> tuple[re.Pattern[str], ...]:
    """Regular expressions of ``db.table``, separated by commas; SemanticError where one is none."""
    texts = filter(None, map(str.strip, text.split(",")))
    try:
        return tuple(re.compile(pattern, re.IGNORECASE) for pattern in texts)
    except re.error as error:
        raise SemanticError(f"{text!r} is no list of regular expressions: {error}") from None


def answers(entry: Entry, table_id: int, requested: ValidWriteIdList | None) -> bool:
    """Tell whether the copy is what a reader with this list would get from the database.

    Tables that are not transactional are told as they are known, whatever is asked.
    """
    if not entry.is_available:
        return False
    if not entry.table.is_transactional:
        return True
    if requested is None or entry.visible is None or entry.table.id != table_id:
        return False
    return compare(requested, entry.visible) == 0


def partitions_of(entry: Entry, tests: Sequence[PartitionTest]) -> tuple[Partition, ...] | None:
    """Return the partitions that pass, as far as the copy holds them; None: ask the database."""
    if (passing := entry.listings.get(tuple(tests))) is not None:
        return passing
    if (listing := entry.listings.get(())) is None:
        return None
    return tuple(
        partition
        for partition in listing
        if all(may_pass(partition.values[test.position], test) for test in tests)
    )


def with_listing(entry: Entry, tests: Tests, partitions: tuple[Partition, ...]) -> Entry:
    """Return the copy with one listing more; that of all partitions replaces the others."""
    listings = {tests: partitions} if not tests else {**entry.listings, tests: partitions}
    return replace(entry, listings=listings)


def may_fill(
    requested: ValidWriteIdList | None, current: ValidWriteIdList | None, row: Table, table_id: int
) -> bool:
    """Tell whether what was read from the database may stand for the asked list.

    ``current`` is the list of the moment of the reading. A write that is open there and valid to
    the reader is the reader's own: its content is one from the middle of a transaction.
    """
    if not row.is_transactional:
        return True
    if requested is None or current is None or row.id != table_id:
        return False
    return not any(requested.sees(txn_id) for txn_id in current.open)


def chosen(old: Entry | None, new: Entry) -> Entry:
    """Tell which copy to keep: never an older one in place of a newer one."""
    if old is None or old.table.id != new.table.id or old.visible is None or new.visible is None:
        return new
    difference = compare(new.visible, old.visible)
    if difference < 0:
        return old
    if difference == 0 and old.is_available:
        return replace(new, listings=old.listings)
    return new
