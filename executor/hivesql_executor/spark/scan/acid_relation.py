"""Event files as columns, read by a class of our own: deleted rows never reach Spark.

Spark's reader decodes all six event columns, since ORC would shift what is left when one is
missing, and looks each row up in the delete events by a join. ``AcidTable.java`` decodes what is
wanted, and takes deleted rows out of ORC's own vectors. Files whose columns have other types than
the table's are none of its affair: these need Spark's conversions.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from hivesql_executor.orc.tail import OrcTail
from hivesql_executor.orc.types import orc_type, spark_type
from hivesql_executor.spark.scan.partition_columns import (
    MOST_READS,
    PLACE,
    Place,
    with_place,
    with_places,
)
from hivesql_executor.spark.steps import Step, acid_rows
from hivesql_planner.acid.write_ids import ValidWriteIdList
from hivesql_planner.model.statistics import ColumnStatistics
from hivesql_planner.model.table import Table

_IDS = "`__write` bigint, `__bucket` int, `__row` bigint"
_INSTANT = "local time zone"
_NEVER = (1 << 63) - 1
_Layout = tuple[int, tuple[str, ...]]
"""How many of the table's columns files have, and those by whose statistics rows are skipped."""


@dataclass(frozen=True, slots=True)
class EventPath:
    """A file of events; ``filtered`` when some of them belong to writes that are not visible."""

    place: Place
    path: str
    length: int
    filtered: bool
    tail: OrcTail
    task: int | None = None
    """The number of the task that reads it; None leaves that to the reader."""


@dataclass(frozen=True, slots=True)
class DeletePath:
    """A file of delete events of a place."""

    place: Place
    path: str
    filtered: bool
    version: str = ""
    """What is another when another file has its path; empty when nothing tells."""


@dataclass(frozen=True, slots=True)
class EventScan:
    """What all reads of a table's event files share.

    Spark plans with what is ``known`` of columns where its cost-based optimizer is on. Scans of at
    least ``filter_rows`` decode what Spark's filter needs first, others only for rows that pass;
    a negative number leaves that to Spark always, and decodes row ids that footers tell, too.
    """

    spark: SparkSession
    table: Table
    visible: ValidWriteIdList
    known: Sequence[ColumnStatistics] = ()
    filter_rows: int = -1


def is_direct(table: Table, tail: OrcTail) -> bool:
    """Tell whether the table's columns are in the file as they are read."""
    return all(
        kind == orc_type(column.type) and _INSTANT not in kind
        for column, kind in zip(table.columns, tail.row_types, strict=False)
    )


def direct_rows(
    scan: EventScan,
    files: Sequence[EventPath],
    deletes: Sequence[DeletePath],
    finish: Sequence[Step] = (),
) -> list[DataFrame]:
    """User columns, ID_COLUMNS, PLACE and partition values of the rows that are alive.

    ``finish`` is done to the rows of tables without partitions.
    """
    table = scan.table
    layouts: dict[_Layout, list[EventPath]] = {}
    for file in files:
        layouts.setdefault(layout(table, file.tail), []).append(file)
    frames = []
    for shared, found in layouts.items():
        places = {file.place.number: file.place for file in found}
        if len(places) > MOST_READS:
            rows = _relation(scan, shared, found, deletes)
            frames.append(with_places(rows, table, list(places.values())))
            continue
        for number, place in places.items():
            of_place = [file for file in found if file.place.number == number]
            gone = [file for file in deletes if file.place.number == number]
            whole = place.partition is None
            rows = _relation(scan, shared, of_place, gone, finish if whole else ())
            frames.append(rows if whole else with_place(rows.drop(PLACE), table, place))
    return frames


def layout(table: Table, tail: OrcTail) -> _Layout:
    """Files of one layout are read together."""
    columns = table.columns[: len(tail.row_fields)]
    if [column.name for column in columns] != [
        name.lower() for name in tail.row_fields[: len(columns)]
    ]:
        return len(columns), ()
    # The statistics of CHAR are those of padded values. A search argument with a timestamp loses
    # what is below its milliseconds on the way to the task.
    return len(columns), tuple(
        column.name
        for column in columns
        if not column.type.lower().startswith(("char", "timestamp"))
    )


def _relation(
    scan: EventScan,
    shared: _Layout,
    files: Sequence[EventPath],
    deletes: Sequence[DeletePath],
    finish: Sequence[Step] = (),
) -> DataFrame:
    spark, table, filter_rows = scan.spark, scan.table, scan.filter_rows
    highest = scan.visible.high_watermark
    plan = {
        "name": str(table.name),
        "parallelism": spark.sparkContext.defaultParallelism,
        "statistics": {
            one.name: {
                "distinct": one.distinct,
                "nulls": one.nulls,
                "low": one.low,
                "high": one.high,
                "average": None if one.average_length is None else round(one.average_length),
                "longest": one.longest,
            }
            for one in scan.known
        },
        "present": shared[0],
        "searchable": shared[1],
        "files": [
            {
                "path": file.path,
                "length": file.length,
                "rows": file.tail.rows,
                "place": file.place.number,
                "filtered": file.filtered,
                # Row numbers are always decoded: no footer tells that they are in order.
                "ids": file.tail.unit if filter_rows >= 0 else None,
                "task": file.task,
            }
            for file in files
        ],
        "deletes": [
            {
                "path": file.path,
                "place": file.place.number,
                "filtered": file.filtered,
                "version": file.version,
            }
            for file in deletes
        ],
        "least": filter_rows if filter_rows >= 0 else _NEVER,
        "highest": highest,
        "hidden": sorted(one for one in scan.visible.exceptions if one <= highest),
    }
    columns = [f"`{column.name}` {spark_type(column.type)}" for column in table.columns]
    ddl = ", ".join([*columns, _IDS, f"`{PLACE}` int"])
    return acid_rows(spark, json.dumps(plan), ddl, *finish)
