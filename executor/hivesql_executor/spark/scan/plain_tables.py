"""Tables without row ids: insert-only ones, and tables that are not transactional."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f

from hivesql_executor.files.api import Files
from hivesql_executor.orc.footers import read_footers
from hivesql_executor.orc.tail import OrcTail
from hivesql_executor.snapshot.partition_files import PartitionFiles, PlainFile
from hivesql_executor.spark.file_paths import FILE_COLUMN, FILE_NAME, NAME_OF_COLUMN
from hivesql_executor.spark.formats.avro import avro_values, decode_avro
from hivesql_executor.spark.formats.containers import CONTAINERS, READER, container_options
from hivesql_executor.spark.formats.listed_files import FileGroup, FileKind, read_grouped
from hivesql_executor.spark.formats.orc_columns import by_position, position_schema
from hivesql_executor.spark.formats.parquet_columns import (
    Decimals,
    as_numbers,
    decimals_in,
    with_decimals,
)
from hivesql_executor.spark.formats.text_tables import (
    LINE,
    is_of_lines,
    read_finer_times,
    read_line,
    read_numbered,
    skipped_lines,
)
from hivesql_executor.spark.lines import empty_frame
from hivesql_executor.spark.nanoseconds.columns import as_text, nanosecond_column
from hivesql_executor.spark.scan.acid_relation import (
    AcidPath,
    AcidScan,
    OriginalRows,
    acid_frames,
)
from hivesql_executor.spark.scan.partition_columns import Place, output
from hivesql_executor.spark.shapes import Item, select
from hivesql_executor.spark.values import (
    check_instants,
    of_any_zone,
    partition_value,
    read_value,
    zone_of_files,
)
from hivesql_planner.acid.write_ids import ValidWriteIdList
from hivesql_planner.errors import DataError, NotSupported
from hivesql_planner.model.conversions import conversion, is_readable_as, nested_text
from hivesql_planner.model.hive_type import INTEGERS, STRING, HiveType, Kind, quote_name
from hivesql_planner.model.table import Partition, Table

_READ_OFFSET = "__offset"
"""The second column of READER's schema, where it is wanted."""
_WITH_UNIONS = ("orc", "textfile", "sequencefile", "thrift")
_LINE_OFFSET = "block__offset__inside__file"
Group = tuple[tuple[str, ...], Decimals, Sequence[FileGroup]]
"""Files that one read takes: the names of the columns in them, those that are decimals there alone,
and the files."""
Part = tuple[Partition | None, str, Sequence[PlainFile]]


def paths_of(parts: Sequence[PartitionFiles]) -> list[Part]:
    """Return the files of an insert-only table as ``scan_plain`` takes them."""
    return [
        (part.partition, part.location,
         [PlainFile(f"{part.location}/{file.path}", file.length, file.modified)
          for file in part.files.data])
        for part in parts
    ]  # fmt: skip


def scan_plain(
    spark: SparkSession,
    table: Table,
    parts: Sequence[Part],
    *,
    files: Files,
    nanoseconds: Collection[int] = (),
    with_file_name: bool = False,
) -> DataFrame:
    """All rows of some directories' files: data, then partition columns.

    ORC and text by position, Parquet, JSON and Avro by name. A ``nanosecond_column`` follows for
    each of the columns ``nanoseconds``, and then ``input__file__name`` where wanted. DataError for
    an ORC file with ACID columns, NotSupported for a format that cannot be read.
    """
    check_instants(table)
    extras = _Extras(files, nanoseconds, with_file_name)
    kinds: dict[Table, list[Part]] = {}
    for part in parts:
        kinds.setdefault(table.read_as(part[0]), []).append(part)
    if len(kinds) > 1 or (kinds and table not in kinds):
        frames = [
            _stored_otherwise(spark, table, stored, parts_of_kind, extras)
            for stored, parts_of_kind in kinds.items()
        ]
        return reduce(DataFrame.union, frames)
    return _scan(spark, table, parts, extras)


def scan_lines(
    spark: SparkSession,
    table: Table,
    parts: Sequence[Part],
    *,
    files: Files,
    nanoseconds: Collection[int],
    with_file_name: bool,
) -> DataFrame:
    """All rows of some directories' text files, as ``scan_plain`` gives them, and their places.

    ``block__offset__inside__file`` is the byte of the file, or of what it holds compressed, at
    which the row's line begins; ``input__file__name`` follows where wanted. NotSupported for
    partitions of other formats.
    """
    for partition, location, _ in parts:
        if table.read_as(partition) != table:
            raise NotSupported(
                f"BLOCK__OFFSET__INSIDE__FILE of {table.name}, whose partition at {location} is "
                "stored otherwise than the table"
            )
    schema = f"{LINE} string, {_READ_OFFSET} bigint"
    frames = []
    for _, _, groups in _grouped_files(table, parts, files):
        lines = _read_files(spark, table, schema, groups, READER)
        lines, items = _items_of_lines(lines, table, nanoseconds)
        frames.append(select(lines, [*items, f.col(_READ_OFFSET).alias(_LINE_OFFSET)]))
    if not frames:
        nowhere = f.lit(None).cast("bigint").alias(_LINE_OFFSET)
        frames.append(_all_of((), spark, table, nanoseconds).select("*", nowhere))
    rows = reduce(DataFrame.union, frames)
    return rows.selectExpr("*", FILE_NAME) if with_file_name else rows


@dataclass(frozen=True, slots=True)
class _Extras:
    """What a scan gives beside the table's columns; and the file system."""

    files: Files
    nanoseconds: Collection[int] = ()
    file_name: bool = False


def _stored_otherwise(
    spark: SparkSession,
    table: Table,
    stored: Table,
    parts: Sequence[Part],
    extras: _Extras,
) -> DataFrame:
    """Give rows of partitions with columns of their own in the table's: by position, as Hive."""
    nanoseconds = extras.nanoseconds
    if stored.columns == table.columns:
        return _scan(spark, stored, parts, extras)
    columns = dict(enumerate(zip(stored.columns, table.columns, strict=False)))
    as_texts = {i for i, (own, column) in columns.items()
                if own.type.kind is Kind.TIMESTAMP and column.type.is_text}  # fmt: skip
    nested = (i for i in finer_times(stored, columns) if columns[i][0].type.is_nested)
    inside = {i for i in nested if columns[i][0].type != columns[i][1].type}
    as_times = {i for i in nanoseconds if i in columns and columns[i][0].type == columns[i][1].type}
    rows = _scan(
        spark, stored, parts, replace(extras, nanoseconds=sorted(as_texts | as_times | inside))
    )
    items = []
    for i, column in enumerate(table.columns):
        value = f.lit(None).cast(column.type.spark)
        if i in columns:
            own = columns[i][0]
            text = f.col(nanosecond_column(i)) if i in as_texts else None
            if i in inside:
                converted = _conversion(
                    nanosecond_column(i), own.type, column.type, times_as_texts=True
                )
                value = read_value(f.expr(converted), column.type)
            else:
                value = _as_column(quote_name(own.name), own.type, column.type, text)
        items.append(value.alias(column.name))
    named = {i: f.col(nanosecond_column(i)) for i in as_times}
    texts = _nanosecond_columns(table, nanoseconds, named)
    names = [*table.partition_names, *(("input__file__name",) if extras.file_name else ())]
    values = [f.col(quote_name(name)) for name in names]
    count = len(table.partition_names)
    return rows.select(*items, *values[:count], *texts, *values[count:])


def _nanosecond_columns(
    table: Table, nanoseconds: Collection[int], texts: Mapping[int, Column]
) -> list[Column]:
    """Return a ``nanosecond_column`` for each of these columns; NULL where there is no text."""
    return [
        texts.get(i, f.lit(None))
        .cast(as_text(table.columns[i].type).spark)
        .alias(nanosecond_column(i))
        for i in nanoseconds
    ]


def _as_column(name: str, own: HiveType, wanted: HiveType, text: Column | None) -> Column:
    """Convert a partition's value; ``text`` has all digits of a time, or is NULL."""
    value = f.expr(_conversion(name, own, wanted))
    return read_value(value if text is None else f.coalesce(text, value), wanted)


def _conversion(
    value: str, own: HiveType, wanted: HiveType, *, times_as_texts: bool = False
) -> str:
    """Return Spark SQL that makes a value of one type one of another, field by field.

    ``times_as_texts``: the value has texts in the places of its times.
    """
    if times_as_texts and own.kind is Kind.TIMESTAMP:
        if wanted.is_text:
            return _plain_conversion(value, STRING, wanted)
        value = f"CAST({value} AS TIMESTAMP)"
    if own == wanted and not (times_as_texts and own.is_nested):
        return value
    convert = partial(_conversion, times_as_texts=times_as_texts)
    if own.holds(Kind.UNION) or wanted.holds(Kind.UNION):
        raise NotSupported(f"reading {own} as {wanted}")
    if own.kind is wanted.kind is Kind.STRUCT:
        fields = []
        for i, (name, kind) in enumerate(wanted.fields):
            field = f"CAST(NULL AS {kind.spark})"
            if i < len(own.fields):
                field = convert(f"{value}.{quote_name(own.fields[i][0])}", own.children[i], kind)
            fields.append(f"{field} AS {quote_name(name)}")
        return f"if({value} IS NULL, NULL, struct({', '.join(fields)}))"
    if own.kind is wanted.kind is Kind.ARRAY:
        return f"transform({value}, item -> {convert('item', *own.children, *wanted.children)})"
    if own.kind is wanted.kind is Kind.MAP:
        # Spark casts no map whose values it cannot cast, and no key that may become NULL.
        key, item = map(convert, ("entry.key", "entry.value"), own.children, wanted.children)
        entries = f"transform(map_entries({value}), entry -> struct({key} AS key, {item} AS value))"
        return f"map_from_entries(filter({entries}, entry -> entry.key IS NOT NULL))"
    return _plain_conversion(value, own, wanted)


def _plain_conversion(value: str, own: HiveType, wanted: HiveType) -> str:
    if own == wanted:
        return value
    if not is_readable_as(own, wanted):
        # Only where it is asked for: the other columns can be read.
        problem = (
            f"a column that is {wanted} in the table has {own} in a partition, and values of that "
            "are not converted. Give the column its type of before (ALTER TABLE … CHANGE), and "
            "the rows in a new table"
        )
        return f"CAST(raise_error('{problem}') AS {wanted.spark})"
    if own.is_nested and wanted.is_text and (text := nested_text(own, value)):
        return _plain_conversion(text, STRING, wanted)
    if own.kind is Kind.TIMESTAMP and wanted.kind in INTEGERS:
        # Where a query's CAST would be NULL, it wraps around.
        return f"CAST(CAST({value} AS BIGINT) AS {wanted.spark})"
    return (conversion(own, wanted) or f"CAST(@0 AS {wanted.spark})").replace("@0", value)


def finer_times(table: Table, columns: Collection[int]) -> tuple[int, ...]:
    """Tell of which of these columns lines give times with all of their digits, as texts."""
    if table.format != "textfile":
        return ()
    others = (Kind.INSTANT, Kind.UNION)
    kinds = ((i, table.columns[i].type) for i in sorted(columns))
    return tuple(i for i, kind in kinds if kind.holds(Kind.TIMESTAMP) and not kind.holds(*others))


def _scan(spark: SparkSession, table: Table, parts: Sequence[Part], extras: _Extras) -> DataFrame:
    files, nanoseconds = extras.files, extras.nanoseconds
    has_unions = any(column.type.holds(Kind.UNION) for column in table.columns)
    if has_unions and table.format not in _WITH_UNIONS:
        raise NotSupported(f"reading {table.name}: columns of UNIONTYPE in {table.format} files")
    if table.format == "orc" and (nanoseconds or has_unions or zone_of_files(spark, table)):
        rows = _acid_reader_rows(spark, table, parts, files=files, nanoseconds=nanoseconds)
    elif groups := _grouped_files(table, parts, files):
        return reduce(DataFrame.union, [_rows(spark, table, group, extras) for group in groups])
    else:
        rows = _all_of((), spark, table, nanoseconds)
    return rows.selectExpr("*", FILE_NAME) if extras.file_name else rows


def _grouped_files(table: Table, parts: Sequence[Part], files: Files) -> list[Group]:
    """Return the files that have rows, by the columns in them."""
    groups: dict[tuple[tuple[str, ...], Decimals], list[FileGroup]] = {}
    tails = _plain_tails(files, table, parts) if table.format == "orc" else {}
    listed = [file for _, _, chosen in parts for file in chosen if file.length]
    decimals = decimals_in(files, table, listed) if table.format == "parquet" else {}
    for partition, _, chosen in parts:
        values = table.read_values(partition) if partition and table.partition_columns else ()
        by_columns: dict[tuple[tuple[str, ...], Decimals], list[tuple[str, int]]] = {}
        for path, length, _ in chosen:
            if length > 0:
                names = tails[path].row_fields if tails else table.column_names
                by_columns.setdefault((names, decimals.get(path, ())), []).append((path, length))
        for columns, sized_files in by_columns.items():
            groups.setdefault(columns, []).append((values, sized_files))
    return [(names, others, chosen) for (names, others), chosen in groups.items()]


def _all_of(
    frames: Sequence[DataFrame], spark: SparkSession, table: Table, nanoseconds: Collection[int]
) -> DataFrame:
    if frames:
        return reduce(DataFrame.union, frames)
    fields = [f"{quote_name(c.name)} {c.type.spark}" for c in table.all_columns]
    texts = [f"{nanosecond_column(i)} {as_text(table.columns[i].type).spark}" for i in nanoseconds]
    return empty_frame(spark, ", ".join([*fields, *texts]))


def _acid_reader_rows(
    spark: SparkSession,
    table: Table,
    parts: Sequence[Part],
    *,
    files: Files,
    nanoseconds: Collection[int],
) -> DataFrame:
    """Read ORC files as originals of an ACID table: that reader can be told the time zone."""
    tails = _plain_tails(files, table, parts)
    paths = [
        AcidPath(
            Place(number, partition, location), path, length, False, tails[path],
            original=OriginalRows((0, 0), 0),
        )
        for number, (partition, location, chosen) in enumerate(parts)
        for path, length, _ in chosen
        if length > 0
    ]  # fmt: skip
    read = AcidScan(spark, table, ValidWriteIdList(0), tuple(nanoseconds))
    columns = [*output(table), *map(nanosecond_column, nanoseconds)]
    frames = acid_frames(read, paths, (), (("select", columns),))
    return _all_of(frames, spark, table, nanoseconds)


def _plain_tails(files: Files, table: Table, parts: Sequence[Part]) -> Mapping[str, OrcTail]:
    """Return the footers of ORC files by path; those without a byte have none."""
    chosen = [file for _, _, of_part in parts for file in of_part if file.length > 0]
    sized_files = [(file.path, file.length) for file in chosen]
    tails = read_footers(files, sized_files, {file.path: file.modified for file in chosen})
    for path, tail in tails.items():
        if tail.is_acid:
            raise DataError(
                f"{path} carries ACID row ids, but {table.name} is no ACID table: its deleted rows "
                "cannot be told from the others",
                code=30021,
            )
    return tails


def _rows(spark: SparkSession, table: Table, group: Group, extras: _Extras) -> DataFrame:
    names, decimals, groups = group
    values: Sequence[Item]
    if is_of_lines(table):
        reader = READER if table.format in CONTAINERS else "text"
        lines = _read_files(spark, table, f"{LINE} string", groups, reader)
        lines, values = _items_of_lines(lines, table, extras.nanoseconds)
        return select(lines, [*values, *_file_name(lines, extras)])
    if table.format == "thrift":
        schema = ", ".join(f"{quote_name(c.name)} {c.type.spark}" for c in table.columns)
        lines = _read_files(spark, table, schema, groups, READER)
        values = [f.col(quote_name(column.name)) for column in table.columns]
    elif table.format == "avro":
        lines = _read_files(spark, table, "", groups, "binaryFile")
        lines = decode_avro(lines, table, extras.files, with_file=extras.file_name)
        values = avro_values(table)
    elif table.format in ("orc", "parquet"):
        stored = with_decimals(table, decimals)
        schema = position_schema(stored, names)
        lines = _read_files(spark, table, schema, groups, table.format)
        zone = zone_of_files(spark, table)
        values = of_any_zone(by_position(stored, names), stored, zone)
        values = as_numbers(values, stored, table)
    else:
        raise NotSupported(f"reading {table.format} tables")
    others = [*_partition_values(table), *_nanosecond_columns(table, extras.nanoseconds, {})]
    return select(lines, [*values, *others, *_file_name(lines, extras)])


def _file_name(lines: DataFrame, extras: _Extras) -> list[Column]:
    """Return the name of the file that a line was read from, where that is wanted."""
    if not extras.file_name:
        return []
    return [f.expr(NAME_OF_COLUMN if FILE_COLUMN in lines.columns else FILE_NAME)]


def _items_of_lines(
    lines: DataFrame, table: Table, nanoseconds: Collection[int]
) -> tuple[DataFrame, list[Item]]:
    """Return lines with what their values are read from, and all that ``scan_plain`` gives."""
    lines, values = read_line(lines, table)
    timed = finer_times(table, nanoseconds)
    texts = dict(zip(timed, read_finer_times(table, timed), strict=True))
    others = [*_partition_values(table), *_nanosecond_columns(table, nanoseconds, texts)]
    return lines, [*values, *others]


def _partition_values(table: Table) -> list[Column]:
    return [
        partition_value(f.col(quote_name(column.name)), column.type).alias(column.name)
        for column in table.partition_columns
    ]


def _read_files(
    spark: SparkSession,
    table: Table,
    schema: str,
    groups: Sequence[FileGroup],
    file_format: str,
) -> DataFrame:
    """Return the rows of files, with the values of their partitions as text."""
    options: Mapping[str, str] = {}
    if file_format == READER:
        options = container_options(table)
        if any(skipped_lines(table)):
            raise NotSupported(f"{table.name}: header and footer lines of {table.format} files")
    kind, names = FileKind(file_format, schema, options), table.partition_names
    if file_format == "text" and any(skipped_lines(table)):
        return read_numbered(spark, kind, groups, table)
    rows = read_grouped(spark, kind, groups, names)
    if file_format == "binaryFile":
        return rows.select("*", f.col("_metadata.file_path").alias(FILE_COLUMN))
    return rows
