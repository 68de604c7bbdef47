"""Files that tasks have uploaded, or told whole, where they are completed by this process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from hivesql_executor.files.at_once import each_at_once

if TYPE_CHECKING:
    from hivesql_executor.files.uploads import Upload, Uploads


class _Files(Protocol):
    """A store, as far as it counts here."""

    @property
    def most_at_once(self) -> int: ...

    def write(self, path: str, data: bytes) -> None: ...


@dataclass(frozen=True, slots=True)
class StoreUploads:
    """The Uploads protocol: Hadoop's own, and small files that tasks have told whole."""

    files: _Files
    of_hadoop: Uploads

    def complete(self, uploaded: Sequence[tuple[str, Upload]]) -> None:
        """Let files be seen."""
        whole = {path: upload for path, upload in uploaded if isinstance(upload, bytes)}
        each_at_once(self.files, lambda path: self.files.write(path, whole[path]), [*whole])
        if others := [(path, word) for path, word in uploaded if path not in whole]:
            self.of_hadoop.complete(others)

    def abort(self, uploaded: Sequence[tuple[str, Upload]]) -> None:
        """Give up what is not completed."""
        if others := [(path, word) for path, word in uploaded if isinstance(word, str)]:
            self.of_hadoop.abort(others)

    def waiting(self, location: str) -> list[tuple[str, str]]:
        """List all below a location that wait."""
        return self.of_hadoop.waiting(location)
