"""EXPLAIN LOCKS beside what Hive 4.1 answered: the locks of each statement, under each setting."""

from __future__ import annotations

import pytest

import hivesql
from hive_results import lock_blocks, lock_differences

ASKS = "EXPLAIN LOCKS "


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, list[str], list[str]]]:
    """Statement, Hive's locks and ours, in the order of the script."""
    home = tmp_path_factory.mktemp("locks")
    found = []
    with hivesql.connect(f"sqlite:///{home}/m.db", str(home / "wh")) as session:
        for block in lock_blocks():
            rows = session.sql(block.statement).rows
            if block.statement.startswith(ASKS):
                # Hive keeps them in a set, whose order nobody relies on.
                ours = sorted(str(row[0]) for row in rows[1:])
                found.append((block.statement, sorted(block.lines[1:]), ours))
    return found


def test_the_locks_of_statements(answers: list[tuple[str, list[str], list[str]]]) -> None:
    known = lock_differences()
    others = [
        f"{statement}\n  Hive: {hive}\n  here: {ours}"
        for statement, hive, ours in answers
        if hive != ours and statement.removeprefix(ASKS) not in known
    ]
    assert not others, "\n".join(others)


def test_what_is_known_to_differ_does(answers: list[tuple[str, list[str], list[str]]]) -> None:
    differ = {statement.removeprefix(ASKS) for statement, hive, ours in answers if hive != ours}
    assert set(lock_differences()) <= differ
