"""INSERT and CREATE TABLE … AS SELECT, branch after branch, by Spark or without it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from hivesql_executor.bookkeeping.history import note_counts, of_insert
from hivesql_executor.bookkeeping.partitions import (
    check_count,
    foreign_locations,
    record_partitions,
    record_touched,
    staging_directory,
)
from hivesql_executor.bookkeeping.statistics import count_inserted, what_to_measure
from hivesql_executor.metastore.api import TableNote
from hivesql_executor.outcome import Outcome
from hivesql_executor.statements.context import Work
from hivesql_executor.statements.restore import of_changed_partitions
from hivesql_executor.statements.tables import bear_table, empty_table, exists, refuse_filled
from hivesql_planner.definitions.steps import EmptyTable
from hivesql_planner.definitions.table_properties import misspelt_properties
from hivesql_planner.errors import SemanticError
from hivesql_planner.locks.lock import Operation
from hivesql_planner.model.materialized import MATERIALIZED
from hivesql_planner.model.table import Partition, Table, TableName, partition_name
from hivesql_planner.plan import Insert, InsertBranch, WriteKind
from hivesql_planner.rewrite.orc_files import with_orc_settings

if TYPE_CHECKING:
    from hivesql_executor.orc.publish import StagedRows
    from hivesql_planner.acid.write_ids import ValidWriteIdList


def run_insert(insert: Insert, work: Work) -> Outcome:
    """Write every branch; a table made for the rows goes again unless the statement commits."""
    if insert.create is None:
        if insert.branches[0].restores:
            insert = of_changed_partitions(insert, work)
        for branch in insert.branches:
            _check_immutable(branch, work)
        return _insert_branches(insert, work, None)
    from hivesql_executor.statements.insert_by_spark import shaped

    (branch,) = insert.branches
    if insert.create.if_not_exists and exists(insert.create.table.name, work.runtime):
        return Outcome(affected=0)
    table = shaped(insert.create.table, branch, work)
    if table.materialized is not None:
        table = replace(table, materialized=table.materialized.seen(_visible(work)))
    try:
        for notice in misspelt_properties(table.properties):
            work.runtime.notify(notice)
        created = bear_table(table, work.txn.changes, work.runtime)
    except SemanticError:
        # Somebody else has made it since we looked, and has perhaps filled it.
        if not insert.create.if_not_exists or not exists(table.name, work.runtime):
            raise
        return Outcome(affected=0)
    return _insert_branches(insert, work, created)


def _visible(work: Work) -> dict[str, ValidWriteIdList]:
    """Tell what the statement sees of the tables that it reads, by their full names."""
    return {str(name): writes for name, writes in work.txn.visible.items()}


def _rebuild(view: Table, touched: Collection[str], work: Work) -> None:
    """Empty the partitions of a materialized view that no row goes to, and note what it has read.

    The commit sets the note, so the view never says that it has read more than it has.
    """
    materialized = view.materialized
    assert materialized is not None
    partitions = work.runtime.metastore.partitions(view.name) if view.partition_columns else ()
    _empty_others(view, partitions, touched, work)
    text = materialized.seen(_visible(work)).written()
    work.txn.notes.append(TableNote(view.name, MATERIALIZED, text))


def _empty_others(
    table: Table, partitions: Sequence[Partition], touched: Collection[str], work: Work
) -> set[str]:
    """Empty those of some partitions that got no rows; return their names."""
    names = {partition_name(table.partition_names, part.values): part for part in partitions}
    stale = {name: part for name, part in names.items() if name not in touched}
    if stale:
        empty_table(
            EmptyTable(table=table, partitions=tuple(stale.values())), work.txn, work.runtime
        )
    return {*stale}


def _check_immutable(branch: InsertBranch, work: Work) -> None:
    """Fail where INSERT INTO would add to what an immutable table has already."""
    write = branch.write
    if not write.table.is_immutable or write.overwrite or write.kind is WriteKind.BASE:
        return
    table, location = write.table, write.table.location
    if branch.static_partition and not branch.dynamic_partition:
        values = tuple(branch.static_partition[key] for key in table.partition_names)
        partition = work.runtime.metastore.partition(table.name, values)
        location = partition.location if partition else table.home_of(values)
    refuse_filled(table, location, work.runtime)


def _insert_branches(insert: Insert, work: Work, created: Table | None) -> Outcome:
    affected, staged = 0, []
    try:
        # All is read before anything is published: a statement sees what its transaction writes.
        for branch in insert.branches:
            table = created or branch.write.table
            if not (branch.if_not_exists and _static_exists(branch, table, work)):
                staged.append((branch, table, _stage(branch, table, work)))
        _check_apart(staged)
        for branch, table, rows in staged:
            affected += _finish(branch, table, rows, work)
    finally:
        for _, _, rows in staged:
            rows.discard()
    record_touched(work.txn, work.runtime)
    return Outcome(affected=affected)


def _check_apart(staged: Sequence[tuple[InsertBranch, Table, StagedRows]]) -> None:
    """Refuse a partition that two branches write, one of which takes the place of what is there."""
    many = Counter(table.name for _, table, _ in staged)
    written: dict[tuple[TableName, str | None], bool] = {}
    for branch, table, rows in staged if max(many.values(), default=0) > 1 else ():
        replaces = branch.write.overwrite or branch.write.kind is WriteKind.BASE
        for name in rows.partitions() if many[table.name] > 1 else ():
            place = (table.name, name)
            if place in written and (replaces or written[place]):
                raise SemanticError(
                    f"two branches of the statement write {name} of {table.name}, and one "
                    "overwrites it: write one branch with UNION ALL"
                )
            written[place] = replaces


def _finish(branch: InsertBranch, table: Table, rows: StagedRows, work: Work) -> int:
    """Publish what a branch has written, and record it; the number of its rows."""
    if branch.dynamic_partition:
        check_count(rows.partitions, work.runtime)
    written = rows.publish()
    operation = Operation.UPDATE if branch.write.kind is WriteKind.BASE else Operation.INSERT
    touched = {file.partition for file in written if file.partition}
    if branch.static_partition and not branch.dynamic_partition:
        touched.add(_static_name(branch, table))
    record_partitions(
        table, touched, operation, work.txn, work.runtime,
        dynamic=bool(branch.dynamic_partition), replaced=branch.write.overwrite,
        unlike=rows.publication.unlike,
    )  # fmt: skip
    if branch.rebuilds:
        _rebuild(table, touched, work)
    if branch.restores:
        (source,) = branch.query.sources
        emptied = _empty_others(table, source.scan.partitions, touched, work)
        work.txn.touched.setdefault((table.name, operation), set()).update(emptied)
    overwrites = branch.write.overwrite or branch.write.kind is WriteKind.BASE
    count_inserted(
        table, written, touched, work.txn, work.runtime, replaces=overwrites, columns=rows.columns
    )
    note_counts(table.name, of_insert(written), work.txn)
    return sum(file.rows for file in written)


def _stage(branch: InsertBranch, table: Table, work: Work) -> StagedRows:
    table = with_orc_settings(table, work.runtime.settings)
    branch = replace(branch, write=replace(branch.write, table=table))
    files = work.runtime.files(table.location)
    if branch.small is None:
        from hivesql_executor.statements.insert_by_spark import stage_query

        return stage_query(branch, table, work)
    from hivesql_executor.local.insert import stage_literals

    return stage_literals(
        branch,
        branch.small,
        write_id=work.txn.write_ids[table.name],
        files=files,
        staging=staging_directory(table, work.txn.id),
        locations=foreign_locations(table, work.runtime),
        changes=work.txn.changes,
        measuring=what_to_measure(table, branch, work.runtime),
    )


def _static_exists(branch: InsertBranch, table: Table, work: Work) -> bool:
    """Tell whether the one partition to write is there; asked for under the statement's locks."""
    if not table.partition_columns or branch.dynamic_partition:
        return False
    values = [branch.static_partition[key] for key in table.partition_names]
    return work.runtime.metastore.partition(table.name, values) is not None


def _static_name(branch: InsertBranch, table: Table) -> str:
    return partition_name(
        table.partition_names, [branch.static_partition[key] for key in table.partition_names]
    )
