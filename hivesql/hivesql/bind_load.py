"""LOAD DATA and MSCK."""

from __future__ import annotations

from hivesql.bind_partitions import full_values
from hivesql.binding import Binding
from hivesql.trees import LoadBody, RepairBody
from hivesql_planner.ddl import LoadData, RepairTable
from hivesql_planner.errors import NotSupported, SemanticError


def bind_load(body: LoadBody, binding: Binding) -> LoadData:
    """LOAD DATA, with the checks that need no file."""
    table = binding.table(body.table)
    if table.is_view:
        error = SemanticError(
            "A view cannot be used as target table for LOAD or INSERT", code=10090
        )
        binding.fail(error, body.table.start)
    if table.is_bucketed:
        binding.fail(NotSupported("LOAD DATA into a bucketed table"), body.table.start)
    if body.partition is not None and not table.partition_columns:
        error = SemanticError(
            f"{table.name} table is not partitioned but partition spec exists", code=10006
        )
        binding.fail(error, body.partition[0].key.start)
    if body.partition is None and table.partition_columns:
        binding.fail(NotSupported("LOAD DATA into partitions that no specification names"),
                     body.table.start)  # fmt: skip
    values = full_values(table, body.partition, binding) if body.partition else None
    known = binding.catalog.partitions(table.name) if values else ()
    return LoadData(
        table=table,
        path=body.path,
        local=body.local,
        overwrite=body.overwrite,
        values=values,
        partition=next((one for one in known if one.values == values), None),
    )


def bind_repair(body: RepairBody, binding: Binding) -> RepairTable:
    """MSCK."""
    table = binding.table(body.table)
    if table.is_view:
        error = SemanticError(f"{table.name} is a view: MSCK does not apply", code=10131)
        binding.fail(error, body.table.start)
    return RepairTable(table=table, add=body.add, drop=body.drop)
