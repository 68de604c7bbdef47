"""How many rows a file holds, whatever its format."""

from __future__ import annotations

import io

import pyarrow.parquet as pq

from hivesql_executor.storage.files import Files, RangeFile
from hivesql_executor.storage.orc import read_tail
from hivesql_planner.table import FileFormat

_CHUNK = 8 * 1024 * 1024


def row_count(files: Files, path: str, length: int, file_format: FileFormat) -> int:
    """Rows of one file: from its footer, or by counting the lines of a text file.

    DataError for a file that is not of its format.
    """
    if file_format == "orc":
        return read_tail(files, path, length).rows
    if file_format == "parquet":
        metadata = pq.read_metadata(io.BufferedReader(RangeFile(files, path, length)))
        return int(metadata.num_rows)
    return sum(
        files.read(path, start, min(_CHUNK, length - start)).count(b"\n")
        for start in range(0, length, _CHUNK)
    )
