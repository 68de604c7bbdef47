"""What somebody said of places, and has no effect: he would look for his tables elsewhere."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hivesql_executor.metastore.api import Metastore

_ADDRESSES = "hive.metastore.uris"
_noticed: set[str] = set()
"""Directories of the environment that somebody was told of: once is enough in a process."""
_LOCAL = re.compile(r"file:/*(?=/)")


def unheeded_places(
    store: Metastore, *, metastore: str | None, addresses: str | None, warehouse: str | None
) -> Iterator[str]:
    """Yield a notice for each place that was named, and does not count.

    ``addresses`` are those of a Hive Metastore among the settings; None: nobody has said.
    """
    if metastore and addresses and addresses != metastore:
        yield (
            f"{_ADDRESSES}={addresses} has no effect: the metastore was named beside it. "
            "Leave one of the two out"
        )
    if warehouse is not None:
        default = store.database("default")
        there = [place for place in (default.location, default.managed_location) if place]
        if not any(_is_same(warehouse, place) for place in there):
            yield (
                f"the warehouse {warehouse} has no effect: tables of this metastore lie in "
                f"{there[0]}, as was said when it was made. Leave it out, name another metastore, "
                f"or make a database there: CREATE DATABASE … LOCATION '{warehouse}'"
            )
    yield from _site_without_a_file(os.environ)


def _is_same(named: str, there: str) -> bool:
    """Compare places; one without a host is that of whatever host the other names."""
    if ":/" not in _LOCAL.sub("", named) and ":/" not in _LOCAL.sub("", there):
        return _real(named) == _real(there)
    scheme, host, path = _parts(named)
    other_scheme, other_host, other_path = _parts(there)
    same_host = not host or not other_host or host == other_host
    return (scheme, path) == (other_scheme, other_path) and same_host


def _real(place: str) -> str:
    return os.path.realpath(_LOCAL.sub("", place))


def _parts(place: str) -> tuple[str, str, str]:
    scheme, _, rest = place.partition(":")
    host, slash, path = rest.removeprefix("//").partition("/")
    # A port may be the one that everybody means.
    return scheme.lower(), host.partition(":")[0], f"{slash}{path}".rstrip("/")


def _site_without_a_file(environment: Mapping[str, str]) -> Iterator[str]:
    place = environment.get("HIVE_CONF_DIR")
    if place and place not in _noticed and not Path(place, "hive-site.xml").is_file():
        _noticed.add(place)
        yield (
            f"HIVE_CONF_DIR={place} has no effect: there is no hive-site.xml. Correct it, or unset "
            "it"
        )
