"""``make fuzz``: walks for as long as one likes."""

from __future__ import annotations

import argparse
import itertools
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from fuzz.real_hive import left_by, read_by_hive
from fuzz.shrinking import as_script, shorten, try_walk
from fuzz.sides import WAYS, Run, sides
from fuzz.statements import Statement
from fuzz.stores import store_of
from fuzz.walks import make_walk

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from fuzz.shrinking import Failure
    from fuzz.stores import Store


def explain_failure(
    seed: str,
    statements: Sequence[Statement],
    failure: Failure,
    spark: SparkSession,
    *,
    seconds: float,
) -> str:
    """The shortest script found that fails in the same way, and how."""
    kind = failure.kind

    def fails(some: Sequence[Statement]) -> bool:
        found = try_walk(some, spark)
        return found is not None and found.kind == kind

    short = shorten(statements[: failure.step + 1], fails, seconds=seconds)
    again = try_walk(short, spark) or failure
    return f"walk {seed}, {len(short)} statements:\n{as_script(again.taken)}\n{again.told}"


def walk_on(given: argparse.Namespace, spark: SparkSession, place: Path) -> int:
    """Walk until the time is up; 1 where a walk failed."""
    until, failed = time.monotonic() + given.seconds, 0
    for number in itertools.count():
        if time.monotonic() > until:
            break
        seed = f"{given.seed}-{number}"
        statements = make_walk(seed, given.steps)
        failure = try_walk(statements, spark)
        print(f"walk {seed}: {'ok' if failure is None else 'failed'}", flush=True)
        if failure:
            failed += 1
            print(explain_failure(seed, statements, failure, spark, seconds=180), flush=True)
        elif given.hive:
            told = hive_tells(seed, statements, spark, place / str(number))
            failed += bool(told)
            print(told or f"walk {seed}: Hive reads the same", flush=True)
    print(f"{number} walks, {failed} failed; the same again: SEED={given.seed}")
    return int(failed > 0)


def walk_in_store(given: argparse.Namespace, spark: SparkSession, store: Store) -> int:
    """Walk in a store until the time is up, in either way in turn; 1 where a walk failed.

    Which request fails depends on threads: a failing walk is told, and not shortened.
    """
    until, failed = time.monotonic() + given.seconds, 0
    for number in itertools.count():
        if time.monotonic() > until or store.told["statements"] >= given.statements:
            break
        seed, way = f"{given.seed}-{number}", tuple(WAYS)[number % len(WAYS)]
        failure = try_walk(make_walk(seed, given.steps), spark, (way,), store=store)
        print(f"walk {seed}, {way}: {'ok' if failure is None else 'failed'}", flush=True)
        if failure:
            failed += 1
            print(f"{as_script(failure.taken)}\n{failure.told}", flush=True)
    print(f"{number} walks, {failed} failed; {dict(store.told)}; the same walks: SEED={given.seed}")
    return int(failed > 0)


def hive_tells(seed: str, statements: Sequence[Statement], spark: SparkSession, place: Path) -> str:
    """What real Hive reads otherwise of a walk's tables; empty where nothing."""
    place.mkdir()
    with sides(place, spark, ("local",)) as (side,):
        run = Run([side], checks=False)
        run.walk(statements)
        left = left_by("w", run.world, side)
    wrong = read_by_hive(left, place / "hive")
    shutil.rmtree(place)
    told = "\n".join(f"{label}: {text}" for label, text in wrong.items())
    return f"walk {seed}, in Hive:\n{as_script(run.taken)}\n{told}" if told else ""


def main() -> int:
    """Walk until the time is up; 1 where a walk failed."""
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", default=str(random.SystemRandom().randrange(10**9)))
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--hive", action="store_true", help="let real Hive read and write too")
    parser.add_argument("--store", choices=("s3",), help="tables in an object store")
    parser.add_argument("--faults", action="store_true", help="let requests to it fail")
    parser.add_argument(
        "--statements", type=int, default=10**9, help="end after so many in the store"
    )
    given = parser.parse_args()
    from hivesql_executor.spark.session import start_spark

    with (
        tempfile.TemporaryDirectory(prefix="hivesql-fuzz-") as place,
        store_of(given.seed, faults=given.faults) if given.store else nullcontext() as store,
    ):
        spark = start_spark(
            master="local[2]",
            conf={"spark.sql.shuffle.partitions": "2", "spark.ui.enabled": "false",
                  "spark.driver.memory": "2g", "spark.sql.warehouse.dir": f"{place}/spark",
                  **(store.spark_settings() if store else {})},
        )  # fmt: skip
        try:
            if store:
                return walk_in_store(given, spark, store)
            return walk_on(given, spark, Path(place))
        finally:
            spark.stop()


if __name__ == "__main__":
    sys.exit(main())
