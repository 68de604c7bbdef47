"""What a Hive Metastore is not asked for."""

from __future__ import annotations

import pytest

from hivesql_executor.metastore.hms.authorization import AuthorizationCalls
from hivesql_planner.errors import NotSupported


def test_roles_and_privileges_are_refused_by_name() -> None:
    store = AuthorizationCalls()
    for call in (store.role_names, store.grants, store.create_role, store.grant_privileges):
        with pytest.raises(NotSupported, match="roles and privileges with a Hive"):
            call()
