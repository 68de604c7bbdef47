"""ALTER TABLE, VIEW and DATABASE."""

from __future__ import annotations

from dataclasses import replace

from hivesql.binder.constraints import check_new, check_texts, complete
from hivesql.binder.context import Binding
from hivesql.binder.targets import base_table, view_named
from hivesql.binder.views import view_of
from hivesql.parser.tokens import Name
from hivesql.syntax.alter import AlterBody, AlterDatabaseBody, AlterViewBody, RenameBody
from hivesql_planner.errors import HiveSqlError, NotSupported, SemanticError
from hivesql_planner.model.names import check_table
from hivesql_planner.model.table import Table
from hivesql_planner.statements.alter import (
    AddColumns,
    AddConstraint,
    ChangeColumn,
    ReplaceColumns,
    altered,
)
from hivesql_planner.statements.ddl import AlterDatabase, AlterTable, AlterView, RenameTable

_OF_COLUMNS = (AddColumns, ReplaceColumns, ChangeColumn)
"""What leaves partitions alone without CASCADE."""


def bind_alter(body: AlterBody, binding: Binding) -> AlterTable | AlterView:
    """What is altered by a pure function of the table."""
    table = (view_named if body.view else base_table)(body.table, binding)
    if body.cascade and not table.partition_columns:
        error = SemanticError(
            "Alter table with non-partitioned table does not support cascade", code=10410
        )
        binding.fail(error, body.start)
    change = body.change
    if isinstance(change, AddConstraint):
        change = AddConstraint(complete(change.constraint, binding))
    elif isinstance(change, ChangeColumn) and change.constraint is not None:
        change = replace(change, constraint=complete(change.constraint, binding))
    try:
        after = altered(table, change)
        check_table(after, table)
        new = [one for one in after.constraints if one not in table.constraints]
        check_new(after, new, binding)
        _check_renamed(table, after, binding)
    except HiveSqlError as error:
        binding.fail(error, body.start)
    if body.view:
        return AlterView(view=table, altered=after)
    cascade = body.cascade or not isinstance(change, _OF_COLUMNS)
    return AlterTable(table=table, change=change, altered=after, cascade=cascade)


def _check_renamed(before: Table, after: Table, binding: Binding) -> None:
    """A CHECK keeps its text: a column that it names cannot go."""
    if before.columns != after.columns:
        stale = [one for one in after.constraints if one.kind == "check"]
        check_texts(after, stale, binding)


def bind_alter_view(body: AlterViewBody, binding: Binding) -> AlterView:
    """ALTER VIEW … AS: name, comment and properties stay."""
    view = view_named(body.table, binding)
    if view.partition_columns:
        binding.fail(NotSupported("ALTER VIEW … AS of a view with partitions"), body.table.start)
    made, reads = view_of(view.name, body.query, (), body.table.start, binding)
    after = replace(
        view,
        columns=made.columns,
        view_text=made.view_text,
        view_original=made.view_original,
    )
    return AlterView(view=view, altered=after, reads=reads)


def bind_rename(body: RenameBody, binding: Binding) -> RenameTable:
    """RENAME TO."""
    table = (view_named if body.view else base_table)(body.table, binding)
    to = body.to.full(binding.database)
    binding.check_new_name(to, body.to.start)
    binding.check_database(body.to.database or Name(to.database, body.to.start))
    return RenameTable(table=table, to=to)


def bind_alter_database(body: AlterDatabaseBody, binding: Binding) -> AlterDatabase:
    """ALTER DATABASE: properties are added, the rest is replaced."""
    binding.check_database(body.name)
    database = binding.catalog.database(body.name.text)
    owner, owner_type = body.owner or (database.owner, database.owner_type)
    after = replace(
        database,
        properties={**database.properties, **body.properties},
        owner=owner,
        owner_type=owner_type,
        location=body.location or database.location,
        managed_location=body.managed_location or database.managed_location,
    )
    return AlterDatabase(database=database, altered=after)
