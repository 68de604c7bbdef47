"""Every class of statements has a rule; what the rules say is tried in end_to_end/ddl."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ForwardRef, get_args

import pytest

from hivesql_planner.errors import NotSupported
from hivesql_planner.model.privileges import OWNERSHIP, PrivilegeObject
from hivesql_planner.model.table import Table, TableName
from hivesql_planner.relations import Query, Scan
from hivesql_planner.required_privileges import CHANGES, NOTHING, RULES, Need, required
from hivesql_planner.statements import alter, authorization, bound, ddl, functions

T = Table(name=TableName("d", "t"), location="/t", columns=())
READ = TableName("d", "read")
ON_T = PrivilegeObject("d", "t")


def classes(union: Any) -> set[type]:
    """All classes of a union, those of unions that it names included."""
    found: set[type] = set()
    for member in get_args(union):
        if not isinstance(member, ForwardRef):
            found.add(member)
            continue
        name = member.__forward_arg__
        named = next(getattr(m, name) for m in (bound, ddl, authorization) if hasattr(m, name))
        found |= classes(named) or {named}
    return found


def test_no_class_of_statements_is_forgotten() -> None:
    every = classes(bound.Statement)
    assert len(every) > 45
    assert every == set(RULES)
    assert set(get_args(alter.Change)) == set(CHANGES)


FREE = {
    bound.CreateDatabase, bound.UseDatabase, bound.AbortCompactions, bound.AbortTransactions,
    bound.KillQueries,
    bound.StartTransaction, bound.EndTransaction, bound.LockObject, bound.SetSetting,
    functions.ReloadFunctions, *classes(authorization.AuthorizationStatement),
}  # fmt: skip
"""What real Hive asks for no privilege, or by rules of its own."""


def test_nothing_is_free_but_what_is_named() -> None:
    assert {one for one, rule in RULES.items() if rule is RULES[bound.UseDatabase]} == FREE


def test_a_statement_without_a_rule_is_refused() -> None:
    @dataclass
    class New:
        """A statement that somebody adds."""

    with pytest.raises(NotSupported, match="New where privileges are asked for"):
        required(New(), ())  # type: ignore[arg-type]


def needs(statement: bound.Statement, *reads: TableName) -> list[str]:
    """What Hive's message would say of somebody who has nothing."""
    return [f"{', '.join(one.privileges)} on {one}" for one in required(statement, reads).needs]


TABLE, OTHER = "Object [type=TABLE_OR_VIEW, name=d.t", "Object [type=TABLE_OR_VIEW, name=d.read]"


def merge(*kinds: Any) -> bound.MergeRows:
    clauses = tuple(bound.MergeClause(kind=kind) for kind in kinds)
    return bound.MergeRows(
        target=Scan(table=T), alias="t", source=Query(sql=""), source_alias="s",
        on=Any,  # type: ignore[arg-type]
        clauses=clauses,
    )  # fmt: skip


def test_changes_need_what_they_do() -> None:
    read = [f"SELECT on {TABLE}]", f"SELECT on {OTHER}"]
    delete, insert = f"DELETE on {TABLE}]", f"INSERT on {TABLE}, action=INSERT]"
    assert needs(merge("update"), READ) == [*read, delete, insert]
    assert needs(merge("delete"), READ) == [*read, delete]
    assert needs(merge("insert"), READ) == [*read, insert]
    assert needs(merge("delete", "insert"), READ) == [*read, delete, insert]


def test_inserts_need_what_they_do() -> None:
    def insert(**more: Any) -> bound.InsertRows:
        return bound.InsertRows(targets=(bound.InsertTarget(table=T, query=Query(sql=""), **more),))

    owner = [f"{OWNERSHIP} on {TABLE}]"] * 2
    assert needs(insert(), READ) == [f"SELECT on {OTHER}", f"INSERT on {TABLE}, action=INSERT]"]
    assert needs(insert(overwrite=True)) == [f"INSERT, DELETE on {TABLE}, action=INSERT_OVERWRITE]"]
    assert needs(insert(rebuilds=True)) == needs(insert(concatenates=True)) == owner


def test_an_explained_statement_needs_the_same() -> None:
    drop = bound.DropTable(name=T.name, table=T)
    assert required(bound.Explain(statement=drop), ()) == required(drop, ())
    assert required(drop, ()).needs == (Need((OWNERSHIP,), ON_T),)
    assert required(bound.DropTable(name=T.name, if_exists=True), ()) == NOTHING
