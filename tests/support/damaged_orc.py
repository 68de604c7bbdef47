"""A program: read an ORC file again and again, each time with another byte changed.

Its argument is a seed. What it prints last is what it read when it died.
"""

from __future__ import annotations

import datetime
import io
import random
import sys
import tempfile
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyorc
from pyarrow import orc

from hivesql_executor.files.local import LocalFiles
from hivesql_executor.local.read import _UNREADABLE
from hivesql_executor.local.runs import read_runs
from hivesql_executor.local.times import has_plain_times
from hivesql_executor.orc.orc_proto import StripeInformation
from hivesql_executor.orc.row_index import read_seekable
from hivesql_executor.orc.statistics import read_groups, read_statistics
from hivesql_executor.orc.tail import read_tail
from hivesql_planner.errors import DataError
from hivesql_planner.model.table import Column

FILES = LocalFiles()
TYPES = {
    "i": "int", "t": "string", "n": "decimal(8,2)", "d": "date", "ts": "timestamp", "f": "double",
    "c": "char(4)", "b": "boolean", "gap": "bigint", "y": "tinyint", "bin": "binary",
}  # fmt: skip
STORED = [(name, Column.of(name, kind)) for name, kind in TYPES.items()]
IDS = "operation:int,originalTransaction:bigint,bucket:int,rowId:bigint,currentTransaction:bigint"
FIELDS = ",".join(f"{name}:{kind}" for name, kind in TYPES.items())
START = datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc)
PATHS = ((5, 0), (5, 1), (3,))
RUNS = ((5, 3), (150, 2), (205, 9), (255, 5))


def written(codec: str) -> bytes:
    """A file of two stripes with several row groups, of texts by numbers and as they are."""
    file = io.BytesIO()
    with pyorc.Writer(
        file,
        f"struct<{IDS},row:struct<{FIELDS}>>",
        row_index_stride=100,
        compression=pyorc.CompressionKind[codec],
        batch_size=50,
        dict_key_size_threshold=0.6,
    ) as writer:
        for number in range(260):
            row = (
                number * 7919 % 1000, f"t{number % 5}", Decimal(number) / 4,
                START.date() + datetime.timedelta(number),
                START + datetime.timedelta(seconds=number * number), number * 1.5, "ab",
                number % 3 == 0, None if number % 4 == 0 else number, number % 50, b"x%d" % number,
            )  # fmt: skip
            writer.write((0, 1, 536870912, number, 1, row))
            if number == 180:
                writer.write_intermediate_footer()
    return file.getvalue()


def _tail(path: str, length: int, time: int) -> None:
    read_tail(FILES, path, length)


def _rows(path: str, length: int, time: int) -> None:
    # Its footer first, as all that reads rows does.
    read_tail(FILES, path, length)
    for run in RUNS:
        read_runs(FILES, path, length, (run,), STORED, modified=time)


def _statistics(path: str, length: int, time: int) -> None:
    read_statistics(FILES, path, length, time, PATHS)
    read_groups(FILES, path, length, time, PATHS, 0)


def _times(path: str, length: int, time: int) -> None:
    has_plain_times(FILES, path, length, time)


def _columns(path: str, length: int, time: int) -> None:
    # Its footer first, as all that reads columns does.
    read_tail(FILES, path, length)
    orc.ORCFile(path).read()


READERS: tuple[Callable[[str, int, int], None], ...] = (_tail, _rows, _statistics, _times, _columns)


def _data(path: Path, length: int) -> list[range]:
    """Where the rows lie: of them, unlike of what tells of them, Arrow believes every length."""
    ranges = []
    for stripe in read_seekable(FILES, str(path), length, 0, ()).stripes:
        begin = sum(map(stripe.number, (StripeInformation.OFFSET, StripeInformation.INDEX_LENGTH)))
        ranges.append(range(begin, begin + stripe.number(StripeInformation.DATA_LENGTH)))
    return ranges


def main(seed: int) -> None:
    """Change bytes, of the row index and of the end more often than of the rows in between."""
    chosen = random.Random(seed)
    path = Path(tempfile.mkdtemp()) / "bucket_00000"
    for codec in ("ZSTD", "ZLIB", "NONE"):
        whole = written(codec)
        path.write_bytes(whole)
        data = _data(path, len(whole))
        for number in range(250):
            place = chosen.choice([chosen.randrange(1_000), -chosen.randrange(1, 1_200)])
            if number % 5 == 0:
                place = chosen.randrange(len(whole))
            changed = bytearray(whole)
            changed[place] = chosen.choice([0, 0x7F, changed[place] ^ 1 << chosen.randrange(8)])
            path.write_bytes(changed)
            is_of_rows = any(place % len(whole) in part for part in data)
            for reader in READERS:
                if is_of_rows and reader is _columns:
                    continue
                print(codec, place, changed[place], reader.__name__, flush=True)  # noqa: T201
                try:
                    reader(str(path), len(changed), number + 1)
                except (DataError, pa.ArrowException, OSError, *_UNREADABLE):
                    pass


if __name__ == "__main__":
    main(int(sys.argv[1]))
