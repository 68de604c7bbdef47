"""Events as Arrow tables and as ORC files in a staging directory."""

from __future__ import annotations

import ctypes
import io
import os
import uuid
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import orc

from hivesql_executor.files.api import Files
from hivesql_executor.local.types import row_type
from hivesql_executor.orc.bucket_hash import hash_array
from hivesql_executor.orc.publish import row_types
from hivesql_executor.orc.tail import amended, stripe_rows
from hivesql_executor.snapshot.partition_files import EventFile
from hivesql_planner.acid.layout import (
    ACID_FIELDS,
    DELETE_EVENT,
    INSERT_EVENT,
    KEY_INDEX,
    NANOSECONDS,
    STATS,
    VERSION,
)
from hivesql_planner.acid.row_id import encode_bucket
from hivesql_planner.model.hive_type import Kind
from hivesql_planner.model.table import Table
from hivesql_planner.plan import Write, WriteKind
from hivesql_planner.rewrite.orc_files import BATCH, COMPRESS, codec_of, uncompressed_bytes

_WIDE = 50
"""Columns from which on the writer's memory is worth giving back: some 50 MiB."""
_CODECS = {"none": "uncompressed"}
_COUNTED = (Kind.STRING, Kind.VARCHAR, Kind.BINARY)
_FIXED = 8
"""Bytes that each value of another kind counts as, but for CHAR."""
_MANY_FILES = 8
"""Files of a statement from which on the memory that they took is given back."""
_MALLOC = {-3: 31 << 20, -1: 256 << 20, -2: 64 << 20}
"""M_MMAP_THRESHOLD, M_TRIM_THRESHOLD and M_TOP_PAD of glibc's mallopt(), in bytes.

Blocks up to the first come from the heap; it shrinks when the second is free at its end. The last
is a whole part of a thread's heap: threads give parts back only where less than it would be left.
"""
_MALLOC_NAMES = ("GLIBC_TUNABLES", "MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_",
                 "MALLOC_TOP_PAD_")  # fmt: skip
# Footers that cannot be changed here: texts stay STRING, which Hive takes as well.
_SEALED = ("LZ4", "LZO", "BROTLI")
_SIZES = {
    "orc.stripe.size": "stripe_size",
    "orc.row.index.stride": "row_index_stride",
    "orc.compress.size": "compression_block_size",
}
_BLOCK = 64 * 1024
_MOST_IN_BLOCK = 256 * 1024
# Spark's defaults; Arrow's blocks are smaller.
_DEFAULTS = {"compression_block_size": _MOST_IN_BLOCK, "row_index_stride": 10_000}
_STRIPE = 64 << 20
_EVENT_COLUMNS = 7
"""Types of a file of events beside those of the table's columns."""
_WITHOUT_INDEX = 10**9
"""Rows of a stride that no file has."""


def insert_events(
    row: pa.StructArray, *, write_id: int, writer: int, statement_id: int, first: int = 0
) -> pa.Table:
    """Insert events of some rows, numbered from ``first``."""
    count = len(row)
    write_ids = pa.array(np.full(count, write_id, np.int64))
    bucket = encode_bucket(writer, statement_id)
    numbers = pa.array(np.arange(first, first + count, dtype=np.int64))
    return _events(INSERT_EVENT, write_ids, _same(bucket, count), numbers, write_ids, row)


def delete_events(ids: Mapping[str, pa.Array], table: Table, *, write_id: int) -> pa.Table:
    """Delete events of the rows with these ids, by originalTransaction, bucket and rowId."""
    count = len(ids["rowId"])
    row = pa.nulls(count, row_type(table))
    writers = pa.array(np.full(count, write_id, np.int64))
    keys = (ids["originalTransaction"], ids["bucket"], ids["rowId"])
    return _events(DELETE_EVENT, *keys, writers, row)


def _same(number: int, count: int) -> pa.Array:
    return pa.array(np.full(count, number, np.int32))


def _events(
    operation: int,
    original: pa.Array,
    bucket: pa.Array,
    number: pa.Array,
    current: pa.Array,
    row: pa.StructArray,
) -> pa.Table:
    columns = {
        "operation": _same(operation, len(row)),
        "originalTransaction": original,
        "bucket": bucket,
        "rowId": number,
        "currentTransaction": current,
        "row": row,
    }
    return pa.table(columns)


def stage(
    events: pa.Table,
    write: Write,
    files: Files,
    staging: str,
    *,
    number: int,
    writer: int,
    keys: tuple[str, ...],
) -> EventFile:
    """Write one file of events, footer and all, for ``publish_events``; ``end_staging`` ends it.

    Where a move would copy it, it waits in memory for its place.

    ``number`` says which of the publication's writes this is, ``keys`` are texts of the values of
    its dynamic partitions.
    """
    name = f"part-{uuid.uuid4().hex}"
    table, rows = _with_codec(write.table, events, write.kind), len(events)
    data = orc_bytes(events, orc_options(table))
    stats = f"0,0,{rows}" if write.kind is WriteKind.DELETE_DELTA else f"{rows},0,0"
    metadata = {
        STATS: stats.encode(),
        VERSION: b"2",
        # A single row lies in a single stripe.
        KEY_INDEX: _key_index(events, stripe_rows(data) if rows > 1 else (rows,)),
        NANOSECONDS: b"false",
    }
    types = row_types(table)
    if codec_of(table) in _SEALED:
        types = {column: stored for column, stored in types.items() if stored.length is None}
    data = amended(data, metadata, types)
    file = EventFile(name=name, rows=rows, bytes=len(data), write=number, writer=writer, keys=keys)
    if not files.has_directories:
        return replace(file, content=data)
    files.make_directories(staging)
    files.write(f"{staging}/{name}", data)
    return file


def _with_codec(table: Table, events: pa.Table, kind: WriteKind) -> Table:
    """Return the table as a file of these events is compressed: a tiny one is not.

    Its codec takes ten times the CPU of all else that such a file costs its writer.
    """
    limit = uncompressed_bytes(table)
    if not limit or len(events) >= BATCH:
        return table
    if kind is not WriteKind.DELETE_DELTA and _value_bytes(events, table) > limit:
        return table
    return replace(table, properties={**table.properties, COMPRESS: "NONE"})


def _value_bytes(events: pa.Table, table: Table) -> int:
    """Return how large rows are, counted as ``uncompressed_bytes`` says (see AcidWriter.java)."""
    size = 0
    for column, values in zip(table.columns, events.column("row").flatten(), strict=True):
        if column.type.kind in _COUNTED:
            size += pc.sum(pc.binary_length(values)).as_py() or 0
        else:
            size += len(values) * (column.type.length or _FIXED)
    return size


def end_staging(staged: Sequence[EventFile]) -> None:
    """Give back what many files took of memory. Published, they come down to the disk."""
    if len(staged) >= _MANY_FILES:
        give_back()


def _key_index(events: pa.Table, stripes: tuple[int, ...]) -> bytes:
    """Return the last key of each stripe."""
    keys = [events.column(name) for name in ACID_FIELDS[1:4]]
    lasts = ([key[end - 1].as_py() for key in keys] for end in accumulate(stripes))
    return "".join("{},{},{};".format(*last) for last in lasts).encode()


def has_early_fractions(timestamps: pa.Array) -> bool:
    """Tell whether there are fractions of a second before 1970.

    Arrow writes them as negative nanoseconds, which ORC's Java readers refuse.
    """
    micros = pc.fill_null(timestamps.cast(pa.int64()), 0).to_numpy(zero_copy_only=False)
    return bool(np.any((micros < 0) & (micros % 1_000_000 != 0)))


def orc_bytes(events: pa.Table, options: Mapping[str, Any]) -> bytes:
    """Return events as an ORC file.

    ORC's writer has a megabyte for each stream, of which it touches little. Freed, they are the C
    library's, which gives the same pages out elsewhere next time: a process that wrote rows of a
    thousand columns had gigabytes. Therefore what wide tables took is given back to the system.
    """
    _reuse_memory()
    buffer = io.BytesIO()
    orc.write_table(events, buffer, **options)
    if events.schema.field("row").type.num_fields >= _WIDE:
        give_back()
    return buffer.getvalue()


@cache
def _reuse_memory() -> None:
    """Let the C library (glibc) keep the writer's memory from one file to the next.

    It returns it to the system else, and thousands of page faults take ten times as long as a
    small file. Whoever sets variables of glibc has the last word.
    """
    if any(name in os.environ for name in _MALLOC_NAMES):
        return
    with suppress(OSError, AttributeError):
        library = ctypes.CDLL(None)
        for option, size in _MALLOC.items():
            library.mallopt(option, size)


def give_back() -> None:
    """Return unused memory to the system, where the C library can (glibc)."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def _size(option: str, wanted: int) -> int:
    """Return what Arrow takes for a size that ORC's writer in Java takes.

    Arrow has blocks of whole 64 KB alone, and ends the process where one has 8 MB; Java's have
    256 KB at most, whatever is wanted. A stride of 0 is no index, which Arrow cannot leave out.
    """
    if option == "compression_block_size":
        return min(max(1, -(-wanted // _BLOCK)) * _BLOCK, _MOST_IN_BLOCK)
    if option == "row_index_stride":
        return wanted or _WITHOUT_INDEX
    return max(wanted, 1)


def _fitting_block(table: Table) -> int:
    """Return the most bytes of a block with which each stream has some ten of them in a stripe.

    As ORC's writer in Java: the streams of a table of a thousand columns would take a gigabyte.
    """
    stripe = int(table.properties.get("orc.stripe.size", _STRIPE))
    share = stripe // (20 * (len(table.columns) + _EVENT_COLUMNS))
    return max(1 << (share - 1).bit_length() if share > 0 else 0, _BLOCK)


def orc_options(table: Table) -> dict[str, Any]:
    """Arrow's options for the table's ORC properties."""
    codec = codec_of(table).lower()
    sizes = {
        option: _size(option, int(table.properties[key])) for key, option in _SIZES.items()
        if key in table.properties
    }  # fmt: skip
    options: dict[str, Any] = {"compression": _CODECS.get(codec, codec), **_DEFAULTS, **sizes}
    if codec != "none":
        # Without a codec smaller blocks take Arrow more memory, not less.
        fitting = _fitting_block(table)
        options["compression_block_size"] = min(options["compression_block_size"], fitting)
    if blooms := table.bloom_filter_columns:
        options["bloom_filter_columns"] = _column_ids(table, blooms)
        options["bloom_filter_fpp"] = float(table.properties.get("orc.bloom.filter.fpp", 0.01))
    return options


def _column_ids(table: Table, names: Collection[str]) -> list[int]:
    """Return ORC's numbers of columns in a file of events: those of the row come last."""
    ids, number = [], len(ACID_FIELDS) + 1
    for column in table.columns:
        if column.name in names:
            ids.append(number)
        number += sum(1 for _ in column.type.walk())
    return ids


def bucket_numbers(
    row: pa.StructArray, table: Table, columns: tuple[str, ...]
) -> npt.NDArray[np.int64]:
    """Hive's bucket of each row, by the hash of ``columns`` in their order."""
    total = np.zeros(len(row), np.int64)
    types = {column.name: column.type for column in table.columns}
    for name in columns:
        kind = types[name].kind.value
        hashes = hash_array(row.field(name), kind, table.bucketing_version)
        total = (total * 31 + hashes) & 0xFFFFFFFF
    return (total & 0x7FFFFFFF) % table.bucket_count
