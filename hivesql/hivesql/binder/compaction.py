"""ALTER TABLE … COMPACT."""

from __future__ import annotations

from typing import Literal

from sqlglot import exp

from hivesql.binder.targets import base_table
from hivesql.binding import Binding
from hivesql.dialect.nodes.parts import name_of, partition_of, properties_of, table_of
from hivesql.dialect.slices import RANGE
from hivesql_planner.compaction.request import (
    TABLE_PREFIX,
    CompactionDetails,
    OrderKey,
)
from hivesql_planner.errors import NoSuchObject, NotSupported, SemanticError
from hivesql_planner.model.table import Partition, Table
from hivesql_planner.statements.bound import CompactTable

_KINDS: dict[str, Literal["minor", "major", "rebalance"]] = {
    "minor": "minor", "major": "major", "rebalance": "rebalance",
}  # fmt: skip


def bind_compact(node: exp.Expr, binding: Binding) -> CompactTable:
    """COMPACT: one partition when one is given, those that need it otherwise."""
    ref, wanted = table_of(node.this), node.args["kind"]
    table = base_table(ref, binding, materialized=True)
    if wanted.name.lower() == "abort_txn_cleanup":
        binding.fail(NotSupported("COMPACT 'abort_txn_cleanup'"), wanted.meta[RANGE][0])
    kind = _KINDS.get(wanted.name.lower())
    if kind is None:
        error = SemanticError(
            f"Invalid compaction type {wanted.name!r}, supported values are 'major', 'minor' and "
            "'rebalance'",
            code=10282,
        )
        binding.fail(error, wanted.meta[RANGE][0])
    if not table.is_transactional:
        error = SemanticError(
            f"Compaction is not allowed on non-ACID table {table.name}", code=10286
        )
        binding.fail(error, ref.start)
    details = _details(node, table, kind, binding)
    return CompactTable(
        table=table, kind=kind, partitions=_partition(node, table, binding),
        wait=node.args["wait"], details=details,
    )  # fmt: skip


def _partition(node: exp.Expr, table: Table, binding: Binding) -> tuple[Partition, ...]:
    items = partition_of(node.args["partition"])
    if not items:
        return ()
    partitions = binding.matching(table, items)
    if len(partitions) > 1:
        error = SemanticError(
            "Compaction can only be requested on one partition at a time", code=10284
        )
        binding.fail(error, items[0].key.start)
    return partitions


def _details(node: exp.Expr, table: Table, kind: str, binding: Binding) -> CompactionDetails:
    pool, buckets, given = (node.args[key] for key in ("pool", "buckets", "properties"))
    properties = properties_of(given)
    for key in properties:
        if not key.startswith(TABLE_PREFIX):
            feature = f"COMPACT … WITH OVERWRITE TBLPROPERTIES ('{key}'): only {TABLE_PREFIX}… keys"
            binding.fail(NotSupported(feature), given.meta[RANGE][0])
    keys = node.args["order"]
    if kind != "rebalance" and keys:
        binding.fail(
            NotSupported("COMPACT … ORDER BY of anything but 'rebalance'"),
            name_of(keys[0].this).start,
        )
    order = []
    for key in keys:
        name = name_of(key.this)
        if name.text not in table.column_names:
            known = ", ".join(table.column_names)
            error = NoSuchObject(
                f"Invalid column reference {name.text}: {table.name} has {known}", code=10002
            )
            binding.fail(error, name.start)
        order.append(OrderKey(name.text, key.args["desc"], key.args["nulls_first"]))
    return CompactionDetails(
        pool=pool and pool.name,
        properties=properties,
        bucket_count=buckets and int(buckets.name),
        order=tuple(order),
    )
