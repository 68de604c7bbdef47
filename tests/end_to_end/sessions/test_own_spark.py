"""A user's own Spark, set up as it may be: answers and files as beside ours, and no traces."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from own_spark import STATEMENTS, run
from programs import answer_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def users(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the statements gave beside a Spark that its user has set up, in a process of its own."""
    program = Path(__file__).parents[2] / "support" / "own_spark.py"
    answers: dict[str, Any] = answer_of(program, tmp_path_factory.mktemp("users"))
    return answers


@pytest.fixture(scope="module")
def ours(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The same beside a Spark of ours, whose JVM is in UTC."""
    return run(spark, tmp_path_factory.mktemp("ours"))


@pytest.mark.parametrize("name", [*STATEMENTS, "files", "rows in files"])
def test_settings_of_a_users_spark_change_nothing(
    name: str, ours: dict[str, Any], users: dict[str, Any]
) -> None:
    assert users[name] == ours[name]


def test_nothing_is_left_in_a_users_spark(ours: dict[str, Any], users: dict[str, Any]) -> None:
    assert [users["left"], ours["left"]] == [{}, {}]


@pytest.mark.parametrize(
    ("name", "given", "what"),
    [
        ("early times into Parquet", [], "column t of default.parquets: times before 1900"),
        (
            "early times in Parquet",
            [
                "(datetime.datetime(1899, 12, 31, 23, 59, 59),)",
                "(datetime.datetime(1880, 1, 1, 0, 0),)",
            ],
            "column t of default.parquets: times before 1900",
        ),
        ("times inside of others in Parquet", [], "column a of default.inside, array<timestamp>"),
    ],
)
def test_what_spark_does_by_its_jvms_zone_is_refused(
    ours: dict[str, Any], users: dict[str, Any], name: str, given: list[str], what: str
) -> None:
    assert sorted(ours[name]) == sorted(given)
    assert what in users[name]
    assert "America/New_York" in users[name]
    assert "-Duser.timezone=UTC" in users[name]
