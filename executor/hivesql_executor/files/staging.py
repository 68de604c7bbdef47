"""Where statements work before they publish."""

from __future__ import annotations

import re
import uuid
from collections.abc import Collection, Iterator

from hivesql_executor.files.api import Files

STAGING = ".hive-staging_hivesql_"
_OWNED = re.compile(rf"{re.escape(STAGING)}(\d+)_")


def working_directory(location: str, txn_id: int) -> str:
    """Return a hidden directory of a transaction's own; its name tells whose it is."""
    return f"{location}/{STAGING}{txn_id}_{uuid.uuid4().hex}"


def abandoned(files: Files, location: str, txns: Collection[int]) -> Iterator[str]:
    """Tell the names of the working directories of transactions."""
    for name in files.all_directories(location):
        owner = _OWNED.match(name)
        if owner and int(owner[1]) in txns:
            yield name
