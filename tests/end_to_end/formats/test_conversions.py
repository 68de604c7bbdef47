"""Columns whose type was changed after their files were written, as real Hive 4.1 reads them."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import pytest

import hivesql
from hivesql.rendering.hive_text import hive_text, with_hive_types
from hivesql_planner.errors import DataError
from hivesql_planner.model.table import Column, TableName

pytestmark = pytest.mark.spark

RECORDED = Path(__file__).parents[2] / "hive_results" / "conversions.tsv"
STORED = {
    "STORED AS ORC TBLPROPERTIES ('transactional'='true')": 0,
    "STORED AS ORC": 0,
    "STORED AS TEXTFILE": 1,
}
# Spark counts days before 1582-10-15 in the proleptic calendar, ORC in Hive as the file does.
OLD_NUMBERS = ("BIGINT", "DOUBLE", "DECIMAL(20,3)")


class Change(NamedTuple):
    """A column that was of one type and is of another; values as SQL, then what Hive reads."""

    before: str
    after: str
    values: tuple[str, ...]
    read: tuple[tuple[str, ...], tuple[str, ...]]


def changes() -> list[Change]:
    with RECORDED.open(encoding="utf-8") as file:
        rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))[1:]
    found = []
    for (before, after), group in groupby(rows, key=lambda row: (row[0], row[2])):
        lines = list(group)
        for start in range(0, len(lines), 4):
            four = lines[start : start + 4]
            found.append(
                Change(before, after, tuple(row[1] for row in four),
                       (tuple(row[3] for row in four), tuple(row[4] for row in four)))
            )  # fmt: skip
    return [one for one in found if "[refused]" not in one.read[0]]


def as_hive_shows(value: object) -> str:
    if value is None:
        return "[NULL]"
    return f"[{str(value).lower() if isinstance(value, bool) else value}]"


@pytest.mark.parametrize("stored", STORED)
def test_columns_of_another_type(session: hivesql.Session, stored: str) -> None:
    cases = changes()
    assert len(cases) > 80
    columns = ", ".join(f"c{i} {one.before}" for i, one in enumerate(cases))
    rows = " UNION ALL ".join(
        f"SELECT {at}, {', '.join(f'CAST({c.values[at]} AS {c.before})' for c in cases)}"
        for at in range(4)
    )
    session.sql(f"CREATE TABLE t (k INT, {columns}) {stored}; INSERT INTO t {rows}")
    store = session.runtime.metastore
    name = TableName("default", "t")
    table = store.table(name)
    changed = [Column.of(f"c{i}", one.after.lower()) for i, one in enumerate(cases)]
    store.alter_table(name, replace(table, columns=(table.columns[0], *changed)))
    shown = ", ".join(
        f"hex(c{i})" if one.after == "BINARY"
        else f"c{i}" if one.after.startswith(("CHAR", "BOOLEAN"))
        else f"CAST(c{i} AS STRING)"
        for i, one in enumerate(cases)
    )  # fmt: skip
    found = session.sql(f"SELECT k, {shown} FROM t ORDER BY k").rows
    for i, one in enumerate(cases):
        for at, value in enumerate(one.values):
            if one.before == "TIMESTAMP" and "1500" in value and one.after in OLD_NUMBERS:
                continue
            told = as_hive_shows(found[at][i + 1])
            assert told == one.read[STORED[stored]][at], (one.before, one.after, value)


NESTED = {
    "MAP<STRING,INT>": ("map('1', 1, 'x', 2, '02', 3, '2', 4)", "MAP<INT,BIGINT>", "{1:1,2:4}"),
    "MAP<STRING,MAP<STRING,BIGINT>>": (
        "map('k', map('5', 6L, 'z', 7L))", "MAP<STRING,MAP<INT,STRING>>", '{"k":{5:"6"}}'),
    "ARRAY<MAP<STRING,STRUCT<x:INT>>>": (
        "array(map('7', named_struct('x', 8)))", "ARRAY<MAP<INT,STRUCT<x:BIGINT,y:STRING>>>",
        '[{7:{"x":8,"y":null}}]'),
    "MAP<STRING,ARRAY<INT>>": ("map('9', array(1, 2))", "MAP<INT,ARRAY<STRING>>", '{9:["1","2"]}'),
    "MAP<TINYINT,STRUCT<x:BIGINT>>": (
        "map(1Y, named_struct('x', 5L))", "MAP<INT,STRUCT<x:BIGINT,y:STRING>>",
        '{1:{"x":5,"y":null}}'),
}  # fmt: skip
"""Types, a value of each as SQL, other types, and what real Hive 4.1 then shows.

But for keys that are no numbers, which it shows as NULL: Spark's maps have no such keys.
"""


def test_maps_with_keys_of_another_type(session: hivesql.Session) -> None:
    """A partition keeps the types that it was written with; what is in it is converted."""
    columns = ", ".join(f"c{i} {before}" for i, before in enumerate(NESTED))
    values = ", ".join(value for value, _, _ in NESTED.values())
    session.sql(f"""
        CREATE TABLE t ({columns}) PARTITIONED BY (p INT) STORED AS TEXTFILE;
        INSERT INTO t SELECT {values}, 1;
        SET hive.metastore.disallow.incompatible.col.type.changes=false
    """)
    for i, (_, after, _) in enumerate(NESTED.values()):
        session.sql(f"ALTER TABLE t CHANGE c{i} c{i} {after}")
    result = session.sql("SELECT * FROM t")
    (row,) = with_hive_types(result.types, result.rows)
    assert [hive_text(value) for value in row[:-1]] == [shown for _, _, shown in NESTED.values()]


_TEXTS = ("STRING", "CHAR(3)", "CHAR(5)", "VARCHAR(3)", "VARCHAR(5)")
_ARROW_READS_ALIKE = [
    (form.format(before), form.format(after), value)
    for form, value in (
        ("{}", "'ab '"),
        ("STRUCT<f:{}>", "named_struct('f', CAST('ab ' AS {}))"),
        ("ARRAY<{}>", "array(CAST('ab ' AS {}))"),
    )
    for before in _TEXTS
    for after in _TEXTS
    if before != after
]


def test_without_spark_texts_of_another_type_are_the_same(session: hivesql.Session) -> None:
    """Arrow reads all kinds of texts as one; blanks at the end are padding in CHAR alone."""
    columns = ", ".join(f"c{i} {before}" for i, (before, _, _) in enumerate(_ARROW_READS_ALIKE))
    inner = re.compile(r"(?:STRUCT<f:|ARRAY<)?([^<>]*)>?")
    values = ", ".join(
        value.format(inner.fullmatch(before)[1])  # type: ignore[index]
        for before, _, value in _ARROW_READS_ALIKE
    )
    session.sql(f"""
        CREATE TABLE t (k INT, {columns}) STORED AS ORC TBLPROPERTIES ('transactional'='true');
        INSERT INTO t SELECT 1, {values};
        SET hive.metastore.disallow.incompatible.col.type.changes=false
    """)
    for i, (_, after, _) in enumerate(_ARROW_READS_ALIKE):
        session.sql(f"ALTER TABLE t CHANGE c{i} c{i} {after}")

    def see() -> list[tuple[object, ...]]:
        found = []
        for i, (_, after, _) in enumerate(_ARROW_READS_ALIKE):
            path = {"S": f"c{i}.f", "A": f"c{i}[0]"}.get(after[0] if "<" in after else "", f"c{i}")
            for query in (f"SELECT c{i} FROM t", f"SELECT k FROM t WHERE {path} = 'ab'"):
                found.append((after, query, *map(str, session.sql(query).rows)))
        return found

    without_spark = see()
    session.sql("SET hivesql.local.max.bytes=0")
    assert without_spark == see()
    session.sql("RESET hivesql.local.max.bytes; DELETE FROM t WHERE c0 = 'ab' OR c4 = 'ab'")
    assert [tuple(row) for row in session.sql("SELECT count(*) FROM t").rows] == [(0,)]


_DECIMALS = ("1.50", "-7.00", "300.00", None)
_AS_HIVE_READS_THEM: dict[str, tuple[float | None, ...]] = {
    "DOUBLE": (1.5, -7.0, 300.0, None),
    "FLOAT": (1.5, -7.0, 300.0, None),
    "INT": (None, -7, 300, None),
    "BIGINT": (None, -7, 300, None),
    "TINYINT": (None, -7, None, None),
}


def test_decimals_of_parquet_are_numbers_with_their_point(session: hivesql.Session) -> None:
    """Spark reads the digits alone, as 150. Two files of one table may have different types."""
    kinds = ("DECIMAL(5,2)", "DECIMAL(12,2)")
    pairs = [(before, after) for before in kinds for after in _AS_HIVE_READS_THEM]
    columns = ", ".join(f"c{i} {before}" for i, (before, _) in enumerate(pairs))
    rows = ", ".join(
        f"({k}, {', '.join([value or 'NULL'] * len(pairs))})" for k, value in enumerate(_DECIMALS)
    )
    session.sql(f"""
        SET hive.metastore.disallow.incompatible.col.type.changes=false;
        CREATE TABLE t (k INT, {columns}) STORED AS PARQUET;
        INSERT INTO t VALUES {rows};
        ALTER TABLE t REPLACE COLUMNS
          (k INT, {", ".join(f"c{i} {after}" for i, (_, after) in enumerate(pairs))});
        INSERT INTO t SELECT 4, {", ".join(["5"] * len(pairs))}
    """)
    read = session.sql("SELECT * FROM t ORDER BY k").rows
    for i, (_, after) in enumerate(pairs):
        assert [row[i + 1] for row in read] == [*_AS_HIVE_READS_THEM[after], 5], pairs[i]
        query = f"SELECT k FROM t WHERE c{i} = -7 OR c{i} = 5 OR c{i} = 150 ORDER BY k"
        assert [row[0] for row in session.sql(query).rows] == [1, 4], pairs[i]


@pytest.mark.parametrize(
    ("stored", "before", "after", "types"),
    [
        ("ORC TBLPROPERTIES ('transactional'='true')", "DECIMAL(5,2)", "DATE",
         r"is date in the table has decimal\(5,2\) there"),
        ("ORC", "INT", "DATE", "is date in the table has int there"),
        ("PARQUET", "BIGINT", "STRING", "is string in the table has INT64 there"),
        ("PARQUET", "BOOLEAN", "DECIMAL(5,2)", "in the table has BOOLEAN there"),
    ],
)  # fmt: skip
def test_what_is_not_converted_is_said_to_be(
    session: hivesql.Session, stored: str, before: str, after: str, types: str
) -> None:
    """The file is not damaged: nothing of it is lost when the column gets its type back."""
    session.sql(f"""
        SET hive.metastore.disallow.incompatible.col.type.changes=false;
        CREATE TABLE t (c {before}) STORED AS {stored};
        INSERT INTO t VALUES ({"true" if before == "BOOLEAN" else 1});
        ALTER TABLE t CHANGE c c {after}
    """)
    with pytest.raises(DataError, match=types) as error:
        session.sql("SELECT * FROM t")
    assert "damaged" not in str(error.value)
    session.sql(f"ALTER TABLE t CHANGE c c {before}")
    assert session.sql("SELECT count(*) FROM t").rows[0][0] == 1
    assert session.sql("SELECT c FROM t").rows[0][0] == 1
