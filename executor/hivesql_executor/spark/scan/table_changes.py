"""What happened to a table between two writes, from its deltas: inserts, updates, deletes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as f

from hivesql_executor.orc.footers import holds_changes, read_footers
from hivesql_executor.runtime import Runtime
from hivesql_executor.snapshot.changed_files import ChangedFiles, Span, changed_files
from hivesql_executor.snapshot.partition_files import PartitionFiles
from hivesql_executor.spark.scan.delete_events import read_delete_events, row_id_and_texts
from hivesql_executor.spark.scan.plain_tables import paths_of, scan_plain
from hivesql_executor.spark.scan.scan import ScanRequest, scan
from hivesql_executor.transactions.transaction import Transaction
from hivesql_planner.acid.files_to_read import FilesToRead
from hivesql_planner.acid.layout import parse_directory
from hivesql_planner.acid.time_travel import after_write
from hivesql_planner.acid.write_ids import ValidWriteIdList
from hivesql_planner.errors import NotSupported
from hivesql_planner.model.hive_type import quote_name
from hivesql_planner.model.table import Table
from hivesql_planner.relations import CHANGE_COLUMNS, Changes, Scan

INSERTED, DELETED = "insert", "delete"
_WRITE_OF_FILE = r".*/(?:base|delta)_(?:[0-9]+_)?0*([0-9]+)(?:_[0-9]+)?(?:_v[0-9]+)?/.+"
"""The last write of an insert-only table's directory; below it may be others, of UNION ALL."""
_KIND, _WRITE = (column.name for column in CHANGE_COLUMNS)


def read_changes(
    table_scan: Scan, changes: Changes, txn: Transaction, runtime: Runtime
) -> DataFrame:
    """Return the table's columns, what happened, and the write that did it.

    A row that a write deleted while it inserted one of the same key is the ``update_preimage`` of
    the other, the ``update_postimage``; without a key that is told by the partition: a write that
    deleted as many rows there as it inserted has updated them. Of several statements of one
    transaction what is there in the end counts. What an overwrite replaces was deleted, and what
    it brings inserted. DataError 10327 when a compaction has merged the events.
    """
    table = table_scan.table
    now = txn.visible[table.name]
    then = after_write(now, now.high_watermark if changes.high is None else changes.high)
    # Nobody tells of what has not been written yet: such versions have no changes.
    low = min(changes.low, then.high_watermark + 1)
    changed = changed_files(table, table_scan.partitions, low, then, txn.txns, runtime)
    spans = [span for directory in changed for span in directory.spans]
    if table.is_insert_only:
        happened = _inserted_files(table, spans, runtime)
    else:
        happened = _with_updates(_events(table, low, spans, then, runtime), table, changes.key)
    frames = [happened, *_replaced(table, changed, then, runtime)]
    names = [quote_name(column.name) for column in (*table.all_columns, *CHANGE_COLUMNS)]
    return reduce(DataFrame.unionByName, [frame.select(*names) for frame in frames])


def _events(
    table: Table,
    low: int,
    spans: Sequence[Span],
    then: ValidWriteIdList,
    runtime: Runtime,
) -> DataFrame:
    """Return inserts and deletes as events tell them, with the texts of their partitions."""
    spark = runtime.spark()
    recent = [span.events for span in spans]
    born = _rows(spark, table, recent, then, runtime).where(
        f.col("row__id.writeid").between(f.lit(low), f.lit(then.high_watermark))
    )
    inserted = born.withColumns({_KIND: f.lit(INSERTED), _WRITE: f.col("row__id.writeid")})
    events = read_delete_events(
        spark, table, recent, visible=then, files=runtime.files(table.location)
    )
    if events is None:
        return inserted
    names = row_id_and_texts(table)
    died = events.where(f.col("writer") >= f.lit(low)).groupBy(*names).agg(f.min("writer"))
    died = died.toDF(*names, _WRITE)
    # What one transaction inserts and deletes again was never there for anyone else.
    was_seen = f.col(_WRITE) != f.col("row__id.writeid")
    inserted = inserted.join(died.where(~was_seen).select(*names), names, "left_anti")
    rows = _rows(spark, table, [span.files for span in spans], then, runtime)
    deleted = rows.join(died.where(was_seen), names)
    return inserted.unionByName(deleted.withColumn(_KIND, f.lit(DELETED)))


def _inserted_files(table: Table, spans: Sequence[Span], runtime: Runtime) -> DataFrame:
    """Return the rows of an insert-only table's deltas, each inserted by the write of its file."""
    parts = paths_of([span.events for span in spans])
    files = runtime.files(table.location)
    rows = scan_plain(runtime.spark(), table, parts, files=files, with_file_name=True)
    write = f.regexp_extract("input__file__name", _WRITE_OF_FILE, 1).cast("bigint")
    return rows.withColumns({_KIND: f.lit(INSERTED), _WRITE: write})


def _replaced(
    table: Table, changed: Sequence[ChangedFiles], then: ValidWriteIdList, runtime: Runtime
) -> list[DataFrame]:
    """Return what overwrites took away and brought."""
    replacements = [each for directory in changed for each in directory.replacements]
    frames = []
    for write_id in sorted({each.write_id for each in replacements}):
        of_write = [each for each in replacements if each.write_id == write_id]
        for kind, last, parts in (
            (DELETED, write_id - 1, [each.before for each in of_write]),
            (INSERTED, write_id, [each.after for each in of_write]),
        ):
            rows = _state(table, parts, after_write(then, last), runtime)
            frames.append(rows.withColumns({_KIND: f.lit(kind), _WRITE: f.lit(write_id)}))
    return frames


def _state(
    table: Table, parts: Sequence[PartitionFiles], visible: ValidWriteIdList, runtime: Runtime
) -> DataFrame:
    """Return the rows that a state has."""
    spark, files = runtime.spark(), runtime.files(table.location)
    if table.is_insert_only:
        return scan_plain(spark, table, paths_of(parts), files=files)
    request = ScanRequest(table=table, parts=parts, visible=visible, files=files, with_row_id=False)
    return scan(spark, request).rows


def _with_updates(happened: DataFrame, table: Table, key: Sequence[str]) -> DataFrame:
    """Call the two halves of an update by their names."""
    texts = row_id_and_texts(table)[1:]
    same = Window.partitionBy(_WRITE, *texts, *(f.col(quote_name(name)) for name in key))

    def count(kind: str) -> Column:
        return f.count_if(f.col(_KIND) == kind).over(same)

    gone, come = count(DELETED), count(INSERTED)
    is_update = (gone > 0) & (gone == come)
    before_or_after = f.when(f.col(_KIND) == INSERTED, f.lit("update_postimage")).otherwise(
        f.lit("update_preimage")
    )
    return happened.withColumn(_KIND, f.when(is_update, before_or_after).otherwise(f.col(_KIND)))


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


def count_events(table: Table, low: int, runtime: Runtime) -> dict[int, int]:
    """Return how many rows the writes from ``low`` on have inserted and deleted, by write.

    Of full ACID tables what files tell: what a compaction has merged counts as the first of its
    writes, and rows that an overwrite replaced count though they had been deleted.
    """
    txns = runtime.metastore.valid_txns()
    visible = runtime.metastore.valid_write_ids(txns, [table.name])[table.name]
    partitions = runtime.metastore.partitions(table.name) if table.partition_columns else ()
    changed = changed_files(table, partitions, low, visible, txns, runtime)
    spans = [span for directory in changed for span in directory.spans]
    counts: Counter[int] = Counter()
    if table.is_insert_only:
        frames = (
            _inserted_files(table, spans, runtime),
            *_replaced(table, changed, visible, runtime),
        )
        for frame in frames:
            counts.update(dict(frame.groupBy(_WRITE).count().collect()))
        return counts
    of_write: list[tuple[int, str, int]] = []
    for span in spans:
        part = span.events
        files = [(file.path, file.length) for file in part.files.data]
        files += [(file.path, file.length) for file in part.files.deletes]
        for path, length in files:
            directory = parse_directory(path.partition("/")[0])
            first = max(low, directory.min_write_id if directory else 0)
            of_write.append((first, f"{part.location}/{path}", length))
    for each in (each for directory in changed for each in directory.replacements):
        of_write += [
            (each.write_id, f"{part.location}/{file.path}", file.length)
            for part in (each.before, each.after)
            for file in part.files.data
        ]
    sizes = [(path, length) for _, path, length in of_write]
    tails = read_footers(runtime.files(table.location), sizes)
    for write_id, path, _ in of_write:
        counts[write_id] += tails[path].rows
    return counts
