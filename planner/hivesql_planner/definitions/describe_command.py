"""What EXPLAIN tells of statements that are carried out as they were bound."""

from __future__ import annotations

from collections.abc import Iterable

from hivesql_planner.definitions.describe import Description
from hivesql_planner.model.privileges import Principal, PrivilegeObject
from hivesql_planner.model.table import Partition, Table, partition_name
from hivesql_planner.statements.authorization import CreateRole, GrantPrivileges, GrantRoles
from hivesql_planner.statements.bound import (
    AbortCompactions,
    AbortTransactions,
    CompactTable,
    KillQueries,
    LockObject,
    Statement,
    WriteDirectory,
)
from hivesql_planner.statements.ddl import Analyze, LoadData
from hivesql_planner.statements.export import METADATA, ExportTable, ImportTable


def describe_command(statement: Statement) -> Description | None:
    """Tell what a command will do; None for one that only asks, or changes the session alone."""
    match statement:
        case LoadData():
            return _load(statement)
        case ExportTable(table=table, path=path, partitions=partitions):
            how = "a copy of the rows" if table.is_full_acid else "copies of the files"
            details = {"as": how, "into": path, "last": METADATA} | _named(table, partitions)
            return Description(action="EXPORT", of=str(table.name), details=details)
        case ImportTable():
            return _import(statement)
        case Analyze(table=table, partitions=partitions):
            what = "rows and columns" if statement.columns else "rows"
            counted = {"counts": "files and their bytes" if statement.query is None else what}
            details = counted | _named(table, partitions)
            return Description(action="STORE STATISTICS", of=str(table.name), details=details)
        case WriteDirectory(path=path, format=format_):
            return Description(action=f"REPLACE {format_} files of", of=path)
        case CompactTable():
            return _compact(statement)
        case AbortCompactions() | AbortTransactions() | KillQueries():
            return _describe_end(statement)
        case LockObject(database=database, table=locked, partition=partition, mode=mode):
            names = [database, *([locked.name.name] if locked else []), *filter(None, [partition])]
            details = {"mode": mode} if mode else {}
            return Description(
                action="LOCK" if mode else "UNLOCK", of="@".join(names), details=details
            )  # fmt: skip
    return _describe_authorization(statement)


def _describe_end(statement: AbortCompactions | AbortTransactions | KillQueries) -> Description:
    """Tell what of others is ended."""
    match statement:
        case AbortCompactions(ids=ids):
            return Description(action="ABORT COMPACTIONS", of=", ".join(map(str, ids)))
        case AbortTransactions(txn_ids=ids):
            return Description(action="ABORT TRANSACTIONS", of=", ".join(map(str, ids)))
        case KillQueries(query_ids=ids):
            return Description(action="KILL QUERY", of=", ".join(ids))


def _compact(statement: CompactTable) -> Description:
    """Tell which compaction will be queued, and what its result will be like."""
    wanted = statement.details
    properties = ", ".join(f"{key}={value}" for key, value in sorted(wanted.properties.items()))
    details = {
        "kind": statement.kind,
        "order by": wanted.order_text,
        "buckets": str(wanted.bucket_count or ""),
        "pool": wanted.pool,
        "properties": properties,
    }
    return Description(
        action="ENQUEUE COMPACTION",
        of=str(statement.table.name),
        details={key: value for key, value in details.items() if value}
        | _named(statement.table, statement.partitions),
    )


def _describe_authorization(statement: Statement) -> Description | None:
    """Tell what becomes of roles and privileges; None for a statement about other things."""
    match statement:
        case GrantPrivileges(about=about, revokes=revokes):
            return Description(
                action="REVOKE PRIVILEGES" if revokes else "GRANT PRIVILEGES",
                of=_object(about),
                details={"privileges": ", ".join(statement.privileges)}
                | _principals(statement.principals, revokes=revokes)
                | ({"with": "grant option"} if statement.option else {}),
            )
        case GrantRoles(roles=roles, revokes=revokes):
            return Description(
                action="REVOKE ROLES" if revokes else "GRANT ROLES",
                of=", ".join(roles),
                details=_principals(statement.principals, revokes=revokes)
                | ({"with": "admin option"} if statement.option else {}),
            )
        case CreateRole(name=name, drops=drops):
            return Description(action="DROP ROLE" if drops else "CREATE ROLE", of=name)
    return None


def _object(about: PrivilegeObject) -> str:
    return about.database if about.table is None else f"{about.database}.{about.table}"


def _principals(principals: Iterable[Principal], *, revokes: bool) -> dict[str, str]:
    names = ", ".join(f"{principal.type.lower()} {principal.name}" for principal in principals)
    return {"from" if revokes else "to": names}


def _load(load: LoadData) -> Description:
    table, location = load.table, load.table.location
    if load.partition is not None:
        location = load.partition.location
    elif load.values is not None:
        location = table.home_of(load.values)
    details = {"as": "a copy" if load.local else "they are, moved"}
    if not table.is_transactional:
        details["into" if not load.overwrite else "in place of all files in"] = location
    else:
        details["into"] = f"{'base_W' if load.overwrite else 'delta_W_W_0000'} in {location}"
    if load.values is not None and load.partition is None:
        added = partition_name(table.partition_names, load.values)
        details["add partition"] = f"{added} of {table.name}"
    return Description(action="LOAD FILES", of=load.path, details=details)


def _import(statement: ImportTable) -> Description:
    table = statement.table
    details = {"as": "copies of the files"}
    if statement.is_new:
        details["create table"] = str(table.name)
    place = statement.home or table.location or "a place that the metastore chooses"
    details["into"] = f"delta_W_W_0000 in {place}" if table.is_transactional else place
    details |= _named(table, statement.partitions)
    return Description(action="IMPORT FILES", of=statement.dump.path, details=details)


def _named(table: Table, partitions: tuple[Partition, ...]) -> dict[str, str]:
    names = [partition_name(table.partition_names, partition.values) for partition in partitions]
    return {"partitions": ", ".join(names)} if names else {}
