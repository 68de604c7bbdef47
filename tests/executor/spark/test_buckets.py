"""Bucket numbers of Spark rows against those of real Hive."""

from __future__ import annotations

import datetime
import decimal
import random
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hivesql_executor.orc.bucket_hash import hash_array
from hivesql_executor.spark.buckets import bucket_column, register_hashes
from hivesql_executor.spark.values import arrow_of
from hivesql_planner.errors import NotSupported
from hivesql_planner.model.hive_type import HiveType
from hivesql_planner.model.table import Column, Table, TableName

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

REFERENCE = Path(__file__).with_name("bucket-hash-reference.txt")
NANOSECONDS = "2020-01-01 12:34:56.123456789"


def bucketed(types: list[str], version: int, count: int) -> Table:
    columns = tuple(Column.of(f"c{i}", kind) for i, kind in enumerate(types))
    return Table(
        name=TableName("default", "t"),
        columns=columns,
        location="/t",
        properties={"bucketing_version": str(version)},
        bucket_columns=tuple(column.name for column in columns),
        bucket_count=count,
    )


def literal(kind: str, text: str) -> str:
    if text == "NULL":
        return f"cast(null as {HiveType.parse(kind).spark})"
    if kind == "binary":
        return f"unhex('{text[2:-1]}')"
    return f"cast('{text}' as {HiveType.parse(kind).spark})"


def reference() -> dict[str, list[tuple[str, tuple[int, ...]]]]:
    """Per type: literal and buckets (v1 of 4, v2 of 4, v1 of 32, v2 of 32)."""
    found: dict[str, list[tuple[str, tuple[int, ...]]]] = {}
    for line in REFERENCE.read_text(encoding="utf-8").splitlines():
        kind, *rest = line.split("\t")
        if len(rest) < 7 or kind.startswith(("array", "map", "struct")) or rest[0] == NANOSECONDS:
            continue
        found.setdefault(kind, []).append((rest[0], tuple(map(int, rest[3:7]))))
    return found


@pytest.mark.parametrize("kind", reference())
def test_buckets_equal_those_of_hive(spark: SparkSession, kind: str) -> None:
    cases = reference()[kind]
    rows = ", ".join(f"({i}, {literal(kind, text)})" for i, (text, _) in enumerate(cases))
    frame = spark.sql(f"select * from values {rows} as t(i, c)")
    columns = [
        bucket_column(bucketed([kind], version, count), [frame.c]).alias(f"b{count}_{version}")
        for count in (4, 32)
        for version in (1, 2)
    ]
    found = {row[0]: tuple(row[1:]) for row in frame.select("i", *columns).collect()}
    assert {cases[i][0]: buckets for i, buckets in found.items()} == dict(cases)


@pytest.mark.parametrize("ansi", ["false", "true"])
def test_several_columns_wrap_around_like_java(spark: SparkSession, ansi: str) -> None:
    table = bucketed(["int", "string"], 2, 1000)
    spark.conf.set("spark.sql.ansi.enabled", ansi)
    try:
        frame = spark.sql("select * from values (1, 42, 'abc'), (2, null, 'abc') as t(i, a, b)")
        found = frame.select("i", bucket_column(table, [frame.a, frame.b])).collect()
    finally:
        spark.conf.set("spark.sql.ansi.enabled", "false")
    assert sorted(found) == [
        (1, (-252153386 & 0x7FFFFFFF) % 1000),
        (2, (-885266671 & 0x7FFFFFFF) % 1000),
    ]


def test_an_instant_hashes_like_its_time_in_utc(spark: SparkSession) -> None:
    table = bucketed(["timestamp with local time zone"], 2, 32)
    frame = spark.sql("select timestamp'2020-01-01 00:00:00' as c")
    assert frame.select(bucket_column(table, [frame.c])).collect() == [(17,)]


@pytest.mark.parametrize(
    ("kind", "version"),
    [("array<int>", 2), ("map<int,int>", 1), ("timestamp with local time zone", 1)],
)
def test_unknown_hashes_are_refused(spark: SparkSession, kind: str, version: int) -> None:
    frame = spark.sql("select 1 as c")
    with pytest.raises(NotSupported, match="CLUSTERED BY"):
        bucket_column(bucketed([kind], version, 4), [frame.c])


NESTED = {
    "array<int>": "array(1, 2, 3)",
    "struct<a:int,b:string>": "named_struct('a', 1, 'b', 'abc')",
    "map<string,int>": "map('k', 7)",
}


@pytest.mark.parametrize("kind", NESTED)
def test_hash_of_nested_values(spark: SparkSession, kind: str) -> None:
    (line,) = (one for one in REFERENCE.read_text("utf-8").splitlines() if one.startswith(kind))
    calls = [f"hive_hash_{version}_nested({NESTED[kind]})" for version in (1, 2)]
    nothing = f"hive_hash_2_nested(if(rand() > 1, {NESTED[kind]}, null))"
    register_hashes(spark, calls)
    assert spark.sql(f"select {', '.join([*calls, nothing])}").collect() == [
        (*map(int, line.split("\t")[2:4]), 0)
    ]


_SEED = random.randrange(2**32)
_RANDOM = random.Random(_SEED)
_LETTERS = "aZ 0é漢\x00😀"
RANDOM: dict[str, Callable[[], Any]] = {
    "boolean": lambda: _RANDOM.random() < 0.5,
    "smallint": lambda: _RANDOM.randrange(-(2**15), 2**15),
    "int": lambda: _RANDOM.randrange(-(2**31), 2**31),
    "bigint": lambda: _RANDOM.randrange(-(2**63), 2**63),
    "double": lambda: _RANDOM.uniform(-1, 1) * 10 ** _RANDOM.randrange(-300, 300),
    "string": lambda: "".join(_RANDOM.choices(_LETTERS, k=_RANDOM.randrange(9))),
    "char(9)": lambda: "".join(_RANDOM.choices(_LETTERS, k=_RANDOM.randrange(9))),
    "varchar(9)": lambda: "".join(_RANDOM.choices(_LETTERS, k=_RANDOM.randrange(9))),
    "binary": lambda: _RANDOM.randbytes(_RANDOM.randrange(9)),
    "date": lambda: datetime.date.fromordinal(_RANDOM.randrange(1, 3_652_059)),
    "decimal(38,9)": lambda: decimal.Decimal(
        _RANDOM.randrange(-(10 ** _RANDOM.randrange(1, 38)), 10 ** _RANDOM.randrange(1, 38))
    ).scaleb(-9, decimal.Context(prec=38)),
    "timestamp": lambda: datetime.datetime(1, 1, 1) + datetime.timedelta(
        microseconds=_RANDOM.randrange(315_537_897_599) * 10 ** _RANDOM.randrange(7)),
}  # fmt: skip


@pytest.mark.parametrize("kind", RANDOM)
def test_spark_and_what_needs_no_spark_choose_one_bucket(spark: SparkSession, kind: str) -> None:
    type_ = HiveType.parse(kind)
    schema = f"c {type_.spark.replace('timestamp', 'timestamp_ntz')}"
    rows = [(RANDOM[kind](),) for _ in range(200)]
    frame = spark.createDataFrame(rows, schema).coalesce(1)
    array = arrow_of(rows, frame.schema).column(0).chunk(0)
    for version in (1, 2):
        hashes = hash_array(array, type_.kind.value, version)
        found = frame.select(bucket_column(bucketed([kind], version, 2**31 - 1), [frame.c]))
        expected = [((int(one) & 2**31 - 1) % (2**31 - 1),) for one in hashes]
        assert found.collect() == expected, _SEED
