"""Locations that name one place: connectors of one store, and ports that need not be written."""

from __future__ import annotations

import re

_CONNECTORS = (("s3a", "s3", "s3n"), ("abfss", "abfs"))
"""Schemes that differ in how a store is asked, and not in what is there; the usual one first."""
_NAME_NODE = ":8020"
"""The port of a name node that Hadoop asks where a location says none."""
_ROOT = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?://[^/]*)?")
_ABOVE_PATH = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://([^/]*)(.*)", re.DOTALL)


def same_places(location: str) -> tuple[str, ...]:
    """Return a location as it is, and as others may write it.

    Local places are left as they are: what they are called this machine knows. What a name service
    of HDFS stands for only Hadoop's settings tell.
    """
    return tuple(dict.fromkeys([location, *_spellings(location)]))


def usual_location(location: str) -> str:
    """Return a location as all write it alike that name its place."""
    return _spellings(location)[0]


def directories_above(path: str) -> list[str]:
    """Return the directories that a place is in, from its own to the root, or bucket or host."""
    match = _ROOT.match(path)
    root = match[0] if match else ""
    first, *parts = path[len(root) :].rstrip("/").split("/")
    inner = [root + "/".join([first, *parts[:depth]]) for depth in range(len(parts) - 1, 0, -1)]
    # A host, or bucket, ends without a slash.
    uppermost = root if "://" in root and not root.endswith("/") else f"{root}/"
    return [*inner, uppermost] if parts else []


def _spellings(location: str) -> list[str]:
    parts = _ABOVE_PATH.fullmatch(location)
    if parts is None:
        return [location]
    scheme, host, path = parts[1].lower(), parts[2], parts[3]
    if scheme == "hdfs":
        host = host.lower().removesuffix(_NAME_NODE)
        hosts = [host, f"{host}{_NAME_NODE}"] if host and ":" not in host else [host]
        return [f"{scheme}://{host}{path}" for host in hosts]
    schemes = next((group for group in _CONNECTORS if scheme in group), (scheme,))
    return [f"{scheme}://{host}{path}" for scheme in schemes]
