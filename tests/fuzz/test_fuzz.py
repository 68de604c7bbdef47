"""A few random walks: others each day, or those that ``HIVESQL_FUZZ_SEED`` says.

``make fuzz`` goes on for as long as one likes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fuzz.command import explain_failure
from fuzz.seeds import AGAIN, FIRST
from fuzz.shrinking import shorten, try_walk
from fuzz.statements import Delete
from fuzz.walks import make_walk

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WALKS, STEPS = 2, 16


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("number", range(WALKS))
def test_both_ways_and_the_model_agree(number: int, spark: SparkSession) -> None:
    seed = f"{FIRST}-{number}"
    statements = make_walk(seed, STEPS)
    if failure := try_walk(statements, spark):
        told = explain_failure(seed, statements, failure, spark, seconds=60)
        pytest.fail(f"{AGAIN}, {told}", pytrace=False)


def test_a_seed_makes_the_same_walk_again() -> None:
    walks = [[one.sql() for one in make_walk("seed", 60)] for _ in range(2)]
    assert walks[0] == walks[1]
    assert len({sql.split()[0] for sql in walks[0]}) > 5


def test_a_failing_walk_is_shortened_to_what_fails() -> None:
    walk = make_walk("seed", 200)
    wanted = next(one for one in walk if isinstance(one, Delete))

    short = shorten(walk, lambda some: "fails" if wanted in some else None)

    assert short == [wanted]
