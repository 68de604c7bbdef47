"""What file systems do name by name, as each is a directory's own matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hivesql_planner.acid.snapshot import FileStatus


class OneByOne:
    """What file systems do with many names, where each directory is listed and removed alone."""

    @property
    def syncs(self) -> bool:
        """Say no: when files reach a disk is the file system's affair."""
        return False

    def list_many(
        self, location: str, directories: Sequence[str]
    ) -> Mapping[str, Sequence[FileStatus]]:
        """Return nothing: all are to be listed by themselves."""
        return {}

    def contents(self, location: str, directories: Sequence[str]) -> Mapping[str, Sequence[str]]:
        """Return nothing: a move costs no more than to list them."""
        return {}

    def modified(self, path: str) -> int:
        """Tell a number that changes with the file."""
        raise NotImplementedError

    def rename(self, source: str, target: str) -> None:
        """Move a file or directory."""
        raise NotImplementedError

    def bring(self, source: str, target: str) -> int:
        """Move a file; tell what was ``modified`` before."""
        modified = self.modified(source)
        self.rename(source, target)
        return modified

    def hide(self, location: str, listed: Sequence[FileStatus], hidden: str) -> None:
        """Move files one after the other."""
        for status in listed:
            self.rename(f"{location}/{status.path}", f"{hidden}/{status.path}")

    def delete(self, path: str) -> None:
        """Remove a file or a tree."""
        raise NotImplementedError

    def delete_below(
        self, location: str, names: Sequence[str], listing: Sequence[FileStatus] | None = None
    ) -> None:
        """Remove files and whole directories of a directory, one after the other."""
        self.delete_each([f"{location}/{name}" for name in names])

    def delete_each(self, paths: Sequence[str]) -> None:
        """Remove files and trees one after the other."""
        for path in paths:
            self.delete(path)
