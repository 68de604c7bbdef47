"""Roles and privileges in the databases of our own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from hivesql_executor.metastore.api import Metastore
from hivesql_planner.errors import NoSuchObject
from hivesql_planner.model.hive_type import INT
from hivesql_planner.model.privileges import (
    PRIVILEGES,
    AuthorizationError,
    Grant,
    Principal,
    PrivilegeObject,
    RoleGrant,
)
from hivesql_planner.model.table import Column, Database, Table, TableName

ANN, BOB, CAROL = (Principal(name) for name in ("ann", "Bob", "carol"))
READERS, WRITERS = Principal("readers", "ROLE"), Principal("writers", "ROLE")
T = PrivilegeObject("default", "t")
D = PrivilegeObject("d")
SELECT = Grant(principal=BOB, privilege="SELECT", about=T, grantor=ANN)


def refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(AuthorizationError) as caught:
        call()
    assert (caught.value.message, caught.value.code) == (message, 40000)


def test_roles(metastore: Metastore) -> None:
    assert metastore.role_names() == ("admin", "public")
    for name in ("readers", "writers"):
        metastore.create_role(name, "ann")
    refused(lambda: metastore.create_role("readers", "ann"), "Role readers already exists.")
    given = RoleGrant(role="readers", principal=BOB, grantor=ANN, admin_option=True)
    metastore.grant_role(given)
    refused(lambda: metastore.grant_role(given), "Principal Bob already has the role readers")
    metastore.grant_role(RoleGrant(role="readers", principal=WRITERS, grantor=ANN))
    circle = RoleGrant(role="writers", principal=READERS, grantor=ANN)
    refused(
        lambda: metastore.grant_role(circle),
        "Cannot grant role readers to writers as writers already belongs to the role readers. "
        "(no cycles allowed)",
    )
    for role, principal, message in (
        ("none", BOB, "none role can not be found."),
        ("readers", Principal("none", "ROLE"), "Role none does not exist"),
    ):
        new = RoleGrant(role=role, principal=principal, grantor=ANN)
        refused(lambda new=new: metastore.grant_role(new), message)  # type: ignore[misc]
    members = metastore.role_members("readers")
    assert [(one.principal, one.grantor, one.admin_option) for one in members] == [
        (BOB, ANN, True),
        (WRITERS, ANN, False),
    ]
    assert [one.role for one in metastore.role_grants(BOB)] == ["public", "readers"]
    assert [one.role for one in metastore.role_grants(WRITERS)] == ["readers"]
    metastore.revoke_role("readers", BOB, option_only=True)
    assert not metastore.role_members("readers")[0].admin_option
    refused(
        lambda: metastore.revoke_role("readers", BOB, option_only=True),
        "User Bob does not have grant option with role readers",
    )
    metastore.revoke_role("readers", BOB, option_only=False)
    metastore.revoke_role("readers", CAROL, option_only=False)
    assert [one.role for one in metastore.role_grants(BOB)] == ["public"]
    metastore.drop_role("readers")
    metastore.drop_role("readers")
    assert metastore.role_grants(WRITERS) == ()
    assert metastore.role_names() == ("admin", "public", "writers")


def test_privileges_follow_what_they_are_about(metastore: Metastore) -> None:
    metastore.create_database(Database(name="d", location=""))
    name = TableName("default", "t")
    table = Table(name=name, location="", columns=(Column("a", INT),), owner="ann")
    metastore.create_table(table)
    own = metastore.grants(T)
    assert [(one.privilege, one.principal, one.grantor) for one in own] == [
        (privilege, ANN, ANN) for privilege in sorted(PRIVILEGES)
    ]
    assert all(one.grant_option and one.created_at > 0 for one in own)
    metastore.create_role("readers", "ann")
    on_database = replace(SELECT, about=D, principal=READERS)
    metastore.grant_privileges([SELECT, on_database])
    refused(
        lambda: metastore.grant_privileges([SELECT]),
        "SELECT is already granted on table [default,t] by ann",
    )
    refused(
        lambda: metastore.grant_privileges([on_database]),
        "SELECT is already granted on database d by ann",
    )
    for about, code in ((PrivilegeObject("d", "none"), 10001), (PrivilegeObject("none"), 10072)):
        with pytest.raises(NoSuchObject) as caught:
            metastore.grant_privileges([replace(SELECT, about=about)])
        assert caught.value.code == code
    bad = replace(SELECT, principal=Principal("none", "ROLE"))
    refused(lambda: metastore.grant_privileges([bad]), "Role none does not exist")
    everything = [(one.about, one.principal) for one in metastore.grants()]
    assert everything == [(D, READERS), (T, BOB), *[(T, ANN)] * 4]
    assert [one.about for one in metastore.grants(None, READERS)] == [D]
    refused(
        lambda: metastore.revoke_privileges([SELECT], option_only=True),
        "Grant option with privilege SELECT on table default.t does not exist for Bob",
    )
    metastore.alter_table(name, replace(metastore.table(name), name=TableName("d", "moved")))
    assert metastore.grants(T) == ()
    moved = metastore.grants(PrivilegeObject("d", "moved"))
    assert [one.principal for one in moved] == [BOB, *[ANN] * 4]
    metastore.revoke_privileges(moved[:1], option_only=False)
    metastore.revoke_privileges(moved[1:], option_only=True)
    assert not any(one.grant_option for one in metastore.grants(PrivilegeObject("d", "moved")))
    metastore.drop_role("readers")
    assert metastore.grants(D) == ()
    metastore.drop_database("d", cascade=True)
    metastore.create_database(Database(name="d", location=""))
    metastore.create_table(replace(table, name=TableName("d", "moved"), owner=None))
    assert metastore.grants() == ()
