"""A plan under one transaction, on one page."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from hivesql_executor.command import run_command
from hivesql_executor.failpoints import FailPoint, reach
from hivesql_executor.object_locks import holding_objects
from hivesql_executor.outcome import Outcome
from hivesql_executor.runtime import Runtime
from hivesql_executor.sources import explained, read, registered, rows_of
from hivesql_executor.spark.change import cardinality_violation, change_events, change_writes
from hivesql_executor.spark.checks import constraint_violation
from hivesql_executor.spark.types import hive_type
from hivesql_executor.spark.values import as_wall_clock
from hivesql_executor.spark.write import WrittenFile, write_change, write_insert
from hivesql_executor.tables import create_table
from hivesql_executor.transaction import (
    OpenTransaction,
    Transaction,
    continuing,
    transaction,
)
from hivesql_planner.errors import ExecutionError, HiveSqlError, SemanticError
from hivesql_planner.plan import (
    Change,
    Command,
    Insert,
    InsertBranch,
    Operation,
    Plan,
    Select,
    WriteKind,
)
from hivesql_planner.table import Column, Partition, Table, parse_partition_name, partition_name

Consume = Callable[[DataFrame], Any]


@dataclass(frozen=True, slots=True)
class _Work:
    """What the steps of one statement share."""

    plan: Plan
    txn: Transaction
    runtime: Runtime
    consume: Consume


def run(
    plan: Plan,
    runtime: Runtime,
    *,
    consume: Consume = DataFrame.collect,
    inside: OpenTransaction | None = None,
) -> Outcome:
    """Carry out a plan and commit it, or raise and leave nothing visible.

    ``consume`` gets the rows of a SELECT while its snapshot is held. StaleSnapshot means that
    the statement should be planned again (its transaction is aborted). A plan ``inside`` an open
    transaction goes on with its statement ids, and is committed with it.
    """
    if inside is not None:
        plan = continuing(plan, inside)
    try:
        with holding_objects(plan, runtime):
            if isinstance(plan.body, Command) and not plan.opens_txn:
                return run_command(plan.body.statement, None, runtime)
            with transaction(plan, runtime, inside) as txn:
                return _run_body(_Work(plan, txn, runtime, consume))
    except (PySparkException, Py4JJavaError) as error:
        raise _spark_failure(error) from error


def _spark_failure(error: Exception) -> HiveSqlError:
    violation = cardinality_violation(error) or constraint_violation(error)
    if violation:
        return violation
    lines = str(error).splitlines()
    caused = next((line for line in reversed(lines) if line.startswith("Caused by: ")), lines[0])
    return ExecutionError(f"the Spark job failed: {caused.removeprefix('Caused by: ')}")


def _run_body(work: _Work) -> Outcome:
    match work.plan.body:
        case Select(query=query):
            frame = as_wall_clock(rows_of(query, work.txn, work.runtime))
            return Outcome.of_query(frame, work.consume(frame))
        case Insert() as insert:
            return _run_insert(insert, work)
        case Change() as change:
            return _run_change(change, work)
        case Command(statement=statement):
            return run_command(statement, work.txn, work.runtime)


def _run_insert(insert: Insert, work: _Work) -> Outcome:
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


def _insert_branches(insert: Insert, work: _Work, created: Table | None) -> Outcome:
    affected = 0
    for branch in insert.branches:
        table = created or branch.write.table
        affected += _insert_branch(branch, table, work)
    return Outcome(affected=affected)


def _insert_branch(branch: InsertBranch, table: Table, work: _Work) -> int:
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
            staging=_staging(table),
            locations=_locations(table, runtime),
            check=branch.check,
        )
    operation = Operation.UPDATE if branch.write.kind is WriteKind.BASE else Operation.INSERT
    touched = {file.partition for file in written if file.partition}
    if branch.static_partition and not branch.dynamic_partition:
        touched.add(_static_name(branch, table))
    _record_partitions(table, touched, operation, work, dynamic=bool(branch.dynamic_partition))
    return sum(file.rows for file in written)


def _run_change(change: Change, work: _Work) -> Outcome:
    table, runtime = change.target.table, work.runtime
    target = read(change.target, work.txn, runtime, with_partition_texts=True)
    source = rows_of(change.source, work.txn, runtime) if change.source else None
    with registered(change.queries, work.txn, runtime), explained():
        events = change_events(change, target, source)
    writes = change_writes(change)
    written = write_change(
        events,
        writes,
        write_id=work.txn.write_ids[table.name],
        files=runtime.files(table.location),
        staging=_staging(table),
        locations=_locations(table, runtime),
    )
    for operation, kind in (
        (Operation.DELETE, WriteKind.DELETE_DELTA),
        (Operation.INSERT, WriteKind.DELTA),
    ):
        touched = {file.partition for file in written if file.partition and file.kind is kind}
        _record_partitions(table, touched, operation, work, dynamic=True)
    return Outcome(affected=_affected(change, written))


def _affected(change: Change, written: Collection[WrittenFile]) -> int:
    """Rows of the table that were changed: an update's two events are one row."""
    halves = {
        branch.insert.statement_id for branch in change.branches if branch.delete and branch.insert
    }
    return sum(
        file.rows
        for file in written
        if not (file.kind is WriteKind.DELTA and file.statement_id in halves)
    )


def _record_partitions(
    table: Table, touched: Collection[str], operation: Operation, work: _Work, *, dynamic: bool
) -> None:
    """Tell the catalog of new partitions, and the transaction of those it wrote."""
    store = work.runtime.metastore
    if not table.partition_columns:
        return
    known = {
        partition_name(table.partition_names, partition.values)
        for partition in store.partitions(table.name)
    }
    fresh = [name for name in sorted(touched) if name not in known]
    store.add_partitions(
        table.name, [_partition(table, name) for name in fresh], if_not_exists=True
    )
    if table.is_transactional and dynamic:
        store.add_dynamic_partitions(
            work.txn.id, work.txn.write_ids[table.name], table.name, sorted(touched), operation
        )
    reach(FailPoint.PARTITIONS_RECORDED)


def _partition(table: Table, name: str) -> Partition:
    return Partition(values=parse_partition_name(name), location=f"{table.location}/{name}")


def _static_name(branch: InsertBranch, table: Table) -> str:
    return partition_name(
        table.partition_names, [branch.static_partition[key] for key in table.partition_names]
    )


def _locations(table: Table, runtime: Runtime) -> dict[str, str]:
    """Directories of the partitions that do not live under their table."""
    if not table.partition_columns:
        return {}
    named = (
        (partition_name(table.partition_names, partition.values), partition.location)
        for partition in runtime.metastore.partitions(table.name)
    )
    return {name: place for name, place in named if place != f"{table.location}/{name}"}


def _staging(table: Table) -> str:
    return f"{table.location}/.hive-staging_hivesql_{uuid.uuid4().hex}"
