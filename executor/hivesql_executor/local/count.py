"""How many rows of a snapshot live, told by footers and delete events: no row is read."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping

import pyarrow.compute as pc

from hivesql_executor.local.fitting import KEYS, check_small
from hivesql_executor.local.pieces import Piece
from hivesql_executor.local.read import SmallSnapshot, read_piece
from hivesql_executor.orc.event_ids import seen_by
from hivesql_executor.orc.tail import OrcTail
from hivesql_executor.snapshot.partition_files import PartitionFiles
from hivesql_planner.acid.files_to_read import DeleteFile

_Key = tuple[int, ...]


def living_rows(snapshot: SmallSnapshot, most_bytes: int) -> int | None:
    """Return the number of living rows; None where footers do not tell which rows there are.

    They do where a file holds all rows from its first to its last of one write and one bucket: then
    a delete event is of one of them or it is not. OnlySpark when too many delete events would have
    to be read.
    """
    for part in snapshot.parts:
        for file in part.files.data:
            tail = snapshot.tails[f"{part.location}/{file.path}"]
            if file.write_id_filter or not (tail.rows == 0 or _is_whole(tail)):
                return None
    return sum(_living(snapshot, part, most_bytes) for part in snapshot.parts)


def _is_whole(tail: OrcTail) -> bool:
    if tail.unit is None:
        return False
    first, last = tail.key_range["rowId"]
    return last - first + 1 == tail.rows


def _living(snapshot: SmallSnapshot, part: PartitionFiles, most_bytes: int) -> int:
    tails = [snapshot.tails[f"{part.location}/{file.path}"] for file in part.files.data]
    rows = sum(tail.rows for tail in tails)
    if not rows:
        return 0
    deleted = _numbers(_deleted(snapshot, part, most_bytes))
    return rows - sum(_deleted_of(tail, deleted) for tail in tails if tail.rows)


def _deleted_of(tail: OrcTail, deleted: Mapping[_Key, list[int]]) -> int:
    """Tell how many of a file's rows are deleted."""
    numbers = deleted.get(tail.unit or (), [])
    first, last = tail.key_range["rowId"]
    return bisect_left(numbers, last + 1) - bisect_left(numbers, first)


def _numbers(keys: set[_Key]) -> dict[_Key, list[int]]:
    """Row numbers in their order, by write and bucket."""
    numbers: dict[_Key, list[int]] = defaultdict(list)
    for *unit, number in sorted(keys):
        numbers[tuple(unit)].append(number)
    return numbers


def _deleted(snapshot: SmallSnapshot, part: PartitionFiles, most_bytes: int) -> set[_Key]:
    """Ids of all visible delete events: of a file with a single one, its footer tells the id."""
    keys: set[_Key] = set()
    others: list[tuple[DeleteFile, Piece]] = []
    for file in part.files.deletes:
        path = f"{part.location}/{file.path}"
        tail = snapshot.tails[path]
        if tail.only is not None and not file.write_id_filter:
            keys.add(tail.only)
        elif tail.rows:
            others.append((file, Piece(path, tail.rows, file.length)))
    check_small([piece for _, piece in others], most_bytes)
    for file, piece in others:
        keys.update(_read(snapshot, file, piece))
    return keys


def _read(snapshot: SmallSnapshot, file: DeleteFile, piece: Piece) -> Iterator[_Key]:
    events = read_piece(snapshot, piece, file.length, ())
    if file.write_id_filter:
        events = events.take(pc.indices_nonzero(seen_by(snapshot.visible, events.writers)))
    return zip(*(events.ids[name].to_pylist() for name in KEYS), strict=True)
