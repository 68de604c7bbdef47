"""Sorted files merged bucket by bucket: rows, deletes, hidden writes, and copied stripes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyorc
import pytest

from hivesql_executor.spark.compact.merge import Merge, Merged, SortedFile, run_merges
from hivesql_planner.acid.write_ids import ValidWriteIdList

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SCHEMA = (
    "struct<operation:int,originalTransaction:bigint,bucket:int,rowId:bigint,"
    "currentTransaction:bigint,row:struct<id:int,s:string,d:decimal(10,2),a:array<int>,"
    "m:map<string,int>,t:timestamp>>"
)
B = 1 << 29
Event = tuple[Any, ...]


def inserts(write: int, count: int) -> list[Event]:
    return [
        (0, write, B, i, write, (
            i, f"s{i % 50}" if i % 7 else None, Decimal(i) / 4 if i % 3 else None,
            [i, i] if i % 5 else None, {"k": i} if i % 4 else None,
            datetime(1820, 1, 1, 1, 2, 3, 456, timezone.utc) if i % 6 else None,
        ))
        for i in range(count)
    ]  # fmt: skip


def deletes(write: int, keys: Iterable[tuple[int, int]]) -> list[Event]:
    return [(2, by, B, row, write, None) for by, row in sorted(keys)]


def without(events: Sequence[Event], gone: Iterable[Event]) -> list[Event]:
    keys = {event[1:4] for event in gone}
    return [event for event in events if event[1:4] not in keys]


class Bench:
    """Writes inputs, merges them, and reads what came of it."""

    def __init__(self, spark: SparkSession, place: Path) -> None:
        self.spark, self.place = spark, place

    def write(self, name: str, events: Sequence[Event]) -> SortedFile:
        path = self.place / name
        with path.open("wb") as file, pyorc.Writer(file, SCHEMA, stripe_size=200_000) as writer:
            writer.writerows(events)
        return SortedFile(str(path), path.stat().st_size)

    def run(
        self, merges: Sequence[Merge], *, hidden: frozenset[int] = frozenset(), highest: int = 99,
        copy: int = 0, codec: str = "ZLIB",
    ) -> list[Merged] | None:  # fmt: skip
        visible = ValidWriteIdList(highest, aborted=hidden)
        return run_merges(
            self.spark, merges, staging=str(self.place / "out"), visible=visible,
            settings={"orc.compress": codec, "orc.stripe.size": "200000"}, smallest_copy=copy,
        )  # fmt: skip

    def read(self, merged: Merged) -> list[Event]:
        """The events; the footer's numbers and key index must fit them."""
        if not merged.path:
            assert merged.rows == 0
            return []
        with Path(merged.path).open("rb") as file:
            reader = pyorc.Reader(file)
            events = list(reader)
            ends, at = [], 0
            for stripe in reader.iter_stripes():
                at += len(stripe)
                ends.append(",".join(map(str, events[at - 1][1:4])) + ";")
            told = {key: value.decode() for key, value in reader.user_metadata.items()}
        kinds = [sum(event[0] == kind for event in events) for kind in (0, 1, 2)]
        assert told["hive.acid.key.index"] == "".join(ends)
        assert told["hive.acid.stats"] == ",".join(map(str, kinds))
        assert (len(events), len(ends)) == (merged.rows, merged.stripes)
        return events


def insert(*groups: Sequence[SortedFile], deletes: Sequence[SortedFile] = ()) -> Merge:
    return Merge(bucket=0, kind="insert", groups=groups, deletes=deletes)


def hidden(file: SortedFile) -> SortedFile:
    return replace(file, filtered=True)


def merged_file(merged: Merged) -> SortedFile:
    return SortedFile(merged.path, Path(merged.path).stat().st_size)


def test_what_is_merged(spark: SparkSession, tmp_path: Path) -> None:
    bench = Bench(spark, tmp_path)
    one, two, three = inserts(1, 6000), inserts(2, 2000), inserts(3, 15)
    odd = [event for event in two if event[3] % 7 < 3]
    gone = deletes(4, [(1, row) for row in range(0, 900, 3)] + [(2, 1999)])
    again = deletes(5, [(1, row) for row in range(0, 900, 6)])
    f1, f2, f3 = bench.write("1", one), bench.write("2", two), bench.write("3", three)
    fo, fe = bench.write("odd", odd), bench.write("even", without(two, odd))
    d4, d5 = bench.write("d4", gone), bench.write("d5", again)
    mixed = bench.write("mixed", [event for event in one + two + three if event[3] < 5])
    cases = {
        "one after the other": (insert([f1], [f2], [f3]), one + two + three),
        "deletes": (insert([f1], [f2], [f3], deletes=[d4]), without(one + two, gone) + three),
        "interleaved": (insert([f1], [fe, fo], deletes=[d5, d4]), without(one + two, gone)),
        "hidden": (insert([hidden(mixed)]), one[:5] + three[:5]),
        "a hidden delete": (insert([f3], deletes=[hidden(bench.write("d2", deletes(2, [(3, 1)])))]),
                            three),
        "all deleted": (insert([f3], deletes=[bench.write("d6", deletes(6, [
            (3, row) for row in range(15)]))]), []),
        "delete events": (Merge(bucket=1, kind="delete", groups=[[d5, d4]]), gone),
        "delete events of one file": (Merge(bucket=1, kind="delete", groups=[[d5]]), again),
    }  # fmt: skip
    merges = [merge for merge, _ in cases.values()]
    for copy in (-1, 0):
        answers = bench.run(merges, hidden=frozenset({2}), copy=copy)
        assert answers is not None
        for (name, (merge, expected)), answer in zip(cases.items(), answers, strict=True):
            assert bench.read(answer) == expected, name
            assert (answer.bucket, answer.copied) == (merge.bucket, 0), name


def test_stripes_are_copied_where_nothing_changes(spark: SparkSession, tmp_path: Path) -> None:
    """Only large ones of ORC's Java writer, of the wanted codec, without deleted rows."""
    bench = Bench(spark, tmp_path)
    events = [inserts(1, 30_000), inserts(2, 20_000)]
    foreign = [bench.write(str(i), one) for i, one in enumerate(events)]
    made = bench.run([insert([file]) for file in foreign])
    assert made is not None
    files = [merged_file(one) for one in made]
    stripes = sum(one.stripes for one in made)
    assert stripes > 4
    gone = deletes(3, [(1, 100), (2, 19_999)])
    d3 = bench.write("d3", gone)
    whole = insert([files[0]], [files[1]])
    (joined,) = bench.run([whole]) or ()
    assert bench.read(joined) == events[0] + events[1]
    assert joined.copied == joined.stripes == stripes
    (less,) = bench.run([insert([merged_file(joined)], deletes=[d3])]) or ()
    assert bench.read(less) == without(events[0] + events[1], gone)
    assert stripes - 2 == less.copied < less.stripes
    # A tiny file without a codec comes first: it names no size of chunks.
    (plain,) = bench.run([insert([bench.write("0", inserts(0, 5))])], codec="NONE") or ()
    (after,) = bench.run([insert([merged_file(plain)], [files[0]], [files[1]])]) or ()
    assert bench.read(after) == inserts(0, 5) + events[0] + events[1]
    assert stripes - 1 <= after.copied < after.stripes
    for merge, options in (
        (whole, {"copy": 1 << 20}),
        (whole, {"codec": "SNAPPY"}),
        (insert(files), {}),
        (insert([hidden(files[0])], [hidden(files[1])]), {}),
    ):
        (decoded,) = bench.run([merge], **options) or ()  # type: ignore[arg-type]
        assert (bench.read(decoded), decoded.copied) == (events[0] + events[1], 0)


def test_files_that_are_not_sorted_are_left_to_spark(spark: SparkSession, tmp_path: Path) -> None:
    bench = Bench(spark, tmp_path)
    one, two = inserts(1, 30), inserts(2, 30)
    wrong = bench.write("wrong", one[::-1])
    assert bench.run([insert([wrong])]) is None
    assert bench.run([insert([bench.write("2", two)], [bench.write("1", one)])]) is None
