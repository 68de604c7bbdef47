"""Where statements and compactors work before they publish, and how they publish from there.

A writer that hung may have been taken for dead, its write cleaned up after and forgotten: what it
brings to a table then counts as committed, and a base, even an empty one, hides all rows before it.
So whatever a write brings comes out of its working directory, by a move, and its transaction was
open when all of that lay there. Whoever forgets an aborted transaction has deleted its working
directories before he looked at what it had published: after that no move succeeds any more.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from hivesql_executor.files.api import Files
from hivesql_planner.acid.layout import VERSION_FILE, VERSION_TEXT, AcidDirectory
from hivesql_planner.acid.write_ids import ValidTxnList

STAGING = ".hive-staging_hivesql_"
_OWNED = re.compile(rf"{re.escape(STAGING)}(\d+)_")


def working_directory(location: str, txn_id: int) -> str:
    """Return a hidden directory of a transaction's own; its name tells whose it is."""
    return f"{location}/{STAGING}{txn_id}_{uuid.uuid4().hex}"


def abandoned(files: Files, location: str, txns: ValidTxnList) -> Iterator[str]:
    """Tell the names of the working directories of transactions that have ended.

    Also of those that are forgotten: one that went on late leaves its directory.
    """
    for name in files.all_directories(location):
        owner = _OWNED.match(name)
        if owner and 0 < int(owner[1]) <= txns.high_watermark and int(owner[1]) not in txns.open:
            yield name


def begin_directory(files: Files, staging: str, name: str, data: bytes) -> str:
    """Make what becomes a directory of the write by a move, and its first file; its path."""
    begun = _begun(staging)
    files.make_directories(begun)
    files.write(f"{begun}/{name}", data)
    return begun


def move_into(files: Files, staging: str, pairs: Sequence[tuple[str, str]]) -> None:
    """Move staged files into a directory of the write's own, which appears with the first."""
    for source, target in pairs:
        directory, _, name = target.rpartition("/")
        if files.exists(directory):
            files.rename(source, target)
        else:
            begun = _begun(staging)
            files.rename(source, f"{begun}/{name}")
            files.rename(begun, directory)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewDirectory:
    """A directory that a compactor makes; ``require_alive`` fails once it was taken for dead."""

    location: str
    directory: AcidDirectory
    files: Files
    require_alive: Callable[[], None]

    @property
    def path(self) -> str:
        """Tell where it will be."""
        return f"{self.location}/{self.directory.name}"

    @contextmanager
    def staging(self) -> Iterator[str]:
        """Provide a working directory for its files, which is removed."""
        staging = working_directory(self.location, self.directory.visibility_txn)
        try:
            yield staging
        finally:
            self.files.delete(staging)

    def publish(self, staging: str, moves: Sequence[tuple[str, str]], *, of_events: bool) -> None:
        """Let it appear with its files, each a path and its new name.

        Those ``of_events`` have a version file, which comes first: no reader sees data without it.
        """
        begun = (
            begin_directory(self.files, staging, VERSION_FILE, VERSION_TEXT) if of_events else ""
        )
        # From here on whoever cleans up after us takes what is staged before we are forgotten.
        self.require_alive()
        if begun:
            self.files.rename(begun, self.path)
        move_into(self.files, staging, [(path, f"{self.path}/{name}") for path, name in moves])


def _begun(staging: str) -> str:
    """Return a hidden name: what is staged beside it is listed."""
    return f"{staging}/.begun-{uuid.uuid4().hex[:8]}"
