"""What the parser understood of GRANT, REVOKE and SHOW GRANT."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hivesql.dialect.slices import PartitionItems
    from hivesql.dialect.tokens import Name, TableRef
    from hivesql_planner.model.privileges import Principal


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectOfPrivilege:
    """A table, a view, or a database; a partition or columns of it have no privileges of theirs."""

    table: TableRef | None = None
    database: Name | None = None
    partition: PartitionItems | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantPrivilegesBody:
    """GRANT of privileges, or REVOKE."""

    privileges: tuple[str, ...]
    about: ObjectOfPrivilege
    principals: tuple[Principal, ...]
    option: bool
    revokes: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowGrantBody:
    """SHOW GRANT; None is anybody, or anything."""

    principal: Principal | None
    about: ObjectOfPrivilege | None


AuthorizationBodies = GrantPrivilegesBody | ShowGrantBody
