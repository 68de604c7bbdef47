"""How a table is stored: the clauses that CREATE and ALTER share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

from hivesql.dialect.statements.clauses import constant, parse_properties
from hivesql.dialect.tokens import Cursor, Kind, Name
from hivesql_executor.metastore.database.catalog.storage_formats import STORAGE
from hivesql_planner.model.delimited_text import DELIMITED_JSON, SERDE_CLASS
from hivesql_planner.model.skew import Skew
from hivesql_planner.model.table import FileFormat

_FORMATS: dict[str, FileFormat] = {
    # CSV, lines that match an expression, texts in RCFile and the like are known by their SerDes.
    **{
        name: name
        for name in get_args(FileFormat)
        if name not in ("csv", "json", "regex", "rctext", "lazybinary", "sequencebinary", "thrift")
    },
    "jsonfile": "json",
    "orcfile": "orc",
    "parquetfile": "parquet",
    "avrofile": "avro",
}
_OTHER_SERDES: dict[str, FileFormat] = {
    "org.apache.hive.hcatalog.data.JsonSerDe": "json",
    "org.apache.hadoop.hive.contrib.serde2.RegexSerDe": "regex",
}
_PLAIN_OUTPUTS = (
    "org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat",
    "org.apache.hadoop.hive.ql.io.IgnoreKeyTextOutputFormat",
)
_SEQUENCE_OUTPUTS = (
    STORAGE["sequencefile"].output_format,
    "org.apache.hadoop.mapred.SequenceFileOutputFormat",
)
_OUTPUTS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("textfile", "csv", "json", "regex", "lazybinary"), _PLAIN_OUTPUTS),
    **dict.fromkeys(("sequencefile", "sequencebinary", "thrift"), _SEQUENCE_OUTPUTS),
}
"""Formats whose output is known by an older name too."""
# ROW FORMAT DELIMITED, by the property that LazySimpleSerDe reads.
_DELIMITERS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("fields", "terminated", "by"), "field.delim"),
    (("escaped", "by"), "escape.delim"),
    (("collection", "items", "terminated", "by"), "collection.delim"),
    (("map", "keys", "terminated", "by"), "mapkey.delim"),
    (("lines", "terminated", "by"), "line.delim"),
    (("null", "defined", "as"), "serialization.null.format"),
)


@dataclass(frozen=True, slots=True)
class Buckets:
    """``(a, b) [SORTED BY (c DESC)] INTO n BUCKETS``; ``descending`` are some of the sorting."""

    columns: tuple[Name, ...]
    sorting: tuple[Name, ...]
    descending: tuple[str, ...]
    count: int


def parse_buckets(cursor: Cursor) -> Buckets:
    """Tell what follows CLUSTERED BY."""
    columns = cursor.names()
    sorting: list[Name] = []
    descending: list[str] = []
    if cursor.take("sorted", "by"):
        cursor.expect("(")
        while True:
            sorting.append(cursor.name("a column name"))
            if cursor.take("desc"):
                descending.append(sorting[-1].text)
            else:
                cursor.take("asc")
            if cursor.at("nulls"):
                cursor.refuse("SORTED BY … NULLS FIRST or LAST")
            if not cursor.take(","):
                break
        cursor.expect(")")
    return Buckets(columns, tuple(sorting), tuple(descending), parse_bucket_count(cursor))


def parse_skew(cursor: Cursor) -> Skew:
    """``SKEWED BY (a, b) ON ((1, 'x'), …) [STORED AS DIRECTORIES]``."""
    cursor.expect("skewed")
    cursor.expect("by")
    names = cursor.names()
    cursor.expect("on", "(")
    values = []
    while True:
        group = cursor.take("(")
        row = [_skewed_value(cursor)]
        while group and cursor.take(","):
            row.append(_skewed_value(cursor))
        if group:
            cursor.expect(")")
        values.append(tuple(row))
        if not cursor.take(","):
            break
    cursor.expect(")")
    return Skew(
        columns=tuple(column.text for column in names),
        values=tuple(values),
        in_directories=cursor.take("stored", "as", "directories"),
    )


def _skewed_value(cursor: Cursor) -> str:
    value = constant(cursor)
    if value is None:
        cursor.fail("expected a constant other than NULL")
    return value


def parse_bucket_count(cursor: Cursor) -> int:
    """``INTO n BUCKETS``."""
    cursor.expect("into")
    count = cursor.integer("the number of buckets")
    cursor.expect("buckets")
    return count


def parse_delimiters(cursor: Cursor) -> dict[str, str]:
    """Tell what follows ROW FORMAT DELIMITED, as serde properties."""
    properties: dict[str, str] = {}
    while True:
        for words, key in _DELIMITERS:
            if cursor.take(*words):
                start = cursor.peek()
                properties[key] = cursor.string()
                if key == "line.delim" and properties[key] not in ("\n", "10"):
                    cursor.fail("LINES TERMINATED BY only supports newline '\\n'", start)
                break
        else:
            break
    if "field.delim" in properties:
        properties["serialization.format"] = properties["field.delim"]
    return properties


def parse_row_format(cursor: Cursor) -> tuple[FileFormat | None, dict[str, str]]:
    """Tell what follows ROW FORMAT: a SerDe's format, None of delimiters, and the properties."""
    if cursor.take("serde"):
        _, format_ = parse_serde(cursor)
        properties = parse_properties(cursor) if cursor.take("with", "serdeproperties") else {}
        return format_, properties
    cursor.expect("delimited")
    return None, parse_delimiters(cursor)


def parse_written_rows(cursor: Cursor) -> tuple[FileFormat | None, dict[str, str]]:
    """Tell what follows ROW FORMAT of files that are written alone, by DelimitedJSONSerDe too."""
    if not (cursor.at("serde") and cursor.peek(1).value == DELIMITED_JSON):
        return parse_row_format(cursor)
    cursor.expect("serde")
    cursor.string()
    properties = parse_properties(cursor) if cursor.take("with", "serdeproperties") else {}
    return None, {**properties, SERDE_CLASS: DELIMITED_JSON}


def parse_file_format(cursor: Cursor) -> FileFormat:
    """Return a format's name, or INPUTFORMAT … OUTPUTFORMAT … [SERDE …] with the classes of one."""
    start = cursor.peek()
    if cursor.take("inputformat"):
        input_format = cursor.string("a class")
        cursor.expect("outputformat")
        output = cursor.peek()
        output_format = cursor.string("a class")
        serde = cursor.string("a class") if cursor.take("serde") else None
        for name, storage in STORAGE.items():
            if storage.input_format == input_format and serde in (None, storage.serde):
                if output_format not in _OUTPUTS.get(name, (storage.output_format,)):
                    cursor.refuse(f"OUTPUTFORMAT '{output_format}'", output)
                return name
        cursor.refuse(f"INPUTFORMAT '{input_format}'", start)
    if cursor.at("directories"):
        cursor.refuse("STORED AS DIRECTORIES")
    if start.kind is not Kind.WORD or start.value not in _FORMATS:
        cursor.fail(f"expected a file format ({', '.join(_FORMATS)})")
    cursor.next()
    return _FORMATS[start.value]


def parse_serde(cursor: Cursor) -> tuple[str, FileFormat]:
    """Return a serde's class and the format that it stands for; others are refused by name."""
    start = cursor.peek()
    serde = cursor.string("a class")
    format_ = format_of_serde(serde)
    if format_ is None:
        cursor.refuse(f"the SerDe '{serde}'", start)
    return serde, format_


def format_of_serde(serde: str) -> FileFormat | None:
    """Return the format that a serde's class stands for; None for one that is not known."""
    format_ = next((name for name, storage in STORAGE.items() if storage.serde == serde), None)
    return format_ or _OTHER_SERDES.get(serde)
