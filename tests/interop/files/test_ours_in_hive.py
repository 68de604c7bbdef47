"""What HiveSQL wrote, in real Hive: read, updated and compacted there, and read back here."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from interop import hive
from interop.cases import CASES, Case
from interop.compare import agrees
from interop.ours import Warehouse, highest_ids, open_warehouse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.hive, pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(1800)]

RowId = tuple[int, int, int]
Rows = dict[tuple[str, str], list[hive.Row]]
"""By case and table."""


def unmatched(
    rows: Collection[hive.Row], block: hive.Block, *, part: Callable[[RowId], object] = tuple
) -> list[object]:
    """Rows that only one side has: ours as values, Hive's as its SQL printed them.

    ``part`` is what must be the same of a row id.
    """
    left, alone = list(rows), []
    for row_id, texts in block.rows:
        for row in left:
            values = [*row.values, *row.partition]
            if part(row.row_id) == part(row_id) and all(map(agrees, values, texts)):
                left.remove(row)
                break
        else:
            alone.append((row_id, texts))
    return [*left, *alone]


def unpadded(rows: Collection[hive.Row]) -> list[tuple[object, ...]]:
    """Rows without the blanks that Hive shows after a CHAR."""
    return [
        (
            [text.rstrip(" ") for text in row.partition],
            row.row_id,
            [value.rstrip(" ") if isinstance(value, str) else value for value in row.values],
        )
        for row in rows
    ]


def hive_script(number: int, case: Case, ours: Warehouse) -> str:
    """Adopt our directories, read them twice, change and compact them, and read them again."""
    adopt = "".join(
        f"!copy {ours.directory(table)} warehouse/c{number}.db/{table};\n"
        f"!adopt c{number}.{table} {max(highest_ids(ours.directory(table)))};\n"
        for table in case.tables
    )
    select = "".join(f"SELECT row__id, {table}.* FROM {table};\n" for table in case.tables)
    return f"""
        CREATE DATABASE c{number};
        USE c{number};
        {case.ddl}
        {case.alter}
        {adopt}
        SET hive.fetch.task.conversion=none;
        SET hive.vectorized.execution.enabled=true;
        {select}
        SET hive.vectorized.execution.enabled=false;
        {select}
        SET hive.vectorized.execution.enabled=true;
        {case.hive_update};
        {select}
        ALTER TABLE {case.compacted} COMPACT 'major';
        !worker;
        !cleaner;
        {select}
    """


@pytest.fixture(scope="module")
def warehouses(
    tmp_path_factory: pytest.TempPathFactory, spark: SparkSession
) -> Iterator[dict[str, Warehouse]]:
    """What the script of each case has written, in a warehouse of its own."""
    root = tmp_path_factory.mktemp("ours")
    with ExitStack() as opened:
        found = {}
        for number, (name, case) in enumerate(CASES.items()):
            found[name] = open_warehouse(root / f"c{number}", spark)
            opened.callback(found[name].session.close)
            found[name].run(case.ddl + case.script)
        yield found


@pytest.fixture(scope="module")
def written(warehouses: dict[str, Warehouse]) -> Rows:
    """The rows of each table as we read them, before Hive's files come to us."""
    return {
        (name, table): warehouses[name].rows(table)
        for name, case in CASES.items()
        for table in case.tables
    }


@pytest.fixture(scope="module")
def read_by_hive(warehouses: dict[str, Warehouse], written: Rows) -> Rows:
    """The same by Hive's reader, started once for all."""
    readings = [
        hive.Reading(
            directory=warehouses[name].directory(table), schema=warehouses[name].schema(table)
        )
        for name, table in written
    ]
    return dict(zip(written, hive.read_all(readings), strict=True))


@pytest.fixture(scope="module")
def hive_warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The warehouse of the one Hive that works on all cases."""
    return tmp_path_factory.mktemp("hive") / "warehouse"


@pytest.fixture(scope="module")
def run_in_hive(
    warehouses: dict[str, Warehouse], written: Rows, hive_warehouse: Path
) -> dict[str, list[hive.Block]]:
    """The answers to the queries of each case in Hive, each in a database of its own."""
    assert written  # read before it is copied
    scripts = [
        hive_script(number, case, warehouses[name])
        for number, (name, case) in enumerate(CASES.items())
    ]
    found: dict[str, list[hive.Block]] = {}
    names = iter(CASES)
    for block in hive.run("".join(scripts), hive_warehouse.parent):
        if block.statement.startswith("USE "):
            found[next(names)] = selects = []
        elif block.statement.startswith("SELECT row__id"):
            selects.append(block)
    return found


@pytest.mark.parametrize("name", CASES)
def test_hive_reads_the_same_rows_and_row_ids(name: str, written: Rows, read_by_hive: Rows) -> None:
    for table in CASES[name].tables:
        assert unpadded(read_by_hive[name, table]) == unpadded(written[name, table]), table


@pytest.mark.parametrize(("number", "name"), list(enumerate(CASES)), ids=CASES)
def test_hive_works_on_our_files_and_we_on_its(
    number: int,
    name: str,
    warehouses: dict[str, Warehouse],
    written: Rows,
    run_in_hive: dict[str, list[hive.Block]],
    hive_warehouse: Path,
) -> None:
    ours, tables = warehouses[name], list(CASES[name].tables)
    count = len(tables)
    vectorized, row_mode, updated, compacted = (
        dict(zip(tables, run_in_hive[name][start : start + count], strict=True))
        for start in range(0, 4 * count, count)
    )
    for table in tables:
        assert unmatched(written[name, table], vectorized[table]) == []
        assert unmatched(written[name, table], row_mode[table]) == []
        assert sorted(updated[table].rows) == sorted(compacted[table].rows)

    theirs = hive_warehouse / f"c{number}.db"
    changed = [table for table in tables if vectorized[table].rows != updated[table].rows]
    assert changed, "the case's UPDATE must change rows"
    assert list((theirs / changed[0]).rglob("base_*_v*"))

    for table in tables:
        ours.adopt(table, theirs / table)
        assert unmatched(ours.rows(table), compacted[table]) == []
