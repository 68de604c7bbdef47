"""Roles and privileges of a Hive Metastore: its own services answer for them, this one does not."""

from __future__ import annotations

from typing import Any, NoReturn

from hivesql_planner.errors import NotSupported


class AuthorizationCalls:
    """Refuses by name whatever asks for roles or privileges, or changes them."""

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise NotSupported("roles and privileges with a Hive Metastore")

    role_names = role_grants = role_members = create_role = drop_role = _refuse
    grant_role = revoke_role = grants = grant_privileges = revoke_privileges = _refuse
