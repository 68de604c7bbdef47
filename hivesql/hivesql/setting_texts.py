"""What SET shows: settings that were made, all that there are, or one of them."""

from __future__ import annotations

from collections.abc import Mapping

from hivesql.script import outside, split_key
from hivesql_planner.settings import KEYS, Settings


def setting_lines(settings: Settings, variables: Mapping[str, str], *, every: bool) -> list[str]:
    """``key=value`` of what was set; with ``every`` (SET -v) of all keys that are known."""
    own = {key: text for key, text in variables.items() if key.startswith("hivevar:")}
    own |= settings.values
    if every:
        own |= {key: settings.text(key) for key in KEYS}
    return [f"{key}={own[key]}" for key in sorted(own)]


def setting_text(key: str, settings: Settings, variables: Mapping[str, str]) -> str:
    """``key=value`` of one key, or that it is undefined."""
    space, name = split_key(key)
    if space != "hiveconf":
        known = variables.get(f"{space}:{name}")
        value = known if known is not None else outside(space, name)
        return f"{key} is undefined" if value is None else f"{key}={value}"
    if key in KEYS or key in settings.values:
        return f"{key}={settings.text(key)}"
    return f"{key} is undefined"
