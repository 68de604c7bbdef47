"""What a statement needs, after Hive's Operation2Privilege and what real Hive 4.1 asks for.

A statement that no rule names is refused, so that none slips through. Where Hive asks for nothing
and so lets anybody change or give away what is another's, ownership is asked for: CREATE OR REPLACE
of a view, REBUILD of a materialized view, RENAME into another database.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from hivesql_planner.errors import NotSupported
from hivesql_planner.model.privileges import (
    ADMIN_PRIVILEGE,
    OWNERSHIP,
    PrivilegeObject,
    with_grant,
)
from hivesql_planner.model.table import Table, TableName
from hivesql_planner.statements import alter, authorization, bound, ddl, export, functions
from hivesql_planner.statements.bound import Statement

Reads = tuple[TableName, ...]
"""The tables and views that a statement's queries name; not those that views read."""
_SELECT = ("SELECT",)
_OWNER = (OWNERSHIP,)
_ALL_OF_A_PLACE = ("SELECT", "INSERT", "DELETE")


@dataclass(frozen=True, slots=True)
class Need:
    """Privileges on one thing; ``action`` is what Hive's message says is done to it."""

    privileges: tuple[str, ...]
    about: PrivilegeObject
    action: str = ""

    def __str__(self) -> str:
        text = str(self.about)
        return f"{text[:-1]}, action={self.action}]" if self.action else text


@dataclass(frozen=True, slots=True)
class Required:
    """What an operation needs, by Hive's name of it.

    ``admin`` says what only an administrator may, as Hive's message does; empty where others may.
    """

    operation: str
    needs: tuple[Need, ...] = ()
    admin: tuple[str, ...] = ()


NOTHING = Required("")


def required(statement: Statement, reads: Iterable[TableName]) -> Required:
    """Tell what a bound statement needs; NotSupported for one that no rule names."""
    rule = RULES.get(type(statement))
    if rule is None:
        raise NotSupported(f"{type(statement).__name__} where privileges are asked for")
    return rule(statement, tuple(dict.fromkeys(reads)))


# -- parts of rules
def _on(name: TableName, *privileges: str, action: str = "") -> Need:
    return Need(privileges, PrivilegeObject.of(name), action)


def _home(name: TableName) -> Need:
    return Need(_OWNER, PrivilegeObject(name.database))


def _each(names: Reads, *privileges: str) -> tuple[Need, ...]:
    return tuple(_on(name, *privileges) for name in names)


def _owned(operation: str, name: TableName) -> Required:
    """Require what Hive asks of a table twice, as what is read and as what is written."""
    return Required(operation, (_on(name, *_OWNER),) * 2)


def _free(statement: object, reads: Reads) -> Required:
    return NOTHING


def _by_admin(operation: str, what: str = "") -> Required:
    sides = tuple(f"{ADMIN_PRIVILEGE} on {side}" for side in ("INPUT", "OUTPUT"))
    return Required(operation, admin=(f"[{ADMIN_PRIVILEGE}] on {what}",) if what else sides)


# -- rows
def _select(statement: object, reads: Reads) -> Required:
    return Required("QUERY", _each(reads, *_SELECT))


def _insert(statement: bound.InsertRows, reads: Reads) -> Required:
    needs = list(_each(reads, *_SELECT))
    for target in statement.targets:
        name = target.table.name
        if target.concatenates:
            return _owned("ALTERTABLE_MERGEFILES", name)
        if target.rebuilds:
            return _owned("ALTER_MATERIALIZED_VIEW_REBUILD", name)
        if target.overwrite:
            needs.append(_on(name, "INSERT", "DELETE", action="INSERT_OVERWRITE"))
        else:
            needs.append(_on(name, "INSERT", action="INSERT"))
    return Required("QUERY", tuple(needs))


def _change(target: Table, reads: Reads, kinds: Iterable[str]) -> Required:
    """Require SELECT of what is read; an UPDATE deletes rows and inserts others, as in Hive 4."""
    does, name = set(kinds), target.name
    needs = _each(tuple(dict.fromkeys((name, *reads))), *_SELECT)
    if does & {"delete", "update"}:
        needs += (_on(name, "DELETE"),)
    if does & {"insert", "update"}:
        needs += (_on(name, "INSERT", action="INSERT"),)
    return Required("QUERY", needs)


def _merge(statement: bound.MergeRows, reads: Reads) -> Required:
    """Require what its clauses do, and of who adds or changes columns that the table is theirs."""
    table = statement.target.table
    changed = _change(table, reads, [clause.kind for clause in statement.clauses])
    if not (statement.added or statement.narrow):
        return changed
    return replace(changed, needs=(*changed.needs, _on(table.name, *_OWNER)))


# -- definitions
def _drop_database(statement: bound.DropDatabase, reads: Reads) -> Required:
    if statement.database is None:
        return NOTHING
    tables = tuple(_on(table.name, *_OWNER) for table in statement.tables)
    needs = (Need(_OWNER, PrivilegeObject(statement.database.name)), *tables)
    return Required("DROPDATABASE", needs)


def _create_table(statement: bound.CreateTable, reads: Reads) -> Required:
    name = statement.table.name
    if statement.exists:
        return NOTHING
    if statement.table.is_materialized_view:
        needs = (*_each(reads, with_grant("SELECT")), _home(name))
        return Required("CREATE_MATERIALIZED_VIEW", needs)
    if statement.rows is None:
        return Required("CREATETABLE", (_home(name),))
    return Required("CREATETABLE_AS_SELECT", (*_each(reads, *_SELECT), _home(name)))


def _create_view(statement: bound.CreateView, reads: Reads) -> Required:
    name = statement.table.name
    if statement.known is not None and not statement.or_replace:
        return NOTHING
    replaced = (_on(name, *_OWNER),) if statement.known is not None else ()
    needs = (*_each(reads, with_grant("SELECT")), _home(name), *replaced)
    return Required("CREATEVIEW", needs)


def _drop_table(statement: bound.DropTable, reads: Reads) -> Required:
    if statement.table is None:
        return NOTHING
    if statement.kind == "TABLE":
        return Required("DROPTABLE", (_on(statement.table.name, *_OWNER),))
    view = statement.kind == "VIEW"
    return _owned("DROPVIEW" if view else "DROP_MATERIALIZED_VIEW", statement.table.name)


def _truncate(statement: bound.TruncateTable, reads: Reads) -> Required:
    return Required("TRUNCATETABLE", (_on(statement.table.name, *_OWNER),))


def _alter_view(statement: ddl.AlterView, reads: Reads) -> Required:
    name = statement.view.name
    if not statement.reads and not reads:
        return _owned("ALTERVIEW_PROPERTIES", name)
    return Required("ALTERVIEW_AS", (_on(name, *_OWNER), *_each(reads, *_OWNER)))


def _alter_database(statement: ddl.AlterDatabase, reads: Reads) -> Required:
    before, after = statement.database, statement.altered
    operation = "ALTERDATABASE"
    if (before.owner, before.owner_type) != (after.owner, after.owner_type):
        operation = "ALTERDATABASE_OWNER"
    elif (before.location, before.managed_location) != (after.location, after.managed_location):
        operation = "ALTERDATABASE_LOCATION"
    need = Need((ADMIN_PRIVILEGE,), PrivilegeObject(before.name))
    return Required(operation, (need,))


CHANGES: dict[type, str] = {
    alter.AddColumns: "ADDCOLS",
    alter.ReplaceColumns: "REPLACECOLS",
    alter.ChangeColumn: "RENAMECOL",
    alter.RenameColumn: "RENAMECOL",
    alter.DropColumns: "REPLACECOLS",
    alter.ChangePartitionColumn: "PARTCOLTYPE",
    alter.ChangeProperties: "PROPERTIES",
    alter.ChangeFormat: "FILEFORMAT",
    alter.ChangeSerde: "SERIALIZER",
    alter.ChangeLocation: "LOCATION",
    alter.ChangeBuckets: "CLUSTER_SORT",
    alter.ChangeBucketCount: "BUCKETNUM",
    alter.Unsort: "CLUSTER_SORT",
    alter.ChangeSkew: "SKEWED",
    alter.LeaveDirectories: "SKEWED",
    alter.ChangeOwner: "OWNER",
    alter.ChangeRewrite: "",
    alter.AddConstraint: "ADDCONSTRAINT",
    alter.DropConstraint: "DROPCONSTRAINT",
}
"""How Hive names the changes of a table; all of them are its owner's."""


def _alter_table(statement: ddl.AlterTable | ddl.AlterPartitions, reads: Reads) -> Required:
    name, change = statement.table.name, statement.change
    is_of_table = isinstance(statement, ddl.AlterTable)
    operation = f"{'ALTERTABLE' if is_of_table else 'ALTERPARTITION'}_{CHANGES[type(change)]}"
    if isinstance(change, alter.ChangeSerde) and change.serde is None:
        operation = operation.replace("SERIALIZER", "SERDEPROPERTIES")
    if isinstance(change, alter.ChangeRewrite):
        operation = "ALTER_MATERIALIZED_VIEW_REWRITE"
    if isinstance(change, alter.ChangeLocation):
        return _moved(operation, name)
    return _owned(operation, name)


def _moved(operation: str, name: TableName) -> Required:
    return Required(operation, (_on(name, *_OWNER), _on(name, *_ALL_OF_A_PLACE)))


def _rename(statement: ddl.RenameTable, reads: Reads) -> Required:
    name = statement.table.name
    ownership = _owned("ALTERVIEW_RENAME" if statement.table.is_view else "ALTERTABLE_RENAME", name)
    if statement.to.database == name.database:
        return ownership
    return replace(ownership, needs=(*ownership.needs, _home(statement.to)))


def _exchange(statement: ddl.ExchangePartitions, reads: Reads) -> Required:
    needs = (
        _on(statement.source.name, "SELECT", "DELETE"), _on(statement.table.name, "INSERT"),
    )  # fmt: skip
    return Required("ALTERTABLE_EXCHANGEPARTITION", needs)


def _load(statement: ddl.LoadData, reads: Reads) -> Required:
    if statement.adds_partition:
        return Required("ALTERTABLE_ADDPARTS", (_on(statement.table.name, "INSERT"),))
    action = "INSERT_OVERWRITE" if statement.overwrite else "INSERT"
    return Required("LOAD", (_on(statement.table.name, "INSERT", "DELETE", action=action),))


def _export(statement: export.ExportTable, reads: Reads) -> Required:
    return Required("EXPORT", (_on(statement.table.name, with_grant("SELECT")),))


def _import(statement: export.ImportTable, reads: Reads) -> Required:
    name = statement.table.name
    need = _home(name) if statement.is_new else _on(name, "INSERT", "DELETE")
    return Required("IMPORT", (need,))


def _analyze(statement: ddl.Analyze, reads: Reads) -> Required:
    return Required("ANALYZE_TABLE", (_on(statement.table.name, "SELECT", "INSERT"),))


def _tell_statistics(statement: ddl.TellStatistics, reads: Reads) -> Required:
    what = "TABLE" if statement.partitions is None else "PART"
    return _owned(f"ALTERTABLE_UPDATE{what}STATS", statement.table.name)


# -- what is shown, and the session
def _show(statement: bound.Show, reads: Reads) -> Required:
    table = statement.table
    if statement.kind == "create database" and statement.database is not None:
        need = Need((with_grant("SELECT"),), PrivilegeObject(statement.database))
        return Required("SHOW_CREATEDATABASE", (need,))
    if table is None:
        # Statements tell of rows.
        return _by_admin("SHOWHISTORY") if statement.kind == "history" else NOTHING
    match statement.kind:
        case "history":
            return Required("SHOWHISTORY", (_on(table.name, *_SELECT),))
        case "columns":
            return Required("SHOWCOLUMNS", (_on(table.name, *_SELECT),))
        case "partitions":
            return Required("SHOWPARTITIONS", (_on(table.name, *_SELECT),))
        case "create table":
            return Required("SHOW_CREATETABLE", (_on(table.name, with_grant("SELECT")),))
    return NOTHING


def _describe(statement: bound.Describe, reads: Reads) -> Required:
    if statement.table is None:
        return NOTHING
    return Required("DESCTABLE", (_on(statement.table.name, *_SELECT),))


def _files(statement: bound.SessionFiles, reads: Reads) -> Required:
    if statement.action == "list":
        return NOTHING
    words = ", ".join((statement.kind, *statement.paths))
    return _by_admin(statement.action.upper(), f"Object [type=COMMAND_PARAMS, name=[{words}]]")


def _shell(statement: bound.FileSystemShell, reads: Reads) -> Required:
    words = ", ".join(statement.arguments)
    return _by_admin("DFS", f"Object [type=COMMAND_PARAMS, name=[{words}]]")


def _drop_function(statement: functions.DropFunction, reads: Reads) -> Required:
    return _by_admin("DROPMACRO" if statement.macro else "DROPFUNCTION")


RULES: dict[type, Callable[[Any, Reads], Required]] = {
    bound.SelectRows: _select,
    bound.WriteDirectory: _select,
    bound.InsertRows: _insert,
    bound.UpdateRows: lambda statement, reads: _change(statement.target.table, reads, ["update"]),
    bound.DeleteRows: lambda statement, reads: _change(statement.target.table, reads, ["delete"]),
    bound.MergeRows: _merge,
    # Whether its place may be written is the file system's affair.
    bound.CreateDatabase: _free,
    bound.DropDatabase: _drop_database,
    bound.UseDatabase: _free,
    bound.CreateTable: _create_table,
    bound.CreateView: _create_view,
    bound.DropTable: _drop_table,
    bound.TruncateTable: _truncate,
    ddl.AlterTable: _alter_table,
    ddl.AlterPartitions: _alter_table,
    ddl.RenameTable: _rename,
    ddl.AlterView: _alter_view,
    ddl.AlterDatabase: _alter_database,
    ddl.AddPartitions: lambda statement, reads: Required(
        "ALTERTABLE_ADDPARTS", (_on(statement.table.name, "INSERT"),)
    ),
    ddl.DropPartitions: lambda statement, reads: Required(
        "ALTERTABLE_DROPPARTS", (_on(statement.table.name, "DELETE"),)
    ),
    ddl.RenamePartition: lambda statement, reads: _owned(
        "ALTERTABLE_RENAMEPART", statement.table.name
    ),
    ddl.MovePartition: lambda statement, reads: _moved(
        "ALTERPARTITION_LOCATION", statement.table.name
    ),
    ddl.ExchangePartitions: _exchange,
    ddl.LoadData: _load,
    export.ExportTable: _export,
    export.ImportTable: _import,
    ddl.Analyze: _analyze,
    ddl.TellStatistics: _tell_statistics,
    ddl.RepairTable: lambda statement, reads: Required(
        "MSCK", (_on(statement.table.name, "INSERT"),)
    ),
    ddl.Touch: lambda statement, reads: _owned("ALTERTABLE_TOUCH", statement.table.name),
    bound.CompactTable: lambda statement, reads: _owned("ALTERTABLE_COMPACT", statement.table.name),
    functions.CreateFunction: lambda statement, reads: _by_admin("CREATEFUNCTION"),
    functions.StoreFunction: lambda statement, reads: _by_admin("CREATEFUNCTION"),
    functions.DropStoredFunction: lambda statement, reads: _by_admin("DROPFUNCTION"),
    functions.DropFunction: _drop_function,
    functions.CreateMacro: lambda statement, reads: _by_admin("CREATEMACRO"),
    functions.ReloadFunctions: _free,
    # Their own rules decide as they run.
    authorization.GrantPrivileges: _free,
    authorization.GrantRoles: _free,
    authorization.CreateRole: _free,
    authorization.SetRole: _free,
    authorization.ShowRoles: _free,
    authorization.ShowGrant: _free,
    bound.AbortCompactions: _free,
    bound.AbortTransactions: _free,
    # Whose statements they may be is the server's to say.
    bound.KillQueries: _free,
    bound.StartTransaction: _free,
    bound.EndTransaction: _free,
    bound.LockObject: _free,
    bound.Show: _show,
    bound.Describe: _describe,
    # Some settings are not a session's to change, which it knows itself.
    bound.SetSetting: _free,
    bound.SessionFiles: _files,
    bound.FileSystemShell: _shell,
    # The statement that it is about has been asked for the same.
    bound.Explain: lambda statement, reads: required(statement.statement, reads),
}
