"""What a writing statement knows of its table's partitions, and tells of them afterwards."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace

from hivesql_executor.failpoints import FailPoint, hit_failpoint
from hivesql_executor.files.staging import working_directory
from hivesql_executor.runtime import Runtime
from hivesql_executor.transactions.transaction import Transaction
from hivesql_planner.errors import ExecutionError
from hivesql_planner.locks.lock import Operation
from hivesql_planner.model.statistics import ACCURATE, BASICS
from hivesql_planner.model.table import Partition, Table, parse_partition_name, partition_name
from hivesql_planner.settings.settings import MOST_DYNAMIC

_INHERITED = "hive.metastore.partition.inherit.table.properties"


def record_partitions(
    table: Table,
    touched: Collection[str],
    operation: Operation,
    txn: Transaction,
    runtime: Runtime,
    *,
    dynamic: bool,
    replaced: bool = False,
    unlike: Collection[str] = (),
) -> None:
    """Tell the catalog of new partitions; those that a write found out go into ``txn.touched``.

    Those of a plain table whose files were ``replaced`` are stored as the table is, and so are the
    ``unlike`` ones, which took rows because they had no files.
    """
    store = runtime.metastore
    if not table.partition_columns:
        return
    partitions = inheriting(table, (_partition(table, name) for name in sorted(touched)), runtime)
    store.add_partitions(table.name, partitions, if_not_exists=True, txn_id=txn.id, for_rows=True)
    foreign = foreign_partitions(table, runtime) if replaced or unlike else {}
    for name, partition in foreign.items():
        if name in touched and partition.storage and (replaced or name in unlike):
            store.alter_partition(table.name, partition.values, table.stored_anew(partition))
    if table.is_transactional and dynamic:
        txn.touched.setdefault((table.name, operation), set()).update(touched)


def check_count(partitions: Callable[[], Collection[str | None]], runtime: Runtime) -> None:
    """Fail where a statement writes in more partitions than a site's limit allows.

    They are asked for where there is a limit alone.
    """
    most = runtime.settings.integer(MOST_DYNAMIC)
    if most <= 0:
        return
    count = len(partitions())
    if count > most:
        raise ExecutionError(
            f"Number of dynamic partitions created is {count}, which is more than {most}. To solve "
            f"this try to set {MOST_DYNAMIC} to at least {count}.",
            code=40000,
        )


def record_touched(txn: Transaction, runtime: Runtime) -> None:
    """Tell the transaction all partitions that its statement wrote, in one step.

    Until then it is known to have written "some partition of the table", where the cleaner looks
    into all of them. Told one after the other, those of a statement that dies in between would be
    forgotten while their files are there, and a forgotten write counts as committed.
    """
    store = runtime.metastore
    if txn.touched:

        def tell() -> None:
            for (table, operation), names in txn.touched.items():
                write_id = txn.write_ids[table]
                store.add_dynamic_partitions(txn.id, write_id, table, sorted(names), operation)

        store.run_in_transaction(tell)
        txn.touched.clear()
    hit_failpoint(FailPoint.PARTITIONS_RECORDED)


def inheriting(table: Table, new: Iterable[Partition], runtime: Runtime) -> tuple[Partition, ...]:
    """Return new partitions with what they take over of their table's properties."""
    names = runtime.settings.text(_INHERITED).strip().split(",")
    if names == [""]:
        return tuple(new)
    properties = table.properties
    if "*" not in names:
        properties = {key: properties[key] for key in names if key in properties}
    taken = {key: text for key, text in properties.items() if key not in (*BASICS, ACCURATE)}
    return tuple(replace(partition, properties=taken) for partition in new)


def _partition(table: Table, name: str) -> Partition:
    return Partition(values=parse_partition_name(name), location=f"{table.location}/{name}")


def foreign_locations(table: Table, runtime: Runtime) -> dict[str, str]:
    """Directories of the partitions that do not live under their table."""
    return {
        name: partition.location for name, partition in foreign_partitions(table, runtime).items()
    }


def foreign_partitions(table: Table, runtime: Runtime) -> dict[str, Partition]:
    """Give the partitions that do not live under their table, or are stored otherwise, by name."""
    if not table.partition_columns:
        return {}
    return {
        partition_name(table.partition_names, partition.values): partition
        for partition in runtime.metastore.foreign_partitions(table.name)
    }


def staging_directory(table: Table, txn_id: int) -> str:
    """Return a hidden directory of the statement's own, in the table's."""
    return working_directory(table.location, txn_id)
