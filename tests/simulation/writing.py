"""What only Spark does of INSERT OVERWRITE, CREATE TABLE AS and plain tables: their rows."""

from __future__ import annotations

import io
from collections import defaultdict
from dataclasses import replace

import pyarrow as pa
import sqlglot
from pyarrow import orc
from sqlglot import exp

from hivesql_executor.bookkeeping.partitions import foreign_locations, staging_directory
from hivesql_executor.files.api import Files
from hivesql_executor.local.insert import _stage_rows, rows_of, stage_literals
from hivesql_executor.orc.publish import (
    ListedFiles,
    Publication,
    StagedRows,
    _directory,
    named_partition,
    stage_rows,
)
from hivesql_executor.snapshot.partition_files import EventFile
from hivesql_executor.statements.context import Work
from hivesql_planner.acid.layout import bucket_file_name
from hivesql_planner.local.decide import _insert, _literals
from hivesql_planner.model.table import DEFAULT_PARTITION, Column, Table, partition_name
from hivesql_planner.plan import InsertBranch, WriteKind
from hivesql_planner.predicates.predicate import SmallInsert
from hivesql_planner.relations import Query
from simulation.file_systems.object_store import SimulatedStore

_COLUMNS = (Column.of("id", "int"), Column.of("k", "int"), Column.of("v", "int"))


def shape(table: Table, branch: InsertBranch, work: Work) -> Table:
    """Give a new table the columns that every query of a case has."""
    return replace(table, columns=_COLUMNS)


def _read(query: Query) -> Query:
    """Give a query the rows that its text says: a plan has those alone that need no Spark."""
    if query.rows is not None:
        return query
    tree = sqlglot.parse_one(query.sql, read="spark")
    values = tree.find(exp.Values)
    given = [row.expressions for row in values.expressions] if values else [tree.expressions]
    return replace(query, rows=tuple(tuple(map(_number, row)) for row in given))


def _number(node: exp.Expr) -> int:
    found = node.find(exp.Literal)
    assert found is not None
    return int(found.this)


def stage_simulated(branch: InsertBranch, table: Table, work: Work) -> StagedRows:
    """Stage the rows that stand in the statement, as Spark's tasks would."""
    branch = replace(branch, write=replace(branch.write, table=table), query=_read(branch.query))
    files, staging = work.runtime.files(table.location), staging_directory(table, work.txn.id)
    locations = foreign_locations(table, work.runtime)
    small = _insert(branch, _literals(branch, DEFAULT_PARTITION))
    if branch.write.kind is not WriteKind.FILES:
        if isinstance(files, SimulatedStore):
            return _upload_rows(branch, small, work, files)
        return stage_literals(
            branch,
            small,
            write_id=work.txn.write_ids[table.name],
            files=files,
            staging=staging,
            locations=locations,
            changes=work.txn.changes,
        )
    publication = Publication(
        writes=(branch.write,),
        write_id=0,
        staging=staging,
        static_partition=branch.static_partition,
        dynamic_partition=branch.dynamic_partition,
        locations=locations,
        changes=work.txn.changes,
    )
    work.txn.changes.work_aside(staging)
    return stage_rows(
        publication, files, lambda: _write_plain(rows_of(small, table), small, publication, files)
    )


def _upload_rows(
    branch: InsertBranch, small: SmallInsert, work: Work, store: SimulatedStore
) -> StagedRows:
    """Upload the rows, as tasks do; the first attempt at each file ends with no row of it."""
    table = branch.write.table
    publication = Publication(
        writes=(branch.write,),
        write_id=work.txn.write_ids[table.name],
        staging="",
        static_partition=branch.static_partition,
        dynamic_partition=branch.dynamic_partition,
        locations=foreign_locations(table, work.runtime),
        changes=work.txn.changes,
    )

    def upload() -> list[EventFile]:
        row, write_id = rows_of(small, table), publication.write_id
        return [
            _upload(file, publication, store)
            for file in _stage_rows(row, branch, small, write_id, store, "")
        ]

    return stage_rows(publication, store, upload)


def _upload(file: EventFile, publication: Publication, store: SimulatedStore) -> EventFile:
    partition = named_partition(publication, file.keys)
    directory = _directory(publication, publication.writes[file.write], partition)
    path = f"{directory}/{bucket_file_name(file.writer)}"
    store.begin(path, b"")
    word = store.begin(path, file.content)
    return replace(file, name=path, upload=word, content=b"")


def _write_plain(
    rows: pa.StructArray, small: SmallInsert, publication: Publication, files: Files
) -> ListedFiles:
    numbers: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for number, keys in enumerate(small.partitions):
        numbers[keys].append(number)
    for keys, chosen in sorted(numbers.items()):
        folder = partition_name(publication.dynamic_partition, keys)
        buffer = io.BytesIO()
        orc.write_table(pa.Table.from_struct_array(rows.take(pa.array(chosen))), buffer)
        home = "/".join(filter(None, (publication.staging, folder)))
        files.make_directories(home)
        files.write(f"{home}/part-00000-simulated", buffer.getvalue())
    return ListedFiles(files.list(publication.staging))
