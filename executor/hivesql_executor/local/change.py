"""UPDATE and DELETE of few rows among few."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hivesql_executor.files.at_once import each_at_once
from hivesql_executor.local.evaluate import enforce_check
from hivesql_executor.local.events import (
    delete_events,
    end_staging,
    insert_events,
    stage,
)
from hivesql_executor.local.fitting import KEYS, Fitting, fitting
from hivesql_executor.local.read import OnlySpark, SmallSnapshot
from hivesql_executor.local.types import arrow_type, row_type
from hivesql_executor.orc.publish import Publication, WrittenFile, publish_events
from hivesql_executor.snapshot.partition_files import EventFile
from hivesql_planner.acid.row_id import BUCKET_MASK, BUCKET_SHIFT
from hivesql_planner.model.hive_type import Kind
from hivesql_planner.model.table import Table
from hivesql_planner.plan import Write, WriteKind
from hivesql_planner.predicates.predicate import Computed, Constant, OldValue, SmallChange

if TYPE_CHECKING:
    from hivesql_executor.transactions.file_changes import FileChanges

_COMPUTED = {"+": pc.add_checked, "-": pc.subtract_checked, "*": pc.multiply_checked}


@dataclass(frozen=True, slots=True)
class Hit:
    """The rows of one bucket of one partition that the statement changes, in order of their ids."""

    writer: int
    partition: tuple[str, ...]
    ids: dict[str, pa.Array]
    row: pa.StructArray


def hits(small: SmallChange, snapshot: SmallSnapshot) -> list[Hit]:
    """Find the rows; OnlySpark when a file holds what cannot be read here, or too much."""
    by_part: dict[tuple[str, ...], list[Fitting]] = defaultdict(list)
    columns = () if small.values is None else snapshot.table.columns
    for file in fitting(snapshot, small.where, columns, small.most_bytes):
        by_part[file.part.texts].append(file)
    changed_rows = [
        hit
        for partition, files in by_part.items()
        for hit in _hits(small, snapshot.table, partition, files)
    ]
    if small.values is not None:
        for hit in changed_rows:
            enforce_check(small.check, hit.row, snapshot.table)
    return changed_rows


def _hits(
    small: SmallChange, table: Table, partition: tuple[str, ...], files: Sequence[Fitting]
) -> Iterator[Hit]:
    return hits_of(partition, [(file, _new_row(small, table, file)) for file in files])


def hits_of(
    partition: tuple[str, ...], files: Sequence[tuple[Fitting, pa.StructArray]]
) -> Iterator[Hit]:
    """Yield rows of a partition's files with their new values, by their buckets."""
    by_writer: dict[int, list[pa.Table]] = defaultdict(list)
    for file, row in files:
        events = pa.table({**file.ids, "row": row})
        writers = (file.ids["bucket"].to_numpy() >> BUCKET_SHIFT) & BUCKET_MASK
        # Nearly all files are of a single writer, and each call of Arrow's takes as long as a row.
        if (writers == writers[0]).all():
            by_writer[int(writers[0])].append(events)
            continue
        for writer in np.unique(writers).tolist():
            by_writer[writer].append(events.filter(pa.array(writers == writer)))
    for writer, tables in sorted(by_writer.items()):
        yield _hit(writer, partition, tables)


def _hit(writer: int, partition: tuple[str, ...], tables: Sequence[pa.Table]) -> Hit:
    events = pa.concat_tables(tables)
    if len(events) > 1:
        order = pc.sort_indices(events.select(KEYS), [(key, "ascending") for key in KEYS])
        events = events.take(order).combine_chunks()
    columns = {name: events.column(name).combine_chunks() for name in (*KEYS, "row")}
    row = columns.pop("row")
    return Hit(writer, partition, columns, row)


def _new_row(small: SmallChange, table: Table, file: Fitting) -> pa.StructArray:
    count = len(file.ids["rowId"])
    if small.values is None:
        return pa.nulls(count, row_type(table))
    arrays = [
        new_value(value, arrow_type(column.type), count, file.columns)
        for value, column in zip(small.values, table.columns, strict=True)
    ]
    return pa.StructArray.from_arrays(arrays, list(table.column_names))


def new_value(
    value: OldValue | Constant | Computed,
    kind: pa.DataType,
    count: int,
    columns: Mapping[str, pa.Array],
) -> pa.Array:
    """Return a new value of so many rows with these old columns."""
    match value:
        case Constant(value=constant):
            return pa.repeat(pa.scalar(constant, kind), count)
        case OldValue(column=name):
            return columns[name]
        case Computed(column=name, operator=operator, number=number):
            try:
                return _compute(operator, columns[name], number, kind)
            except pa.ArrowInvalid:
                # What becomes of a number that is too large is Spark's affair.
                raise OnlySpark from None


def _compute(
    operator: str, column: pa.Array, number: int | float | Decimal, kind: pa.DataType
) -> pa.Array:
    if isinstance(number, Decimal):
        exact = _COMPUTED[operator](column, pa.scalar(number))
        return pc.round(exact, kind.scale, "half_towards_infinity").cast(kind)
    return _COMPUTED[operator](column, pa.scalar(number, kind))


def write_events(
    events: Sequence[tuple[Hit, int]],
    writes: tuple[Write, ...],
    snapshot: SmallSnapshot,
    *,
    write_id: int,
    staging: str,
    locations: Mapping[str, str],
    changes: FileChanges,
) -> tuple[WrittenFile, ...]:
    """Write delete and insert events as Spark would: the same files, row ids and footers.

    Each of ``events`` becomes a file: rows, and the number of their write.
    """
    publication = Publication(
        writes=writes,
        write_id=write_id,
        staging=staging,
        static_partition={},
        dynamic_partition=snapshot.table.partition_names,
        locations=locations,
        changes=changes,
        by_spark=False,
    )

    def stage_hits() -> list[EventFile]:
        def write(event: tuple[Hit, int]) -> EventFile:
            hit, number = event
            return _stage(hit, number, writes[number], snapshot, write_id=write_id, staging=staging)

        staged = each_at_once(
            snapshot.files, write, [event for event in events if len(event[0].row)]
        )
        end_staging(staged)
        return staged

    return publish_events(publication, snapshot.files, stage_hits)


def _stage(
    hit: Hit, number: int, write: Write, snapshot: SmallSnapshot, *, write_id: int, staging: str
) -> EventFile:
    return stage(
        _events(hit, write, snapshot.table, write_id),
        write,
        snapshot.files,
        staging,
        number=number,
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
        pc.utf8_rpad(row.field(i), column.type.length, " ")
        if column.type.kind is Kind.CHAR
        else row.field(i)
        for i, column in enumerate(table.columns)
    ]
    return pa.StructArray.from_arrays(arrays, list(table.column_names))
