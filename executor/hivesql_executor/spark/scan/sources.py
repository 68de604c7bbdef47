"""Queries of a plan as DataFrames: Spark SQL over scans."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import DataFrame

from hivesql_executor.bookkeeping.loaded_files import check_file, files_to_load
from hivesql_executor.bookkeeping.reachable_locations import named_path
from hivesql_executor.local.types import arrow_table
from hivesql_executor.runtime import Runtime
from hivesql_executor.snapshot.listing import plain_files, scan_files
from hivesql_executor.snapshot.partition_files import PartitionFiles, PlainFile
from hivesql_executor.snapshot.time_travel import visible_as_of
from hivesql_executor.spark.functions import register_called
from hivesql_executor.spark.lines import fragment_of, frame_of, message_of
from hivesql_executor.spark.scan.delete_events import read_delete_events, with_deleted
from hivesql_executor.spark.scan.event_schema import visible_writes
from hivesql_executor.spark.scan.partition_columns import text_columns
from hivesql_executor.spark.scan.plain_tables import Part, paths_of, scan_lines, scan_plain
from hivesql_executor.spark.scan.restored_files import RestoredFiles, restored_files
from hivesql_executor.spark.scan.restored_rows import lost_rows
from hivesql_executor.spark.scan.scan import Scanned, ScanRequest, scan
from hivesql_executor.spark.scan.table_changes import read_changes
from hivesql_executor.spark.steps import query_over, with_grand_totals
from hivesql_executor.transactions.transaction import Transaction
from hivesql_planner.acid.files_to_read import FilesToRead
from hivesql_planner.acid.write_ids import ValidWriteIdList
from hivesql_planner.errors import SemanticError
from hivesql_planner.model.hive_type import quote_name
from hivesql_planner.model.statistics import ColumnStatistics
from hivesql_planner.model.table import Table
from hivesql_planner.relations import Query, Scan, Source

# View names are only unique within a statement; analysis happens while they are registered.
_views = threading.Lock()


def read(
    table_scan: Scan,
    txn: Transaction,
    runtime: Runtime,
    *,
    with_nanosecond_texts: Collection[int] = (),
    parts: Sequence[PartitionFiles] | None = None,
) -> DataFrame:
    """Return the rows of one table under the transaction's snapshot; texts as in ``spark.scan``.

    ``parts`` are the snapshot's files where they have been listed already.
    """
    table = table_scan.table
    if table.is_system:
        return frame_of(arrow_table(table, runtime.system_rows(table)), runtime.spark())
    if table.is_frame:
        return _read_files(table, runtime) if table.location else runtime.frames[table.name]
    if table_scan.changes is not None:
        return read_changes(table_scan, table_scan.changes, txn, runtime)
    if not table.is_full_acid:
        plain = plain_parts(table_scan, txn, runtime)
        return read_plain(table_scan, plain, runtime, with_nanosecond_texts=with_nanosecond_texts)
    if table_scan.restores is not None and (parts is None or parts):
        return _read_lost(table_scan, txn, runtime, with_nanosecond_texts=with_nanosecond_texts)
    parts = list_scan(table_scan, txn, runtime) if parts is None else parts
    if table_scan.with_deleted:
        return _read_with_deleted(
            table_scan, parts, txn, runtime, with_nanosecond_texts=with_nanosecond_texts
        )
    return _scanned(
        table_scan,
        parts,
        txn,
        runtime,
        with_partition_texts=table_scan.with_partition_texts,
        with_nanosecond_texts=with_nanosecond_texts,
    ).rows


def _read_with_deleted(
    table_scan: Scan,
    parts: Sequence[PartitionFiles],
    txn: Transaction,
    runtime: Runtime,
    *,
    with_nanosecond_texts: Collection[int],
) -> DataFrame:
    table = table_scan.table
    events = read_delete_events(
        runtime.spark(), table, parts, visible=_visible(table_scan, txn, runtime),
        files=runtime.files(table.location),
    )  # fmt: skip
    rows = _scanned(
        replace(table_scan, with_row_id=True),
        [replace(part, files=FilesToRead(part.files.data)) for part in parts],
        txn, runtime, with_partition_texts=True, with_nanosecond_texts=with_nanosecond_texts,
    ).rows  # fmt: skip
    unasked = () if table_scan.with_row_id else ("row__id",)
    texts = () if table_scan.with_partition_texts else text_columns(table)
    return with_deleted(rows, events, table).drop(*unasked, *texts)


def _read_lost(
    table_scan: Scan, txn: Transaction, runtime: Runtime, *, with_nanosecond_texts: Collection[int]
) -> DataFrame:
    """Return the rows of an earlier state that are not there any more."""
    table = table_scan.table

    def rows(scan: Scan, parts: Sequence[PartitionFiles]) -> DataFrame:
        scanned = _scanned(
            replace(scan, with_row_id=True), parts, txn, runtime, with_partition_texts=True,
            with_nanosecond_texts=with_nanosecond_texts,
        )  # fmt: skip
        return scanned.rows

    lost = lost_rows(
        runtime.spark(),
        table,
        _restored(table_scan, txn, runtime),
        earlier=partial(rows, table_scan),
        present=partial(rows, replace(table_scan, as_of=None)),
        now=txn.visible[table.name],
        then=_visible(table_scan, txn, runtime),
        files=runtime.files(table.location),
    )
    return lost if table_scan.with_partition_texts else lost.drop(*text_columns(table))


def _restored(table_scan: Scan, txn: Transaction, runtime: Runtime) -> list[RestoredFiles]:
    assert table_scan.restores is not None
    table = table_scan.table
    return restored_files(
        table,
        table_scan.partitions,
        now=txn.visible[table.name],
        then=visible_as_of(table_scan.restores, table.name, txn, runtime),
        txns=txn.txns,
        runtime=runtime,
    )


def plain_parts(table_scan: Scan, txn: Transaction, runtime: Runtime) -> Sequence[Part]:
    """Return the files of a table without row ids, as ``scan_plain`` takes them."""
    if not table_scan.table.is_transactional:
        return plain_files(table_scan.table, table_scan.partitions, runtime)
    return paths_of(list_scan(table_scan, txn, runtime))


def read_plain(
    table_scan: Scan,
    parts: Sequence[Part],
    runtime: Runtime,
    *,
    with_nanosecond_texts: Collection[int] = (),
) -> DataFrame:
    """Return the rows of these files of a table without row ids."""
    table = table_scan.table
    return (scan_lines if table_scan.with_line_offset else scan_plain)(
        runtime.spark(), table, parts, files=runtime.files(table.location),
        nanoseconds=sorted(with_nanosecond_texts), with_file_name=table_scan.with_file_name,
    )  # fmt: skip


def _read_files(table: Table, runtime: Runtime) -> DataFrame:
    """Return the rows of the files that LOAD DATA names."""
    local = table.properties.get("local") == "true"
    path = named_path(table.location, runtime, local=local)
    files = runtime.files(path)
    paths = files_to_load(files, path)
    for file_path in paths:
        check_file(files, file_path, table)
    parts = [(None, path, [PlainFile(file_path, files.size(file_path)) for file_path in paths])]
    return scan_plain(runtime.spark(), replace(table, location=path), parts, files=files)


def read_target(
    table_scan: Scan,
    txn: Transaction,
    runtime: Runtime,
    *,
    with_nanosecond_texts: Collection[int],
    parts: Sequence[PartitionFiles] | None,
    by_writer: bool,
) -> Scanned:
    """Return the rows of a table that a statement changes, with the texts of partition values.

    ``parts`` are the snapshot's files where they have been listed already.
    """
    target = _scanned(
        table_scan,
        list_scan(table_scan, txn, runtime) if parts is None else parts,
        txn,
        runtime,
        with_partition_texts=True,
        with_nanosecond_texts=with_nanosecond_texts,
        by_writer=by_writer,
    )
    if table_scan.restores is None:
        return target
    then = visible_as_of(table_scan.restores, table_scan.table.name, txn, runtime)
    return replace(target, rows=target.rows.where(~visible_writes("row__id.writeid", then)))


def _scanned(
    table_scan: Scan,
    parts: Sequence[PartitionFiles],
    txn: Transaction,
    runtime: Runtime,
    *,
    with_partition_texts: bool = False,
    with_nanosecond_texts: Collection[int] = (),
    by_writer: bool = False,
) -> Scanned:
    table = table_scan.table
    request = ScanRequest(
        table=table,
        parts=parts,
        visible=_visible(table_scan, txn, runtime),
        with_row_id=table_scan.with_row_id,
        with_file_name=table_scan.with_file_name,
        files=runtime.files(table.location),
        with_partition_texts=with_partition_texts,
        with_nanosecond_texts=with_nanosecond_texts,
        broadcast_words=runtime.settings.integer("hivesql.deletes.broadcast.max"),
        known=_known(table, runtime),
        filter_rows=runtime.settings.integer("hivesql.scan.filter.min"),
        by_writer=by_writer,
    )
    return scan(runtime.spark(), request)


def _known(table: Table, runtime: Runtime) -> tuple[ColumnStatistics, ...]:
    """Tell what Spark's cost-based optimizer, where somebody has turned it on, may know of columns.

    Its choices never change an answer, so that numbers from before the last write will do.
    """
    if runtime.spark().conf.get("spark.sql.cbo.enabled") != "true" or table.partition_columns:
        return ()
    return runtime.metastore.statistics(table.name).columns


def list_scan(table_scan: Scan, txn: Transaction, runtime: Runtime) -> list[PartitionFiles]:
    """Return the files of a transactional table that the transaction's snapshot sees.

    For RESTORE those alone with rows that are wanted.
    """
    if table_scan.restores is not None:
        restored = _restored(table_scan, txn, runtime)
        return [part.new if table_scan.as_of is None else part.earlier for part in restored]
    return scan_files(table_scan, _visible(table_scan, txn, runtime), txn.txns, runtime)


def _visible(table_scan: Scan, txn: Transaction, runtime: Runtime) -> ValidWriteIdList:
    if table_scan.as_of is not None:
        return visible_as_of(table_scan.as_of, table_scan.table.name, txn, runtime)
    return txn.visible[table_scan.table.name]


@contextmanager
def register_views(sources: Iterable[Source], txn: Transaction, runtime: Runtime) -> Iterator[None]:
    """Make each source a view inside the block, for conditions with subqueries."""
    frames = [(source.view, read(source.scan, txn, runtime)) for source in sources]
    with _views:
        for view, frame in frames:
            frame.createOrReplaceTempView(quote_name(view))
        try:
            yield
        finally:
            for view, _ in frames:
                runtime.spark().catalog.dropTempView(view)


def rows_of(
    query: Query,
    txn: Transaction,
    runtime: Runtime,
    frame_of: Callable[[Source], DataFrame] | None = None,
) -> DataFrame:
    """Give the query's rows, lazily; ``frame_of`` gives those of known sources."""
    spark = runtime.spark()
    register_called(spark, [query.sql])
    frame_of_source = frame_of or (lambda source: read(source.scan, txn, runtime))
    frames = {source.view: frame_of_source(source) for source in query.sources}
    with as_user_errors():
        rows = query_over(spark, query.sql, frames) if frames else spark.sql(query.sql)
        return with_grand_totals(rows, query.sql)


@contextmanager
def as_user_errors() -> Iterator[None]:
    """Turn Spark's analysis errors into the user's."""
    try:
        yield
    except (AnalysisException, ParseException) as error:
        message, condition = message_of(error)
        first = message.splitlines()[0]
        kind = condition.partition(".")[0]
        failure = SemanticError(
            f"the query cannot be analysed: {first}", code=_CODES.get(kind, _code_of(first))
        )
        failure.fragment = fragment_of(error)
        raise failure from error


def _code_of(message: str) -> int | None:
    # Before Spark 4.1 this condition has no name.
    return 10014 if "No handler for UDF/UDAF/UDTF" in message else None


# What Hive calls that which Spark finds.
_CODES = {
    "MISSING_AGGREGATION": 10025,
    "MISSING_GROUP_BY": 10025,
    "UNRESOLVED_COLUMN": 10004,
    "GROUPING_COLUMN_MISMATCH": 10409,
    "WRONG_NUM_ARGS": 10015,
    "DATATYPE_MISMATCH": 10016,
    "UDTF_ALIAS_NUMBER_MISMATCH": 10083,
    "FIELD_NOT_FOUND": 10002,
    "INVALID_EXTRACT_BASE_FIELD_TYPE": 10033,
    "INVALID_WHERE_CONDITION": 10128,
    "CANNOT_INSTANTIATE_HIVE_FUNCTION": 10014,
    "WINDOW_FUNCTION_WITHOUT_OVER_CLAUSE": 10247,
    "INVALID_SUBQUERY_EXPRESSION": 10250,
    "UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY": 10249,
    "SCALAR_SUBQUERY_IS_IN_GROUP_BY_OR_AGGREGATE_FUNCTION": 10249,
}
