"""GRANT, REVOKE, and statements about roles, bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hivesql_planner.model.privileges import Principal, PrivilegeObject


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantPrivileges:
    """GRANT of privileges on something, or REVOKE where ``revokes``.

    ``option`` is WITH GRANT OPTION, or GRANT OPTION FOR, which takes back no more than that.
    """

    privileges: tuple[str, ...]
    about: PrivilegeObject
    principals: tuple[Principal, ...]
    option: bool = False
    revokes: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantRoles:
    """GRANT or REVOKE of roles; ``option`` is WITH ADMIN OPTION, or ADMIN OPTION FOR."""

    roles: tuple[str, ...]
    principals: tuple[Principal, ...]
    option: bool = False
    revokes: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateRole:
    """CREATE ROLE, or DROP ROLE where ``drops``."""

    name: str
    drops: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SetRole:
    """SET ROLE: a role of the user's, ALL that they have but ADMIN, or NONE."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowRoles:
    """SHOW ROLES, CURRENT ROLES, ROLE GRANT of a principal, PRINCIPALS of a role."""

    kind: Literal["roles", "current roles", "role grant", "principals"]
    principal: Principal | None = None
    role: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowGrant:
    """SHOW GRANT; None is anybody, or anything."""

    principal: Principal | None = None
    about: PrivilegeObject | None = None


AuthorizationStatement = GrantPrivileges | GrantRoles | CreateRole | SetRole | ShowRoles | ShowGrant
