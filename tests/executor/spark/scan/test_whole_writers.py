"""Which task reads which files, so that what becomes of their rows needs no shuffle."""

from __future__ import annotations

import pytest

from hivesql_executor.orc.tail import OrcTail
from hivesql_executor.spark.scan.task_assignment import shared_out, tasks_by_path, writer_of

MIB = 1 << 20


def tail(*buckets: int) -> OrcTail:
    return OrcTail(
        rows=1,
        stripe_rows=(1,),
        is_acid=True,
        row_fields=(),
        schema="",
        metadata={},
        key_range={"bucket": (min(buckets), max(buckets))} if buckets else {},
        row_types=(),
    )


def of_writer(writer: int, statement: int = 0) -> int:
    return 1 << 29 | writer << 16 | statement


@pytest.mark.parametrize(
    ("buckets", "writer"),
    [
        ([of_writer(7)], 7),
        ([of_writer(7), of_writer(7, 3)], 7),
        ([of_writer(4095, 4095)], 4095),
        ([of_writer(0), of_writer(1)], None),
        ([3], 3),
        ([3, 4], None),
        ([3, of_writer(0)], None),
        ([-1], None),
        ([], None),
    ],
)
def test_the_writer_of_a_file(buckets: list[int], writer: int | None) -> None:
    assert writer_of(tail(*buckets)) == writer


@pytest.mark.parametrize(
    ("sizes", "cores", "loads"),
    [
        ([40, 40], 2, [40, 40]),
        ([40, 30, 20, 10], 2, [50, 50]),
        ([40], 2, None),
        ([40, 10], 2, None),
        ([3] * 20, 4, [15] * 4),
        # A task of its own is not worth it for little.
        ([1], 8, [1]),
        ([1, 1, 1], 8, [1, 1, 1]),
        # Nor shall one be very long.
        ([2000, 2000], 2, None),
        ([900] * 4, 2, [900] * 4),
    ],
)
def test_files_are_shared_out_evenly_or_not_at_all(
    sizes: list[int], cores: int, loads: list[int] | None
) -> None:
    tasks = shared_out({i: size * MIB for i, size in enumerate(sizes)}, cores)
    found: dict[int, int] = {}
    for i, task in (tasks or {}).items():
        found[task] = found.get(task, 0) + sizes[i]
    assert (sorted(found.values()) or None) == loads


def test_files_of_one_writer_in_one_partition_go_to_one_task() -> None:
    files: list[tuple[str, int, int, int | None]] = [
        ("a/base/bucket_00000", MIB, 0, 0),
        ("a/delta/bucket_00000", MIB, 0, 0),
        ("a/base/bucket_00001", 2 * MIB, 0, 1),
        ("b/base/bucket_00000", 2 * MIB, 1, 0),
        ("b/base/bucket_00001", 2 * MIB, 1, 1),
    ]
    tasks = tasks_by_path(files, 2)
    assert tasks is not None
    assert tasks["a/base/bucket_00000"] == tasks["a/delta/bucket_00000"]
    assert len(set(tasks.values())) == 2
    assert tasks_by_path([*files, ("b/delta/bucket_00000", 1, 1, None)], 2) is None
