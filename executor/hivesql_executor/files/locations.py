"""What a statement says of a place, as a location that means the same to everybody."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

from hivesql_planner.errors import SemanticError

# As Hadoop's Path reads it: what stands before the first colon, unless a slash comes earlier.
_SCHEME = re.compile(r"([^/:]+):(.*)", re.DOTALL)
_AUTHORITY = re.compile(r"//([^/]*)(.*)", re.DOTALL)
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*")


def server_of(location: str) -> str:
    """Return the scheme and the host, or bucket, of a location that has them."""
    return "/".join(location.split("/", 3)[:3])


def complete_location(text: str, base: str | None = None) -> str:
    """Make a location absolute, without ``..`` and slashes that say nothing.

    A relative one is below ``base``; None is this process's working directory. Percent signs are
    taken as they are. Local places keep ``file:``, with one slash, if they have it.
    """
    if not text.strip():
        raise SemanticError("a location must not be empty. Name a directory")
    if "\0" in text:
        raise SemanticError(
            f"{text!a}: no file system has the character of code 0 in names. Leave it out"
        )
    match = _SCHEME.fullmatch(text)
    if match is None:
        return _complete_path(text, base)
    scheme, rest = match[1], match[2]
    if not _NAME.fullmatch(scheme):
        raise SemanticError(f"{text}: {scheme!r} is no scheme. Write file:{text} for a local path")
    if not rest.startswith("/"):
        raise SemanticError(
            f"Relative path in absolute URI: {text}. Write an absolute path behind {scheme}:"
        )
    place = _AUTHORITY.fullmatch(rest)
    host, path = (place[1], place[2]) if place else ("", rest)
    if scheme.lower() == "file":
        if host:
            raise SemanticError(f"Wrong FS: {text}, expected: file:///. Leave out the host {host}")
        return f"file:{_normal(path)}"
    authority = f"//{host}" if place else ""
    normal = _normal(path) if path else ""
    return f"{scheme}:{authority}{normal}"


def is_absolute(text: str) -> bool:
    """Tell whether a location needs no other one to be complete."""
    return text.startswith("/") or _SCHEME.fullmatch(text) is not None


def require_below_root(location: str) -> str:
    """Give the location back; refuse the root of a file system: all would be the table's files."""
    match = _SCHEME.fullmatch(location)
    place = _AUTHORITY.fullmatch(match[2]) if match else None
    is_bucket = match is not None and match[1] != "file" and place is not None and place[1]
    if (match[2] if match else location).strip("/") == "" and not is_bucket:
        raise SemanticError(f"{location}: a location must not be the root path. Name a directory")
    return location


def _complete_path(text: str, base: str | None) -> str:
    if text.startswith("/"):
        return _normal(text)
    if base is None:
        return _normal(f"{Path.cwd()}/{text}")
    return complete_location(f"{base}/{text}")


def _normal(path: str) -> str:
    """Without empty parts, ``.`` and ``..``, which never lead above the root."""
    return posixpath.normpath(f"/{path.lstrip('/')}")
