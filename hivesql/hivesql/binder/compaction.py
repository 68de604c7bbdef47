"""Compactions: asked for, shown, and taken out of the queue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from hivesql.binder.targets import base_table
from hivesql.binding import Binding
from hivesql.dialect.nodes.commands import ShowBody
from hivesql_planner.compaction.request import TABLE_PREFIX, CompactionFilter
from hivesql_planner.errors import NoSuchObject, NotSupported, SemanticError
from hivesql_planner.model.table import Partition, Table
from hivesql_planner.statements.bound import COMPACTION_COLUMNS, CompactTable

if TYPE_CHECKING:
    from hivesql.dialect.nodes.ddl import CompactBody

_KINDS: dict[str, Literal["minor", "major", "rebalance"]] = {
    "minor": "minor", "major": "major", "rebalance": "rebalance",
}  # fmt: skip


def bind_compact(body: CompactBody, binding: Binding) -> CompactTable:
    """COMPACT: one partition when one is given, those that need it otherwise."""
    table = base_table(body.table, binding, materialized=True)
    if body.kind.lower() == "abort_txn_cleanup":
        binding.fail(NotSupported("COMPACT 'abort_txn_cleanup'"), body.kind_start)
    kind = _KINDS.get(body.kind.lower())
    if kind is None:
        error = SemanticError(
            f"Invalid compaction type {body.kind!r}, supported values are 'major', 'minor' and "
            "'rebalance'",
            code=10282,
        )
        binding.fail(error, body.kind_start)
    if not table.is_transactional:
        error = SemanticError(
            f"Compaction is not allowed on non-ACID table {table.name}", code=10286
        )
        binding.fail(error, body.table.start)
    _check_details(body, table, kind, binding)
    return CompactTable(
        table=table, kind=kind, partitions=_partition(body, table, binding), wait=body.wait,
        details=body.details,
    )  # fmt: skip


def _partition(body: CompactBody, table: Table, binding: Binding) -> tuple[Partition, ...]:
    if not body.partition:
        return ()
    partitions = binding.matching(table, body.partition)
    if len(partitions) > 1:
        error = SemanticError(
            "Compaction can only be requested on one partition at a time", code=10284
        )
        binding.fail(error, body.partition[0].key.start)
    return partitions


def _check_details(body: CompactBody, table: Table, kind: str, binding: Binding) -> None:
    for key in body.details.properties:
        if not key.startswith(TABLE_PREFIX):
            feature = f"COMPACT … WITH OVERWRITE TBLPROPERTIES ('{key}'): only {TABLE_PREFIX}… keys"
            binding.fail(NotSupported(feature), body.properties_start)
    if kind != "rebalance" and body.order:
        binding.fail(
            NotSupported("COMPACT … ORDER BY of anything but 'rebalance'"), body.order[0][0].start
        )
    for name, wanted in body.order:
        if wanted.column not in table.column_names:
            known = ", ".join(table.column_names)
            error = NoSuchObject(
                f"Invalid column reference {wanted.column}: {table.name} has {known}", code=10002
            )
            binding.fail(error, name.start)


def bind_filter(body: ShowBody, binding: Binding) -> CompactionFilter:
    """Return the filter of SHOW COMPACTIONS; its ORDER BY names the columns that are shown."""
    for name, key in body.order:
        if key.column not in COMPACTION_COLUMNS:
            known = ", ".join(COMPACTION_COLUMNS)
            error = SemanticError(f"SHOW COMPACTIONS has no column {key.column}: it has {known}")
            binding.fail(error, name.start)
    return body.compactions
