"""How long earlier versions are kept: what may be said, and what it keeps."""

from __future__ import annotations

import pytest

from hivesql_planner.errors import SemanticError
from hivesql_planner.settings.durations import read_duration
from hivesql_planner.settings.retention import Retention, read_retention, retention_of
from hivesql_planner.settings.settings import Settings

DAY = 86400.0
SAID = {
    "": Retention(), "7d": Retention(7 * DAY), "7 days": Retention(7 * DAY),
    "10 versions": Retention(0, 10), "1 version": Retention(0, 1),
    "12h, 3 versions": Retention(DAY / 2, 3), " 3 Versions ,1 day": Retention(DAY, 3),
}  # fmt: skip


@pytest.mark.parametrize("text", SAID)
def test_what_may_be_said(text: str) -> None:
    assert read_retention(text) == SAID[text]
    assert retention_of({"hivesql.retention": text}, "1h") == SAID[text]


@pytest.mark.parametrize("text", ["forever", "7", "versions", "-1 versions", "3 versions 1d", "1x"])
def test_what_means_nothing(text: str) -> None:
    with pytest.raises(SemanticError, match="retention must be"):
        read_retention(text)
    with pytest.raises(SemanticError, match="retention must be"):
        Settings.of({"hivesql.retention": text})


def test_the_setting_counts_where_the_table_says_nothing() -> None:
    assert retention_of({}, "1h") == Retention(3600)


def test_a_number_of_versions_keeps_so_many() -> None:
    kept = Retention(versions=3)
    # Of ten writes, states 8 to 10 are kept; a compaction of more than 8 did away with 8.
    assert [kept.keeps(compacted, 10, 1e9) for compacted in (7, 8, 9, 10)] == [
        False, False, True, True,
    ]  # fmt: skip


def test_a_time_keeps_what_was_replaced_since() -> None:
    assert Retention(seconds=60).keeps(1, 100, 59)
    assert not Retention(seconds=60).keeps(1, 100, 61)
    assert not Retention().keeps(10, 10, 0)


@pytest.mark.parametrize(("text", "seconds"), [("300s", 300), ("2 hours", 7200), ("5", 300)])
def test_durations(text: str, seconds: float) -> None:
    assert read_duration(text, "m") == seconds


@pytest.mark.parametrize("text", ["", "s", "x5", "5y", "1ss"])
def test_no_durations(text: str) -> None:
    assert read_duration(text) is None
