"""The rows of a query into a table, by Spark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pyspark.sql import DataFrame

from hivesql_executor.bookkeeping.partitions import foreign_partitions, staging_directory
from hivesql_executor.bookkeeping.statistics import what_to_measure
from hivesql_executor.orc.publish import Measured, Publication, StagedRows
from hivesql_executor.orc.types import hive_type
from hivesql_executor.snapshot.listing import data_sizes, table_roots
from hivesql_executor.spark.scan.nanoseconds import nanosecond_rows_of
from hivesql_executor.spark.scan.sources import as_user_errors, rows_of
from hivesql_executor.spark.write.partition_clustering import NEVER
from hivesql_executor.spark.write.write import stage_insert
from hivesql_executor.statements.context import Work
from hivesql_planner.errors import NotSupported, SemanticError
from hivesql_planner.model.conversions import check_assignment
from hivesql_planner.model.hive_type import (
    INSTANT,
    INTERVALS,
    SIZED_TEXTS,
    TIMESTAMP,
    UNKNOWN,
    HiveType,
    Kind,
)
from hivesql_planner.model.partition_values import default_partition
from hivesql_planner.model.table import Column, Table
from hivesql_planner.plan import InsertBranch
from hivesql_planner.settings.compression import read_compression
from hivesql_planner.settings.session_zone import session_zone
from hivesql_planner.statements.surrogate_keys import with_write_id


def shaped(table: Table, branch: InsertBranch, work: Work) -> Table:
    """Return the table with the columns that the query gives, partition columns last."""
    rows = rows_of(branch.query, work.txn, work.runtime)
    types = [column.type for column in branch.query.columns] or [UNKNOWN] * len(rows.columns)
    return _shaped(table, rows, types)


def _shaped(table: Table, rows: DataFrame, types: Sequence[HiveType]) -> Table:
    """``types``: Hive's types where the query tells; Spark has no CHAR and VARCHAR."""
    columns = [
        Column(field.name.lower(),
               kind if kind.holds(*SIZED_TEXTS) else hive_type(field.dataType.simpleString()))
        for field, kind in zip(rows.schema.fields, types, strict=True)
    ]  # fmt: skip
    for field in rows.schema.fields:
        if field.dataType.simpleString() == "void":
            raise SemanticError(
                "CREATE-TABLE-AS-SELECT creates a VOID type, please use CAST to specify the type, "
                f"near field:  {field.name}",
                code=10305,
            )
    for column in columns:
        if column.type.holds(*INTERVALS, Kind.OTHER):
            raise SemanticError(
                f"the column {column.name} would be {column.type}, which no table can have. "
                "CAST it to STRING",
                code=40000,
            )
    data = len(columns) - len(table.partition_columns)
    return replace(table, columns=tuple(columns[:data]), partition_columns=tuple(columns[data:]))


def _check_types(rows: DataFrame, branch: InsertBranch, table: Table, work: Work) -> None:
    """Refuse what Hive does not convert, where the query's types were not known before Spark."""
    types = {column.name: column.type for column in table.all_columns}
    names = (*table.column_names, *branch.dynamic_partition)
    strict = work.runtime.settings.flag("hive.strict.timestamp.conversion")
    zone = session_zone(work.runtime.settings)
    has_type = [column.type.is_known for column in branch.query.columns]
    for i, (name, field) in enumerate(zip(names, rows.schema.fields, strict=True)):
        source = HiveType.parse(field.dataType.simpleString())
        check_assignment(source, types[name], strict=strict)
        is_moment = source == TIMESTAMP and types[name] == INSTANT and zone is not None
        if is_moment and not (i < len(has_type) and has_type[i]):
            what = f"a value for {name} ({INSTANT}) whose type only Spark knows, in {zone}: CAST it"
            raise NotSupported(what)


def _files_for(branch: InsertBranch, work: Work) -> int:
    """Tell how many files CONCATENATE makes of those that are there."""
    size = 0
    for source in branch.query.sources:
        table = source.scan.table
        files = work.runtime.files(table.location)
        for _, root in table_roots(table, source.scan.partitions):
            size += sum(data_sizes(files.list(root)))
    return 1 + size // work.runtime.settings.integer("hive.merge.size.per.task")


def stage_query(branch: InsertBranch, table: Table, work: Work) -> StagedRows:
    """Run the query and stage what it gives; SemanticError 10044 for a wrong number of columns."""
    runtime, write_id = work.runtime, work.txn.write_ids.get(table.name, 0)
    sql = with_write_id(branch.query.sql, write_id, branch.write.statement_id)
    nanosecond_rows = nanosecond_rows_of(replace(branch.query, sql=sql), work.txn, runtime)
    rows = nanosecond_rows.rows
    if not branch.query.sources:
        # Rows that stand in the statement make one file, as in Hive.
        rows = rows.coalesce(1)
    with_texts = nanosecond_rows.whole if nanosecond_rows.nanoseconds else rows
    if branch.concatenates:
        with_texts = with_texts.coalesce(_files_for(branch, work))
    expected = len(table.columns) + len(branch.dynamic_partition)
    if len(rows.columns) != expected:
        raise SemanticError(
            f"{table.name} takes {expected} columns here, the query gives {len(rows.columns)}",
            code=10044,
        )
    _check_types(rows, branch, table, work)
    foreign = foreign_partitions(table, runtime)
    gathering = runtime.settings.integer("hive.optimize.sort.dynamic.partition.threshold")
    publication = Publication(
        writes=(replace(branch.write, table=table),),
        write_id=write_id,
        staging=staging_directory(table, work.txn.id),
        static_partition=dict(branch.static_partition),
        dynamic_partition=tuple(branch.dynamic_partition),
        locations={name: partition.location for name, partition in foreign.items()},
        unlike=frozenset(
            name for name, partition in foreign.items() if not table.writes_like(partition)
        ),
        changes=work.txn.changes,
        measuring=what_to_measure(table, branch, runtime),
        default_partition=default_partition(runtime.settings),
        compression=read_compression(runtime.settings, table.format),
    )
    literals = _measured(branch, publication)
    with as_user_errors():
        staged = stage_insert(
            with_texts,
            publication,
            runtime.files(table.location),
            check=branch.check,
            source_types=[column.type for column in branch.query.columns],
            nanoseconds=nanosecond_rows.nanoseconds,
            gathering=gathering if branch.query.sources else NEVER,
            zone=session_zone(runtime.settings),
        )
    return replace(staged, columns=literals) if literals and not staged.columns else staged


def _measured(branch: InsertBranch, publication: Publication) -> Measured:
    """Measure rows that stand in the statement, beside Spark."""
    literals = branch.literals
    if literals is None or not publication.measuring.columns:
        return {}
    from hivesql_executor.local.insert import measured_literals, rows_of

    row = rows_of(literals, publication.table)
    return measured_literals(literals, row, publication, publication.measuring)
