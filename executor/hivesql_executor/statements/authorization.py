"""Statements about roles and privileges, by the rules of Hive's SQLStdHiveAccessController.

What is asked of the catalog and what is changed in it is one database transaction.
"""

from __future__ import annotations

from collections.abc import Iterable

from hivesql_executor.metastore.system_databases import is_system_database
from hivesql_executor.outcome import Outcome
from hivesql_executor.runtime import Runtime
from hivesql_planner.errors import HiveSqlError, NoSuchObject
from hivesql_planner.model.privileges import (
    ADMIN,
    ADMIN_PRIVILEGE,
    OWNERSHIP,
    PRIVILEGES,
    RESERVED_ROLES,
    AuthorizationError,
    Grant,
    Principal,
    PrivilegeObject,
    RoleGrant,
    available,
    check_principal,
    check_privileges,
    missing,
    with_grant,
)
from hivesql_planner.model.table import TEMPORARY, OwnerType, TableName
from hivesql_planner.required_privileges import required
from hivesql_planner.statements.authorization import (
    AuthorizationStatement,
    CreateRole,
    GrantPrivileges,
    GrantRoles,
    SetRole,
    ShowGrant,
    ShowRoles,
)
from hivesql_planner.statements.bound import Statement
from hivesql_planner.system_tables.definitions import SYS

_ADMIN_ONLY = " User has to belong to ADMIN role and have it as current role, for this action."
_HAS_OPTION = (
    " Otherwise, grantor need to have ADMIN OPTION on role being granted and have it as a current "
    "role for this action."
)
GRANT_COLUMNS = (
    "database", "table", "partition", "column", "principal_name", "principal_type", "privilege",
    "grant_option", "grant_time", "grantor",
)  # fmt: skip
MEMBER_COLUMNS = (
    "principal_name", "principal_type", "grant_option", "grantor", "grantor_type", "grant_time",
)  # fmt: skip
ROLE_GRANT_COLUMNS = ("role", "grant_option", "grant_time", "grantor")
_NO_TEXTS = {"grant_option": "boolean", "grant_time": "bigint"}
"""Columns of these three that have another type in Hive than text; times are milliseconds."""


def run_authorization(statement: AuthorizationStatement, runtime: Runtime) -> Outcome:
    """Carry out one statement; AuthorizationError where the session's user may not."""
    match statement:
        case GrantPrivileges():
            runtime.metastore.run_in_transaction(lambda: _change_privileges(statement, runtime))
        case GrantRoles():
            runtime.metastore.run_in_transaction(lambda: _change_roles(statement, runtime))
        case CreateRole():
            runtime.metastore.run_in_transaction(lambda: _create_role(statement, runtime))
        case SetRole():
            set_role(statement.name, runtime)
        case ShowRoles():
            return _show_roles(statement, runtime)
        case ShowGrant():
            return _show_grant(statement, runtime)
    return Outcome()


# -- the session's user
def roles_of(runtime: Runtime) -> dict[str, RoleGrant]:
    """Return all roles that the user has by now, those of roles included, by name."""
    grants: dict[str, RoleGrant] = {}
    todo = [Principal(runtime.user)]
    while todo:
        for grant in _grants_of_roles(todo.pop(), runtime):
            if grant.role not in grants:
                grants[grant.role] = grant
                todo.append(Principal(grant.role, "ROLE"))
    return grants


def _grants_of_roles(principal: Principal, runtime: Runtime) -> tuple[RoleGrant, ...]:
    """Return the roles that somebody was given, in the catalog or by a setting."""
    grants = runtime.metastore.role_grants(principal)
    by_setting = (grant for grant in _admins(runtime) if grant.principal == principal)
    return tuple({grant.role: grant for grant in (*by_setting, *grants)}.values())


def _admins(runtime: Runtime) -> list[RoleGrant]:
    """Return who has the role ADMIN by ``hive.users.in.admin.role``."""
    names = runtime.settings.text("hive.users.in.admin.role").split(",")
    return [
        RoleGrant(
            role=ADMIN, principal=Principal(name.strip()), grantor=Principal(ADMIN, "ROLE"),
            admin_option=True,
        )
        for name in names
        if name.strip()
    ]  # fmt: skip


def current_roles(runtime: Runtime) -> dict[str, RoleGrant]:
    """Return the roles that are in force: of those that the session has set, what the user has."""
    having = roles_of(runtime)
    chosen = runtime.roles.names
    if chosen is None:
        chosen = runtime.roles.names = frozenset(having) - {ADMIN}
    return {name: grant for name, grant in having.items() if name in chosen}


def is_admin(runtime: Runtime) -> bool:
    """Tell whether the user acts as an administrator."""
    return ADMIN in current_roles(runtime)


def set_role(name: str, runtime: Runtime) -> None:
    """Let one role of the user's be in force, all but ADMIN (ALL), or none (NONE)."""
    having, role = roles_of(runtime), name.lower()
    if role == "none":
        runtime.roles.names = frozenset()
    elif role == "all":
        runtime.roles.names = frozenset(having) - {ADMIN}
    elif role in having:
        runtime.roles.names = frozenset({role})
    else:
        raise AuthorizationError(f"{runtime.user} doesn't belong to role {name}")


def available_on(about: PrivilegeObject, runtime: Runtime) -> set[str]:
    """Return what the user may do with a table, a view or a database."""
    current = current_roles(runtime)
    holders = {Principal(runtime.user), *(Principal(name, "ROLE") for name in current)}
    if about.database.startswith(TEMPORARY) and _is_owner(about, holders, runtime):
        return {OWNERSHIP, *PRIVILEGES, *map(with_grant, PRIVILEGES)}
    grants = runtime.metastore.grants(about)
    has = available(grant for grant in grants if grant.principal in holders)
    if _is_owner(about, holders, runtime):
        has.add(OWNERSHIP)
    if ADMIN in current:
        has.add(ADMIN_PRIVILEGE)
    return has


def _is_owner(about: PrivilegeObject, holders: set[Principal], runtime: Runtime) -> bool:
    store = runtime.metastore
    if about.table is not None:
        table = store.table(TableName(about.database, about.table))
        return _owner(table.owner, table.owner_type) in holders
    try:
        database = store.database(about.database)
    except NoSuchObject as error:
        message = f"Error getting object from metastore for {about}: {error.message}"
        raise AuthorizationError(message) from error
    # Whoever wants may make tables there, as in Hive.
    return about.database == "default" or _owner(database.owner, database.owner_type) in holders


def _owner(name: str | None, kind: OwnerType) -> Principal | None:
    return Principal(name, kind) if name else None


def authorize(
    statement: Statement, reads: Iterable[TableName], runtime: Runtime, *, rehearsed: bool = False
) -> None:
    """Fail, as Hive does, where the session's user lacks what a bound statement needs.

    What is not there is the user's own in a script that is only ``rehearsed``: it would have made
    it.
    """
    needed = required(statement, reads)
    lacks = [*needed.admin] if needed.admin and not is_admin(runtime) else []
    for need in needed.needs:
        if is_system_database(need.about.database, runtime.metastore):
            # Of information_schema everybody sees what is theirs to see.
            if need.about.database == SYS and not is_admin(runtime):
                lacks.append(f"[{', '.join(need.privileges)}] on {need}")
            continue
        try:
            has = available_on(need.about, runtime)
        except HiveSqlError:
            if not rehearsed:
                raise
            continue
        if names := missing(need.privileges, has):
            lacks.append(f"[{', '.join(names)}] on {need}")
    if lacks:
        raise denied(needed.operation, lacks, runtime.user)


def denied(operation: str, missing_by_object: Iterable[str], user: str) -> AuthorizationError:
    """Say, as Hive does, what a user would need and does not have."""
    lacks = ", ".join(sorted(missing_by_object))
    return AuthorizationError(
        f"Permission denied: {Principal(user)} does not have following privileges for operation "
        f"{operation} [{lacks}]"
    )


# -- privileges
def _change_privileges(statement: GrantPrivileges, runtime: Runtime) -> None:
    privileges = check_privileges(statement.privileges)
    principals = [check_principal(principal) for principal in statement.principals]
    if statement.revokes:
        _revoke_privileges(statement, privileges, principals, runtime)
        return
    about, user = statement.about, runtime.user
    lacks = missing(map(with_grant, privileges), available_on(about, runtime))
    if lacks:
        raise denied("GRANT_PRIVILEGE", [f"[{', '.join(lacks)}] on {about}"], user)
    new = [
        Grant(
            principal=principal, privilege=privilege, about=about, grantor=Principal(user),
            grant_option=statement.option,
        )
        for privilege in privileges
        for principal in principals
    ]  # fmt: skip
    try:
        runtime.metastore.grant_privileges(new)
    except AuthorizationError as error:
        raise AuthorizationError(f"Error granting privileges: {error.message}") from error


def _revoke_privileges(
    statement: GrantPrivileges,
    privileges: Iterable[str],
    principals: Iterable[Principal],
    runtime: Runtime,
) -> None:
    """Take what the user has granted, and with it, as Hive does, the same of other grantors."""
    mine, revoked = Principal(runtime.user), list[Grant]()
    for principal in principals:
        grants = runtime.metastore.grants(statement.about, principal)
        granted = {grant.privilege: grant for grant in grants if grant.grantor == mine}
        for privilege in privileges:
            if privilege not in granted:
                raise AuthorizationError(
                    f"Cannot find privilege Privilege [name={privilege}, columns=null] for "
                    f"{principal} on {statement.about} granted by {runtime.user}"
                )
            revoked.append(granted[privilege])
    runtime.metastore.revoke_privileges(revoked, option_only=statement.option)


def _show_grant(statement: ShowGrant, runtime: Runtime) -> Outcome:
    principal = statement.principal
    if principal is None and not is_admin(runtime):
        raise AuthorizationError(
            f"Error showing privileges: User : {runtime.user} has to specify a user name or role "
            f"in the show grant.{_ADMIN_ONLY}"
        )
    if principal is not None:
        principal = check_principal(principal)
        _check_may_ask(principal, "Error showing privileges: ", runtime)
    rows = [
        (
            grant.about.database, grant.about.table or "", "", "", grant.principal.name,
            grant.principal.type, grant.privilege, grant.grant_option,
            grant.created_at * 1000, grant.grantor.name,
        )
        for grant in runtime.metastore.grants(statement.about, principal)
    ]  # fmt: skip
    return Outcome.of_table(GRANT_COLUMNS, rows, types=_NO_TEXTS)


def _check_may_ask(principal: Principal, prefix: str, runtime: Runtime) -> None:
    """Fail where somebody else's privileges are asked for, and the user is no admin."""
    if is_admin(runtime):
        return
    if principal.type == "USER" and principal.name != runtime.user:
        raise AuthorizationError(
            f"{prefix}User : {runtime.user} is not allowed check privileges of another user : "
            f"{principal.name}.{_ADMIN_ONLY}"
        )
    if principal.type == "ROLE" and principal.name not in roles_of(runtime):
        raise AuthorizationError(
            f"{prefix}User : {runtime.user} is not allowed check privileges of a role it does not "
            f"belong to : {principal.name}.{_ADMIN_ONLY}"
        )


# -- roles
def _create_role(statement: CreateRole, runtime: Runtime) -> None:
    what = "drop role" if statement.drops else "add roles"
    _check_admin(what, runtime)
    name = statement.name.strip().lower()
    if statement.drops:
        if name in (ADMIN, "public"):
            raise AuthorizationError("Error dropping role: public,admin roles can't be dropped.")
        runtime.metastore.drop_role(name)
        return
    if name.upper() in RESERVED_ROLES:
        reserved = ", ".join(RESERVED_ROLES)
        raise AuthorizationError(f"Role name cannot be one of the reserved roles: [{reserved}]")
    try:
        runtime.metastore.create_role(name, runtime.user)
    except AuthorizationError as error:
        raise AuthorizationError(f"Error create role: {error.message}") from error


def _check_admin(what: str, runtime: Runtime) -> None:
    if not is_admin(runtime):
        raise _not_allowed(f"to {what}", runtime)


def _not_allowed(what: str, runtime: Runtime, more: str = "") -> AuthorizationError:
    user = runtime.user
    return AuthorizationError(f"Current user : {user} is not allowed {what}.{_ADMIN_ONLY}{more}")


def _has_option(roles: Iterable[str], runtime: Runtime) -> bool:
    """Tell whether all these roles are in force, and the user may hand them on."""
    current = current_roles(runtime)
    return all(role in current and current[role].admin_option for role in roles)


def _change_roles(statement: GrantRoles, runtime: Runtime) -> None:
    roles = [role.lower() for role in statement.roles]
    principals = [check_principal(member) for member in statement.principals]
    if not is_admin(runtime) and not _has_option(roles, runtime):
        what = "to revoke role" if statement.revokes else "to grant role"
        raise _not_allowed(what, runtime, _HAS_OPTION)
    store = runtime.metastore
    for principal in principals:
        for role in roles:
            try:
                if statement.revokes:
                    store.revoke_role(role, principal, option_only=statement.option)
                else:
                    store.grant_role(
                        RoleGrant(
                            role=role, principal=principal, grantor=Principal(runtime.user),
                            admin_option=statement.option,
                        )
                    )  # fmt: skip
            except AuthorizationError as error:
                problem = (
                    "Error granting role"
                    if not statement.revokes
                    else (f"Error revoking roles for {principal.name} to role {role}")
                )
                raise AuthorizationError(f"{problem}: {error.message}") from error


def _show_roles(statement: ShowRoles, runtime: Runtime) -> Outcome:
    match statement.kind:
        case "roles":
            _check_admin("list roles", runtime)
            names = runtime.metastore.role_names()
            return Outcome.of_table(("role",), [(name,) for name in names])
        case "current roles":
            names = tuple(sorted(current_roles(runtime)))
            return Outcome.of_table(("role",), [(name,) for name in names])
        case "role grant":
            return _show_role_grant(statement, runtime)
        case "principals":
            return _show_principals(statement, runtime)


def _show_role_grant(statement: ShowRoles, runtime: Runtime) -> Outcome:
    assert statement.principal is not None
    principal = check_principal(statement.principal)
    prefix = f"Error getting role grant information for user {principal.name}: "
    _check_may_ask(principal, prefix, runtime)
    rows = [
        (
            grant.role, grant.admin_option, grant.created_at * 1000,
            grant.grantor.name if grant.grantor else "",
        )
        for grant in _grants_of_roles(principal, runtime)
    ]  # fmt: skip
    return Outcome.of_table(ROLE_GRANT_COLUMNS, rows, types=_NO_TEXTS)


def _show_principals(statement: ShowRoles, runtime: Runtime) -> Outcome:
    role = statement.role.lower()
    if not is_admin(runtime) and not _has_option([role], runtime):
        raise _not_allowed("get principals in a role", runtime, _HAS_OPTION)
    members = list(runtime.metastore.role_members(role))
    if role == ADMIN:
        principals = {grant.principal for grant in members}
        members += [grant for grant in _admins(runtime) if grant.principal not in principals]
    rows = [
        (
            grant.principal.name, grant.principal.type, grant.admin_option,
            grant.grantor.name if grant.grantor else "",
            grant.grantor.type if grant.grantor else "", grant.created_at * 1000,
        )
        for grant in members
    ]  # fmt: skip
    return Outcome.of_table(MEMBER_COLUMNS, rows, types=_NO_TEXTS)
