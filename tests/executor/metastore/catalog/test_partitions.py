"""Partitions: values as text, None for Hive's default partition."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from executor.metastore.conftest import Store
from hivesql_executor.metastore.api import Metastore
from hivesql_executor.metastore.database.metastore import DatabaseMetastore
from hivesql_executor.metastore.database.schema import cds, columns_v2
from hivesql_planner.errors import NoSuchObject, SemanticError
from hivesql_planner.model.table import (
    Buckets,
    Column,
    Partition,
    PartitionStorage,
    Table,
    TableName,
)
from hivesql_planner.predicates.partitions import PartitionTest

MakeTable = Callable[..., Table]


def test_partitions_come_back(metastore: Metastore, make_table: MakeTable) -> None:
    table = make_table(partitioned_by=("P", "q"))
    metastore.add_partitions(
        table.name,
        [
            Partition(values=("a/b", "1"), location=""),
            Partition(values=(None, "2"), location="/out"),
            Partition(values=("A", "=%"), location=""),
        ],
    )
    assert metastore.partitions(table.name) == (
        Partition(values=("A", "=%"), location="/wh/t/p=A/q=%3D%25"),
        Partition(values=(None, "2"), location="/out"),
        Partition(values=("a/b", "1"), location="/wh/t/p=a%2Fb/q=1"),
    )
    found = metastore.partition(table.name, ("a/b", "1"))
    assert found == Partition(values=("a/b", "1"), location="/wh/t/p=a%2Fb/q=1")
    assert metastore.partition(table.name, (None, "2")) is not None
    assert metastore.partition(table.name, ("a", "1")) is None


@pytest.mark.thrift
def test_known_partitions(metastore: Metastore, make_table: MakeTable) -> None:
    table = make_table(partitioned_by=("p",))
    first, second = (Partition(values=(v,), location="") for v in "12")
    metastore.add_partitions(table.name, [first])
    with pytest.raises(SemanticError) as error:
        metastore.add_partitions(table.name, [first, second])
    assert error.value.code == 10073
    assert len(metastore.partitions(table.name)) == 1
    metastore.add_partitions(table.name, [first, second], if_not_exists=True)
    assert len(metastore.partitions(table.name)) == 2


@pytest.mark.thrift(hive3=False)
def test_drop(metastore: Metastore, make_table: MakeTable) -> None:
    table = make_table(partitioned_by=("p",))
    metastore.add_partitions(
        table.name, [Partition(values=(str(n),), location="") for n in range(1200)]
    )
    metastore.drop_partitions(table.name, [(str(n),) for n in range(1199)])
    assert [p.values for p in metastore.partitions(table.name)] == [("1199",)]
    with pytest.raises(NoSuchObject) as error:
        metastore.drop_partitions(table.name, [("1199",), ("7",)])
    assert error.value.code == 10006
    assert len(metastore.partitions(table.name)) == 1


def part(*values: str | None, location: str = "") -> Partition:
    return Partition(values=values, location=location)


def test_a_partition_gets_other_values_and_another_place(
    metastore: Metastore, make_table: MakeTable
) -> None:
    name = make_table(partitioned_by=("p", "q")).name
    metastore.add_partitions(name, [part("1", "a"), part("2", "b")])
    metastore.alter_partition(name, ("1", "a"), part("9", None, location="/x"))
    found = metastore.partitions(name)
    assert set(found) == {part("2", "b", location="/wh/t/p=2/q=b"), part("9", None, location="/x")}
    with pytest.raises(SemanticError, match="already exists"):
        metastore.alter_partition(name, ("9", None), part("2", "b"))
    with pytest.raises(NoSuchObject):
        metastore.alter_partition(name, ("1", "a"), part("3", "c"))


def test_partitions_change_hands(metastore: Metastore, make_table: MakeTable) -> None:
    one, two = (make_table(name, partitioned_by=("p",)).name for name in ("one", "two"))
    metastore.add_partitions(one, [part("1"), part("2")])
    metastore.exchange_partitions(one, two, [part("1", location="/wh/two/p=1")])
    assert [found.values for found in metastore.partitions(one)] == [("2",)]
    assert metastore.partitions(two) == (part("1", location="/wh/two/p=1"),)


def passing(metastore: Metastore, name: TableName, *tests: PartitionTest) -> list[str]:
    """First values of the partitions that a listing gives."""
    return [str(one.values[0]) for one in metastore.partitions(name, tests)]


@pytest.mark.parametrize(
    ("type_", "values", "test", "kept"),
    [
        ("string", ["a", "b", "B", "é", "z"], ("=", "text", "b"), ["b"]),
        ("string", ["a", "b", "B", "é", "z"], ("=", "text", "z", "B", "q"), ["B", "z"]),
        # Code points, not an alphabet.
        ("string", ["a", "b", "B", "é", "z"], (">", "text", "a"), ["b", "z", "é"]),
        ("string", ["a", None], ("=", "text", "a"), ["a"]),
        ("int", ["5", "05", "50", "10"], ("=", "integer", "5"), ["05", "5"]),
        ("int", ["5", "50", "9", "10"], (">=", "integer", "10"), ["10", "50"]),
        # What is not plainly a number stays for the one who asked to judge.
        ("int", ["5", "-7", "x", "1" * 30], ("<", "integer", "0"), ["-7", "1" * 30, "x"]),
        ("date", ["2024-01-01", "2024-02-01", "2024-2-1"], ("<=", "date", "2024-01-31"),
         ["2024-01-01", "2024-2-1"]),
    ],
)  # fmt: skip
def test_listing_leaves_out_what_cannot_be_wanted(
    metastore: Metastore, make_table: MakeTable, type_: str, values: list[str | None],
    test: tuple[Any, ...], kept: list[str],
) -> None:  # fmt: skip
    name = make_table(partition_columns=(Column.of("p", type_),)).name
    metastore.add_partitions(name, [part(value) for value in values])
    operator, kind, *constants = test
    wanted = PartitionTest(position=0, operator=operator, kind=kind, values=tuple(constants))
    assert sorted(passing(metastore, name, wanted)) == sorted(kept)
    assert metastore.partition_count(name) == len(values)


def test_all_tests_hold_together(metastore: Metastore, make_table: MakeTable) -> None:
    name = make_table(partitioned_by=("p", "q")).name
    metastore.add_partitions(name, [part(p, q) for p in "12" for q in "ab"])
    first = PartitionTest(position=0, operator="=", kind="text", values=("2",))
    second = PartitionTest(position=1, operator="=", kind="text", values=("b",))
    assert [one.values for one in metastore.partitions(name, (first, second))] == [("2", "b")]


@pytest.mark.thrift
def test_partitions_elsewhere(metastore: Metastore, make_table: MakeTable, tmp_path: Path) -> None:
    name = make_table(partitioned_by=("p",)).name
    away = f"file:{tmp_path}/away"
    metastore.add_partitions(name, [part("a b"), part("2", location=away), part(None)])
    assert metastore.foreign_partitions(name) == (part("2", location=away),)
    assert metastore.partition_count(name) == 3


@pytest.mark.thrift
def test_tables_are_found_by_their_places(
    metastore: Metastore, make_table: MakeTable, tmp_path: Path
) -> None:
    table = make_table(partitioned_by=("p",))
    away = f"file:{tmp_path}/aw_y"
    metastore.add_partitions(table.name, [part("1"), part("2", location=away)])
    home = table.location
    for place in (home, f"{home}/p=1/x"):
        assert metastore.table_at([place], below=False) == (table.name, home)
    above = home.rpartition("/")[0]
    assert metastore.table_at([above], below=False) is None
    assert metastore.table_at(["file:/not/there", above], below=True) == (table.name, home)
    for place in (f"{home}0", f"file:{tmp_path}/away/b", "s3a://bucket/t", f"{tmp_path}/aw_"):
        assert metastore.table_at([place], below=True) is None
    if isinstance(metastore, DatabaseMetastore):
        for place in (f"{tmp_path}/aw_y/b", str(tmp_path)):
            assert metastore.table_at([place], below=True) == (table.name, away)
        with pytest.raises(SemanticError, match="overlaps with"):
            other = TableName("default", "u")
            metastore.create_table(replace(table, name=other, location=f"{away}/b"))


@pytest.mark.parametrize(
    ("place", "others", "elsewhere"),
    [
        ("s3a://b/w/t", ["s3://b/w/t", "s3n://b/w/t/x", "S3A://b/w"], ["s3://c/w/t", "gs://b/w/t"]),
        ("s3://b/w/t", ["s3a://b/w/t/p=1", "s3n://b/w"], ["s3a://b/w/t0"]),
        ("abfs://c@a.dfs.core.windows.net/t", ["abfss://c@a.dfs.core.windows.net/t/x"],
         ["abfss://d@a.dfs.core.windows.net/t"]),
        ("hdfs://n/w/t", ["hdfs://n:8020/w/t", "hdfs://N/w"], ["hdfs://n:9000/w/t", "hdfs:///w/t"]),
        ("hdfs://n:8020/w/t", ["hdfs://n/w/t/x", "hdfs://n/w"], ["hdfs://m:8020/w/t"]),
        ("hdfs://n:9000/w/t", ["hdfs://N:9000/w/t"], ["hdfs://n/w/t"]),
    ],
)  # fmt: skip
def test_one_place_has_several_names(
    store: Store, place: str, others: list[str], elsewhere: list[str]
) -> None:
    """What guards a table's directory knows each of them."""
    name, metastore = TableName("default", "t"), store.calls
    table = Table(
        name=name, columns=(Column.of("a", "int"),), location=place,
        properties={"transactional": "true"},
    )  # fmt: skip
    metastore.create_table(table)
    for other in others:
        assert metastore.table_at([other], below=True) == (name, place), other
        with pytest.raises(SemanticError, match="overlaps with"):
            metastore.create_table(replace(table, name=TableName("default", "u"), location=other))
    for other in elsewhere:
        assert metastore.table_at([other], below=True) is None, other


@pytest.mark.thrift
def test_partitions_keep_their_storage(metastore: Metastore, make_table: MakeTable) -> None:
    # A Hive Metastore keeps no serde properties of ACID tables.
    table = make_table(partitioned_by=("p",), properties={})
    table = replace(table, format="textfile", serde_properties={"field.delim": ","})
    metastore.alter_table(table.name, table)
    csv = PartitionStorage(format="csv", serde_properties={"quoteChar": "'"})
    metastore.add_partitions(table.name, [part("1"), part("2"), part("3")])
    metastore.alter_partition(table.name, ("2",), replace(part("2"), storage=csv))

    def kept() -> dict[str | None, PartitionStorage | None]:
        return {one.values[0]: one.storage for one in metastore.partitions(table.name)}

    assert kept() == {"1": None, "2": csv, "3": None}
    parquet = replace(table, format="parquet", serde_properties={"field.delim": "|"})
    metastore.alter_table(table.name, parquet)
    text = PartitionStorage(format="textfile", serde_properties={"field.delim": ","})
    assert kept() == {"1": text, "2": csv, "3": text}
    one = metastore.partition(table.name, ("1",))
    assert one is not None and one.storage == text
    metastore.alter_partition(table.name, ("1",), replace(one, storage=None))
    metastore.add_partitions(table.name, [part("4")])
    assert kept() == {"1": None, "2": csv, "3": text, "4": None}
    assert {p.values for p in metastore.foreign_partitions(table.name)} == {("2",), ("3",)}
    metastore.alter_table(table.name, replace(parquet, comment="same"))
    metastore.drop_partitions(table.name, [("3",)])
    metastore.alter_table(table.name, replace(table, serde_properties={"field.delim": ";"}))
    own = PartitionStorage(format="parquet", serde_properties={"field.delim": "|"})
    assert kept() == {"1": own, "2": csv, "4": own}


@pytest.mark.thrift
def test_no_listing_leaves_out_what_is_wanted(metastore: Metastore, make_table: MakeTable) -> None:
    keys = (Column.of("s", "string"), Column.of("i", "int"), Column.of("d", "date"))
    name = make_table(partition_columns=keys).name
    metastore.add_partitions(
        name,
        [part("a", "5", "2024-01-01"), part("B", "05", "2024-02-01"), part("b", "-7", "2024-2-1"),
         part(None, None, None)],
    )  # fmt: skip
    tests: tuple[tuple[Any, list[str]], ...] = (
        ((0, "=", "text", "a", "b"), ["a", "b"]),
        ((0, ">", "text", "B"), ["a", "b"]),
        ((0, "=", "text", 'a"'), []),
        ((1, "=", "integer", "5"), ["B", "a"]),
        ((1, "<", "integer", "0"), ["b"]),
        ((2, "=", "date", "2024-02-01"), ["B", "b"]),
        ((2, "<=", "date", "2024-01-01"), ["a"]),
    )
    for _ in range(2):
        for (position, operator, kind, *values), wanted in tests:
            test = PartitionTest(
                position=position, operator=operator, kind=kind, values=tuple(values)
            )
            assert set(passing(metastore, name, test)) >= set(wanted), test
        # The metastore cannot test numbers once a value is none.
        metastore.add_partitions(name, [part("x", "x", "2024-03-01")], if_not_exists=True)


@pytest.mark.thrift
def test_partitions_keep_their_columns_and_buckets(
    metastore: Metastore, make_table: MakeTable
) -> None:
    table = metastore.table(make_table(partitioned_by=("p",)).name)
    metastore.add_partitions(table.name, [part("1"), part("2")])
    old, buckets = table.columns, Buckets(columns=("a",), count=3, sort_columns=("a",))
    wider = replace(table, columns=(*old, Column.of("z", "int")))
    metastore.alter_table(table.name, wider, cascade=False)
    metastore.add_partitions(table.name, [part("3")])

    def kept() -> dict[str | None, Any]:
        return {
            one.values[0]: one.storage and (one.storage.columns, one.storage.buckets)
            for one in metastore.partitions(table.name)
        }

    assert metastore.table(table.name).columns == wider.columns
    assert kept() == {"1": (old, None), "2": (old, None), "3": None}
    own = PartitionStorage(
        format=table.format,
        serde_properties=table.serde_properties,
        columns=(Column.of("a", "bigint"),),
        buckets=buckets,
    )
    metastore.alter_partition(table.name, ("3",), replace(part("3"), storage=own))
    metastore.alter_partition(table.name, ("2",), part("2"))
    assert kept() == {"1": (old, None), "2": None, "3": ((Column.of("a", "bigint"),), buckets)}
    one = metastore.partition(table.name, ("3",))
    assert one is not None and wider.described_as(one).bucket_count == 3
    assert wider.read_as(one).columns == (
        wider.columns if table.format == "orc" else (Column.of("a", "bigint"),)
    )
    widest = replace(wider, columns=(*wider.columns, Column.of("zz", "int")))
    metastore.alter_table(table.name, widest)
    assert kept() == {"1": None, "2": None, "3": (None, buckets)}
    metastore.drop_table(table.name)


def test_lists_of_columns_go_with_the_last_that_has_them(
    store: Store, make_table: MakeTable
) -> None:
    table = make_table(partitioned_by=("p",))
    store.calls.add_partitions(table.name, [part("1"), part("2")])
    wider = replace(table, columns=(*table.columns, Column.of("z", "int")))
    store.calls.alter_table(table.name, wider, cascade=False)
    left = []
    for value in "12":
        left.append(len(store.rows(cds, "id")))
        store.calls.drop_partitions(table.name, [(value,)])
    left.append(len(store.rows(cds, "id")))
    store.calls.drop_table(table.name)
    assert [*left, store.rows(cds, "id"), store.rows(columns_v2, "name")] == [2, 2, 1, [], []]
