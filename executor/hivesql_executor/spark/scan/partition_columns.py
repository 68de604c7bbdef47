"""Event files of many partitions in one read, with the partition that each row comes from.

Spark's own partition discovery cannot be used on ACID files: it appends the partition columns to
the schema that ORC gets, which then no longer looks like that of an ACID file, and every column
shifts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import chain

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from hivesql_executor.spark.formats.listed_files import listed_number, read_listed
from hivesql_executor.spark.values import partition_value
from hivesql_planner.model.hive_type import quote_name
from hivesql_planner.model.table import DEFAULT_PARTITION, Partition, Table, default_value

PLACE = "__place"
"""The number of the row's partition in its scan. Values could not tell ``p=1`` from ``p=01``."""

# Up to this many partitions each gets a read of its own; above it, one read and a lookup by number.
MOST_READS = 16


@dataclass(frozen=True, slots=True)
class Place:
    """A partition (None: the whole table), its number in the scan, and where it is."""

    number: int
    partition: Partition | None
    location: str


FilesByPlace = Sequence[tuple[Place, Sequence[tuple[str, int]]]]
"""Absolute paths and lengths in bytes of some places' files."""


def value_column(number: int) -> str:
    """Name a partition column as it travels until the user's names can be given."""
    return f"__value{number}"


def text_column(number: int) -> str:
    """Name the column with the text of a partition value: ``01`` is an int that is 1."""
    return f"__text{number}"


def text_columns(table: Table) -> list[str]:
    """Tell where the texts of all partition values are."""
    return [text_column(i) for i in range(len(table.partition_columns))]


def output(table: Table) -> list[str]:
    """Return the Spark SQL of a table's columns over the rows of a scan."""
    columns = [quote_name(name) for name in table.column_names]
    parts = enumerate(table.partition_names)
    return [*columns, *(f"{value_column(i)} as {quote_name(name)}" for i, name in parts)]


def read_with_places(
    spark: SparkSession,
    table: Table,
    schema: str,
    files_by_place: FilesByPlace,
    options: Mapping[str, str],
    where: str,
) -> DataFrame:
    """Read the rows of some ORC files that satisfy ``where``, with place and partition values."""

    def read(some: FilesByPlace) -> DataFrame:
        files = [(path, length, place.number) for place, files in some for path, length in files]
        return read_listed(spark, schema, files, options).where(where)

    if len(files_by_place) > MOST_READS:
        rows = read(files_by_place).withColumn(PLACE, listed_number())
        return with_places(rows, table, [place for place, _ in files_by_place])
    frames = [with_place(read([entry]), table, entry[0]) for entry in files_by_place]
    return reduce(DataFrame.unionByName, frames)


def with_place(rows: DataFrame, table: Table, place: Place) -> DataFrame:
    """Add one place, and its partition's values as typed columns."""
    values = place.partition.values if place.partition else ()
    read = table.read_values(place.partition) if place.partition else ()
    typed, texts = [], []
    for i, (value, column) in enumerate(zip(values, table.partition_columns, strict=False)):
        typed.append(partition_value(f.lit(read[i]), column.type).alias(value_column(i)))
        texts.append(f.lit(value or DEFAULT_PARTITION).alias(text_column(i)))
    return rows.select("*", f.lit(place.number).alias(PLACE), *typed, *texts)


def with_places(rows: DataFrame, table: Table, places: Sequence[Place]) -> DataFrame:
    """Add the values of each row's partition, whose number is in PLACE.

    They are looked up in constants: a join would let Spark take the rows for as large as their
    product with the partitions, and shuffle what it can broadcast.
    """
    values = {place.number: place.partition.values for place in places if place.partition}
    mark = _unused_character(chain.from_iterable(values.values()))
    # A place that is not found would silently lose its partition: fail instead.
    problem = f.raise_error(f.concat(f.lit("no partition has the number "), f.col(PLACE)))
    typed, plain = [], []
    for i, column in enumerate(table.partition_columns):
        texts_by_number = {
            number: place_values[i] or DEFAULT_PARTITION for number, place_values in values.items()
        }
        # Numbers in between are of places that have no rows here.
        texts = [texts_by_number.get(number, "") for number in range(max(texts_by_number) + 1)]
        # The optimizer splits it once; thousands of constants would each take their time.
        place_text = f.get(f.split(f.lit(mark.join(texts)), mark), f.col(PLACE))
        text = f.coalesce(place_text, problem.cast("string"))
        is_text = default_value(column.type) is not None
        typed_text = text if is_text else f.nullif(text, f.lit(DEFAULT_PARTITION))
        value = partition_value(typed_text, column.type)
        typed.append(value.alias(value_column(i)))
        plain.append(text.alias(text_column(i)))
    return rows.select("*", *typed, *plain)


def _unused_character(texts: Iterable[str | None]) -> str:
    """Return a control character, which means nothing in patterns, that none of the texts has."""
    used = set("".join(text or "" for text in texts))
    return next(char for char in map(chr, (*range(1, 9), *range(14, 32))) if char not in used)
