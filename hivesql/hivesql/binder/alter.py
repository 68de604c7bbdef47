"""ALTER TABLE, VIEW and DATABASE."""

from __future__ import annotations

from dataclasses import replace
from typing import NoReturn

from hivesql.binder.constraints import check_new, check_texts, complete
from hivesql.binder.targets import (
    base_table,
    check_managed,
    materialized_view,
    takes_any_type,
    view_named,
    with_named_format,
)
from hivesql.binder.views import view_of
from hivesql.binding import Binding
from hivesql.dialect.nodes.alter import (
    AlterBody,
    RefusedBody,
)
from hivesql.dialect.nodes.parts import name_of, properties_of, slice_of, table_of
from hivesql.dialect.tokens import Name
from hivesql.python_sqlglot import exp
from hivesql_planner.errors import HiveSqlError, NoSuchObject, NotSupported, SemanticError
from hivesql_planner.model.names import check_table
from hivesql_planner.model.partition_values import normal_value
from hivesql_planner.model.table import TEMPORARY, Table, partition_name
from hivesql_planner.statements.alter import (
    AddColumns,
    AddConstraint,
    Change,
    ChangeColumn,
    ChangeFormat,
    ChangeLocation,
    ChangeOwner,
    ChangePartitionColumn,
    ChangeProperties,
    ChangeRewrite,
    ReplaceColumns,
    apply_change,
    cannot_convert,
)
from hivesql_planner.statements.ddl import AlterDatabase, AlterTable, AlterView, RenameTable

_OF_COLUMNS = (AddColumns, ReplaceColumns, ChangeColumn)
"""What leaves partitions alone without CASCADE."""
_OF_VIEWS = (ChangeProperties, ChangeOwner)
"""What ALTER TABLE does to materialized views too."""


def bind_alter(body: AlterBody, binding: Binding) -> AlterTable | AlterView:
    """Tell what is altered by a pure function of the table."""
    if isinstance(body.change, ChangeRewrite):
        table = materialized_view(body.table, binding)
    elif body.view:
        table = view_named(body.table, binding)
    else:
        table = base_table(body.table, binding, materialized=isinstance(body.change, _OF_VIEWS))
    if body.cascade and not table.partition_columns:
        error = SemanticError(
            "Alter table with non-partitioned table does not support cascade", code=10410
        )
        binding.fail(error, body.start)
    change = body.change
    if isinstance(change, ChangeLocation) and table.name.database.startswith(TEMPORARY):
        # What is there would go with the session.
        error = SemanticError(
            "Unable to alter table. Temp table location cannot be changed", code=40013
        )
        binding.fail(error, body.start)
    if isinstance(change, AddConstraint):
        change = AddConstraint(complete(change.constraint, binding))
    elif isinstance(change, ChangeFormat):
        change = with_named_format(change, binding, body.start)
    elif isinstance(change, ChangeColumn) and change.constraint is not None:
        change = replace(change, constraint=complete(change.constraint, binding))
    try:
        after = apply_change(table, change, any_type=takes_any_type(binding))
        check_managed(after, binding)
        check_table(after, table)
        new = [
            constraint for constraint in after.constraints if constraint not in table.constraints
        ]
        check_new(after, new, binding)
        _check_renamed(table, after, binding)
        _check_values(table, change, binding)
    except HiveSqlError as error:
        binding.fail(error, body.start)
    if body.view:
        return AlterView(view=table, altered=after)
    cascade = body.cascade or not isinstance(change, _OF_COLUMNS)
    return AlterTable(table=table, change=change, altered=after, cascade=cascade)


def _check_renamed(before: Table, after: Table, binding: Binding) -> None:
    """Refuse to drop a column that a CHECK names: it keeps its text."""
    if before.columns != after.columns:
        stale = [constraint for constraint in after.constraints if constraint.kind == "check"]
        check_texts(after, stale, binding)


def _check_values(table: Table, change: Change, binding: Binding) -> None:
    """Refuse to give a partition column a type that a value does not convert to."""
    if not isinstance(change, ChangePartitionColumn):
        return
    if not binding.settings.flag("hive.typecheck.on.insert"):
        return
    column = change.column
    place = table.partition_names.index(column.name)
    for partition in binding.catalog.partitions(table.name):
        value = partition.values[place]
        if value is not None and normal_value(value, column.type) is None:
            old = table.partition_columns[place].type
            problem = f"Exception while converting {old} to {column.type} for partition"
            name = partition_name(table.partition_names, partition.values)
            raise cannot_convert(column, f"{problem}: {name}")


def bind_refused(body: RefusedBody, binding: Binding) -> NoReturn:
    """Tell what is refused by name, after the checks that Hive makes before all else."""
    if body.archived is not None and not binding.settings.flag("hive.archive.enabled"):
        error = SemanticError(
            "Archiving methods are currently disabled. Please see the Hive wiki for more "
            "information about enabling archiving", code=10107,
        )  # fmt: skip
        binding.fail(error, body.start)
    table = (view_named if body.view else base_table)(body.table, binding)
    if body.archived is not None:
        _check_archived(table, body, binding)
    raise body.error


def _check_archived(table: Table, body: RefusedBody, binding: Binding) -> None:
    """ARCHIVE takes partitions of managed tables, their columns in the table's order."""
    start, items = body.start, body.archived
    if not items:
        binding.fail(SemanticError("ARCHIVE can only be run on partitions", code=10110), start)
    if body.archives_more:
        error = SemanticError("ARCHIVE can only be run on a single partition", code=10109)
        binding.fail(error, start)
    values = binding.partition_values(table, items)
    key_names = tuple(values)
    if key_names != table.partition_names[: len(key_names)]:
        error = SemanticError(
            "Partition columns in partition specification are not the same as that defined in the "
            "table schema. The names and orders have to be exactly the same. Partition columns in "
            f"the table schema are: ({', '.join(table.partition_names)}), while the partitions "
            f"specified in the query are: ({', '.join(key_names)}).",
            code=10125,
        )
        binding.fail(error, items[0].key.start)
    word = "UNARCHIVE" if body.unarchives else "ARCHIVE"
    if table.type != "MANAGED_TABLE":
        what = f"{word} can only be performed on managed tables"
        binding.fail(SemanticError(what, code=40000), start)
    partitions = binding.partitions_of(table, values)
    if not partitions:
        what = "No partition matches the specification"
        binding.fail(SemanticError(what, code=40000), items[0].key.start)
    if body.unarchives:
        # Nothing is archived here.
        name = partition_name(table.partition_names, partitions[0].values)
        what = f"Partition {name} is not archived."
        binding.fail(SemanticError(what, code=40000), items[0].key.start)


def bind_alter_view(node: exp.Expr, binding: Binding) -> AlterView:
    """ALTER VIEW … AS: name, comment and properties stay."""
    ref = table_of(node.this)
    try:
        view = view_named(ref, binding)
    except NoSuchObject as error:
        if error.code != 10001:
            raise
        what = "Cannot ALTER VIEW AS SELECT if view currently does not exist"
        binding.fail(SemanticError(f"{what}: {error.message}", code=10216), ref.start)
    if view.partition_columns:
        binding.fail(NotSupported("ALTER VIEW … AS of a view with partitions"), ref.start)
    rebuilt, reads = view_of(view.name, slice_of(node.expression), (), ref.start, binding)
    after = replace(
        view,
        columns=rebuilt.columns,
        view_text=rebuilt.view_text,
        view_original=rebuilt.view_original,
    )
    return AlterView(view=view, altered=after, reads=reads)


def bind_rename(node: exp.Expr, binding: Binding) -> RenameTable:
    """RENAME TO."""
    ref, new = table_of(node.this), table_of(node.args["to"])
    if node.args["kind"] == "VIEW":
        table = view_named(ref, binding)
    else:
        table = base_table(ref, binding, materialized=True)
    to = new.full(binding.database)
    binding.check_new_name(to, new.start)
    binding.check_database(new.database or Name(to.database, new.start))
    managed = table.type == "MANAGED_TABLE"
    home, to_home = (
        binding.catalog.database(name.database).home_of(name.name, managed=managed)
        for name in (table.name, to)
    )
    return RenameTable(table=table, to=to, home=home, to_home=to_home)


def bind_alter_database(node: exp.Expr, binding: Binding) -> AlterDatabase:
    """ALTER DATABASE: properties are added, the rest is replaced."""
    name = name_of(node.this)
    binding.check_not_system(name.text, name.start)
    database = binding.catalog.database(binding.check_database(name))
    after = replace(
        database,
        properties={**database.properties, **properties_of(node.args.get("properties"))},
        owner=node.text("owner").lower() or database.owner,
        owner_type=node.args.get("owner_type") or database.owner_type,
        location=node.text("location") or database.location,
        managed_location=node.text("managed_location") or database.managed_location,
    )
    return AlterDatabase(database=database, altered=after)
