"""The examples of the ways into HiveSQL run as they are, each in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[3] / "examples"
SAID = {
    # file: what it prints, in this order
    "embedding.py": [
        "appended 3", "merged 2", "refused: 10004 retry: False", "warm sensors [1, 4]",
    ],
    "streaming.py": [
        "clicks so far 4", "clicks so far 8", "skipped", "clicks so far 12",
        "refused: the column visitor is int64 in the records and int in default.clicks",
        "committed 4 aborted 1", "pages",
    ],
    "driver.py": [
        "rolled back 500.00", "('ann', Decimal('70.00')), ('bob', Decimal('50.00'))",
        "balance: decimal128(10, 2)", "refused: 10004 retry: False",
    ],
    "structured_streaming.py": [
        "1.json [(1, 'new', 10.0), (2, 'new', 5.0)]",
        "2.json [(1, 'paid', 9.0), (2, 'new', 5.0), (3, 'new', 7.0)]",
        "3.json [(1, 'paid', 9.0), (3, 'new', 7.0)]",
        "1 insert 1 new 10.00", "2 update_postimage 1 paid 9.00", "2 update_preimage 1 new 10.00",
        "3 delete 2 new 5.00", "since 2: 1 up to 3",
    ],
    "engine.py": ["[('ann', 3), ('bob', 1)]", "partitioned by ('day',)", "2 rows"],
}  # fmt: skip


@pytest.mark.spark
@pytest.mark.parametrize("name", SAID)
def test_example(name: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / name)],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=240,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    place = 0
    for text in SAID[name]:
        place = done.stdout.find(text, place)
        assert place >= 0, f"{text!r} is not said, or too early:\n{done.stdout}"
