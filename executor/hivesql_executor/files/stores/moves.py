"""Files that change their names in an object store, where each is copied, and then deleted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from hivesql_executor.beats import wait_for_answers
from hivesql_executor.files.refusals import PlaceTaken

if TYPE_CHECKING:
    from hivesql_executor.files.hadoop import ObjectStoreFiles
    from hivesql_planner.acid.snapshot import FileStatus

_LARGEST = 5 * 1000**3
"""Larger files are not copied by one request."""


class _Entries(Protocol):
    """What is below a directory; see store.py."""

    @property
    def files(self) -> tuple[FileStatus, ...]: ...

    @property
    def has_markers(self) -> bool: ...

    @property
    def markers(self) -> tuple[str, ...]: ...


class _Files(Protocol):
    """A store, as far as it counts here."""

    @property
    def hadoop(self) -> ObjectStoreFiles: ...

    def exists(self, path: str) -> bool: ...

    def is_taken(self, path: str) -> bool: ...

    def status(self, path: str) -> tuple[int, int]: ...

    def entries(self, location: str) -> _Entries: ...

    def copy_each(self, pairs: Sequence[tuple[str, str]]) -> None: ...

    def delete_each(self, paths: Sequence[str]) -> None: ...


@wait_for_answers()
def move_tree(files: _Files, source: str, target: str) -> None:
    """Copy a file, or all of a directory, inside the store, then delete the first."""
    if files.exists(target):
        raise _taken(source, target)
    entries = files.entries(source)
    if entries.has_markers or any(status.length > _LARGEST for status in entries.files):
        files.hadoop.rename(source, target)
        return
    names = [f"/{status.path}" for status in entries.files] or [""]
    files.copy_each([(f"{source}{name}", f"{target}{name}") for name in names])
    left = [f"{source}{name}" for name in names]
    files.delete_each([*left, *(f"{source}/{marker}" for marker in entries.markers)])


@wait_for_answers()
def move_file(files: _Files, source: str, target: str) -> int:
    """Move a file to a free name; tell what `modified` told of it before.

    Nobody asks whether it is a directory.
    """
    length, modified = files.status(source)
    if length > _LARGEST:
        files.hadoop.rename(source, target)
        return modified
    if files.is_taken(target):
        raise _taken(source, target)
    files.copy_each([(source, target)])
    files.delete_each([source])
    return modified


@wait_for_answers()
def move_all(files: _Files, listed: Sequence[FileStatus], old: str, new: str) -> None:
    """Move files of a directory, as they were listed, into one where nothing of others can be."""
    large = [status.path for status in listed if status.length > _LARGEST]
    for path in large:
        files.hadoop.rename(f"{old}/{path}", f"{new}/{path}")
    paths = [status.path for status in listed if status.length <= _LARGEST]
    if paths:
        files.copy_each([(f"{old}/{path}", f"{new}/{path}") for path in paths])
        files.delete_each([f"{old}/{path}" for path in paths])


def _taken(source: str, target: str) -> PlaceTaken:
    return PlaceTaken(f"{target} exists already; {source} was not moved over it")
