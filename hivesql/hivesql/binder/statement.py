"""Trees to bound statements: every name looked up, every check made that needs no data."""

from __future__ import annotations

from importlib import import_module

from hivesql.binding import Binding, Catalog, NoSpark, OwnFunctions, SparkNames
from hivesql.dialect.nodes.commands import Body, Bound, ExplainBody, Tree
from hivesql_planner.errors import HiveSqlError, ParseError
from hivesql_planner.model.privileges import NOBODY, SessionUser
from hivesql_planner.model.table import TableName
from hivesql_planner.settings.settings import Settings
from hivesql_planner.statements.bound import Explain, Statement

__all__ = ["Catalog", "bind"]


def bind(
    tree: Tree,
    catalog: Catalog,
    *,
    database: str = "default",
    settings: Settings | None = None,
    spark: SparkNames | None = None,
    functions: OwnFunctions | None = None,
    reads: set[TableName] | None = None,
    user: SessionUser = NOBODY,
) -> Statement:
    """Look up the names of a statement and check it; queries also read what ``spark`` finds.

    ``functions`` are those of the user's own, by name. ``reads`` is given the tables and views that
    the statement's queries name. ``user`` is the session's.

    Raises SemanticError or NoSuchObject with Hive's code at the token that is wrong, or
    NotSupported with the feature's name.
    """
    text = tree.text
    binding = Binding(
        catalog, database.lower(), settings or Settings(), text, spark=spark or NoSpark(),
        functions={} if functions is None else functions,
        reads=set() if reads is None else reads, user=user,
    )  # fmt: skip
    try:
        return _bind(tree.body, binding)
    except HiveSqlError as error:
        raise error.at(text.file, text.line, text.column) from error.__cause__
    except RecursionError:
        problem = ParseError("the statement is nested too deeply")
        raise problem.at(text.file, text.line, text.column) from None


def _bind(body: Body, binding: Binding) -> Statement:
    if isinstance(body, ExplainBody):
        return Explain(statement=_bind(body.body, binding), style=body.style)
    if isinstance(body, Bound):
        return body
    module, function = BINDERS[type(body).__name__].split(".")
    bound: Statement = getattr(import_module(f"hivesql.binder.{module}"), function)(body, binding)
    return bound


# Named, not imported: a statement waits for nothing that only others need (sqlglot, above all).
BINDERS = {
    "DescribeBody": "commands.bind_describe",
    "LockBody": "commands.bind_lock",
    "ShowBody": "commands.bind_show",
    "UseBody": "commands.bind_use",
    "GrantPrivilegesBody": "commands.bind_grant",
    "ShowGrantBody": "commands.bind_show_grant",
    "CreateMacroBody": "functions.bind_create_macro",
    "DropFunctionBody": "functions.bind_drop_function",
    "StoreFunctionBody": "functions.bind_store_function",
    "DropStoredFunctionBody": "functions.bind_drop_stored_function",
    "Compact": "maintenance.bind_compact",
    "Select": "queries.bind_select",
    "Union": "queries.bind_select",
    "Except": "queries.bind_select",
    "Intersect": "queries.bind_select",
    "Subquery": "queries.bind_select",
    "Values": "queries.bind_select",
    "DirectoryBody": "queries.bind_directory",
    "Insert": "insert.bind_insert",
    "MultiInsert": "insert.bind_insert",
    "Update": "change.bind_update",
    "Delete": "change.bind_delete",
    "Merge": "change.bind_merge",
    "CreateDatabase": "create.bind_create_database",
    "DropDatabaseBody": "tables.bind_drop_database",
    "DropTableBody": "tables.bind_drop_table",
    "Truncate": "maintenance.bind_truncate",
    "CreateTableBody": "create.bind_create_table",
    "CreateMaterializedBody": "create.bind_create_materialized",
    "Concatenate": "maintenance.bind_concatenate",
    "Rebuild": "create.bind_rebuild",
    "Create": "views.bind_create_view",
    "LoadData": "load.bind_load",
    "ExportTable": "load.bind_export",
    "ImportTable": "load.bind_import",
    "Repair": "load.bind_repair",
    "Restore": "maintenance.bind_restore",
    "Analyze": "load.bind_analyze",
    "AlterBody": "alter.bind_alter",
    "AlterView": "alter.bind_alter_view",
    "RefusedBody": "alter.bind_refused",
    "AlterDatabase": "alter.bind_alter_database",
    "Rename": "alter.bind_rename",
    "AddPartitions": "partitions.bind_add_partitions",
    "AlterPartitionsBody": "partitions.bind_alter_partitions",
    "DropPartitions": "partitions.bind_drop_partitions",
    "ExchangePartition": "partitions.bind_exchange",
    "MovePartition": "partitions.bind_move_partition",
    "RenamePartition": "partitions.bind_rename_partition",
    "UpdateStatistics": "partitions.bind_tell_statistics",
    "Touch": "partitions.bind_touch",
}
"""Which function of this package binds a statement, by the name of its class."""
