"""Where statements work before they publish, and what makes the published last."""

from __future__ import annotations

import re
import uuid
from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING

from hivesql_planner.definitions.places import directories_above

if TYPE_CHECKING:
    from hivesql_executor.files.api import Files

STAGING = ".hive-staging_hivesql_"
_OWNED = re.compile(rf"{re.escape(STAGING)}(\d+)_")


def working_directory(location: str, txn_id: int) -> str:
    """Return a hidden directory of a transaction's own; its name tells whose it is."""
    return f"{location}/{STAGING}{txn_id}_{uuid.uuid4().hex}"


def abandoned(names: Iterable[str], txns: Collection[int]) -> Iterator[str]:
    """Tell which names are those of working directories of transactions."""
    for name in names:
        owner = _OWNED.match(name)
        if owner and int(owner[1]) in txns:
            yield name


def sync_published(files: Files, paths: Iterable[str], location: str) -> None:
    """Bring new files down to the disk, with their names and those of directories up to a place.

    The metastore's commit reaches its disk before anybody hears of it. A file whose name or
    content came later than the commit would be missing, or empty, after a power failure.
    """
    if not files.syncs:
        return
    lasting = dict.fromkeys(paths)
    for path in [*lasting]:
        lasting |= dict.fromkeys(_up_to(location.rstrip("/"), path))
    files.sync([*lasting])


def _up_to(home: str, path: str) -> Iterator[str]:
    """Yield the directories up to that of ``home``; outside of it those of two levels."""
    for number, directory in enumerate(directories_above(path)):
        yield directory
        if number and not directory.startswith(home):
            return
