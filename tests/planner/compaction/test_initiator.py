"""When a compaction is asked for, and of which kind: scenarios of Hive's TestInitiator."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from hivesql_planner.acid.snapshot import FileStatus, select
from hivesql_planner.acid.write_ids import ListMode, ValidTxnList, ValidWriteIdList
from hivesql_planner.compaction.initiator import (
    Candidate,
    pool_of,
    skip_table,
    skip_unit,
    wanted_kind,
)
from hivesql_planner.compaction.queue import Compaction
from hivesql_planner.model.table import Column, Database, Table, TableName
from hivesql_planner.settings.settings import Settings

T = TableName("default", "t")
TABLE = Table(
    name=T, columns=(Column.of("a", "int"),), location="/t", properties={"transactional": "true"}
)
DATABASE = Database(name="default", location="/")
UNIT = Candidate(table=T)
NUMBER, SHARE = "hive.compactor.delta.num.threshold", "hive.compactor.delta.pct.threshold"
DAY = 86_400_000
NOW = 100 * DAY


def deltas(count: int, size: int = 1, first: int = 21) -> dict[str, int]:
    return {f"delta_{i}_{i}_0": size for i in range(first, first + count)}


@dataclass(frozen=True)
class Case:
    """Directories (or original files) by their bytes, and the kind that is wanted."""

    entries: dict[str, int]
    kind: str | None
    candidate: Candidate = UNIT
    properties: dict[str, str] | None = None
    settings: dict[str, str] | None = None


CASES = {
    "C1 one small delta": Case({"base_20": 20} | deltas(1), None),
    "C2 deltas of a fifth of the base": Case({"base_50": 1000} | deltas(2, 100, 51), "major"),
    "C3 ten deltas": Case({"base_20": 1000} | deltas(10), None),
    "C3 eleven deltas": Case({"base_20": 1000} | deltas(11), "minor"),
    "both thresholds: the major one wins": Case({"base_20": 100} | deltas(11), "major"),
    "exactly a tenth is not more than a tenth": Case({"base_20": 100} | deltas(10), None),
    "C4 no base, eleven deltas": Case(deltas(11), "major"),
    "C4 no base, ten deltas": Case(deltas(10), None),
    "delete deltas count on their own": Case(
        {"base_20": 1000} | deltas(6) | {f"delete_delta_{i}_{i}_0": 1 for i in range(21, 26)},
        "minor",
    ),
    "C5 two bases": Case({"base_50": 10, "base_100": 10}, "major"),
    "one base": Case({"base_100": 10}, None),
    "originals are a base": Case({"000000_0": 100} | deltas(2, 10), "major"),
    "originals and little more": Case({"000000_0": 1000} | deltas(2, 10), None),
    "nothing": Case({}, None),
    "too many aborts": Case(deltas(1), "major", replace(UNIT, too_many_aborts=True)),
    "an old abort": Case(deltas(1), "minor", replace(UNIT, old_abort=True)),
    "the table's own number": Case(
        deltas(2), "major", properties={f"compactorthreshold.{NUMBER}": "1"}
    ),
    "the table's own share": Case(
        {"base_20": 100} | deltas(2, 10), None, properties={f"compactorthreshold.{SHARE}": "0.5"}
    ),
    "the setting": Case(deltas(2), "major", settings={NUMBER: "1"}),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_kind_that_a_directory_needs(case: Case) -> None:
    paths = {name: name if name == "000000_0" else f"{name}/bucket_00000" for name in case.entries}
    files = [FileStatus(paths[name], size) for name, size in case.entries.items()]
    visible = ValidWriteIdList(1000, mode=ListMode.COMPACTOR)
    state = select(files, visible, ValidTxnList(1000))
    table = replace(TABLE, properties={**TABLE.properties, **(case.properties or {})})
    settings = Settings.of(case.settings or {})
    assert wanted_kind(case.candidate, state, table, settings) == case.kind


PROPERTIES = {
    # name: (database's properties, table's properties, candidate, whether it is skipped)
    "nothing said": ({}, {}, UNIT, False),
    "the table refuses": ({}, {"no_auto_compaction": "true"}, UNIT, True),
    "upper case": ({}, {"NO_AUTO_COMPACTION": "TRUE"}, UNIT, True),
    "the database refuses": ({"no_auto_compaction": "true"}, {}, UNIT, True),
    "the database allows": (
        {"no_auto_compaction": "false"}, {"no_auto_compaction": "true"}, UNIT, False),
    "lower case comes first": (
        {}, {"no_auto_compaction": "false", "NO_AUTO_COMPACTION": "true"}, UNIT, False),
}  # fmt: skip


@pytest.mark.parametrize("name", PROPERTIES)
def test_who_switches_it_off(name: str) -> None:
    of_database, of_table, candidate, skipped = PROPERTIES[name]
    table = replace(TABLE, properties={**TABLE.properties, **of_table})
    database = replace(DATABASE, properties=of_database)
    skip = skip_table(candidate, table, database, Settings())
    assert (skip is not None) is skipped
    assert skip is None or not skip.record


def test_tables_that_are_passed_over() -> None:
    insert_only = {"transactional": "true", "transactional_properties": "insert_only"}
    off = Settings.of({"hive.compactor.compact.insert.only": "false"})
    plain = replace(TABLE, properties=insert_only)
    assert skip_table(UNIT, plain, DATABASE, Settings()) is None
    assert skip_table(UNIT, plain, DATABASE, off) is not None
    assert skip_table(UNIT, TABLE, DATABASE, off) is None
    parts = replace(TABLE, partition_columns=(Column.of("p", "int"),))
    assert skip_table(UNIT, parts, DATABASE, Settings()) is not None
    assert skip_table(replace(UNIT, old_abort=True), parts, DATABASE, Settings()) is None
    assert skip_table(replace(UNIT, partition="p=1"), parts, DATABASE, Settings()) is None


def test_pools() -> None:
    key = "hive.compactor.worker.pool"
    with_pool = replace(DATABASE, properties={key: "d"})
    assert pool_of(TABLE, DATABASE) is None
    assert pool_of(TABLE, with_pool) == "d"
    assert pool_of(replace(TABLE, properties={key: "t"}), with_pool) == "t"


def row(id: int, state: str, age: int = 0, partition: str | None = None) -> Compaction:
    return Compaction(
        id=id, table=T, partition=partition, kind="minor", state=state, enqueued=NOW - age
    )


ROWS = {
    # name: (rows of queue and history, skipped, told in the history)
    "nothing": ([], False, False),
    "C7 queued": ([row(1, "initiated")], True, False),
    "running": ([row(1, "working")], True, False),
    "ready for cleaning": ([row(1, "ready for cleaning")], False, False),
    "another partition": ([row(1, "working", partition="p=1")], False, False),
    "C19 two failures yesterday": ([row(1, "failed", DAY), row(2, "failed", DAY)], True, True),
    "C19 eight days ago": ([row(1, "failed", 8 * DAY), row(2, "failed", 8 * DAY)], False, False),
    "one failure": ([row(1, "failed")], False, False),
    "a success since": (
        [row(1, "failed"), row(2, "failed"), row(3, "succeeded")], False, False),
    "a success between": (
        [row(1, "failed"), row(2, "succeeded"), row(3, "failed")], False, False),
    "refusals do not count": (
        [row(1, "failed"), row(2, "refused"), row(3, "failed")], True, True),
}  # fmt: skip


@pytest.mark.parametrize("name", ROWS)
def test_what_the_queue_says(name: str) -> None:
    rows, skipped, told = ROWS[name]
    skip = skip_unit(UNIT, rows, Settings(), NOW)
    assert (skip is not None) is skipped
    assert (skip is not None and skip.record) is told
