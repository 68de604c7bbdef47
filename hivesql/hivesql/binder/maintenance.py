"""What leaves a table's definition alone: RESTORE, TRUNCATE, CONCATENATE and COMPACT."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal, NoReturn

from hivesql.binder.change import bind_merge
from hivesql.binder.insert import bind_insert
from hivesql.binder.targets import base_table, existing, require_emptied
from hivesql.binding import Binding
from hivesql.dbapi_literals import literal
from hivesql.dialect.nodes.files import ZOrder
from hivesql.dialect.nodes.parts import name_of, names_of, partition_of, properties_of, table_of
from hivesql.dialect.slices import RANGE, PartitionItems
from hivesql.dialect.statements.statement import parse
from hivesql.dialect.tokens import Name
from hivesql.python_sqlglot import exp
from hivesql.script import StatementText
from hivesql_planner.compaction.request import MOST_IN_Z_ORDER, CompactionDetails, OrderKey
from hivesql_planner.errors import HiveSqlError, NoSuchObject, NotSupported, SemanticError
from hivesql_planner.model.hive_type import quote_name
from hivesql_planner.model.table import Partition, Table, default_value
from hivesql_planner.relations import Query, Scan, Source
from hivesql_planner.statements.bound import (
    CompactTable,
    InsertRows,
    InsertTarget,
    MergeRows,
    TruncateTable,
)

_ALL_OF_IT = {
    "hive.mapred.mode": "nonstrict",
    "hive.exec.dynamic.partition": "true",
    "hive.exec.dynamic.partition.mode": "nonstrict",
}
"""Neither filters nor partitions are asked for: whoever restores a table means all of it."""

_KINDS: dict[str, Literal["minor", "major", "rebalance"]] = {
    "minor": "minor", "major": "major", "rebalance": "rebalance",
}  # fmt: skip
_CONTAINERS = ("orc", "rcfile", "rctext")
"""Formats whose files CONCATENATE merges."""
_NOW, _THEN, _ID = "row__now", "row__then", "row__then__id"


def bind_restore(node: exp.Expr, binding: Binding) -> MergeRows | InsertRows:
    """Bind RESTORE as the MERGE of the earlier state by row ids: rows that are in both stay.

    Insert-only tables have no row ids: what has changed of them is overwritten.
    """
    ref, moment = table_of(node.this), node.args["moment"].meta[RANGE]
    table = binding.table(ref)
    if not table.is_transactional:
        what = f"{table.name} is not transactional: it has no earlier state to RESTORE"
        binding.fail(SemanticError(what, code=10414), ref.start)
    items = partition_of(node.args["partition"]) or ()
    # No partition at all is an error at its place.
    partitions = binding.matching(table, items) if items else None
    values = binding.partition_values(table, items)
    clause = f"{node.args['kind'].name} AS OF {node.args['moment'].name}"
    clause = "FOR SYSTEM_" + clause.replace("TIMESTAMP", "TIME", 1)
    sql = (_merge if table.is_full_acid else _overwrite)(table, clause, values)
    text = StatementText(sql, f"restore {table.name}")
    settings = binding.settings
    for key, value in _ALL_OF_IT.items():
        settings = settings.with_value(key, value)
    inner = replace(binding, text=text, settings=settings, _tokens=())
    try:
        bound = (bind_merge if table.is_full_acid else bind_insert)(_parsed(text), inner)
    except HiveSqlError as error:
        _fail_at(error, binding, *moment)
    if isinstance(bound, InsertRows):
        return _of_partitions(bound, partitions)
    (source,) = bound.source.sources
    state = source.scan.as_of
    gone = replace(source, scan=replace(source.scan, restores=state))
    return replace(
        bound,
        operation="RESTORE",
        target=replace(bound.target, restores=state),
        source=replace(bound.source, sources=(gone,)),
    )


def _of_partitions(bound: InsertRows, partitions: tuple[Partition, ...] | None) -> InsertRows:
    """Let an INSERT of an earlier state empty these partitions too; None: all of the table's.

    Those that it reads are those that it may empty, so that no filter's pruning is relied on.
    """
    (target,) = bound.targets
    (source,) = target.query.sources
    scan = source.scan
    if partitions is not None:
        scan = replace(scan, partitions=partitions)
    query = replace(target.query, sources=(replace(source, scan=scan),))
    return InsertRows(targets=(replace(target, query=query, restores=scan.as_of),))


def _overwrite(table: Table, clause: str, values: Mapping[str, str | None]) -> str:
    columns = ", ".join(quote_name(column.name) for column in table.all_columns)
    name = table.name.quoted
    only = " AND ".join(_is(key, value, table) for key, value in values.items()) or "true"
    return f"INSERT OVERWRITE TABLE {name} SELECT {columns} FROM {name} {clause} WHERE {only}"


def _merge(table: Table, clause: str, values: Mapping[str, str | None]) -> str:
    """Return the MERGE; ``values`` of partition columns say of which partitions the rows are."""
    name = table.name.quoted
    columns = [quote_name(column.name) for column in table.all_columns]
    only = [_is(key, value, table) for key, value in values.items()]
    same = [f"{_NOW}.ROW__ID = {_THEN}.{_ID}"]
    keys = map(quote_name, table.partition_names)
    same += [f"{_NOW}.{key} <=> {_THEN}.{key}" for key in keys]
    earlier = f"SELECT ROW__ID AS {_ID}, {', '.join(columns)} FROM {name} {clause}"
    if only:
        earlier += f" WHERE {' AND '.join(only)}"
    new = [f"AND {_NOW}.{condition}" for condition in only]
    old = ", ".join(f"{_THEN}.{column}" for column in columns)
    return (
        f"MERGE INTO {name} AS {_NOW} USING ({earlier}) AS {_THEN} ON {' AND '.join(same)} "
        f"WHEN NOT MATCHED BY SOURCE {' '.join(new)} THEN DELETE "
        f"WHEN NOT MATCHED THEN INSERT VALUES ({old})"
    )


def _is(key: str, value: str | None, table: Table) -> str:
    """Write that a row is of the partition, by what queries read of it."""
    types = {column.name: column.type for column in table.partition_columns}
    read = default_value(types[key]) if value is None else value
    if read is None:
        return f"{quote_name(key)} IS NULL"
    return f"{quote_name(key)} = CAST({literal(read)} AS {types[key]})"


def _parsed(text: StatementText) -> exp.Expr:
    body = parse(text).body
    assert isinstance(body, exp.Expr)
    return body


def _fail_at(error: HiveSqlError, binding: Binding, start: int, end: int) -> NoReturn:
    """Raise an error of the MERGE where the statement says what is to be restored."""
    error.file = error.line = error.column = error.end = error.text = error.about = None
    binding.fail(error, start, end)


def _check_truncated(names: tuple[Name, ...], table: Table, binding: Binding) -> None:
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
        items.get(name, quote_name(name)) for name in (*table.column_names, *table.partition_names)
    )
    query = Query(
        sql=f"SELECT {', '.join(chosen)} FROM {quote_name(view)}",
        sources=(Source(view=view, scan=scan),),
        columns=table.all_columns,
    )
    target = InsertTarget(
        table=table, query=query, overwrite=True, dynamic_partition=table.partition_names
    )
    return InsertRows(targets=(target,))


def bind_concatenate(node: exp.Expr, binding: Binding) -> CompactTable | InsertRows:
    """CONCATENATE: a major compaction where there are deltas, else the same rows in few files."""
    table, items = base_table(table_of(node.this), binding), partition_of(node.args["partition"])
    start, _ = node.meta[RANGE]
    partition = existing(table, items, binding) if items else None
    if table.partition_columns and partition is None and not table.is_transactional:
        error = SemanticError(
            f"source table {table.name} is partitioned but no partition desc found."
        )
        binding.fail(error, start)
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
            binding.fail(SemanticError(f"Concatenate/Merge {problem}", code=code), start)
    (target,) = _rewritten(table, {}, partitions, binding).targets
    return InsertRows(targets=(replace(target, concatenates=True),))


def bind_truncate(node: exp.Expr, binding: Binding) -> TruncateTable | InsertRows:
    """TRUNCATE TABLE; with COLUMNS the rows are written anew."""
    ref, items = table_of(node.this), partition_of(node.args["partition"])
    columns = names_of(node.args["columns"])
    table = binding.table(ref)
    forced = table.type == "EXTERNAL_TABLE" and node.args["force"]
    if not forced:
        require_emptied(table, ref.start, binding)
    if columns:
        _check_truncated(columns, table, binding)
    if items and not table.partition_columns:
        error = SemanticError(
            f"Partition spec for non partitioned table {table.name.name}.", code=10148
        )
        binding.fail(error, items[0].key.start)
    matching = binding.matching if columns else partial(_matching, binding)
    partitions = matching(table, items) if items else None
    if columns:
        emptied = {
            name.text: f"if(false, {quote_name(name.text)}, NULL) AS {quote_name(name.text)}"
            for name in columns
        }
        return _rewritten(table, emptied, partitions, binding)
    return TruncateTable(table=table, partitions=partitions)


def _matching(binding: Binding, table: Table, items: PartitionItems) -> tuple[Partition, ...]:
    """Return the partitions that TRUNCATE names; as in Hive a partial one may match none."""
    if len(items) < len(table.partition_columns):
        values = binding.partition_values(table, items)
        if not binding.partitions_of(table, values):
            return ()
    return binding.matching(table, items)


def bind_compact(node: exp.Expr, binding: Binding) -> CompactTable:
    """COMPACT: one partition when one is given, those that need it otherwise."""
    ref, kind_literal = table_of(node.this), node.args["kind"]
    table = base_table(ref, binding, materialized=True)
    if kind_literal.name.lower() == "abort_txn_cleanup":
        binding.fail(NotSupported("COMPACT 'abort_txn_cleanup'"), kind_literal.meta[RANGE][0])
    kind = _KINDS.get(kind_literal.name.lower())
    if kind is None:
        error = SemanticError(
            f"Invalid compaction type {kind_literal.name!r}, supported values are 'major', 'minor' "
            "and 'rebalance'",
            code=10282,
        )
        binding.fail(error, kind_literal.meta[RANGE][0])
    if not table.is_transactional:
        error = SemanticError(
            f"Compaction is not allowed on non-ACID table {table.name}", code=10286
        )
        binding.fail(error, ref.start)
    details = _details(node, table, kind, binding)
    return CompactTable(
        table=table, kind=kind, partitions=_compacted(node, table, binding),
        wait=node.args["wait"], details=details,
    )  # fmt: skip


def _compacted(node: exp.Expr, table: Table, binding: Binding) -> tuple[Partition, ...]:
    items = partition_of(node.args["partition"])
    if not items:
        return ()
    if len(binding.partition_values(table, items)) < len(table.partition_columns):
        what = "Alter table partition type compact does not allow partial partition spec"
        binding.fail(SemanticError(what, code=10299), items[0].key.start, items[-1].end)
    return binding.matching(table, items)


def _check_curve(keys: Sequence[exp.Expr], table: Table, binding: Binding) -> None:
    """Refuse a Z-order of too many columns, or of values that have no order."""
    types = {column.name: column.type for column in table.columns}
    for at, key in enumerate(keys):
        name = name_of(key.this)
        if at == MOST_IN_Z_ORDER:
            why = f"ZORDER of more than {MOST_IN_Z_ORDER} columns"
        elif types[name.text].is_nested:
            why = f"ZORDER of {name.text}, which is {types[name.text]}"
        elif name.text in [name_of(other.this).text for other in keys[:at]]:
            why = f"ZORDER of {name.text} twice"
        else:
            continue
        binding.fail(NotSupported(why), name.start)


def _details(node: exp.Expr, table: Table, kind: str, binding: Binding) -> CompactionDetails:
    pool, buckets, property_list = (node.args[key] for key in ("pool", "buckets", "properties"))
    properties = properties_of(property_list)
    keys = node.args["order"]
    in_z_order = bool(keys) and isinstance(keys[0], ZOrder)
    if in_z_order:
        keys = keys[0].expressions
    if kind != "rebalance" and keys:
        binding.fail(
            NotSupported("COMPACT … ORDER BY of anything but 'rebalance'"),
            name_of(keys[0].this).start,
        )
    order = []
    for key in keys:
        name = name_of(key.this)
        if name.text not in table.column_names:
            possible = ", ".join(table.column_names)
            error = NoSuchObject(
                f"Invalid column reference {name.text}: {table.name} has {possible}",
                code=10002,
                choices=table.column_names,
            )
            binding.fail(error, name.start)
        nulls_first = key.args["nulls_first"]
        order.append(OrderKey(name.text, key.args["desc"], nulls_first, in_z_order))
    if in_z_order:
        _check_curve(keys, table, binding)
    return CompactionDetails(
        pool=pool and pool.name,
        properties=properties,
        bucket_count=buckets and int(buckets.name),
        order=tuple(order),
    )
