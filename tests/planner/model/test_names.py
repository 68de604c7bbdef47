"""Names that Hive 4.1 takes and refuses, and the directories that it makes of them."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace

import pytest

from hivesql_planner.errors import HiveSqlError, NotSupported, SemanticError
from hivesql_planner.model.names import (
    check_column_name,
    check_database_name,
    check_table,
    check_table_name,
)
from hivesql_planner.model.table import Column, Database, Table, TableName, directory_of

OUTSIDE = ["", " ", ".", "..", "../x", "a.b", "a\\b", "tab\there", "tä", "x" * 257]


@pytest.mark.parametrize("name", OUTSIDE)
@pytest.mark.parametrize("special", [True, False])
def test_no_table_has_such_a_name(name: str, special: bool) -> None:
    with pytest.raises(SemanticError) as caught:
        check_table_name(name, special=special)
    assert caught.value.code == 40000


@pytest.mark.parametrize(
    ("name", "directory"),
    [
        ("t_1", "t_1"),
        ("_a", "_a"),
        ("123", "123"),
        ("sel ect", "sel-32-ect"),
        ("a/b", "a-47-b"),
        ("x'; drop table tbls; --", "x-39--59--32-drop-32-table-32-tbls-59--32--45--45-"),
        (
            "a~b!c^d(e)f{g}h[i]j?k>l<m,n:o+p&q'r",
            "a-126-b-33-c-94-d-40-e-41-f-123-g-125-h-91-i-93-j-63-k-62-l-60-m-44-n-58-o-43-p-38-q-39-r",
        ),
        ('a@b#c$d%e|f=g`h"i*', "a-64-b-35-c-36-d-37-e-124-f-61-g-96-h-34-i-42-"),
    ],
)
def test_directories_are_named_as_hive_names_them(name: str, directory: str) -> None:
    check_table_name(name)
    assert directory_of(name) == directory
    home = Database(name="d", location="/w/d.db").home_of(name, managed=True)
    assert home == f"/w/d.db/{directory}"
    refused = pytest.raises(SemanticError) if directory != name else nullcontext()
    with refused:
        check_table_name(name, special=False)


@pytest.mark.parametrize("name", [*OUTSIDE, "a/b", "../evil", "a:b", "test.db", "d" * 129])
def test_no_database_has_such_a_name(name: str) -> None:
    with pytest.raises(SemanticError) as caught:
        check_database_name(name)
    assert caught.value.code == 40000


def test_databases_may_have_special_characters_as_tables() -> None:
    check_database_name("d b")
    check_database_name("d$b-1")
    with pytest.raises(SemanticError):
        check_database_name("d b", special=False)


@pytest.mark.parametrize(
    ("name", "error", "code"),
    [
        ("row__id", SemanticError, 10328),
        ("input__file__name", SemanticError, 10328),
        ("row__is__deleted", SemanticError, 10328),
        ("grouping__id", SemanticError, 10328),
        ("c" * 768, SemanticError, 40000),
        ("a\nb", NotSupported, None),
        ("", NotSupported, None),
    ],
)
def test_no_column_has_such_a_name(name: str, error: type[HiveSqlError], code: int | None) -> None:
    with pytest.raises(error) as caught:
        check_column_name(name)
    assert caught.value.code == code


def test_columns_may_have_most_characters() -> None:
    for name in ("a b", "c/d", "e'f", "g,h", 'é"x', "k.l", "..", "c" * 767, "\\"):
        check_column_name(name)
    check_column_name("c" * 128, in_partition=True)
    with pytest.raises(SemanticError):
        check_column_name("c" * 129, in_partition=True)


@pytest.mark.parametrize(
    ("column", "type_"),
    [("a b", "int"), ("a=b", "int"), ("x,y", "int"), ("a(b", "int"), ("c;d", "int"), ("{", "int"),
     ("s", "array<struct<`a b`:int>>")],
)  # fmt: skip
def test_hive_reads_no_parquet_with_such_a_name(column: str, type_: str) -> None:
    text = Table(
        name=TableName("default", "t"), location="/w/t", format="textfile",
        columns=(Column.of("id", "int"), Column.of(column, type_)),
    )  # fmt: skip
    check_table(text)
    parquet = replace(text, format="parquet")
    plain = replace(parquet, columns=parquet.columns[:1])
    keyed = replace(plain, partition_columns=(Column.of("p q", "int"),))
    for table, before in ((parquet, None), (parquet, text), (parquet, plain), (keyed, None)):
        with pytest.raises(NotSupported, match="in a Parquet table"):
            check_table(table, before)
    # What a catalog has stays as it is.
    check_table(replace(parquet, properties={"a": "b"}), parquet)
