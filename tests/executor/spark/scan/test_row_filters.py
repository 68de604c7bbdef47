"""Which rows of the chosen files a snapshot sees: each row's own write id, and its deletes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import pyorc
import pytest

from acid_files import write_events
from hivesql_executor.files.local import LocalFiles
from hivesql_executor.snapshot.listing import acid_state
from hivesql_executor.snapshot.partition_files import PartitionFiles
from hivesql_executor.spark.scan.scan import ScanRequest, scan
from hivesql_planner.acid.files_to_read import files_to_read
from hivesql_planner.acid.write_ids import ALL_TXNS, ValidWriteIdList
from hivesql_planner.model.table import Table
from tables import make_table, property_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

B, SECOND = property_of(0), property_of(0, 1)
Key = tuple[int, int, int]


@dataclass(frozen=True)
class Case:
    """Rows by directory (key and text), deletes by directory (key, who deleted), what is seen."""

    visible: ValidWriteIdList
    rows: dict[str, list[tuple[Key, str]]]
    seen: str
    deletes: dict[str, list[tuple[Key, int]]] = field(default_factory=dict)
    flushed: int | None = None
    """So many rows of the delta are below its flushed length."""


def only(highest: int, opened: int | None = None, aborted: int | None = None) -> ValidWriteIdList:
    return ValidWriteIdList(
        highest,
        frozenset() if opened is None else frozenset({opened}),
        frozenset() if aborted is None else frozenset({aborted}),
    )


BASE = {"base_3": [((3, B, 0), "k1"), ((3, B, 1), "k2")]}
CASES = {
    "F1 an aborted write in a compacted delta": Case(
        only(3, aborted=2),
        {"delta_1_3_v9": [((1, B, 0), "one"), ((2, B, 0), "two"), ((3, B, 0), "three")]},
        "one three",
    ),
    "F2 an open write of a batch": Case(
        only(5, opened=5),
        {"delta_4_5": [((4, B, 0), "four"), ((4, B, 1), "more"), ((5, B, 0), "five")]},
        "four more",
        flushed=2,
    ),
    "F2 which has flushed": Case(
        only(5, opened=5),
        {"delta_4_5": [((4, B, 0), "four"), ((5, B, 0), "five")]},
        "four",
        flushed=2,
    ),
    "F3 an open delete": Case(
        only(5, opened=5),
        BASE,
        "k2",
        deletes={"delete_delta_4_4_0": [((3, B, 0), 4)], "delete_delta_5_5_0": [((3, B, 1), 5)]},
    ),
    "F4 an aborted delete in a compacted delta": Case(
        only(6, aborted=6),
        BASE,
        "k2",
        deletes={"delete_delta_4_6_v9": [((3, B, 0), 4), ((3, B, 1), 6)]},
    ),
    "F5 a delete of an original row": Case(
        only(1),
        {"": [((0, B, 0), "first"), ((0, B, 1), "second"), ((0, B, 2), "third")]},
        "first third",
        deletes={"delete_delta_1_1_0": [((0, B, 1), 1)]},
    ),
    "F6 deleted by a later statement of its own write": Case(
        only(7),
        {"delta_7_7_0": [((7, B, 0), "gone"), ((7, B, 1), "kept")]},
        "kept",
        deletes={"delete_delta_7_7_1": [((7, B, 0), 7)]},
    ),
    # Hive keeps the row, and never writes this.
    "F7 deleted by its own statement, unlike Hive": Case(
        only(7),
        {"delta_7_7_0": [((7, B, 0), "gone"), ((7, B, 1), "kept")]},
        "kept",
        deletes={"delete_delta_7_7_0": [((7, B, 0), 7)]},
    ),
    "F8 deleted twice, once in vain": Case(
        only(3, aborted=2),
        {"delta_1_1_0": [((1, B, 0), "gone"), ((1, B, 1), "kept")]},
        "kept",
        deletes={"delete_delta_2_2_0": [((1, B, 0), 2)], "delete_delta_3_3_0": [((1, B, 0), 3)]},
    ),
    "the same key deleted by two, and one that is nowhere": Case(
        only(3),
        {"delta_1_1_0": [((1, B, 0), "gone"), ((1, B, 1), "kept")]},
        "kept",
        deletes={
            "delete_delta_2_2_0": [((1, B, 0), 2), ((1, B, 77), 2)],
            "delete_delta_3_3_0": [((1, B, 0), 3)],
        },
    ),
    # Hive's vectorised reader misses these.
    "a compaction of one write with its deletes": Case(
        only(5),
        {"delta_5_5_v9": [((5, B, 0), "gone"), ((5, SECOND, 0), "kept")]},
        "kept",
        deletes={"delete_delta_5_5_v9": [((5, B, 0), 5)]},
    ),
}


def write(home: Path, case: Case) -> None:
    for name, rows in case.rows.items():
        if not name:
            write_plain(home / "000000_0", [(key[2], text) for key, text in rows])
            continue
        events = [(0, *key, key[0], (key[2], text)) for key, text in rows]
        path = write_events(home / name, events[: case.flushed])
        if case.flushed is not None:
            length = path.stat().st_size
            with path.open("ab") as file:
                file.write(b"an unfinished stripe")
            path.with_name(f"{path.name}_flush_length").write_bytes(length.to_bytes(8, "big"))
    for name, deleted in case.deletes.items():
        write_events(home / name, [(2, *key, who, None) for key, who in deleted])


def write_plain(
    path: Path, rows: Sequence[tuple[Any, ...]], columns: str = "a:int,b:string"
) -> None:
    path.parent.mkdir(exist_ok=True)
    with path.open("wb") as file, pyorc.Writer(file, f"struct<{columns}>") as writer:
        writer.writerows(rows)


def read(
    spark: SparkSession, table: Table, visible: ValidWriteIdList, *, with_row_id: bool = True
) -> list[Any]:
    """The table's rows under a snapshot."""
    files = LocalFiles()
    state = acid_state(files, table.location, visible, ALL_TXNS)
    part = PartitionFiles(
        partition=None, location=table.location, files=files_to_read(state, visible)
    )
    request = ScanRequest(
        table=table, parts=[part], visible=visible, files=files, with_row_id=with_row_id
    )
    return scan(spark, request).rows.collect()


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@pytest.mark.parametrize("with_row_id", [True, False])
def test_rows_seen(spark: SparkSession, tmp_path: Path, case: Case, with_row_id: bool) -> None:
    write(tmp_path, case)
    rows = read(spark, make_table(tmp_path), case.visible, with_row_id=with_row_id)
    assert sorted(row.b for row in rows) == sorted(case.seen.split())


def test_row_ids_of_files_without_any(spark: SparkSession, tmp_path: Path) -> None:
    """Converted: rows are numbered on through the files of a bucket; loaded: by their directory."""
    for name, count in {
        "000000_0": 2, "000000_0_copy_1": 4, "000000_0_copy_2": 1, "000001_0": 1,
        "delta_0000002_0000002_0001/000000_0": 2, "delta_0000002_0000002_0001/000000_0_copy_1": 1,
    }.items():  # fmt: skip
        write_plain(tmp_path / name, [(i, name) for i in range(count)])
    rows = read(spark, make_table(tmp_path), only(2))
    found: dict[str, list[tuple[int, ...]]] = {}
    for row in sorted(rows):
        found.setdefault(row.b, []).append(tuple(row.row__id))
    loaded = property_of(0, 1)
    assert found == {
        "000000_0": [(0, B, 0), (0, B, 1)],
        "000000_0_copy_1": [(0, B, 2), (0, B, 3), (0, B, 4), (0, B, 5)],
        "000000_0_copy_2": [(0, B, 6)],
        "000001_0": [(0, property_of(1), 0)],
        "delta_0000002_0000002_0001/000000_0": [(2, loaded, 0), (2, loaded, 1)],
        "delta_0000002_0000002_0001/000000_0_copy_1": [(2, loaded, 2)],
    }


def test_times_are_those_of_the_writers_clock(spark: SparkSession, tmp_path: Path) -> None:
    """As Hive before 3.1 wrote them: in the zone of its process, which the stripes name."""
    zone = ZoneInfo("America/New_York")
    times = [
        datetime(2020, 6, 1, 12, 0, 0, 123456),
        datetime(2020, 1, 1),
        datetime(1890, 1, 1),
        datetime(2020, 3, 8, 3, 30),
        datetime(1969, 12, 31, 23, 59, 58),
    ]
    write_events(
        tmp_path / "delta_0000001_0000001_0000",
        [(0, 1, B, i, 1, (i, time.replace(tzinfo=zone))) for i, time in enumerate(times)],
        "a:int,t:timestamp",
        timezone=zone,
    )
    rows = read(spark, make_table(tmp_path, "a int, t timestamp"), only(1))
    assert [row.t for row in sorted(rows)] == times


def test_days_are_those_of_the_files_calendar(spark: SparkSession, tmp_path: Path) -> None:
    """A file that names no calendar has the days of the Julian one, as Hive's own have."""
    first, columns = date(1500, 1, 1), "a int, d date"
    unnamed, proleptic = tmp_path / "unnamed", tmp_path / "proleptic"
    write_plain(unnamed / "000000_0", [(1, date(1500, 1, 10)), (2, first)], "a:int,d:date")
    frame = spark.sql("select 1 a, date'1500-01-01' d").coalesce(1)
    frame.write.option("orc.proleptic.gregorian", "true").orc(str(proleptic))
    (written,) = proleptic.glob("part-*.orc")
    with written.open("rb") as file:
        assert list(pyorc.Reader(file)) == [(1, first)], "the day number as it stands in the file"
    written.rename(proleptic / "000000_0")
    assert [row.d for row in read(spark, make_table(proleptic, columns), only(1))] == [first]
    rows = sorted(read(spark, make_table(unnamed, columns), only(1)))
    assert [row.d for row in rows] == [first, date(1499, 12, 23)]
