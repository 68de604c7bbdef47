"""Names of ACID directories and files: parse them, write them."""

from __future__ import annotations

import functools
import re
from enum import Enum
from typing import NamedTuple

ACID_FIELDS = (
    "operation",
    "originalTransaction",
    "bucket",
    "rowId",
    "currentTransaction",
    "row",
)
INSERT_EVENT, UPDATE_EVENT, DELETE_EVENT = 0, 1, 2
VERSION_FILE = "_orc_acid_version"
VERSION_TEXT = b"2"
METADATA_FILE = "_metadata_acid"
KEY_INDEX = "hive.acid.key.index"
STATS = "hive.acid.stats"
VERSION = "hive.acid.version"
NANOSECONDS = "hivesql.nanoseconds"
"""Whether a file has timestamps that are finer than microseconds, where its writer knows."""
SIDE_FILE_SUFFIX = "_flush_length"

_BUCKET_FILE = re.compile(r"bucket_([0-9]+)(?:_([0-9]+))?")
_ORIGINAL_FILE = re.compile(r"([0-9]+)_[0-9]+(?:_copy_[0-9]+)?")
# Hive knows one negative write id: the smallest number, for the base of an empty table.
_DIRECTORY = re.compile(
    r"(base|delta|delete_delta)_(-?[0-9]+)(?:_([0-9]+)(?:_([0-9]+))?)?(?:_v([0-9]+))?"
)
HIDDEN_STARTS = ("_", ".", "-tmp.")
_HIDDEN_BELOW = ("/_", "/.", "/-tmp.")
MARKERS = frozenset({VERSION_FILE, METADATA_FILE})
_MARKER_ENDS = tuple(f"/{name}" for name in sorted(MARKERS))
_LONG, _INT = (1 << 63) - 1, (1 << 31) - 1
"""The greatest numbers that Hive, and a metastore's database, take for ids and for statements."""
_REMEMBERED = 20_000
"""So many names are parsed once: each statement lists the same ones."""


class DirectoryKind(Enum):
    """The three kinds of ACID directory."""

    BASE = "base"
    DELTA = "delta"
    DELETE_DELTA = "delete_delta"


_KINDS = {kind.value: kind for kind in DirectoryKind}
_BASE, _DELTA, _DELETE_DELTA = DirectoryKind
ACID_PREFIXES = tuple(f"{word}_" for word in _KINDS)


class AcidDirectory(NamedTuple):
    """A parsed directory name. Statement id -1 means none, visibility transaction 0 none."""

    kind: DirectoryKind
    min_write_id: int
    max_write_id: int
    statement_id: int = -1
    visibility_txn: int = 0

    @property
    def may_grow(self) -> bool:
        """Tell whether side files count here: a streaming batch's delta, not a compacted one."""
        several = self.min_write_id != self.max_write_id
        return self.kind is _DELTA and several and not self.visibility_txn

    def holds(self, write_id: int) -> bool:
        """Tell whether files here are of a write, which has not committed yet.

        A base also has all writes before its own; nobody compacts what is open.
        """
        if self.kind is _BASE and not self.visibility_txn:
            return write_id == self.max_write_id
        least = 0 if self.kind is _BASE else self.min_write_id
        return least <= write_id <= self.max_write_id

    @property
    def name(self) -> str:
        """The name with Hive's padding."""
        suffix = f"_v{self.visibility_txn:07d}" if self.visibility_txn else ""
        if self.kind is _BASE:
            return f"base_{self.max_write_id:07d}{suffix}"
        statement = f"_{self.statement_id:04d}" if self.statement_id >= 0 else ""
        return (
            f"{self.kind.value}_{self.min_write_id:07d}_{self.max_write_id:07d}{statement}{suffix}"
        )


@functools.lru_cache(maxsize=_REMEMBERED)
def parse_directory(name: str) -> AcidDirectory | None:
    """Read a directory name; None when it is not an ACID directory. Any padding is accepted."""
    match = _DIRECTORY.fullmatch(name)
    if match is None:
        return None
    word, low, high, statement, txn = match.groups()
    kind = _KINDS[word]
    if (high is None) is not (kind is _BASE):
        return None
    ids, number = (int(low), int(high or low), int(txn or 0)), int(statement or -1)
    if max(ids) > _LONG or min(ids) < -_LONG - 1 or number > _INT:
        return None
    return AcidDirectory(kind, ids[0], ids[1], number, ids[2])


def delta_name(write_id: int, statement_id: int) -> str:
    """``delta_W_W_S`` of one statement."""
    return AcidDirectory(_DELTA, write_id, write_id, statement_id).name


def delete_delta_name(write_id: int, statement_id: int) -> str:
    """``delete_delta_W_W_S`` of one statement."""
    return AcidDirectory(_DELETE_DELTA, write_id, write_id, statement_id).name


def base_name(write_id: int) -> str:
    """``base_W`` of an overwrite."""
    return AcidDirectory(_BASE, write_id, write_id).name


def bucket_file_name(bucket: int, attempt: int | None = None) -> str:
    """``bucket_NNNNN``, with Hive 4's attempt suffix when one is given."""
    return f"bucket_{bucket:05d}" + (f"_{attempt}" if attempt is not None else "")


def original_file_name(writer: int) -> str:
    """``NNNNNN_0``: a file without row ids."""
    return f"{writer:06d}_0"


@functools.lru_cache(maxsize=_REMEMBERED)
def parse_bucket_file(name: str) -> tuple[int, int | None] | None:
    """Bucket and attempt of an ACID data file's name; None for any other name."""
    match = _BUCKET_FILE.fullmatch(name)
    if match is None:
        return None
    bucket, attempt = int(match[1]), int(match[2]) if match[2] else None
    return (bucket, attempt) if max(bucket, attempt or 0) <= _INT else None


def parse_original_file(name: str) -> int | None:
    """Bucket of an original file such as ``000001_0_copy_2``; None for any other name."""
    match = _ORIGINAL_FILE.fullmatch(name)
    return int(match[1]) if match else None


def is_side_file(name: str) -> bool:
    """Tell whether the file says how much of a streaming delta is flushed."""
    return name.endswith(SIDE_FILE_SUFFIX)


@functools.lru_cache(maxsize=_REMEMBERED)
def is_hidden(path: str) -> bool:
    """Tell whether a reader must not look at this path below a partition root.

    ``-tmp.`` directories are running writes; Hive's own filter misses them (its readers then take
    manifests for data), ours must not.
    """
    above, _, name = path.rpartition("/")
    if name.startswith(HIDDEN_STARTS) and name not in MARKERS:
        return True
    if above.startswith(HIDDEN_STARTS):
        return True
    return "/" in above and any(marker in above for marker in _HIDDEN_BELOW)


def is_marker(path: str) -> bool:
    """Tell whether the file says something about its directory and holds no rows."""
    return path.endswith(_MARKER_ENDS) or path in MARKERS
