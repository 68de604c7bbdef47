"""Logins at a Hive Metastore in another user's name: by a token that it gives for that user."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from hivesql_executor.impersonation.token_file import read_token
from hivesql_executor.metastore.hms.access.connection import Connection
from hivesql_executor.metastore.hms.access.digest import TokenLogin
from hivesql_executor.metastore.hms.failures import UNREACHABLE
from hivesql_planner.errors import ExecutionError
from hivesql_planner.settings.connection_keys import PROXY_USER

if TYPE_CHECKING:
    from hivesql_executor.metastore.hms.access.limits import Limits


@contextmanager
def token_for(
    user: str, login: str, connection: Connection, limits: Limits
) -> Iterator[TokenLogin]:
    """Ask for a token by which ``login`` works as ``user``, and cancel it after the block.

    Connections that were made by it live on, so no token has to be renewed and none is left
    behind. ExecutionError where the metastore gives none.
    """
    try:
        text: Any = connection.ask(
            "get_delegation_token", user, login, seconds=limits.seconds_left()
        )
        token = read_token(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except Exception as error:
        reason = str(getattr(error, "message", None) or error).strip().rstrip(".")
        raise ExecutionError(
            f"it gives {login} no token to work as {user}: {reason}. Let it act for that user: "
            f"hadoop.proxyuser.{login}.hosts, and .users or .groups, in the core-site.xml of the "
            f"metastore; or correct {PROXY_USER}",
            code=UNREACHABLE,
        ) from error
    try:
        yield TokenLogin(token, f"{PROXY_USER}={user}", lambda: token)
    finally:
        with suppress(Exception):  # It ends by itself too.
            connection.ask("cancel_delegation_token", text, seconds=limits.seconds_left())
