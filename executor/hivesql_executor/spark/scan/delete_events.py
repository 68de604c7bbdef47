"""Delete events as rows, and the columns by which a row is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from hivesql_executor.files.api import Files
from hivesql_executor.orc.footers import check_deletes, read_footers
from hivesql_executor.orc.tail import OrcTail
from hivesql_executor.snapshot.partition_files import PartitionFiles
from hivesql_executor.spark.scan.event_schema import (
    KEYS,
    are_generated,
    event_read,
    visible_writes,
)
from hivesql_executor.spark.scan.partition_columns import Place, read_with_places, text_columns
from hivesql_planner.acid.write_ids import ValidWriteIdList
from hivesql_planner.model.hive_type import quote_name
from hivesql_planner.model.table import Table

ROW_ID = "row__id"
IS_DELETED = "row__is__deleted"


def delete_events(
    spark: SparkSession,
    table: Table,
    parts: Sequence[PartitionFiles],
    tails: Mapping[str, OrcTail],
    *,
    visible: ValidWriteIdList,
) -> DataFrame | None:
    """Read row id, texts of the partition, and ``writer`` of every visible delete event.

    None where there are no such files.
    """
    frames = []
    for names, paths in _by_names(tails).items():
        schema, where = event_read(names, [column.type.spark for column in table.columns])
        chosen_paths = set(paths)
        chosen_files = [
            (place, chosen)
            for number, part in enumerate(parts)
            if (place := Place(number, part.partition, part.location))
            and (chosen := [(path, file.length) for file in part.files.deletes
                            if (path := f"{part.location}/{file.path}") in chosen_paths])
        ]  # fmt: skip
        if chosen_files:
            frames.append(read_with_places(spark, table, schema, chosen_files, {}, where))
    if not frames:
        return None
    events = reduce(DataFrame.unionByName, frames)
    parts_of_id = zip(KEYS, ("writeid", "bucketid", "rowid"), strict=True)
    row_id = f.struct(*(f.col(key).alias(name) for key, name in parts_of_id)).alias(ROW_ID)
    visible_events = events.where(visible_writes("currentTransaction", visible))
    return visible_events.select(
        row_id, *text_columns(table), f.col("currentTransaction").alias("writer")
    )


def read_delete_events(
    spark: SparkSession,
    table: Table,
    parts: Sequence[PartitionFiles],
    *,
    visible: ValidWriteIdList,
    files: Files,
) -> DataFrame | None:
    """Return ``delete_events`` of all delete files, whose footers are read and checked here."""
    lengths = [(f"{part.location}/{file.path}", file.length)
               for part in parts for file in part.files.deletes]  # fmt: skip
    tails = read_footers(files, lengths)
    for path, tail in tails.items():
        check_deletes(path, tail)
    return delete_events(spark, table, parts, tails, visible=visible)


def with_deleted(rows: DataFrame, events: DataFrame | None, table: Table) -> DataFrame:
    """Add ``row__is__deleted`` to rows that have their ids and the texts of their partitions.

    ``events`` are as ``delete_events`` gives them, None where there are none. As in Hive, the
    write of a deleted row's id becomes that of its delete event.
    """
    if events is None:
        return rows.withColumn(IS_DELETED, f.lit(False))
    names = row_id_and_texts(table)
    # Two statements of a transaction may have deleted the same row.
    ended = events.groupBy(*names).agg(f.max("writer").alias("writer"))
    joined = rows.join(ended, names, "left")
    row_id = f.col(ROW_ID).withField("writeid", f.coalesce("writer", f"{ROW_ID}.writeid"))
    columns = [row_id.alias(name) if name == ROW_ID else f.col(quote_name(name))
               for name in rows.columns]  # fmt: skip
    return joined.select(*columns, f.isnotnull("writer").alias(IS_DELETED))


def row_id_and_texts(table: Table) -> list[str]:
    """Return the columns by which a row is known."""
    return [ROW_ID, *text_columns(table)]


def _by_names(tails: Mapping[str, OrcTail]) -> dict[tuple[str, ...], list[str]]:
    """Paths of files that have events, by the names without which ORC cannot read them."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for path, tail in tails.items():
        if tail.rows:
            names = tail.row_fields if are_generated(tail.row_fields) else ()
            groups.setdefault(names, []).append(path)
    return groups
