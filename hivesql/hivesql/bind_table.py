"""DROP, TRUNCATE and ALTER of tables."""

from __future__ import annotations

from hivesql.binding import Binding, partition_value
from hivesql.prune import And, Compare, Constant, IsNull, Not, Other, Predicate, keeps
from hivesql.tokens import Name, TableRef
from hivesql.trees import (
    AddColumnsBody,
    AddPartitionsBody,
    CompactBody,
    DropPartitionsBody,
    DropTableBody,
    PartitionFilter,
    PropertiesBody,
    RenameBody,
    TruncateBody,
)
from hivesql_planner.errors import NoSuchObject, SemanticError
from hivesql_planner.statements import (
    AddColumns,
    AddPartitions,
    AlterProperties,
    CompactTable,
    DropPartitions,
    DropTable,
    RenameTable,
    TruncateTable,
)
from hivesql_planner.table import Partition, Table

_KINDS = ("minor", "major", "rebalance")


def bind_drop_table(body: DropTableBody, binding: Binding) -> DropTable:
    """DROP TABLE, DROP VIEW: an unknown name is no error here with IF EXISTS."""
    if not body.if_exists:
        binding.table(body.table)
    return DropTable(
        name=body.table.full(binding.database), if_exists=body.if_exists, purge=body.purge,
        view=body.view,
    )  # fmt: skip


def _table(ref: TableRef, binding: Binding) -> Table:
    table = binding.table(ref)
    if table.is_view:
        error = SemanticError(f"{table.name} is a view: ALTER TABLE does not apply", code=10131)
        binding.fail(error, ref.start)
    return table


def bind_truncate(body: TruncateBody, binding: Binding) -> TruncateTable:
    """TRUNCATE TABLE."""
    table = binding.table(body.table)
    if table.type != "MANAGED_TABLE":
        error = SemanticError(f"Cannot truncate non-managed table {table.name}.", code=10146)
        binding.fail(error, body.table.start)
    partitions = binding.matching(table, body.partition) if body.partition else None
    return TruncateTable(table=table, partitions=partitions)


def bind_properties(body: PropertiesBody, binding: Binding) -> AlterProperties:
    """SET and UNSET TBLPROPERTIES; whether ACID allows it is for the one who alters."""
    table = binding.table(body.table)
    missing = [key for key in body.unset if key not in table.properties]
    if missing and not body.if_exists:
        error = SemanticError(
            f"{table.name} has no property {missing[0]!r}. UNSET TBLPROPERTIES IF EXISTS leaves "
            "it at that"
        )
        binding.fail(error, body.table.start)
    lowered = ("transactional", "transactional_properties")
    changes = {
        (key.lower() if key.lower() in lowered else key): value for key, value in body.set.items()
    }
    return AlterProperties(table=table, set=changes, unset=body.unset)


def bind_rename(body: RenameBody, binding: Binding) -> RenameTable:
    """RENAME TO."""
    table = _table(body.table, binding)
    to = body.to.full(binding.database)
    binding.check_database(body.to.database or Name(to.database, body.to.start))
    return RenameTable(table=table, to=to)


def bind_add_columns(body: AddColumnsBody, binding: Binding) -> AddColumns:
    """ADD COLUMNS."""
    table = _table(body.table, binding)
    taken = {column.name for column in table.all_columns}
    for column in body.columns:
        if column.name in taken:
            error = SemanticError(f"Duplicate column name: {column.name}", code=10036)
            binding.fail(error, body.start)
        taken.add(column.name)
    return AddColumns(table=table, columns=body.columns)


def _partitioned(ref: TableRef, binding: Binding) -> Table:
    table = _table(ref, binding)
    if not table.partition_columns:
        error = SemanticError(f"Table is not a partitioned table: {table.name}", code=10241)
        binding.fail(error, ref.start)
    return table


def bind_add_partitions(body: AddPartitionsBody, binding: Binding) -> AddPartitions:
    """ADD PARTITION: every one with a value for each partition column."""
    table = _partitioned(body.table, binding)
    found = []
    for items, location in body.partitions:
        values = binding.partition_values(table, items)
        missing = [name for name in table.partition_names if name not in values]
        if missing:
            error = SemanticError(
                f"partition spec lacks a value for {', '.join(missing)}", code=10006
            )
            binding.fail(error, items[0].key.start)
        row = tuple(values[name] for name in table.partition_names)
        found.append(Partition(values=row, location=location))
    return AddPartitions(table=table, partitions=tuple(found), if_not_exists=body.if_not_exists)


def bind_drop_partitions(body: DropPartitionsBody, binding: Binding) -> DropPartitions:
    """DROP PARTITION: all that match."""
    table = _partitioned(body.table, binding)
    types = {column.name: column.type for column in table.partition_columns}
    existing = binding.catalog.partitions(table.name)
    doomed: dict[Partition, None] = {}
    for filters in body.filters:
        wanted = _all_of(filters, table, types, binding)
        found = [
            partition
            for partition in existing
            if keeps(wanted, dict(zip(types, partition.values, strict=True)), types)
        ]
        if not found and not body.if_exists:
            text = ", ".join(f"{one.key.text}{one.operator}{one.value}" for one in filters)
            error = NoSuchObject(f"Partition not found ({text}) in {table.name}", code=10006)
            binding.fail(error, filters[0].key.start)
        doomed |= dict.fromkeys(found)
    return DropPartitions(table=table, partitions=tuple(doomed), purge=body.purge)


def _all_of(
    filters: tuple[PartitionFilter, ...], table: Table, types: dict[str, str], binding: Binding
) -> Predicate:
    found: Predicate | None = None
    for one in filters:
        if one.key.text not in types:
            error = SemanticError(
                f"{table.name} has no partition column {one.key.text}", code=10006
            )
            binding.fail(error, one.key.start)
        predicate = _filter(one, types[one.key.text], binding)
        found = predicate if found is None else And(found, predicate)
    return found or Other()


def _filter(one: PartitionFilter, type_: str, binding: Binding) -> Predicate:
    value = partition_value(one.value)
    if value is None:
        is_null = IsNull(one.key.text)
        return is_null if one.operator == "=" else Not(is_null)
    text = type_.startswith(("string", "varchar", "char", "date"))
    constant = Constant("string" if text else "number", value)
    if type_ == "boolean":
        constant = Constant("boolean", value.lower())
    compare = Compare(one.key.text, one.operator, constant)
    # What cannot be decided must not be dropped.
    if keeps(And(compare, Not(compare)), {one.key.text: value}, {one.key.text: type_}):
        error = SemanticError(f"cannot compare the {type_} {one.key.text} with {value!r}")
        binding.fail(error, one.key.start)
    return compare


def bind_compact(body: CompactBody, binding: Binding) -> CompactTable:
    """COMPACT: a partition at most when one is given, all of them otherwise."""
    table = _table(body.table, binding)
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
