"""What this process knows of tables' directories, so that who reads next lists what is new.

The names right below a table or partition are listed each time; what is in a directory that no
writer adds to any more (``is_complete``) is listed once. What a snapshot chose there is remembered
too: the next one that sees the same writes of the same directories chooses the same.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hivesql_planner.acid.complete_directories import is_complete
from hivesql_planner.acid.later_choice import Extent, with_later
from hivesql_planner.acid.layout import is_side_file, parse_directory

if TYPE_CHECKING:
    from hivesql_executor.files.api import Files
    from hivesql_executor.files.top import Top
    from hivesql_planner.acid.files_to_read import FilesToRead
    from hivesql_planner.acid.snapshot import FileStatus
    from hivesql_planner.acid.write_ids import ValidTxnList, ValidWriteIdList
    from hivesql_planner.model.table import Table

_Statuses = tuple["FileStatus", ...]


@dataclass(frozen=True, slots=True)
class _Choice:
    """The files that were chosen, and all that they depend on but the complete directories."""

    insert_only: bool
    visible: ValidWriteIdList
    compactions: tuple[tuple[bool, bool], ...]
    fresh: _Statuses
    chosen: FilesToRead
    extent: Extent | None
    """What of it is the same for who sees later writes too."""


@dataclass(frozen=True, slots=True)
class _Known:
    """One directory of a table, as it was when it was last looked at."""

    top: Top
    compacting: tuple[int, ...]
    """The transactions that compacted what is there."""
    contents: Mapping[str, _Statuses]
    choice: _Choice | None = None

    @property
    def weight(self) -> int:
        """Say how much memory it takes, as a number of files."""
        return len(self.top.directories) + sum(map(len, self.contents.values()))


_Key = tuple[object, str, int, int]
_known: OrderedDict[_Key, tuple[_Known, int]] = OrderedDict()
_guard = threading.Lock()
_weight = [0]


def forget_listings() -> None:
    """List everything anew: something was not as it should be, and may have been mended by hand."""
    with _guard:
        _known.clear()
        _weight[0] = 0


class Listed:
    """What is below a directory of a table: listed where it is not known."""

    def __init__(
        self,
        files: Files,
        table: Table,
        location: str,
        most: int,
        listing: Sequence[FileStatus] | None = None,
    ) -> None:
        """Look at what is there; ``most`` files, of all tables, are remembered.

        ``listing`` is what a file system that lists all at once has told already.
        """
        self._files, self._location, self._most = files, location, most
        self._listing = listing
        # A table that was dropped and made again in the same place is another one.
        self._key: _Key = files, location, table.id, table.created_at
        self._before = _recall(self._key) if most else None
        before = self._before
        self._top = files.top(location, before.top if before else None) if most else None
        self._contents: dict[str, _Statuses] = {}
        self._fresh: _Statuses = ()
        self._has_all = False
        self._compacting: tuple[int, ...] = ()
        self._extended: Extent | None = None
        # Whether all is there that was there before.
        self._has_grown = False
        if self._top is not None:
            there = self._top.directories
            earlier = before.top.directories if before else {}
            self._has_grown = before is not None and earlier.items() <= there.items()
            if before is not None and self._has_grown:
                came = there.keys() - earlier.keys()
                self._compacting = (*before.compacting, *_transactions(came))
            else:
                self._compacting = _transactions(there)

    def recall_choice(
        self, visible: ValidWriteIdList, txns: ValidTxnList, *, insert_only: bool
    ) -> FilesToRead | None:
        """Return what such a snapshot chose of the same files; None where that is not known."""
        before, top = self._before, self._top
        if before is None or top is None or before.choice is None:
            return None
        earlier = before.choice
        if (
            earlier.visible != visible
            or earlier.insert_only != insert_only
            or before.top.directories != top.directories
            or earlier.compactions != self._seen_compactions(txns)
        ):
            return None
        if top.files or len(before.contents) < len(top.directories):
            self.statuses(visible, txns)
        return earlier.chosen if earlier.fresh == self._fresh else None

    def extend_choice(
        self,
        visible: ValidWriteIdList,
        txns: ValidTxnList,
        choose: Callable[[_Statuses], FilesToRead],
        *,
        insert_only: bool,
    ) -> FilesToRead | None:
        """Add to an earlier snapshot's choice what came since; None where that is not all.

        ``choose`` takes files as if there were no others.
        """
        before, top = self._before, self._top
        if before is None or top is None or before.choice is None or top.files:
            return None
        earlier, extent, there = before.choice, before.choice.extent, top.directories
        if (
            extent is None
            or earlier.insert_only != insert_only
            or before.compacting != self._compacting
            or earlier.compactions != self._seen_compactions(txns)
            or not extent.holds_for(visible)
            or not (self._has_grown or _are_same(extent.directories, before.top.directories, there))
        ):
            return None
        added = there.keys() - extent.directories
        if not extent.precedes(added, visible):
            return None
        self.statuses(visible, txns)
        contents = (self._contents.get(name, ()) for name in added)
        later = choose((*(status for statuses in contents for status in statuses), *self._fresh))
        chosen = with_later(earlier.chosen, later, extent)
        if chosen is not None:
            self._extended = extent
        return chosen

    def statuses(self, visible: ValidWriteIdList, txns: ValidTxnList) -> _Statuses:
        """Return every file below the directory; the snapshot was taken before this looked."""
        top = self._top
        if top is None:
            listing = self._listing
            return self._files.list(self._location) if listing is None else tuple(listing)
        if not self._has_all:
            self._find(top, visible, txns)
            self._has_all = True
        return (
            *(status for statuses in self._contents.values() for status in statuses),
            *self._fresh,
        )

    def _find(self, top: Top, visible: ValidWriteIdList, txns: ValidTxnList) -> None:
        before = self._before
        known = before.contents if before else {}
        earlier = before.top.directories if before else {}
        missing: list[str] = []
        if self._has_grown:
            self._contents = dict(known)
            missing += sorted(top.directories.keys() - known.keys())
        else:
            for name, identity in top.directories.items():
                content = known.get(name)
                if content is not None and identity and earlier[name] == identity:
                    self._contents[name] = content
                else:
                    missing.append(name)
        if not missing:
            self._fresh = top.files
            return
        listed: dict[str, list[FileStatus]] = {name: [] for name in missing}
        for status in self._files.list(self._location, missing):
            listed[status.path.partition("/")[0]].append(status)
        fresh = [*top.files]
        for name, statuses in listed.items():
            directory = parse_directory(name)
            if top.directories[name] and directory and is_complete(directory, visible, txns):
                self._contents[name] = tuple(statuses)
            else:
                fresh += statuses
        self._fresh = tuple(fresh)

    def remember_choice(
        self,
        chosen: FilesToRead,
        visible: ValidWriteIdList,
        txns: ValidTxnList,
        *,
        insert_only: bool,
        has_base: bool,
    ) -> None:
        """Keep what was listed, and which of the files such a snapshot takes.

        Whether it ``has_base`` is known of what was chosen among all files.
        """
        if self._top is None:
            return
        known = _Known(self._top, self._compacting, self._contents)
        # How much of a growing file counts is read from the file beside it.
        if not any(is_side_file(status.path) for status in self._fresh):
            compactions = self._seen_compactions(txns)
            extent = None
            if not self._top.files:
                before = self._extended or Extent(visible, has_base=has_base)
                others = self._top.directories.keys() - self._contents.keys()
                complete = self._contents.keys() - before.directories
                extent = before.grown_by(complete, others, visible)
            choice = _Choice(insert_only, visible, compactions, self._fresh, chosen, extent)
            known = replace(known, choice=choice)
        _remember(self._key, known, self._most)

    def _seen_compactions(self, txns: ValidTxnList) -> tuple[tuple[bool, bool], ...]:
        return tuple((txns.sees(txn), txns.is_aborted(txn)) for txn in self._compacting)


def _are_same(
    names: Iterable[str], earlier: Mapping[str, object], there: Mapping[str, object]
) -> bool:
    return all(earlier[name] == there.get(name) for name in names)


def _transactions(names: Iterable[str]) -> tuple[int, ...]:
    parsed = filter(None, map(parse_directory, names))
    return tuple(directory.visibility_txn for directory in parsed if directory.visibility_txn)


def _recall(key: _Key) -> _Known | None:
    with _guard:
        entry = _known.get(key)
        if entry is None:
            return None
        _known.move_to_end(key)
        return entry[0]


def _remember(key: _Key, known: _Known, most: int) -> None:
    weight = known.weight
    with _guard:
        _weight[0] += weight - _known.pop(key, (None, 0))[1]
        _known[key] = known, weight
        while _weight[0] > most:
            _, (_, gone) = _known.popitem(last=False)
            _weight[0] -= gone
