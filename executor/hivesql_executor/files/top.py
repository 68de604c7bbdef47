"""What is right below a directory, and what tells that it has stayed as it was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hivesql_planner.acid.snapshot import FileStatus


@dataclass(frozen=True, slots=True)
class Top:
    """Names right below a directory, hidden ones left out.

    ``home`` and the values of ``directories`` change with the directory's own entries; they are
    empty where nothing tells that. ``files`` are as in a listing.
    """

    home: tuple[int, ...]
    directories: Mapping[str, tuple[int, ...]]
    files: tuple[FileStatus, ...]
