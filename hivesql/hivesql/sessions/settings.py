"""What SET shows, and what RESET goes back to."""

from __future__ import annotations

from collections.abc import Iterable, MutableMapping, Sequence

from hivesql.script import outside, split_key
from hivesql_planner.errors import SemanticError
from hivesql_planner.settings.file_system_keys import (
    HIDDEN_LIST,
    OF_HADOOP,
    is_secret,
    without_secrets,
)
from hivesql_planner.settings.settings import (
    KEYS,
    LOCAL_PLACES,
    RESTRICTED,
    Settings,
    present_name,
)
from hivesql_planner.statements.bound import SetSetting

Variables = MutableMapping[str, str]
_UNDEFINED = {
    "hiveconf": "{space}:{name} is undefined as a hive configuration variable",
    "hivevar": "{space}:{name} is undefined as a hive variable",
    "env": "{space}:{name} is undefined as an environmental variable",
    "system": "{name} is undefined as a system property",
}


def settings_shown(
    statement: SetSetting, settings: Settings, variables: Variables
) -> list[tuple[str]]:
    """Rows of what SET and SET -v show, and SET of a key without a value."""
    if statement.key is not None:
        return [(_setting_text(statement.key, settings, variables),)]
    return [(line,) for line in _setting_lines(settings, variables, every=statement.all)]


def _setting_lines(settings: Settings, variables: Variables, *, every: bool) -> list[str]:
    """``key=value`` of what was set; with ``every`` (SET -v) of all keys that are known."""
    own = {key: text for key, text in variables.items() if key.startswith("hivevar:")}
    own |= settings.values
    if every:
        own |= {key: settings.text(key) for key in KEYS}
    own = without_secrets(own, settings.text(HIDDEN_LIST))
    return [f"{key}={own[key]}" for key in sorted(own)]


def _setting_text(key: str, settings: Settings, variables: Variables) -> str:
    """``key=value`` of one key, or that it is undefined; as in Hive an error where it has a space.

    Without a space a setting is meant, and then a hivevar.
    """
    space, name = split_key(key)
    if is_secret(f"{space}:{name}", settings.text(HIDDEN_LIST)):
        return f"{key} is a hidden config"
    if space == "hiveconf" and (present_name(name) in KEYS or name in settings.values):
        return f"{key}={settings.text(name)}"
    variable = variables.get(f"hivevar:{key}" if name == key else f"{space}:{name}")
    value = variable if variable is not None else outside(space, name)
    if value is not None:
        return f"{key}={value}"
    if name == key:
        return f"{key} is undefined"
    raise SemanticError(_UNDEFINED[space].format(space=space, name=name))


def check_changeable(keys: Iterable[str], settings: Settings) -> None:
    """Fail at what is hidden, and where privileges count at what decides about them.

    ``settings`` are those that the session began with.
    """
    for key in keys:
        if key in (HIDDEN_LIST, LOCAL_PLACES) or (
            settings.asks_for_privileges and key in RESTRICTED
        ):
            raise SemanticError(
                f"Cannot modify {key} at runtime. It is in the list of parameters that can't be "
                "modified at runtime or is prefixed by a restricted variable"
            )


def assign(settings: Settings, variables: Variables, key: str, value: str) -> Settings:
    """Give the settings with one changed, which ``${hiveconf:…}`` gives from now on.

    Secrets are in no variable, and those of file systems are kept by Spark alone.
    """
    hidden = is_secret(key, settings.text(HIDDEN_LIST))
    if not hidden or present_name(key) in KEYS:
        settings = settings.with_value(key, value)
    if not hidden:
        variables[f"hiveconf:{key}"] = value
    return settings


def unheeded_notice(keys: Sequence[str]) -> str | None:
    """Tell of settings of file systems that the running Spark has not; None for none."""
    if not keys:
        return None
    names = ", ".join(key.removeprefix(OF_HADOOP) for key in keys)
    return (
        f"{names} changed nothing: Spark runs already, and its file systems keep the settings that "
        "it was started with. Give them before it starts: in the profile, by --hiveconf or in "
        f"connect(settings=…); to a Spark of your own as {OF_HADOOP}…"
    )


def after_reset(
    statement: SetSetting, now: Settings, first: Settings, variables: Variables
) -> Settings:
    """Give the settings after RESET: those of the session's begin, or Hive's defaults (``-d``)."""
    named = tuple(map(present_name, statement.keys))
    if statement.to_default and (unknown := [key for key in named if key not in KEYS]):
        raise SemanticError(f"{unknown[0]} not found: RESET -d takes Hive's own settings")
    initial = {} if statement.to_default else first.values
    keys = named or tuple({**now.values, **first.values})
    values = {key: text for key, text in now.values.items() if key not in keys}
    values |= {key: initial[key] for key in keys if key in initial}
    for key in {*keys, *statement.keys}:
        variables.pop(f"hiveconf:{key}", None)
    for key in keys:
        if key in initial:
            variables[f"hiveconf:{key}"] = initial[key]
    return Settings(values=values)
