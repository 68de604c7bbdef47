"""Roles and privileges in the catalog as rows."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, delete, insert, or_, select, update
from sqlalchemy import Table as SqlTable

from hivesql_executor.metastore.database.connection import now
from hivesql_executor.metastore.database.schema import (
    database_privileges,
    dbs,
    role_map,
    roles,
    table_privileges,
    tbls,
)
from hivesql_planner.errors import NoSuchObject
from hivesql_planner.model.privileges import (
    ADMIN,
    PRIVILEGES,
    PUBLIC,
    AuthorizationError,
    Grant,
    Principal,
    PrivilegeObject,
    RoleGrant,
)
from hivesql_planner.model.table import OwnerType

_AUTHORIZER = "SQL"


# -- roles
def role_names(db: Connection) -> tuple[str, ...]:
    """Return the names of all roles, sorted."""
    return tuple(sorted(db.scalars(select(roles.c.name))))


def create_role(db: Connection, name: str, owner: str | None) -> None:
    """Add a role; AuthorizationError where there is one of that name."""
    if _role_id(db, name) is not None:
        raise AuthorizationError(f"Role {name} already exists.")
    db.execute(insert(roles).values(name=name, owner=owner, created_at=now(db) // 1000))


def drop_role(db: Connection, name: str) -> None:
    """Drop a role with all that was granted to it and all its members, if it is there."""
    role = _role_id(db, name)
    if role is None:
        return
    db.execute(delete(role_map).where(or_(role_map.c.owner_id == role, _to(role_map, _role(name)))))
    for rows in (database_privileges, table_privileges):
        db.execute(delete(rows).where(_to(rows, _role(name))))
    db.execute(delete(roles).where(roles.c.id == role))


def role_grants(db: Connection, principal: Principal) -> tuple[RoleGrant, ...]:
    """Return the roles that were given to somebody; every user has PUBLIC."""
    given_roles = _role_grants(db, _to(role_map, principal))
    if principal.type == "USER":
        given_roles.append(RoleGrant(role=PUBLIC, principal=principal))
    return tuple(sorted(given_roles, key=lambda grant: grant.role))


def role_members(db: Connection, role: str) -> tuple[RoleGrant, ...]:
    """Return to whom a role was given."""
    memberships = _role_grants(db, roles.c.name == role)
    return tuple(
        sorted(memberships, key=lambda grant: (grant.principal.name, grant.principal.type))
    )


def grant_role(db: Connection, new: RoleGrant) -> None:
    """Give somebody a role, which must not make a circle of roles."""
    if new.principal.type == "ROLE":
        _check_circle(db, new.role, new.principal.name)
    role = _role_id(db, new.role)
    if role is None:
        raise AuthorizationError(f"{new.role} role can not be found.")
    mine = and_(role_map.c.owner_id == role, _to(role_map, new.principal))
    if db.scalar(select(role_map.c.id).where(mine)) is not None:
        raise AuthorizationError(f"Principal {new.principal.name} already has the role {new.role}")
    _check_role(db, new.principal)
    values = _values(new.principal, new.grantor, option=new.admin_option)
    db.execute(insert(role_map).values(**values, owner_id=role, created_at=now(db) // 1000))


def revoke_role(db: Connection, role: str, principal: Principal, *, option_only: bool) -> None:
    """Take a role, or with ``option_only`` the right to hand it on, from whoever has it."""
    role_id = _role_id(db, role)
    if role_id is None:
        raise AuthorizationError(f"{role} role can not be found.")
    mine = and_(role_map.c.owner_id == role_id, _to(role_map, principal))
    if not option_only:
        db.execute(delete(role_map).where(mine))
        return
    if not db.scalar(select(role_map.c.option).where(mine)):
        raise AuthorizationError(
            f"User {principal.name} does not have grant option with role {role}"
        )
    db.execute(update(role_map).where(mine).values(option=0))


def _check_circle(db: Connection, role: str, member: str) -> None:
    """Fail where a role would have itself, through whatever others."""
    reached, todo = set[str](), [role]
    while todo:
        name = todo.pop()
        reached.add(name)
        grants = _role_grants(db, _to(role_map, _role(name)))
        todo.extend(grant.role for grant in grants if grant.role not in reached)
    if member in reached:
        raise AuthorizationError(
            f"Cannot grant role {member} to {role} as {role} already belongs to the role {member}. "
            "(no cycles allowed)"
        )


def _role_grants(db: Connection, condition: ColumnElement[bool]) -> list[RoleGrant]:
    query = select(role_map, roles.c.name.label("role")).join(
        roles, roles.c.id == role_map.c.owner_id
    )
    return [
        RoleGrant(
            role=row.role, principal=Principal(row.principal, row.principal_type),
            grantor=Principal(row.grantor, row.grantor_type) if row.grantor else None,
            admin_option=bool(row.option), created_at=row.created_at,
        )
        for row in db.execute(query.where(condition))
    ]  # fmt: skip


def _role_id(db: Connection, name: str) -> int | None:
    return db.scalar(select(roles.c.id).where(roles.c.name == name))


def _role(name: str) -> Principal:
    return Principal(name, "ROLE")


def _check_role(db: Connection, principal: Principal) -> None:
    if principal.type == "ROLE" and _role_id(db, principal.name) is None:
        raise AuthorizationError(f"Role {principal.name} does not exist")


# -- privileges
def grants(
    db: Connection, about: PrivilegeObject | None = None, principal: Principal | None = None
) -> tuple[Grant, ...]:
    """Return the privileges on something, and of somebody; None is anything, or anybody."""
    every = [
        *_grants_on_databases(db, about, principal),
        *_grants_on_tables(db, about, principal),
    ]
    return tuple(sorted(every, key=lambda grant: grant.sort_key))


def _grants_on_databases(
    db: Connection, about: PrivilegeObject | None, principal: Principal | None
) -> list[Grant]:
    if about is not None and about.table is not None:
        return []
    rows = database_privileges
    query = select(rows, dbs.c.name.label("database")).join(dbs, dbs.c.id == rows.c.owner_id)
    if about is not None:
        query = query.where(dbs.c.name == about.database)
    if principal is not None:
        query = query.where(_to(rows, principal))
    return [_grant(row, PrivilegeObject(row.database)) for row in db.execute(query)]


def _grants_on_tables(
    db: Connection, about: PrivilegeObject | None, principal: Principal | None
) -> list[Grant]:
    if about is not None and about.table is None:
        return []
    rows = table_privileges
    query = (
        select(rows, tbls.c.name.label("table"), dbs.c.name.label("database"))
        .join(tbls, tbls.c.id == rows.c.owner_id)
        .join(dbs, dbs.c.id == tbls.c.database_id)
    )
    if about is not None:
        query = query.where(dbs.c.name == about.database, tbls.c.name == about.table)
    if principal is not None:
        query = query.where(_to(rows, principal))
    return [_grant(row, PrivilegeObject(row.database, row.table)) for row in db.execute(query)]


def _grant(row: Any, about: PrivilegeObject) -> Grant:
    grantor = Principal(row.grantor, row.grantor_type)
    return Grant(
        principal=Principal(row.principal, row.principal_type), privilege=row.privilege,
        about=about, grantor=grantor, grant_option=bool(row.option), created_at=row.created_at,
    )  # fmt: skip


def grant_privileges(db: Connection, new: Collection[Grant]) -> None:
    """Add privileges; AuthorizationError where the grantor has given one of them before."""
    for grant in new:
        _check_role(db, grant.principal)
        rows, owner = _place(db, grant.about)
        if db.scalar(select(rows.c.id).where(_same(rows, owner, grant))) is not None:
            kind = "database" if grant.about.table is None else "table"
            name = grant.about.database
            if grant.about.table is not None:
                name = f"[{name},{grant.about.table}]"
            raise AuthorizationError(
                f"{grant.privilege} is already granted on {kind} {name} by {grant.grantor.name}"
            )
        values = _values(grant.principal, grant.grantor, option=grant.grant_option)
        values |= {"privilege": grant.privilege, "authorizer": _AUTHORIZER}
        db.execute(insert(rows).values(**values, owner_id=owner, created_at=now(db) // 1000))


def revoke_privileges(db: Connection, old: Collection[Grant], *, option_only: bool) -> None:
    """Take privileges, or with ``option_only`` the right to hand them on, whoever gave them."""
    for grant in old:
        rows, owner = _place(db, grant.about)
        mine = and_(
            rows.c.owner_id == owner, rows.c.privilege == grant.privilege,
            _to(rows, grant.principal),
        )  # fmt: skip
        if not option_only:
            db.execute(delete(rows).where(mine))
            continue
        if not db.scalar(select(rows.c.id).where(mine, rows.c.option == 1)):
            name = f"{grant.about.database}.{grant.about.table}"
            raise AuthorizationError(
                f"Grant option with privilege {grant.privilege} on table "
                f"{name if grant.about.table else grant.about.database} does not exist "
                f"for {grant.principal.name}"
            )
        db.execute(update(rows).where(mine).values(option=0))


def grant_to_owner(db: Connection, table_id: int, owner: str | None) -> None:
    """Give the user who makes a table all privileges on it, as Hive does."""
    if not owner:
        return
    mine = Principal(owner)
    values = _values(mine, mine, option=True) | {"authorizer": _AUTHORIZER, "owner_id": table_id}
    values |= {"created_at": now(db) // 1000}
    rows = [values | {"privilege": name} for name in PRIVILEGES]
    db.execute(insert(table_privileges), rows)


def forget_table(db: Connection, table_id: int) -> None:
    """Forget all privileges on a table that is dropped."""
    db.execute(delete(table_privileges).where(table_privileges.c.owner_id == table_id))


def forget_database(db: Connection, database_id: int) -> None:
    """Forget all privileges on a database that is dropped."""
    db.execute(delete(database_privileges).where(database_privileges.c.owner_id == database_id))


def seed_roles(db: Connection) -> None:
    """Make the roles that are always there."""
    for name in (ADMIN, PUBLIC):
        create_role(db, name, name)


def _place(db: Connection, about: PrivilegeObject) -> tuple[SqlTable, int]:
    """Return where privileges on something are kept, and its id."""
    home = db.scalar(select(dbs.c.id).where(dbs.c.name == about.database))
    if home is None:
        raise NoSuchObject(f"Database does not exist: {about.database}", code=10072)
    if about.table is None:
        return database_privileges, int(home)
    named = and_(tbls.c.database_id == home, tbls.c.name == about.table)
    table_id = db.scalar(select(tbls.c.id).where(named))
    if table_id is None:
        raise NoSuchObject(f"Table not found: {about.database}.{about.table}", code=10001)
    return table_privileges, int(table_id)


def _same(rows: SqlTable, owner: int, grant: Grant) -> ColumnElement[bool]:
    return and_(
        rows.c.owner_id == owner, rows.c.privilege == grant.privilege, _to(rows, grant.principal),
        rows.c.grantor == grant.grantor.name, rows.c.grantor_type == grant.grantor.type,
    )  # fmt: skip


def _to(rows: SqlTable, principal: Principal) -> ColumnElement[bool]:
    return and_(rows.c.principal == principal.name, rows.c.principal_type == principal.type)


def _values(to: Principal, grantor: Principal | None, *, option: bool) -> dict[str, Any]:
    kind: OwnerType | None = grantor.type if grantor else None
    return {
        "principal": to.name, "principal_type": to.type, "option": int(option),
        "grantor": grantor.name if grantor else None, "grantor_type": kind,
    }  # fmt: skip
