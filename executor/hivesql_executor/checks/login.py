"""Whether a session can log in at a Hive Metastore, one step after the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hivesql_executor.checks.finding import Observation
from hivesql_planner.errors import HiveSqlError

if TYPE_CHECKING:
    from hivesql_planner.settings.settings import Settings


def observe_login(uris: str, settings: Settings) -> Iterator[Observation]:
    """Look at the token, or the ticket, and ask the KDC for each address; else nothing."""
    from hivesql_executor.metastore.hms.access.digest import TokenLogin
    from hivesql_executor.metastore.hms.access.settings import access
    from hivesql_executor.metastore.hms.client import addresses

    try:
        login = access(settings).login
        places = addresses(uris)
    except HiveSqlError as error:
        yield Observation("failed", "login", error.message, "correct the settings")
        return
    if isinstance(login, TokenLogin):
        yield Observation("ok", "delegation token", login.describe())
        return
    if login is None or login.mechanism != "GSSAPI":
        return
    from hivesql_executor.metastore.hms.access.kerberos import KerberosLogin

    assert isinstance(login, KerberosLogin)
    if clocks := login.clocks():
        yield Observation("failed", "clock", clocks, "set the clocks right (chronyc makestep)")
    try:
        yield Observation("ok", "Kerberos", login.describe())
        for host, _ in places:
            yield Observation("ok", "KDC", f"gives tickets for {login.check(host)}")
    except HiveSqlError as error:
        yield Observation("failed", "Kerberos", error.message, "see docs/guides/kerberos.md")
