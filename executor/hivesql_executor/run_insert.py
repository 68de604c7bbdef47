"""INSERT and CREATE TABLE … AS SELECT, branch after branch."""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import DataFrame

from hivesql_executor.outcome import Outcome
from hivesql_executor.sources import explained, rows_of
from hivesql_executor.spark.types import hive_type
from hivesql_executor.spark.write import write_insert
from hivesql_executor.tables import create_table
from hivesql_executor.touched import foreign_locations, record_partitions, staging_directory
from hivesql_executor.work import Work
from hivesql_planner.errors import SemanticError
from hivesql_planner.plan import Insert, InsertBranch, Operation, WriteKind
from hivesql_planner.table import Column, Table, partition_name


def run_insert(insert: Insert, work: Work) -> Outcome:
    """Write every branch; a table made for the rows goes again when they cannot be written."""
    if insert.create is None:
        return _insert_branches(insert, work, None)
    (branch,) = insert.branches
    rows = rows_of(branch.query, work.txn, work.runtime)
    created = create_table(_shaped(insert.create, rows), work.runtime)
    try:
        return _insert_branches(insert, work, created)
    except BaseException:
        work.runtime.metastore.drop_table(created.name)
        work.runtime.files(created.location).delete(created.location)
        raise


def _shaped(table: Table, rows: DataFrame) -> Table:
    """The table with the columns that the query gives, partition columns last."""
    columns = [
        Column(field.name.lower(), hive_type(field.dataType.simpleString()))
        for field in rows.schema.fields
    ]
    for field in rows.schema.fields:
        if field.dataType.simpleString() == "void":
            raise SemanticError(
                "CREATE-TABLE-AS-SELECT creates a VOID type, please use CAST to specify the type, "
                f"near field:  {field.name}",
                code=10305,
            )
    data = len(columns) - len(table.partition_columns)
    return replace(table, columns=tuple(columns[:data]), partition_columns=tuple(columns[data:]))


def _insert_branches(insert: Insert, work: Work, created: Table | None) -> Outcome:
    affected = 0
    for branch in insert.branches:
        table = created or branch.write.table
        affected += _insert_branch(branch, table, work)
    return Outcome(affected=affected)


def _insert_branch(branch: InsertBranch, table: Table, work: Work) -> int:
    runtime = work.runtime
    rows = rows_of(branch.query, work.txn, runtime)
    if not branch.query.sources:
        # Rows that stand in the statement make one file, as in Hive.
        rows = rows.coalesce(1)
    expected = len(table.columns) + len(branch.dynamic_partition)
    if len(rows.columns) != expected:
        raise SemanticError(
            f"{table.name} takes {expected} columns here, the query gives {len(rows.columns)}",
            code=10044,
        )
    with explained():
        written = write_insert(
            rows,
            replace(branch.write, table=table),
            write_id=work.txn.write_ids.get(table.name, 0),
            static_partition=branch.static_partition,
            dynamic_partition=branch.dynamic_partition,
            files=runtime.files(table.location),
            staging=staging_directory(table),
            locations=foreign_locations(table, runtime),
            check=branch.check,
        )
    operation = Operation.UPDATE if branch.write.kind is WriteKind.BASE else Operation.INSERT
    touched = {file.partition for file in written if file.partition}
    if branch.static_partition and not branch.dynamic_partition:
        touched.add(_static_name(branch, table))
    record_partitions(table, touched, operation, work, dynamic=bool(branch.dynamic_partition))
    return sum(file.rows for file in written)


def _static_name(branch: InsertBranch, table: Table) -> str:
    return partition_name(
        table.partition_names, [branch.static_partition[key] for key in table.partition_names]
    )
