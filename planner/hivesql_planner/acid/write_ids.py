"""What a snapshot sees: transactions and, per table, write ids, with Hive's text forms."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from hivesql_planner.errors import DataError

NONE_OPEN = 2**63 - 1
"""Hive writes this number where no id is open."""
CONVERTED_NEXT_WRITE_ID = 10_000_001
"""The first write id of a table that became transactional: originals own those below (Hive's)."""
_NO_TABLE = "null"
_SHORTEST_RUN = 5


class Range(Enum):
    """How much of a range of write ids has a property."""

    NONE = "none"
    SOME = "some"
    ALL = "all"


class ListMode(Enum):
    """Who asks: readers, the compactor and the cleaner judge ranges differently."""

    READER = "reader"
    COMPACTOR = "compactor"
    CLEANER = "cleaner"


# Python takes twenty times as long for a member of an Enum as for a name of the module.
_NONE, _SOME, _ALL = Range
_READER, _COMPACTOR, _CLEANER = ListMode


@dataclass(frozen=True, slots=True)
class ValidTxnList:
    """Transactions up to ``high_watermark`` except the open and the aborted ones."""

    high_watermark: int
    open: frozenset[int] = frozenset()
    aborted: frozenset[int] = frozenset()

    @property
    def min_open(self) -> int | None:
        """The lowest open transaction."""
        return min(self.open, default=None)

    def sees(self, txn_id: int) -> bool:
        """Tell whether the transaction is committed as far as this list knows."""
        return (
            txn_id <= self.high_watermark and txn_id not in self.open and txn_id not in self.aborted
        )

    def is_aborted(self, txn_id: int) -> bool:
        """Tell whether the transaction is listed as aborted."""
        return txn_id in self.aborted

    def format(self, *, runs: bool = True) -> str:
        """``hwm:minOpen:open:aborted``; runs of five and more ids as ``a-b``.

        Hive 3 knows no ``runs``.
        """
        low = self.min_open
        parts = (self.high_watermark, NONE_OPEN if low is None else low)
        shortest = _SHORTEST_RUN if runs else sys.maxsize
        ids = (_runs(write_ids, shortest) for write_ids in (self.open, self.aborted))
        return f"{parts[0]}:{parts[1]}:{':'.join(ids)}"

    @classmethod
    def parse(cls, text: str) -> ValidTxnList:
        """Read Hive's text; the empty text sees everything. Other text raises DataError."""
        if not text:
            return ALL_TXNS
        fields = [*text.split(":"), "", "", ""]
        try:
            return cls(int(fields[0]), _ids(fields[2]), _ids(fields[3]))
        except ValueError:
            raise DataError(f"{text!r} is not a list of transactions") from None


ALL_TXNS = ValidTxnList(NONE_OPEN)


@dataclass(frozen=True, slots=True)
class ValidWriteIdList:
    """Write ids of one table up to ``high_watermark`` except the open and aborted ones."""

    high_watermark: int
    open: frozenset[int] = frozenset()
    aborted: frozenset[int] = frozenset()
    table: str = ""
    mode: ListMode = _READER

    @property
    def min_open(self) -> int | None:
        """The lowest open write id."""
        return min(self.open, default=None)

    @property
    def decided(self) -> int:
        """The last write up to which each has been committed or aborted; 0 for none."""
        low = self.min_open
        return self.high_watermark if low is None else min(self.high_watermark, low - 1)

    @property
    def exceptions(self) -> frozenset[int]:
        """Open and aborted ids."""
        return self.open | self.aborted

    def sees(self, write_id: int) -> bool:
        """Tell whether the write is committed as far as this list knows."""
        return (
            write_id <= self.high_watermark
            and write_id not in self.open
            and write_id not in self.aborted
        )

    def is_aborted(self, write_id: int) -> bool:
        """Tell whether the write is listed as aborted."""
        return write_id in self.aborted

    def is_valid_base(self, write_id: int) -> bool:
        """Tell whether a compacted base of that id holds nothing that was open (Hive's rule)."""
        low = self.min_open
        return write_id <= self.high_watermark and (low is None or write_id < low)

    def range_valid(self, low: int, high: int) -> Range:
        """Tell how many of the ids ``low..high`` are visible."""
        if self.mode is _COMPACTOR:
            return _ALL if high <= self.high_watermark else _NONE
        if low == high:
            # Nearly every directory holds one write, and a listing can have ten thousand.
            return _ALL if self.sees(low) else _NONE
        if low > self.high_watermark:
            return _NONE
        if self.mode is _CLEANER and high > self.high_watermark:
            return _NONE
        highest = min(high, self.high_watermark)
        hidden = high - highest
        hidden += _count_between(self.open, low, highest) + _count_between(
            self.aborted, low, highest
        )
        if hidden == 0:
            return _ALL
        return _NONE if hidden == high - low + 1 else _SOME

    def range_aborted(self, low: int, high: int) -> Range:
        """Tell how many of the ids ``low..high`` are aborted."""
        if self.high_watermark < low or not self.aborted:
            return _NONE
        if low == high:
            return _ALL if low in self.aborted else _NONE
        count = _count_between(self.aborted, low, high)
        if count == 0:
            return _NONE
        return _ALL if count == high - low + 1 else _SOME

    def format(self) -> str:
        """``table:hwm:minOpen:open,…:aborted,…``: never ranges."""
        low = self.min_open
        open_ids = ",".join(map(str, sorted(self.open)))
        aborted = ",".join(map(str, sorted(self.aborted)))
        least = NONE_OPEN if low is None else low
        return f"{self.table or _NO_TABLE}:{self.high_watermark}:{least}:{open_ids}:{aborted}"

    @classmethod
    def parse(cls, text: str) -> ValidWriteIdList:
        """Read Hive's text; missing trailing fields mean none. Other text raises DataError."""
        if not text:
            return cls(NONE_OPEN)
        fields = [*text.split(":"), "", "", "", ""]
        table = "" if fields[0] == _NO_TABLE else fields[0]
        try:
            return cls(int(fields[1]), _ids(fields[3]), _ids(fields[4]), table)
        except ValueError:
            raise DataError(f"{text!r} is not a list of write ids") from None


def format_txn_write_ids(txn_id: int, lists: Sequence[ValidWriteIdList]) -> str:
    """``txn$list$list…``, the value of hive.txn.tables.valid.writeids."""
    return "$".join([str(txn_id), *(write_ids.format() for write_ids in lists)])


def _count_between(ids: frozenset[int], low: int, high: int) -> int:
    if not ids:
        return 0
    if high - low + 1 < len(ids):
        return sum(1 for write_id in range(low, high + 1) if write_id in ids)
    return sum(1 for write_id in ids if low <= write_id <= high)


def _runs(ids: Iterable[int], shortest: int) -> str:
    texts: list[str] = []
    run: list[int] = []
    for id_ in [*sorted(ids), None]:
        if run and id_ != run[-1] + 1:
            long = len(run) >= shortest
            texts += [f"{run[0]}-{run[-1]}"] if long else [str(each) for each in run]
            run = []
        if id_ is not None:
            run.append(id_)
    return ",".join(texts)


def _ids(text: str) -> frozenset[int]:
    ids: set[int] = set()
    for part in filter(None, text.split(",")):
        low, dash, high = part.partition("-")
        ids.update(range(int(low), int(high) + 1) if dash else [int(low)])
    return frozenset(ids)
