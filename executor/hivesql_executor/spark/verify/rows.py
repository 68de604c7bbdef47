"""What only the rows of a table can tell: their ids, their number, and deletes that hit nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as f

from hivesql_executor.files.api import Files
from hivesql_executor.orc.event_order import (
    MORE_DELETES,
    MORE_IDS,
    MOST,
    at_most,
    id_text,
    repeated_problem,
    unmatched_problem,
)
from hivesql_executor.snapshot.partition_files import PartitionFiles
from hivesql_executor.spark.scan.delete_events import ROW_ID
from hivesql_executor.spark.scan.partition_columns import text_columns
from hivesql_executor.spark.scan.scan import ScanRequest, scan
from hivesql_planner.acid.files_to_read import FilesToRead
from hivesql_planner.acid.write_ids import ValidWriteIdList
from hivesql_planner.model.table import Table


def repeated_ids(ids: DataFrame) -> Iterator[str]:
    """Row ids that more than one row has."""
    repeated = ids.groupBy(*ids.columns).count().where("count > 1")
    rows = repeated.limit(MOST + 1).collect()
    yield from at_most((repeated_problem(_shown(row), row["count"]) for row in rows), MORE_IDS)


def unmatched_deletes(ids: DataFrame, events: DataFrame) -> Iterator[str]:
    """Delete events whose row is not there."""
    names = [name for name in ids.columns if name != ROW_ID]
    events_named, right = events.select(*ids.columns).alias("e"), ids.alias("i")
    same = [f.col(f"e.{name}") == f.col(f"i.{name}") for name in (ROW_ID, *names)]
    missing = events_named.join(
        right, reduce(lambda condition, other: condition & other, same), "left_anti"
    )
    rows = missing.limit(MOST + 1).collect()
    yield from at_most((unmatched_problem(_shown(row)) for row in rows), MORE_DELETES)


def _shown(row: Row) -> str:
    values = row.asDict(recursive=True)
    values.pop("count", None)
    row_id = values.pop(ROW_ID)
    return id_text(values.values(), row_id.values())


def row_ids(
    spark: SparkSession,
    table: Table,
    parts: Sequence[PartitionFiles],
    *,
    visible: ValidWriteIdList,
    files: Files,
) -> DataFrame:
    """Return the id of every row, deleted or not, beside the texts of its partition."""
    undeleted = [
        PartitionFiles(
            partition=part.partition, location=part.location, files=FilesToRead(part.files.data)
        )
        for part in parts
    ]
    request = ScanRequest(
        table=table,
        parts=undeleted,
        visible=visible,
        files=files,
        with_row_id=True,
        with_partition_texts=True,
    )
    rows = scan(spark, request).rows
    return rows.select(ROW_ID, *text_columns(table))


def row_counts(
    spark: SparkSession,
    table: Table,
    parts: Sequence[PartitionFiles],
    *,
    visible: ValidWriteIdList,
    files: Files,
) -> Mapping[tuple[str, ...], int]:
    """Rows that are not deleted, by the texts of their partition, which is left out without any."""
    request = ScanRequest(
        table=table,
        parts=parts,
        visible=visible,
        files=files,
        with_row_id=False,
        with_partition_texts=True,
    )
    rows = scan(spark, request).rows
    texts = text_columns(table)
    counted = rows.groupBy(*texts).count().collect()
    return {tuple(row[text] for text in texts): row["count"] for row in counted}
