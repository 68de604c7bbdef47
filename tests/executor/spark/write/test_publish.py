"""Where files of tables without row ids go, and what overwriting them does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from acid_files import tree
from hivesql_planner.errors import NotSupported
from hivesql_planner.model.table import Column
from hivesql_planner.plan import WriteKind
from tables import INSERT_ONLY, make_table, parsed

if TYPE_CHECKING:
    pass

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("table_format", ["orc", "parquet", "textfile", "json"])
def test_insert_only_tables(insert: Any, tmp_path: Path, table_format: Any) -> None:
    table = make_table(tmp_path, properties=INSERT_ONLY, format=table_format)
    written = insert(table, "select * from values (1, 'x'), (2, null)", statement_id=1)
    assert all(Path(f.path).parent == tmp_path / "delta_0000001_0000001_0001" for f in written)
    assert Path(written[0].path).name == "000000_0"
    assert sum(file.rows for file in written) == 2
    written = insert(table, "select 3, 'z'", kind=WriteKind.BASE, write_id=2)
    assert [file.path for file in written] == [f"{tmp_path}/base_0000002/000000_0"]


@pytest.mark.parametrize("table_format", ["orc", "textfile"])
def test_insert_only_overwrite_with_no_rows(insert: Any, tmp_path: Path, table_format: Any) -> None:
    table = make_table(tmp_path, properties=INSERT_ONLY, format=table_format)
    written = insert(table, "select 1, 'x' where false", kind=WriteKind.BASE)
    assert [file.rows for file in written] == [0]
    assert tree(tmp_path) == ["base_0000001/000000_0"]


@pytest.mark.parametrize("table_format", ["orc", "parquet", "textfile", "json"])
def test_plain_tables_append_and_overwrite(insert: Any, tmp_path: Path, table_format: Any) -> None:
    table = make_table(tmp_path, properties={}, format=table_format)
    (first,) = insert(table, "select 1, 'x'", kind=WriteKind.FILES)
    (second,) = insert(table, "select 2, 'y'", kind=WriteKind.FILES)
    assert (first.rows, second.rows) == (1, 1)
    assert tree(tmp_path) == ["000000_0", "000000_0_copy_1"]
    insert(table, "select 3, 'z'", kind=WriteKind.FILES, overwrite=True)
    assert tree(tmp_path) == ["000000_0_copy_2"]
    insert(table, "select 3, 'z' where false", kind=WriteKind.FILES, overwrite=True)
    assert tree(tmp_path) == []


def test_plain_overwrite_keeps_the_old_files_when_the_job_fails(
    insert: Any, tmp_path: Path
) -> None:
    table = make_table(tmp_path, properties={}, format="textfile")
    insert(table, "select 1, 'x'", kind=WriteKind.FILES)
    with pytest.raises(Exception, match="boom"):
        insert(table, "select raise_error('boom'), 'x' from range(2)", kind=WriteKind.FILES,
               overwrite=True)  # fmt: skip
    assert tree(tmp_path) == ["000000_0"]


def test_delimited_text(insert: Any, tmp_path: Path) -> None:
    columns = "a int, b string, c decimal(20,10), d timestamp, e boolean, f double"
    table = make_table(tmp_path, columns, properties={}, format="textfile")
    insert(table, "select 1, null, 0, timestamp'2020-01-01 00:00:00.5', true, 1D",
           kind=WriteKind.FILES)  # fmt: skip
    line = (tmp_path / "000000_0").read_text(encoding="utf-8")
    assert line.split("\x01") == [
        "1",
        "\\N",
        "0.0000000000",
        "2020-01-01 00:00:00.5",
        "true",
        "1.0\n",
    ]


def test_delimiter_of_the_table(insert: Any, tmp_path: Path) -> None:
    serde = {"field.delim": ",", "serialization.null.format": "-"}
    table = make_table(tmp_path, properties={}, format="textfile", serde_properties=serde)
    insert(table, "select 1, null", kind=WriteKind.FILES)
    assert (tmp_path / "000000_0").read_text(encoding="utf-8") == "1,-\n"


def test_plain_column_named_like_a_staging_key(insert: Any, tmp_path: Path) -> None:
    table = make_table(
        tmp_path, "p0 int, n string", properties={}, partition_columns=parsed("k string")
    )
    (file,) = insert(table, "select 1, 'x', 'v'", kind=WriteKind.FILES, dynamic=["k"])
    assert file.path == f"{tmp_path}/k=v/000000_0"


@pytest.mark.parametrize("form", ["sequencefile", "sequencebinary", "rcfile", "rctext"])
def test_rows_of_hives_containers_are_counted(insert: Any, tmp_path: Path, form: str) -> None:
    table = make_table(tmp_path, format=form, properties={})
    rows = "select explode(sequence(1, 3000)) as a, repeat('x', 700) as b"
    written = insert(table, f"{rows} union all select 1, null", kind=WriteKind.FILES)
    assert sum(file.rows for file in written) == 3001
    assert {Path(file.path).read_bytes()[:3] for file in written} == {
        b"SEQ" if form.startswith("sequence") else b"RCF"
    }


def test_bytes_that_hold_a_line_break_are_no_line(insert: Any, tmp_path: Path) -> None:
    table = make_table(tmp_path, format="lazybinary", properties={})
    rows = "select 1 as a, 'x' as b union all select null, null"
    assert sum(file.rows for file in insert(table, rows, kind=WriteKind.FILES)) == 2
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(Exception, match=r"a row hold a line break, .* store the table AS SEQUENCE"):
        insert(table, "select 10 as a, 'x' as b", kind=WriteKind.FILES)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("kind", ["timestamp with local time zone", "array<date>"])
def test_refused_by_name(insert: Any, tmp_path: Path, kind: str) -> None:
    columns = (Column.of("a", "int"), Column.of("b", kind))
    table = replace(make_table(tmp_path, format="rcfile", properties={}), columns=columns)
    with pytest.raises(NotSupported, match="RCFile"):
        insert(table, "select 1, null", kind=WriteKind.FILES)
    assert list(tmp_path.rglob("*")) == []


@pytest.mark.parametrize("form", ["rcfile", "rctext"])
def test_times_of_another_calendar_are_not_written(insert: Any, tmp_path: Path, form: str) -> None:
    columns = (Column.of("a", "int"), Column.of("b", "date"))
    table = replace(make_table(tmp_path, format=form, properties={}), columns=columns)
    with pytest.raises(Exception, match="times before 1582-10-15 in RCFile"):
        insert(table, "select 1, date '1582-10-04'", kind=WriteKind.FILES)
    assert list(tmp_path.rglob("*")) == []
