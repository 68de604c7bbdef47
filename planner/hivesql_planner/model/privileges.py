"""Roles and privileges as values, and how Hive names them in its messages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hivesql_planner.errors import SemanticError
from hivesql_planner.model.table import OwnerType, TableName

PRIVILEGES = ("SELECT", "INSERT", "UPDATE", "DELETE")
"""All that Hive's SQL-standard mode has, in its order."""
ADMIN, PUBLIC = "admin", "public"
"""The roles that are always there."""
RESERVED_ROLES = ("ALL", "DEFAULT", "NONE")
OWNERSHIP, ADMIN_PRIVILEGE = "OBJECT OWNERSHIP", "ADMIN PRIVILEGE"
_GRANT = " with grant"
_ORDER = (
    *(f"{name}{end}" for name in PRIVILEGES for end in ("", _GRANT)), OWNERSHIP, ADMIN_PRIVILEGE,
)  # fmt: skip
# Of an error in a task of Hive's.
_FAILED = 40000


class AuthorizationError(SemanticError):
    """What a user asked for is not theirs to ask, or makes no sense for roles and privileges."""

    code = _FAILED


@dataclass(frozen=True, slots=True)
class Principal:
    """A user or a role."""

    name: str
    type: OwnerType = "USER"

    def __str__(self) -> str:
        return f"Principal [name={self.name}, type={self.type}]"


@dataclass(frozen=True, slots=True)
class PrivilegeObject:
    """What a privilege is about: a table or view, or a whole database."""

    database: str
    table: str | None = None

    @classmethod
    def of(cls, name: TableName) -> PrivilegeObject:
        """Return that of a table or view."""
        return cls(name.database, name.name)

    def __str__(self) -> str:
        if self.table is None:
            return f"Object [type=DATABASE, name={self.database}]"
        return f"Object [type=TABLE_OR_VIEW, name={self.database}.{self.table}]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """One privilege that somebody has on something; of which kind the grantor is."""

    principal: Principal
    privilege: str
    about: PrivilegeObject
    grantor: Principal
    grant_option: bool = False
    created_at: int = 0
    """Seconds since the epoch."""

    @property
    def sort_key(self) -> tuple[object, ...]:
        """Give Hive's order of SHOW GRANT: databases first."""
        about = (self.about.table is not None, self.about.database, self.about.table or "")
        return (*about, self.principal.name, self.principal.type, self.privilege)


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleGrant:
    """A role that somebody has; nobody has granted PUBLIC."""

    role: str
    principal: Principal
    grantor: Principal | None = None
    admin_option: bool = False
    created_at: int = 0


def check_privileges(names: Iterable[str]) -> tuple[str, ...]:
    """Give the privileges that a GRANT or REVOKE names, ALL being all of them."""
    requested: set[str] = set()
    for name in names:
        if name == "ALL":
            requested.update(PRIVILEGES)
        elif name in PRIVILEGES:
            requested.add(name)
        else:
            raise AuthorizationError(f"Unsupported privilege type {name}")
    return tuple(name for name in PRIVILEGES if name in requested)


def check_principal(principal: Principal) -> Principal:
    """Give who is meant: names of roles are the same in any case, and groups have no part in it."""
    if principal.type == "GROUP":
        raise AuthorizationError(f"Invalid principal type in principal {principal}")
    if principal.type == "ROLE":
        return Principal(principal.name.lower(), "ROLE")
    return principal


def with_grant(privilege: str) -> str:
    """Name a privilege that may be handed on."""
    return privilege + _GRANT


def available(grants: Iterable[Grant]) -> set[str]:
    """Give what some grants allow; what may be handed on may be used too."""
    return {
        name
        for grant in grants
        for name in (grant.privilege, with_grant(grant.privilege))
        if name == grant.privilege or grant.grant_option
    }


def missing(required: Iterable[str], has: set[str]) -> list[str]:
    """Give what is required and not there, in Hive's order; to an admin nothing is missing."""
    if ADMIN_PRIVILEGE in has:
        return []
    lacks = {name for name in required if name not in has}
    return [name for name in _ORDER if name in lacks and with_grant(name) not in lacks]


@dataclass(frozen=True, slots=True)
class SessionUser:
    """Whose session it is; nobody's where Spark's own user is meant."""

    name: str = ""
    is_logged_in: bool = False
    """Whether a server has let the user in: nobody logs in to a process of their own."""


NOBODY = SessionUser()
