"""What a materialized view has read of its tables, and what it has not."""

from __future__ import annotations

import pytest

from hivesql_planner.acid.write_ids import ValidWriteIdList
from hivesql_planner.model.materialized import Materialized


@pytest.mark.parametrize(
    ("seen", "now", "outdated"),
    [
        ("3:9223372036854775807::", ValidWriteIdList(3), False),
        ("3:9223372036854775807::", ValidWriteIdList(4), True),
        ("3:9223372036854775807::", ValidWriteIdList(4, frozenset({4})), False),
        ("3:9223372036854775807::", ValidWriteIdList(4, aborted=frozenset({4})), False),
        ("3:9223372036854775807::", ValidWriteIdList(5, aborted=frozenset({4})), True),
        ("3:2:2:", ValidWriteIdList(3), True),
        ("3:2:2:", ValidWriteIdList(3, frozenset({2})), False),
        ("3:2:2:", ValidWriteIdList(3, aborted=frozenset({2})), False),
        ("3:9223372036854775807::1", ValidWriteIdList(3, aborted=frozenset({1})), False),
        ("0:9223372036854775807::", ValidWriteIdList(0), False),
        (None, ValidWriteIdList(3), None),
    ],
)
def test_when_a_view_is_outdated(
    seen: str | None, now: ValidWriteIdList, outdated: bool | None
) -> None:
    view = Materialized(sources={"d.t": seen})
    assert view.is_outdated({"d.t": now}) is outdated
    after = view.seen({"d.t": now})
    assert after.is_outdated({"d.t": now}) is False
    assert Materialized.read(after.written(), rewrite=True) == after
