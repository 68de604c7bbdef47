"""Files that are damaged: what reads them says so, names the file, and lives on."""

from __future__ import annotations

import io
import random
import subprocess
import sys
import zlib
from pathlib import Path

import pyarrow as pa
import pyorc
import pytest

import damaged_orc
from hivesql_executor.files.local import LocalFiles
from hivesql_executor.orc.tail import read_tail
from hivesql_executor.orc.tail_bytes import unpack
from hivesql_planner.errors import DataError

TEXT = b"of a footer " * 20


def _deflated(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


def _by_arrow(codec: str) -> bytes:
    packed: bytes = pa.compress(TEXT, codec=codec, asbytes=True)
    return packed


CODECS = {1: _deflated(TEXT), 2: _by_arrow("snappy"), 5: _by_arrow("zstd")}


@pytest.mark.parametrize("codec", CODECS)
def test_bytes_of_a_codec(codec: int) -> None:
    """Changed or cut off anywhere, they are other bytes or a ValueError."""
    whole = (len(CODECS[codec]) << 1).to_bytes(3, "little") + CODECS[codec]
    assert unpack(whole, codec) == TEXT
    refused = 0
    for place in range(3, len(whole)):
        changed = bytearray(whole)
        changed[place] ^= 0xFF
        for damaged in (bytes(changed), whole[:place]):
            try:
                unpack(damaged, codec)
            except ValueError:
                refused += 1
    assert refused


def test_names_that_are_no_text(tmp_path: Path) -> None:
    written = io.BytesIO()
    with pyorc.Writer(written, "struct<a:int>", compression=pyorc.CompressionKind.NONE) as writer:
        writer.set_user_metadata(**{"some.name": b"value"})
    path = tmp_path / "damaged"
    path.write_bytes(written.getvalue().replace(b"some.name", b"some.\xff\xfeme"))
    with pytest.raises(DataError, match=str(path)):
        read_tail(LocalFiles(), str(path))


@pytest.mark.parametrize("kind", ["decimal(7,2)", "array<decimal(7,2)>"])
@pytest.mark.parametrize("digits", [39, 72])
def test_decimals_that_no_writer_makes(tmp_path: Path, kind: str, digits: int) -> None:
    """Arrow ends the process where it reads more than 38 digits."""
    written = io.BytesIO()
    with pyorc.Writer(written, f"struct<n:{kind}>", compression=pyorc.CompressionKind.NONE):
        pass
    precision_and_scale = b"\x28%c\x30\x02"
    assert written.getvalue().count(precision_and_scale % 7) == 1
    path = tmp_path / "damaged"
    path.write_bytes(
        written.getvalue().replace(precision_and_scale % 7, precision_and_scale % digits)
    )
    with pytest.raises(DataError, match=f"{path}.*decimal.{digits},"):
        read_tail(LocalFiles(), str(path))


def test_rows_that_are_in_no_stripe(tmp_path: Path) -> None:
    """pyorc ends the process where it is asked for one of them."""
    written = io.BytesIO()
    with pyorc.Writer(written, "struct<n:int>", compression=pyorc.CompressionKind.NONE) as writer:
        writer.writerows((number,) for number in range(77))
    rows = b"\x30%c" % 77
    assert written.getvalue().count(rows) == 1
    path = tmp_path / "damaged"
    path.write_bytes(written.getvalue().replace(rows, b"\x30%c" % 78))
    with pytest.raises(DataError, match=f"{path}.*stripes have 77 rows, and it says 78"):
        read_tail(LocalFiles(), str(path))


def test_no_changed_byte_ends_the_process() -> None:
    seed = random.randrange(10**9)
    program = [sys.executable, damaged_orc.__file__, str(seed)]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (seed, done.stdout.splitlines()[-1:], done.stderr[-2000:])
