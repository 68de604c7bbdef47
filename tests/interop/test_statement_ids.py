"""The scripts that real Hive ran for the golden warehouses, run by HiveSQL: the same directories,
bucket files, row ids and delete events.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyorc
import pytest

import hivesql
from interop.ours import Warehouse, listing, open_warehouse
from interop.test_golden import GOLDEN, last_selects
from interop.test_ours_in_hive import unmatched

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

CASES = ("l_merge", "h_multi_insert")


@pytest.fixture(scope="module", params=CASES)
def replayed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, spark: SparkSession
) -> tuple[Path, Warehouse]:
    """A golden case, and a warehouse where HiveSQL made the same changes."""
    case = GOLDEN / request.param
    ours = open_warehouse(tmp_path_factory.mktemp("replayed") / case.name, spark)
    # No statement of these scripts has a semicolon inside.
    for statement in map(str.strip, (case / "script.sql").read_text(encoding="utf-8").split(";")):
        if statement.startswith("!error "):
            with pytest.raises(hivesql.HiveSqlError):
                ours.run(statement.removeprefix("!error "))
        elif not statement.startswith(("!", "select ", "show ")):
            ours.run(statement)
    return case, ours


def delete_events(directory: Path) -> dict[str, list[Any]]:
    """The rows of each delete delta's files, by path."""
    found: dict[str, list[Any]] = {}
    for path in directory.rglob("delete_delta_*/bucket_*"):
        with path.open("rb") as file:
            found[str(path.relative_to(directory))] = [list(row) for row in pyorc.Reader(file)]
    return found


def test_directories_and_files_have_hives_names(replayed: tuple[Path, Warehouse]) -> None:
    case, ours = replayed
    assert listing(ours.root) == listing(case / "final")


def test_rows_have_hives_row_ids(replayed: tuple[Path, Warehouse]) -> None:
    case, ours = replayed
    for table, block in last_selects(case).items():
        assert unmatched(ours.rows(table), block) == []


def test_delete_events_are_hives(replayed: tuple[Path, Warehouse]) -> None:
    case, ours = replayed
    files = json.loads((case / "final.files.json").read_text(encoding="utf-8"))
    told = {
        path: file["data"]
        for path, file in files.items()
        if "delete_delta_" in path and "/bucket_" in path
    }
    assert delete_events(ours.root) == told
