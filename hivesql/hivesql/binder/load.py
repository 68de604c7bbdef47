"""LOAD DATA, MSCK and ANALYZE."""

from __future__ import annotations

from hivesql.binder.constraints import enforced
from hivesql.binder.targets import check_lengths, new_values, written_value
from hivesql.binding import Binding
from hivesql.dialect.nodes.ddl import AnalyzeBody, LoadBody, RepairBody
from hivesql.dialect.slices import PartitionItems
from hivesql.query.strict_checks import check_chosen
from hivesql_planner.errors import SemanticError
from hivesql_planner.model.statistics import is_simple, statistics_sql
from hivesql_planner.model.table import FRAMES, Column, Partition, Table, TableName
from hivesql_planner.relations import Query, Scan, Source
from hivesql_planner.statements.bound import InsertRows, InsertTarget
from hivesql_planner.statements.ddl import Analyze, LoadData, RepairTable


def bind_load(body: LoadBody, binding: Binding) -> LoadData | InsertRows:
    """LOAD DATA, with the checks that need no file.

    Files that have to be read, as they are to be distributed or of another format, are inserted.
    """
    table = binding.table(body.table)
    if table.is_view or table.is_materialized_view:
        error = SemanticError(
            "A view cannot be used as target table for LOAD or INSERT", code=10090
        )
        binding.fail(error, body.table.start)
    if table.skew is not None and table.skew.in_directories:
        error = SemanticError(
            "A stored-as-directories table cannot be used as target for LOAD", code=10195
        )
        binding.fail(error, body.table.start)
    items = body.partition or ()
    if items and not table.partition_columns:
        error = SemanticError(
            f"{table.name} table is not partitioned but partition spec exists", code=10006
        )
        binding.fail(error, items[0].key.start)
    given = binding.partition_values(table, items)
    dynamic = tuple(name for name in table.partition_names if name not in given)
    if table.is_bucketed or dynamic or body.format is not None:
        return _as_insert(body, table, items, binding)
    values = new_values(table, items, binding) if items else None
    return LoadData(
        table=table,
        path=body.path,
        local=body.local,
        overwrite=body.overwrite,
        values=values,
        partition=binding.catalog.partition(table.name, values) if values else None,
    )


def _as_insert(body: LoadBody, table: Table, items: PartitionItems, binding: Binding) -> InsertRows:
    """Make the INSERT that reads the files: data columns, then those that have no value."""
    given = binding.partition_values(table, items)
    static = {
        column.name: written_value(column, given[column.name], items, binding)
        for column in table.partition_columns
        if column.name in given
    }
    dynamic = table.partition_columns[len(static) :]
    if any(column.name in static for column in dynamic):
        text = "Partition columns in the partition clause: a dynamic one comes before a static one"
        binding.fail(SemanticError(text, code=10094), items[0].key.start)
    if static:
        check_lengths(tuple(static), tuple(static.values()), items, binding)
    files = Table(
        name=TableName(FRAMES, "files"),
        columns=(*table.columns, *dynamic),
        location=body.path,
        type="EXTERNAL_TABLE",
        format=body.format or table.format,
        serde_properties={} if body.format else table.serde_properties,
        properties={"local": "true"} if body.local else {},
    )
    view = binding.view_name(files.name)
    query = Query(
        sql=f"SELECT * FROM `{view}`",
        sources=(Source(view=view, scan=Scan(table=files)),),
        columns=files.columns,
    )
    values = tuple(static.values())
    whole = bool(static) and not dynamic
    target = InsertTarget(
        table=table,
        query=query,
        overwrite=body.overwrite,
        static_partition=static,
        dynamic_partition=tuple(column.name for column in dynamic),
        check=enforced(table, binding),
        partition=binding.catalog.partition(table.name, values) if whole else None,
    )
    return InsertRows(targets=(target,))


def bind_repair(body: RepairBody, binding: Binding) -> RepairTable:
    """MSCK."""
    table = binding.table(body.table)
    if table.is_view:
        error = SemanticError(f"{table.name} is a view: MSCK does not apply", code=10131)
        binding.fail(error, body.table.start)
    return RepairTable(table=table, add=body.add, drop=body.drop)


def bind_analyze(body: AnalyzeBody, binding: Binding) -> Analyze:
    """ANALYZE: all partitions unless some are named."""
    table = binding.table(body.table)
    if table.is_view:
        error = SemanticError("ANALYZE is not supported for views", code=10091)
        binding.fail(error, body.table.start)
    if body.partition is not None and not table.partition_columns:
        error = SemanticError(
            f"{table.name} table is not partitioned but partition spec exists", code=10006
        )
        binding.fail(error, body.partition[0].key.start)
    if body.columns is not None and body.partition is None:
        check_chosen(table, body.table.start, binding)
    count = binding.catalog.partition_count(table.name) if table.partition_columns else 0
    partitions: tuple[Partition, ...] = ()
    if count:
        some = body.partition
        partitions = (
            binding.matching(table, some) if some else binding.catalog.partitions(table.name)
        )
    columns = _columns(body, table, binding)
    query = None
    if not body.no_scan:
        scan = Scan(table=table, partitions=partitions, partition_count=count)
        view = binding.view_name(table.name)
        sql = statistics_sql(table, view, columns)
        query = Query(sql=sql, sources=(Source(view=view, scan=scan),))
    return Analyze(table=table, partitions=partitions, query=query, columns=columns)


def _columns(body: AnalyzeBody, table: Table, binding: Binding) -> tuple[Column, ...]:
    if body.columns is None:
        return ()
    known = {column.name: column for column in table.columns if is_simple(column)}
    for name in body.columns:
        if name.text not in known:
            error = SemanticError(
                f"Invalid column reference '{name.text}' "
                f"(possible columns are [{', '.join(known)}])",
                code=10002,
            )
            binding.fail(error, name.start)
    return tuple(known[name.text] for name in body.columns) or tuple(known.values())
