"""What only the rows of a table can tell: their order, their ids, and deletes that hit nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce

from pyspark.sql import DataFrame, Row, SparkSession, Window
from pyspark.sql import functions as f

from hivesql_executor.partition_files import PartitionFiles
from hivesql_executor.spark.events import are_generated, event_read, visible_writes
from hivesql_executor.spark.packing import KEYS
from hivesql_executor.spark.placed import Place, read_placed, text_columns
from hivesql_executor.spark.scan import scan
from hivesql_executor.spark.types import spark_type
from hivesql_executor.storage.files import Files
from hivesql_executor.storage.orc import OrcTail
from hivesql_planner.acid.reading import FilesToRead
from hivesql_planner.acid.write_ids import ValidWriteIdList
from hivesql_planner.table import Table

_MOST = 20
"""Of each kind of problem so many are told."""
_ID = "row__id"
_FILE_BUCKET = "cast(regexp_extract(path, 'bucket_([0-9]+)(_[0-9]+)?$', 1) as int)"
_BUCKET = "if(shiftrightunsigned(bucket, 29) = 0, bucket, shiftrightunsigned(bucket, 16) & 4095)"


def misplaced_rows(
    spark: SparkSession, table: Table, tails: Mapping[str, OrcTail], *, deletes: bool
) -> Iterator[tuple[str, str]]:
    """Path and problem of each event file that is not sorted, or holds rows of another bucket."""
    frames = []
    for names, paths in _by_names(tails).items():
        schema, where = event_read(names, [spark_type(column.type) for column in table.columns])
        reader = spark.read.schema(schema).option("__globPaths__", "false")
        events = reader.orc(paths).where(where)
        frames.append(
            events.select(
                *KEYS,
                f.col("_metadata.file_path").alias("path"),
                f.col("_metadata.file_block_start").alias("block"),
                f.monotonically_increasing_id().alias("at"),
            )
        )
    if not frames:
        return
    rows = reduce(DataFrame.unionByName, frames)
    key = f.struct(*KEYS)
    before = f.lag(key).over(Window.partitionBy("path", "block").orderBy("at"))
    # A row may be deleted twice, but it exists once.
    unsorted = before > key if deletes else before >= key
    counted = (
        rows.select("path", unsorted.alias("unsorted"), f.expr(f"{_BUCKET} <> {_FILE_BUCKET}"))
        .toDF("path", "unsorted", "foreign")
        .groupBy("path")
        .agg(f.count_if("unsorted").alias("unsorted"), f.count_if("foreign").alias("foreign"))
        .where("unsorted > 0 or foreign > 0")
    )
    found = counted.orderBy("path").limit(_MOST + 1).collect()
    for row in found[:_MOST]:
        if row["unsorted"]:
            yield row["path"], f"{row['unsorted']} rows are not in the order of their row ids"
        if row["foreign"]:
            yield row["path"], f"{row['foreign']} rows belong to other buckets than the file"
    if len(found) > _MOST:
        yield table.location, f"more files than these {_MOST} are not in order"


def repeated_ids(ids: DataFrame) -> Iterator[str]:
    """Row ids that more than one row has."""
    found = ids.groupBy(*ids.columns).count().where("count > 1")
    rows = found.limit(_MOST + 1).collect()
    for row in rows[:_MOST]:
        yield f"{_shown(row)}: {row['count']} rows have this row id"
    if len(rows) > _MOST:
        yield "more row ids that several rows have"


def unmatched_deletes(ids: DataFrame, events: DataFrame) -> Iterator[str]:
    """Delete events whose row is not there."""
    names = [name for name in ids.columns if name != _ID]
    left, right = events.select(*ids.columns).alias("e"), ids.alias("i")
    same = [f.col(f"e.{name}") == f.col(f"i.{name}") for name in (_ID, *names)]
    missing = left.join(right, reduce(lambda one, other: one & other, same), "left_anti")
    rows = missing.limit(_MOST + 1).collect()
    for row in rows[:_MOST]:
        yield f"{_shown(row)}: a delete event of a row that is not there"
    if len(rows) > _MOST:
        yield "more delete events of rows that are not there"


def _shown(row: Row) -> str:
    values = row.asDict(recursive=True)
    values.pop("count", None)
    row_id = values.pop(_ID)
    parts = "/".join(map(str, values.values()))
    text = "{writeid},{bucketid},{rowid}".format(**row_id)
    return f"{parts}: {text}" if parts else text


def row_ids(
    spark: SparkSession,
    table: Table,
    parts: Sequence[PartitionFiles],
    *,
    visible: ValidWriteIdList,
    files: Files,
) -> DataFrame:
    """The id of every row, deleted or not, beside the texts of its partition."""
    undeleted = [
        PartitionFiles(
            partition=part.partition, location=part.location, files=FilesToRead(part.files.data)
        )
        for part in parts
    ]
    rows = scan(
        spark,
        table,
        undeleted,
        visible=visible,
        with_row_id=True,
        with_partition_texts=True,
        where=None,
        files=files,
    )
    return rows.select(_ID, *text_columns(table))


def delete_events(
    spark: SparkSession,
    table: Table,
    parts: Sequence[PartitionFiles],
    tails: Mapping[str, OrcTail],
    *,
    visible: ValidWriteIdList,
) -> DataFrame | None:
    """Row id, texts of the partition, and ``writer`` of every visible delete event."""
    frames = []
    for names, paths in _by_names(tails).items():
        schema, where = event_read(names, [spark_type(column.type) for column in table.columns])
        wanted = set(paths)
        found = [
            (place, chosen)
            for number, part in enumerate(parts)
            if (place := Place(number, part.partition, part.location))
            and (chosen := [(path, file.length) for file in part.files.deletes
                            if (path := f"{part.location}/{file.path}") in wanted])
        ]  # fmt: skip
        if found:
            frames.append(read_placed(spark, table, schema, found, {}, where))
    if not frames:
        return None
    events = reduce(DataFrame.unionByName, frames)
    parts_of_id = zip(KEYS, ("writeid", "bucketid", "rowid"), strict=True)
    row_id = f.struct(*(f.col(key).alias(name) for key, name in parts_of_id)).alias(_ID)
    seen = events.where(visible_writes("currentTransaction", visible))
    return seen.select(row_id, *text_columns(table), f.col("currentTransaction").alias("writer"))


def row_id_and_texts(table: Table) -> list[str]:
    """The columns by which a row is known."""
    return [_ID, *text_columns(table)]


def _by_names(tails: Mapping[str, OrcTail]) -> dict[tuple[str, ...], list[str]]:
    """Paths of files that have events, by the names without which ORC cannot read them."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for path, tail in tails.items():
        if tail.rows:
            names = tail.row_fields if are_generated(tail.row_fields) else ()
            groups.setdefault(names, []).append(path)
    return groups
