"""What files bring and tell: LOAD, EXPORT, IMPORT, MSCK, ANALYZE."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from hivesql.binder.constraints import enforced
from hivesql.binder.partitions import condition_of
from hivesql.binder.targets import (
    check_lengths,
    check_managed,
    new_values,
    written_value,
)
from hivesql.binding import Binding
from hivesql.dialect.nodes.parts import (
    filters_of,
    names_of,
    partition_of,
    table_of,
)
from hivesql.dialect.slices import RANGE, PartitionItems
from hivesql.dialect.statements.storage import format_of_serde
from hivesql.python_sqlglot import exp
from hivesql.query.strict_checks import check_chosen
from hivesql_executor.metastore.database.catalog.storage_formats import STORAGE
from hivesql_planner.errors import HiveSqlError, NoSuchObject, NotSupported, SemanticError
from hivesql_planner.model.hive_type import quote_name
from hivesql_planner.model.partition_values import normal_value
from hivesql_planner.model.statistics import is_simple, statistics_sql
from hivesql_planner.model.table import (
    FRAMES,
    Column,
    Partition,
    Table,
    TableName,
    partition_name,
    uncommented,
)
from hivesql_planner.relations import Query, Scan, Source
from hivesql_planner.statements.bound import InsertRows, InsertTarget
from hivesql_planner.statements.ddl import Analyze, LoadData, RepairTable
from hivesql_planner.statements.export import Dump, ExportTable, ImportTable

_OF_COLUMNS = "FOR COLUMNS"


def bind_load(node: exp.Expr, binding: Binding) -> LoadData | InsertRows:
    """LOAD DATA, with the checks that need no file.

    Files that have to be read, as they are to be distributed or of another format, are inserted.
    """
    ref = table_of(node.this)
    table = binding.table(ref)
    if table.is_view or table.is_materialized_view:
        error = SemanticError(
            "A view cannot be used as target table for LOAD or INSERT", code=10090
        )
        binding.fail(error, ref.start)
    if table.skew is not None and table.skew.in_directories:
        error = SemanticError(
            "A stored-as-directories table cannot be used as target for LOAD", code=10195
        )
        binding.fail(error, ref.start)
    items = partition_of(node.args["partition"]) or ()
    if items and not table.partition_columns:
        error = SemanticError(
            f"{table.name} table is not partitioned but partition spec exists", code=10006
        )
        binding.fail(error, items[0].key.start)
    key_values = binding.partition_values(table, items)
    dynamic = tuple(name for name in table.partition_names if name not in key_values)
    if table.is_bucketed or dynamic or node.args["serde"]:
        return _as_insert(node, table, items, binding)
    values = new_values(table, items, binding) if items else None
    return LoadData(
        table=table,
        path=node.args["inpath"].name,
        local=node.args["local"],
        overwrite=node.args["overwrite"],
        values=values,
        partition=binding.catalog.partition(table.name, values) if values else None,
    )


def _as_insert(node: exp.Expr, table: Table, items: PartitionItems, binding: Binding) -> InsertRows:
    """Make the INSERT that reads the files: data columns, then those that have no value."""
    key_values = binding.partition_values(table, items)
    static = {
        column.name: written_value(column, key_values[column.name], items, binding)
        for column in table.partition_columns
        if column.name in key_values
    }
    dynamic = table.partition_columns[len(static) :]
    if any(column.name in static for column in dynamic):
        text = "Partition columns in the partition clause: a dynamic one comes before a static one"
        binding.fail(SemanticError(text, code=10094), items[0].key.start)
    if static:
        check_lengths(tuple(static), tuple(static.values()), items, binding)
    serde = node.args["serde"]
    files = Table(
        name=TableName(FRAMES, "files"),
        columns=(*table.columns, *dynamic),
        location=node.args["inpath"].name,
        type="EXTERNAL_TABLE",
        format=(format_of_serde(serde.name) if serde else None) or table.format,
        serde_properties={} if serde else table.serde_properties,
        properties={"local": "true"} if node.args["local"] else {},
    )
    view = binding.view_name(files.name)
    query = Query(
        sql=f"SELECT * FROM {quote_name(view)}",
        sources=(Source(view=view, scan=Scan(table=files)),),
        columns=files.columns,
    )
    values = tuple(static.values())
    is_one_partition = bool(static) and not dynamic
    target = InsertTarget(
        table=table,
        query=query,
        overwrite=node.args["overwrite"],
        static_partition=static,
        dynamic_partition=tuple(column.name for column in dynamic),
        check=enforced(table, binding),
        partition=binding.catalog.partition(table.name, values) if is_one_partition else None,
    )
    return InsertRows(targets=(target,))


def bind_export(node: exp.Expr, binding: Binding) -> ExportTable:
    """EXPORT TABLE: of a partitioned table all partitions unless some are named."""
    ref, items = table_of(node.this), partition_of(node.args["partition"]) or ()
    table = binding.table(ref)
    if table.is_view or table.is_materialized_view:
        error = SemanticError("Views and Materialized Views can not be exported.", code=40000)
        binding.fail(error, ref.start)
    if table.skew is not None:
        binding.fail(NotSupported("EXPORT of a table with SKEWED BY"), ref.start)
    if items and not table.partition_columns:
        error = SemanticError(
            f"{table.name} table is not partitioned but partition spec exists", code=10006
        )
        binding.fail(error, items[0].key.start)
    count = binding.catalog.partition_count(table.name) if table.partition_columns else 0
    values = binding.partition_values(table, items)
    partitions = binding.partitions_of(table, values) if count else ()
    scan = Scan(table=table, partitions=partitions, partition_count=count)
    view = binding.view_name(table.name)
    columns = ", ".join(quote_name(column.name) for column in table.all_columns)
    query = Query(
        sql=f"SELECT {columns} FROM {quote_name(view)}",
        sources=(Source(view=view, scan=scan),),
        columns=table.all_columns,
    )
    return ExportTable(
        table=table, path=node.args["path"].name, name=ref.full(binding.database), query=query,
        partitions=partitions,
    )  # fmt: skip


_NOT_IMPORTED = frozenset({
    "EXTERNAL", "external.table.purge", "TRANSLATED_TO_EXTERNAL", "transient_lastDdlTime",
    "last_modified_by", "last_modified_time", "rawDataSize", "numFilesErasureCoded",
})  # fmt: skip
"""Properties that tell of the exported table alone."""


def bind_import(node: exp.Expr, binding: Binding) -> ImportTable:
    """IMPORT, checked against what its export tells; the table is made where there is none."""
    path_start, _ = node.args["path"].meta[RANGE]
    try:
        dump = binding.catalog.export_at(node.args["path"].name)
    except HiveSqlError as failure:
        binding.fail(failure, path_start)
    ref = table_of(node.this) if node.this else None
    start = path_start if ref is None else ref.start
    name = ref.full(binding.database) if ref else TableName(binding.database, dump.table.name.name)
    if binding.known_database(name.database) is None:
        absent = NoSuchObject(f"Database does not exist: {name.database}", code=10072)
        binding.fail(absent, start)
    wanted = _imported(dump, partition_of(node.args["partition"]) or (), binding)
    location = node.args["location"].name if node.args["location"] else ""
    table = binding.known_table(name)
    if table is None:
        return _import_new(dump, _new_table(dump, name, node, binding, start), wanted, binding)
    is_elsewhere = bool(location) and not table.partition_columns and location != table.location
    problem = _incompatible(table, dump.table, external=node.args["external"])
    if problem is None and is_elsewhere:
        problem = "Location does not match"
    if problem is not None:
        error = SemanticError(
            "The existing table is not compatible with the Export/Import spec.   " + problem,
            code=10120,
        )
        binding.fail(error, start)
    placed = tuple(
        _target_partition(partition, dump.table, table, location) for partition in wanted
    )
    if table.is_transactional and any(partition.storage for partition in placed):
        feature = f"IMPORT of a partition that is stored otherwise into {table.name}"
        binding.fail(NotSupported(feature), start)
    known = (binding.catalog.partition(table.name, partition.values) for partition in placed)
    return ImportTable(
        dump=dump, table=table, is_new=False, partitions=placed,
        known=tuple(partition for partition in known if partition is not None),
    )  # fmt: skip


def _imported(dump: Dump, items: PartitionItems, binding: Binding) -> tuple[Partition, ...]:
    """Choose the partition that is named, else all."""
    if not items:
        return dump.partitions
    chosen: tuple[Partition, ...] = ()
    if dump.table.partition_columns:
        values = binding.partition_values(dump.table, items)
        types = {column.name: column.type for column in dump.table.partition_columns}
        normal = {
            key: value if value is None else normal_value(value, types[key])
            for key, value in values.items()
        }
        chosen = tuple(
            partition
            for partition in dump.partitions
            if dict(zip(dump.table.partition_names, partition.values, strict=True)) == normal
        )
    if not chosen:
        error = NoSuchObject(
            "Partition not found  - Specified partition not found in import directory", code=10006
        )
        binding.fail(error, items[0].key.start, items[-1].end)
    return chosen


def _new_table(dump: Dump, name: TableName, node: exp.Expr, binding: Binding, start: int) -> Table:
    """Describe the table that IMPORT makes: managed unless EXTERNAL is said, as in Hive."""
    binding.check_new_name(name, start)
    external = node.args["external"]
    properties = {
        key: value for key, value in dump.table.properties.items() if key not in _NOT_IMPORTED
    }
    if external:
        properties.pop("transactional", None)
        properties.pop("transactional_properties", None)
        properties["EXTERNAL"] = "TRUE"
    elif dump.table.is_transactional:
        properties.setdefault("transactional_properties", "default")
    if not dump.table.is_bucketed:
        # Hive exports full-ACID tables by a copy that is bucketed as in the first version.
        properties.setdefault("bucketing_version", "2")
    table = replace(
        dump.table, name=name, id=0, properties=properties, owner="", created_at=0,
        location=node.args["location"].name if node.args["location"] else "",
        type="EXTERNAL_TABLE" if external else "MANAGED_TABLE",
    )  # fmt: skip
    if table.is_full_acid and (table.format != "orc" or table.sort_columns):
        feature = f"IMPORT of a full-ACID table that is sorted, or stored as {table.format}"
        binding.fail(NotSupported(feature), start)
    if table.skew is not None and table.skew.in_directories:
        binding.fail(NotSupported("IMPORT of a table that is stored as directories"), start)
    check_managed(table, binding)
    return table


def _import_new(
    dump: Dump, table: Table, wanted: tuple[Partition, ...], binding: Binding
) -> ImportTable:
    partitions = (_target_partition(partition, dump.table, table, "") for partition in wanted)
    return ImportTable(
        dump=dump, table=table, is_new=True, home=binding.catalog.home_of(table),
        partitions=tuple(partitions),
    )  # fmt: skip


def _target_partition(
    partition: Partition, source: Table, table: Table, location: str
) -> Partition:
    """Return a partition of an export as one of the table that it comes into."""
    name = partition_name(table.partition_names, partition.values)
    stored = replace(source.described_as(partition), name=table.name)
    own = partition.storage and table.storage_of(stored)
    return Partition(
        values=partition.values, location=f"{location}/{name}" if location else "", storage=own
    )


def _incompatible(table: Table, source: Table, *, external: bool) -> str | None:
    """Say why the files of an export cannot come into a table, as Hive does; None if they can."""
    if external:
        return "External table cannot overwrite existing table. Drop existing table first."
    if uncommented(table.columns) != uncommented(source.columns):
        return "Column Schema does not match"
    if uncommented(table.partition_columns) != uncommented(source.partition_columns):
        return "Partition Schema does not match"
    if table.is_view or table.is_materialized_view:
        return "Table inputformat/outputformats do not match"
    ours, theirs = STORAGE[table.format], STORAGE[source.format]
    if (ours.input_format, ours.output_format) != (theirs.input_format, theirs.output_format):
        return "Table inputformat/outputformats do not match"
    if ours.serde != theirs.serde:
        return "Table Serde class does not match"
    if (table.bucket_columns, table.bucket_count) != (source.bucket_columns, source.bucket_count):
        return "Table bucketing spec does not match"
    if table.is_bucketed and table.bucketing_version != source.bucketing_version:
        # Hive lets it be, and looks for rows in buckets where they are not.
        return "Table bucketing spec does not match: bucketing_version"
    if (table.sort_columns, table.sort_descending) != (
        source.sort_columns, source.sort_descending,
    ):  # fmt: skip
        return "Table sorting spec does not match"
    return None


def bind_repair(node: exp.Expr, binding: Binding) -> RepairTable:
    """MSCK; without REPAIR it only looks."""
    ref = table_of(node.this)
    table = binding.table(ref)
    if table.is_view:
        error = SemanticError(f"{table.name} is a view: MSCK does not apply", code=10131)
        binding.fail(error, ref.start)
    repair, action, filters = (node.args[key] for key in ("repair", "action", "filters"))
    return RepairTable(
        table=table, add=repair and action != "DROP", drop=repair and action in ("DROP", "SYNC"),
        where=condition_of(filters_of(filters), table, binding) if filters is not None else None,
    )  # fmt: skip


def bind_analyze(node: exp.Expr, binding: Binding) -> Analyze:
    """ANALYZE: all partitions unless some are named."""
    ref, some = table_of(node.args["tables"][0]), partition_of(node.args["partition"])
    statistics = node.expression
    table = binding.table(ref)
    if table.is_view:
        error = SemanticError("ANALYZE is not supported for views", code=10091)
        binding.fail(error, ref.start)
    if some is not None and not table.partition_columns:
        error = SemanticError(
            f"{table.name} table is not partitioned but partition spec exists", code=10006
        )
        binding.fail(error, some[0].key.start)
    if statistics.this == _OF_COLUMNS and some is None:
        check_chosen(table, ref.start, binding)
    count = binding.catalog.partition_count(table.name) if table.partition_columns else 0
    if not count:
        # A table without partitions has no columns of others either.
        binding.partition_values(table, some or ())
    partitions: tuple[Partition, ...] = ()
    if count:
        partitions = (
            binding.matching(table, some) if some else binding.catalog.partitions(table.name)
        )
    columns = _columns(statistics, table, binding)
    query = None
    if statistics.this != "NOSCAN":
        scan = Scan(table=table, partitions=partitions, partition_count=count)
        view = binding.view_name(table.name)
        sql = statistics_sql(table, view, columns)
        query = Query(sql=sql, sources=(Source(view=view, scan=scan),))
    return Analyze(table=table, partitions=partitions, query=query, columns=columns)


def _columns(statistics: exp.Expr, table: Table, binding: Binding) -> tuple[Column, ...]:
    if statistics.this != _OF_COLUMNS:
        return ()
    names = names_of(statistics.expressions)
    analyzable = {column.name: column for column in table.columns if is_simple(column)}
    for name in names:
        if name.text not in analyzable:
            binding.fail(_without_statistics(name.text, table, analyzable), name.start)
    return tuple(analyzable[name.text] for name in names) or tuple(analyzable.values())


def _without_statistics(name: str, table: Table, analyzable: Iterable[str]) -> SemanticError:
    """Tell why a column cannot be measured: it is none, of the partitions, or nested."""
    if name in table.partition_names:
        what = (
            "Column statistics are not supported for partition columns [Try removing column "
            f"'{name}' from column list]"
        )
        return SemanticError(what, code=30012)
    if name in table.column_names:
        what = (
            f"Only columns of primitive types have statistics, and {name} is nested: leave it out"
        )
        return SemanticError(what, code=30009)
    possible = ", ".join(analyzable)
    what = f"Invalid column reference '{name}' (possible columns are [{possible}])"
    return SemanticError(what, code=10002, choices=analyzable)
