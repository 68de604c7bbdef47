"""Numbers in the place of marks for surrogate keys."""

from __future__ import annotations

import pytest

from hivesql_planner.errors import SemanticError
from hivesql_planner.statements.surrogate_keys import (
    END_OF_TASKS,
    FIRST_TASK,
    PLACE,
    PLACES,
    WRITE_ID,
    counted_key,
    for_row,
    with_write_id,
)

CALL = f"{WRITE_ID} {PLACE}/{PLACES} {FIRST_TASK}(16) {END_OF_TASKS}(16)"


@pytest.mark.parametrize(
    ("sql", "statement_id", "numbers"),
    [
        ("SELECT 1", 0, "SELECT 1"),
        (CALL, 0, "7L 0L/1L 0L 65536L"),
        (f"{CALL}, {CALL}", 0, "7L 0L/2L 0L 65536L, 7L 1L/2L 0L 65536L"),
        # The last parts of the tasks, from the end.
        (CALL, 1, "7L 0L/1L 61440L 65536L"),
        (CALL, 15, "7L 0L/1L 4096L 8192L"),
    ],
)
def test_each_call_and_each_write_has_its_own(sql: str, statement_id: int, numbers: str) -> None:
    assert with_write_id(sql, 7, statement_id) == numbers


def test_there_are_so_many_writes_of_a_transaction() -> None:
    with pytest.raises(SemanticError, match="no numbers left") as caught:
        with_write_id(CALL, 7, 16)
    assert caught.value.code == 40000
    with pytest.raises(SemanticError):
        with_write_id(CALL.replace("16", "4"), 7, 1)


def test_rows_in_the_text_are_counted_by_their_places() -> None:
    row = for_row(f"CAST({counted_key(24, 16)} AS BIGINT)", 2)
    key = "(shiftleft(7L, 40) + shiftleft(0L, 24) + 2L)"
    assert with_write_id(row, 7, 0) == f"CAST({key} AS BIGINT)"
    assert for_row("1", 2) == "1"
    with pytest.raises(SemanticError, match="Row ID is out of range"):
        for_row(counted_key(31, 31), 4)
