"""ALTER TABLE as a function: outcomes and refusals as real Hive 4.1 gave them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hivesql_planner.errors import HiveSqlError
from hivesql_planner.model.hive_type import HiveType
from hivesql_planner.model.table import Column, Constraint, Table
from hivesql_planner.statements.alter import (
    AddColumns,
    Change,
    ChangeBucketCount,
    ChangeBuckets,
    ChangeColumn,
    ChangeFormat,
    ChangeLocation,
    ChangeOwner,
    ChangePartitionColumn,
    ChangeProperties,
    ChangeSerde,
    DropColumns,
    RenameColumn,
    ReplaceColumns,
    Unsort,
    apply_change,
)
from hivesql_planner.statements.convert import check_compatible
from memory_catalog import ACID, INSERT_ONLY, columns, table

ORC = table("t", "a int, b string, c double", properties={})
TEXT = replace(ORC, format="textfile")
FULL = replace(ORC, properties=ACID)
PARTED = table("p", "a int, b string", "ds string, hr int")
SORTED = replace(TEXT, bucket_columns=("a",), sort_columns=("b",), bucket_count=2)
OUTSIDE = replace(ORC, type="EXTERNAL_TABLE")


def change(name: str, new: str, **where: Any) -> ChangeColumn:
    return ChangeColumn(name, columns(new)[0], **where)


KIND = {"transactional_properties": "default"}
OUTCOMES: dict[str, tuple[Table, Change, dict[str, Any]]] = {
    "add": (
        ORC, AddColumns(columns("d int")),
        {"columns": columns("a int, b string, c double, d int")}),
    "managed to external": (
        ORC, ChangeProperties(set={"EXTERNAL": "True", "k": "v"}),
        {"type": "EXTERNAL_TABLE", "properties": {"k": "v"}, "location": "/warehouse/t"}),
    "external to managed": (
        OUTSIDE, ChangeProperties(set={"EXTERNAL": "false"}),
        {"type": "MANAGED_TABLE", "properties": {"EXTERNAL": "false"}}),
    "external to ACID, managed on the way": (
        OUTSIDE, ChangeProperties(set={"EXTERNAL": "FALSE", "transactional": "true"}),
        {"type": "MANAGED_TABLE", "is_full_acid": True}),
    "a property that Hive does not know": (
        ORC, ChangeProperties(set={"external": "true"}), {"type": "MANAGED_TABLE"}),
    "replace ORC by more and wider": (
        ORC, ReplaceColumns(columns("a bigint, b string, c double, d int")),
        {"columns": columns("a bigint, b string, c double, d int")}),
    "replace text by fewer": (
        TEXT, ReplaceColumns(columns("z int")), {"columns": columns("z int")}),
    "rename and widen": (
        ORC, change("a", "a3 bigint"), {"columns": columns("a3 bigint, b string, c double")}),
    "keep the comment": (
        replace(ORC, columns=(Column.of("a", "int", "why"),)), change("a", "a int"),
        {"columns": (Column.of("a", "int", "why"),)}),
    "move where types allow": (
        replace(TEXT, columns=columns("a int, b int, c int")), change("c", "c int", first=True),
        {"columns": columns("c int, a int, b int")}),
    "move behind": (
        replace(TEXT, columns=columns("a int, b int, c int")), change("a", "z int", after="b"),
        {"columns": columns("b int, z int, c int")}),
    "bucketing follows a renamed column": (
        SORTED, change("a", "k int"), {"bucket_columns": ("k",), "sort_columns": ("b",)}),
    "rename only": (
        FULL, RenameColumn("a", "k"), {"columns": columns("k int, b string, c double")}),
    "drop if it is there": (
        replace(ORC, format="json"), DropColumns(("zz", "b"), if_exists=True),
        {"columns": columns("a int, c double")}),
    "drop from files that have names": (
        replace(ORC, format="parquet"), DropColumns(("a", "c")), {"columns": columns("b string")}),
    "partition column": (
        PARTED, ChangePartitionColumn(Column.of("hr", "bigint")),
        {"partition_columns": columns("ds string, hr bigint")}),
    "set properties": (
        FULL, ChangeProperties(set={"x": "y"}), {"properties": {**ACID, "x": "y"}}),
    "unset properties": (
        replace(ORC, properties={"x": "y"}), ChangeProperties(unset=("x",)), {"properties": {}}),
    "convert": (
        ORC, ChangeProperties(set={"transactional": "TRUE"}), {"properties": ACID}),
    "not transactional stays so": (
        ORC, ChangeProperties(set={"transactional": "false", **KIND}), {"properties": KIND}),
    "format": (TEXT, ChangeFormat("parquet"), {"format": "parquet"}),
    "the same format": (ORC, ChangeFormat("orc"), {"format": "orc"}),
    "serde properties": (
        replace(TEXT, serde_properties={"a": "1", "b": "2"}),
        ChangeSerde(set={"b": "3"}, unset=("a",)), {"serde_properties": {"b": "3"}}),
    "location": (ORC, ChangeLocation("/x"), {"location": "/x"}),
    "buckets": (
        TEXT, ChangeBuckets(columns=("a",), sort_columns=("b",), count=3),
        {"bucket_columns": ("a",), "sort_columns": ("b",), "bucket_count": 3}),
    "more buckets": (SORTED, ChangeBucketCount(5), {"bucket_count": 5, "sort_columns": ("b",)}),
    "not sorted": (SORTED, Unsort(), {"sort_columns": (), "bucket_count": 2}),
    "not clustered": (
        SORTED, ChangeBuckets(), {"bucket_columns": (), "sort_columns": (), "bucket_count": 0}),
    "owner": (ORC, ChangeOwner("adm", "ROLE"), {"owner": "adm", "owner_type": "ROLE"}),
}  # fmt: skip


@pytest.mark.parametrize(("before", "change", "expected"), OUTCOMES.values(), ids=OUTCOMES)
def test_what_comes_of_it(before: Table, change: Change, expected: dict[str, Any]) -> None:
    after = apply_change(before, change)
    assert {key: getattr(after, key) for key in expected} == expected


REFUSALS: dict[str, tuple[Table, Change, int | None, str]] = {
    "add what is there": (ORC, AddColumns(columns("b int")), 10036, "Duplicate column name: b"),
    "add a partition column": (PARTED, AddColumns(columns("ds int")), 40000, "conflicts"),
    "replace by a partition column": (
        replace(PARTED, format="textfile"), ReplaceColumns(columns("ds int, b string, c int")),
        40000, "conflicts"),
    "replace by a column twice": (
        TEXT, ReplaceColumns(columns("a int, a int")), 40000, "a in the table definition"),
    "rename to a partition column": (PARTED, change("a", "ds int"), 40000, "conflicts"),
    "ORC drops no columns": (ORC, ReplaceColumns(columns("a int")), 10313, "cannot drop columns"),
    "ORC narrows no columns": (
        ORC, ReplaceColumns(columns("a int, b string, c int")), 40013, "incompatible"),
    "columns of text keep their types, by position": (
        TEXT, ReplaceColumns(columns("b string, a int")), 40013, "a .string to int"),
    "bucket columns stay": (SORTED, ReplaceColumns(columns("z int")), 10002, "reference a"),
    "replace Avro": (
        replace(ORC, format="avro"), ReplaceColumns(columns("z int")), 10243, "Replace"),
    "rename to what is there": (ORC, change("a", "b int"), 10036, "Duplicate column name: b"),
    "change what is not there": (ORC, change("zz", "y int"), 10002, "reference zz"),
    "change a partition column": (PARTED, change("ds", "d string"), 10002, "reference ds"),
    "rename where names find columns": (ORC, RenameColumn("a", "k"), None, "lose their values"),
    "rename what is not there": (FULL, RenameColumn("zz", "k"), 10002, "reference zz"),
    "rename a column to another": (FULL, RenameColumn("a", "b"), 10036, "Duplicate"),
    "drop where places find columns": (FULL, DropColumns(("a",)), None, "take over the values"),
    "drop what is not there": (
        replace(ORC, format="json"), DropColumns(("zz",)), 10002, "reference zz"),
    "drop everything": (
        replace(ORC, format="json"), DropColumns(("a", "b", "c")), None, "needs one"),
    "text to int": (ORC, change("b", "b int"), 40013, "incompatible"),
    "ORC moves no columns": (ORC, change("a", "a int", after="b"), 10311, "Reordering"),
    "types stay in their places": (TEXT, change("c", "c2 string", first=True), 40013, "a "),
    "after what is not there": (TEXT, change("a", "a int", after="z"), 10002, "reference z"),
    "unknown partition column": (PARTED, ChangePartitionColumn(Column.of("x", "int")), 10002, "x"),
    "unset what is not there": (ORC, ChangeProperties(unset=("no",)), 10215, "no does not exist"),
    "ACID stays ACID": (
        FULL, ChangeProperties(set={"transactional": "false"}), 40000,
        "Cannot change 'transactional' without 'transactional_properties'"),
    "ACID stays ACID, with its kind": (
        FULL, ChangeProperties(set={"transactional": "false", **KIND}), 40013, "cannot be unset"),
    "not ACID, without its kind": (
        ORC, ChangeProperties(set={"transactional": "false"}), 40000,
        "Cannot change 'transactional' without 'transactional_properties'"),
    "insert-only, but not transactional": (
        ORC, ChangeProperties(set={"transactional_properties": "insert_only"}), 40000,
        "without setting 'transactional' to 'true'"),
    "insert-only to a kind that is none": (
        replace(ORC, properties=INSERT_ONLY),
        ChangeProperties(set={"transactional_properties": "foo"}), 40000, "'foo'"),
    "insert-only text to full ACID": (
        replace(TEXT, properties=INSERT_ONLY), ChangeProperties(set=KIND), 40000, "ACID compliant"),
    "ACID is not unset": (
        FULL, ChangeProperties(unset=("transactional",)), 40013, "cannot be unset"),
    "insert-only stays transactional": (
        replace(ORC, properties=INSERT_ONLY), ChangeProperties(unset=("transactional",)), 40000,
        "Cannot convert an ACID table to non-ACID"),
    "full ACID to insert-only": (
        FULL, ChangeProperties(set={"transactional_properties": "insert_only"}), 40013,
        "cannot be altered after the table is created"),
    "ACID to external": (
        FULL, ChangeProperties(set={"EXTERNAL": "TRUE"}), 40013, "cannot be converted"),
    "a table with constraints to external": (
        replace(ORC, constraints=(Constraint(kind="not null", name="n", columns=("a",)),)),
        ChangeProperties(set={"EXTERNAL": "TRUE"}), 10326, "has constraints enabled"),
    "external to ACID": (
        OUTSIDE, ChangeProperties(set={"transactional": "true"}), 40013, "external"),
    "text to ACID": (
        TEXT, ChangeProperties(set={"transactional": "true"}), 40013,
        "ACID compliant"),
    "sorted to ACID": (
        replace(SORTED, format="orc"), ChangeProperties(set={"transactional": "true"}), 40013,
        "it is sorted"),
    "maybe transactional": (
        ORC, ChangeProperties(set={"transactional": "maybe", **KIND}), 40013, "may only"),
    "ORC stays ORC": (ORC, ChangeFormat("parquet"), 40000, "Changing file format .from ORC."),
    "ORC keeps its serde": (
        ORC, ChangeSerde(serde="x", format="textfile"), 40000, "Changing SerDe"),
    "text keeps its serde": (
        TEXT, ChangeSerde(serde="x", format="avro"), None, "not supported: SET SERDE 'x'"),
    "count without buckets": (ORC, ChangeBucketCount(7), 10145, "not bucketized"),
    "no buckets": (ORC, ChangeBuckets(columns=("a",), count=0), None, "greater than zero"),
    "buckets by what is not there": (ORC, ChangeBuckets(columns=("z",), count=2), 10002, "z"),
    "sorted ACID": (
        FULL, ChangeBuckets(columns=("a",), sort_columns=("a",), count=2), 40013, "it is sorted"),
}  # fmt: skip


@pytest.mark.parametrize(("before", "change", "code", "text"), REFUSALS.values(), ids=REFUSALS)
def test_what_is_refused(before: Table, change: Change, code: int | None, text: str) -> None:
    with pytest.raises(HiveSqlError, match=text) as caught:
        apply_change(before, change)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("int", "bigint", True), ("bigint", "int", False), ("int", "double", True),
        ("double", "int", False), ("int", "string", True), ("string", "int", False),
        ("string", "double", True), ("string", "decimal(10,2)", True), ("string", "date", False),
        ("date", "string", True), ("date", "timestamp", True), ("timestamp", "date", False),
        ("varchar(3)", "varchar(9)", True), ("varchar(3)", "string", True),
        ("binary", "string", False), ("boolean", "string", True), ("boolean", "int", False),
        ("decimal(5,2)", "decimal(10,2)", True), ("array<int>", "array<bigint>", True),
        ("array<int>", "string", False), ("int", "array<int>", False),
    ],
)  # fmt: skip
def test_types_that_may_follow_each_other(old: str, new: str, expected: bool) -> None:
    assert check_compatible(HiveType.parse(old), HiveType.parse(new)) is expected
