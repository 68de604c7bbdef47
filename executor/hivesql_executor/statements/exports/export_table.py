"""EXPORT: a table's files, and their description behind them.

Files of plain and insert-only tables are copied as they are. Of a full-ACID table the rows are
written anew, without row ids, as Hive does: an import gives them new ones.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import replace

from hivesql_executor.bookkeeping.reachable_locations import named_path
from hivesql_executor.files.api import Files
from hivesql_executor.files.local import LocalFiles
from hivesql_executor.files.locations import require_below_root
from hivesql_executor.files.staging import STAGING
from hivesql_executor.outcome import Outcome
from hivesql_executor.runtime import Runtime
from hivesql_executor.snapshot.listing import plain_files, scan_files
from hivesql_executor.statements.exports.metadata import require_package, write_export
from hivesql_executor.transactions.file_changes import FileChanges
from hivesql_executor.transactions.owned_places import require_unowned
from hivesql_executor.transactions.reaper import entries
from hivesql_executor.transactions.transaction import Transaction
from hivesql_planner.errors import ExecutionError, NotSupported, SemanticError
from hivesql_planner.model.table import Partition, Table, partition_name
from hivesql_planner.statements.export import DATA, METADATA, ExportTable

_EXPORTED = "export_old_"
"""What Hive puts before the names of an insert-only table's directories, which say no more."""


def export_table(statement: ExportTable, txn: Transaction, runtime: Runtime) -> Outcome:
    """Copy a table into an empty directory; its description comes last."""
    require_package("EXPORT")
    table = statement.table
    path = require_below_root(named_path(statement.path, runtime, local=False))
    _check_empty(path, statement.path, runtime)
    require_unowned(path, "EXPORT TO", runtime)
    changes = txn.changes
    changes.make([f"{path}/{unit or DATA}" for unit in units(table, statement.partitions)])
    if table.is_full_acid:
        _write_rows(statement, path, txn, runtime)
    else:
        pairs = list(_exported_files(statement, path, txn, runtime))
        copy_all(pairs, path, changes, runtime)
    _bring_metadata(statement, path, changes, runtime)
    return Outcome(message=f"Exported {statement.name} to {path}")


def units(table: Table, partitions: Sequence[Partition]) -> list[str | None]:
    """Name the partitions, or the whole table by None."""
    if not table.partition_columns:
        return [None]
    return [partition_name(table.partition_names, partition.values) for partition in partitions]


def _check_empty(path: str, text: str, runtime: Runtime) -> None:
    files = runtime.files(path)
    if files.is_file(path):
        raise SemanticError(
            f"Invalid path '{text}': Target is not a directory : {path}", code=10027
        )
    visible = [name for name in entries(files, path) if not name.startswith(".")]
    if visible or files.exists(f"{path}/{METADATA}"):
        raise SemanticError(
            f"Invalid path '{text}': Target is not an empty directory : {path}", code=10027
        )


def _exported_files(
    statement: ExportTable, path: str, txn: Transaction, runtime: Runtime
) -> Iterator[tuple[str, str]]:
    """Yield each file that the snapshot sees, and where it goes."""
    table = statement.table
    (source,) = statement.query.sources
    if table.is_transactional:
        for part in scan_files(source.scan, txn.visible[table.name], txn.txns, runtime):
            (unit,) = units(table, [part.partition] if part.partition else [])
            for file in part.files.data:
                if file.side_file:
                    raise NotSupported(
                        f"EXPORT of {table.name} while a stream writes {part.location}/{file.path}"
                    )
                target = f"{path}/{unit or DATA}/{_EXPORTED}{file.path}"
                yield f"{part.location}/{file.path}", target
        return
    for partition, location, listed in plain_files(table, statement.partitions, runtime):
        (unit,) = units(table, [partition] if partition else [])
        for place, _, _ in listed:
            yield place, f"{path}/{unit or DATA}{place[len(location) :]}"


def copy_all(
    pairs: Sequence[tuple[str, str]], path: str, changes: FileChanges, runtime: Runtime
) -> None:
    """Copy files to places below a directory; ExecutionError where one is taken."""
    copier, sources = _file_system_of_both([source for source, _ in pairs], path, runtime)
    copies = changes.copy(sources, path, copier)
    targets = [target for _, target in pairs]
    _bring_all(list(zip(copies, targets, strict=True)), path, changes)


def _file_system_of_both(
    sources: Sequence[str], target: str, runtime: Runtime
) -> tuple[Files, list[str]]:
    """Return the file system that reaches files and a place for them, and the files as it wants.

    Hadoop reaches both where one of them is not local; without a scheme it would look elsewhere.
    """
    if not sources or isinstance(files := runtime.files(sources[0]), LocalFiles):
        files = runtime.files(target)
    if isinstance(files, LocalFiles):
        return files, list(sources)
    return files, [f"file:{path}" if path.startswith("/") else path for path in sources]


def _bring_all(pairs: Sequence[tuple[str, str]], path: str, changes: FileChanges) -> None:
    """Move copies to their places; ExecutionError where one is taken."""
    if unmoved := changes.bring(pairs):
        raise ExecutionError(
            f"{unmoved[0][1]} exists already: somebody else writes into {path} too"
        )


def _bring_metadata(
    statement: ExportTable, path: str, changes: FileChanges, runtime: Runtime
) -> None:
    table, files = statement.table, runtime.files(path)
    partitions = statement.partitions
    if table.is_full_acid:
        # All of it was written as the table is stored.
        partitions = tuple(replace(partition, storage=None) for partition in partitions)
    aside = f"{path}/{STAGING}{uuid.uuid4().hex}"
    changes.work_aside(aside)
    files.make_directories(aside)
    described = write_export(replace(table, name=statement.name), partitions)
    files.write(f"{aside}/{METADATA}", described)
    files.sync([f"{aside}/{METADATA}"])
    _bring_all([(f"{aside}/{METADATA}", f"{path}/{METADATA}")], path, changes)


def _write_rows(statement: ExportTable, path: str, txn: Transaction, runtime: Runtime) -> None:
    """Write the rows of a full-ACID table as files of a plain one."""
    # Imported late: other tables need no Spark.
    from hivesql_executor.orc.publish import Publication
    from hivesql_executor.spark.scan.nanoseconds import nanosecond_rows_of
    from hivesql_executor.spark.scan.sources import as_user_errors
    from hivesql_executor.spark.write.write import stage_insert
    from hivesql_planner.plan import Write, WriteKind
    from hivesql_planner.settings.session_zone import session_zone

    table, query = statement.table, statement.query
    if table.partition_columns and not statement.partitions:
        return
    plain = replace(
        table,
        location=path if table.partition_columns else f"{path}/{DATA}",
        type="EXTERNAL_TABLE",
        properties={"bucketing_version": str(table.bucketing_version)},
        constraints=(),
    )
    aside = f"{path}/{STAGING}{uuid.uuid4().hex}"
    txn.changes.work_aside(aside)
    publication = Publication(
        writes=(Write(kind=WriteKind.FILES, table=plain),),
        write_id=0,
        staging=f"{aside}/staged",
        static_partition={},
        dynamic_partition=table.partition_names,
        locations={},
        changes=txn.changes,
    )
    rows = nanosecond_rows_of(query, txn, runtime)
    with as_user_errors():
        staged = stage_insert(
            rows.whole if rows.nanoseconds else rows.rows,
            publication,
            runtime.files(path),
            source_types=[column.type for column in query.columns],
            nanoseconds=rows.nanoseconds,
            zone=session_zone(runtime.settings),
        )
    try:
        staged.publish()
    finally:
        staged.discard()
