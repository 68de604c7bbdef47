"""MSCK: the catalog's partitions and the directories on disk are brought together."""

from __future__ import annotations

from collections.abc import Iterator

from hivesql_executor.bookkeeping.partitions import inheriting
from hivesql_executor.files.api import Files
from hivesql_executor.outcome import Outcome
from hivesql_executor.runtime import Runtime
from hivesql_executor.transactions.transaction import Transaction
from hivesql_planner.acid.layout import parse_directory
from hivesql_planner.definitions.steps import FollowDirectories
from hivesql_planner.errors import NotSupported, SemanticError
from hivesql_planner.model.hive_type import INTEGERS
from hivesql_planner.model.partition_values import normal_value
from hivesql_planner.model.table import Partition, Table, parse_partition_name, partition_name


def repair_table(step: FollowDirectories, txn: Transaction | None, runtime: Runtime) -> Outcome:
    """Add partitions that have directories, drop those that have none; one line for each."""
    table, store, txn_id = step.table, runtime.metastore, txn.id if txn else 0
    if not table.partition_columns:
        return Outcome()
    files = runtime.files(table.location)
    partitions = store.partitions(table.name)
    places = {_plain(partition.location) for partition in partitions}
    on_disk = [
        partition
        for partition in _on_disk(files, table)
        if _plain(partition.location) not in places
    ]
    values = {partition.values for partition in partitions}
    new = [partition for partition in on_disk if partition.values not in values]
    # One that SET LOCATION has moved stays, like Hive's, while its old directory is there: dropped,
    # it would show the rows that it has left once somebody adds it again.
    at_home = {partition.values for partition in on_disk}
    gone = [
        partition
        for partition in partitions
        if partition.values not in at_home and not files.exists(partition.location)
    ]
    lines = [f"Partitions not in metastore:\t{_named(table, partition)}" for partition in new]
    lines += [
        f"Partitions missing from filesystem:\t{_named(table, partition)}" for partition in gone
    ]
    next_write_id = 0
    if step.add and new and table.is_transactional:
        next_write_id = _next_write_id(files, new)

    def repair() -> None:
        if next_write_id:
            store.seed_write_id(table.name, next_write_id)
        if step.add and new:
            fresh = inheriting(table, new, runtime)
            store.add_partitions(table.name, fresh, if_not_exists=True, txn_id=txn_id)
        if step.drop and gone:
            store.drop_partitions(
                table.name, [partition.values for partition in gone], txn_id=txn_id
            )

    store.run_in_transaction(repair)
    if step.add and new:
        lines += [
            f"Repair: Added partition to metastore {_named(table, partition)}" for partition in new
        ]
    if step.drop and gone:
        lines += [
            f"Repair: Dropped partition from metastore {_named(table, partition)}"
            for partition in gone
        ]
    return Outcome.of_table(["result"], [(line,) for line in lines])


def _plain(location: str) -> str:
    return location.removeprefix("file://").removeprefix("file:").rstrip("/")


def _named(table: Table, partition: Partition) -> str:
    return f"{table.name.name}:{partition_name(table.partition_names, partition.values)}"


def _on_disk(files: Files, table: Table) -> Iterator[Partition]:
    """Directories ``k=v/k2=v2`` below the table; a key in the wrong place is an error."""
    directories = [""]
    for key in table.partition_names:
        deeper = []
        for above in directories:
            for name in files.directories(f"{table.location}{above}"):
                word, equals, _ = name.partition("=")
                if not equals or word.lower() != key:
                    raise SemanticError(
                        f"Unexpected partition key {word} found at {table.location}{above}/{name}: "
                        f"expected {key}=…. Move the directory away"
                    )
                deeper.append(f"{above}/{name}")
        directories = deeper
    are_integers = [column.type.kind in INTEGERS for column in table.partition_columns]
    for path in directories:
        # Hive writes whole numbers as they are elsewhere, and leaves all other texts.
        values = tuple(
            (normal_value(text, column.type) or text) if text is not None and is_whole else text
            for text, column, is_whole in zip(
                parse_partition_name(path[1:]), table.partition_columns, are_integers, strict=True
            )
        )
        yield Partition(values=values, location=f"{table.location}{path}")


def _next_write_id(files: Files, partitions: list[Partition]) -> int:
    """Tell where write ids go on, above those that directories bear, so that all are seen."""
    highest = 0
    for partition in partitions:
        for name in files.directories(partition.location):
            directory = parse_directory(name)
            if directory is None:
                continue
            if directory.visibility_txn:
                raise NotSupported(
                    f"MSCK of {partition.location}/{name}: a compaction of another metastore"
                )
            highest = max(highest, directory.max_write_id)
    return highest + 1
