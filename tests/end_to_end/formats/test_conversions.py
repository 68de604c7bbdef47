"""Columns whose type was changed after their files were written, as real Hive 4.1 reads them."""

from __future__ import annotations

import csv
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import pytest

import hivesql
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
