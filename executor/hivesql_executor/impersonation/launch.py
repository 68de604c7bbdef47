"""A JVM of Spark that works in another user's name, as `spark-submit --proxy-user` has it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JError
from pyspark import SparkContext

from hivesql_executor.impersonation.tickets import tickets_of
from hivesql_planner.errors import SemanticError
from hivesql_planner.settings.connection_keys import PROXY_USER

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ARGUMENTS = "PYSPARK_SUBMIT_ARGS"
_PRINCIPAL, _KEYTAB = "spark.kerberos.principal", "spark.kerberos.keytab"


def without_login(settings: Mapping[str, str]) -> dict[str, str]:
    """Leave out who logs in: Spark's launcher takes no keytab beside a user to work for."""
    return {key: text for key, text in settings.items() if key not in (_PRINCIPAL, _KEYTAB)}


@contextmanager
def launched_for(user: str | None, settings: Mapping[str, str]) -> Iterator[None]:
    """Let a JVM that starts in the block work in that user's name, None: in that of who logs in.

    Whoever logs in is in the ticket cache, or has the keytab of Spark's ``settings``.
    """
    if user is None:
        yield
        return
    arguments = f"--proxy-user {shlex.quote(user)} {os.environ.get(_ARGUMENTS, 'pyspark-shell')}"
    wanted = {_ARGUMENTS: arguments}
    if keytab := settings.get(_KEYTAB):
        wanted["KRB5CCNAME"] = tickets_of(keytab, settings.get(_PRINCIPAL))
    with _environment(wanted):
        yield


@contextmanager
def _environment(wanted: Mapping[str, str]) -> Iterator[None]:
    before = {key: os.environ.get(key) for key in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for key, text in before.items():
            if text is None:
                os.environ.pop(key, None)
            else:
                os.environ[key] = text


def is_of_another(user: str | None) -> bool:
    """Tell whether a JVM is left in this process that works in another name than is wanted."""
    gateway: Any = SparkContext._gateway
    if gateway is None or SparkContext._active_spark_context is not None:
        return False
    try:
        return _proxy_user(gateway.jvm) != user
    except (Py4JError, OSError):
        return False  # It has died, which a start finds out and mends.


def require_user(session: SparkSession, user: str | None) -> None:
    """SemanticError where Spark works in another name than ``user``; None: in that of its login."""
    context: Any = session.sparkContext
    actual = _proxy_user(context._jvm)
    if actual == user:
        return
    raise SemanticError(
        f"{PROXY_USER}={user or ''}: this process has a Spark already that works "
        f"{f'as {actual}' if actual else 'in the name of who logs in'}, and one process has one. "
        "Use another process, or close the sessions that use it first"
    )


def _proxy_user(jvm: Any) -> str | None:
    """Tell in whose name a JVM works; None: in that of who logs in."""
    users = getattr(jvm, "org.apache.hadoop.security.UserGroupInformation")
    user = users.getCurrentUser()
    return None if user.getRealUser() is None else str(user.getShortUserName())
