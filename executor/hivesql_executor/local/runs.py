"""Some rows out of the middle of a file's stripe, from a row group's begin on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyorc
from pyorc.converters import ORCConverter

from hivesql_executor.files.api import Files, readable_rows
from hivesql_executor.local.pieces import Runs
from hivesql_executor.local.types import arrow_type
from hivesql_executor.orc.row_index import check_index, read_seekable
from hivesql_planner.acid.layout import ACID_FIELDS
from hivesql_planner.errors import DataError, NotSupported
from hivesql_planner.model.table import Column

PLAIN_NAME = re.compile(r"\w+")
_IDS = {
    ACID_FIELDS[1]: pa.int64(),
    ACID_FIELDS[2]: pa.int32(),
    ACID_FIELDS[3]: pa.int64(),
    ACID_FIELDS[4]: pa.int64(),
}
_BUFFER = 1 << 16


class _Nanoseconds(ORCConverter):
    """A timestamp as nanoseconds since 1970."""

    @staticmethod
    def from_orc(seconds: int, nanoseconds: int, timezone: Any) -> int:
        return seconds * 1_000_000_000 + nanoseconds

    @staticmethod
    def to_orc(obj: Any, timezone: Any) -> tuple[int, int]:
        raise NotImplementedError


def can_seek(names: Sequence[str], columns: Sequence[Column]) -> bool:
    """Tell whether columns, called so in the file, are of a kind that is read row by row."""
    return all(map(PLAIN_NAME.fullmatch, names)) and not any(
        column.type.is_nested for column in columns
    )


def read_runs(
    files: Files,
    path: str,
    length: int,
    runs: Runs,
    stored: Sequence[tuple[str, Column]],
    *,
    modified: int = 0,
) -> tuple[dict[str, pa.Array], dict[str, pa.Array]]:
    """Return the id columns with currentTransaction, and columns by name, of some runs of rows.

    ``stored`` are the wanted columns in the file's order, each with its name in the file. Times
    come in nanoseconds, CHAR as it is padded. ValueError where the row index is damaged.
    """
    names = [*_IDS, *(f"row.{name}" for name, _ in stored)]
    _check_indexes(files, path, length, modified, tuple(names), runs)
    reader: Any = pyorc.Reader(
        readable_rows(files, path, length, _BUFFER, modified=modified),
        column_names=names,
        struct_repr=pyorc.StructRepr.TUPLE,
        converters={pyorc.TypeKind.TIMESTAMP: _Nanoseconds},
    )
    rows = [row for first, count in runs for row in _run(reader, first, count)]
    ids = {
        name: pa.array([row[i] for row in rows], kind)
        for i, (name, kind) in enumerate(_IDS.items())
    }
    columns = {
        column.name: pa.array([row[-1][i] for row in rows], _stored_type(column))
        for i, (_, column) in enumerate(stored)
    }
    return ids, columns


def _check_indexes(
    files: Files, path: str, length: int, modified: int, names: tuple[str, ...], runs: Runs
) -> None:
    try:
        seekable = read_seekable(files, path, length, modified, names)
        for number in seekable.numbers_at([first for first, _ in runs]):
            check_index(files, path, length, modified, names, number)
    except (DataError, NotSupported, LookupError) as error:
        raise ValueError(str(error)) from error


def _run(reader: Any, first: int, count: int) -> Iterator[tuple[Any, ...]]:
    reader.seek(first)
    yield from reader.read(count)


def _stored_type(column: Column) -> pa.DataType:
    kind = arrow_type(column.type)
    return pa.timestamp("ns") if pa.types.is_timestamp(kind) else kind
