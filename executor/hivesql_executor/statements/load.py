"""LOAD DATA: files that exist already become a table's, as they are."""

from __future__ import annotations

from collections.abc import Sequence

from hivesql_executor.bookkeeping.history import note_counts
from hivesql_executor.bookkeeping.loaded_files import check_file, files_to_load
from hivesql_executor.bookkeeping.partitions import inheriting
from hivesql_executor.bookkeeping.reachable_locations import named_path, reachable_location
from hivesql_executor.bookkeeping.statistics import count
from hivesql_executor.files.api import Files
from hivesql_executor.outcome import Outcome
from hivesql_executor.runtime import Runtime
from hivesql_executor.transactions.file_changes import FileChanges
from hivesql_executor.transactions.owned_places import require_own_places, require_unowned
from hivesql_executor.transactions.transaction import Transaction, changing
from hivesql_planner.acid.layout import base_name, delta_name
from hivesql_planner.errors import NotSupported, StaleSnapshot
from hivesql_planner.locks.lock import Operation
from hivesql_planner.model.statistics import StatisticsChange
from hivesql_planner.model.table import Partition, partition_name
from hivesql_planner.statements.ddl import LoadData
from hivesql_planner.write_history import RowCounts


def load_data(statement: LoadData, txn: Transaction | None, runtime: Runtime) -> Outcome:
    """Copy (LOCAL) or move the files; into a delta or base where there are write ids."""
    table = statement.table
    _require_missing(statement, runtime)
    # The file system of the source reads it; the one of the table reaches both.
    path = _source(statement, runtime)
    source_files, files = runtime.files(path), runtime.files(table.location)
    is_empty = statement.adds_partition and not source_files.list(path)
    sources = [] if is_empty else files_to_load(source_files, path)
    if not statement.local:
        # They are moved away from where they are.
        for directory in {source.rpartition("/")[0] for source in sources}:
            what = "ADD PARTITION … LOCATION" if statement.adds_partition else "LOAD DATA INPATH"
            require_unowned(directory, f"{what} from", runtime)
    is_added = statement.partition is not None and not statement.overwrite
    stored = table.stored_as(statement.partition) if is_added else table
    if (
        table.is_transactional
        and statement.partition
        and not table.writes_like(statement.partition)
    ):
        raise NotSupported(f"LOAD DATA into a partition of {table.name} that is stored otherwise")
    for source in sources:
        check_file(source_files, source, stored)
    # A place without files becomes the partition's own.
    location = path if is_empty else _location(statement)
    require_own_places(table, [location], runtime, replaces=statement.overwrite)
    sizes = [source_files.size(source) for source in sources]
    with changing(txn, runtime) as changes:
        if statement.values is not None and statement.partition is None:
            # Before the catalog names it: should we die, it has no partition without a directory.
            changes.make([location])
        if not table.is_transactional:
            _into_place(statement, sources, location, changes, files)
        elif not is_empty:
            assert txn is not None
            _into_directory(statement, sources, location, txn, runtime)
        _add_partition(statement, location, runtime)
        if txn is not None and table.is_transactional:
            _record_partition(statement, txn, runtime)
        elif statement.partition and statement.partition.storage and not is_added:
            anew = table.stored_anew(statement.partition)
            runtime.metastore.alter_partition(table.name, anew.values, anew)
        count([_loaded(statement, sizes)], txn, changes)
    counts = RowCounts(inserted=None, files=len(sizes), bytes=sum(sizes))
    note_counts(table.name, counts, txn)
    is_load = not statement.adds_partition
    return Outcome(message=f"Loading data to table {table.name}" if is_load else None)


def _require_missing(statement: LoadData, runtime: Runtime) -> None:
    """Raise StaleSnapshot where a partition IF NOT EXISTS came meanwhile, and nothing is to do."""
    table, values = statement.table, statement.values
    if values is None or not statement.if_not_exists:
        return
    # Under the locks: who came first has added it by now.
    if runtime.metastore.partition(table.name, values) is not None:
        raise StaleSnapshot(
            f"{table.name} {partition_name(table.partition_names, values)} came and went, again "
            "and again. Run the statement again"
        )


def _source(statement: LoadData, runtime: Runtime) -> str:
    """Return the place of the files; that of a partition is below the table where it is relative.

    Raises SemanticError where statements may not name it.
    """
    if statement.adds_partition:
        return reachable_location(statement.path, runtime, statement.table.location)
    return named_path(statement.path, runtime, local=statement.local)


def _loaded(statement: LoadData, sizes: Sequence[int]) -> StatisticsChange:
    """Nobody has read the files, so nobody knows their rows."""
    table, values = statement.table, statement.values
    return StatisticsChange(
        table=table.name,
        partition=None if values is None else partition_name(table.partition_names, values),
        rows=None,
        files=len(sizes),
        bytes=sum(sizes),
        replaces=statement.overwrite,
    )


def _location(statement: LoadData) -> str:
    if statement.partition is not None:
        return statement.partition.location
    table = statement.table
    if statement.values is None:
        return table.location
    return table.home_of(statement.values)


def _add_partition(statement: LoadData, location: str, runtime: Runtime) -> None:
    """Tell the catalog of a new partition, now that its files are there.

    From then on others may write into it, so that it stays whatever becomes of us.
    """
    if statement.values is None or statement.partition is not None:
        return
    partition = Partition(values=statement.values, location=location)
    new = inheriting(statement.table, [partition], runtime)
    runtime.metastore.add_partitions(
        statement.table.name, new, if_not_exists=not statement.adds_partition
    )


def _record_partition(statement: LoadData, txn: Transaction, runtime: Runtime) -> None:
    """Tell the transaction which partition was written, where the table has any."""
    if statement.values is None:
        return
    table = statement.table
    unit = partition_name(table.partition_names, statement.values)
    operation = Operation.UPDATE if statement.overwrite else Operation.INSERT
    write_id = txn.write_ids[table.name]
    runtime.metastore.add_dynamic_partitions(txn.id, write_id, table.name, [unit], operation)


def _into_place(
    statement: LoadData,
    sources: Sequence[str],
    location: str,
    changes: FileChanges,
    files: Files,
) -> None:
    """Files of a table that is not transactional, under names that are free."""
    names = {source: source.rpartition("/")[2] for source in sources}
    changes.make([location])
    if statement.local:
        copies = changes.copy(sources, location, files)
        names = dict(zip(copies, names.values(), strict=True))
    if statement.overwrite:
        changes.empty(location)
    existing = {status.path for status in files.list(location)}
    waiting = list(names)
    while waiting:
        pairs = []
        for source in waiting:
            name = free_name(names[source], existing)
            existing.add(name)
            pairs.append((source, f"{location}/{name}"))
        # Somebody else may have taken a name since they were listed.
        waiting = [source for source, _ in changes.bring(pairs)]


def _into_directory(
    statement: LoadData, sources: Sequence[str], location: str, txn: Transaction, runtime: Runtime
) -> None:
    """Files of a transactional table: a directory that nobody sees before the commit."""
    table, files = statement.table, runtime.files(statement.table.location)
    write_id = txn.write_ids[table.name]
    name = (
        base_name(write_id) if statement.overwrite else delta_name(write_id, statement.statement_id)
    )
    home = f"{location}/{name}"
    names = [source.rpartition("/")[2] for source in sources]
    if table.is_full_acid:
        # Row ids come from the number, so that files of any name get one, as in Hive.
        names = [f"{number:06d}_0" for number in range(len(sources))]
    changes = txn.changes
    # Noted: of one that was taken for dead, and goes on late, no empty directory stays.
    changes.make([home])
    if statement.local:
        sources = changes.copy(sources, location, files)
    # Should we die, those that were moved go back, before a cleaner takes the directory away.
    changes.bring(
        [(source, f"{home}/{file_name}") for source, file_name in zip(sources, names, strict=True)]
    )


def free_name(name: str, existing: set[str]) -> str:
    """``x.txt``, ``x_copy_1.txt``, ``x_copy_2.txt`` …, as Hive names them."""
    stem, dot, suffix = name.rpartition(".") if "." in name else (name, "", "")
    free, number = name, 0
    while free in existing:
        number += 1
        free = f"{stem}_copy_{number}{dot}{suffix}"
    return free
