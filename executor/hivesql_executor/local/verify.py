"""What the rows of a few small event files tell of their files: order, buckets, ids, deletes."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import pyarrow as pa

from hivesql_executor.local.fitting import KEYS, check_small
from hivesql_executor.local.pieces import Piece
from hivesql_executor.local.read import SmallSnapshot, Stored, read_piece
from hivesql_executor.orc.event_ids import seen_by
from hivesql_executor.orc.event_order import (
    MORE_DELETES,
    MORE_FILES,
    MORE_GAPS,
    MORE_IDS,
    MOST,
    Disorder,
    Key,
    KeyedFile,
    at_most,
    gap_problem,
    id_text,
    repeated_problem,
    unmatched_problem,
)
from hivesql_executor.snapshot.partition_files import PartitionFiles
from hivesql_planner.acid.files_to_read import DataFile, DeleteFile
from hivesql_planner.acid.row_id import decode_bucket

Problem = tuple[str, str]
"""A place and what is wrong there."""


@dataclass(frozen=True, slots=True)
class CheckedRows:
    """Ids of the visible rows and delete events of each whole partition, in order of its files."""

    snapshot: SmallSnapshot
    keys: Mapping[str, Sequence[Key]]
    """Of each file, by path, all events."""
    visible: Mapping[str, Sequence[Key]]
    """Of each file those that the snapshot sees."""

    def rows(self, part: PartitionFiles) -> Iterator[Key]:
        """Yield the rows of a partition, deleted or not."""
        return self._events(part, part.files.data)

    def deletes(self, part: PartitionFiles) -> Iterator[Key]:
        """Yield its delete events."""
        return self._events(part, part.files.deletes)

    def _events(
        self, part: PartitionFiles, files: Sequence[DataFile] | Sequence[DeleteFile]
    ) -> Iterator[Key]:
        for file in files:
            yield from self.visible[f"{part.location}/{file.path}"]


def read_rows(snapshot: SmallSnapshot, most_bytes: int) -> CheckedRows:
    """Read the ids of all events; OnlySpark when that is worth a job, or a file cannot be read."""
    every: dict[str, DataFile | DeleteFile] = {
        f"{part.location}/{file.path}": file for part in snapshot.parts for file in part.every_file
    }
    pieces = {
        path: Piece(path, snapshot.tails[path].rows, file.length) for path, file in every.items()
    }
    check_small(list(pieces.values()), most_bytes)
    keys: dict[str, Sequence[Key]] = {}
    visible: dict[str, Sequence[Key]] = {}
    for path, file in every.items():
        keys[path] = visible[path] = ()
        if not pieces[path].rows:
            continue
        events = read_piece(snapshot, pieces[path], file.length, (), remember=False)
        keys[path] = visible[path] = _keys_of(events)
        # A job reads delete events so as well.
        if isinstance(file, DeleteFile) or file.write_id_filter:
            seen = seen_by(snapshot.visible, events.writers)
            visible[path] = _keys_of(events, seen)
    return CheckedRows(snapshot, keys, visible)


def _keys_of(events: Stored, seen: pa.Array | None = None) -> list[Key]:
    columns = (
        (events.ids[name] if seen is None else events.ids[name].filter(seen)) for name in KEYS
    )
    return list(zip(*(column.to_pylist() for column in columns), strict=True))


def order_problems(
    rows: CheckedRows, files: Mapping[str, KeyedFile], home: str
) -> Iterator[Problem]:
    """Yield what is wrong inside of files; ``files`` are by path, ``home`` is the table's place."""
    bad = 0
    for path, file in files.items():
        problems = tuple(_disorder(file, rows.keys[path]).problems())
        if problems and bad == MOST:
            yield home, MORE_FILES
            return
        bad += bool(problems)
        yield from ((file.path, problem) for problem in problems)


def _disorder(file: KeyedFile, keys: Sequence[Key]) -> Disorder:
    # A row may be deleted twice, but it exists once.
    unsorted = sum(
        before > key or (before == key and not file.deletes) for before, key in pairwise(keys)
    )
    foreign = sum(decode_bucket(bucket).bucket != file.bucket for _, bucket, _ in keys)
    return Disorder(unsorted, foreign, bool(file.ends) and _is_astray(file, keys))


def _is_astray(file: KeyedFile, keys: Sequence[Key]) -> bool:
    """Tell whether a stripe has other rows than the file's key index says."""
    ends = sorted(file.ends)
    stripes: dict[int, list[Key]] = {}
    for key in keys:
        stripes.setdefault(bisect_left(ends, key), []).append(key)
    sizes = file.tail.stripe_rows
    return not all(
        number < len(ends) and sizes[number] == len(stripe) and file.ends[number] == max(stripe)
        for number, stripe in stripes.items()
    )


def gap_problems(rows: CheckedRows, files: Mapping[str, KeyedFile], home: str) -> Iterator[Problem]:
    """Yield where rows of deltas are gone: each write numbers its rows from 0."""
    counts: Counter[tuple[str, int, int]] = Counter()
    numbered: dict[tuple[str, int, int], int] = {}
    for path, file in files.items():
        for write_id, bucket, number in rows.keys[path] if file.whole else ():
            unit = file.place, write_id, bucket
            counts[unit] += 1
            numbered[unit] = max(numbered.get(unit, 0), number + 1)
    gaps = [unit for unit in sorted(counts) if counts[unit] < numbered[unit]]
    for unit in gaps[:MOST]:
        yield unit[0], gap_problem(unit[1], unit[2], counts[unit], numbered[unit])
    if len(gaps) > MOST:
        yield home, MORE_GAPS


def id_problems(
    rows: CheckedRows, parts: Sequence[PartitionFiles], complete: Sequence[PartitionFiles]
) -> Iterator[str]:
    """Yield ids that several rows have, and delete events of rows that are not there.

    Only in ``complete`` partitions are all rows there that ought to be.
    """
    ids = {part.location: Counter(rows.rows(part)) for part in parts}
    repeated = (
        repeated_problem(id_text(part.texts, key), count)
        for part in parts
        for key, count in ids[part.location].items()
        if count > 1
    )
    yield from at_most(repeated, MORE_IDS)
    unmatched = (
        unmatched_problem(id_text(part.texts, key))
        for part in complete
        for key in rows.deletes(part)
        if key not in ids[part.location]
    )
    yield from at_most(unmatched, MORE_DELETES)


def living_counts(rows: CheckedRows, parts: Sequence[PartitionFiles]) -> dict[str, int]:
    """Count the rows of partitions, by location, that nothing has deleted."""
    counts = {}
    for part in parts:
        deleted = set(rows.deletes(part))
        counts[part.location] = sum(key not in deleted for key in rows.rows(part))
    return counts
