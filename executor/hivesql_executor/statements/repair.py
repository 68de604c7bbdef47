"""MSCK: the catalog's partitions and the directories on disk are brought together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from hivesql_executor.bookkeeping.partitions import inheriting
from hivesql_executor.files.api import Files
from hivesql_executor.files.at_once import each_at_once
from hivesql_executor.metastore.api import Metastore
from hivesql_executor.outcome import Outcome
from hivesql_executor.runtime import Runtime
from hivesql_executor.transactions.transaction import Transaction
from hivesql_planner.acid.layout import parse_directory
from hivesql_planner.acid.write_ids import ALL_TXNS
from hivesql_planner.definitions.steps import FollowDirectories
from hivesql_planner.errors import NotSupported, SemanticError
from hivesql_planner.model.hive_type import DOUBLE, FLOAT, INTEGERS
from hivesql_planner.model.partition_values import normal_value
from hivesql_planner.model.table import Partition, Table, parse_partition_name, partition_name
from hivesql_planner.predicates.pruning import PartitionPruner


def repair_table(step: FollowDirectories, txn: Transaction | None, runtime: Runtime) -> Outcome:
    """Add partitions that have directories, drop those that have none; one line for each.

    Of a table without partitions what other writers left becomes visible.
    """
    table, store, txn_id = step.table, runtime.metastore, txn.id if txn else 0
    files = runtime.files(table.location)
    if not table.partition_columns:
        if step.add and table.is_transactional:
            store.run_in_transaction(
                partial(
                    _see_writes,
                    table,
                    _highest_write_id(files, table.location, [table.location], txn),
                    store,
                )
            )
        return Outcome()
    partitions = store.partitions(table.name)
    is_wanted = _wanted(step)
    places = {_plain(partition.location) for partition in partitions}
    listed = {_plain(partition.location): partition for partition in _on_disk(files, table)}
    on_disk = [
        partition
        for place, partition in listed.items()
        if place not in places and is_wanted(partition)
    ]
    values = {partition.values for partition in partitions}
    new = [partition for partition in on_disk if partition.values not in values]
    # One that SET LOCATION has moved stays, like Hive's, while its old directory is there: dropped,
    # it would show the rows that it has left once somebody adds it again.
    at_home = {partition.values for partition in on_disk}
    unlisted = [
        partition
        for partition in partitions
        if partition.values not in at_home
        and _plain(partition.location) not in listed
        and is_wanted(partition)
    ]
    are_there = each_at_once(files, partial(_is_there, runtime), unlisted)
    gone = [each for each, is_there in zip(unlisted, are_there, strict=True) if not is_there]
    lines = [f"Partitions not in metastore:\t{_named(table, partition)}" for partition in new]
    lines += [
        f"Partitions missing from filesystem:\t{_named(table, partition)}" for partition in gone
    ]
    highest = 0
    if step.add and new and table.is_transactional:
        homes = [partition.location for partition in new]
        highest = _highest_write_id(files, table.location, homes, txn)

    def repair() -> None:
        _see_writes(table, highest, store)
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


def _wanted(step: FollowDirectories) -> Callable[[Partition], bool]:
    """Return the test of the partitions that a statement is about."""
    table, where = step.table, step.where
    if where is None:
        return lambda partition: True
    # A FLOAT's text is compared as the number that it is.
    types = {
        column.name: DOUBLE if column.type == FLOAT else column.type
        for column in table.partition_columns
    }
    pruner = PartitionPruner(where, types)
    names = table.partition_names
    return lambda partition: pruner.is_certain(
        dict(zip(names, table.read_values(partition), strict=True))
    )


def _is_there(runtime: Runtime, partition: Partition) -> bool:
    return runtime.files(partition.location).exists(partition.location)


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


def _highest_write_id(
    files: Files, home: str, places: Sequence[str], txn: Transaction | None
) -> int:
    """Return the highest write id that directories bear; NotSupported for unknown compactions.

    ``places`` are the table's partitions in its ``home``.
    """
    names = {
        place: {status.path.partition("/")[0] for status in below if "/" in status.path}
        for place, below in files.list_many(home, places).items()
    }
    others = [place for place in places if place not in names]
    in_others = each_at_once(files, files.directories, others)
    names.update((place, {*below}) for place, below in zip(others, in_others, strict=True))
    highest = 0
    for place in places:
        for name in sorted(names[place]):
            directory = parse_directory(name)
            if directory is None:
                continue
            visibility = directory.visibility_txn
            if visibility and not (txn and txn.txns.sees(visibility)):
                raise NotSupported(
                    f"MSCK of {place}/{name}: a compaction whose transaction {visibility} this "
                    "metastore does not know as committed"
                )
            highest = max(highest, directory.max_write_id)
    return highest


def _see_writes(table: Table, highest: int, store: Metastore) -> None:
    """Let a table without writes go on above those that directories bear.

    One that has some is refused where it has fewer, as in Hive: rows would be seen once others are
    written.
    """
    if not highest:
        return
    known = store.valid_write_ids(ALL_TXNS, [table.name])[table.name].high_watermark
    if 0 < known < highest:
        raise SemanticError(
            f"MSCK of {table.name}: directories have rows of write {highest}, and the metastore "
            f"knows writes up to {known}. Nothing was added. Take the directories away, and "
            "INSERT their rows from a table that was made for them, which MSCK fills before its "
            "first write",
            code=40000,
        )
    store.seed_write_id(table.name, highest + 1)
