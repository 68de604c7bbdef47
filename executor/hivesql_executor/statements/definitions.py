"""Definitions, step by step: directories change first, then the catalog, which decides.

Every statement was bound before its locks were granted. What it was bound to is compared with
what is there now, so that nobody's change in between is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from typing import get_args

from hivesql_executor.bookkeeping.avro_schema import with_altered_schema
from hivesql_executor.bookkeeping.directory_moves import (
    CatalogPlaces,
    hiding,
    leave_in_stores,
    making,
    may_delete,
    placing,
)
from hivesql_executor.bookkeeping.partitions import inheriting
from hivesql_executor.bookkeeping.reachable_locations import reachable_location
from hivesql_executor.files.at_once import each_at_once
from hivesql_executor.files.locations import is_absolute
from hivesql_executor.metastore.file_moves import Move
from hivesql_executor.outcome import Outcome
from hivesql_executor.runtime import Runtime
from hivesql_executor.snapshot.listing import table_roots
from hivesql_executor.statements.repair import repair_table
from hivesql_executor.statements.tables import create_new_table, empty_table
from hivesql_executor.transactions.owned_places import require_own_places
from hivesql_executor.transactions.transaction import Transaction
from hivesql_planner.acid.layout import ACID_PREFIXES, delta_name, is_hidden, parse_original_file
from hivesql_planner.definitions.steps import (
    AddEntry,
    AdoptFiles,
    AlterEntry,
    CatalogStep,
    Definition,
    DropEntry,
    EmptyTable,
    Entry,
    FollowDirectories,
    HandOver,
    MakeDirectory,
    MoveDirectory,
    NewTable,
    Partitions,
    RemoveDirectory,
    RemoveIfEmpty,
    ReserveWriteIds,
    Step,
    StoreStatistics,
)
from hivesql_planner.definitions.table_properties import misspelt_properties
from hivesql_planner.errors import NoSuchObject, NotSupported, SemanticError, StaleSnapshot
from hivesql_planner.model.statistics import BASICS, Statistics, no_rows, overlay_statistics
from hivesql_planner.model.table import Database, Partition, Table, TableName, partition_name

_EXISTS = 10073
Change = Callable[[], object]
"""One change of the catalog, with all that it needs."""


def run_definition(definition: Definition, txn: Transaction | None, runtime: Runtime) -> Outcome:
    """Take the steps of a statement; StaleSnapshot where it was bound to something else."""
    if definition.notice:
        runtime.notify(definition.notice)
    for notice in misspelt_properties(_new_properties(definition.steps)):
        runtime.notify(notice)
    txn_id = txn.id if txn else 0
    match definition.steps:
        case (NewTable() as new,):
            create_new_table(new, txn_id, runtime)
        case (EmptyTable() as emptied,):
            empty_table(emptied, txn, runtime)
        case (FollowDirectories() as followed,):
            return repair_table(followed, txn, runtime)
        case steps:
            _check_unchanged(steps, runtime)
            take_steps(steps, txn_id, runtime)
    return Outcome()


def _new_properties(steps: Iterable[Step]) -> Iterator[str]:
    """Yield the names of properties that tables get."""
    for step in steps:
        match step:
            case NewTable(table=table):
                yield from table.properties
            case AlterEntry(before=Table() as before, after=Table() as after):
                yield from after.properties.keys() - before.properties.keys()


def take_steps(steps: Sequence[Step], txn_id: int, runtime: Runtime) -> None:
    """Change directories and the catalog; all of it, or what the catalog says."""
    changes = [
        _catalog_change(step, txn_id, runtime) for step in steps if isinstance(step, _OF_CATALOG)
    ]
    directories = [_made(step, runtime) for step in steps if isinstance(step, MakeDirectory)]
    moves, doomed = _moves(steps, runtime)
    for adopted in (step for step in steps if isinstance(step, AdoptFiles)):
        moves_into = _moves_into_write(adopted, runtime)
        moves += moves_into
        homes = (move.target.rpartition("/")[0] for move in moves_into)
        directories += dict.fromkeys(homes)
    around = next((step.path for step in steps if isinstance(step, RemoveIfEmpty)), "")
    with ExitStack() as effects:
        if directories:
            effects.enter_context(making(directories, runtime, txn_id))
        if moves or around:
            look = partial(_places_now, steps, runtime)
            effects.enter_context(
                placing(moves, runtime, txn_id, look=look, around=around, doomed=doomed)
            )
        # One may be several calls of a Hive Metastore.
        if len(changes) > 1 or not runtime.metastore.keeps_rows:
            runtime.metastore.run_in_transaction(lambda: [change() for change in changes])
        else:
            for change in changes:
                change()


_OF_CATALOG: tuple[type[CatalogStep], ...] = get_args(CatalogStep)


def _places_now(steps: Iterable[Step], runtime: Runtime) -> CatalogPlaces:
    """Return what the catalog has now of the entries that steps alter, drop or hand over.

    Partitions follow a table that has moved before that: a Hive Metastore moves them by another
    call, and may have died between the two.
    """
    places, store = CatalogPlaces(), runtime.metastore
    for step in steps:
        match step:
            case AlterEntry(before=Table() as before, after=Table() as after):
                _let_partitions_follow(before, after, runtime)
    for entry in _entries(steps):
        match entry:
            case Table(name=name):
                with suppress(NoSuchObject):
                    table = store.table(name)
                    places.named.add(table.location)
                    places.owned.add((table.id, ""))
            case Partitions(table=table, partitions=partitions):
                for partition in partitions:
                    with suppress(NoSuchObject):
                        if (stored := store.partition(table.name, partition.values)) is not None:
                            places.named.add(stored.location)
                            places.owned.add((table.id, _name(table, stored)))
    return places


def _let_partitions_follow(before: Table, after: Table, runtime: Runtime) -> None:
    """Give partitions that are below the old directory of a renamed table their places now."""
    store = runtime.metastore
    if before.name == after.name or not after.partition_columns:
        return
    with suppress(NoSuchObject):
        home = store.table(after.name).location
        if home == before.location:
            return
        for partition in store.foreign_partitions(after.name):
            if partition.location.startswith(f"{before.location}/"):
                place = f"{home}{partition.location.removeprefix(before.location)}"
                moved = replace(partition, location=place)
                store.alter_partition(after.name, partition.values, moved)


def _entries(steps: Iterable[Step]) -> Iterator[Entry]:
    for step in steps:
        match step:
            case AlterEntry(before=before, after=after):
                yield from (before, after)
            case DropEntry(entry=entry):
                yield entry
            case HandOver(source=source, target=target):
                yield from (source, target)


# -- what the statement was bound to
def _check_unchanged(steps: Iterable[Step], runtime: Runtime) -> None:
    for step in steps:
        match step:
            case AlterEntry(before=Table() as table) | StoreStatistics(table=table):
                _check_table(table, runtime)
            case DropEntry(entry=Table() as table):
                _check_dropped(table, runtime)
            case DropEntry(entry=Database() as database, is_whole=is_whole):
                _check_database(database, steps if is_whole else None, runtime)


def _check_table(table: Table, runtime: Runtime) -> None:
    if _table_now(table, runtime) != table:
        raise _stale(f"{table.name} was altered")


def _table_now(table: Table, runtime: Runtime) -> Table:
    try:
        return runtime.metastore.table(table.name)
    except NoSuchObject:
        raise _stale(f"{table.name} was dropped") from None


def _check_dropped(table: Table, runtime: Runtime) -> None:
    if _fate(_table_now(table, runtime)) != _fate(table):
        raise _stale(f"{table.name} was changed")


def _fate(table: Table) -> tuple[object, ...]:
    """Give what decides whether a table can be dropped, and what of it goes."""
    return table.id, table.type, table.location, table.owns_files


def _check_database(database: Database, steps: Iterable[Step] | None, runtime: Runtime) -> None:
    """Fail where another one is there by now, or none.

    Or it has other tables than those that ``steps`` drop with it; None where it must be empty.
    """
    now = _database_now(database, runtime)
    is_changed = now.location != database.location
    if steps is not None and not is_changed:
        planned = {
            step.entry.name
            for step in steps
            if isinstance(step, DropEntry) and isinstance(step.entry, Table)
        }
        is_changed = {*runtime.metastore.tables(now.name)} != planned
    if is_changed:
        raise _stale(f"{database.name} was changed")


def _database_now(database: Database, runtime: Runtime) -> Database:
    try:
        return runtime.metastore.database(database.name)
    except NoSuchObject:
        raise _stale(f"{database.name} was dropped") from None


def _stale(what: str) -> StaleSnapshot:
    return StaleSnapshot(f"{what} by somebody else meanwhile. Run the statement again")


# -- directories
def _made(step: MakeDirectory, runtime: Runtime) -> str:
    path = step.path
    if step.base is not None:
        path = reachable_location(path, runtime, step.base or None)
    if step.must_be_empty and runtime.files(path).list(path):
        raise NotSupported(
            f"several partitions in one ADD PARTITION … LOCATION on a transactional table, with "
            f"files there: {path}. Add each in a statement of its own, which moves its files into "
            "the table"
        )
    return path


def _moves(steps: Sequence[Step], runtime: Runtime) -> tuple[list[Move], list[str]]:
    """Return the moves, and the files that are deleted where they lie once they are nobody's."""
    removed = {
        step.path: step
        for step in steps
        if isinstance(step, RemoveDirectory)
        and may_delete(step.path, step.table, runtime, with_database=step.with_database)
    }
    partitions: dict[TableName, tuple[Table, dict[str, str]]] = {}
    for removal in removed.values():
        if removal.partition is not None:
            _, homes = partitions.setdefault(removal.table.name, (removal.table, {}))
            homes[removal.path] = _name(removal.table, removal.partition)
    left = {
        home: each
        for table, homes in partitions.values()
        for home, each in leave_in_stores(table, homes, runtime).items()
    }
    moves: list[Move] = []
    for step in steps:
        match step:
            case MoveDirectory(source=source, target=target):
                if step.free_for is not None and runtime.files(target).exists(target):
                    raise SemanticError(
                        f"New location for this table {step.free_for} already exists: {target}. "
                        "Remove it first"
                    )
                moves.append(Move(source=source, target=target))
            case RemoveDirectory(path=path) if path in left:
                moves += left[path][0]
            case RemoveDirectory(path=path, table=table, partition=partition) if path in removed:
                named = "" if partition is None else _name(table, partition)
                stays = _stays(table, named, path, runtime)
                moves.append(hiding(path, table.id, named, stays=stays))
    return moves, [path for _, files in left.values() for path in files]


def _moves_into_write(step: AdoptFiles, runtime: Runtime) -> list[Move]:
    """Return the moves of a plain table's files into a directory of a write, as real Hive moves."""
    table = step.table
    partitions = runtime.metastore.partitions(table.name) if table.partition_columns else ()
    files, home, moves = runtime.files(table.location), delta_name(step.write_id, 0), []
    for _, location in table_roots(table, partitions):
        for status in files.list(location):
            if is_hidden(status.path):
                continue
            if status.path.startswith(ACID_PREFIXES):
                raise NotSupported(
                    f"ALTER TABLE from plain to insert-only with {location}/{status.path}, which "
                    "would pass for a file of a write: rename its directory"
                )
            target = f"{location}/{home}/{status.path}"
            moves.append(Move(source=f"{location}/{status.path}", target=target))
    return moves


def _stays(table: Table, partition: str, path: str, runtime: Runtime) -> bool:
    """Tell whether files are not hidden before they are deleted, where a move copies each.

    A metastore that keeps notes lets nobody have such a place before they are deleted. Without
    notes those of a table of write ids stay: nobody makes such a table where there are files, and
    nobody else reads them. Of a partition, `leave_in_stores` says that.
    """
    is_noted = table.is_transactional or runtime.metastore.keeps_rows
    return is_noted and not partition and not runtime.files(path).has_directories


def _name(table: Table, partition: Partition) -> str:
    return partition_name(table.partition_names, partition.values)


# -- the catalog
def _catalog_change(step: CatalogStep, txn_id: int, runtime: Runtime) -> Change:
    """Complete a step and check what can be before anything is changed."""
    store = runtime.metastore
    match step:
        case AddEntry():
            return _adding(step, txn_id, runtime)
        case AlterEntry():
            return _altering(step, txn_id, runtime)
        case DropEntry():
            return _dropping(step, txn_id, runtime)
        case HandOver(source=source, target=target):
            for side in (source, target):
                homes = [partition.location for partition in side.partitions]
                require_own_places(side.table, homes, runtime, replaces=False)
            return partial(
                store.exchange_partitions,
                source.table.name, target.table.name, target.partitions, txn_id=txn_id,
            )  # fmt: skip
        case ReserveWriteIds(table=table, next_write_id=next_write_id):
            _check_file_names(table, runtime)
            return partial(store.seed_write_id, table.name, next_write_id)
        case AdoptFiles(table=table, write_id=write_id):
            return partial(store.seed_write_id, table.name, write_id + 1)
        case StoreStatistics(table=table):
            return partial(store.put_statistics, table.name, _statistics(step, runtime))


def _adding(step: AddEntry, txn_id: int, runtime: Runtime) -> Change:
    store, entry = runtime.metastore, step.entry
    match entry:
        case Database():
            owned = replace(_complete(entry, runtime), owner=runtime.user)
            return partial(store.create_database, owned, if_not_exists=step.if_not_exists)
        case Table():
            owned_table = replace(entry, owner=runtime.user)
            return partial(_add_table, step, owned_table, runtime)
        case Partitions(table=table):
            places = (_with_location(table, partition, runtime) for partition in entry.partitions)
            located = _counted(table, inheriting(table, places, runtime), runtime)
            return partial(
                store.add_partitions, table.name, located, if_not_exists=step.if_not_exists,
                txn_id=txn_id,
            )  # fmt: skip
        case _:
            return partial(store.create_function, replace(entry, owner=runtime.user))


def _counted(
    table: Table, partitions: Iterable[Partition], runtime: Runtime
) -> tuple[Partition, ...]:
    """Let the statistics of new partitions say that they have no rows, as Hive's do.

    Of those at places that a user names nobody knows it, nor where files are already.
    """
    if table.is_view or not runtime.settings.flag("hive.stats.autogather"):
        return tuple(partitions)
    added, none = tuple(partitions), no_rows(table)
    homes = [
        partition.location
        for partition in added
        if partition.location == table.home_of(partition.values)
    ]
    files = runtime.files(table.location)
    names = dict(files.list_many(table.location, homes))
    others = [home for home in homes if home not in names]
    names.update(zip(others, each_at_once(files, files.list, others), strict=True))
    return tuple(
        partition
        if names.get(partition.location, True)
        else replace(partition, properties={**partition.properties, **none})
        for partition in added
    )


def _add_table(step: AddEntry, table: Table, runtime: Runtime) -> None:
    try:
        runtime.metastore.create_table(table, if_not_exists=step.if_not_exists)
    except SemanticError as error:
        if step.or_replace and error.code == _EXISTS:
            raise _stale(f"{table.name} was created") from error
        raise


def _with_location(table: Table, partition: Partition, runtime: Runtime) -> Partition:
    """Complete a place that a user has named."""
    location = partition.location
    if location and location != table.home_of(partition.values):
        location = reachable_location(location, runtime, table.location)
    return replace(partition, location=location)


def _altering(step: AlterEntry, txn_id: int, runtime: Runtime) -> Change:
    store = runtime.metastore
    match step.before, step.after:
        case Database() as known, Database() as database:
            return partial(_alter_database, known, _complete(database, runtime), runtime)
        case Table(name=name) as before, Table() as after:
            if after.name != name and after.name in store.tables(after.name.database):
                raise SemanticError(f"new table {after.name} already exists", code=40013)
            if step.to_location:
                after = replace(after, location=_new_location(step.to_location, runtime))
            after = with_altered_schema(before, after, runtime)
            if before.owner and not after.owner:
                after = replace(after, owner=runtime.user)
            return partial(store.alter_table, name, after, txn_id=txn_id, cascade=step.cascade)
        case Partitions(table=table, partitions=olds), Partitions(partitions=news):
            if step.to_location:
                place = _new_location(step.to_location, runtime)
                news = tuple(replace(partition, location=place) for partition in news)
            pairs = tuple(zip(olds, news, strict=True))
            return partial(_alter_partitions, table.name, pairs, txn_id, runtime)
    raise NotSupported(f"altering {step.before}")


def _alter_database(before: Database, after: Database, runtime: Runtime) -> None:
    """Replace a description that nobody has changed meanwhile: there is no lock for it."""

    def alter() -> None:
        if _database_now(before, runtime) != before:
            raise _stale(f"{before.name} was altered")
        runtime.metastore.alter_database(after)

    runtime.metastore.run_in_transaction(alter)


def _alter_partitions(
    name: TableName, pairs: Iterable[tuple[Partition, Partition]], txn_id: int, runtime: Runtime
) -> None:
    for before, after in pairs:
        runtime.metastore.alter_partition(name, before.values, after, txn_id=txn_id)


def _dropping(step: DropEntry, txn_id: int, runtime: Runtime) -> Change:
    store = runtime.metastore
    match step.entry:
        case Database(name=name):
            return partial(store.drop_database, name)
        case Table(name=table_name):
            return partial(store.drop_table, table_name)
        case Partitions(table=table, partitions=partitions):
            values = [partition.values for partition in partitions]
            return partial(store.drop_partitions, table.name, values, txn_id=txn_id)
        case function:
            return partial(store.drop_function, function.database, function.name)


def _complete(database: Database, runtime: Runtime) -> Database:
    """Return the same with locations that no working directory changes; an empty one stays."""
    managed = database.managed_location
    return replace(
        database,
        location=reachable_location(database.location, runtime) if database.location else "",
        managed_location=reachable_location(managed, runtime) if managed else None,
    )


def _new_location(location: str, runtime: Runtime) -> str:
    """Return the place that SET LOCATION names, which Hive wants to be absolute."""
    if not is_absolute(location):
        raise SemanticError(
            f"{location}  is not absolute.  Please specify a complete absolute uri.", code=10244
        )
    place = reachable_location(location, runtime)
    # It need not be there, but its server must answer, as in Hive.
    runtime.files(place).exists(place)
    return place


def _check_file_names(table: Table, runtime: Runtime) -> None:
    """Only names that Hive takes for original files may lie in a converted table."""
    locations = [table.location]
    if table.partition_columns:
        locations = [partition.location for partition in runtime.metastore.partitions(table.name)]
    files = runtime.files(table.location)
    for location in locations:
        for status in files.list(location):
            if parse_original_file(status.path.rpartition("/")[2]) is None:
                raise SemanticError(
                    f"Unexpected data file name format. Cannot convert {table.name} to "
                    f"transactional table. File: {location}/{status.path}"
                )


def _statistics(step: StoreStatistics, runtime: Runtime) -> list[Statistics]:
    """Put what a user says of a column, or of partitions, beside what is known."""
    owners = (None,) if step.partitions is None else tuple(
        partition.values for partition in step.partitions
    )  # fmt: skip
    rows, files, size = (step.basics.get(key) for key in BASICS)
    statistics = []
    for values in owners:
        stored = runtime.metastore.statistics(step.table.name, values)
        statistics.append(
            Statistics(
                values=values,
                is_stated=True,
                rows=stored.rows if rows is None else rows,
                files=stored.files if files is None else files,
                bytes=stored.bytes if size is None else size,
                columns=()
                if step.column is None
                else (overlay_statistics(step.column, stored.columns),),
            )
        )
    return statistics
