"""INSERT of rows that stand in the statement."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from hivesql_executor.files.api import Files
from hivesql_executor.local.evaluate import enforce_check
from hivesql_executor.local.events import (
    bucket_numbers,
    end_staging,
    insert_events,
    stage,
)
from hivesql_executor.local.measure import measured_columns
from hivesql_executor.local.types import arrow_type
from hivesql_executor.orc.publish import (
    Measured,
    Publication,
    StagedRows,
    named_partition,
    stage_rows,
)
from hivesql_executor.snapshot.partition_files import EventFile
from hivesql_planner.model.statistics import Measuring
from hivesql_planner.model.table import Table
from hivesql_planner.plan import InsertBranch
from hivesql_planner.predicates.predicate import SmallInsert

if TYPE_CHECKING:
    from hivesql_executor.transactions.file_changes import FileChanges

_Place = tuple[int, tuple[str, ...]]


def stage_literals(
    branch: InsertBranch,
    small: SmallInsert,
    *,
    write_id: int,
    files: Files,
    staging: str,
    locations: Mapping[str, str],
    changes: FileChanges,
    measuring: Measuring = Measuring(),  # noqa: B008 - frozen
) -> StagedRows:
    """Stage the rows as Spark would: the same directories, row ids and footers."""
    table = branch.write.table
    row = rows_of(small, table)
    enforce_check(small.check, row, table)
    publication = Publication(
        writes=(branch.write,),
        write_id=write_id,
        staging=staging,
        static_partition=branch.static_partition,
        dynamic_partition=branch.dynamic_partition,
        locations=locations,
        changes=changes,
        by_spark=False,
    )
    # First, as it may refuse a partition's name: nothing is staged then.
    columns = measured_literals(small, row, publication, measuring)
    staged = stage_rows(
        publication, files, lambda: _stage_rows(row, branch, small, write_id, files, staging)
    )
    return replace(staged, columns=columns)


def measured_literals(
    small: SmallInsert, row: pa.StructArray, publication: Publication, measuring: Measuring
) -> Measured:
    """Measure the columns of the rows of each partition."""
    if not measuring.columns:
        return {}
    numbers: dict[str | None, list[int]] = defaultdict(list)
    for number, keys in enumerate(small.partitions):
        numbers[named_partition(publication, keys)].append(number)
    return {
        name: measured_columns(row.take(pa.array(chosen)), measuring.columns)
        for name, chosen in numbers.items()
    }


def rows_of(small: SmallInsert, table: Table) -> pa.StructArray:
    """Return the rows as a struct array of the table's data columns."""
    columns = zip(*small.rows, strict=True)
    arrays = [
        pa.array(values, arrow_type(column.type))
        for values, column in zip(columns, table.columns, strict=True)
    ]
    return pa.StructArray.from_arrays(arrays, list(table.column_names))


def _stage_rows(
    row: pa.StructArray,
    branch: InsertBranch,
    small: SmallInsert,
    write_id: int,
    files: Files,
    staging: str,
) -> list[EventFile]:
    write = branch.write
    staged = []
    places = _places(row, small, write.table)
    for (writer, keys), chosen in sorted(places.items(), key=_in_order):
        events = insert_events(
            row.take(pa.array(chosen)),
            write_id=write_id,
            writer=writer,
            statement_id=write.statement_id,
        )
        staged.append(stage(events, write, files, staging, number=0, writer=writer, keys=keys))
    end_staging(staged)
    return staged


def _places(row: pa.StructArray, small: SmallInsert, table: Table) -> dict[_Place, list[int]]:
    """Return the rows of each file."""
    buckets = (
        bucket_numbers(row, table, table.bucket_columns)
        if table.is_bucketed
        else np.zeros(len(row), np.int64)
    )
    numbers: dict[_Place, list[int]] = defaultdict(list)
    for number, (bucket, partition) in enumerate(
        zip(buckets.tolist(), small.partitions, strict=True)
    ):
        numbers[bucket, partition].append(number)
    return numbers


def _in_order(item: tuple[_Place, list[int]]) -> tuple[int, list[bytes]]:
    (writer, partition), _ = item
    return writer, [text.encode() for text in partition]
