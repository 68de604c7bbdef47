"""Random walks beside real Hive: it reads what ours left, and we read what its own walk left."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fuzz.real_hive import left_by, read_by_hive, read_by_us, run_in_hive
from fuzz.seeds import FIRST, when_chosen
from fuzz.shapes import FOR_HIVE, OURS
from fuzz.shrinking import as_script
from fuzz.sides import Run, sides
from fuzz.walks import make_walk

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [when_chosen, pytest.mark.hive, pytest.mark.spark, pytest.mark.slow]

WALKS, STEPS, IN_HIVE = 2, 20, 12


def test_hive_reads_what_walks_left(spark: SparkSession, tmp_path: Path) -> None:
    left, scripts = [], {}
    for number in range(WALKS):
        walk = make_walk(f"{FIRST}-h{number}", STEPS, OURS)
        way = random.Random(f"{FIRST}-{number}").choice(("local", "spark"))
        (tmp_path / f"w{number}").mkdir()
        with sides(tmp_path / f"w{number}", spark, (way,)) as (side,):
            run = Run([side], checks=False)
            run.walk(walk)
        left += left_by(f"w{number}", run.world, side)
        scripts[f"w{number}"] = as_script(run.taken)

    wrong = read_by_hive(left, tmp_path / "hive")

    told = [f"{label}: {text}\n{scripts.get(label[:2], '')}" for label, text in wrong.items()]
    assert not told, f"HIVESQL_FUZZ_SEED={FIRST}\n" + "\n".join(told)


def test_we_read_what_a_walk_in_hive_left(spark: SparkSession, tmp_path: Path) -> None:
    walk = make_walk(f"{FIRST}-r", IN_HIVE, FOR_HIVE)
    with sides(tmp_path, spark, ("local",)) as (side,):
        found = list(run_in_hive({"w": walk}, tmp_path / "hive"))
        script = as_script([one.sql() for one in walk])
        wrong = [f"Hive: {told}" for _, told in found if told]
        wrong += [told for left, _ in found if (told := read_by_us(side, left))]
    assert not wrong, f"HIVESQL_FUZZ_SEED={FIRST}\n{script}\n" + "\n".join(wrong)
