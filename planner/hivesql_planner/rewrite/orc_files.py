"""How ORC files are written: what settings say of tables whose properties say nothing."""

from __future__ import annotations

import re
from dataclasses import replace

from hivesql_planner.errors import SemanticError
from hivesql_planner.model.table import BLOOM_FILTER_COLUMNS, Table
from hivesql_planner.settings.settings import Settings

COMPRESS = "orc.compress"
UNCOMPRESSED = "hivesql.orc.uncompressed.max"
CODECS = ("NONE", "ZLIB", "SNAPPY", "LZO", "LZ4", "ZSTD", "BROTLI")
_SIZES = {
    "orc.stripe.size": "hive.exec.orc.default.stripe.size",
    "orc.row.index.stride": "hive.exec.orc.default.row.index.stride",
    "orc.compress.size": "hive.exec.orc.default.buffer.size",
}
_BLOOM_RATE = "orc.bloom.filter.fpp"
_SIZE = re.compile(r"0*[0-9]{1,18}")
"""What fits into the 64 bits that both writers have for it."""
_NAMES = {
    COMPRESS: "hive.exec.orc.default.compress",
    **_SIZES,
    _BLOOM_RATE: "orc.default.bloom.fpp",
    BLOOM_FILTER_COLUMNS: BLOOM_FILTER_COLUMNS,
}
"""The properties that files are written by, and Hive's own names of them as settings."""
BATCH = 1024
"""Rows from which on a file is never a tiny one: what AcidWriter.java adds at a time."""


def codec_of(table: Table) -> str:
    """Return how the table's ORC files are compressed, in capitals; ZLIB where nothing says it."""
    return table.properties.get(COMPRESS, "ZLIB").upper()


def uncompressed_bytes(table: Table) -> int:
    """Return up to how many bytes of values an ACID file is left uncompressed; 0 for none at all.

    Both writers count alike, before they begin a file of fewer rows than ``BATCH``: the bytes of
    each STRING, VARCHAR and BINARY, as many as the longest text of each CHAR has letters, eight
    for each other value and NULL, and nothing for delete events, whose rows are NULL.
    """
    return int(table.properties.get(UNCOMPRESSED, 0))


def with_orc_settings(table: Table, settings: Settings) -> Table:
    """Give an ORC table the properties that it has not and a session sets, as ORC looks them up.

    SemanticError for what ORC does not know, wherever it stands: Hive's tasks would fail.
    """
    if table.format != "orc":
        return table
    values = settings.values
    filled = {
        key: values.get(key, values.get(name, ""))
        for key, name in _NAMES.items()
        if key not in table.properties and (key in values or name in values)
    }
    _check({key: table.properties.get(key, filled.get(key)) for key in _NAMES}, table)
    # It is no property: what a table has by this name means nothing.
    may_be = _may_be_uncompressed(table, settings)
    filled[UNCOMPRESSED] = str(settings.integer(UNCOMPRESSED)) if may_be else "0"
    return replace(table, properties={**table.properties, **filled})


def _may_be_uncompressed(table: Table, settings: Settings) -> bool:
    """Tell whether nobody names a codec, and both writers count all of a row's values alike."""
    if COMPRESS in table.properties or COMPRESS in settings.values:
        return False
    flat = all(not column.type.children for column in table.columns)
    return table.is_full_acid and flat and settings.integer(UNCOMPRESSED) > 0


def _check(values: dict[str, str | None], table: Table) -> None:
    codec = values[COMPRESS]
    if codec is not None and codec.strip().upper() not in CODECS:
        raise SemanticError(
            f"ORC files of {table.name} cannot be compressed by {codec!r}: {COMPRESS}, or "
            f"{_NAMES[COMPRESS]}, is one of {', '.join(CODECS)}"
        )
    for key, name in _SIZES.items():
        text = values[key]
        if text is not None and not _SIZE.fullmatch(text.strip()):
            raise SemanticError(
                f"ORC files of {table.name} cannot be written with {text[:40]!r} as {key}: it, or "
                f"{name}, is a number of at most 18 digits"
            )
    rate = values[_BLOOM_RATE]
    if rate is not None and not _is_share(rate):
        raise SemanticError(
            f"ORC files of {table.name} cannot be written with {rate[:40]!r} as {_BLOOM_RATE}: it, "
            f"or {_NAMES[_BLOOM_RATE]}, is a number between 0 and 1"
        )


def _is_share(text: str) -> bool:
    try:
        return 0 < float(text) < 1
    except ValueError:
        return False
