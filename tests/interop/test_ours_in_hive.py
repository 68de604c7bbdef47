"""What HiveSQL wrote, in real Hive: read, updated and compacted there, and read back here."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

import pytest

from interop import hive
from interop.cases import CASES, Case
from interop.compare import agrees
from interop.ours import Warehouse, highest_ids

pytestmark = [pytest.mark.hive, pytest.mark.spark, pytest.mark.slow]

RowId = tuple[int, int, int]
OpenOurs = Callable[[str], Warehouse]


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


def hive_script(case: Case, ours: Warehouse) -> str:
    """Adopt our directories, read them twice, change and compact them, and read them again."""
    adopt = "".join(
        f"!copy {ours.directory(table)} warehouse/{table};\n"
        f"!adopt {table} {max(highest_ids(ours.directory(table)))};\n"
        for table in case.tables
    )
    select = "".join(f"SELECT row__id, {table}.* FROM {table};\n" for table in case.tables)
    return f"""
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


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_hive_reads_the_same_rows_and_row_ids(case: Case, open_ours: OpenOurs) -> None:
    ours = open_ours("ours")
    ours.run(case.ddl + case.script)
    readings = [
        hive.Reading(directory=ours.directory(table), schema=ours.schema(table))
        for table in case.tables
    ]
    for table, rows in zip(case.tables, hive.read_all(readings), strict=True):
        assert unpadded(rows) == unpadded(ours.rows(table)), table


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_hive_works_on_our_files_and_we_on_its(
    case: Case, open_ours: OpenOurs, tmp_path: Path
) -> None:
    ours = open_ours("ours")
    ours.run(case.ddl + case.script)
    blocks = hive.run(hive_script(case, ours), tmp_path / "hive")
    selects = [block for block in blocks if block.statement.startswith("SELECT row__id")]
    count = len(case.tables)
    vectorized, row_mode, updated, compacted = (
        dict(zip(case.tables, selects[start : start + count], strict=True))
        for start in range(0, 4 * count, count)
    )
    for table in case.tables:
        assert unmatched(ours.rows(table), vectorized[table]) == []
        assert unmatched(ours.rows(table), row_mode[table]) == []
        assert sorted(updated[table].rows) == sorted(compacted[table].rows)

    changed = [table for table in case.tables if vectorized[table].rows != updated[table].rows]
    assert changed, "the case's UPDATE must change rows"
    assert list((tmp_path / "hive" / "warehouse" / changed[0]).rglob("base_*_v*"))

    for table in case.tables:
        ours.adopt(table, tmp_path / "hive" / "warehouse" / table)
        assert unmatched(ours.rows(table), compacted[table]) == []
