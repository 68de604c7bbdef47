"""Tables of Iceberg and Delta in our statements, and ours in those of their user's Spark."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from hivesql_executor.jvm import spark_line
from lakes import STEPS
from programs import answer_of

LINE = (4, 1)
"""The newest line of Spark that both have releases for."""
JARS = (
    "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0",
    "io.delta:delta-spark_4.1_2.13:4.4.0",
    "io.delta:delta-storage:4.4.0",
)
pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(spark_line() != LINE, reason="Iceberg and Delta are tried with Spark 4.1"),
]
ROOT = Path(__file__).parents[3]


def _fetched_jars() -> Path:
    """Return where the jars are, which Maven fetches once."""
    place = ROOT / "build" / "lakes"
    for jar in JARS:
        _, name, version = jar.split(":")
        if not (place / f"{name}-{version}.jar").exists():
            subprocess.run(
                ["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={jar}",
                 f"-DoutputDirectory={place}"],
                check=True, stdout=subprocess.DEVNULL,
            )  # fmt: skip
    return place


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """What came of each step, in a process with a Spark that its user has set up."""
    program = ROOT / "tests" / "support" / "lakes.py"
    found: dict[str, list[Any]] = answer_of(
        program, tmp_path_factory.mktemp("lakes"), _fetched_jars(), timeout=300
    )
    return found


ROWS = [
    [1, "one", "2024-03-09 21:00:00", "2024-03-10 02:30:00", "1500-03-01", 7],
    [2, "two", None, "1500-03-01 00:00:00", None, None],
]
EXPECTED: dict[str, list[Any]] = {
    "SELECT and JOIN": [ROWS, ROWS, [[2, "two", "two", "two"]]],
    "changes": [[[1, "one", None], [2, "two of one", None]]],
    "what the user has written since": [[["ice", 2], ["view", 2], ["delta", 2]]],
    "our tables by the user's Spark": [
        [[1, None], [2, "two of one"]],
        [[2, "theirs"]],
    ],
    "migrations": [
        ["ice.db.copied", 2, 6],
        ["spark_catalog.default.copied", 1, 6],
        "<input>:1:1: [Error 10073] Table already exists: ice.db.copied",
        ["back", 2, 6],
        ["back2", 1, 6],
        [[1, 1, "x   ", "NaN", "p1"], [2, None, None, None, "p2"]],
        [["p1", 1], ["p2", 1]],
    ],
}


@pytest.mark.parametrize("name", EXPECTED)
def test_tables_of_lakes_beside_ours(name: str, answers: dict[str, list[Any]]) -> None:
    assert answers[name] == EXPECTED[name]


def test_what_is_not_ours_is_not_written(answers: dict[str, list[Any]]) -> None:
    assert {*EXPECTED, "refusals"} == set(STEPS)
    written, unknown = answers["refusals"]
    assert "not supported: names of three parts" in written
    assert "[Error 10001] Table not found: ice.db.no, by Spark" in unknown
