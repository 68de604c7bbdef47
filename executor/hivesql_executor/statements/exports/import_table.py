"""IMPORT: the files of an export become those of a table, with new row ids where it has any."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from hivesql_executor.bookkeeping.history import note_counts
from hivesql_executor.bookkeeping.loaded_files import check_file
from hivesql_executor.bookkeeping.partitions import inheriting
from hivesql_executor.bookkeeping.reachable_locations import reachable_location
from hivesql_executor.bookkeeping.statistics import count
from hivesql_executor.outcome import Outcome
from hivesql_executor.runtime import Runtime
from hivesql_executor.snapshot.listing import data_sizes
from hivesql_executor.statements.exports.export_table import copy_all, units
from hivesql_executor.statements.load import free_name
from hivesql_executor.statements.tables import bear_table
from hivesql_executor.transactions.file_changes import FileChanges
from hivesql_executor.transactions.owned_places import require_own_places
from hivesql_executor.transactions.transaction import Transaction, changing
from hivesql_planner.acid.layout import delta_name, parse_original_file
from hivesql_planner.errors import NotSupported, SemanticError
from hivesql_planner.locks.lock import Operation
from hivesql_planner.model.statistics import StatisticsChange
from hivesql_planner.model.table import Partition, Table
from hivesql_planner.statements.export import DATA, ImportTable
from hivesql_planner.write_history import RowCounts


@dataclass(frozen=True, slots=True)
class _Part:
    """What comes into one directory of the table: files of the export, in their order."""

    unit: str | None
    location: str
    sources: tuple[str, ...]
    sizes: tuple[int, ...]
    stored: Table


def import_table(statement: ImportTable, txn: Transaction | None, runtime: Runtime) -> Outcome:
    """Copy the files of an export into a table; a new one goes again unless all of it commits."""
    with changing(txn, runtime) as changes:
        table = statement.table
        if statement.is_new:
            table = bear_table(table, changes, runtime)
        partitions = tuple(_locate(partition, table, runtime) for partition in statement.partitions)
        parts = list(_parts(statement, table, partitions, runtime))
        if not statement.is_new:
            _check_unfilled(statement, table, parts, runtime)
        homes = [part.location for part in parts]
        require_own_places(table, homes, runtime, replaces=False)
        changes.make(homes)
        for part in parts:
            if table.is_transactional:
                assert txn is not None
                _into_delta(part, table, txn, runtime)
            else:
                _into_place(part, changes, runtime)
        _add_partitions(statement, table, partitions, txn, runtime)
        count([_counted(table, part) for part in parts], txn, changes)
    sizes = [size for part in parts for size in part.sizes]
    note_counts(table.name, RowCounts(inserted=None, files=len(sizes), bytes=sum(sizes)), txn)
    return Outcome(message=f"Imported {table.name} from {statement.dump.path}")


def _locate(partition: Partition, table: Table, runtime: Runtime) -> Partition:
    """Give a partition the place where it will live."""
    home = table.home_of(partition.values)
    if partition.location:
        home = reachable_location(partition.location, runtime)
    return replace(partition, location=home)


def _parts(
    statement: ImportTable, table: Table, partitions: Sequence[Partition], runtime: Runtime
) -> Iterator[_Part]:
    """List what the export has, and check it against what the table wants."""
    path, files = statement.dump.path, runtime.files(statement.dump.path)
    names = units(table, partitions)
    places = [partition.location for partition in partitions]
    kinds: list[Partition | None] = [*partitions]
    if not table.partition_columns:
        places, kinds = [table.location], [None]
    for unit, location, partition in zip(names, places, kinds, strict=True):
        home = f"{path}/{unit or DATA}"
        if not files.exists(home):
            raise SemanticError(
                f"Invalid path '{path}': the export is not whole, there is no {home}", code=10027
            )
        listed = files.list(home)
        sources = tuple(f"{home}/{status.path}" for status in listed)
        stored = table.stored_as(partition)
        for source in sources:
            check_file(files, source, stored)
        sizes = tuple(status.length for status in listed)
        yield _Part(unit, location, sources, sizes, stored)


def _check_unfilled(
    statement: ImportTable, table: Table, parts: Sequence[_Part], runtime: Runtime
) -> None:
    """Refuse a table, or partitions, with files: an import adds to nothing, as in Hive."""
    places = {partition.values: partition.location for partition in statement.known}
    for values, location in places.items():
        if data_sizes(runtime.files(location).list(location)):
            pairs = zip(table.partition_names, values, strict=True)
            named = ",".join(f"{name}={value}" for name, value in pairs)
            raise SemanticError(f"Partition already exists {named}", code=10118)
    for part in parts:
        if data_sizes(runtime.files(part.location).list(part.location)):
            where = f": {part.location}" if part.unit else ""
            raise SemanticError(f"Table exists and contains data files{where}", code=10119)


def _into_place(part: _Part, changes: FileChanges, runtime: Runtime) -> None:
    """Copy files of a table that is not transactional, under names that are free."""
    targets = [f"{part.location}/{name}" for name in _free_names(part.sources)]
    copy_all(list(zip(part.sources, targets, strict=True)), part.location, changes, runtime)


def _into_delta(part: _Part, table: Table, txn: Transaction, runtime: Runtime) -> None:
    """Copy files into a directory that nobody sees before the commit."""
    if not part.sources:
        return
    home = f"{part.location}/{delta_name(txn.write_ids[table.name], 0)}"
    names = _free_names(part.sources)
    if table.is_full_acid:
        names = _original_names(names, table, part)
    txn.changes.make([home])
    targets = [f"{home}/{name}" for name in names]
    copy_all(list(zip(part.sources, targets, strict=True)), part.location, txn.changes, runtime)


def _free_names(paths: Sequence[str]) -> list[str]:
    """Give each file its own name without its directory, or one like it where that is taken."""
    names: list[str] = []
    taken: set[str] = set()
    for path in paths:
        names.append(free_name(path.rpartition("/")[2], taken))
        taken.add(names[-1])
    return names


def _original_names(names: Sequence[str], table: Table, part: _Part) -> list[str]:
    """Name files so that their rows get ids: by bucket where there are any, else by number."""
    if not table.is_bucketed:
        return [f"{number:06d}_0" for number in range(len(names))]
    buckets = [parse_original_file(name) for name in names]
    if None in buckets or len(set(buckets)) < len(buckets):
        raise NotSupported(
            f"IMPORT into {table.name}, which has buckets, of files whose names do not tell "
            f"theirs: {part.sources[0]} and others"
        )
    return [f"{bucket:06d}_0" for bucket in buckets]


def _add_partitions(
    statement: ImportTable,
    table: Table,
    partitions: Sequence[Partition],
    txn: Transaction | None,
    runtime: Runtime,
) -> None:
    """Tell the catalog of the partitions, now that their files are there."""
    if not partitions:
        return
    store, txn_id = runtime.metastore, txn.id if txn else 0
    known = {partition.values for partition in statement.known}
    for partition in partitions:
        if partition.values in known:
            store.alter_partition(table.name, partition.values, partition, txn_id=txn_id)
    new = [partition for partition in partitions if partition.values not in known]
    store.add_partitions(table.name, inheriting(table, new, runtime), txn_id=txn_id, for_rows=True)
    if txn is not None and table.is_transactional:
        names = [unit for unit in units(table, partitions) if unit is not None]
        write_id = txn.write_ids[table.name]
        store.add_dynamic_partitions(txn.id, write_id, table.name, names, Operation.INSERT)


def _counted(table: Table, part: _Part) -> StatisticsChange:
    """Nobody has read the files, so nobody knows their rows."""
    return StatisticsChange(
        table=table.name,
        partition=part.unit,
        rows=None,
        files=len(part.sizes),
        bytes=sum(part.sizes),
    )
