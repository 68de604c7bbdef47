"""DROP, TRUNCATE and COMPACT of tables."""

from __future__ import annotations

from hivesql.bind_alter import base_table
from hivesql.binding import Binding
from hivesql.trees import CompactBody, DropTableBody, TruncateBody
from hivesql_planner.errors import SemanticError
from hivesql_planner.statements import CompactTable, DropTable, TruncateTable
from hivesql_planner.table import Partition

_KINDS = ("minor", "major", "rebalance")


def bind_drop_table(body: DropTableBody, binding: Binding) -> DropTable:
    """DROP TABLE, DROP VIEW: an unknown name is no error here with IF EXISTS."""
    if not body.if_exists:
        binding.table(body.table)
    return DropTable(
        name=body.table.full(binding.database), if_exists=body.if_exists, purge=body.purge,
        view=body.view,
    )  # fmt: skip


def bind_truncate(body: TruncateBody, binding: Binding) -> TruncateTable:
    """TRUNCATE TABLE."""
    table = binding.table(body.table)
    purged = table.properties.get("external.table.purge", "").lower() == "true"
    allowed = table.type == "EXTERNAL_TABLE" and (body.force or purged)
    if table.type != "MANAGED_TABLE" and not allowed:
        error = SemanticError(f"Cannot truncate non-managed table {table.name}.", code=10146)
        binding.fail(error, body.table.start)
    partitions = binding.matching(table, body.partition) if body.partition else None
    return TruncateTable(table=table, partitions=partitions)


def bind_compact(body: CompactBody, binding: Binding) -> CompactTable:
    """COMPACT: a partition at most when one is given, all of them otherwise."""
    table = base_table(body.table, binding)
    kind = body.kind.lower()
    if kind not in _KINDS:
        error = SemanticError(
            f"Unknown compaction type {body.kind!r}: supported are {', '.join(_KINDS)}", code=10282
        )
        binding.fail(error, body.kind_start)
    if not table.is_transactional:
        error = SemanticError(
            f"Compaction is not allowed on non-ACID table {table.name}", code=10286
        )
        binding.fail(error, body.table.start)
    partitions: tuple[Partition, ...] = ()
    if body.partition:
        partitions = binding.matching(table, body.partition)
        if len(partitions) > 1:
            error = SemanticError(
                "Compaction can only be requested on one partition at a time", code=10284
            )
            binding.fail(error, body.partition[0].key.start)
    return CompactTable(table=table, kind=kind, partitions=partitions, wait=body.wait)  # type: ignore[arg-type]
