"""Databases and tables, there and back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest

from hivesql_executor.metastore.api import CommitEntries, Metastore, NewColumns, TableNote
from hivesql_executor.metastore.database.schema import (
    cds,
    columns_v2,
    partition_key_vals,
    partition_keys,
    partitions,
    sds,
    serdes,
    table_params,
    tbls,
)
from hivesql_planner.acid.write_ids import ValidWriteIdList
from hivesql_planner.errors import NoSuchObject, SemanticError, StaleSnapshot
from hivesql_planner.model.materialized import MATERIALIZED, Materialized
from hivesql_planner.model.skew import Skew
from hivesql_planner.model.table import (
    Column,
    Constraint,
    Database,
    FileFormat,
    Partition,
    Table,
    TableName,
)

FULL = Table(
    name=TableName("default", "full"),
    columns=(Column.of("a", "int", "first"), Column.of("b", "struct<x:int,y:array<string>>")),
    location="/elsewhere/full",
    partition_columns=(Column.of("p", "string", "day"), Column.of("q", "int")),
    type="EXTERNAL_TABLE",
    format="textfile",
    properties={"transactional": "false", "k": "v' \"%"},
    serde_properties={"field.delim": ","},
    bucket_columns=("a", "b"),
    bucket_count=4,
    sort_columns=("b", "a"),
    sort_descending=("a",),
    skew=Skew(columns=("a", "b"), values=(("1", "x'"), ("2", ";")), in_directories=True),
    owner_type="ROLE",
    owner="ann",
    created_at=1700000000,
    comment="all of it: ü",
    constraints=(
        Constraint(kind="primary key", name="pk", columns=("a", "b"), enabled=False, rely=False),
        Constraint(kind="check", name="cc", text="a > 0 AND b IS NOT NULL"),
        Constraint(kind="default", name="dc", columns=("a",), text="'it\\'s'"),
        Constraint(kind="not null", name="nn", columns=("a",)),
        Constraint(
            kind="foreign key",
            name="fk",
            columns=("a",),
            enabled=False,
            parent=TableName("d", "p"),
            parent_columns=("x",),
        ),
    ),
)
VIEW = Table(
    name=TableName("default", "v"),
    columns=(Column.of("a", "int"),),
    location="",
    type="VIRTUAL_VIEW",
    view_text="SELECT `t`.`a` FROM `default`.`t`",
    view_original="SELECT a FROM t",
    created_at=5,
)


KEPT = replace(
    VIEW,
    name=TableName("default", "kept"),
    type="MATERIALIZED_VIEW",
    location="/kept",
    materialized=Materialized(
        sources={"default.full": "3:2:2:1", "d.p": None}, rewrite=False, incremental="all"
    ),
)


@pytest.mark.parametrize("table", [FULL, VIEW, KEPT], ids=["table", "view", "kept view"])
def test_every_field_of_a_table_comes_back(metastore: Metastore, table: Table) -> None:
    created = metastore.create_table(table)
    assert created == metastore.table(table.name)
    assert replace(created, id=0) == table
    assert created.id > 0


@pytest.mark.thrift
def test_some_tables_are_near_a_name(metastore: Metastore) -> None:
    for name in ("stock", "sto_ck", "stalks", "shock", "clerks"):
        metastore.create_table(replace(VIEW, name=TableName("default", name)))

    def found(most: int, near: str = "") -> list[str]:
        return [table.name for table in metastore.some_tables("Default", most, near)]

    assert found(9) == ["clerks", "shock", "stalks", "sto_ck", "stock"]
    assert found(9, "STOKC") == ["stalks", "sto_ck", "stock"]
    assert found(9, "hsock") == ["shock", "sto_ck", "stock"]
    assert found(9, "sto_dy") == ["sto_ck", "stock"]
    assert found(9, "%%") == []
    assert len(found(2)) == 2


@pytest.mark.parametrize("format", get_args(FileFormat))
def test_every_format_comes_back(metastore: Metastore, format: FileFormat) -> None:
    assert metastore.create_table(replace(FULL, format=format)).format == format


@pytest.mark.parametrize(
    "change",
    [
        {"columns": (Column.of("z", "date"),), "skew": None},
        {"properties": {}},
        {"partition_columns": (Column.of("p", "date"), Column.of("q", "int"))},
        {"format": "orc", "serde_properties": {}},
        {"type": "MANAGED_TABLE"},
        {"bucket_columns": (), "bucket_count": 0, "sort_columns": (), "sort_descending": ()},
        {"skew": None},
        {"skew": Skew(columns=("b",), values=(("é",),))},
        {"location": "/moved", "owner": "bob", "comment": None},
        {"view_text": "SELECT 1", "view_original": "SELECT 1", "type": "VIRTUAL_VIEW"},
    ],
    ids=lambda change: "+".join(change),
)
def test_alter_replaces_any_field(metastore: Metastore, change: dict[str, Any]) -> None:
    created = metastore.create_table(FULL)
    altered = replace(created, **change)
    metastore.alter_table(FULL.name, altered)
    assert metastore.table(FULL.name) == altered


def test_what_a_materialized_view_was_made_from_stays(metastore: Metastore) -> None:
    metastore.create_table(FULL)
    kept = metastore.create_table(KEPT)
    with pytest.raises(SemanticError, match=r"used in the following .* \[default.kept\]"):
        metastore.drop_table(FULL.name)
    assert kept.materialized is not None
    altered = replace(kept, materialized=replace(kept.materialized, rewrite=True))
    metastore.alter_table(KEPT.name, altered)
    assert metastore.table(KEPT.name) == altered
    txn_id = metastore.open_txns(1, "ann", "here")[0]
    told = kept.materialized.seen({"default.full": ValidWriteIdList(7)})
    note = TableNote(KEPT.name, MATERIALIZED, told.written())
    metastore.commit_txn(txn_id, entries=CommitEntries(note=note))
    assert metastore.table(KEPT.name).materialized == replace(told, rewrite=True)
    metastore.create_database(Database(name="d", location="/d"))
    source = replace(VIEW, name=TableName("d", "p"))
    metastore.create_table(source)
    metastore.create_table(
        replace(KEPT, name=TableName("d", "z"), materialized=Materialized(sources={"d.p": None}))
    )
    with pytest.raises(SemanticError, match=r"\[d.z, default.kept\]"):
        metastore.drop_table(source.name)
    metastore.drop_table(KEPT.name)
    metastore.drop_database("d", cascade=True)
    metastore.drop_table(FULL.name)


def test_columns_come_with_a_commit(metastore: Metastore, make_table: Callable[..., Table]) -> None:
    """Where the table got others meanwhile, nothing is changed and nothing committed."""
    before = make_table("t", ["p"])
    metastore.add_partitions(before.name, [Partition(values=("x",), location="/x")])
    added = NewColumns(before, (*before.columns, Column.of("c", "date")))
    first, second = metastore.open_txns(2, "ann", "here")
    metastore.commit_txn(first, entries=CommitEntries(note=added))
    after = metastore.table(before.name)
    assert [column.name for column in after.columns] == ["a", "c"]
    assert [partition.storage for partition in metastore.partitions(before.name)] == [None]
    with pytest.raises(StaleSnapshot):
        metastore.commit_txn(second, entries=CommitEntries(note=added))
    assert metastore.table(before.name) == after
    assert metastore.abort_txns([second], "stale") == (second,)


def test_locations_are_chosen_by_the_catalog(metastore: Metastore) -> None:
    metastore.create_database(Database(name="Sales", location=""))
    metastore.create_database(Database(name="far", location="s3://b/far"))
    places = {
        name: metastore.create_table(replace(FULL, name=TableName(name, "T"), location="")).location
        for name in ("default", "SALES", "far")
    }
    assert places == {
        "default": "/wh/t",
        "SALES": "/wh/sales.db/t",
        "far": "s3://b/far/t",
    }
    assert metastore.create_table(VIEW).location == ""


def test_databases_come_back_in_lower_case(metastore: Metastore) -> None:
    new = Database(name="D", location="/d", comment="c", properties={"k": "v"}, owner="ann")
    metastore.create_database(new)
    assert metastore.database("d") == metastore.database("D") == replace(new, name="d")
    assert metastore.databases() == ("d", "default")
    assert metastore.database("default").location == "/wh"


@pytest.mark.thrift
def test_names_are_lower_case(metastore: Metastore) -> None:
    metastore.create_table(
        replace(VIEW, name=TableName("DEFAULT", "MiXed"), columns=(Column.of("Ab", "int"),))
    )
    assert metastore.tables("Default") == (TableName("default", "mixed"),)
    assert metastore.table(TableName("Default", "MIXED")).column_names == ("ab",)


def test_what_exists_is_refused_or_left_alone(metastore: Metastore) -> None:
    created = metastore.create_table(FULL)
    assert metastore.create_table(replace(FULL, comment="x"), if_not_exists=True) == created
    with pytest.raises(SemanticError) as table:
        metastore.create_table(FULL)
    metastore.create_database(Database(name="default", location=""), if_not_exists=True)
    with pytest.raises(SemanticError) as database:
        metastore.create_database(Database(name="default", location=""))
    assert (table.value.code, database.value.code) == (10073, 10242)


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda m: m.table(TableName("default", "no")), 10001),
        (lambda m: m.table(TableName("no", "no")), 10072),
        (lambda m: m.tables("no"), 10072),
        (lambda m: m.database("no"), 10072),
        (lambda m: m.drop_database("no"), 10072),
        (lambda m: m.create_table(replace(FULL, name=TableName("no", "t"))), 10072),
        (lambda m: m.drop_table(TableName("default", "no")), 10001),
        (lambda m: m.alter_table(TableName("default", "no"), FULL), 10001),
        (lambda m: m.partitions(TableName("default", "no")), 10001),
    ],
)
@pytest.mark.thrift
def test_unknown_objects(
    metastore: Metastore, call: Callable[[Metastore], object], code: int
) -> None:
    with pytest.raises(NoSuchObject) as error:
        call(metastore)
    assert error.value.code == code


@pytest.mark.thrift
def test_what_a_table_is_skewed_by_comes_back(metastore: Metastore, tmp_path: Path) -> None:
    name = TableName("default", "skewed")
    metastore.create_table(
        Table(
            name=name,
            columns=(Column.of("a", "int"), Column.of("b", "string")),
            location=str(tmp_path / "t"),
            type="EXTERNAL_TABLE",
            skew=Skew(columns=("a", "b"), values=(("1", "x'"), ("2", "é;"))),
        )
    )
    created = metastore.table(name)
    assert created.skew == Skew(columns=("a", "b"), values=(("1", "x'"), ("2", "é;")))
    for skew in (Skew(columns=("b",), values=(("y",),)), None):
        before = metastore.table(name)
        metastore.alter_table(name, replace(before, skew=skew))
        assert metastore.table(name) == replace(before, skew=skew)


def test_drop_table_leaves_no_row(metastore: Metastore, store: Any) -> None:
    metastore.create_table(FULL)
    metastore.add_partitions(FULL.name, [Partition(values=("x", "1"), location="")])
    metastore.drop_table(FULL.name)
    for table in (tbls, sds, serdes, cds, partitions):
        assert store.rows(table, "id") == []
    for table in (table_params, columns_v2, partition_keys, partition_key_vals):
        assert store.rows(table, "owner_id") == []


def test_drop_database(metastore: Metastore) -> None:
    metastore.create_database(Database(name="d", location=""))
    metastore.create_table(replace(FULL, name=TableName("d", "t")))
    with pytest.raises(SemanticError, match="not empty"):
        metastore.drop_database("d")
    metastore.drop_database("d", cascade=True)
    with pytest.raises(SemanticError, match="default"):
        metastore.drop_database("default", cascade=True)
    assert metastore.databases() == ("default",)


def test_rename_moves_partitions_under_the_table(metastore: Metastore) -> None:
    metastore.create_database(Database(name="d", location=""))
    created = metastore.create_table(replace(FULL, location=""))
    inside = Partition(values=("x", "1"), location="")
    outside = Partition(values=("y", "1"), location="/out")
    metastore.add_partitions(FULL.name, [inside, outside])
    to = TableName("d", "n")
    metastore.alter_table(FULL.name, replace(created, name=to, location="/wh/d.db/n"))
    assert metastore.tables("default") == ()
    assert metastore.table(to).id == created.id
    assert [p.location for p in metastore.partitions(to)] == ["/wh/d.db/n/p=x/q=1", "/out"]


def test_rename_onto_another_table_is_refused(metastore: Metastore) -> None:
    created = metastore.create_table(FULL)
    metastore.create_table(VIEW)
    with pytest.raises(SemanticError) as error:
        metastore.alter_table(FULL.name, replace(created, name=VIEW.name))
    assert error.value.code == 10073


def test_a_database_becomes_what_is_said(metastore: Metastore) -> None:
    made = Database(name="d", location="/d", comment="c", properties={"a": "b"})
    metastore.create_database(made)
    other = replace(
        made, location="/e", managed_location="/m", owner="r", owner_type="ROLE",
        properties={"x": "y"},
    )  # fmt: skip
    metastore.alter_database(other)
    assert metastore.database("d") == other
    new = Table(name=TableName("d", "t"), columns=(Column.of("a", "int"),), location="")
    assert metastore.create_table(new).location == "/m/t"
    with pytest.raises(NoSuchObject):
        metastore.alter_database(replace(made, name="nosuch"))
