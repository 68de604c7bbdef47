"""The golden warehouses are what Hive says they are: its reader gives the rows of its SQL."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import pytest

from interop import hive
from interop.compare import agrees

pytestmark = pytest.mark.hive

GOLDEN = Path(__file__).parents[2] / "golden"
ABORTED = {"k_aborted": (2, 3)}
SELECT = re.compile(r"select row__id, .* from (\w+)$")
# The first has no row ids, the second keys and binaries that Hive's SQL does not print as JSON.
LEFT_OUT = {("d_insert_only", "io_orc"), ("m_layouts", "ty")}
# Their first files are of an earlier schema.
ALTERED = {
    ("m_layouts", "ev"): "struct<a:int,bb:varchar(20),c:string,d:double>",
    ("m_layouts", "ep"): "struct<a:bigint,b:string,c:int>",
}


def last_selects(case: Path) -> dict[str, hive.Block]:
    """The last ``SELECT row__id, …`` of each table that the case still has."""
    found = {}
    for block in hive.parse_output((case / "output.txt").read_text(encoding="utf-8")):
        if match := SELECT.match(block.statement):
            found[match[1]] = block
    return {table: block for table, block in found.items() if (case / "final" / table).is_dir()}


CASES = [
    pytest.param(case, table, block, id=f"{case.name}.{table}")
    for case in sorted(GOLDEN.iterdir())
    if case.is_dir()
    for table, block in last_selects(case).items()
    if (case.name, table) not in LEFT_OUT
]


@functools.cache
def rows_read() -> dict[tuple[Path, str], list[hive.Row]]:
    """What Hive's reader gives of every table, in one start."""
    places = [(case, table) for case, table, _ in (param.values for param in CASES)]
    readings = [
        hive.Reading(
            directory=case / "final" / table,
            aborted=ABORTED.get(case.name, ()),
            schema=ALTERED.get((case.name, table)),
        )
        for case, table in places
    ]
    return dict(zip(places, hive.read_all(readings), strict=True))


@pytest.mark.parametrize(("case", "table", "block"), CASES)
def test_reader_gives_the_rows_of_the_select(case: Path, table: str, block: hive.Block) -> None:
    rows = rows_read()[case, table]
    read, told = sorted((row.row_id, row.values) for row in rows), sorted(block.rows)
    assert [row_id for row_id, _ in read] == [row_id for row_id, _ in told]
    for (_, values), (_, texts) in zip(read, told, strict=True):
        # The SELECT goes on with the partition columns and the file's name.
        assert [agrees(*pair) for pair in zip(values, texts, strict=False)] == [True] * len(values)
