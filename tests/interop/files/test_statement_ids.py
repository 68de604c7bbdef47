"""The scripts that real Hive ran for the golden warehouses, run by HiveSQL: the same directories,
bucket files, row ids and delete events.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyorc
import pytest

import hivesql
from interop.files.test_golden import GOLDEN, last_selects
from interop.files.test_ours_in_hive import unmatched
from interop.ours import Warehouse, listing, open_warehouse, without_attempt

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

CASES = ("l_merge", "h_multi_insert")

# Tez writes each side of a UNION ALL as a branch of its own, with statement ids from 1; Spark has
# one branch. What these statements wrote is left out on both sides.
UNION_WROTE = re.compile(r"h4\b|h1/delta_0000003_")


def statement_of(row_id: tuple[int, int, int]) -> object:
    """Write id and statement id of a row, without its writer and its number."""
    return row_id[0], row_id[1] & 0xFFF


# What Hive refuses, and moves rows here: docs/decisions/0059.
MOVES = ("!error update tp set p=7 where id=4", "!error update tp set id=7 where id=4")

# Where the two differ in who writes what, which Hive's layout leaves open:
LOOSE = {
    # New rows of a MERGE into an unbucketed table go to as many writers as there are cores.
    "t": statement_of,
    # Rows of a task are numbered on across the partitions of a dynamic insert, Hive's per file.
    "h2": statement_of,
}


@pytest.fixture(scope="module", params=CASES)
def replayed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, spark: SparkSession
) -> Iterator[tuple[Path, Warehouse]]:
    """A golden case, and a warehouse where HiveSQL made the same changes."""
    case = GOLDEN / request.param
    ours = open_warehouse(tmp_path_factory.mktemp("replayed") / case.name, spark)
    # Writers of unbucketed tables are tasks; Hive's local mode has one.
    ours.run("SET spark.sql.shuffle.partitions=1")
    # No statement of these scripts has a semicolon inside.
    for statement in map(str.strip, (case / "script.sql").read_text(encoding="utf-8").split(";")):
        if statement in MOVES:
            continue
        if statement.startswith("!error "):
            with pytest.raises(hivesql.HiveSqlError):
                ours.run(statement.removeprefix("!error "))
        elif statement and " union all " not in statement:
            if not statement.startswith(("!", "select ", "show ")):
                ours.run(statement)
            if statement.startswith("create table h2"):
                # Hive takes a write id of h1 before it refuses the next statement (10087).
                ours.burn_write_id("h1")
    yield case, ours
    ours.session.close()


def directories_of_loose(paths: list[str]) -> list[str]:
    """The paths without the bucket files of tables whose writers differ."""
    return [path for path in paths if path.partition("/")[0] not in LOOSE or "/bucket_" not in path]


def delete_events(directory: Path) -> dict[str, list[list[Any]]]:
    """The rows of each delete delta's files, by path."""
    found: dict[str, list[list[Any]]] = {}
    for path in directory.rglob("delete_delta_*/bucket_*"):
        with path.open("rb") as file:
            found[str(path.relative_to(directory))] = [list(row) for row in pyorc.Reader(file)]
    return found


def test_directories_and_files_have_hives_names(replayed: tuple[Path, Warehouse]) -> None:
    case, ours = replayed
    told = [path for path in listing(case / "final") if not UNION_WROTE.match(path)]
    assert directories_of_loose(listing(ours.root)) == directories_of_loose(told)


def test_rows_have_hives_row_ids(replayed: tuple[Path, Warehouse]) -> None:
    case, ours = replayed
    for table, block in last_selects(case).items():
        if table == "h4":
            continue
        block.lines = [line for line in block.lines if "h1/delta_0000003_" not in line]
        assert unmatched(ours.rows(table), block, part=LOOSE.get(table, tuple)) == []


def test_delete_events_are_hives(replayed: tuple[Path, Warehouse]) -> None:
    case, ours = replayed
    files = json.loads((case / "final.files.json").read_text(encoding="utf-8"))
    told = {
        without_attempt(path): file["data"]
        for path, file in files.items()
        if "delete_delta_" in path and "/bucket_" in path
    }
    assert comparable(delete_events(ours.root)) == comparable(told)


def comparable(events: dict[str, list[list[Any]]]) -> dict[str, list[Any]]:
    """Events by file; of tables whose writers differ by directory, with what is the same."""
    found: dict[str, list[Any]] = {}
    for path, rows in events.items():
        if part := LOOSE.get(path.partition("/")[0]):
            known = ((row[0], part((row[1], row[2], row[3])), row[4], row[5]) for row in rows)
            found.setdefault(path.rpartition("/")[0], []).extend(known)
        else:
            found[path] = rows
    return {
        path: sorted(rows, key=repr) if path not in events else rows for path, rows in found.items()
    }
