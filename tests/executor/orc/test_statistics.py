"""What ORC files say about columns, and the pieces that are read for it."""

from __future__ import annotations

import datetime
import math
import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyorc
import pytest

from hivesql_executor.files.local import LocalFiles
from hivesql_executor.local.pieces import Piece, pieces_of
from hivesql_executor.local.runs import read_runs
from hivesql_executor.orc.statistics import read_groups, read_statistics
from hivesql_executor.orc.tail import read_tail
from hivesql_planner.model.table import Column
from hivesql_planner.predicates.predicate import AnyOf, Compare, IsNull, Predicate, Value
from hivesql_planner.predicates.ranges import Extent

FILES = LocalFiles()
TYPES = {
    "i": "int",
    "t": "string",
    "n": "decimal(8,2)",
    "d": "date",
    "old": "date",
    "ts": "timestamp",
    "f": "double",
    "c": "char(4)",
    "v": "varchar(9)",
    "b": "boolean",
    "gap": "bigint",
    "none": "int",
    "a": "array<int>",
    "y": "tinyint",
}
SCHEMA = (
    "struct<operation:int,originalTransaction:bigint,bucket:int,rowId:bigint,"
    "currentTransaction:bigint,row:struct<"
    + ",".join(f"{name}:{kind}" for name, kind in TYPES.items())
    + ">>"
)
COUNT, STRIDE = 5_000, 1_000
EPOCH = datetime.date(1970, 1, 1)
EPOCH_OF_TIMES = datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc)


def row(number: int) -> tuple[Any, ...]:
    return (
        number - 2_000,
        f"t{number:05d}",
        Decimal(number) / 4,
        EPOCH + datetime.timedelta(number),
        datetime.date(1400, 1, 1) + datetime.timedelta(number),
        EPOCH_OF_TIMES + datetime.timedelta(seconds=number),
        math.nan if number == 7 else float(number),
        f"{number % 10}",
        f"v{number:04d}é",
        number % 2 == 0,
        None if 1_000 <= number < 2_500 else number,
        None,
        [number],
        number % 100 - 50,
    )


ROWS = [row(number) for number in range(-10, COUNT + 10)]


@pytest.fixture(scope="module", params=["ZLIB", "SNAPPY"])
def path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    found = tmp_path_factory.mktemp("orc") / "bucket_00000"
    with (
        found.open("wb") as file,
        pyorc.Writer(
            file,
            SCHEMA,
            row_index_stride=STRIDE,
            compression=pyorc.CompressionKind[request.param],
            batch_size=STRIDE // 2,
        ) as writer,
    ):
        for number in range(COUNT):
            if number in (2_000, 3_500):
                writer.write_intermediate_footer()
            writer.write((0, 1, 536870912, number, 1, row(number)))
    return str(found)


def place(name: str) -> tuple[int, int]:
    return 5, list(TYPES).index(name)


def test_ends_are_those_of_the_rows(path: str) -> None:
    size, modified = FILES.size(path), FILES.modified(path)
    wanted = tuple(place(name) for name in TYPES)
    found = read_statistics(FILES, path, size, modified, wanted)
    assert found is not None
    assert len(found.stripes) > 1
    assert sum(stripe.rows for stripe in found.stripes) == COUNT
    for stripe in found.stripes:
        groups = read_groups(FILES, path, size, modified, wanted, stripe.number)
        assert len(groups) == -(-stripe.rows // STRIDE)
        spans = [(stripe.first_row, stripe.rows, stripe.extents)]
        spans += [
            (stripe.first_row + i * STRIDE, min(STRIDE, stripe.rows - i * STRIDE), group)
            for i, group in enumerate(groups)
        ]
        for first, count, extents in spans:
            rows = ROWS[first + 10 : first + count + 10]
            for i, (name, extent) in enumerate(zip(TYPES, extents, strict=True)):
                values = [one[i] for one in rows if one[i] is not None]
                assert isinstance(extent, Extent), name
                assert extent.values == len(values), name
                assert extent.has_null is (len(values) < count), name
                known = name not in ("old", "ts", "f", "c", "b", "a") and bool(values)
                ends = (min(values), max(values)) if known else (None, None)
                assert (extent.low, extent.high) == ends, name


def test_statistics_of_what_is_not_there_are_unknown(path: str) -> None:
    size, modified = FILES.size(path), FILES.modified(path)
    found = read_statistics(FILES, path, size, modified, ((5, len(TYPES)), (9,)))
    assert found is not None
    assert {stripe.extents for stripe in found.stripes} == {(None, None)}
    assert read_statistics(FILES, path, size - 1, modified, ((1,),)) is None


def pieces(path: str, where: Predicate, *, in_runs: bool = True) -> list[Piece]:
    tail = read_tail(FILES, path)
    places = {name: place(name) for name in TYPES}
    size = FILES.size(path)
    return list(pieces_of(FILES, path, size, tail, where, places, in_runs=in_runs))


def numbers(found: list[Piece]) -> set[int]:
    spans = [span for one in found for span in one.runs or ((one.first_row, one.rows),)]
    return {number for first, count in spans for number in range(first, first + count)}


WANTED: dict[str, tuple[Predicate, set[int]]] = {
    "one number": (Compare("i", "=", 100), {2_100}),
    "a text": (Compare("t", "=", "t00003"), {3}),
    "a decimal": (Compare("n", "=", Decimal("1.25")), {5}),
    "a day": (Compare("d", "<", EPOCH + datetime.timedelta(2)), {0, 1}),
    "nothing": (Compare("v", "=", "z"), set()),
    "a NULL": (IsNull("gap"), {1_000, 2_499}),
    "ends": (AnyOf((Compare("i", "<", -1_999), Compare("i", ">", 2_998))), {0, 4_999}),
}


@pytest.mark.parametrize("name", WANTED)
def test_only_groups_that_may_hold_rows_are_read(path: str, name: str) -> None:
    where, rows = WANTED[name]
    found = numbers(pieces(path, where))
    assert rows <= found
    assert len(found) <= STRIDE * max(2, len(rows)) * bool(rows)
    whole = numbers(pieces(path, where, in_runs=False))
    assert found <= whole


def test_no_row_that_fits_is_left_out(path: str) -> None:
    seed = random.randrange(10**9)
    chosen = random.Random(seed)
    for _ in range(30):
        name = chosen.choice([*TYPES][:4])
        value: Value = chosen.choice(ROWS)[[*TYPES].index(name)]
        sign = chosen.choice(["=", "<", ">="])
        fits = {"=": lambda a, b: a == b, "<": lambda a, b: a < b, ">=": lambda a, b: a >= b}[sign]
        position = [*TYPES].index(name)
        rows = {n for n in range(COUNT) if fits(ROWS[n + 10][position], value)}
        assert rows <= numbers(pieces(path, Compare(name, sign, value))), (seed, name, sign, value)


def test_rows_out_of_the_middle(path: str) -> None:
    stored = [(name, Column.of(name, TYPES[name])) for name in ("t", "ts", "c", "gap")]
    runs = ((17, 2), (1_999, 1), (4_990, 10))
    ids, columns = read_runs(FILES, path, FILES.size(path), runs, stored)
    expected = [17, 18, 1_999, *range(4_990, 5_000)]
    assert ids["rowId"].to_pylist() == expected
    assert columns["t"].to_pylist() == [f"t{n:05d}" for n in expected]
    assert columns["gap"].to_pylist() == [row(n)[10] for n in expected]
    assert columns["c"].to_pylist() == [f"{n % 10}   " for n in expected]
    times = [datetime.datetime(2020, 1, 1) + datetime.timedelta(seconds=n) for n in expected]
    assert columns["ts"].cast("timestamp[us]").to_pylist() == times


def test_broken_files_tell_nothing(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_bytes(b"ORC" + bytes(40))
    assert read_statistics(FILES, str(broken), 43, 0, ((1,),)) is None
