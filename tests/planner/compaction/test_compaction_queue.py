"""History, retries, and the text forms of Hive's queue."""

from __future__ import annotations

import pytest

from hivesql_planner.compaction.queue import Compaction, HistoryLimits, retry_pause, surplus
from hivesql_planner.compaction.request import (
    CompactionDetails,
    OrderKey,
    format_properties,
    parse_order,
    parse_properties,
)
from hivesql_planner.errors import DataError, SemanticError
from hivesql_planner.model.table import TableName
from hivesql_planner.settings.settings import Settings

DAY = 86_400_000
NOW = 100 * DAY


def test_pauses_of_the_cleaner_double_until_it_gives_up() -> None:
    """C17: base 300 s, five pauses."""
    pauses, retention = [], 0
    while (pause := retry_pause(retention, 300, 5)) is not None:
        pauses.append(pause // 1000)
        retention = pause
    assert pauses == [300, 600, 1200, 2400, 4800]
    assert retry_pause(300_000 << 20, 300, 0) == 300_000 << 21


def history(*states: str, kind: str = "major", age: int = 0) -> list[Compaction]:
    return [
        Compaction(
            id=i, table=TableName("d", "t"), partition=None, kind=kind, state=state,  # type: ignore[arg-type]
            started=NOW - age,
        )
        for i, state in enumerate(states, start=1)
    ]  # fmt: skip


PURGES = {
    # name: (history, ids that go)
    "three successes stay": (history("succeeded", "succeeded", "succeeded"), ()),
    "the oldest goes": (history(*["succeeded"] * 5), (1, 2)),
    "each state on its own": (
        history(*["failed"] * 4, *["did not initiate"] * 3, *["refused"] * 4, "succeeded"),
        (1, 5, 8)),
    "aborted requests stay": (history(*["aborted"] * 9), ()),
    "an old failure before a success": (history("failed", "succeeded", age=8 * DAY), (1,)),
    "a young failure before a success": (history("failed", "succeeded", age=DAY), ()),
    "an old failure after a success": (history("succeeded", "failed", age=8 * DAY), ()),
    "a minor one, outdone by a minor one": (
        history("refused", "succeeded", kind="minor", age=8 * DAY), (1,)),
}  # fmt: skip


@pytest.mark.parametrize("name", PURGES)
def test_the_history_is_purged(name: str) -> None:
    rows, gone = PURGES[name]
    assert surplus(rows, HistoryLimits(), NOW) == gone


def test_properties_as_hive_writes_them() -> None:
    properties = {"tblprops.orc.compress": "NONE", "a": ""}
    text = format_properties(properties)
    assert text == "2:1:a0:21:tblprops.orc.compress4:NONE"
    assert parse_properties(text) == properties
    assert format_properties({}) is None
    assert parse_properties(None) == {}
    assert CompactionDetails(properties=properties).table_properties == {"orc.compress": "NONE"}
    for broken in ("x:", "1:9:a", "2:1:a0:"):
        with pytest.raises(DataError):
            parse_properties(broken)


def test_orders() -> None:
    keys = (OrderKey("a", True), OrderKey("b c", False, False), OrderKey("d`", True, True))
    text = CompactionDetails(order=keys).order_text
    assert text == "`a` desc, `b c` nulls last, `d``` desc nulls first"
    assert parse_order(text or "") == keys
    curve = (OrderKey("a", in_z_order=True), OrderKey("b`", in_z_order=True))
    assert parse_order(CompactionDetails(order=curve).order_text or "") == curve
    assert parse_order("order by A DESC") == (OrderKey("a", True),)
    assert [key.puts_nulls_first for key in keys] == [False, False, True]
    with pytest.raises(DataError, match="f"):
        parse_order("f(a)")


def test_keys_of_the_compactor() -> None:
    """Every key is known, or refused; older names mean the newer ones."""
    settings = Settings.of({"hive.compactor.initiator.failed.compacts.threshold": "7"})
    assert settings.integer("metastore.compactor.initiator.failed.compacts.threshold") == 7
    for unknown in ("hive.compactor.chek.interval", "metastore.compactor.worker.thread"):
        with pytest.raises(SemanticError, match="unknown setting"):
            Settings.of({unknown: "1"})
    with pytest.raises(SemanticError, match="duration"):
        Settings.of({"hive.compactor.check.interval": "soon"})
