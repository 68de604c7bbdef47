"""The rows of a small snapshot, file by file, or nothing where only Spark reads them rightly."""

from __future__ import annotations

import functools
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import orc

from hivesql_executor.local.events import has_early_fractions
from hivesql_executor.local.times import has_plain_times
from hivesql_executor.local.types import arrow_type
from hivesql_executor.partition_files import PartitionFiles
from hivesql_executor.spark.footers import (
    check_deletes,
    check_inserts,
    check_orphans,
    holds_changes,
    read_footers,
)
from hivesql_executor.storage.event_ids import seen_by
from hivesql_executor.storage.files import Files, RangeFile
from hivesql_executor.storage.orc import OrcTail
from hivesql_planner.acid.layout import ACID_FIELDS
from hivesql_planner.acid.reading import DataFile, DeleteFile
from hivesql_planner.acid.write_ids import ValidWriteIdList
from hivesql_planner.small.decide import is_small
from hivesql_planner.small.nodes import SmallChange
from hivesql_planner.small.values import base_type
from hivesql_planner.table import Column, Partition, Table

_CODEC_V1 = 1
_REMEMBERED = 128 * 1024
"""Files of at most so many bytes are kept in memory."""


class OnlySpark(Exception):
    """These files hold something that is read rightly by Spark alone."""


@dataclass(frozen=True, slots=True)
class SmallFile:
    """One data file's visible events: the id columns and the data columns, by name."""

    partition: Partition | None
    ids: dict[str, pa.Array]
    columns: dict[str, pa.Array]

    def take(self, chosen: pa.Array) -> SmallFile:
        """Some of the rows."""
        return SmallFile(
            self.partition,
            {name: one.take(chosen) for name, one in self.ids.items()},
            {name: one.take(chosen) for name, one in self.columns.items()},
        )


@dataclass(frozen=True, slots=True)
class SmallSnapshot:
    """The files of a snapshot that is small enough to be read here."""

    table: Table
    files: Files
    visible: ValidWriteIdList
    parts: tuple[PartitionFiles, ...]
    tails: dict[str, OrcTail]


def small_snapshot(
    small: SmallChange,
    table: Table,
    parts: Sequence[PartitionFiles],
    visible: ValidWriteIdList,
    files: Files,
) -> SmallSnapshot:
    """Look at every file's length and footer; OnlySpark when there is too much or too odd a thing.

    DataError, as in any reading, for a file that is not what its name says.
    """
    found = [one for part in parts for one in _all_files(part)]
    if not is_small((file.length for _, file in found), (), small):
        raise OnlySpark
    if any(isinstance(file, DataFile) and file.raw for _, file in found):
        raise OnlySpark
    tails = dict(read_footers(files, [(path, file.length) for path, file in found]))
    for part in parts:
        check_orphans([f"{part.location}/{file.path}" for file in part.files.orphans], tails)
    for path, file in found:
        (check_deletes if isinstance(file, DeleteFile) else check_inserts)(path, tails[path])
        if isinstance(file, DataFile) and holds_changes(tails[path]):
            raise OnlySpark
    if not is_small((), (tail.rows for tail in tails.values()), small):
        raise OnlySpark
    return SmallSnapshot(table, files, visible, tuple(parts), tails)


def _all_files(part: PartitionFiles) -> Iterator[tuple[str, DataFile | DeleteFile]]:
    for data in part.files.data:
        yield f"{part.location}/{data.path}", data
    for deletes in (*part.files.deletes, *part.files.orphans):
        yield f"{part.location}/{deletes.path}", deletes


def data_of(snapshot: SmallSnapshot, part: PartitionFiles) -> Iterator[SmallFile]:
    """The events of every data file of a partition that the snapshot sees, deleted or not."""
    for file in part.files.data:
        path = f"{part.location}/{file.path}"
        if not snapshot.tails[path].rows:
            continue
        found = _stored(snapshot, path, file, snapshot.table.columns)
        whole = SmallFile(part.partition, found.ids, found.columns)
        seen = _seen(snapshot, file, found.writers)
        yield whole if seen is None else whole.take(pc.indices_nonzero(seen))


def deletes_of(snapshot: SmallSnapshot, part: PartitionFiles) -> Iterator[dict[str, pa.Array]]:
    """The ids of the rows that each delete file of a partition deletes."""
    for file in part.files.deletes:
        path = f"{part.location}/{file.path}"
        if snapshot.tails[path].rows:
            found = _stored(snapshot, path, file, None)
            seen = _seen(snapshot, file, found.writers)
            yield (
                found.ids
                if seen is None
                else {name: one.filter(seen) for name, one in found.ids.items()}
            )


def _seen(
    snapshot: SmallSnapshot, file: DataFile | DeleteFile, writers: pa.Array
) -> pa.Array | None:
    """Which events the snapshot sees; None for all."""
    return seen_by(snapshot.visible, writers) if file.write_id_filter else None


@dataclass(frozen=True, slots=True)
class _Stored:
    """All events of a file: ids, who wrote each, and the data columns by name."""

    ids: dict[str, pa.Array]
    writers: pa.Array
    columns: dict[str, pa.Array]


def _stored(
    snapshot: SmallSnapshot,
    path: str,
    file: DataFile | DeleteFile,
    columns: tuple[Column, ...] | None,
) -> _Stored:
    files, length = snapshot.files, file.length
    read = _remembered if length <= _REMEMBERED else _read
    return read(files, path, length, files.modified(path), columns)


def _read(
    files: Files, path: str, length: int, modified: int, columns: tuple[Column, ...] | None
) -> _Stored:
    """A file as it is stored; without ``columns``, the ids of a delete file."""
    timed = any(_is_timed(column) for column in columns or ())
    if timed and not has_plain_times(files, path, length, modified):
        raise OnlySpark
    source = io.BufferedReader(RangeFile(files, path, length), 1 << 20)
    names = ACID_FIELDS[:-1] if columns is None else ACID_FIELDS
    events = orc.ORCFile(source).read(columns=None if columns is not None else list(names))
    if tuple(events.column_names) != names:
        raise OnlySpark
    versions = pc.shift_right(events.column("bucket"), pa.scalar(29, pa.int32()))
    if not pc.all(pc.equal(versions, _CODEC_V1), min_count=0).as_py():
        raise OnlySpark
    row = None if columns is None else events.column("row").combine_chunks()
    return _Stored(
        ids={name: events.column(name).combine_chunks() for name in ACID_FIELDS[1:4]},
        writers=events.column("currentTransaction").combine_chunks(),
        columns={one.name: _column(row, i, one) for i, one in enumerate(columns or ())},
    )


_remembered = functools.lru_cache(maxsize=256)(_read)
"""Files never change, and a session that changes rows one by one reads the same ones again."""


def _column(row: pa.StructArray, position: int, column: Column) -> pa.Array:
    """A column by its position in the file; NULL when the file is older than the column."""
    wanted = arrow_type(column.type)
    if position >= row.type.num_fields:
        return pa.nulls(len(row), wanted)
    found = pc.struct_field(row, [position])
    if pa.types.is_timestamp(wanted):
        return _microseconds(found)
    if not _is_same(found.type, wanted):
        raise OnlySpark
    if base_type(column.type)[0] == "char":
        # CHAR compares without its padding.
        return pc.utf8_rtrim(found, " ")
    return found.cast(wanted)


def _is_same(found: pa.DataType, wanted: pa.DataType) -> bool:
    """Equal but for names inside lists and maps, which mean nothing."""
    if pa.types.is_nested(wanted):
        inner = [wanted.field(i) for i in range(wanted.num_fields)]
        others = [found.field(i) for i in range(found.num_fields)]
        named = not pa.types.is_struct(wanted) or [a.name for a in inner] == [
            b.name for b in others
        ]
        return (
            found.id == wanted.id
            and len(inner) == len(others)
            and named
            and all(_is_same(b.type, a.type) for a, b in zip(inner, others, strict=True))
        )
    return bool(found == wanted)


def _microseconds(found: pa.Array) -> pa.Array:
    if found.type != pa.timestamp("ns"):
        raise OnlySpark
    try:
        cast = found.cast(pa.timestamp("us"))
    except pa.ArrowInvalid:
        # Spark cuts nanoseconds; what it makes of them stays its own affair.
        raise OnlySpark from None
    if has_early_fractions(cast):
        raise OnlySpark
    return cast


def _is_timed(column: Column) -> bool:
    text = column.type.lower()
    return "date" in text or "timestamp" in text


def deleted_among(ids: dict[str, pa.Array], deletes: Sequence[dict[str, pa.Array]]) -> pa.Array:
    """Which of the rows with these ids are deleted."""
    gone: set[tuple[int, ...]] = set()
    if deletes:
        near = np.isin(
            np.concatenate([one["rowId"].to_numpy() for one in deletes]), ids["rowId"].to_numpy()
        )
        keys = (pa.chunked_array([one[name] for one in deletes]) for name in ids)
        gone.update(zip(*(key.filter(pa.array(near)).to_pylist() for key in keys), strict=True))
    rows = zip(*(one.to_pylist() for one in ids.values()), strict=True)
    return pa.array([key in gone for key in rows], pa.bool_())
