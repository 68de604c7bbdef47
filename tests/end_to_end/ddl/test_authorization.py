"""Roles and privileges as Hive keeps and shows them; each answer is that of real Hive 4.1."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import hivesql
from hivesql.session import Session
from hivesql_executor.runtime import CurrentRoles
from hivesql_planner.errors import HiveSqlError, NotSupported, ParseError
from hivesql_planner.settings.settings import Settings

ADMIN_ONLY = "User has to belong to ADMIN role and have it as current role, for this action."
As = Callable[[str], Session]


@pytest.fixture
def as_user(tmp_path: Path) -> Iterator[As]:
    """Sessions on one warehouse, by their user; root may be an administrator."""
    sessions: dict[str, Session] = {}

    def connect(user: str) -> Session:
        if user not in sessions:
            session = hivesql.connect(
                f"sqlite:///{tmp_path}/m.db",
                tmp_path / "wh",
                settings={"hive.users.in.admin.role": "root, chief"},
            )
            session.runtime = replace(session.runtime, user=user, roles=CurrentRoles())
            sessions[user] = session
        return sessions[user]

    yield connect
    for session in sessions.values():
        session.close()


def refused(session: Session, sql: str, message: str, code: int | None = 40000) -> None:
    with pytest.raises(HiveSqlError) as caught:
        session.sql(sql)
    assert (caught.value.message, caught.value.code) == (message, code)
    assert caught.value.line == 1


def shown(session: Session, sql: str) -> list[tuple[str, ...]]:
    """What is shown, but the time."""
    result = session.sql(sql)
    at = result.columns.index("grant_time") if "grant_time" in result.columns else None
    for row in result.rows:
        assert at is None or row[at] == 0 or (row[at] > 10**12 and row[at] % 1000 == 0)
    return [tuple(v for i, v in enumerate(row) if i != at) for row in result.rows]


def grants(session: Session, sql: str) -> list[tuple[str, ...]]:
    """Return database, table, principal, privilege and option of SHOW GRANT's rows."""
    return [(r[0], r[1], f"{r[5]} {r[4]}", r[6], r[7]) for r in shown(session, sql)]


def test_roles(as_user: As) -> None:
    root = as_user("root")
    assert shown(root, "SHOW CURRENT ROLES") == [("public",)]
    for sql, what in (
        ("CREATE ROLE r1", "to add roles"),
        ("DROP ROLE r1", "to drop role"),
        ("SHOW ROLES", "to list roles"),
    ):
        refused(root, sql, f"Current user : root is not allowed {what}. {ADMIN_ONLY}")
    root.sql("SET ROLE ADMIN; CREATE ROLE r1; CREATE ROLE Rx")
    assert shown(root, "SHOW CURRENT ROLES") == [("admin",)]
    assert shown(root, "SHOW ROLES") == [("admin",), ("public",), ("r1",), ("rx",)]
    refused(root, "CREATE ROLE R1", "Error create role: Role r1 already exists.")
    for name in ("`all`", "default"):
        reserved = "Role name cannot be one of the reserved roles: [ALL, DEFAULT, NONE]"
        refused(root, f"CREATE ROLE {name}", reserved)
    for name in ("admin", "PUBLIC"):
        message = "Error dropping role: public,admin roles can't be dropped."
        refused(root, f"DROP ROLE {name}", message)
    root.sql("GRANT ROLE r1 TO USER alice WITH ADMIN OPTION; GRANT r1 TO ROLE rx, USER root")
    # All of a statement, or nothing of it.
    already = "Error granting role: Principal root already has the role r1"
    refused(root, "GRANT rx, r1 TO USER root", already)
    assert shown(root, "SHOW ROLE GRANT USER root") == [
        ("admin", True, "admin"), ("public", False, ""), ("r1", False, "root"),
    ]  # fmt: skip
    assert shown(root, "SHOW PRINCIPALS R1") == [
        ("alice", "USER", True, "root", "USER"), ("root", "USER", False, "root", "USER"),
        ("rx", "ROLE", False, "root", "USER"),
    ]  # fmt: skip
    assert [row[0] for row in shown(root, "SHOW PRINCIPALS admin")] == ["root", "chief"]
    circle = "Cannot grant role r1 to rx as rx already belongs to the role r1. (no cycles allowed)"
    refused(root, "GRANT rx TO ROLE r1", f"Error granting role: {circle}")
    group = "Invalid principal type in principal Principal [name=g, type=GROUP]"
    refused(root, "GRANT r1 TO GROUP g", group)
    refused(root, "SHOW ROLE GRANT GROUP g", group)
    root.sql("GRANT rx TO USER bob")
    bob = as_user("bob")
    # Of one role it has the other, too.
    assert shown(bob, "SHOW CURRENT ROLES") == [("public",), ("r1",), ("rx",)]
    refused(
        bob, "GRANT r1 TO USER eve",
        f"Current user : bob is not allowed to grant role. {ADMIN_ONLY} Otherwise, grantor need to "
        "have ADMIN OPTION on role being granted and have it as a current role for this action.",
    )  # fmt: skip
    refused(bob, "SET ROLE admin", "bob doesn't belong to role admin")
    bob.sql("SET ROLE none")
    assert shown(bob, "SHOW CURRENT ROLES") == []
    bob.sql("SET ROLE rx")
    assert shown(bob, "SHOW CURRENT ROLES") == [("rx",)]
    alice = as_user("alice")
    alice.sql("GRANT r1 TO USER eve; REVOKE r1 FROM USER eve")
    root.sql("REVOKE ADMIN OPTION FOR r1 FROM USER alice; REVOKE ROLE rx FROM USER bob")
    # What was taken is gone at once.
    assert shown(bob, "SHOW CURRENT ROLES") == []
    with pytest.raises(HiveSqlError, match="not allowed to grant role"):
        alice.sql("GRANT r1 TO USER eve")
    root.sql("DROP ROLE r1; DROP ROLE nosuch")
    assert shown(alice, "SHOW ROLE GRANT USER alice") == [("public", False, "")]


def test_privileges(as_user: As) -> None:
    root = as_user("root")
    root.sql("""
        CREATE DATABASE d;
        CREATE TABLE t (a INT) PARTITIONED BY (p STRING);
        CREATE TABLE copy AS SELECT 1 AS a;
        CREATE VIEW v AS SELECT a FROM t;
    """)
    own = [("default", "t", "USER root", p, True) for p in ("DELETE", "INSERT", "SELECT")]
    own.append(("default", "t", "USER root", "UPDATE", True))
    assert grants(root, "SHOW GRANT USER root ON t") == own
    assert len(grants(root, "SHOW GRANT USER root ON copy")) == 4
    # As Hive has them: a client of the server gets a boolean, and milliseconds.
    for text in ("SHOW GRANT USER root ON t", "SHOW ROLE GRANT USER root"):
        result = root.sql(text)
        types = dict(zip(result.columns, result.types, strict=True))
        assert {name for name, kind in types.items() if kind != "string"} == {
            "grant_option", "grant_time"
        }  # fmt: skip
        assert (types["grant_option"], types["grant_time"]) == ("boolean", "bigint")
    refused(
        root, "SHOW GRANT ON t",
        "Error showing privileges: User : root has to specify a user name or role in the show "
        f"grant. {ADMIN_ONLY}",
    )  # fmt: skip
    bob = as_user("bob")
    denied = (
        "Permission denied: Principal [name=bob, type=USER] does not have following privileges for "
        "operation GRANT_PRIVILEGE [[SELECT with grant, DELETE with grant] on "
        "Object [type=TABLE_OR_VIEW, name=default.t]]"
    )
    refused(bob, "GRANT DELETE, SELECT ON TABLE default.t TO USER eve", denied)
    root.sql("""
        GRANT SELECT ON t TO USER bob WITH GRANT OPTION;
        GRANT SELECT, INSERT ON v TO ROLE public, USER `Eve X`;
        SET ROLE admin;
        GRANT ALL ON DATABASE d TO USER bob
    """)
    bob.sql("GRANT SELECT ON t TO USER Eve")
    assert grants(root, "SHOW GRANT USER Eve") == [("default", "t", "USER Eve", "SELECT", False)]
    assert grants(root, "SHOW GRANT ON t") == [
        ("default", "t", "USER Eve", "SELECT", False),
        ("default", "t", "USER bob", "SELECT", True),
        *own,
    ]
    assert {row[:3] for row in grants(root, "SHOW GRANT ON DATABASE d")} == {("d", "", "USER bob")}
    assert [row[2] for row in grants(root, "SHOW GRANT ROLE public")] == ["ROLE public"] * 2
    assert grants(root, "SHOW GRANT USER bob ON ALL")[0][0] == "d"
    refused(
        bob, "SHOW GRANT USER eve",
        "Error showing privileges: User : bob is not allowed check privileges of another user : "
        f"eve. {ADMIN_ONLY}",
    )  # fmt: skip
    refused(
        bob, "SHOW GRANT ROLE rx",
        "Error showing privileges: User : bob is not allowed check privileges of a role it does "
        f"not belong to : rx. {ADMIN_ONLY}",
    )  # fmt: skip
    refused(
        bob, "REVOKE INSERT ON t FROM USER Eve",
        "Cannot find privilege Privilege [name=INSERT, columns=null] for Principal [name=Eve, "
        "type=USER] on Object [type=TABLE_OR_VIEW, name=default.t] granted by bob",
    )  # fmt: skip
    root.sql("REVOKE GRANT OPTION FOR SELECT ON t FROM USER bob")
    assert ("default", "t", "USER bob", "SELECT", False) in grants(root, "SHOW GRANT ON t")
    root.sql("REVOKE ALL ON DATABASE d FROM USER bob")
    assert grants(root, "SHOW GRANT ON DATABASE d") == []
    root.sql("ALTER TABLE t RENAME TO d.t2; ALTER TABLE d.t2 SET OWNER USER bob")
    assert len(grants(root, "SHOW GRANT ON d.t2")) == 6
    root.sql("DROP TABLE d.t2; CREATE TABLE t (a INT) PARTITIONED BY (p STRING)")
    assert grants(root, "SHOW GRANT ON t") == own
    assert grants(root, "SHOW GRANT ON nosuch") == []


def test_what_is_refused(as_user: As) -> None:
    root = as_user("root")
    root.sql("CREATE TABLE t (a INT) PARTITIONED BY (p STRING); CREATE TEMPORARY TABLE own (a INT)")
    refused(root, "GRANT ALTER ON t TO USER u", "Unsupported privilege type ALTER")
    refused(
        root, "GRANT SELECT(a) ON t TO USER u",
        "Privilege with columns are not currently supported with sql standard authorization:"
        "Privilege [name=SELECT, columns=[a]]",
    )  # fmt: skip
    refused(
        root, "GRANT SELECT ON t TO ROLE nosuch",
        "Error granting privileges: Role nosuch does not exist",
    )  # fmt: skip
    group = "Invalid principal type in principal Principal [name=g, type=GROUP]"
    refused(root, "GRANT SELECT ON t TO GROUP g", group)
    refused(root, "GRANT SELECT ON nosuch TO USER u", "Table not found: default.nosuch", 10001)
    refused(
        root, "GRANT SELECT ON t PARTITION (p='1') TO USER u",
        "Partition not found p=1 in default.t", 10006,
    )  # fmt: skip
    uri = "Hive authorization does not support the URI or SERVER objects"
    refused(root, "GRANT SELECT ON URI '/tmp' TO USER u", uri, None)
    nothing = "privileges are granted ON a table, a view or a database"
    refused(root, "GRANT SELECT TO USER u", nothing)
    with pytest.raises(NotSupported, match="privileges on temporary tables"):
        root.sql("GRANT SELECT ON own TO USER bob")
    for sql in (
        "GRANT", "GRANT SELECT ON t", "GRANT SELECT ON t TO bob", "REVOKE SELECT ON t TO USER u",
        "GRANT r TO USER u WITH GRANT OPTION", "SHOW ROLE", "SET ROLE", "CREATE ROLE IF NOT EXISTS",
    ):  # fmt: skip
        with pytest.raises(ParseError):
            root.sql(sql)
    lines = [row[0] for row in root.sql("EXPLAIN GRANT SELECT ON t TO USER u").rows]
    assert lines == ["GRANT PRIVILEGES default.t", "  privileges SELECT", "  to user u"]
    assert grants(root, "SHOW GRANT USER root ON t")
    assert Settings().text("hive.users.in.admin.role") == ""
