"""Rows into ACID directories: one Spark job into a staging directory, then published."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import lru_cache

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from hivesql_executor.files.api import Files
from hivesql_executor.jvm import finding_our_classes
from hivesql_executor.orc.publish import (
    ESCAPE,
    ListedFiles,
    Publication,
    StagedRows,
    WrittenFile,
    publish_events,
    stage_rows,
    write_directory,
)
from hivesql_executor.snapshot.partition_files import EventFile
from hivesql_executor.spark.buckets import bucket_column
from hivesql_executor.spark.column_statistics import Observation, observation_of
from hivesql_executor.spark.formats.avro import encode_avro
from hivesql_executor.spark.formats.containers import READER, container_options
from hivesql_executor.spark.formats.text_tables import is_of_lines, write_line
from hivesql_executor.spark.nanoseconds.columns import TEXTS, as_text
from hivesql_executor.spark.shapes import (
    HOLE,
    Shaped,
    change_each,
    columns_named,
    numbered,
    select,
)
from hivesql_executor.spark.steps import Step, after
from hivesql_executor.spark.values import (
    converted,
    of_any_zone,
    partition_text,
    read_value,
    stored_row,
    written_value,
    zone_of_files,
)
from hivesql_executor.spark.write.constraints import enforce_check
from hivesql_executor.spark.write.event_files import (
    EventColumns,
    UploadPlaces,
    columns_type,
    orc_settings,
    write_events,
)
from hivesql_executor.spark.write.partition_clustering import NEVER, gathered
from hivesql_executor.spark.write.plain_files import PlainJob
from hivesql_planner.acid.row_id import MAX_BUCKET
from hivesql_planner.model.hive_type import SIZED_TEXTS, HiveType, Kind, quote_name
from hivesql_planner.model.table import DEFAULT_PARTITION, Table
from hivesql_planner.plan import WriteKind
from hivesql_planner.relations import Expr
from hivesql_planner.statements.unions import check_written

__all__ = ["WrittenFile", "partition_text", "stage_insert", "write_change"]

NO_BRANCH = -1
"""The branch of a matched row that stays as it is."""
_SPREAD = 4
"""Tasks that write a change's events into partitions, for each core."""
_WORD = 0xFFFFFFFF
_WRITER = "shiftrightunsigned(row__id.bucketid, 16) & 4095"
BUCKET_OF_ROW_ID = f"if(shiftrightunsigned(row__id.bucketid, 29) = 0, row__id.bucketid, {_WRITER})"
OLD_WRITER = f"cast({BUCKET_OF_ROW_ID} as int)"
_PLAIN_ORC = "hivesql.PlainOrc"
"""Our class in Spark: ORC whose times do not depend on the time zone of the JVM, and whose CHAR and
VARCHAR are no strings."""
# Beside a table's own columns: no column of Hive has a colon in its name.
# No longer, escaped, than most names of columns: a value may be as long as a directory allows.
_KEY, _BUCKET = "p:{}", "bucket:"
# LiteralParameterizer.java looks for it.
_ROW = "row:"


def stage_insert(
    rows: DataFrame,
    publication: Publication,
    files: Files,
    *,
    check: Expr | None = None,
    source_types: Sequence[HiveType] = (),
    nanoseconds: Sequence[int] = (),
    gathering: int = NEVER,
    zone: str | None = None,
) -> StagedRows:
    """Write a query's rows for one directory per partition, to be published later.

    ``rows`` has the data columns in the table's order, then the dynamic partition columns, then the
    texts of the columns ``nanoseconds``. By position, values become of the columns'
    types as Hive converts them; ``source_types`` are the rows' types in Hive, () where Spark's are
    enough. ``gathering`` is the threshold of ``gathered``, ``zone`` the session's, None for UTC.
    Nothing is visible before the transaction commits, which needs ``changes`` of the publication
    where the table is not transactional. Whoever publishes removes the staging directory.
    """
    table, dynamic_partition = publication.table, publication.dynamic_partition
    check_written(table.columns)
    types = {column.name: column.type for column in table.all_columns}
    named = numbered(rows)
    kinds = [
        *(column.type for column in table.columns),
        *(types[name] for name in dynamic_partition),
    ]
    sources = [HiveType.parse(field.dataType.simpleString()) for field in named.schema.fields]
    for i, kind in enumerate(source_types):
        if kind.holds(Kind.INSTANT, *SIZED_TEXTS):
            # Spark knows no such types.
            sources[i] = kind
    width, types_of_data = len(table.columns), kinds[: len(table.columns)]
    values = change_each(
        columns_named(table.column_names, (f"c{i}" for i in range(width))),
        zip(sources[:width], types_of_data, strict=True),
        lambda _, pair: written_value(converted(HOLE, *pair, zone), pair[1], table.format),
    )
    if check is not None:
        compared = [
            replace(value, name=f"check:{i}")
            for i, value in enumerate(change_each(values, types_of_data, read_value))
        ]
        fields = ", ".join(
            f"{quote_name(value.name)} as {quote_name(name)}"
            for value, name in zip(compared, table.column_names, strict=True)
        )
        numbers = [quote_name(name) for name in named.columns]
        with_row = select(named, [*numbers, *compared], [*numbers, f"struct({fields}) as row"])
        named = enforce_check(with_row, check).drop("row")
    parts = [
        partition_text(
            converted(f"c{i}", sources[i], types[name], zone), types[name],
            publication.default_partition,
        )
        for i, name in enumerate(dynamic_partition, width)
    ]  # fmt: skip
    observation = observation_of(rows, publication.measuring)
    texts = _nanosecond_texts(rows, table, nanoseconds)
    if table.is_full_acid:
        events, columns = _insert_events(named, table, values, parts, texts, gathering, observation)
        staged = stage_rows(publication, files, _event_writer(events, columns, publication, files))
    else:
        plain_writer = _plain_writer(
            named, values, parts, texts, publication, files, gathering, observation
        )
        staged = stage_rows(publication, files, plain_writer)
    if observation is None:
        return staged
    return replace(staged, columns={None: observation.columns_of(rows.sparkSession)})


def _plain_rows(
    named: DataFrame,
    table: Table,
    values: list[Shaped],
    parts: list[Column],
    texts: Mapping[str, Column],
    files: Files,
    gathering: int,
    observation: Observation | None,
) -> tuple[DataFrame, list[str]]:
    """Rows of a table without row ids, and the staging keys."""
    keys = [_KEY.format(i) for i in range(len(parts))]
    placed = [_in_file_names(part).alias(key) for part, key in zip(parts, keys, strict=True)]
    if table.format == "orc":
        # Spark's files call CHAR a string, and readers of strings would see the blanks.
        values = change_each(values, (column.type for column in table.columns), read_value)
    timed = table.columns if table.format == "textfile" else ()
    names = [c.name for c in timed if c.name in texts and c.type.holds(Kind.TIMESTAMP)]
    fine = [f.struct(*(texts[name] for name in names)).alias(TEXTS)] if names else []
    rows = select(named, [*values, *fine, *placed])
    rows = rows if observation is None else observation.over(rows)
    if table.is_bucketed:
        bucket = bucket_column(table, [f.col(quote_name(name)) for name in table.column_names])
        keys = [_BUCKET, *keys]
        rows = _in_buckets(rows.withColumn(_BUCKET, bucket), table, keys)
        rows = rows.sortWithinPartitions(*map(quote_name, keys), *_sorting(table))
    else:
        rows = gathered(rows, [quote_name(key) for key in keys], gathering)
    if table.format == "avro":
        return encode_avro(rows, table, keys, files), keys
    if is_of_lines(table):
        line = write_line(table, {name: f.col(TEXTS)[name] for name in names})
        rows = rows.select(line.alias("value"), *map(quote_name, keys))
    return rows, keys


def _in_file_names(text: Column) -> Column:
    """Return a text as Spark's writers can name directories by it: they leave a NUL as it is."""
    for character, meaning in ((ESCAPE, ESCAPE), ("\0", "0")):
        text = f.replace(text, f.lit(character), f.lit(f"{ESCAPE}{meaning}"))
    return text


def _sorting(table: Table) -> list[Column]:
    """Return the order within a bucket: NULLs are the least, as in Hive."""
    return [
        f.desc_nulls_last(quote_name(name))
        if name in table.sort_descending
        else f.asc_nulls_first(quote_name(name))
        for name in table.sort_columns
    ]


def _nanosecond_texts(
    rows: DataFrame, table: Table, nanoseconds: Sequence[int]
) -> dict[str, Column]:
    """Return the texts of an insert's columns that are stored as they come, by name."""
    first = len(rows.columns) - len(nanoseconds)
    texts = {}
    for place, i in enumerate(nanoseconds):
        if i >= len(table.columns) or table.columns[i].name in table.bucket_columns:
            continue
        column, stored_type = table.columns[i], rows.schema[i].dataType.simpleString()
        if stored_type.lower() == column.type.spark:
            text = f.col(f"c{first + place}").cast(as_text(column.type).spark)
            texts[column.name] = text.alias(column.name)
    return texts


def _in_buckets(rows: DataFrame, table: Table, keys: Sequence[str]) -> DataFrame:
    """All rows of a file in one task: ``keys`` are the bucket, then the partition's."""
    if len(keys) == 1:
        return rows.repartition(table.bucket_count, quote_name(_BUCKET))
    # As many tasks as the rows are worth, however few the buckets are.
    return rows.repartition(*map(quote_name, keys))


def _insert_events(
    named: DataFrame,
    table: Table,
    values: list[Shaped],
    parts: list[Column],
    nanoseconds: Mapping[str, Column],
    gathering: int,
    observation: Observation | None,
) -> tuple[DataFrame, EventColumns]:
    """Rows sorted by file."""
    keys = [_KEY.format(i) for i in range(len(parts))]
    placed = [part.alias(key) for part, key in zip(parts, keys, strict=True)]
    texts = [f.struct(*nanoseconds.values()).alias(TEXTS)] if nanoseconds else []
    rows = select(named, [*values, *texts, *placed])
    rows = rows if observation is None else observation.over(rows)
    width = len(values) + len(texts)
    nanoseconds_at = len(values) if texts else None
    if not table.is_bucketed:
        rows = gathered(rows, [quote_name(key) for key in keys], gathering)
        # A writer number has twelve bits.
        rows = rows.coalesce(MAX_BUCKET + 1)
        if keys:
            rows = rows.sortWithinPartitions(*map(quote_name, keys))
        return rows, EventColumns(nanoseconds=nanoseconds_at, keys=width if keys else None)
    bucket = bucket_column(table, [f.col(quote_name(name)) for name in table.column_names])
    order = [quote_name(name) for name in (_BUCKET, *keys)]
    rows = rows.withColumn(_BUCKET, bucket.cast("int"))
    rows = rows.select(*map(quote_name, rows.columns[:width]), *order)
    rows = _in_buckets(rows, table, (_BUCKET, *keys)).sortWithinPartitions(*order)
    return rows, EventColumns(
        writer=width, nanoseconds=nanoseconds_at, keys=width + 1 if keys else None
    )


def write_change(
    changed: DataFrame,
    publication: Publication,
    files: Files,
    *,
    branches: Sequence[Sequence[int]] = (),
    whole_writers: bool = False,
    once: bool = False,
    few_new: bool = False,
) -> tuple[WrittenFile, ...]:
    """Write delete and insert events in one job.

    ``changed`` has ``branch`` (an index into ``branches``, whose items are indexes into the
    publication's writes; without any each write is a branch), ``row__id`` of the old row (NULL
    for a new one), ``row`` (NULL for a delete), perhaps TEXTS, and the partition value texts
    ``p0…``. Delete events land in the bucket file of the row they delete, sorted by row id, as
    Hive's readers rely on. ``whole_writers``: each task has all old rows of its writers
    already, and no other rows. ``once``: the job fails where two rows change one old row, and a
    row of NO_BRANCH, which changes nothing, counts. ``few_new``: new rows are as many as one file
    should have.
    """
    table, writes = publication.table, publication.writes
    keys = [f"p{i}" for i in range(len(table.partition_columns))]
    nanoseconds = [TEXTS] if TEXTS in changed.columns else []
    stored = changed
    if any(column.type.holds(*SIZED_TEXTS) for column in table.columns):
        stored = changed.withColumn("row", stored_row(table, "row"))
    deletes = [
        any(writes[i].kind is WriteKind.DELETE_DELTA for i in branch_writes)
        for branch_writes in branches
    ]
    n = f"{OLD_WRITER} as n"
    # Without branches nobody tells whether there are new rows.
    if not (deletes and all(deletes)):
        stored, n = stored.withColumn("n", _writer_of(table, stored, few_new)), "n"
    texts = (f"coalesce({key}, '{DEFAULT_PARTITION}') as {key}" for key in keys)
    chosen: Step = (
        "select",
        ["branch", n, "row__id.*", f"`row` as {quote_name(_ROW)}", *nanoseconds, *texts],
    )
    # Mostly they are in this order, and to find that out costs little.
    by_id = ["n", *keys, "writeid", "bucketid", "rowid"]
    order: Step = ("sort", [*by_id, "branch"] if once else ["branch", *by_id])
    if whole_writers:
        rows = after(stored, chosen, order)
    else:
        rows = after(_gathered(after(stored, chosen), keys), order)
    columns = EventColumns(
        branch=0, writer=1, row_id=2, row=5,
        nanoseconds=6 if nanoseconds else None, keys=6 + len(nanoseconds) if keys else None,
    )  # fmt: skip
    writer = _event_writer(rows, columns, publication, files, branches, once=once)
    return publish_events(publication, files, writer)


def _gathered(rows: DataFrame, keys: Sequence[str]) -> DataFrame:
    """Bring the events of each file to one task; few tasks, since an empty one costs time too."""
    spark = rows.sparkSession
    most = int(spark.conf.get("spark.sql.shuffle.partitions") or 1)
    cores = spark.sparkContext.defaultParallelism
    count = min(most, cores * _SPREAD if keys else cores)
    # Writers are numbered from 0: taken as they are, they share out evenly.
    place = f"hash({', '.join(keys)})" if keys else "0"
    return shuffled_to(rows, count, f"{place} + n")


def shuffled_to(rows: DataFrame, count: int, number: str) -> DataFrame:
    """Shuffle each row to the partition of its number, an expression in SQL, modulo the count.

    Spark 4.1 and later can be told so; each line hashes what it shuffles by, so it is given numbers
    whose hashes are those of the partitions.
    """
    spread = ", ".join(map(str, _numbers_by_hash(count)))
    return rows.repartition(count, f.expr(f"array({spread})[pmod({number}, {count})]"))


@lru_cache(16)
def _numbers_by_hash(count: int) -> tuple[int, ...]:
    """Return numbers (int) by the partition, of so many, that Spark shuffles them to."""
    number_of: dict[int, int] = {}
    number = 0
    while len(number_of) < count:
        number_of.setdefault(_spark_hash(number) % count, number)
        number += 1
    return tuple(number_of[place] for place in range(count))


def _spark_hash(number: int) -> int:
    """Return Spark's HASH of an int (Murmur3_x86_32.hashInt with seed 42)."""
    word = number * 0xCC9E2D51 & _WORD
    word = (word << 15 | word >> 17) * 0x1B873593 & _WORD
    hashed = 42 ^ word
    hashed = (hashed << 13 & _WORD | hashed >> 19) * 5 + 0xE6546B64 & _WORD ^ 4
    hashed = (hashed ^ hashed >> 16) * 0x85EBCA6B & _WORD
    hashed = (hashed ^ hashed >> 13) * 0xC2B2AE35 & _WORD
    hashed ^= hashed >> 16
    return hashed - (hashed >> 31 << 32)


def _writer_of(table: Table, events: DataFrame, few_new: bool) -> Column:
    """Writer number of an event: that of the old row, else by hash."""
    if few_new and not table.is_bucketed:
        fresh = f.lit(0)
    elif table.is_bucketed:
        fresh = bucket_column(table, [f.col("row")[name] for name in table.column_names])
    else:
        spread = [f.col("row")[c.name] for c in table.columns if not c.type.holds(Kind.MAP)]
        count = events.sparkSession.sparkContext.defaultParallelism
        hashed = f.xxhash64(*spread) if spread else f.lit(0)
        fresh = f.pmod(hashed, f.lit(min(count, MAX_BUCKET + 1)))
    old = f.col("row__id").isNotNull()
    return f.when(old, f.expr(OLD_WRITER)).otherwise(fresh).cast("int")


def _event_writer(
    events: DataFrame,
    columns: EventColumns,
    publication: Publication,
    files: Files,
    branches: Sequence[Sequence[int]] = (),
    *,
    once: bool = False,
) -> Callable[[], tuple[EventFile, ...]]:
    uploads = files.uploads(publication.table.location)

    def write() -> tuple[EventFile, ...]:
        return write_events(
            events,
            columns,
            publication.writes,
            write_id=publication.write_id,
            directory=_upload_places(publication) if uploads else publication.staging,
            branches=branches,
            even_empty=_needs_an_empty_file(publication),
            once=once,
        )

    return write


def _upload_places(publication: Publication) -> UploadPlaces:
    table = publication.table
    static = publication.static_partition
    return UploadPlaces(
        table=table.location,
        partition=[
            (name, None if name in publication.dynamic_partition else static[name] or "")
            for name in table.partition_names
        ],
        locations=publication.locations,
        directories=[write_directory(write, publication.write_id) for write in publication.writes],
    )


def _plain_writer(
    named: DataFrame,
    values: list[Shaped],
    parts: list[Column],
    texts: Mapping[str, Column],
    publication: Publication,
    files: Files,
    gathering: int,
    observation: Observation | None,
) -> Callable[[], ListedFiles]:
    table = publication.table
    zone = zone_of_files(named.sparkSession, table)
    values = of_any_zone(values, table, zone)
    rows, keys = _plain_rows(named, table, values, parts, texts, files, gathering, observation)
    file_format, options = _plain_format(publication, zone)
    staging = publication.staging
    if not table.is_transactional:
        publication.changes.work_aside(staging)
    is_our_class = file_format in (READER, _PLAIN_ORC) or not files.has_directories
    job = PlainJob(rows, keys, file_format, options)
    even_empty = _needs_an_empty_file(publication)

    def write() -> ListedFiles:
        if table.is_transactional and files.uploads(table.location) is not None:
            places = _upload_places(publication)
            return job.upload(staging, places, in_buckets=table.is_bucketed, even_empty=even_empty)
        if not files.has_directories and not even_empty:
            uploads = files.uploads(table.location)
            if uploads is not None:
                return job.stage_uploads(staging, _upload_places(publication), table, uploads)
        with finding_our_classes(rows.sparkSession) if is_our_class else nullcontext():
            return job.stage(staging, files, even_empty=even_empty)

    return write


def _needs_an_empty_file(publication: Publication) -> bool:
    """Tell whether no rows are something to publish: an overwrite of one known directory."""
    (write, *_) = publication.writes
    return write.kind is WriteKind.BASE and not publication.dynamic_partition


def orc_options(table: Table) -> dict[str, str]:
    """Spark's options for the table's ORC properties."""
    settings = orc_settings(table)
    return {"compression": settings.pop("orc.compress").lower(), **settings}


def _plain_format(publication: Publication, zone: str) -> tuple[str, dict[str, str]]:
    table = publication.table
    match table.format:
        case "orc" if zone or any(column.type.holds(*SIZED_TEXTS) for column in table.columns):
            return _PLAIN_ORC, {"type": columns_type(table), **orc_settings(table)}
        case "orc":
            return "orc", orc_options(table)
        case "parquet":
            return "parquet", {}
        case "textfile" | "csv" | "json" | "avro":
            return "text", {}
        case _:
            return READER, container_options(table, publication.compression)
