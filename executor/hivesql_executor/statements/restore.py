"""What RESTORE asks of a table beyond what reading its earlier state does."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from hivesql_executor.snapshot.listing import changed_roots
from hivesql_executor.snapshot.time_travel import visible_as_of
from hivesql_executor.statements.context import Work
from hivesql_planner.acid.restored_files import first_difference
from hivesql_planner.errors import NotSupported
from hivesql_planner.model.partition_values import normal_value
from hivesql_planner.model.table import Partition, Table, partition_name
from hivesql_planner.plan import Insert, InsertBranch
from hivesql_planner.transactional_plans import scans


def require_same_row_ids(work: Work) -> None:
    """Refuse a state before a rebalance, which gives rows the ids that others have had.

    While that state can be read, its files are not cleaned, so that the rebalance is still told of.
    """
    earlier = [scan for scan in scans(work.plan.body) if scan.as_of is not None]
    rebalances = [row for row in work.runtime.metastore.compactions() if row.kind == "rebalance"]
    for scan in earlier if rebalances else ():
        assert scan.as_of is not None
        table = scan.table.name
        then = visible_as_of(scan.as_of, table, work.txn, work.runtime)
        for row in rebalances:
            highest = row.highest_write_id or 0
            if row.table == table and row.txn_id and not then.sees(highest):
                raise NotSupported(
                    f"RESTORE of {table} as of {scan.as_of}: compaction {row.id}, a rebalance of "
                    f"its writes up to {highest}, gave its rows other ids since. Read the state by "
                    "FOR SYSTEM_VERSION AS OF and INSERT OVERWRITE the table with it"
                )


def of_changed_partitions(insert: Insert, work: Work) -> Insert:
    """Leave alone what no write has touched since the state that RESTORE brings back."""
    (branch,) = insert.branches
    changed = _of_changed(branch, work)
    return replace(insert, branches=() if changed is None else (changed,))


def _of_changed(branch: InsertBranch, work: Work) -> InsertBranch | None:
    assert branch.restores is not None
    (source,) = branch.query.sources
    table, txn = branch.write.table, work.txn
    now = txn.visible[table.name]
    first = first_difference(now, visible_as_of(branch.restores, table.name, txn, work.runtime))
    if first is None:
        return None
    partitions = source.scan.partitions
    changed = changed_roots(table, partitions, first, now, txn.txns, work.runtime)
    if not changed:
        return None
    partitions = tuple(partition for partition in changed if partition is not None)
    _require_written_values(table, partitions)
    query = replace(
        branch.query, sources=(replace(source, scan=replace(source.scan, partitions=partitions)),)
    )
    return replace(branch, query=query)


def _require_written_values(table: Table, partitions: Iterable[Partition]) -> None:
    """Refuse partitions that no INSERT would write: rows of ``p=01`` would go to ``p=1``."""
    types = [column.type for column in table.partition_columns]
    for partition in partitions:
        pairs = zip(partition.values, types, strict=True)
        if any(value is not None and normal_value(value, type_) != value for value, type_ in pairs):
            name = partition_name(table.partition_names, partition.values)
            raise NotSupported(
                f"RESTORE of {table.name}: rows of its partition {name} are written to another "
                "directory, since that is not how its values are written. Rename the partition, "
                "or name others in RESTORE TABLE … PARTITION (…)"
            )
