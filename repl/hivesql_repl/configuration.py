"""What a user sets once: a TOML file with profiles.

    profile = "local"

    [shell]
    prompt = "{user}@{database}{star}> "
    style = "monokai"

    [profiles.local]
    metastore = "sqlite:////home/me/metastore.db"
    warehouse = "/home/me/warehouse"
    outputformat = "table"

    [profiles.local.settings]
    "hive.lock.numretries" = 10
    "spark.driver.memory" = "4g"
    "fs.s3a.endpoint" = "https://minio.example:9000"

Flags win over the profile, the profile over the defaults.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import platformdirs

_KEYS = ("profile", "profiles", "shell")
_TEXTS = ("metastore", "warehouse", "master", "database", "outputformat")


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """Defaults for the command line; None where the profile is silent."""

    metastore: str | None = None
    warehouse: str | None = None
    master: str | None = None
    database: str | None = None
    outputformat: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellLook:
    """How the shell looks, whichever profile is taken; None where the file is silent."""

    prompt: str | None = None
    """What stands before what is typed; names in braces are those of ``PROMPT_NAMES``."""
    style: str | None = None
    """The colours of what is typed, by a name that Pygments has."""


PROMPT_NAMES = ("database", "user", "host", "star", "time")
"""What a prompt may tell; a star is there while a transaction is open."""


def default_path() -> Path:
    """Return the user's configuration file, whether it exists or not."""
    return Path(platformdirs.user_config_dir("hivesql")) / "config.toml"


def read_profile(path: Path | None = None, name: str | None = None) -> Profile:
    """Read the profile that is named, here or in the file. ValueError says what is wrong there.

    Without ``path`` the user's file is read; it may be missing.
    """
    place = path or default_path()
    if path is None and not place.exists():
        if name is not None:
            raise ValueError(f"there is no profile {name!r}: {place} does not exist")
        return Profile()
    document = _document(place)
    profiles = document.get("profiles", {})
    chosen = name or document.get("profile")
    if chosen is None:
        if path is not None and profiles:
            names = ", ".join(sorted(profiles))
            raise ValueError(
                f'{place}: no profile is chosen: --profile NAME, or profile = "NAME" in the '
                f"file (known: {names})"
            )
        return Profile()
    if not isinstance(profiles, dict) or chosen not in profiles:
        names = ", ".join(sorted(profiles)) or "none"
        raise ValueError(f"{place}: there is no profile {chosen!r} (known: {names})")
    return _profile(profiles[chosen], f"{place}: profile {chosen!r}")


def read_look(path: Path | None = None) -> ShellLook:
    """Read how the shell looks, from this file or the user's. ValueError says what is wrong."""
    place = path or default_path()
    if path is None and not place.exists():
        return ShellLook()
    entries = _document(place).get("shell", {})
    known = [entry.name for entry in fields(ShellLook)]
    if not isinstance(entries, dict) or not set(entries) <= set(known):
        raise ValueError(f"{place}: [shell] has the keys {' and '.join(known)}, and no others")
    if wrong := [key for key, text in entries.items() if not isinstance(text, str)]:
        raise ValueError(f"{place}: {wrong[0]} of [shell] must be a text")
    look = ShellLook(**entries)
    try:
        (look.prompt or "").format(**dict.fromkeys(PROMPT_NAMES, ""))
    except (KeyError, IndexError, ValueError) as error:
        names = ", ".join(f"{{{name}}}" for name in PROMPT_NAMES)
        raise ValueError(f"{place}: a prompt may tell {names}") from error
    return look


def _document(place: Path) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib

    try:
        document: dict[str, Any] = tomllib.loads(place.read_text(encoding="utf-8"))
    except OSError as error:
        raise ValueError(f"cannot read {place}: {error.strerror}") from error
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{place}: {error}") from error
    if unknown := sorted(set(document) - set(_KEYS)):
        raise ValueError(f"{place}: unknown key {unknown[0]!r}; there are {', '.join(_KEYS)}")
    return document


def _profile(entries: Mapping[str, Any], where: str) -> Profile:
    if not isinstance(entries, Mapping):
        raise ValueError(f"{where} is no table: it begins with [profiles.NAME]")  # noqa: TRY004
    if unknown := sorted(set(entries) - {*_TEXTS, "settings"}):
        keys = ", ".join([*_TEXTS, "settings"])
        raise ValueError(f"{where}: unknown key {unknown[0]!r}; there are {keys}")
    for key in _TEXTS:
        if key in entries and not isinstance(entries[key], str):
            raise ValueError(f"{where}: {key} must be a text")
    table = entries.get("settings", {})
    if not isinstance(table, Mapping) or any(
        isinstance(value, (Mapping, list)) for value in table.values()
    ):
        raise ValueError(f'{where}: settings are texts and numbers by names; write "a.b" = 1')
    settings = {key: _text(value) for key, value in table.items()}
    addresses = settings.get("hive.metastore.uris")
    if addresses and entries.get("metastore", addresses) != addresses:
        raise ValueError(
            f"{where}: two metastores: {entries['metastore']}, and {addresses} of "
            "hive.metastore.uris. Leave one out"
        )
    return Profile(settings=settings, **{key: entries[key] for key in _TEXTS if key in entries})


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
