"""Columns of tables whose Avro schema lies in a file."""

from __future__ import annotations

from dataclasses import replace

from hivesql_executor.bookkeeping.reachable_locations import check_allowed
from hivesql_executor.files.api import Files
from hivesql_executor.files.locations import complete_location
from hivesql_executor.runtime import Runtime
from hivesql_planner.errors import DataError, SemanticError
from hivesql_planner.model.avro_schema import columns_of, declared_url, parsed_schema
from hivesql_planner.model.table import Column, Table
from hivesql_planner.statements.alter import with_other_columns


def with_file_columns(table: Table, runtime: Runtime) -> Table:
    """Give the table the columns that the file of ``avro.schema.url`` tells, if it has none."""
    url = declared_url(table)
    if table.is_view or url is None:
        return table
    check_allowed(complete_location(url), runtime)
    if table.columns:
        return table
    return replace(table, columns=_columns_at(url, runtime))


def with_altered_schema(before: Table, after: Table, runtime: Runtime) -> Table:
    """Give an altered table the columns of the file that its schema lies in since."""
    url = declared_url(after)
    if url is None or url == declared_url(before):
        return after
    check_allowed(complete_location(url), runtime)
    return with_other_columns(after, _columns_at(url, runtime))


def _columns_at(url: str, runtime: Runtime) -> tuple[Column, ...]:
    return columns_of(parsed_schema(read_schema(url, runtime.files(url))))


def read_schema(url: str, files: Files) -> str:
    """Return the text of a schema's file; SemanticError when it cannot be read."""
    try:
        return files.read(url, 0, files.size(url)).decode()
    except (DataError, OSError, UnicodeDecodeError) as error:
        raise SemanticError(f"the Avro schema {url} cannot be read: {error}") from error
