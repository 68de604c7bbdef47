"""Tables that come, and tables that become empty: catalog entry and files together."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from hivesql_executor.bookkeeping.avro_schema import with_file_columns
from hivesql_executor.bookkeeping.directory_moves import making
from hivesql_executor.bookkeeping.file_columns import columns_of_file
from hivesql_executor.bookkeeping.reachable_locations import named_path, reachable_location
from hivesql_executor.bookkeeping.statistics import count
from hivesql_executor.failpoints import FailPoint, hit_failpoint
from hivesql_executor.files.at_once import each_at_once
from hivesql_executor.runtime import Runtime
from hivesql_executor.snapshot.listing import table_roots
from hivesql_executor.transactions.file_changes import FileChanges
from hivesql_executor.transactions.owned_places import require_own_places
from hivesql_executor.transactions.transaction import Transaction, changing
from hivesql_planner.acid.layout import METADATA_FILE, base_name
from hivesql_planner.definitions.steps import EmptyTable, NewTable
from hivesql_planner.errors import (
    CommitUnknown,
    ExecutionError,
    NoSuchObject,
    NotSupported,
    SemanticError,
    StaleSnapshot,
)
from hivesql_planner.locks.lock import Operation
from hivesql_planner.model.hive_type import Kind
from hivesql_planner.model.names import check_table
from hivesql_planner.model.statistics import StatisticsChange
from hivesql_planner.model.table import (
    Column,
    FileFormat,
    Table,
    TableName,
    columns_of_format,
    partition_name,
)

# What Hive 4 leaves in the empty base of a truncated table.
_TRUNCATED = b'{"thisFileVersion":"0","dataFormat":"truncated"}'


_EXISTS = 10073
"""Hive's code for a table that is there."""


def create_new_table(new: NewTable, txn_id: int, runtime: Runtime) -> None:
    """Add a table to the catalog and make its directory, unless there is one that may be."""
    table = new.table
    if new.if_not_exists and table.name in runtime.metastore.tables(table.name.database):
        return
    if new.like_file is not None:
        table = _with_columns_of(table, *new.like_file, runtime)
    try:
        _create_table(table, new.home, txn_id, runtime)
    except SemanticError:
        # Somebody else has made it since we looked, and has perhaps filled it.
        if not new.if_not_exists or not exists(table.name, runtime):
            raise


def _with_columns_of(table: Table, format_: FileFormat, path: str, runtime: Runtime) -> Table:
    """Return the table with the columns of a file; SemanticError where it cannot have them."""
    path = named_path(path, runtime, local=False)
    files = runtime.files(path)
    if not files.is_file(path):
        raise SemanticError(f"Invalid path '{path}': No files matching path {path}", code=10028)
    columns = columns_of_format(table.format, columns_of_file(files, path, format_))
    for column in columns:
        if column.type.holds(Kind.UNION):
            raise NotSupported(f"the type {column.type} of the column {column.name} in {path}")
    return _with_new_columns(table, columns)


def _with_new_columns(table: Table, columns: Sequence[Column]) -> Table:
    """Return the table with columns that its statement does not name."""
    for column in columns:
        if column.name in table.partition_names:
            raise SemanticError(
                f"Column repeated in partitioning columns: {column.name}", code=10035
            )
    table = replace(table, columns=tuple(columns))
    check_table(table)
    return table


def _create_table(table: Table, planned: str, txn_id: int, runtime: Runtime) -> None:
    """Add a table to the catalog and make its directory; a relative location is absolute now."""
    store = runtime.metastore
    is_placed = bool(table.location)
    table = _described(table, runtime)
    home = store.home_of(table)
    if home:
        if home != planned and not is_placed:
            raise StaleSnapshot(
                f"the place of new tables in {table.name.database} was altered by somebody else "
                "meanwhile. Run the statement again"
            )
        is_empty = _is_counted(runtime) and _check_home(home, table, runtime)
        with making([home], runtime, txn_id):
            store.create_table(table, is_empty=is_empty)
        return
    created = store.create_table(table, is_empty=None if _is_counted(runtime) else False)
    try:
        _check_home(created.location, created, runtime)
        runtime.files(created.location).make_directories(created.location)
    except BaseException:
        store.drop_table(created.name)
        raise


def bear_table(table: Table, changes: FileChanges, runtime: Runtime) -> Table:
    """Add a table whose rows are to come; it goes again unless the changes become right."""
    store = runtime.metastore
    table = _described(table, runtime)
    home = store.home_of(table)
    is_new, is_empty = False, None if _is_counted(runtime) else False
    if home:
        is_free = _check_home(home, table, runtime)
        is_new, is_empty = is_free and _holds_nothing(home, runtime), is_empty is None and is_free
        changes.make([home])

    def bear() -> Table:
        try:
            created = store.create_table(table, is_empty=is_empty)
        except CommitUnknown as unknown:
            # Of a Hive Metastore: a database is unknown to have changed when all of this is over.
            raise ExecutionError(
                f"{unknown.message.partition(';')[0]}. {table.name} may be there, without its "
                "rows: look, and drop it before you run the statement again",
                code=40000,
            ) from unknown
        changes.fill(created, is_new=is_new)
        return created

    created = store.run_in_transaction(bear)
    if not home:
        place = created.location
        is_new = _check_home(place, created, runtime) and _holds_nothing(place, runtime)
        changes.fill(created, is_new=is_new)
        runtime.files(created.location).make_directories(created.location)
    return created


def _is_counted(runtime: Runtime) -> bool:
    """Tell whether the catalog is to know how many rows there are."""
    return runtime.settings.flag("hive.stats.autogather")


def _check_pattern(table: Table, runtime: Runtime) -> None:
    """Refuse an expression that Java cannot read; it is asked where Python cannot either."""
    pattern = table.serde_properties["input.regex"]
    with suppress(re.error):
        re.compile(pattern)
        if "(?P" not in pattern:
            return
    from hivesql_executor.jvm import problem_of_pattern

    if problem := problem_of_pattern(pattern, runtime.spark()):
        raise SemanticError(f"{table.name}: {pattern} is no input.regex: {problem}", code=40000)


def _described(table: Table, runtime: Runtime) -> Table:
    """Return the table as it goes into the catalog; SemanticError 10073 when there is one."""
    if table.location:
        table = replace(table, location=reachable_location(table.location, runtime))
    if exists(table.name, runtime):
        raise SemanticError(f"Table already exists: {table.name}", code=_EXISTS)
    table = with_file_columns(table, runtime)
    if table.format == "thrift" and not table.columns:
        # Imported late: other definitions start no Spark.
        from hivesql_executor.spark.formats.containers import thrift_columns

        table = _with_new_columns(table, thrift_columns(runtime.spark(), table))
    if table.format == "regex":
        _check_pattern(table, runtime)
    return replace(table, owner=table.owner or runtime.user)


def exists(name: TableName, runtime: Runtime) -> bool:
    """Tell whether there is such a table; NoSuchObject 10072 without its database."""
    try:
        runtime.metastore.table(name)
    except NoSuchObject as error:
        if error.code != 10001:
            raise
        return False
    return True


def _check_home(home: str, table: Table, runtime: Runtime) -> bool:
    """Tell whether no file is where a new table wants to live; what must not be raises."""
    files = runtime.files(home)
    if files.is_file(home):
        raise SemanticError(f"{home} is a file, and no directory: give another LOCATION")
    is_empty = not files.list(home)
    if table.is_transactional and not is_empty:
        # Write ids start anew, so files that are there already could pass for committed rows.
        raise SemanticError(
            f"{home} already holds files: a new transactional table needs an empty "
            "directory. Remove the files or give another LOCATION"
        )
    return is_empty


def _holds_nothing(home: str, runtime: Runtime) -> bool:
    """Tell whether there are no directories, hidden or not, where no file is to be seen."""
    return not runtime.files(home).all_directories(home)


def empty_table(step: EmptyTable, txn: Transaction | None, runtime: Runtime) -> None:
    """Make a table or partitions empty: an empty ``base_W`` where there are write ids."""
    with changing(txn, runtime) as changes:
        count(_empty(step, txn, changes, runtime), txn, changes)


def _empty(
    step: EmptyTable, txn: Transaction | None, changes: FileChanges, runtime: Runtime
) -> list[StatisticsChange]:
    table, partitions = step.table, step.partitions
    if partitions is None:
        partitions = runtime.metastore.partitions(table.name) if table.partition_columns else ()
    roots = list(table_roots(table, partitions))
    units = [
        partition_name(table.partition_names, partition.values) if partition else None
        for partition, _ in roots
    ]
    if not table.is_transactional:
        require_own_places(table, [place for _, place in roots], runtime, replaces=True)
        for _, location in roots:
            changes.empty(location)
    else:
        assert txn is not None
        _put_empty_bases([location for _, location in roots], units, table, txn, changes, runtime)
    return [StatisticsChange(table=table.name, partition=unit, replaces=True) for unit in units]


def _put_empty_bases(
    locations: Sequence[str],
    units: Sequence[str | None],
    table: Table,
    txn: Transaction,
    changes: FileChanges,
    runtime: Runtime,
) -> None:
    files, write_id = runtime.files(table.location), txn.write_ids[table.name]
    with changes.removing_on_failure(table.location) as begun:
        bases = [f"{location}/{base_name(write_id)}" for location in locations]

        def put(base: str) -> None:
            begun.directories[base] = None
            files.make_directories(base)
            files.write(f"{base}/{METADATA_FILE}", _TRUNCATED)
            begun.files.append(f"{base}/{METADATA_FILE}")
            hit_failpoint(FailPoint.PARTITION_EMPTIED)

        each_at_once(files, put, bases)
        # Who was taken for dead meanwhile learns it while the bases can still be removed.
        runtime.metastore.heartbeat(txn.id)
        if names := [unit for unit in units if unit is not None]:
            # After all bases: until then the transaction has written "some partition of the table".
            runtime.metastore.add_dynamic_partitions(
                txn.id, write_id, table.name, names, Operation.UPDATE
            )


def refuse_filled(table: Table, location: str, runtime: Runtime) -> None:
    """Fail where a table that is immutable has files in a directory that is to be written."""
    if runtime.files(location).list(location):
        raise SemanticError(
            f"Inserting into a non-empty immutable table is not allowed {table.name.name}. "
            "Use INSERT OVERWRITE",
            code=10256,
        )
