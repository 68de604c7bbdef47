"""What is wrong with the order and the number of events, in words, whoever has counted them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from hivesql_executor.orc.tail import OrcTail

MOST = 20
"""Of each kind of problem so many are told."""
Key = tuple[int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyedFile:
    """A file whose events have ids of their own; ``place`` is the name of its partition."""

    path: str
    length: int
    tail: OrcTail
    place: str
    bucket: int
    deletes: bool
    whole: bool
    """It has every row that its writes numbered: a base lacks those that were deleted."""
    ends: tuple[Key, ...] = ()
    """The last key of each stripe as its footer tells, () where it tells none."""


@dataclass(frozen=True, slots=True)
class Disorder:
    """How many rows of a file are out of order and of other buckets; whether its key index lies."""

    unsorted: int
    foreign: int
    astray: bool

    def problems(self) -> Iterator[str]:
        """Tell it in words; nothing when all is well."""
        if self.unsorted:
            yield f"{self.unsorted} rows are not in the order of their row ids"
        if self.foreign:
            yield f"{self.foreign} rows belong to other buckets than the file"
        if self.astray and not self.unsorted:
            yield "hive.acid.key.index does not say where its stripes end: Hive may leave out rows"


def gap_problem(write_id: int, bucket: int, rows: int, numbered: int) -> str:
    """Tell of a write whose rows are not all there."""
    gone = numbered - rows
    return (
        f"{gone} of the {numbered} rows are missing that write {write_id} numbered under {bucket}"
    )


def id_text(texts: Iterable[object], key: Iterable[int]) -> str:
    """Write a row's id, with the texts of its partition before it."""
    parts, text = "/".join(map(str, texts)), ",".join(map(str, key))
    return f"{parts}: {text}" if parts else text


def at_most(problems: Iterable[str], more: str) -> Iterator[str]:
    """Yield the first problems, and that there are more where that is so."""
    for number, problem in enumerate(problems):
        if number == MOST:
            yield more
            return
        yield problem


MORE_FILES = f"more files than these {MOST} have rows that do not fit"
MORE_GAPS = "more rows of deltas are missing"
MORE_IDS = "more row ids that several rows have"
MORE_DELETES = "more delete events of rows that are not there"


def repeated_problem(row_id: str, count: int) -> str:
    """Tell of an id that several rows have."""
    return f"{row_id}: {count} rows have this row id"


def unmatched_problem(row_id: str) -> str:
    """Tell of a delete event whose row is not there."""
    return f"{row_id}: a delete event of a row that is not there"
