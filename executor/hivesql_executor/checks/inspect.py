"""What lies in a table's directories: sizes, rows, deletes, and what a reader would take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hivesql_executor.files.api import Files
from hivesql_executor.orc.row_counts import row_count
from hivesql_executor.orc.tail import cached_tail
from hivesql_executor.runtime import Runtime
from hivesql_executor.snapshot.flushed_lengths import with_flushed_lengths
from hivesql_executor.snapshot.listing import acid_state, table_roots
from hivesql_planner.acid.layout import (
    DirectoryKind,
    is_marker,
    is_side_file,
    parse_directory,
)
from hivesql_planner.acid.layout_report import ORIGINALS, Verdict, judge
from hivesql_planner.acid.snapshot import FileStatus
from hivesql_planner.acid.write_ids import ValidWriteIdList
from hivesql_planner.errors import DataError, SemanticError
from hivesql_planner.model.table import Partition, Table, TableName, partition_name


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFacts:
    """One file: rows by its footer, None where the footer cannot be read (``problem`` says why)."""

    path: str
    bytes: int
    rows: int | None
    problem: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectoryFacts:
    """One ACID directory, or the original files of a root together."""

    verdict: Verdict
    files: tuple[FileFacts, ...]

    @property
    def bytes(self) -> int:
        """Bytes of all data files."""
        return sum(file.bytes for file in self.files)

    @property
    def rows(self) -> int:
        """Events of all files whose footer can be read."""
        return sum(file.rows or 0 for file in self.files)

    @property
    def deletes(self) -> bool:
        """Tell whether its events are deletes."""
        return self.verdict.kind == DirectoryKind.DELETE_DELTA.value.replace("_", " ")


@dataclass(frozen=True, slots=True, kw_only=True)
class RootFacts:
    """One partition (its name; None for a table without partitions)."""

    name: str | None
    location: str
    directories: tuple[DirectoryFacts, ...]

    @property
    def rows(self) -> int:
        """Rows in what a reader takes, deleted ones included."""
        return sum(
            directory.rows
            for directory in self.directories
            if directory.verdict.is_read and not directory.deletes
        )

    @property
    def deleted(self) -> int:
        """Delete events in what a reader takes."""
        return sum(
            directory.rows
            for directory in self.directories
            if directory.verdict.is_read and directory.deletes
        )

    @property
    def delete_share(self) -> float:
        """Deleted rows of all rows, 0 to 1."""
        return self.deleted / self.rows if self.rows else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """A table's layout under one snapshot."""

    table: Table
    visible: ValidWriteIdList | None
    """None for a table that is not transactional."""
    roots: tuple[RootFacts, ...]


def inspect_table(name: TableName, runtime: Runtime) -> Inspection:
    """List and read the footers of a whole table; nothing is changed and no Spark is started."""
    store = runtime.metastore
    table = store.table(name)
    if table.is_view:
        raise SemanticError(f"{name} is a view: inspect the tables that it reads")
    partitions = store.partitions(name) if table.partition_columns else ()
    if not table.is_transactional:
        roots = tuple(_plain_root(table, *root, runtime) for root in table_roots(table, partitions))
        return Inspection(table=table, visible=None, roots=roots)
    txns = store.valid_txns()
    visible = store.valid_write_ids(txns, (name,))[name]
    files = runtime.files(table.location)
    facts = []
    for partition, location in table_roots(table, partitions):
        listing = with_flushed_lengths(files, location, files.list(location))
        state = acid_state(files, location, visible, txns)
        verdicts = judge(listing, state, visible, txns, insert_only=table.is_insert_only)
        grouped = _grouped(listing)
        directories = tuple(
            DirectoryFacts(
                verdict=verdict,
                files=_facts(
                    files, table.stored_as(partition), location, grouped.get(verdict.name, ())
                ),
            )
            for verdict in verdicts
        )
        facts.append(_root(table, partition, location, directories))
    return Inspection(table=table, visible=visible, roots=tuple(facts))


def _root(
    table: Table,
    partition: Partition | None,
    location: str,
    directories: tuple[DirectoryFacts, ...],
) -> RootFacts:
    name = partition_name(table.partition_names, partition.values) if partition else None
    return RootFacts(name=name, location=location, directories=directories)


def _plain_root(
    table: Table, partition: Partition | None, location: str, runtime: Runtime
) -> RootFacts:
    files = runtime.files(table.location)
    verdict = Verdict("files", "files", True, "not transactional: every file is read")
    facts = _facts(files, table.stored_as(partition), location, files.list(location))
    return _root(table, partition, location, (DirectoryFacts(verdict=verdict, files=facts),))


def _grouped(listing: Sequence[FileStatus]) -> Mapping[str, Sequence[FileStatus]]:
    """Group data files by directory; those of no ACID directory are the originals."""
    grouped: dict[str, list[FileStatus]] = {}
    for status in listing:
        name = status.path.partition("/")[0]
        is_directory = "/" in status.path and parse_directory(name) is not None
        if is_marker(status.path) or is_side_file(status.path):
            continue
        grouped.setdefault(name if is_directory else ORIGINALS, []).append(status)
    return grouped


def _facts(
    files: Files, table: Table, location: str, listing: Sequence[FileStatus]
) -> tuple[FileFacts, ...]:
    return tuple(
        file_facts(files, table, f"{location}/{status.path}", status) for status in listing
    )


def file_facts(files: Files, table: Table, path: str, status: FileStatus) -> FileFacts:
    """Tell what a file says of itself, as its table is stored."""
    rows: int | None = None
    problem = None
    try:
        if table.format == "orc":
            rows = cached_tail(files, path, status.length).rows if status.length else 0
        elif table.format in ("parquet", "textfile", "csv", "json", "avro"):
            rows = row_count(files, path, status.length, table.format)
    except DataError as error:
        problem = error.message
    return FileFacts(path=status.path, bytes=status.length, rows=rows, problem=problem)
