"""The session's time zone (hive.local.time.zone): what now, and seconds since 1970, are in it."""

from __future__ import annotations

import re
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from hivesql.binding import Binding
from hivesql.expressions.calls import Call
from hivesql_planner.errors import HiveSqlError, NotSupported, SemanticError
from hivesql_planner.model.hive_type import Kind
from hivesql_planner.model.table import Table
from hivesql_planner.settings.settings import Settings

_KEY = "hive.local.time.zone"
_UTC = ("", "local", "utc", "gmt", "etc/utc", "z", "zulu", "+00:00")
_OFFSET = re.compile(r"[+-](?:0\d|1[0-8]):[0-5]\d")
# Letters of a pattern that tell a zone, in which Spark has UTC.
_ZONE_LETTERS = re.compile(r"[VzOXxZ]")


def session_zone(settings: Settings) -> str | None:
    """Return the zone's name, None for UTC; SemanticError where there is no such zone."""
    name = settings.text(_KEY).strip()
    if name.lower() in _UTC:
        return None
    if not _OFFSET.fullmatch(name):
        try:
            ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError) as error:
            raise SemanticError(f"Unknown time-zone ID: {name} ({_KEY})") from error
    return name


def check_zone_of(table: Table, start: int, binding: Binding) -> None:
    """Refuse a table with TIMESTAMP WITH LOCAL TIME ZONE in a zone other than UTC."""
    if any(column.type.holds(Kind.INSTANT) for column in table.all_columns):
        try:
            check_instants(binding.settings)
        except HiveSqlError as error:
            binding.fail(error, start)


def check_instants(settings: Settings) -> None:
    """Refuse TIMESTAMP WITH LOCAL TIME ZONE in a zone other than UTC."""
    if session_zone(settings) is not None:
        raise NotSupported(f"TIMESTAMP WITH LOCAL TIME ZONE where {_KEY} is not UTC")


def template_in_zone(call: Call, template: str | None, zone: str) -> str | None:
    """Tell what Spark must see of a call in a zone, where ``template`` is what it sees in UTC."""
    if call.name == "current_timestamp":
        return in_zone("current_timestamp()", zone)
    if call.name == "current_date":
        return f"CAST({in_zone('current_timestamp()', zone)} AS DATE)"
    pattern = call.literal(1)
    if call.name in ("from_unixtime", "date_format") and len(call.types) == 2:
        bare = None if pattern is None else re.sub(r"'[^']*'", "", pattern)
        if bare is None or _ZONE_LETTERS.search(bare):
            what = "no literal" if bare is None else "one with a zone"
            raise NotSupported(f"{call.name} with a pattern that is {what}, in {zone}")
    if call.name == "from_unixtime":
        call_text = template or "from_unixtime(@0)"
        zoned_seconds = f"unix_timestamp({in_zone('timestamp_seconds(@0)', zone)})"
        return call_text.replace("@0", zoned_seconds)
    if call.name in ("unix_timestamp", "to_unix_timestamp") and call.types:
        seconds = template or f"{call.name}(@*)"
        return f"unix_timestamp(to_utc_timestamp(timestamp_seconds({seconds}), '{zone}'))"
    return template


def in_zone(moment: str, zone: str) -> str:
    """Return the wall clock of a zone at a moment."""
    return f"from_utc_timestamp({moment}, '{zone}')"
