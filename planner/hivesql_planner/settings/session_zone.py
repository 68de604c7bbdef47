"""The session's time zone (hive.local.time.zone)."""

from __future__ import annotations

import re
from datetime import datetime, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from hivesql_planner.errors import SemanticError
from hivesql_planner.settings.settings import Settings

ZONE_KEY = "hive.local.time.zone"
_UTC = ("", "local", "utc", "gmt", "etc/utc", "z", "zulu", "+00:00")
_OFFSET = re.compile(r"[+-](?:0\d|1[0-8]):[0-5]\d")


def session_zone(settings: Settings) -> str | None:
    """Return the zone's name, None for UTC; SemanticError where there is no such zone."""
    name = settings.text(ZONE_KEY).strip()
    if name.lower() in _UTC:
        return None
    if not _OFFSET.fullmatch(name):
        try:
            ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError) as error:
            raise SemanticError(f"Unknown time-zone ID: {name} ({ZONE_KEY})") from error
    return name


def fixed_zone(settings: Settings) -> tzinfo:
    """Return the session's zone as a value of Python's."""
    name = session_zone(settings)
    if name is None:
        return timezone.utc
    if _OFFSET.fullmatch(name):
        return datetime.strptime(name, "%z").tzinfo or timezone.utc
    return ZoneInfo(name)
