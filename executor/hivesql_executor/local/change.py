"""UPDATE and DELETE of few rows among few."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from hivesql_executor.event_file import EventFile
from hivesql_executor.local.evaluate import evaluate, hold
from hivesql_executor.local.events import delete_events, insert_events, stage
from hivesql_executor.local.read import (
    OnlySpark,
    SmallFile,
    SmallSnapshot,
    data_of,
    deleted_among,
    deletes_of,
)
from hivesql_executor.local.types import arrow_type, row_type
from hivesql_executor.partition_files import PartitionFiles
from hivesql_executor.spark.publish import Publication, WrittenFile, publish_events
from hivesql_planner.acid.row_id import BUCKET_MASK
from hivesql_planner.plan import Write, WriteKind
from hivesql_planner.small.nodes import Given, SmallChange
from hivesql_planner.small.values import base_type
from hivesql_planner.table import DEFAULT_PARTITION, Partition, Table

_KEYS = ("originalTransaction", "bucket", "rowId")


@dataclass(frozen=True, slots=True)
class Hit:
    """The rows of one bucket of one partition that the statement changes, in order of their ids."""

    writer: int
    partition: tuple[str, ...]
    ids: dict[str, pa.Array]
    row: pa.StructArray


def hits(small: SmallChange, snapshot: SmallSnapshot) -> list[Hit]:
    """Find the rows; OnlySpark when a file holds what cannot be read here."""
    found = [hit for part in snapshot.parts for hit in _hits(small, snapshot, part)]
    if small.values is not None:
        for hit in found:
            hold(small.check, hit.row, snapshot.table)
    return found


def _hits(small: SmallChange, snapshot: SmallSnapshot, part: PartitionFiles) -> list[Hit]:
    fitting = []
    for file in data_of(snapshot, part):
        if small.where is not None:
            known = file.columns | _partition_columns(part.partition, snapshot.table, file)
            chosen = pc.indices_nonzero(pc.fill_null(evaluate(small.where, known), False))
            if not len(chosen):
                continue
            file = file.take(chosen)
        if len(file.ids["rowId"]):
            fitting.append(file)
    values = part.partition.values if part.partition else ()
    partition = tuple(value or DEFAULT_PARTITION for value in values)
    by_writer: dict[int, list[pa.Table]] = defaultdict(list)
    for file in _alive(fitting, snapshot, part):
        row = _new_row(small, snapshot.table, file)
        events = pa.table({**file.ids, "row": row})
        writers = pc.bit_wise_and(
            pc.shift_right(events.column("bucket"), pa.scalar(16, pa.int32())),
            pa.scalar(BUCKET_MASK, pa.int32()),
        )
        for writer in pc.unique(writers).to_pylist():
            by_writer[writer].append(events.filter(pc.equal(writers, writer)))
    return [_hit(writer, partition, tables) for writer, tables in sorted(by_writer.items())]


def _alive(
    fitting: Sequence[SmallFile], snapshot: SmallSnapshot, part: PartitionFiles
) -> Iterator[SmallFile]:
    """The rows of the files that nothing has deleted; files without one are left out."""
    if not fitting:
        # Without a row that fits, nobody needs to know what is deleted.
        return
    ids = {name: pa.concat_arrays([file.ids[name] for file in fitting]) for name in fitting[0].ids}
    gone, start = deleted_among(ids, list(deletes_of(snapshot, part))), 0
    for file in fitting:
        count = len(file.ids["rowId"])
        kept = pc.indices_nonzero(pc.invert(gone.slice(start, count)))
        start += count
        if len(kept) == count:
            yield file
        elif len(kept):
            yield file.take(kept)


def _hit(writer: int, partition: tuple[str, ...], tables: Sequence[pa.Table]) -> Hit:
    events = pa.concat_tables(tables)
    order = pc.sort_indices(events.select(_KEYS), [(key, "ascending") for key in _KEYS])
    events = events.take(order).combine_chunks()
    columns = {name: events.column(name).combine_chunks() for name in (*_KEYS, "row")}
    row = columns.pop("row")
    return Hit(writer, partition, columns, row)


def _partition_columns(
    partition: Partition | None, table: Table, file: SmallFile
) -> dict[str, pa.Array]:
    """The partition's values as columns; those of types that nobody asks for are left out."""
    count = len(file.ids["rowId"])
    values = partition.values if partition else ()
    found = {}
    for column, text in zip(table.partition_columns, values, strict=True):
        kind = arrow_type(column.type)
        if text is None:
            found[column.name] = pa.nulls(count, kind)
        elif base_type(column.type)[0] == "string":
            found[column.name] = pa.repeat(pa.scalar(text), count)
        elif pa.types.is_integer(kind) or pa.types.is_date(kind):
            found[column.name] = pa.repeat(_typed(text, kind), count)
    return found


def _typed(text: str, kind: pa.DataType) -> pa.Scalar:
    try:
        return pa.scalar(text).cast(kind)
    except pa.ArrowInvalid:
        # Spark has rules of its own for texts that are not quite of the type.
        raise OnlySpark from None


def _new_row(small: SmallChange, table: Table, file: SmallFile) -> pa.StructArray:
    count = len(file.ids["rowId"])
    if small.values is None:
        return pa.nulls(count, row_type(table))
    arrays = [
        pa.repeat(pa.scalar(value.value, arrow_type(column.type)), count)
        if isinstance(value, Given)
        else file.columns[value.column]
        for value, column in zip(small.values, table.columns, strict=True)
    ]
    return pa.StructArray.from_arrays(arrays, list(table.column_names))


def write_hits(
    found: Sequence[Hit],
    writes: tuple[Write, ...],
    snapshot: SmallSnapshot,
    *,
    write_id: int,
    staging: str,
    locations: Mapping[str, str],
) -> tuple[WrittenFile, ...]:
    """Write delete and insert events as Spark would: the same files, row ids and footers."""
    publication = Publication(
        writes=writes,
        write_id=write_id,
        staging=staging,
        static_partition={},
        dynamic_partition=snapshot.table.partition_names,
        locations=locations,
    )

    def stage_hits() -> list[EventFile]:
        return [
            _stage(hit, branch, write, snapshot, write_id=write_id, staging=staging)
            for branch, write in enumerate(writes)
            for hit in found
            if len(hit.row)
        ]

    return publish_events(publication, snapshot.files, stage_hits)


def _stage(
    hit: Hit, branch: int, write: Write, snapshot: SmallSnapshot, *, write_id: int, staging: str
) -> EventFile:
    return stage(
        _events(hit, write, snapshot.table, write_id),
        write,
        snapshot.files,
        staging,
        branch=branch,
        writer=hit.writer,
        keys=hit.partition,
    )


def _events(hit: Hit, write: Write, table: Table, write_id: int) -> pa.Table:
    if write.kind is WriteKind.DELETE_DELTA:
        return delete_events(hit.ids, table, write_id=write_id)
    return insert_events(
        _padded(hit.row, table),
        write_id=write_id,
        writer=hit.writer,
        statement_id=write.statement_id,
    )


def _padded(row: pa.StructArray, table: Table) -> pa.StructArray:
    """CHAR as files hold it."""
    arrays = [
        pc.utf8_rpad(row.field(i), base_type(column.type)[1][0], " ")
        if base_type(column.type)[0] == "char"
        else row.field(i)
        for i, column in enumerate(table.columns)
    ]
    return pa.StructArray.from_arrays(arrays, list(table.column_names))
