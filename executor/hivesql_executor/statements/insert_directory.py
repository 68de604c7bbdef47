"""INSERT OVERWRITE DIRECTORY: the rows of a query as files of no table."""

from __future__ import annotations

import uuid
from pathlib import Path

from pyspark.sql import DataFrame

from hivesql_executor.bookkeeping.reachable_locations import named_path
from hivesql_executor.files.api import Files
from hivesql_executor.files.locations import require_below_root
from hivesql_executor.orc.publish import Publication
from hivesql_executor.orc.types import hive_type
from hivesql_executor.outcome import Outcome
from hivesql_executor.runtime import Runtime
from hivesql_executor.spark.scan.sources import as_user_errors, rows_of
from hivesql_executor.spark.write.write import stage_insert
from hivesql_executor.transactions.file_changes import FileChanges
from hivesql_executor.transactions.owned_places import require_unowned
from hivesql_executor.transactions.transaction import Transaction
from hivesql_planner.errors import ExecutionError, SemanticError
from hivesql_planner.model.hive_type import UNKNOWN
from hivesql_planner.model.table import Column, Table, TableName
from hivesql_planner.plan import Write, WriteKind
from hivesql_planner.settings.compression import read_compression
from hivesql_planner.statements.bound import WriteDirectory


def write_directory(statement: WriteDirectory, txn: Transaction, runtime: Runtime) -> Outcome:
    """Write aside, then put the files in the place of those that are there; all or none.

    LOCAL files are copied to this machine from where the warehouse is.
    """
    path = require_below_root(named_path(statement.path, runtime, local=statement.local))
    files = runtime.files(path)
    if files.is_file(path):
        raise SemanticError(f"{path} is a file, and no directory")
    require_unowned(path, "INSERT OVERWRITE DIRECTORY", runtime, below=True)
    shared = runtime.metastore.database("default").location if statement.local else path
    aside = f"{shared}/.hive-staging_hivesql_{uuid.uuid4().hex}"
    staging = runtime.files(aside)
    try:
        txn.changes.work_aside(aside)
        rows = rows_of(statement.query, txn, runtime)
        if not statement.query.sources:
            rows = rows.coalesce(1)
        table = _table(statement, rows, f"{aside}/files")
        publication = Publication(
            writes=(Write(kind=WriteKind.FILES, table=table),),
            write_id=0,
            staging=f"{aside}/staged",
            static_partition={},
            dynamic_partition=(),
            locations={},
            changes=txn.changes,
            compression=read_compression(runtime.settings, table.format),
        )
        with as_user_errors():
            staged = stage_insert(rows, publication, staging)
            written = staged.publish()
        _put(
            [file.path for file in written], path, txn.changes, staging if statement.local else None
        )
    except OSError as error:
        raise ExecutionError(
            f"cannot write the directory {path}: {error.strerror or error}", code=40000
        ) from error
    finally:
        staging.delete(aside)
    return Outcome(affected=sum(file.rows for file in written))


def _table(statement: WriteDirectory, rows: DataFrame, location: str) -> Table:
    """Files are those of a table; Hive numbers its columns."""
    fields = rows.schema.fields
    column_types = [column.type for column in statement.query.columns] or [UNKNOWN] * len(fields)
    types = [
        kind if kind.is_known else hive_type(field.dataType.simpleString())
        for kind, field in zip(column_types, fields, strict=True)
    ]
    return Table(
        name=TableName("directory", Path(location).parent.name),
        columns=tuple(Column(f"_col{i}", kind) for i, kind in enumerate(types)),
        location=location,
        type="EXTERNAL_TABLE",
        format=statement.format,
        serde_properties=statement.serde_properties,
    )


def _put(sources: list[str], path: str, changes: FileChanges, copying: Files | None) -> None:
    """Let files take the place of those in a directory, once the statement commits."""
    changes.make([path])
    if copying is not None:
        sources = changes.copy(sources, path, copying)
    changes.empty(path)
    targets = [f"{path}/{source.rpartition('/')[2]}" for source in sources]
    if unmoved := changes.bring(list(zip(sources, targets, strict=True))):
        raise ExecutionError(
            f"{unmoved[0][1]} exists already: somebody else writes into {path} too"
        )
