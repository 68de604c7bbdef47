"""What ACID files say, read without Spark."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyorc

from hivesql_planner.acid.layout import parse_bucket_file, parse_directory
from hivesql_planner.acid.row_id import decode_bucket

Event = tuple[Any, ...]
"""operation, originalTransaction, bucket, rowId, currentTransaction, row."""
EVENT = (
    "struct<operation:int,originalTransaction:bigint,bucket:int,rowId:bigint,"
    "currentTransaction:bigint,row:struct<{}>>"
)


class ExactTimes:
    """Takes timestamps and dates as the numbers that the file has."""

    @staticmethod
    def from_orc(*numbers: Any) -> Any:
        return numbers[:2]

    @staticmethod
    def to_orc(*numbers: Any) -> Any:
        return numbers[0]


def tree(root: Path) -> list[str]:
    """Every file below a directory, hidden ones too."""
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())


def events(path: Path) -> list[Event]:
    """The events of one file in file order."""
    with path.open("rb") as file:
        return list(pyorc.Reader(file))


def bucket_files(root: Path) -> list[Path]:
    """Every ACID data file below a directory."""
    return sorted(path for path in root.rglob("bucket_*") if path.is_file())


def check_file(path: Path) -> list[Event]:
    """Assert the layout rules that one ACID data file must keep; return its events."""
    found = events(path)
    directory = parse_directory(path.parent.name)
    name = parse_bucket_file(path.name)
    assert directory is not None
    assert name is not None
    assert (path.parent / "_orc_acid_version").read_bytes() == b"2"
    assert {decode_bucket(event[2]).bucket for event in found} <= {name[0]}
    keys = [event[1:4] for event in found]
    assert keys == sorted(set(keys)), "keys ascend and never repeat"
    deletes = directory.kind.value == "delete_delta"
    assert {event[0] for event in found} <= {2 if deletes else 0}
    assert {event[4] for event in found} <= {directory.min_write_id}
    if deletes:
        assert all(event[5] is None for event in found)
    else:
        assert {event[1] for event in found} <= {directory.min_write_id}
    with path.open("rb") as file:
        reader = pyorc.Reader(file)
        metadata, stripes = dict(reader.user_metadata), [len(s) for s in reader.iter_stripes()]
    assert metadata["hive.acid.version"] == b"2"
    stats = f"0,0,{len(found)}" if deletes else f"{len(found)},0,0"
    assert metadata["hive.acid.stats"].decode() == stats
    if "hive.acid.key.index" in metadata:
        ends = [sum(stripes[: i + 1]) - 1 for i in range(len(stripes))]
        index = "".join("{},{},{};".format(*keys[end]) for end in ends)
        assert metadata["hive.acid.key.index"].decode() == index
    return found


def write_events(
    directory: Path, given: Sequence[Event], columns: str = "a:int,b:string", **options: Any
) -> Path:
    """A file of these events, and of no others, in a new directory."""
    directory.mkdir(parents=True)
    path = directory / "bucket_00000"
    with path.open("wb") as file, pyorc.Writer(file, EVENT.format(columns), **options) as writer:
        writer.writerows(given)
    return path
