"""CUBE and its like beyond what can be grouped by."""

from __future__ import annotations

import pytest

from hivesql.binder.statement import bind
from hivesql.dialect.statements.statement import parse
from hivesql.script import StatementText
from hivesql_planner.errors import HiveSqlError, NotSupported, SemanticError
from memory_catalog import warehouse


def names(n: int) -> str:
    return ", ".join(f"c{i}" for i in range(n))


WIDE = f"(SELECT {', '.join(f'id AS c{i}' for i in range(70))} FROM t) x"


@pytest.mark.parametrize(
    ("group", "kind"),
    [
        (f"{names(65)} WITH CUBE", SemanticError),
        (f"CUBE({names(65)})", SemanticError),
        (f"{names(65)} WITH ROLLUP", SemanticError),
        (f"ROLLUP({names(65)})", SemanticError),
        (f"{names(65)} GROUPING SETS ((c0), (c1))", SemanticError),
        (f"c0, CUBE({names(65)})", SemanticError),
        (f"{names(64)} WITH CUBE", NotSupported),
        (f"CUBE({names(15)})", NotSupported),
        (f"CUBE({names(8)}), ROLLUP({names(64)})", NotSupported),
    ],
)
@pytest.mark.parametrize("start", ["SELECT count(*) FROM", "INSERT INTO s SELECT 1, 'a', 'b' FROM"])
def test_more_than_can_be_grouped_by(start: str, group: str, kind: type[HiveSqlError]) -> None:
    with pytest.raises(kind) as caught:
        bind(parse(StatementText(f"{start} {WIDE} GROUP BY {group}")), warehouse())
    assert caught.value.code == (10411 if kind is SemanticError else None)
    assert caught.value.column == len(f"{start} {WIDE} GROUP BY ") + 1 + group.find("c0")


@pytest.mark.parametrize(
    "group",
    [
        f"{names(65)}",
        f"{names(64)} WITH ROLLUP",
        f"{names(12)} WITH CUBE",
        f"CUBE({names(12)})",
        f"{names(64)} GROUPING SETS ((c0), (c1), ())",
        f"GROUPING SETS (CUBE({names(12)}), ROLLUP({names(20)}))",
    ],
)
def test_what_can_be_grouped_by(group: str) -> None:
    bind(parse(StatementText(f"SELECT count(*) FROM {WIDE} GROUP BY {group}")), warehouse())
