"""GRANT, REVOKE, and statements about roles."""

from __future__ import annotations

from typing import NoReturn

from hivesql.dialect.nodes.authorization import (
    GrantPrivilegesBody,
    ObjectOfPrivilege,
    ShowGrantBody,
)
from hivesql.dialect.statements.clauses import parse_partition
from hivesql.dialect.tokens import Cursor, Kind, Token, at
from hivesql_planner.errors import SemanticError
from hivesql_planner.model.privileges import AuthorizationError, Principal
from hivesql_planner.model.table import OwnerType
from hivesql_planner.statements.authorization import CreateRole, GrantRoles, SetRole, ShowRoles

_PRIVILEGES = frozenset(
    {"all", "alter", "update", "create", "drop", "lock", "select", "show_database", "insert",
     "delete"}
)  # fmt: skip
_TYPES: dict[str, OwnerType] = {"user": "USER", "role": "ROLE", "group": "GROUP"}
_ROLE = "the name of a role"


def parse_grant(cursor: Cursor) -> GrantPrivilegesBody | GrantRoles:
    """GRANT privileges ON what TO whom [WITH GRANT OPTION]; GRANT [ROLE] r TO whom [WITH …]."""
    cursor.expect("grant")
    if not _at_privilege(cursor):
        roles = _roles(cursor)
        cursor.expect("to")
        principals = _principals(cursor)
        option = cursor.take("with", "admin", "option")
        cursor.end()
        return GrantRoles(roles=roles, principals=principals, option=option)
    privileges = _privileges(cursor)
    about = _object_of(cursor)
    cursor.expect("to")
    principals = _principals(cursor)
    option = cursor.take("with", "grant", "option")
    cursor.end()
    return GrantPrivilegesBody(
        privileges=privileges, about=about, principals=principals, option=option, revokes=False
    )


def parse_revoke(cursor: Cursor) -> GrantPrivilegesBody | GrantRoles:
    """REVOKE [GRANT OPTION FOR] …; REVOKE [ADMIN OPTION FOR] [ROLE] r FROM whom."""
    cursor.expect("revoke")
    admin_option = cursor.take("admin", "option", "for")
    option = not admin_option and cursor.take("grant", "option", "for")
    if admin_option or (not option and not _at_privilege(cursor)):
        roles = _roles(cursor)
        cursor.expect("from")
        principals = _principals(cursor)
        cursor.end()
        return GrantRoles(roles=roles, principals=principals, option=admin_option, revokes=True)
    privileges = _privileges(cursor)
    about = _object_of(cursor)
    cursor.expect("from")
    principals = _principals(cursor)
    cursor.end()
    return GrantPrivilegesBody(
        privileges=privileges, about=about, principals=principals, option=option, revokes=True
    )


def parse_role(cursor: Cursor, *, drops: bool) -> CreateRole:
    """ROLE r, after CREATE or DROP."""
    cursor.expect("role")
    name = cursor.name(_ROLE)
    cursor.end()
    return CreateRole(name=name.text, drops=drops)


def parse_set_role(cursor: Cursor) -> SetRole:
    """SET ROLE r, ALL or NONE."""
    cursor.expect("set", "role")
    name = "all" if cursor.take("all") else cursor.name(_ROLE).text
    cursor.end()
    return SetRole(name=name)


def parse_show_roles(cursor: Cursor) -> ShowRoles:
    """ROLES, CURRENT ROLES, ROLE GRANT whom, PRINCIPALS r: after SHOW."""
    if cursor.take("roles"):
        statement = ShowRoles(kind="roles")
    elif cursor.take("current", "roles"):
        statement = ShowRoles(kind="current roles")
    elif cursor.take("principals"):
        statement = ShowRoles(kind="principals", role=cursor.name(_ROLE).text)
    else:
        cursor.expect("role", "grant")
        statement = ShowRoles(kind="role grant", principal=_principal(cursor))
    cursor.end()
    return statement


def parse_show_grant(cursor: Cursor) -> ShowGrantBody:
    """GRANT [whom] [ON what | ON ALL]: after SHOW."""
    cursor.expect("grant")
    principal = None if cursor.at_end or cursor.at("on") else _principal(cursor)
    about = None
    if cursor.take("on") and not cursor.take("all"):
        about = _object(cursor)
    cursor.end()
    return ShowGrantBody(principal=principal, about=about)


def _at_privilege(cursor: Cursor) -> bool:
    token = cursor.peek()
    return token.kind is Kind.WORD and token.value in _PRIVILEGES


def _privileges(cursor: Cursor) -> tuple[str, ...]:
    names = [_privilege(cursor)]
    while cursor.take(","):
        names.append(_privilege(cursor))
    return tuple(names)


def _privilege(cursor: Cursor) -> str:
    if not _at_privilege(cursor):
        cursor.fail("expected a privilege: SELECT, INSERT, UPDATE, DELETE or ALL")
    name = cursor.next().value.upper()
    if cursor.at("("):
        token = cursor.peek()
        columns = ", ".join(column.text for column in cursor.names())
        _fail(
            cursor, token,
            "Privilege with columns are not currently supported with sql standard authorization:"
            f"Privilege [name={name}, columns=[{columns}]]",
        )  # fmt: skip
    return name


def _object_of(cursor: Cursor) -> ObjectOfPrivilege:
    if not cursor.take("on"):
        _fail(cursor, cursor.peek(), "privileges are granted ON a table, a view or a database")
    return _object(cursor)


def _object(cursor: Cursor) -> ObjectOfPrivilege:
    if (cursor.at("uri") and cursor.peek(1).kind is Kind.STRING) or (
        cursor.at("server") and cursor.peek(1).is_name
    ):
        message = "Hive authorization does not support the URI or SERVER objects"
        raise at(SemanticError(message), cursor.text, cursor.peek().start)
    if cursor.take("database") or cursor.take("schema"):
        return ObjectOfPrivilege(database=cursor.name("a database name"))
    cursor.take("table")
    table = cursor.table()
    if cursor.at("("):
        cursor.names()
    partition = parse_partition(cursor, dynamic=False) if cursor.at("partition") else None
    return ObjectOfPrivilege(table=table, partition=partition)


def _roles(cursor: Cursor) -> tuple[str, ...]:
    if cursor.at("role") and cursor.peek(1).is_name:
        cursor.next()
    names = [cursor.name(_ROLE).text]
    while cursor.take(","):
        names.append(cursor.name(_ROLE).text)
    return tuple(names)


def _principals(cursor: Cursor) -> tuple[Principal, ...]:
    principals = [_principal(cursor)]
    while cursor.take(","):
        principals.append(_principal(cursor))
    return tuple(dict.fromkeys(principals))


def _principal(cursor: Cursor) -> Principal:
    """Take USER u, ROLE r or GROUP g: a user's name is as it is written."""
    kind = _TYPES.get(cursor.peek().value)
    if kind is None or cursor.next().kind is not Kind.WORD:
        cursor.fail("expected USER, ROLE or GROUP")
    token = cursor.peek()
    if kind != "ROLE" and token.kind is Kind.STRING:
        return Principal(cursor.string(), kind)
    name = cursor.name("the name of a user or a role").text
    if token.kind is Kind.WORD:
        name = token.text
    return Principal(name, kind)


def _fail(cursor: Cursor, token: Token, message: str) -> NoReturn:
    raise at(AuthorizationError(message), cursor.text, token.start)
