"""What a session's time zone means for expressions: instants, what now is, seconds since 1970."""

from __future__ import annotations

from collections.abc import Sequence

from hivesql.binding import Binding
from hivesql.dialect.value_types import Type, common, is_decimal
from hivesql.expressions.calls import Call
from hivesql_planner.errors import NotSupported
from hivesql_planner.model.conversions import conversion, in_zone, instant_text, moment_in
from hivesql_planner.model.hive_type import FLOAT, INSTANT, STRING, Kind
from hivesql_planner.model.table import Table
from hivesql_planner.settings.session_zone import ZONE_KEY, session_zone

OF_WALL_CLOCKS = (
    "add_months", "date", "date_add", "date_format", "date_sub", "datediff", "day", "dayofmonth",
    "dayofweek", "floor_day", "floor_hour", "floor_minute", "floor_month", "floor_quarter",
    "floor_second", "floor_week", "floor_year", "from_utc_timestamp", "hour", "last_day", "minute",
    "month", "months_between", "next_day", "quarter", "second", "timestamp", "to_date",
    "to_unix_timestamp", "to_utc_timestamp", "trunc", "unix_timestamp", "weekofyear", "year",
)  # fmt: skip
"""Functions that look at a time as the clock of the session's zone shows it."""

ZONED = "hive_zoned_"
"""What the functions of ours begin with that are told their zone."""

OF_COMMON_TYPE = {
    "array": 0, "coalesce": 0, "greatest": 0, "if": 1, "least": 0, "nvl": 0, "nvl2": 1,
}  # fmt: skip
"""Functions that bring values to one type, from which argument on."""


def templates_of_common(kinds: Sequence[Type], zone: str | None) -> tuple[str, ...]:
    """Tell how Spark must see values of one type in Hive: instants, and decimals beside FLOAT."""
    target = common(kinds) if {INSTANT, FLOAT} & set(kinds) else None
    if target == STRING:
        return tuple(instant_text(zone) if kind == INSTANT else "@0" for kind in kinds)
    if target == INSTANT:
        return tuple(conversion(kind, INSTANT, zone) or "@0" if kind else "@0" for kind in kinds)
    if target == FLOAT:
        return tuple("CAST(@0 AS FLOAT)" if is_decimal(kind) else "@0" for kind in kinds)
    return ("@0",) * len(kinds)


def check_zone_of(table: Table, start: int, binding: Binding) -> None:
    """Refuse partition columns of TIMESTAMP WITH LOCAL TIME ZONE in a zone other than UTC."""
    if session_zone(binding.settings) is None:
        return
    for column in table.partition_columns:
        if column.type.holds(Kind.INSTANT):
            what = (
                f"the partition column {column.name} of {column.type} where {ZONE_KEY} is not UTC"
            )
            binding.fail(NotSupported(what), start)


def template_in_zone(call: Call, template: str | None) -> str | None:
    """Tell what Spark must see of a call in its zone, where ``template`` is for UTC.

    None leaves the call as it stands.
    """
    zone = call.zone
    if zone is None:
        return template
    if call.name == "current_timestamp":
        return in_zone("current_timestamp()", zone)
    if call.name == "current_date":
        return f"CAST({in_zone('current_timestamp()', zone)} AS DATE)"
    if template and ZONED in template:
        return template
    if call.name == "from_unixtime":
        call_text = template or "from_unixtime(@0)"
        zoned_seconds = f"unix_timestamp({in_zone('timestamp_seconds(@0)', zone)})"
        return call_text.replace("@0", zoned_seconds)
    if call.name in ("unix_timestamp", "to_unix_timestamp") and call.types:
        seconds = template or f"{call.name}(@*)"
        return f"unix_timestamp({moment_in(f'timestamp_seconds({seconds})', zone)})"
    return template
