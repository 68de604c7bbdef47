"""Statistics of columns: by ANALYZE's own job, or by the job that writes the rows."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from hivesql_executor.jvm import gateway
from hivesql_executor.outcome import Outcome
from hivesql_executor.runtime import Runtime
from hivesql_executor.snapshot.listing import acid_state, data_sizes, table_roots, visible_sizes
from hivesql_executor.spark.scan.sources import rows_of
from hivesql_executor.transactions.transaction import Transaction
from hivesql_planner.model.partition_values import normal_value
from hivesql_planner.model.statistics import (
    ColumnStatistics,
    Measuring,
    Statistics,
    column_statistics,
    counting_items,
)
from hivesql_planner.model.table import Column
from hivesql_planner.statements.ddl import Analyze

_PER_COLUMN = 6


def analyze(statement: Analyze, txn: Transaction | None, runtime: Runtime) -> Outcome:
    """Gather and store the statistics of a table, or of each of some partitions."""
    table, store = statement.table, runtime.metastore
    counted: dict[tuple[str | None, ...] | None, Statistics] = {}
    if statement.query is not None:
        assert txn is not None
        counted = _count(statement, txn, runtime)
    files = runtime.files(table.location)
    txns = txn.txns if txn is not None else store.valid_txns()
    valid = txn.visible if txn is not None and table.name in txn.visible else None
    visible = (valid or store.valid_write_ids(txns, [table.name]))[table.name]
    measured = []
    roots = list(table_roots(table, statement.partitions))
    without_rows = None
    known = {partition.values if partition else None for partition, _ in roots}
    if statement.query is not None and counted.keys() <= known:
        # A partition without rows is no row of the result.
        nothing = (0, 0, None, None, None, None)
        columns = (column_statistics(column, 0, nothing) for column in statement.columns)
        without_rows = Statistics(rows=0, columns=tuple(columns))
    for partition, location in roots:
        if table.is_transactional:
            sizes = visible_sizes(acid_state(files, location, visible, txns))
        else:
            sizes = data_sizes(files.list(location))
        scanned = counted.get(partition.values if partition else None, without_rows)
        measured.append(
            Statistics(
                values=partition.values if partition else None,
                rows=scanned.rows if scanned else None,
                files=len(sizes),
                bytes=sum(sizes),
                columns=scanned.columns if scanned else (),
                writes=visible.format(),
            )
        )
    store.put_statistics(table.name, measured)
    return Outcome()


def _count(
    statement: Analyze, txn: Transaction, runtime: Runtime
) -> dict[tuple[str | None, ...] | None, Statistics]:
    """Rows and columns by partition; there is one row of the result for each."""
    assert statement.query is not None
    table = statement.table
    keys = len(table.partition_columns)
    by_partition: dict[tuple[str | None, ...] | None, Statistics] = {}
    for row in rows_of(statement.query, txn, runtime).collect():
        cells = tuple(row)
        values = tuple(
            None if cell is None else normal_value(str(cell), column.type)
            for cell, column in zip(cells[:keys], table.partition_columns, strict=True)
        )
        rows = int(cells[keys])
        columns: list[ColumnStatistics] = []
        for i, column in enumerate(statement.columns):
            start = keys + 1 + i * _PER_COLUMN
            columns.append(column_statistics(column, rows, cells[start : start + _PER_COLUMN]))
        by_partition[values if keys else None] = Statistics(
            values=values if keys else None, rows=rows, columns=tuple(columns)
        )
    return by_partition


@dataclass(frozen=True, slots=True)
class Observation:
    """Some columns of rows that are measured while a job passes the rows on."""

    columns: tuple[Column, ...]
    name: str

    def over(self, rows: DataFrame) -> DataFrame:
        """Return the rows, which measure themselves when a job reads them."""
        gateway(rows.sparkSession).observe()
        items = counting_items(self.columns)
        cells = (f.expr(item).alias(f"m{i}") for i, item in enumerate(items))
        return rows.observe(self.name, *cells)

    def columns_of(self, spark: SparkSession) -> tuple[ColumnStatistics, ...]:
        """Tell what a finished job has measured; nothing where Spark does not tell."""
        text = gateway(spark).observed(self.name)
        if text is None:
            return ()
        cells = json.loads(text)
        measured = []
        for i, column in enumerate(self.columns):
            start = 1 + i * _PER_COLUMN
            values = tuple(cells.get(f"m{at}") for at in range(start, start + _PER_COLUMN))
            measured.append(column_statistics(column, int(cells["m0"]), values))
        return tuple(measured)


def observation_of(rows: DataFrame, measuring: Measuring) -> Observation | None:
    """Tell how rows are measured while they are written; None where they are not.

    Spark sums up what is observed row by row, without generated code: it may cost many times what
    the write does. Therefore only small ones, and only where the user wants it.
    """
    if not measuring.columns or measuring.most_bytes <= 0:
        return None
    if int(gateway(rows.sparkSession).bytesRead(rows._jdf)) > measuring.most_bytes:
        return None
    return Observation(measuring.columns, f"hivesql {uuid.uuid4()}")
