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


@pytest.mark.parametrize("name", [*STATEMENTS, "files"])
def test_settings_of_a_users_spark_change_nothing(
    name: str, ours: dict[str, Any], users: dict[str, Any]
) -> None:
    assert users[name] == ours[name]


def test_nothing_is_left_in_a_users_spark(ours: dict[str, Any], users: dict[str, Any]) -> None:
    assert [users["left"], ours["left"]] == [{}, {}]


def test_what_spark_writes_by_its_jvms_zone_is_refused(
    ours: dict[str, Any], users: dict[str, Any]
) -> None:
    assert ours["zoned"] == ["(datetime.datetime(2024, 3, 10, 2, 30),)"]
    assert "the column t of default.zoned" in users["zoned"]
    assert "America/New_York" in users["zoned"]
    assert "-Duser.timezone=UTC" in users["zoned"]
