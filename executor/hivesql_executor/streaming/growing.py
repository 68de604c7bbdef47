"""The delta file of one bucket: on a disk it grows flush by flush, elsewhere it comes whole."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import pyarrow as pa

from hivesql_executor.failpoints import FailPoint, hit_failpoint
from hivesql_executor.files.local import LocalFiles, local_path, name_path
from hivesql_executor.files.staging import sync_published
from hivesql_executor.local.events import insert_events, orc_bytes, orc_options
from hivesql_executor.orc.publish import row_types
from hivesql_executor.orc.types import instants
from hivesql_executor.streaming.orc_pieces import OrcPieces
from hivesql_planner.acid.layout import (
    KEY_INDEX,
    SIDE_FILE_SUFFIX,
    STATS,
    VERSION,
    VERSION_FILE,
    VERSION_TEXT,
    bucket_file_name,
)
from hivesql_planner.acid.row_id import encode_bucket
from hivesql_planner.model.table import Table

if TYPE_CHECKING:
    from hivesql_executor.files.api import Files


@dataclass(slots=True, kw_only=True)
class EventPieces:
    """Rows of a bucket as pieces of one ORC file."""

    table: Table
    bucket: int
    statement_id: int
    fast: bool
    """Whether dictionaries are left out: larger files, sooner."""
    pieces: OrcPieces = field(init=False)
    _index: str = ""
    _next: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.pieces = OrcPieces(row_types(self.table))

    def add(self, write_id: int, row: pa.StructArray) -> bytes:
        """Return what to append for rows; ``tail`` must follow before anybody reads it."""
        first = self._next.get(write_id, 0)
        self._next[write_id] = first + len(row)
        events = insert_events(
            row,
            write_id=write_id,
            writer=self.bucket,
            statement_id=self.statement_id,
            first=first,
        )
        added, counts = self.pieces.add(self._encoded(events))
        code = encode_bucket(self.bucket, self.statement_id)
        for count in counts:
            first += count
            self._index += f"{write_id},{code},{first - 1};"
        return added

    def tail(self) -> bytes:
        """Return what ends a file of all that was added."""
        return self.pieces.tail(
            {
                KEY_INDEX: self._index.encode(),
                STATS: f"{self.pieces.rows},0,0".encode(),
                VERSION: VERSION_TEXT,
            }
        )

    def _encoded(self, events: pa.Table) -> bytes:
        options = orc_options(self.table)
        if not self.fast:
            options["dictionary_key_size_threshold"] = 0.8
        return orc_bytes(events, options)


@dataclass(slots=True, kw_only=True)
class WholeFile:
    """A bucket's file where nothing can be appended: it waits in memory for its one write."""

    rows: EventPieces
    directory: str
    files: Files
    content: bytearray = field(default_factory=bytearray)

    def append(self, write_id: int, row: pa.StructArray) -> None:
        """Take rows."""
        self.content += self.rows.add(write_id, row)

    def publish(self) -> None:
        """Write the file, which nobody sees before the commit."""
        path = f"{self.directory}/{bucket_file_name(self.rows.bucket)}"
        self.files.write(path, bytes(self.content + self.rows.tail()))
        hit_failpoint(FailPoint.STREAM_DATA_WRITTEN)


@dataclass(slots=True, kw_only=True)
class GrowingFile:
    """A bucket's file in a directory of a batch; opened by its first rows.

    With a side file, every flush tells there how much of the file readers may read.
    """

    rows: EventPieces
    directory: Path
    with_side_file: bool
    _file: BinaryIO | None = None
    _side: BinaryIO | None = None
    _flushed: int = 0

    @property
    def path(self) -> Path:
        """Tell where the file is."""
        return self.directory / bucket_file_name(self.rows.bucket)

    @property
    def exists(self) -> bool:
        """Tell whether the file that is open is still the one at its path."""
        if self._file is None:
            return True
        try:
            return os.path.samestat(os.fstat(self._file.fileno()), self.path.stat())
        except FileNotFoundError:
            return False

    def append(self, write_id: int, row: pa.StructArray) -> int:
        """Write rows as one piece, down to the disk; how many bytes it took."""
        file = self._open()
        data = self.rows.add(write_id, row) + self.rows.tail()
        _write(file, data)
        hit_failpoint(FailPoint.STREAM_DATA_WRITTEN)
        length = self.rows.pieces.length
        if self._side is not None:
            _write(self._side, length.to_bytes(8, "big"))
        self._flushed = length
        hit_failpoint(FailPoint.STREAM_FLUSHED)
        return len(data)

    def close(self) -> None:
        """Finish the file: readers need no side file any more.

        What a failed flush has left is cut off; where that fails too, the side file stays.
        """
        if self._file is None:
            return
        file, side, self._file, self._side = self._file, self._side, None, None
        for opened in (file, side):
            # Python 3.14 tries once more to write what a failed flush has left; that is cut off.
            with suppress(OSError):
                if opened is not None:
                    opened.close()
        if not self.path.exists():
            # Dropped or moved since, with its side file.
            return
        if self.path.stat().st_size != self._flushed:
            os.truncate(self.path, self._flushed)
        if not self._flushed:
            self.path.unlink()
        if side is not None:
            self._side_path.unlink(missing_ok=True)
        if not self._flushed:
            self._remove_empty_directory()

    def __del__(self) -> None:
        # A program may let go of an open stream: what it wrote stays, as a killed one's does.
        for opened in (self._file, self._side):
            with suppress(OSError):
                if opened is not None:
                    opened.close()

    def discard(self) -> None:
        """Close and remove the file."""
        self._flushed = 0
        self.close()
        self.path.unlink(missing_ok=True)
        self._remove_empty_directory()

    @property
    def _side_path(self) -> Path:
        return self.path.with_name(self.path.name + SIDE_FILE_SUFFIX)

    def _open(self) -> BinaryIO:
        if self._file is None:
            try:
                self._file = self._create()
            except BaseException:
                self._remove_begun()
                raise
        return self._file

    def _create(self) -> BinaryIO:
        self.directory.mkdir(parents=True, exist_ok=True)
        version = self.directory / VERSION_FILE
        if not version.exists():
            version.write_bytes(VERSION_TEXT)
        if self.with_side_file:
            # It comes first: without it, readers would take the whole file.
            self._side = self._side_path.open("xb")
            _write(self._side, bytes(8))
        opened = self.path.open("xb")
        home = str(local_path(self.rows.table.location))
        sync_published(LocalFiles(), [str(version), str(self.path)], home)
        return opened

    def _remove_begun(self) -> None:
        """Remove what a file that could not be created left; what cannot be stays."""
        with suppress(OSError):
            if self._side is not None:
                side, self._side = self._side, None
                side.close()
                self._side_path.unlink()
        self._remove_empty_directory()

    def _remove_empty_directory(self) -> None:
        """Remove the directory unless data are in it: `check` would take them for missing."""
        with suppress(OSError):
            version = self.directory / VERSION_FILE
            if list(self.directory.iterdir()) == [version]:
                version.unlink()
            self.directory.rmdir()


def streamable(table: Table) -> bool:
    """Tell whether all columns of a table can be written here."""
    return not instants((column.type for column in table.columns), 0)


def _write(file: BinaryIO, data: bytes) -> None:
    with name_path(file.name):
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
