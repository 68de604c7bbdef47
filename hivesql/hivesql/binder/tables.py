"""CREATE and DROP of databases, DROP and TRUNCATE of tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hivesql.binder.targets import base_table, existing
from hivesql.binding import Binding
from hivesql.dialect.nodes.alter import ConcatenateBody
from hivesql.dialect.nodes.ddl import (
    CreateDatabaseBody,
    DropDatabaseBody,
    DropTableBody,
    TruncateBody,
)
from hivesql.dialect.tokens import Name
from hivesql_planner.errors import HiveSqlError, NoSuchObject, SemanticError
from hivesql_planner.model.names import check_database_name
from hivesql_planner.model.table import Database, Partition, Table
from hivesql_planner.relations import Query, Scan, Source
from hivesql_planner.statements.bound import (
    CompactTable,
    CreateDatabase,
    DropDatabase,
    DropTable,
    InsertRows,
    InsertTarget,
    TruncateTable,
)

_CONTAINERS = ("orc", "rcfile", "rctext")
"""Formats whose files CONCATENATE merges."""


def bind_create_database(body: CreateDatabaseBody, binding: Binding) -> CreateDatabase:
    """CREATE DATABASE."""
    try:
        special = binding.settings.flag("hive.support.special.characters.tablename")
        check_database_name(body.name.text, special=special)
    except HiveSqlError as error:
        binding.fail(error, body.name.start)
    database = Database(
        name=body.name.text, location=body.location, comment=body.comment,
        properties=dict(body.properties), managed_location=body.managed_location,
    )  # fmt: skip
    return CreateDatabase(database=database, if_not_exists=body.if_not_exists)


def bind_drop_database(body: DropDatabaseBody, binding: Binding) -> DropDatabase:
    """DROP DATABASE: an unknown name is no error with IF EXISTS."""
    if not body.if_exists:
        binding.check_database(body.name)
    name = body.name.text
    by_table = body.cascade and binding.settings.flag("hive.acid.lockless.reads.enabled")
    try:
        tables = binding.catalog.tables_in(name) if by_table else ()
    except NoSuchObject:
        tables = ()
    return DropDatabase(name=name, if_exists=body.if_exists, cascade=body.cascade, tables=tables)


def bind_drop_table(body: DropTableBody, binding: Binding) -> DropTable:
    """DROP TABLE, DROP VIEW: by default Hive ignores an unknown name also without IF EXISTS."""
    if_exists = body.if_exists
    if not if_exists:
        try:
            binding.table(body.table)
        except NoSuchObject:
            if not binding.settings.flag("hive.exec.drop.ignorenonexistent"):
                raise
            if_exists = True
    return DropTable(
        name=body.table.full(binding.database), if_exists=if_exists, purge=body.purge,
        kind=body.kind,
    )  # fmt: skip


def _check_columns(names: tuple[Name, ...], table: Table, binding: Binding) -> None:
    """Refuse what TRUNCATE … COLUMNS cannot empty: it is for RCFile."""
    if table.format not in ("rcfile", "rctext"):
        error = SemanticError("Only RCFileFormat supports column truncation.", code=10237)
        binding.fail(error, names[0].start)
    for name in names:
        if name.text not in table.column_names:
            error = SemanticError(f"Invalid column reference {name.text}", code=10002)
            binding.fail(error, name.start)
        if table.skew and table.skew.in_directories and name.text in table.skew.columns:
            error = SemanticError(
                "A column on which a partition/table is list bucketed cannot be truncated. "
                f"{name.text}", code=10240,
            )  # fmt: skip
            binding.fail(error, name.start)
        if name.text in table.bucket_columns:
            error = SemanticError(
                "A column on which a partition/table is bucketed cannot be truncated. "
                f"{name.text}", code=10239,
            )  # fmt: skip
            binding.fail(error, name.start)


def _rewritten(
    table: Table,
    items: Mapping[str, str],
    partitions: tuple[Partition, ...] | None,
    binding: Binding,
) -> InsertRows:
    """Make the INSERT OVERWRITE that writes the same rows anew; ``items`` are other columns."""
    count = binding.catalog.partition_count(table.name) if table.partition_columns else 0
    if partitions is None:
        partitions = binding.catalog.partitions(table.name) if count else ()
    view = binding.view_name(table.name)
    scan = Scan(table=table, partitions=partitions, partition_count=count)
    chosen = (
        items.get(name, f"`{name}`") for name in (*table.column_names, *table.partition_names)
    )
    query = Query(
        sql=f"SELECT {', '.join(chosen)} FROM `{view}`",
        sources=(Source(view=view, scan=scan),),
        columns=table.all_columns,
    )
    target = InsertTarget(
        table=table, query=query, overwrite=True, dynamic_partition=table.partition_names
    )
    return InsertRows(targets=(target,))


def bind_concatenate(body: ConcatenateBody, binding: Binding) -> CompactTable | InsertRows:
    """CONCATENATE: a major compaction where there are deltas, else the same rows in few files."""
    table = base_table(body.table, binding)
    partition = existing(table, body.partition, binding) if body.partition else None
    if table.partition_columns and partition is None:
        error = SemanticError(
            f"source table {table.name} is partitioned but no partition desc found."
        )
        binding.fail(error, body.start)
    partitions = (partition,) if partition else None
    if table.is_transactional:
        return CompactTable(table=table, kind="major", partitions=partitions or (), wait=True)
    stored = table.described_as(partition)
    problems = (
        (table.type != "MANAGED_TABLE", "can only be performed on managed tables", 30034),
        (stored.format not in _CONTAINERS, "only supported for RCFile and ORCFile formats", 30030),
        (bool(stored.bucket_columns), "can not be performed on bucketed tables", 30031),
    )
    for holds, problem, code in problems:
        if holds:
            binding.fail(SemanticError(f"Concatenate/Merge {problem}", code=code), body.start)
    (target,) = _rewritten(table, {}, partitions, binding).targets
    return InsertRows(targets=(replace(target, concatenates=True),))


def bind_truncate(body: TruncateBody, binding: Binding) -> TruncateTable | InsertRows:
    """TRUNCATE TABLE; with COLUMNS the rows are written anew."""
    table = binding.table(body.table)
    forced = table.type == "EXTERNAL_TABLE" and body.force
    if table.is_materialized_view or not (table.owns_files or forced):
        error = SemanticError(f"Cannot truncate non-managed table {table.name}.", code=10146)
        binding.fail(error, body.table.start)
    if body.columns:
        _check_columns(body.columns, table, binding)
    if body.partition and not table.partition_columns:
        error = SemanticError(
            f"Partition spec for non partitioned table {table.name.name}.", code=10148
        )
        binding.fail(error, body.partition[0].key.start)
    partitions = binding.matching(table, body.partition) if body.partition else None
    if body.columns:
        emptied = {
            name.text: f"if(false, `{name.text}`, NULL) AS `{name.text}`" for name in body.columns
        }
        return _rewritten(table, emptied, partitions, binding)
    return TruncateTable(table=table, partitions=partitions)
