"""Full-ACID tables that the example and the end-to-end tests leave behind, in real Hive's reader:
the rows and the row ids that we read ourselves.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from array import array
from collections.abc import Iterator
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import hivesql
from hivesql_executor.outcome import OutsideTime
from hivesql_planner.model.hive_type import INT, STRING, HiveType
from hivesql_planner.model.table import DEFAULT_PARTITION, Column, Table
from interop import hive
from interop.ours import Warehouse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.hive, pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(1800)]

ROOT = Path(__file__).parents[3]
PART = 4
"""One warehouse in so many is read, other ones each time: what they hold is alike."""
WRITERS = ("tests/end_to_end", "tests/repl/test_cli.py")
# These tests damage files to see the error, or leave a writer's delta open.
LEFT_OUT = (
    "test_missing_and_truncated",
    "test_check_names_everything",
    "test_damaged_directories",
    "damage",
    "test_deltas_that_a_writer",
    "test_a_list_of_compactions",
    # Here the files are Hive's own, and partitions that the catalog does not know.
    "test_compaction_never_cuts",
    "test_times_are_those_that_hive",
    "test_check_finds_partitions",
    # Numbers made of timestamps before 1582 are known to differ (docs/LIMITS.md).
    "test_columns_of_another_type",
    # Values of unions are read as texts here.
    "test_unions_in_full_acid",
    # Hive 4 shows the old rows beside their changes of version 1 (docs/LIMITS.md). The same table
    # is compared after a major compaction: test_statements[by task-version 1] leaves that.
    "test_statements_kept_whole_ver",
)


@pytest.fixture(scope="module")
def metastores(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Some metastores that the tests left, in the run whose files were kept or one made now."""
    given = os.environ.get("HIVESQL_KEPT_TESTS")
    kept = Path(given) if given else run_writers(tmp_path_factory.mktemp("kept") / "tests")
    taken = tuple(directories_of_writers())
    found = sorted(
        path
        for path in kept.rglob("metastore.db")
        # Each part of a run, and each of several processes, has a directory of its own.
        if any(part.startswith(taken) for part in path.relative_to(kept).parts[:3])
        and not path.parent.name.startswith(LEFT_OUT)
    )
    assert len(found) > 200  # there are some hundreds
    return found[random.randrange(PART) :: PART]


def directories_of_writers() -> set[str]:
    """How the directories begin that pytest makes for the tests and fixtures of WRITERS."""
    files = [one for name in WRITERS for one in sorted((ROOT / name).rglob("*.py"))]
    files += [ROOT / name for name in WRITERS if name.endswith(".py")]
    text = "\n".join(one.read_text() for one in files)
    names = re.findall(r"^def (test_\w+)", text, re.MULTILINE)
    return {name[:30] for name in names} | set(re.findall(r'mktemp\("(\w+)"\)', text))


def run_writers(kept: Path) -> Path:
    """Run the tests once more, their files below ``kept``."""
    quiet = ("-q", "-p", "no:cacheprovider")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *quiet, "--basetemp", str(kept), *WRITERS],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-5000:]
    return kept


def full_acid_tables(session: hivesql.Session) -> Iterator[Table]:
    """The tables whose rows have ids and whose directory was written to."""
    store = session.runtime.metastore
    for database in store.databases():
        for table in map(store.table, store.tables(database)):
            written = table.is_full_acid and not table.is_view and Path(table.location).is_dir()
            if written and all(map(is_shown, table.columns)):
                yield table


def is_shown(column: Column) -> bool:
    """Whether Hive's reader has a text for the type that can be read back.

    It cannot read instants at all, and writes binaries inside other types as they are.
    """
    kind = str(column.type)
    return "local time zone" not in kind and not ("binary" in kind and kind != "binary")


def rows_within_years(warehouse: Warehouse, table: str) -> list[hive.Row] | None:
    """Read the rows; None where a year is beyond 9999, which Hive's own JSON writes otherwise."""
    try:
        rows = warehouse.rows(table)
    except hivesql.DataError as error:
        # In arrays and their like Python has no such time at all.
        if "outside of the years" not in str(error):
            raise
        return None
    outside = (isinstance(value, OutsideTime) for row in rows for value in row.values)
    return None if any(outside) else rows


def reading(session: hivesql.Session, table: Table) -> hive.Reading:
    """The table as a query that starts now would see it."""
    store = session.runtime.metastore
    seen = store.valid_write_ids(store.valid_txns(), [table.name])[table.name]
    columns = ",".join(f"{column.name}:{column.type}" for column in table.columns)
    return hive.Reading(
        directory=Path(table.location),
        high_watermark=seen.high_watermark,
        aborted=sorted(seen.aborted),
        open=sorted(seen.open),
        schema=f"struct<{columns}>",
    )


def comparable(table: Table, rows: list[hive.Row]) -> list[tuple[object, ...]]:
    """Rows in an order and a form that both sides have.

    Hive pads CHAR, shows nanoseconds, and writes a FLOAT with as few digits as tell it apart; and
    directories spell numbers and times in other ways than values do.
    """
    types = [column.type for column in table.columns]
    found = []
    for row in rows:
        values = [_value(*one) for one in zip(row.values, types, strict=True)]
        partition = map(_partition_value, row.partition, table.partition_columns)
        found.append((*partition, row.row_id, *values))
    return sorted(found, key=repr)


def _value(value: object, type_: HiveType) -> object:
    kind = type_.kind
    match value:
        case str() if kind == "char":
            return value.rstrip(" ")
        case str() if kind == "timestamp":
            # Queries see microseconds here.
            whole, _, fraction = value.partition(".")
            return (whole, fraction[:6].rstrip("0"))
        case list() if "timestamp" in str(type_):
            # The same inside of arrays and their like.
            return re.sub(r"(:\d\d\.\d{6})\d+", r"\1", repr(value))
        case dict() | list() if "decimal" in str(type_):
            return _with_decimals(value)
        case float() if value != value:  # noqa: PLR0124
            return "NaN"
        case float() if kind == "float":
            return array("f", [value])[0]
    return value


def _with_decimals(value: object) -> object:
    """Let numbers inside of arrays and the like be DECIMALs: we tell their texts, Hive numbers."""
    match value:
        case dict():
            return {key: _with_decimals(item) for key, item in value.items()}
        case list():
            return [_with_decimals(item) for item in value]
        case int() | float() | str():
            with suppress(InvalidOperation):
                return Decimal(str(value)).normalize()
    return value


def _partition_value(text: str, column: Column) -> object:
    if column.type == INT and text != DEFAULT_PARTITION:
        return int(text)
    return text if column.type == STRING else None


def test_hive_reads_what_we_read(metastores: list[Path], spark: SparkSession) -> None:
    names, tables, readings, ours = [], [], [], []
    for metastore in metastores:
        warehouse = metastore.parent / "warehouse"
        with hivesql.connect(f"sqlite:///{metastore}", str(warehouse), spark=spark) as session:
            for table in full_acid_tables(session):
                rows = rows_within_years(Warehouse(session, warehouse), str(table.name))
                if rows is None:
                    continue
                names.append(f"{metastore.parent.name}: {table.name}")
                tables.append(table)
                readings.append(reading(session, table))
                ours.append(rows)
    theirs = hive.read_all(readings)
    differing = [
        name
        for name, table, left, right in zip(names, tables, ours, theirs, strict=True)
        # Most rows need no other form, which takes ten times as long.
        if left != right and comparable(table, left) != comparable(table, right)
    ]
    assert differing == []
    assert len(names) > 20
    assert sum(map(len, ours)) > 1000
