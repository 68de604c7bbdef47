"""How files of containers are compressed: what Hive's and Hadoop's settings of output say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, cast, get_args

from hivesql_planner.errors import NotSupported, SemanticError
from hivesql_planner.settings.settings import Settings

COMPRESS = "hive.exec.compress.output"
CODEC = "mapreduce.output.fileoutputformat.compress.codec"
UNIT = "mapreduce.output.fileoutputformat.compress.type"
_PACKAGE = "org.apache.hadoop.io.compress"
_OF_COLUMNS = ("DefaultCodec", "DeflateCodec", "GzipCodec")
_OF_RECORDS = (*_OF_COLUMNS, "BZip2Codec", "SnappyCodec", "Lz4Codec", "ZStandardCodec")
_COLUMNAR = ("rcfile", "rctext")
_IN_RECORDS = ("sequencefile", "sequencebinary")

Unit = Literal["NONE", "RECORD", "BLOCK"]


@dataclass(frozen=True, slots=True)
class Compression:
    """A codec of Hadoop's, and what of a SequenceFile it is given at a time."""

    codec: str
    unit: Unit


def read_compression(settings: Settings, file_format: str) -> Compression | None:
    """Read how new files of a format are compressed; None for not at all.

    SemanticError for a codec or a unit that there is not, NotSupported for one that RCFile has not.
    """
    if file_format not in (*_COLUMNAR, *_IN_RECORDS) or not settings.flag(COMPRESS):
        return None
    name = settings.text(CODEC).strip()
    package, _, short = name.rpartition(".")
    if package != _PACKAGE or short not in _OF_RECORDS:
        raise SemanticError(
            f"Compression codec {name} was not found. {CODEC} is one of "
            f"{_PACKAGE}.{{{', '.join(_OF_RECORDS)}}}"
        )
    unit = settings.text(UNIT).strip()
    if unit not in get_args(Unit):
        raise SemanticError(f"{UNIT} must be one of {', '.join(get_args(Unit))}, not {unit!r}")
    if file_format in _COLUMNAR:
        if short not in _OF_COLUMNS:
            raise NotSupported(f"{name} in RCFile: use one of {', '.join(_OF_COLUMNS)}")
        return Compression(codec=name, unit="BLOCK")
    return None if unit == "NONE" else Compression(codec=name, unit=cast(Unit, unit))
