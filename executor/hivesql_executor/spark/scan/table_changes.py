"""What happened to a table between two writes, from its deltas: inserts, updates, deletes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as f

from hivesql_executor.orc.footers import check_deletes, holds_changes, read_footers
from hivesql_executor.runtime import Runtime
from hivesql_executor.snapshot.listing import acid_state, check_versions, table_roots
from hivesql_executor.snapshot.partition_files import PartitionFiles
from hivesql_executor.snapshot.time_travel import are_events_retained, require_history
from hivesql_executor.spark.scan.delete_events import delete_events, row_id_and_texts
from hivesql_executor.spark.scan.scan import ScanRequest, scan
from hivesql_executor.transactions.transaction import Transaction
from hivesql_planner.acid.files_to_read import FilesToRead, files_to_read
from hivesql_planner.acid.layout import is_marker, is_side_file, parse_directory
from hivesql_planner.acid.time_travel import after_write, require_events
from hivesql_planner.acid.write_ids import ValidWriteIdList
from hivesql_planner.errors import NotSupported
from hivesql_planner.model.table import Table
from hivesql_planner.relations import CHANGE_COLUMNS, Changes, Scan

_KIND, _WRITE = (column.name for column in CHANGE_COLUMNS)


def read_changes(
    table_scan: Scan, changes: Changes, txn: Transaction, runtime: Runtime
) -> DataFrame:
    """Return the table's columns, what happened, and the write that did it.

    A row that a write deleted while it inserted one of the same key is the ``update_preimage`` of
    the other, the ``update_postimage``; without a key that is told by the partition: a write that
    deleted as many rows there as it inserted has updated them. DataError 10327 when a compaction
    has merged the events, NotSupported when the table was overwritten in between.
    """
    table, spark = table_scan.table, runtime.spark()
    now = txn.visible[table.name]
    high = now.high_watermark if changes.high is None else changes.high
    then = after_write(now, high)
    parts = _parts(table_scan, changes.low, then, txn, runtime)
    low = f.lit(changes.low)
    recent = [replace(part, files=_since(part.files, changes.low)) for part in parts]
    born = _rows(spark, table, recent, then, runtime).where(
        f.col("row__id.writeid").between(low, f.lit(high))
    )
    inserted = born.withColumns({_KIND: f.lit("insert"), _WRITE: f.col("row__id.writeid")})
    frames = [inserted]
    events = _deletes(spark, table, recent, then, runtime)
    if events is not None:
        names = row_id_and_texts(table)
        died = events.where(f.col("writer") >= low).groupBy(*names).agg(f.min("writer"))
        rows = _rows(spark, table, parts, then, runtime)
        deleted = rows.join(died.toDF(*names, _WRITE), names)
        frames.append(deleted.withColumn(_KIND, f.lit("delete")))
    happened = reduce(DataFrame.unionByName, frames)
    return _with_updates(happened, table, changes.key).select(
        *(f"`{column.name}`" for column in (*table.all_columns, *CHANGE_COLUMNS))
    )


def _since(files: FilesToRead, low: int) -> FilesToRead:
    """Leave out files without an event of write ``low`` or of a later one."""

    def is_recent(path: str) -> bool:
        directory = parse_directory(path.partition("/")[0])
        return directory is not None and directory.max_write_id >= low

    return FilesToRead(
        tuple(file for file in files.data if is_recent(file.path)),
        tuple(file for file in files.deletes if is_recent(file.path)),
    )


def _with_updates(happened: DataFrame, table: Table, key: Sequence[str]) -> DataFrame:
    """Call the two halves of an update by their names."""
    texts = row_id_and_texts(table)[1:]
    same = Window.partitionBy(_WRITE, *texts, *(f.col(f"`{name}`") for name in key))

    def count(kind: str) -> Column:
        return f.count_if(f.col(_KIND) == kind).over(same)

    gone, come = count("delete"), count("insert")
    is_update = (gone > 0) & (gone == come)
    before_or_after = f.when(f.col(_KIND) == "insert", f.lit("update_postimage")).otherwise(
        f.lit("update_preimage")
    )
    return happened.withColumn(_KIND, f.when(is_update, before_or_after).otherwise(f.col(_KIND)))


def _parts(
    table_scan: Scan, low: int, then: ValidWriteIdList, txn: Transaction, runtime: Runtime
) -> list[PartitionFiles]:
    table, files = table_scan.table, runtime.files(table_scan.table.location)
    parts = []
    for partition, location in table_roots(table, table_scan.partitions):
        state = acid_state(files, location, then, txn.txns, is_earlier=True)
        check_versions(files, location, state)
        if state.base is not None and state.base.directory.max_write_id >= low:
            # Where a retention has left them, events are there beside what they were merged into.
            events = acid_state(files, location, then, txn.txns, is_earlier=True, events_from=low)
            if are_events_retained(table, partition, location, low, txn.txns, runtime):
                state = events
        require_history(table, partition, location, state, then, runtime)
        require_events(state, low, location=location)
        chosen = files_to_read(state, then, location=location)
        parts.append(PartitionFiles(partition=partition, location=location, files=chosen))
    return parts


def _rows(
    spark: SparkSession,
    table: Table,
    parts: Sequence[PartitionFiles],
    then: ValidWriteIdList,
    runtime: Runtime,
) -> DataFrame:
    """Every row that was there at some time, with its id and the texts of its partition."""
    files = runtime.files(table.location)
    inserts = [
        (f"{part.location}/{file.path}", file.length)
        for part in parts
        for file in part.files.data
        if file.original is None
    ]
    if any(map(holds_changes, read_footers(files, inserts).values())):
        raise NotSupported(f"changes of {table.name}, whose deltas are of ACID version 1")
    request = ScanRequest(
        table=table,
        parts=[replace(part, files=FilesToRead(part.files.data)) for part in parts],
        visible=then,
        files=files,
        with_row_id=True,
        with_partition_texts=True,
    )
    return scan(spark, request).rows


def _deletes(
    spark: SparkSession,
    table: Table,
    parts: Sequence[PartitionFiles],
    then: ValidWriteIdList,
    runtime: Runtime,
) -> DataFrame | None:
    delete_files = [
        (f"{part.location}/{file.path}", file.length) for part in parts
        for file in part.files.deletes
    ]  # fmt: skip
    tails = read_footers(runtime.files(table.location), delete_files)
    for path, tail in tails.items():
        check_deletes(path, tail)
    return delete_events(spark, table, parts, tails, visible=then)


def count_events(table: Table, low: int, runtime: Runtime) -> dict[int, int]:
    """Return how many rows the writes from ``low`` on have inserted and deleted, by write.

    What a compaction has merged counts as the first of its writes.
    """
    txns = runtime.metastore.valid_txns()
    visible = runtime.metastore.valid_write_ids(txns, [table.name])[table.name]
    partitions = runtime.metastore.partitions(table.name) if table.partition_columns else ()
    files = runtime.files(table.location)
    writes: dict[str, int] = {}
    sizes = []
    for _, location in table_roots(table, partitions):
        state = acid_state(files, location, visible, txns, is_earlier=True, events_from=low)
        for entry in state.deltas:
            if entry.directory.max_write_id < low:
                continue
            for file in entry.files:
                path = f"{location}/{file.path}"
                if not is_marker(file.path) and not is_side_file(file.path) and file.length:
                    writes[path] = max(low, entry.directory.min_write_id)
                    sizes.append((path, file.length))
    counts: dict[int, int] = {}
    for path, tail in read_footers(files, sizes).items():
        counts[writes[path]] = counts.get(writes[path], 0) + tail.rows
    return counts
