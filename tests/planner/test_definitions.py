"""Changes of definitions as steps, and what EXPLAIN tells of every class of statement."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, get_args

import pytest

from hivesql_planner.compaction.request import CompactionDetails, parse_order
from hivesql_planner.definitions.describe_command import describe_command
from hivesql_planner.errors import SemanticError
from hivesql_planner.explain import explain, explain_in_style
from hivesql_planner.model.functions import StoredFunction
from hivesql_planner.model.privileges import Principal, PrivilegeObject
from hivesql_planner.model.table import Column, Database, Partition, Table, TableName
from hivesql_planner.plan import Command
from hivesql_planner.planning import plan
from hivesql_planner.relations import Expr, Query, Scan
from hivesql_planner.settings.settings import Settings
from hivesql_planner.statements import authorization, bound, ddl, functions
from hivesql_planner.statements.alter import ChangeLocation, ChangeProperties, apply_change
from hivesql_planner.statements.bound import (
    CreateDatabase,
    CreateTable,
    CreateView,
    DropDatabase,
    DropTable,
    InsertRows,
    InsertTarget,
    MergeClause,
    MergeRows,
    Statement,
    TruncateTable,
)
from hivesql_planner.statements.export import Dump, ExportTable, ImportTable

ACID = {"transactional": "true"}
T = Table(
    name=TableName("d", "t"), columns=(Column.of("id", "int"),), location="/w/d.db/t", id=1,
    properties=ACID,
)  # fmt: skip
PLAIN = replace(T, name=TableName("d", "plain"), location="/w/d.db/plain", id=2, properties={})
P = replace(
    PLAIN,
    name=TableName("d", "p"),
    partition_columns=(Column.of("k", "int"),),
    location="/w/d.db/p",
)
OTHER = replace(P, name=TableName("d", "q"), location="/w/d.db/q")
VIEW = replace(
    PLAIN, name=TableName("d", "v"), type="VIRTUAL_VIEW", view_text="SELECT 1", location=""
)
ONE = Partition(values=("1",), location="/w/d.db/p/k=1")
D = Database(name="d", location="/w/d.db")
QUERY = Query(sql="SELECT 1 AS id")
SCAN = Scan(table=T, with_row_id=True)
FUNCTION = StoredFunction(database="d", name="f", java_class="org.F")


def location(table: Table, place: str) -> ddl.AlterTable:
    change = ChangeLocation(place)
    return ddl.AlterTable(table=table, change=change, altered=apply_change(table, change))


def properties(table: Table, **given: str) -> ddl.AlterTable:
    change = ChangeProperties(set=given)
    return ddl.AlterTable(table=table, change=change, altered=apply_change(table, change))


STEPS: dict[str, tuple[Statement, list[str]]] = {
    # name: (statement, the lines after those of transaction and locks)
    "a database": (
        CreateDatabase(database=replace(D, location=""), home="/w/d.db"),
        ["MAKE DIRECTORY /w/d.db", "CREATE DATABASE d"],
    ),
    "a database that is there": (
        CreateDatabase(database=D, if_not_exists=True, exists=True), ["NOTHING TO DO"],
    ),
    "a database goes with its tables": (
        DropDatabase(name="d", cascade=True, database=D, tables=(T, VIEW)),
        ["REMOVE DIRECTORY /w/d.db/t", "REMOVE DIRECTORY /w/d.db",
         "  unless other files are in it", "DROP TABLE d.t", "DROP VIEW d.v", "DROP DATABASE d"],
    ),
    "no database": (DropDatabase(name="d", if_exists=True), ["NOTHING TO DO"]),
    "a database is altered": (
        ddl.AlterDatabase(database=D, altered=replace(D, owner="ann", properties={"a": "b"})),
        ["ALTER DATABASE d", "  properties a=b", "  owner ann"],
    ),
    "a table": (
        CreateTable(table=replace(T, location=""), home="/w/d.db/t"),
        ["CREATE TABLE d.t", "  directory /w/d.db/t", "  columns id int"],
    ),
    "a table at a place": (
        CreateTable(table=replace(P, location="x"), home="x"),
        ["CREATE TABLE d.p", "  directory x", "  columns id int", "  partitioned by k int"],
    ),
    "a table like a file, where a Hive Metastore places it": (
        CreateTable(table=replace(T, location=""), like_file=("parquet", "/f")),
        ["CREATE TABLE d.t", "  directory where the metastore places it",
         "  columns of the parquet file /f"],
    ),
    "a table that is there": (
        CreateTable(table=T, if_not_exists=True, exists=True), ["NOTHING TO DO"],
    ),
    "a view": (CreateView(table=VIEW), ["CREATE VIEW d.v"]),
    "a view is replaced": (
        CreateView(table=replace(VIEW, view_text="SELECT  2"), or_replace=True, known=VIEW),
        ["ALTER VIEW d.v", "  view text SELECT 2"],
    ),
    "a table goes": (
        DropTable(name=T.name, table=T), ["REMOVE DIRECTORY /w/d.db/t", "DROP TABLE d.t"],
    ),
    "an external table goes": (
        DropTable(name=T.name, table=replace(PLAIN, type="EXTERNAL_TABLE")), ["DROP TABLE d.plain"],
    ),
    "no table": (
        DropTable(name=T.name, if_exists=True), ["NOTHING TO DO there is no d.t"],
    ),
    "no view, but a table": (
        DropTable(name=T.name, if_exists=True, kind="VIEW", table=T), ["NOTHING TO DO"],
    ),
    "a transactional table is emptied": (
        TruncateTable(table=T), ["EMPTY d.t", "  base_W in /w/d.db/t"],
    ),
    "a partition is emptied": (
        TruncateTable(table=P, partitions=(ONE,)), ["REMOVE FILES /w/d.db/p/k=1"],
    ),
    "a table moves": (
        ddl.RenameTable(
            table=T, to=TableName("e", "u"), home="/w/d.db/t", to_home="/w/e.db/u"
        ),
        ["MOVE DIRECTORY /w/d.db/t", "  to /w/e.db/u", "ALTER TABLE d.t", "  name e.u",
         "  location /w/e.db/u"],
    ),
    "a table with a place of its own gets another name": (
        ddl.RenameTable(
            table=T, to=TableName("d", "u"), home="/w/elsewhere", to_home="/w/d.db/u"
        ),
        ["ALTER TABLE d.t", "  name d.u"],
    ),
    "a table gets its own name": (ddl.RenameTable(table=T, to=T.name), ["NOTHING TO DO"]),
    "a place": (location(PLAIN, "/x"), ["ALTER TABLE d.plain", "  location /x"]),
    "a table becomes transactional": (
        properties(PLAIN, transactional="true"),
        ["RESERVE WRITE IDS below 10000001 in d.plain",
         "  for files that are there, which become original files", "ALTER TABLE d.plain",
         "  properties transactional=true, transactional_properties=default"],
    ),
    "partitions": (
        ddl.AddPartitions(
            table=P, if_not_exists=True, known=(ONE,),
            partitions=(replace(ONE, location=""), Partition(values=("2",), location=""),
                        Partition(values=("3",), location="x")),
        ),
        ["MAKE DIRECTORY /w/d.db/p/k=2", "MAKE DIRECTORY x", "  below /w/d.db/p",
         "ADD PARTITION k=2 of d.p", "  location /w/d.db/p/k=2",
         "ADD PARTITION k=3 of d.p", "  location x"],
    ),
    "partitions that are there": (
        ddl.AddPartitions(table=P, if_not_exists=True, known=(ONE,), partitions=(ONE,)),
        ["NOTHING TO DO"],
    ),
    "a partition goes": (
        ddl.DropPartitions(table=P, partitions=(ONE,)),
        ["REMOVE DIRECTORY /w/d.db/p/k=1", "DROP PARTITION k=1 of d.p"],
    ),
    "a partition gets another name": (
        ddl.RenamePartition(table=P, partition=ONE, values=("2",)),
        ["MOVE DIRECTORY /w/d.db/p/k=1", "  to /w/d.db/p/k=2", "ALTER PARTITION k=1 of d.p",
         "  values 2", "  location /w/d.db/p/k=2"],
    ),
    "a partition gets another place": (
        ddl.MovePartition(table=P, partition=ONE, location="/x"),
        ["ALTER PARTITION k=1 of d.p", "  location /x"],
    ),
    "a partition goes over": (
        ddl.ExchangePartitions(table=OTHER, source=P, partitions=(ONE,)),
        ["MOVE DIRECTORY /w/d.db/p/k=1", "  to /w/d.db/q/k=1", "MOVE PARTITION k=1 of d.p",
         "  to d.q"],
    ),
    "statistics": (
        ddl.TellStatistics(table=P, partitions=(ONE,), basics={"numRows": 7}),
        ["STORE STATISTICS k=1 of d.p", "  numRows 7"],
    ),
    "partitions follow directories": (
        ddl.RepairTable(table=P, add=True),
        ["LIST DIRECTORIES /w/d.db/p", "ADD PARTITIONS of d.p",
         "  which those that have a directory and are unknown"],
    ),
    "files are loaded": (
        ddl.LoadData(table=T, path="/f", overwrite=True),
        ["LOAD FILES /f", "  as they are, moved", "  into base_W in /w/d.db/t"],
    ),
    "copies are loaded into a new partition": (
        ddl.LoadData(table=P, path="/f", local=True, values=("2",)),
        ["LOAD FILES /f", "  as a copy", "  into /w/d.db/p/k=2", "  add partition k=2 of d.p"],
    ),
    "files are imported": (
        ImportTable(
            dump=Dump(path="/f", table=T), table=T, is_new=True, home="/w/d.db/t",
        ),
        ["IMPORT FILES /f", "  as copies of the files", "  create table d.t",
         "  into delta_W_W_0000 in /w/d.db/t"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("statement", "lines"), STEPS.values(), ids=STEPS)
def test_steps(statement: Statement, lines: list[str]) -> None:
    told = explain(plan(statement)).splitlines()
    guards = ("TRANSACTION", "  lock ", "  write id ")
    assert [line for line in told if not line.startswith(guards)] == lines


def test_steps_as_json() -> None:
    statement = ddl.RenamePartition(table=P, partition=ONE, values=("2",))
    assert json.loads(explain_in_style(statement, "formatted", Settings()))["steps"] == [
        {"action": "move directory", "of": "/w/d.db/p/k=1", "to": "/w/d.db/p/k=2"},
        {"action": "alter partition", "of": "k=1 of d.p", "values": "2",
         "location": "/w/d.db/p/k=2"},
    ]  # fmt: skip
    load = ddl.LoadData(table=PLAIN, path="/f")
    (told,) = json.loads(explain_in_style(load, "formatted", Settings()))["steps"]
    assert told["action"] == "load files"


REFUSED: dict[str, tuple[Statement, int | None]] = {
    "a view of a name that is taken": (CreateView(table=VIEW, known=VIEW), 10073),
    "DROP VIEW of a table": (DropTable(name=T.name, kind="VIEW", table=T), None),
    "DROP TABLE of a view": (DropTable(name=VIEW.name, table=VIEW), None),
    "the default database": (
        DropDatabase(name="default", database=replace(D, name="default")), None,
    ),
    "a partition that lies elsewhere": (
        ddl.ExchangePartitions(table=OTHER, source=P, partitions=(replace(ONE, location="/x"),)),
        None,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("statement", "code"), REFUSED.values(), ids=REFUSED)
def test_refused_before_anything_is_locked(statement: Statement, code: int | None) -> None:
    with pytest.raises(SemanticError) as raised:
        plan(statement)
    assert code is None or raised.value.code == code


# -- every class of statement
OPAQUE: dict[str, str] = {
    "UseDatabase": "the session alone",
    "CreateFunction": "the session alone",
    "CreateMacro": "the session alone",
    "DropFunction": "the session alone",
    "ReloadFunctions": "asks the catalog anew",
    "StartTransaction": "what follows is planned by itself",
    "EndTransaction": "what came before was planned by itself",
    "Show": "only asks",
    "Describe": "only asks",
    "SetSetting": "the session alone",
    "SessionFiles": "the session and its Spark",
    "FileSystemShell": "a program of Hadoop's, whose words are its own",
    "SetRole": "the session alone",
    "ShowRoles": "only asks",
    "ShowGrant": "only asks",
    "Explain": "only asks",
}
"""Statements of which a plan tells the name alone, and why."""
SAMPLES: tuple[Statement, ...] = (
    bound.SelectRows(query=QUERY),
    InsertRows(targets=(InsertTarget(table=T, query=QUERY),)),
    bound.WriteDirectory(path="/x", local=False, format="orc", query=QUERY),
    bound.UpdateRows(target=SCAN, alias="t", assignments={"id": Expr("1")}),
    bound.DeleteRows(target=SCAN, alias="t"),
    MergeRows(
        target=SCAN, alias="t", source=QUERY, source_alias="s", on=Expr("true"),
        clauses=(MergeClause(kind="delete"),),
    ),
    *(statement for statement, _ in STEPS.values()),
    CreateTable(table=T, rows=QUERY),
    ddl.AlterView(view=VIEW, altered=VIEW),
    ddl.AlterPartitions(
        table=P, change=ChangeProperties(), partitions=(ONE,), altered=(ONE,)
    ),
    ddl.Touch(table=T),
    ExportTable(table=T, path="/f", name=T.name, query=QUERY),
    ddl.Analyze(table=T),
    functions.StoreFunction(function=FUNCTION),
    functions.DropStoredFunction(database="d", name="f"),
    bound.CompactTable(table=T, kind="major"),
    bound.AbortCompactions(ids=(1,)),
    bound.AbortTransactions(txn_ids=(1,)),
    bound.KillQueries(query_ids=("q",)),
    bound.LockObject(database="d", table=T, mode="SHARED"),
    authorization.GrantPrivileges(
        privileges=("SELECT",), about=PrivilegeObject("d", "t"), principals=(Principal("joe"),)
    ),
    authorization.GrantRoles(roles=("r",), principals=(Principal("joe"),), revokes=True),
    authorization.CreateRole(name="r"),
)  # fmt: skip


UNIONS: dict[str, Any] = {
    "DdlStatement": ddl.DdlStatement,
    "AuthorizationStatement": authorization.AuthorizationStatement,
}


def classes(union: Any) -> set[str]:
    """The names of the classes of a union, those of unions in it too."""
    found: set[str] = set()
    for one in get_args(union):
        name = getattr(one, "__forward_arg__", None)
        if name in UNIONS:
            found |= classes(UNIONS[name])
        else:
            found.add(name or one.__name__)
    return found


def test_every_statement_is_planned_as_data_or_listed_with_a_reason() -> None:
    sampled = {type(one).__name__ for one in SAMPLES}
    assert sampled | OPAQUE.keys() == classes(Statement)
    assert not sampled & OPAQUE.keys()
    for statement in SAMPLES:
        body = plan(statement).body
        assert not isinstance(body, Command) or describe_command(statement), statement
        assert "COMMAND" not in explain(plan(statement))


def test_a_compaction_tells_what_its_result_is_like() -> None:
    details = CompactionDetails(
        pool="night", properties={"tblprops.orc.compress": "ZSTD"}, bucket_count=4,
        order=parse_order("zorder(id, v)"),
    )  # fmt: skip
    statement = bound.CompactTable(table=T, kind="rebalance", details=details)
    assert explain(plan(statement)).splitlines()[-5:] == [
        "  kind rebalance",
        f"  order by {details.order_text}",
        "  buckets 4",
        "  pool night",
        "  properties tblprops.orc.compress=ZSTD",
    ]
