"""Files of tables without row ids that tasks have uploaded: counted, and their types amended."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hivesql_executor.orc.row_counts import is_of_lines, row_count, rows_of_content
from hivesql_executor.orc.tail import amend, amended
from hivesql_executor.orc.types import instants

if TYPE_CHECKING:
    from hivesql_executor.files.api import Files
    from hivesql_executor.files.uploads import Upload, Uploads
    from hivesql_executor.orc.tail_bytes import StoredType
    from hivesql_planner.model.table import Table


@dataclass(frozen=True, slots=True)
class UploadedFile:
    """A file of a table without row ids that a task has uploaded to its place."""

    path: str
    upload: Upload
    lines: int


def plain_types(table: Table) -> dict[int, StoredType]:
    """Return the instants in the table's plain ORC files, which Spark calls timestamps."""
    types = (column.type for column in table.columns)
    return instants(types, 1) if table.format == "orc" else {}


def count_waiting(
    uploaded: Iterable[UploadedFile],
    waiting: dict[str, Upload],
    table: Table,
    uploads: Uploads,
    *,
    even_empty: bool,
) -> dict[str, int]:
    """Count the rows of files that are nowhere yet, by path, as far as that asks nobody.

    ``waiting`` has their uploads: what was told whole is amended in it, and unless ``even_empty``
    what has no rows is given up and leaves it.
    """
    rows: dict[str, int] = {}
    types = plain_types(table)
    for file in uploaded:
        if isinstance(file.upload, bytes):
            rows[file.path] = rows_of_content(file.upload, file.path, table.format)
            if types and rows[file.path]:
                waiting[file.path] = amended(file.upload, {}, types)
        elif is_of_lines(table.format):
            rows[file.path] = file.lines
    if unwanted := [path for path, n in rows.items() if n == 0 and not even_empty]:
        uploads.abort([(path, waiting.pop(path)) for path in unwanted])
    return rows


def complete_counted(
    waiting: dict[str, Upload],
    lengths: Mapping[str, int],
    rows: Mapping[str, int],
    table: Table,
    files: Files,
    uploads: Uploads,
    *,
    even_empty: bool,
) -> Iterator[tuple[str, int, int]]:
    """Let all that waits be seen, none of which waits then; yield path, rows and length of each.

    ``lengths`` (bytes) are those that the tasks wrote, ``rows`` those that ``count_waiting`` told:
    the others are counted now. Unless ``even_empty``, files without rows are deleted.
    """
    if waiting:
        uploads.complete([*waiting.items()])
    lengths = {
        path: len(upload) if isinstance(upload, bytes) else lengths[path]
        for path, upload in waiting.items()
    }
    waiting.clear()
    types = plain_types(table)
    for path, length in lengths.items():
        if path in rows:
            yield path, rows[path], length
            continue
        count = row_count(files, path, length, table.format)
        if count == 0 and not even_empty:
            files.delete(path)
            continue
        yield path, count, amend(files, path, {}, types=types) if types else length
