"""The copies themselves: found by name, the least used given up, each with its generation."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hivesql_planner.cache.entries import Entry
    from hivesql_planner.model.table import TableName

_MOST_GENERATIONS = 100_000


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is kept: tables, and partitions of all of them together; and which (is_wanted)."""

    tables: int = 10_000
    partitions: int = 200_000
    allowed: str = ".*"
    denied: str = ""


class Shelf:
    """Entries by table name. The caller sees to it that only one thread is here."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._entries: OrderedDict[TableName, Entry] = OrderedDict()
        self._weight = 0
        self._cleared = 0
        self._generations: defaultdict[TableName, int] = defaultdict(int)

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[TableName]:
        return iter(tuple(self._entries))

    @property
    def partitions(self) -> int:
        """Tell how many partitions all entries hold."""
        return self._weight

    def get(self, name: TableName) -> Entry | None:
        """Return the entry, which now is the last to be given up; None where there is none."""
        entry = self._entries.get(name)
        if entry is not None:
            self._entries.move_to_end(name)
        return entry

    def put(self, name: TableName, entry: Entry) -> int:
        """Keep an entry that is wanted; how many others had to go."""
        # Imported late: every session knows of limits, few keep anything.
        from hivesql_planner.cache.entries import is_wanted

        self._take_off(name)
        limits = self._limits
        if entry.weight > limits.partitions or not is_wanted(name, limits.allowed, limits.denied):
            return 0
        self._entries[name] = entry
        self._weight += entry.weight
        gone = 0
        while len(self) > self._limits.tables or self._weight > self._limits.partitions:
            self._take_off(next(iter(self._entries)))
            gone += 1
        return gone

    def change(self, name: TableName, entry: Entry | None) -> None:
        """Apply an event to an entry, also to one that is not here: it has been changed."""
        self._generations[name] += 1
        if len(self._generations) > _MOST_GENERATIONS:
            self._generations.clear()
            self._cleared += 1
        self.settle(name, entry)

    def settle(self, name: TableName, entry: Entry | None) -> None:
        """Apply the end of a write to an entry: its description was not changed."""
        if entry is None:
            self._take_off(name)
        elif name in self._entries:
            self.put(name, entry)

    def clear(self) -> None:
        """Give everything up; whoever reads now must not put it here."""
        self._entries.clear()
        self._generations.clear()
        self._weight = 0
        self._cleared += 1

    def generation(self, name: TableName) -> tuple[int, int]:
        """Differs from an earlier one when the entry was changed, or could have been."""
        return self._cleared, self._generations[name]

    def _take_off(self, name: TableName) -> None:
        entry = self._entries.pop(name, None)
        if entry is not None:
            self._weight -= entry.weight
