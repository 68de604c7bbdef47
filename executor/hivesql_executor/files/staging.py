"""Where statements work before they publish."""

from __future__ import annotations

import re
import uuid
from collections.abc import Collection, Iterable, Iterator

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
