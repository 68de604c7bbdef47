"""Keys by SURROGATE_KEY: the write id, the task and the row of the task, joined in 64 bits.

What a statement's text asks for is written before its write id is known: marks stand for it.
"""

from __future__ import annotations

import re

from hivesql_planner.errors import SemanticError

WRITE_ID = "hivesql_write_id()"
"""Stands for the write id."""
FIRST_TASK, END_OF_TASKS = "hivesql_first_task", "hivesql_end_of_tasks"
"""Called with a number of bits, stand for the numbers that tasks of the statement may have."""
PLACE, PLACES = "hivesql_place()", "hivesql_places()"
"""Stand for the place of a call among those of the text, and for how many there are.

Branches of a UNION are other tasks, and Spark numbers those of each branch from 0.
"""
_ROW_ID = "monotonically_increasing_id()"
_BITS_OF_STATEMENTS = 4
_SHIFT = re.compile(r"shiftleft\(hivesql_write_id\(\), (\d+)\)")
_TASKS = re.compile(rf"({FIRST_TASK}|{END_OF_TASKS})\((\d+)\)")


def with_write_id(sql: str, write_id: int, statement_id: int) -> str:
    """Put numbers in the place of the marks.

    Later writes of a transaction have the same write id: each has a part of the last tasks.
    SemanticError 40000 where there are more of them than parts.
    """
    if WRITE_ID not in sql:
        return sql

    places = max(sql.count(PLACE), 1)
    for place in range(places):
        sql = sql.replace(PLACE, f"{place}L", 1)

    def numbers(match: re.Match[str]) -> str:
        first, end = _tasks(int(match[2]), statement_id)
        return f"{first if match[1] == FIRST_TASK else end}L"

    return _TASKS.sub(numbers, sql.replace(WRITE_ID, f"{write_id}L").replace(PLACES, f"{places}L"))


def counted_key(of_write: int, of_task: int) -> str:
    """Count rows of a query in Spark's SQL; a write id, and a task, have so many bits."""
    of_row = 64 - of_write - of_task
    # Spark counts rows below 2^33 and the tasks above; what asks for it once counts each row once.
    task = f"shiftright(id, 33) * {PLACES} + {PLACE} + {FIRST_TASK}({of_task})"
    parts = f"transform(array({_ROW_ID}), id -> struct(id & 8589934591L AS r, {task} AS t))"
    tests = (
        ("k.r", f"{1 << min(of_row, 62)}L", "Row"), ("k.t", f"{END_OF_TASKS}({of_task})", "Task"),
        (WRITE_ID, f"{1 << of_write}L", "Write"),
    )  # fmt: skip
    cases = " ".join(
        f"WHEN {number} >= {end} THEN raise_error('{called} ID is out of range in surrogate_key: "
        "give it more bits')"
        for number, end, called in tests
    )
    key = _joined(of_write, of_task, "k.t", "k.r")
    return f"transform({parts}, k -> CASE {cases} ELSE {key} END)[0]"


def _joined(of_write: int, of_task: int, task: str, row: str) -> str:
    shift = 64 - of_write
    return f"(shiftleft({WRITE_ID}, {shift}) + shiftleft({task}, {shift - of_task}) + {row})"


def for_row(sql: str, row: int) -> str:
    """Count one of the rows that stand in a statement by its place among them, from 0.

    What Spark counts cannot stand in VALUES. SemanticError 40000 for more rows than numbers.
    """
    shift, bits = _SHIFT.search(sql), _TASKS.search(sql)
    if shift is None or bits is None:
        return sql
    of_write, of_task = 64 - int(shift[1]), int(bits[2])
    if row >= 1 << (64 - of_write - of_task):
        message = "Row ID is out of range in surrogate_key: give it more bits"
        raise SemanticError(message, code=40000)
    in_text = _joined(of_write, of_task, f"{FIRST_TASK}({of_task})", f"{row}L")
    return sql.replace(counted_key(of_write, of_task), in_text)


def _tasks(bits: int, statement_id: int) -> tuple[int, int]:
    parts = 1 << _BITS_OF_STATEMENTS
    if statement_id <= 0:
        return 0, 1 << bits
    if statement_id >= parts or bits < 2 * _BITS_OF_STATEMENTS:
        raise SemanticError(
            f"the write {statement_id + 1} of one transaction has no numbers left for "
            f"surrogate_key with {bits} bits for tasks: commit before it, or give tasks more bits",
            code=40000,
        )
    width = 1 << (bits - _BITS_OF_STATEMENTS)
    return (1 << bits) - statement_id * width, (1 << bits) - (statement_id - 1) * width
